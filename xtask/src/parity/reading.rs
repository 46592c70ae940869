//! The output of one run of either program.

use anyhow::{Result, anyhow, ensure};
use serde::Deserialize;
use serde_json::Value;
use writebench_model::PhasesNs;
use writebench_stats::as_f64;

use super::case::{Case, Work};

/// The figures of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// The total: open, prepare, write, sync, close.
    pub(super) total_ns: u64,
    /// The method's own work: handing over the data.
    pub(super) work_ns: u64,
    /// The final bytes in the files.
    pub(super) bytes: u64,
    /// The slower of the memory-copy probes before and after.
    pub(super) probe_ns: u64,
    /// The latencies of records that become durable one by one.
    pub(super) record: Option<RecordTimes>,
}

/// Percentiles of the records of one run, by writebench's names or fio's, or their medians over several.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct RecordTimes {
    #[serde(alias = "50.000000")]
    pub(super) p50_ns: f64,
    #[serde(alias = "99.000000")]
    pub(super) p99_ns: f64,
}

/// A sample of writebench's JSON.
#[derive(Deserialize)]
struct Sample {
    total_ns: u64,
    phases_ns: PhasesNs,
    bytes: u64,
    probe_ns: [u64; 2],
    latency: Option<RecordTimes>,
}

impl Reading {
    pub(super) fn of(json: &Value, case: &Case) -> Result<Self> {
        let sample = Sample::deserialize(json).map_err(|error| anyhow!("{error} in {json}"))?;
        let Sample { total_ns, phases_ns: phases, bytes, probe_ns, latency } = sample;
        ensure!(bytes == case.size_bytes, "{bytes} bytes instead of {}", case.size_bytes);
        let (total_ns, work_ns) = match case.work {
            Work::Writing => (total_ns, phases.write),
            Work::WithSync => (total_ns, phases.write + phases.sync),
            Work::InFiosClock => (phases.open + phases.write + phases.sync, phases.write + phases.sync),
        };
        Ok(Self { total_ns, work_ns, bytes, probe_ns: probe_ns[0].max(probe_ns[1]), record: latency })
    }

    /// Decimal gigabytes per second over that time.
    pub(super) fn rate(&self, elapsed_ns: u64) -> f64 {
        as_f64(self.bytes) / as_f64(elapsed_ns.max(1))
    }
}

#[cfg(test)]
mod tests {
    use writebench_model::Bytes;

    use super::*;

    fn sample() -> Value {
        serde_json::json!({"outcome": "ok", "total_ns": 4111, "bytes": 6000, "probe_ns": [30, 20], "disturbed": null,
            "phases_ns": {"prepare": 1000, "open": 1, "write": 3000, "sync": 60, "close": 40}})
    }

    #[test]
    fn figures_are_read_of_a_sample_with_all_its_bytes() {
        let reading = Reading::of(&sample(), &Case::new("write", Bytes(6000))).unwrap();
        assert_eq!(reading, Reading { total_ns: 4111, work_ns: 3000, bytes: 6000, probe_ns: 30, record: None });
        assert_eq!(reading.rate(reading.work_ns), 2.0);
        let error = Reading::of(&sample(), &Case::new("write", Bytes(7000))).unwrap_err().to_string();
        assert_eq!(error, "6000 bytes instead of 7000");
    }

    #[test]
    fn latencies_of_records_are_read_where_there_are_any() {
        let record = |latency: Value| {
            let mut sample = sample();
            sample["latency"] = latency;
            Reading::of(&sample, &Case::new("write", Bytes(6000))).unwrap().record
        };
        let times = record(serde_json::json!({"count": 9, "p50_ns": 80, "p99_ns": 300}));
        assert_eq!(times, Some(RecordTimes { p50_ns: 80.0, p99_ns: 300.0 }));
        assert_eq!(record(Value::Null), None);
    }

    #[test]
    fn fios_clock_has_neither_making_nor_closing_the_file() {
        let reading = Reading::of(&sample(), &Case::new("write", Bytes(6000)).in_fios_clock()).unwrap();
        assert_eq!((reading.total_ns, reading.work_ns), (3061, 3060));
    }

    #[test]
    fn a_missing_figure_is_an_error_that_names_it() {
        let json = serde_json::json!({"total_ns": 1, "phases_ns": {}});
        let error = Reading::of(&json, &Case::new("write", Bytes(1))).unwrap_err().to_string();
        assert!(error.contains("prepare"), "{error}");
    }
}
