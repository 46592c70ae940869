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
    by_round_ns: Vec<(u32, f64)>,
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
        let by_round_ns = calm
            .filter_map(|sample| {
                Some((u32::try_from(sample["round"].as_u64()?).ok()?, sample["total_ns"].as_f64()?))
            })
            .collect();
        Ok(Some(Self { id, value_ns, shares_blocks, by_round_ns }))
    }

    /// The number among the run's own programs, if the case is one.
    pub(crate) fn program(&self) -> Option<u32> {
        let mut words = self.id.split(',');
        words.next().filter(|method| method.ends_with("program"))?;
        let number = words.find_map(|word| word.strip_prefix("program="));
        number.map_or(Some(1), |number| number.parse().ok())
    }

    /// The time of the case over the other's, by the program's own model.
    pub(crate) fn ratio(&self, other: &Self) -> Option<Interval> {
        let rounds = Rounds::fit(&[self.by_round_ns.clone(), other.by_round_ns.clone()]);
        rounds.ratio(0, (&rounds, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(times: &[(u32, f64)]) -> Measured {
        Measured { id: "write".to_owned(), value_ns: 1.0, shares_blocks: false, by_round_ns: times.to_vec() }
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
        let export = json!({"cases": [{"id": "write", "outcome": "ok", "estimate": {"total_ns": {"value": 5}}, "samples": [
            {"outcome": "ok", "disturbed": null, "round": 0, "total_ns": 5},
            {"outcome": "ok", "disturbed": "why", "round": 1, "total_ns": 6},
            {"outcome": "failed", "disturbed": null, "round": 2, "total_ns": 7},
        ]}]});
        let cases = measured(&export).unwrap();
        assert_eq!(cases[0].by_round_ns, [(0, 5.0)]);
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
