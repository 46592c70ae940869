//! What one run of either program says of itself.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::case::{Case, Work};

/// The figures of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// All of it: open, prepare, write, sync, close.
    pub(super) total_ns: u64,
    /// Only what the method is about: handing over the data, or reserving the blocks.
    pub(super) work_ns: u64,
    /// Bytes in the files at the end.
    pub(super) bytes: u64,
    /// The slower of the memory-copy probes before and after.
    pub(super) probe_ns: u64,
    /// How long records took, where each became durable.
    pub(super) record: Option<RecordTimes>,
}

/// Percentiles of the records of one run, or their medians over several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RecordTimes {
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
}

impl Reading {
    /// Reads a sample of writebench's JSON, or a reference program's line, which is the same.
    pub(super) fn of(json: &Value, case: &Case) -> Result<Self> {
        let phases = json.get("phases_ns").context("a sample without phases_ns")?;
        let phase = |name: &str| number(phases, name);
        let work_ns = case.work.elapsed_ns(phase("prepare")?, phase("write")?, phase("sync")?);
        let bytes = number(json, "bytes")?;
        ensure!(bytes == case.size_bytes, "{bytes} bytes instead of {}", case.size_bytes);
        Ok(Self {
            total_ns: match case.work {
                Work::InFiosClock => phase("open")? + work_ns,
                Work::Writing | Work::Reserving => number(json, "total_ns")?,
            },
            work_ns,
            bytes,
            probe_ns: slower_probe(json)?,
            record: json.get("latency").and_then(RecordTimes::of),
        })
    }

    /// Decimal gigabytes per second, over all phases.
    pub(super) fn total_rate(&self) -> f64 {
        rate(self.bytes, self.total_ns)
    }

    /// Decimal gigabytes per second, over the work alone.
    pub(super) fn work_rate(&self) -> f64 {
        rate(self.bytes, self.work_ns)
    }
}

impl RecordTimes {
    /// A sample's latencies; none where records were not timed.
    fn of(json: &Value) -> Option<Self> {
        Some(Self { p50_ns: json["p50_ns"].as_f64()?, p99_ns: json["p99_ns"].as_f64()? })
    }
}

impl Work {
    /// Reserving is the work itself or the preparation of no work, as one likes to call it.
    fn elapsed_ns(self, prepare_ns: u64, write_ns: u64, sync_ns: u64) -> u64 {
        match self {
            Self::Writing => write_ns,
            Self::InFiosClock => write_ns + sync_ns,
            Self::Reserving => prepare_ns + write_ns,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes and times are far below 2^52")]
fn rate(bytes: u64, elapsed_ns: u64) -> f64 {
    bytes as f64 / elapsed_ns.max(1) as f64
}

fn number(json: &Value, name: &str) -> Result<u64> {
    json.get(name).and_then(Value::as_u64).with_context(|| format!("no number '{name}' in {json}"))
}

fn slower_probe(json: &Value) -> Result<u64> {
    let probes = json.get("probe_ns").and_then(Value::as_array).context("no probe_ns")?;
    probes.iter().filter_map(Value::as_u64).max().context("probe_ns is empty")
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
        assert_eq!(reading.work_rate(), 2.0);
        let error = Reading::of(&sample(), &Case::new("write", Bytes(7000))).unwrap_err().to_string();
        assert_eq!(error, "6000 bytes instead of 7000");
    }

    #[test]
    fn latencies_of_records_are_read_where_there_are_any() {
        let times = RecordTimes::of(&serde_json::json!({"count": 9, "p50_ns": 80, "p99_ns": 300}));
        assert_eq!(times, Some(RecordTimes { p50_ns: 80.0, p99_ns: 300.0 }));
        assert_eq!(RecordTimes::of(&Value::Null), None);
    }

    #[test]
    fn where_nothing_is_written_reserving_is_the_work_in_either_phase() {
        assert_eq!(Work::Reserving.elapsed_ns(5000, 40, 7), 5040);
        assert_eq!(Work::Writing.elapsed_ns(5000, 40, 7), 40);
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
