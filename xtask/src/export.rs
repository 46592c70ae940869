//! The cases of a run in writebench's JSON export.

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde_json::Value;
use writebench_stats::{CONFIDENCE, Interval};

/// A case with figures.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) id: String,
    /// The label in the suite, or the case's name.
    pub(crate) name: String,
    pub(crate) median_ns: f64,
    /// Whether any sample is a copy that shares its blocks with the source.
    pub(crate) shares_blocks: bool,
    // Undisturbed samples only.
    by_round_ns: HashMap<u64, f64>,
}

/// Each case with figures, once: a case may be in several sections.
pub(crate) fn measured(export: &Value) -> Result<Vec<Measured>> {
    let mut cases: Vec<Measured> = Vec::new();
    for case in export["cases"].as_array().context("an export without cases")? {
        let measured = Measured::of(case)?;
        cases.extend(measured.filter(|measured| cases.iter().all(|other| other.id != measured.id)));
    }
    Ok(cases)
}

impl Measured {
    fn of(json: &Value) -> Result<Option<Self>> {
        let id = json["id"].as_str().context("a case without an id")?.to_owned();
        let median_ns = json["estimate"]["total_ns"]["median"].as_f64().filter(|_| json["outcome"] == "ok");
        let Some(median_ns) = median_ns else { return Ok(None) };
        let samples = json["samples"].as_array().context("a case without samples")?.iter();
        let shares_blocks = samples.clone().any(|sample| sample["shares_blocks"] == true);
        let calm = samples.filter(|sample| sample["outcome"] == "ok" && sample["disturbed"].is_null());
        let by_round_ns =
            calm.filter_map(|sample| Some((sample["round"].as_u64()?, sample["total_ns"].as_f64()?))).collect();
        let name = json["label"].as_str().unwrap_or(&id).to_owned();
        Ok(Some(Self { id, name, median_ns, shares_blocks, by_round_ns }))
    }

    /// The number among the run's own programs, if the case is one.
    pub(crate) fn program(&self) -> Option<u32> {
        let mut words = self.id.split(',');
        words.next().filter(|method| method.ends_with("program"))?;
        let number = words.find_map(|word| word.strip_prefix("program="));
        number.map_or(Some(1), |number| number.parse().ok())
    }

    /// The median of the ratios of the case's times to the other's, in common rounds.
    pub(crate) fn ratio(&self, other: &Self) -> Option<Interval> {
        let ratio = |(round, total_ns): (&u64, &f64)| Some(total_ns / other.by_round_ns.get(round)?);
        let ratios: Vec<f64> = self.by_round_ns.iter().filter_map(ratio).collect();
        writebench_stats::median_interval(&ratios, CONFIDENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(times: &[(u64, f64)]) -> Measured {
        let by_round_ns = times.iter().copied().collect();
        let id = "write".to_owned();
        Measured { name: id.clone(), id, median_ns: 1.0, shares_blocks: false, by_round_ns }
    }

    #[test]
    fn cases_are_compared_in_the_rounds_that_they_have_in_common() {
        let one = case(&[(0, 2.0), (1, 4.0), (2, 60.0), (4, 9.0)]);
        let best = case(&[(0, 1.0), (1, 2.0), (3, 7.0), (4, 4.5)]);
        assert!((one.ratio(&best).unwrap().estimate - 2.0).abs() < 1e-9);
        assert!(one.ratio(&case(&[(9, 1.0)])).is_none());
    }

    #[test]
    fn only_undisturbed_samples_count() {
        let export = json!({"cases": [{"id": "write", "outcome": "ok", "estimate": {"total_ns": {"median": 5}}, "samples": [
            {"outcome": "ok", "disturbed": null, "round": 0, "total_ns": 5},
            {"outcome": "ok", "disturbed": "why", "round": 1, "total_ns": 6},
            {"outcome": "failed", "disturbed": null, "round": 2, "total_ns": 7},
        ]}]});
        let cases = measured(&export).unwrap();
        assert_eq!(cases[0].by_round_ns, HashMap::from([(0, 5.0)]));
    }

    #[test]
    fn a_case_counts_once_and_one_without_figures_does_not() {
        let case = |id: &str| json!({"id": id, "outcome": "ok", "samples": [], "estimate": {"total_ns": {"median": 1.0}}});
        let failed = json!({"id": "mmap-write", "outcome": "failed", "samples": [], "estimate": null});
        let export = json!({"cases": [case("a"), case("a"), failed, case("b")]});
        let names: Vec<_> = measured(&export).unwrap().into_iter().map(|it| it.id).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(measured(&json!({})).is_err());
    }
}
