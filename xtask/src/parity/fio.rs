//! fio, with the job that writebench exports for a case, by fio's own figures.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use writebench_model::Bytes;

use super::bench::Bench;
use super::case::Case;
use super::comparison::{Comparison, Pairing};
use super::place::Place;
use super::reading::{Reading, RecordTimes};
use crate::command::output;

/// A case that fio can express.
pub(super) struct Rival {
    pub(super) case: Case,
    /// What is not the same, and may make it slower than fio.
    pub(super) difference: Option<&'static str>,
}

/// Every case, in the order of the table; `usual` is the size of those that need no other.
pub(super) fn rivals(usual: Bytes, is_memory: bool) -> Vec<Rival> {
    const SMALL: Bytes = Bytes(4 << 10);
    const MIDDLE: Bytes = Bytes(64 << 10);
    const LARGE: Bytes = Bytes(1 << 20);
    let case = |method: &str, chunk: Bytes, axes: &[(&str, &str)]| {
        let case = Case::new(method, usual).chunked(chunk);
        axes.iter().fold(case, |case, (axis, value)| case.with(axis, value))
    };
    let one_chunk = ("source", "chunk");
    let mut cases = vec![
        case("write", LARGE, &[one_chunk]),
        case("write", MIDDLE, &[one_chunk]),
        case("write", SMALL, &[one_chunk]),
        case("pwrite", MIDDLE, &[one_chunk]),
        case("pwritev", MIDDLE, &[("vector", "1"), one_chunk]),
        case("writev", SMALL, &[one_chunk]),
        case("mmap", MIDDLE, &[one_chunk]),
        case("mmap", MIDDLE, &[("prepare", "overwrite"), one_chunk]),
        case("write", MIDDLE, &[("prepare", "set-len"), one_chunk]),
        case("write", MIDDLE, &[("prepare", "fallocate"), one_chunk]),
        case("write", MIDDLE, &[("prepare", "overwrite"), one_chunk]),
        case("pwrite", MIDDLE, &[("threads", "2"), one_chunk]),
        case("pwrite", MIDDLE, &[("threads", "2"), ("files", "per-thread"), one_chunk]),
        case("uring", MIDDLE, &[("depth", "8"), one_chunk]),
        case("uring", MIDDLE, &[("depth", "8"), ("registered", "both"), one_chunk]),
    ];
    if !is_memory {
        let record = |axes: &[(&str, &str)]| {
            let case = Case::new("write", Bytes(5 << 20)).chunked(SMALL);
            axes.iter().fold(case, |case, (axis, value)| case.with(axis, value))
        };
        cases.extend([
            case("pwrite", LARGE, &[("prepare", "overwrite"), ("cache", "direct"), one_chunk]),
            case("uring", MIDDLE, &[("prepare", "overwrite"), ("cache", "direct"), one_chunk]),
            case("write", LARGE, &[("sync", "fsync"), one_chunk]),
            record(&[("sync", "fsync/1"), one_chunk]),
            record(&[("prepare", "overwrite"), ("sync", "fsync/1"), one_chunk]),
            record(&[("prepare", "overwrite"), ("sync", "fdatasync/1"), one_chunk]),
            record(&[("prepare", "overwrite"), ("sync", "o-dsync"), one_chunk]),
        ]);
    }
    let rival = |case: Case, difference| Rival { case: case.in_fios_clock(), difference };
    let mut rivals: Vec<_> = cases.into_iter().map(|case| rival(case, None)).collect();
    let difference = "fio writes from memory of a chunk, writebench from that of the file";
    rivals.extend([LARGE, MIDDLE].map(|chunk| rival(case("write", chunk, &[]), Some(difference))));
    rivals
}

impl Rival {
    /// Compares the two in pairs; the job is the one that writebench exports.
    pub(super) fn compare(
        &self,
        bench: &Bench<'_>,
        pairing: &mut Pairing,
        rounds: u32,
        seed: u64,
    ) -> Result<Comparison> {
        let place = Place::new(bench.target)?;
        let job = Job::of(bench.writebench.fio_job(&self.case, bench.target)?);
        std::fs::write(place.folder().join(JOB), &job.text)?;
        let fio = || {
            let bytes = self.case.size_bytes;
            let reading = bench.settled(&place, bytes, || job.measure(place.folder()))?;
            ensure!(reading.bytes == bytes, "fio wrote {} bytes instead of {bytes}", reading.bytes);
            Ok(Some(reading))
        };
        let ours = || bench.writebench.measure(&self.case, bench.target);
        pairing.compare(&fio, &ours, rounds, seed)
    }
}

const JOB: &str = "job.fio";

/// An exported job.
struct Job {
    text: String,
    // One thread that makes one call after the other and syncs by calls that fio times, so that the sum of their
    // latencies is time.
    in_turn: bool,
}

impl Job {
    fn of(text: String) -> Self {
        let count = |beginning: &str| text.lines().filter(|line| line.starts_with(beginning)).count();
        let work = text.split_once("\n[writes-0]\n").map_or("", |(_, work)| work);
        let syncs = work.lines().any(|line| line.starts_with("fsync=") || line.starts_with("fdatasync="));
        let syncs_at_end = work.lines().any(|line| line == "end_fsync=1");
        let in_turn = count("[writes-") == 1 && count("iodepth=") == 0 && (syncs || !syncs_at_end);
        Self { text, in_turn }
    }

    /// Runs it once.
    fn measure(&self, folder: &Path) -> Result<Reading> {
        let mut command = Command::new("fio");
        command.arg("--output-format=json").arg(JOB).stdin(Stdio::null());
        // fio keeps state of its own where it is started.
        let output = output(command.current_dir(folder))?;
        // Notes come first.
        let start = output.stdout.iter().position(|byte| *byte == b'{').unwrap_or(0);
        let json = serde_json::from_slice(&output.stdout[start..]).context("fio's output is no JSON")?;
        self.figures(&json)
    }

    /// What fio says of the sections that do the work: the longest runtime, and the time inside the calls, where these
    /// come one after the other.
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
        let record = has_records.then(|| record_times(sync)).transpose()?;
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

fn record_times(latencies: &Value) -> Result<RecordTimes> {
    let percentile =
        |name: &str| latencies["percentile"][name].as_u64().with_context(|| format!("no {name} %"));
    Ok(RecordTimes { p50_ns: percentile("50.000000")?, p99_ns: percentile("99.000000")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(work: &str) -> Job {
        Job::of(format!("# a comment\n\n[global]\nrw=write\n\n[before-0]\nend_fsync=1\n\n[writes-0]\n{work}\n"))
    }

    /// The parts of fio 3.33's output that are read.
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
        assert_eq!(reading.record, Some(RecordTimes { p50_ns: 80384, p99_ns: 3_000_000 }));
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

    #[test]
    fn every_case_is_there_once_and_only_a_disk_has_what_passes_the_cache_by() {
        let names = |is_memory| {
            let rivals = rivals(Bytes(512 << 20), is_memory);
            rivals.iter().map(|rival| rival.case.to_string()).collect::<Vec<_>>()
        };
        let (memory, disk) = (names(true), names(false));
        assert!(!memory.iter().any(|name| name.contains("direct") || name.contains("sync=")), "{memory:?}");
        assert!(disk.contains(&"write,size=5MiB,chunk=4KiB,sync=fsync/1,source=chunk".to_owned()), "{disk:?}");
        let different: std::collections::HashSet<&String> = disk.iter().collect();
        assert_eq!(different.len(), disk.len());
    }
}
