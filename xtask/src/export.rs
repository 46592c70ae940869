//! The cases of a run in writebench's JSON export.

use anyhow::{Context, Result};
use serde_json::Value;
use writebench_stats::{Interval, Rounds};

/// A case with figures.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) id: String,
    pub(crate) value_ns: f64,
    /// Whether any sample is a copy that shares its blocks with the source.
    pub(crate) shares_blocks: bool,
    // Undisturbed samples only.
    samples: Vec<Sample>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    round: u32,
    total_ns: f64,
    calls_ns: f64,
}

/// The phases in a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// All of them.
    Total,
    /// `write` and `sync`.
    Calls,
}

/// Each case with figures, once: a case may be in several sections.
pub(crate) fn measured(export: &Value) -> Result<Vec<Measured>> {
    let mut cases: Vec<Measured> = Vec::new();
    for case in export["cases"].as_array().context("an export without cases")? {
        let measured = Measured::from_json(case)?;
        cases.extend(measured.filter(|measured| cases.iter().all(|other| other.id != measured.id)));
    }
    Ok(cases)
}

impl Measured {
    fn from_json(json: &Value) -> Result<Option<Self>> {
        let id = json["id"].as_str().context("a case without an id")?.to_owned();
        let value_ns = json["estimate"]["total_ns"]["value"].as_f64().filter(|_| json["outcome"] == "ok");
        let Some(value_ns) = value_ns else { return Ok(None) };
        let samples = json["samples"].as_array().context("a case without samples")?.iter();
        let shares_blocks = samples.clone().any(|sample| sample["shares_blocks"] == true);
        let calm = samples.filter(|sample| sample["outcome"] == "ok" && sample["disturbed"].is_null());
        let samples = calm.filter_map(Sample::from_json).collect();
        Ok(Some(Self { id, value_ns, shares_blocks, samples }))
    }

    /// The number among the run's own programs, if the case is one.
    pub(crate) fn program(&self) -> Option<usize> {
        let mut words = self.id.split(',');
        words.next().filter(|method| method.ends_with("program"))?;
        let number = words.find_map(|word| word.strip_prefix("program="));
        number.map_or(Some(1), |number| number.parse().ok())
    }

    /// The time of the case over the other's, by the program's own model.
    pub(crate) fn ratio(&self, other: &Self, clock: Clock) -> Option<Interval> {
        let time = |sample: &Sample| match clock {
            Clock::Total => sample.total_ns,
            Clock::Calls => sample.calls_ns,
        };
        let by_round = |case: &Self| case.samples.iter().map(|sample| (sample.round, time(sample))).collect();
        let rounds = Rounds::fit(&[by_round(self), by_round(other)]);
        rounds.ratio(0, (&rounds, 1))
    }
}

impl Sample {
    fn from_json(json: &Value) -> Option<Self> {
        let phases = &json["phases_ns"];
        Some(Self {
            round: u32::try_from(json["round"].as_u64()?).ok()?,
            total_ns: json["total_ns"].as_f64()?,
            calls_ns: phases["write"].as_f64()? + phases["sync"].as_f64()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(times: &[(u32, f64)]) -> Measured {
        let samples = times
            .iter()
            .map(|&(round, total_ns)| Sample { round, total_ns, calls_ns: total_ns.sqrt() })
            .collect();
        Measured { id: "write".to_owned(), value_ns: 1.0, shares_blocks: false, samples }
    }

    #[test]
    fn cases_are_compared_in_the_rounds_that_they_have_in_common() {
        let one = case(&[(0, 4.0), (1, 16.0), (2, 60.0), (4, 36.0)]);
        let best = case(&[(0, 1.0), (1, 4.0), (3, 7.0), (4, 9.0)]);
        let ratio = |clock| one.ratio(&best, clock).unwrap().estimate;
        assert!((ratio(Clock::Total) - 4.0).abs() < 1e-9);
        assert!((ratio(Clock::Calls) - 2.0).abs() < 1e-9);
        assert!(one.ratio(&case(&[(9, 1.0)]), Clock::Total).is_none());
    }

    #[test]
    fn only_undisturbed_samples_count() {
        let phases = json!({"prepare": 1, "open": 1, "write": 2, "sync": 1, "close": 0});
        let sample = |outcome: &str, disturbed: Value, round: u32| json!({"outcome": outcome, "disturbed": disturbed, "round": round, "total_ns": 5, "phases_ns": phases});
        let samples =
            [sample("ok", Value::Null, 7), sample("ok", json!("why"), 8), sample("failed", Value::Null, 9)];
        let case =
            json!({"id": "write", "outcome": "ok", "estimate": {"total_ns": {"value": 5}}, "samples": samples});
        let cases = measured(&json!({"cases": [case]})).unwrap();
        let [Sample { round: 7, total_ns, calls_ns }] = cases[0].samples[..] else { panic!("{cases:?}") };
        assert_eq!([total_ns, calls_ns], [5.0, 3.0]);
    }

    #[test]
    fn a_case_counts_once_and_one_without_figures_does_not() {
        let case = |id: &str| json!({"id": id, "outcome": "ok", "samples": [], "estimate": {"total_ns": {"value": 1.0}}});
        let failed = json!({"id": "mmap-write", "outcome": "failed", "samples": [], "estimate": null});
        let export = json!({"cases": [case("a"), case("a"), failed, case("b")]});
        let names: Vec<_> = measured(&export).unwrap().into_iter().map(|case| case.id).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(measured(&json!({})).is_err());
    }
}
