//! fio with the exported job of a case, by fio's own figures.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::case::Case;
use super::machine::settle;
use super::reading::{Reading, RecordTimes};
use crate::command::output;

const JOB: &str = "job.fio";

/// An exported job.
pub(super) struct Job {
    text: String,
    // One thread that makes one call after the other, with syncs that fio times, so that the sum of the
    // latencies is a time.
    in_turn: bool,
}

impl Job {
    pub(super) fn of(text: String) -> Self {
        let count = |beginning: &str| text.lines().filter(|line| line.starts_with(beginning)).count();
        let work = text.split_once("\n[writes-0]\n").map_or("", |(_, work)| work);
        let syncs = work.lines().any(|line| line.starts_with("fsync=") || line.starts_with("fdatasync="));
        let syncs_at_end = work.lines().any(|line| line == "end_fsync=1");
        let in_turn = count("[writes-") == 1 && count("iodepth=") == 0 && (syncs || !syncs_at_end);
        Self { text, in_turn }
    }

    /// Runs the job once, with the machine in the same state as before writebench's samples.
    pub(super) fn measure(&self, case: &Case, target: &Path) -> Result<Reading> {
        // fio keeps state in its working directory.
        let folder = tempfile::Builder::new().prefix("parity-fio-").tempdir_in(target);
        let folder = folder.with_context(|| format!("a folder in {}", target.display()))?;
        fs::write(folder.path().join(JOB), &self.text).context("writing fio's job")?;
        let before_ns = settle(folder.path(), case.size_bytes)?;
        let mut command = Command::new("fio");
        command.arg("--output-format=json").arg(JOB).stdin(Stdio::null()).current_dir(folder.path());
        let output = output(&mut command)?;
        // fio prints notes before the JSON.
        let start = output.stdout.iter().position(|byte| *byte == b'{').unwrap_or(0);
        let json = serde_json::from_slice(&output.stdout[start..]).context("fio's output is no JSON")?;
        let mut reading = self.figures(&json)?;
        ensure!(reading.bytes == case.size_bytes, "{} bytes instead of {}", reading.bytes, case.size_bytes);
        // The smallest size, because only the probe is needed.
        reading.probe_ns = before_ns.max(settle(folder.path(), 1)?);
        Ok(reading)
    }

    /// The figures of the writing sections: the longest runtime, and the time inside the calls if these do
    /// not overlap.
    fn figures(&self, json: &Value) -> Result<Reading> {
        let jobs = json["jobs"].as_array().context("fio names no job")?;
        if let Some(failed) = jobs.iter().find(|job| job["error"] != 0) {
            bail!("fio's job {} ended with error {}", failed["jobname"], failed["error"]);
        }
        let does_work = |job: &&Value| job["jobname"].as_str().is_some_and(|name| name.starts_with("writes-"));
        let jobs: Vec<&Value> = jobs.iter().filter(does_work).collect();
        let numbers = |name: &str| {
            let number = |job: &&Value| job["write"][name].as_u64().with_context(|| format!("no write.{name}"));
            jobs.iter().map(number).collect::<Result<Vec<_>>>()
        };
        let runtime_ms = numbers("runtime")?.into_iter().max().context("fio has done no work")?;
        ensure!(runtime_ms > 0, "fio's clock of milliseconds is too coarse for so short a job");
        let total_ns = runtime_ms * 1_000_000;
        let bytes = numbers("io_bytes")?.iter().sum();
        let (write, sync) = (&jobs[0]["write"]["lat_ns"], &jobs[0]["sync"]["lat_ns"]);
        let work_ns = if self.in_turn { inside(write)? + inside(sync)? } else { total_ns };
        let has_records = self.in_turn && sync["N"].as_u64().is_some_and(|count| count > 0);
        let record = has_records.then(|| RecordTimes::deserialize(&sync["percentile"])).transpose();
        let record = record.context("fio's percentiles")?;
        Ok(Reading { total_ns, work_ns, bytes, probe_ns: 0, record })
    }
}

/// The sum of all latencies of a kind.
fn inside(latencies: &Value) -> Result<u64> {
    let mean = latencies["mean"].as_f64().context("no mean latency")?;
    let count = latencies["N"].as_f64().context("no number of latencies")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are positive")]
    Ok((mean * count) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(work: &str) -> Job {
        Job::of(format!("# a comment\n\n[global]\nrw=write\n\n[before-0]\nend_fsync=1\n\n[writes-0]\n{work}\n"))
    }

    /// The used part of fio 3.33's output.
    fn example() -> Value {
        json!({"fio version": "fio-3.33", "jobs": [{"jobname": "before-0", "error": 0}, {
            "jobname": "writes-0", "error": 0,
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
        let reading = job("ioengine=sync\nfsync=1\nend_fsync=1").figures(&example()).unwrap();
        assert_eq!((reading.total_ns, reading.bytes), (287_000_000, 5_242_880));
        assert_eq!(reading.work_ns, 2_832_000 + 282_997_295);
        assert_eq!(reading.record, Some(RecordTimes { p50_ns: 80384.0, p99_ns: 3_000_000.0 }));
    }

    #[test]
    fn latencies_are_no_time_where_several_are_under_way_or_the_sync_has_none() {
        for work in ["iodepth=32", "bs=1\n\n[writes-1]\nbs=1", "ioengine=sync\nend_fsync=1"] {
            let reading = job(work).figures(&example()).unwrap();
            assert_eq!((reading.work_ns, reading.record), (287_000_000, None), "{work}");
        }
        assert!(job("ioengine=psync").in_turn, "what comes before does not matter");
    }

    #[test]
    fn threads_are_done_when_the_last_is() {
        let mut json = example();
        let mut second = json["jobs"][1].clone();
        second["jobname"] = "writes-1".into();
        second["write"]["runtime"] = 300.into();
        json["jobs"].as_array_mut().unwrap().push(second);
        let reading = job("bs=1\n\n[writes-1]\nbs=1").figures(&json).unwrap();
        assert_eq!((reading.work_ns, reading.bytes), (300_000_000, 2 * 5_242_880));
    }

    #[test]
    fn a_job_that_failed_or_was_too_short_has_no_figures() {
        let with = |pointer: &str, value: u64| {
            let mut json = example();
            *json.pointer_mut(pointer).unwrap() = value.into();
            job("bs=1").figures(&json).unwrap_err().to_string()
        };
        assert!(with("/jobs/0/error", 28).contains("28"));
        assert!(with("/jobs/1/write/runtime", 0).contains("coarse"));
        assert!(job("bs=1").figures(&json!({})).is_err());
    }
}
