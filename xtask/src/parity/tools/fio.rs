//! fio, by its own figures.

use std::fmt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use model::Bytes;
use serde_json::Value;

use super::place::Place;
use crate::command::output;
use crate::parity::reading::{Reading, RecordTimes};

/// A sequential write with one job.
pub(super) struct Job {
    arguments: Vec<String>,
    /// Whether the file is there before, with old content.
    pub(super) overwrites: bool,
    // Operations that come one after the other, so that the sum of their latencies is time.
    in_turn: bool,
}

impl Job {
    /// Records, each followed by an fsync.
    pub(super) fn records(size: Bytes, record: Bytes, overwrites: bool) -> Self {
        let mut arguments = sequential(size, record);
        arguments.extend(["--fsync=1", "--ioengine=sync"].map(str::to_owned));
        arguments.push(format!("--overwrite={}", u32::from(overwrites)));
        Self { arguments, overwrites, in_turn: true }
    }

    /// Several operations under way, past the page cache, over what is there.
    pub(super) fn queued(size: Bytes, chunk: Bytes) -> Self {
        let mut arguments = sequential(size, chunk);
        let queue = ["--ioengine=io_uring", "--iodepth=32", "--direct=1", "--overwrite=1"];
        arguments.extend(queue.map(str::to_owned));
        Self { arguments, overwrites: true, in_turn: false }
    }

    /// Runs it once.
    pub(super) fn measure(&self, place: &Place) -> Result<Reading> {
        let mut command = Command::new("fio");
        command.args(&self.arguments).arg("--output-format=json");
        command.arg(format!("--filename={}", place.written().display())).stdin(Stdio::null());
        // fio keeps state of its own where it is started.
        let output = output(command.current_dir(place.folder()))?;
        let json = serde_json::from_slice(&output.stdout).context("fio's output is no JSON")?;
        self.figures(&json)
    }

    /// What fio says: its runtime, which ends with the job and has laying out and closing the file outside, and
    /// the time inside the calls, where these come one after the other.
    fn figures(&self, json: &Value) -> Result<Reading> {
        let job = &json["jobs"][0];
        let error = job["error"].as_i64().context("fio names no job")?;
        if error != 0 {
            bail!("fio's job ended with error {error}");
        }
        let (write, sync) = (&job["write"], &job["sync"]);
        let runtime_ms = write["runtime"].as_u64().context("no write.runtime")?;
        ensure!(runtime_ms > 0, "fio's clock of milliseconds is too coarse for so short a job");
        let total_ns = runtime_ms * 1_000_000;
        let bytes = write["io_bytes"].as_u64().context("no write.io_bytes")?;
        let work_ns =
            if self.in_turn { inside(&write["lat_ns"])? + inside(&sync["lat_ns"])? } else { total_ns };
        let record = self.in_turn.then(|| record_times(&sync["lat_ns"])).transpose()?;
        Ok(Reading { total_ns, work_ns, bytes, probe_ns: 0, record })
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fio {}", self.arguments.join(" "))
    }
}

/// fio's defaults reserve blocks first and drop the file from the page cache; what writebench's case does is
/// neither.
fn sequential(size: Bytes, chunk: Bytes) -> Vec<String> {
    let usual = ["--name=parity", "--rw=write", "--fallocate=none", "--invalidate=0"].map(str::to_owned);
    usual.into_iter().chain([format!("--bs={}", chunk.0), format!("--size={}", size.0)]).collect()
}

/// The sum of all latencies of a kind.
fn inside(latencies: &Value) -> Result<u64> {
    let mean = latencies["mean"].as_f64().context("no mean latency")?;
    let count = latencies["N"].as_f64().context("no number of latencies")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are positive")]
    Ok((mean * count) as u64)
}

fn record_times(latencies: &Value) -> Result<RecordTimes> {
    let percentile =
        |name: &str| latencies["percentile"][name].as_u64().with_context(|| format!("no {name} %"));
    Ok(RecordTimes { p50_ns: percentile("50.000000")?, p99_ns: percentile("99.000000")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The parts of fio 3.33's output that are read.
    fn example() -> Value {
        json!({"fio version": "fio-3.33", "jobs": [{
            "jobname": "parity", "error": 0,
            "write": {
                "io_bytes": 5_242_880, "bw_bytes": 18_267_874, "runtime": 287, "total_ios": 1280,
                "lat_ns": {"min": 1176, "max": 45423, "mean": 2212.5, "N": 1280},
            },
            "sync": {"total_ios": 1279, "lat_ns": {
                "mean": 221_264.5, "N": 1279,
                "percentile": {"50.000000": 80384, "99.000000": 3_000_000},
            }},
        }]})
    }

    #[test]
    fn runtime_and_latencies_are_read() {
        let reading = Job::records(Bytes(5 << 20), Bytes(4096), true).figures(&example()).unwrap();
        assert_eq!((reading.total_ns, reading.bytes), (287_000_000, 5_242_880));
        assert_eq!(reading.work_ns, 2_832_000 + 282_997_295);
        assert_eq!(reading.record, Some(RecordTimes { p50_ns: 80384, p99_ns: 3_000_000 }));
    }

    #[test]
    fn where_many_are_under_way_latencies_are_no_time() {
        let reading = Job::queued(Bytes(5 << 20), Bytes(65536)).figures(&example()).unwrap();
        assert_eq!((reading.work_ns, reading.record), (287_000_000, None));
    }

    #[test]
    fn a_job_that_failed_or_was_too_short_has_no_figures() {
        let job = Job::records(Bytes(5 << 20), Bytes(4096), true);
        let with = |pointer: &str, value: u64| {
            let mut json = example();
            *json.pointer_mut(pointer).unwrap() = value.into();
            job.figures(&json).unwrap_err().to_string()
        };
        assert!(with("/jobs/0/error", 28).contains("28"));
        assert!(with("/jobs/0/write/runtime", 0).contains("coarse"));
        assert!(job.figures(&json!({})).is_err());
    }
}
