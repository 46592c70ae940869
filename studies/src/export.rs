use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use writebench_model::{Case, Environment, Method, Sample};
use writebench_stats::{Interval, Rounds, as_f64};

#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) case: Case,
    pub(crate) value_ns: f64,
    /// How much of the hardware's limit was reached, if there is one.
    pub(crate) limit_share: Option<f64>,
    pub(crate) samples: Vec<Sample>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clock {
    /// It runs in all phases.
    #[default]
    Total,
    /// It runs in the phases `write` and `sync`.
    Calls,
}

/// Cases without a result are left out.
pub(crate) fn measured(export: &Value) -> Result<Vec<Measured>> {
    let mut cases = Vec::new();
    for json in export["cases"]
        .as_array()
        .context("an export without cases")?
    {
        let estimate = &json["estimate"];
        if let Some(value_ns) = estimate["total_ns"]["value"]
            .as_f64()
            .filter(|_| json["outcome"] == "ok")
        {
            cases.push(Measured {
                case: Case::parse(json["name"].as_str().context("a case without a name")?)?,
                value_ns,
                limit_share: estimate["limit"]["share"].as_f64(),
                samples: Vec::deserialize(&json["samples"]).context("samples")?,
            });
        }
    }
    Ok(cases)
}

pub(crate) fn result<'m>(measured: &'m [Measured], wanted: &Case) -> Result<&'m Measured> {
    let found = measured.iter().find(|measured| measured.case == *wanted);
    found.with_context(|| format!("{wanted} has no result"))
}

/// A study has one target.
pub(crate) fn environment(export: &Value) -> Result<Environment> {
    Environment::deserialize(&export["targets"][0]["environment"])
        .context("the target's environment")
}

impl Measured {
    /// `--command` numbers its programs from 1.
    pub(crate) fn program(&self) -> Option<u32> {
        let is_program = matches!(self.case.method(), Method::Program | Method::CopyProgram);
        is_program.then(|| self.case.choices().program)
    }

    /// Each usable sample has its round and its time.
    pub(crate) fn times(&self, clock: Clock) -> Vec<(u32, f64)> {
        let mut times = Vec::new();
        for sample in Sample::usable(&self.samples) {
            let phases_ns = &sample.phases_ns;
            let time_ns = match clock {
                Clock::Total => phases_ns.total(),
                Clock::Calls => phases_ns.write + phases_ns.sync,
            };
            times.push((sample.round, as_f64(time_ns)));
        }
        times
    }

    /// Divides the times by the model that writebench uses.
    pub(crate) fn ratio(&self, other: &Self, clock: Clock) -> Result<Interval> {
        let rounds = Rounds::fit(&[self.times(clock), other.times(clock)]);
        rounds.ratio(0, (&rounds, 1)).context("no rounds in common")
    }
}

pub(crate) fn without_size(case: &Case) -> String {
    let name = case.to_string();
    name.split(',')
        .filter(|part| !part.starts_with("size="))
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use writebench_model::{Failure, Outcome, Phase, PhasesNs};

    fn sample(round: u32, write: u64, close: u64) -> Sample {
        Sample {
            round,
            phases_ns: PhasesNs {
                write,
                close,
                ..PhasesNs::default()
            },
            ..Sample::default()
        }
    }

    fn case(samples: Vec<Sample>) -> Measured {
        Measured {
            case: Case::parse("write").unwrap(),
            value_ns: 1.0,
            limit_share: None,
            samples,
        }
    }

    #[test]
    fn cases_are_compared_in_common_rounds() {
        let one = case(vec![
            sample(0, 2, 2),
            sample(1, 8, 8),
            sample(2, 60, 0),
            sample(4, 18, 18),
        ]);
        let best = case(vec![
            sample(0, 1, 0),
            sample(1, 4, 0),
            sample(3, 7, 0),
            sample(4, 9, 0),
        ]);
        let ratio = |clock| one.ratio(&best, clock).unwrap().estimate;
        assert!((ratio(Clock::Total) - 4.0).abs() < 1e-9);
        assert!((ratio(Clock::Calls) - 2.0).abs() < 1e-9);
        assert!(
            one.ratio(&case(vec![sample(9, 1, 0)]), Clock::Total)
                .is_err()
        );
    }

    #[test]
    fn only_undisturbed_samples_count() {
        let why = Failure {
            phase: Phase::Write,
            call: "write".to_owned(),
            path: None,
            offset: None,
            errno: None,
            message: String::new(),
        };
        let failed = Sample::without_figures(3, Outcome::Failed(Box::new(why)));
        let disturbed = Sample {
            disturbed: Some("why".to_owned()),
            ..sample(2, 900, 0)
        };
        let one = case(vec![sample(0, 4, 0), sample(1, 4, 0), disturbed, failed]);
        let other = case((0..4).map(|round| sample(round, 2, 0)).collect());
        assert!((one.ratio(&other, Clock::Total).unwrap().estimate - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_case_without_a_result_is_omitted() {
        let case = |name: &str, outcome: &str, estimate: Value| json!({"name": name, "outcome": outcome, "samples": [sample(7, 1, 1)], "estimate": estimate});
        let estimate = json!({"total_ns": {"value": 5.0}, "limit": {"share": 0.5}});
        let copy = "copy-program,program=3";
        let export = json!({"cases": [
            case("write", "ok", estimate.clone()), case("mmap", "failed", estimate.clone()),
            case("pwrite", "ok", Value::Null), case(copy, "ok", estimate),
        ]});
        let cases = measured(&export).unwrap();
        let found: Vec<_> = cases
            .iter()
            .map(|case| (case.case.to_string(), case.program()))
            .collect();
        assert_eq!(
            found,
            [("write".to_owned(), None), (copy.to_owned(), Some(3))]
        );
        assert_eq!(
            (
                cases[0].value_ns,
                cases[0].limit_share,
                cases[0].samples[0].round
            ),
            (5.0, Some(0.5), 7)
        );
        assert!(measured(&json!({})).is_err());
    }
}
