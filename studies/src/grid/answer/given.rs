use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use writebench_model::{Axis, Case, Decision, Goal, Sample, Space};
use writebench_stats::FEWEST_COMPARED;

use crate::export::{Measured, measured};

/// An answer as its run printed it.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) case: Case,
    /// No other compared case is faster by more than this share.
    pub(super) bound: f64,
    /// The cases that its contest could not tell from it.
    pub(super) as_good: Vec<Case>,
    /// The other cases that the answer was compared with, the fastest first.
    pub(super) compared: Vec<Case>,
}

impl Given {
    /// The run's answer to the goal, if it has one. A search has only one goal, and other words above its tables.
    pub(super) fn of(export: &Value, goal: Goal, is_search: bool) -> Result<Option<Self>> {
        let Some(decision) = decision(export, goal)? else {
            return Ok(None);
        };
        let Some(answer) = &decision.answer else {
            return Ok(None);
        };
        let case = Case::parse(&answer.case)?;
        let title = (!is_search)
            .then(|| Space::for_goal(goal, &[]))
            .transpose()?;
        let title = title.map(|space| space.title);
        let mut others = cases_below(export, title.as_deref())?;
        others.retain(|other| {
            is_compared(other, decision.counts_disturbed)
                && other.case != case
                && other.case.value(Axis::Size) == case.value(Axis::Size)
        });
        others.sort_by(|a, b| a.value_ns.total_cmp(&b.value_ns));
        Ok(Some(Self {
            case,
            bound: answer.bound() - 1.0,
            as_good: answer
                .as_good
                .iter()
                .map(|name| Case::parse(name))
                .collect::<Result<_, _>>()?,
            compared: others.into_iter().map(|other| other.case).collect(),
        }))
    }

    pub(super) fn size(&self) -> String {
        self.case.value(Axis::Size)
    }
}

fn decision(export: &Value, goal: Goal) -> Result<Option<Decision>> {
    let decisions = Vec::<Decision>::deserialize(&export["run"]["decisions"])
        .context("an export without decisions")?;
    let wanted = Goal::of_workload(&goal.baseline().workload());
    Ok(decisions
        .into_iter()
        .find(|decision| Goal::of_workload(&decision.workload) == wanted))
}

/// The results in the table with this title, or in all tables.
fn cases_below(export: &Value, title: Option<&str>) -> Result<Vec<Measured>> {
    let cases = export["cases"]
        .as_array()
        .context("an export without cases")?;
    let of_title: Vec<&Value> = cases
        .iter()
        .filter(|case| title.is_none_or(|title| case["section"] == title))
        .collect();
    measured(&json!({ "cases": of_title }))
}

fn is_compared(measured: &Measured, counts_disturbed: bool) -> bool {
    let counted = measured.samples.iter().filter(|sample: &&Sample| {
        sample.outcome.is_ok() && (counts_disturbed || sample.disturbed.is_none())
    });
    counted.count() >= FEWEST_COMPARED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, section: &str, value: f64, samples: u32) -> Value {
        let sample = |round| Sample {
            round,
            disturbed: (round >= 4).then(|| "why".to_owned()),
            ..Sample::default()
        };
        let samples: Vec<Sample> = (0..samples).map(sample).collect();
        json!({
            "name": name, "section": section, "outcome": "ok", "samples": samples,
            "estimate": {"total_ns": {"value": value}},
        })
    }

    fn export(answer: &Value) -> Value {
        let stream = "Stream data into a new file";
        let decision = json!({
            "target": "t", "contract": Goal::Stream.baseline().workload(), "answer": answer,
            "compared": 3, "counts_disturbed": false,
        });
        json!({
            "run": {"decisions": [decision]},
            "cases": [
                case("write,size=16MiB", stream, 3.0, 6),
                case("mmap,size=16MiB", stream, 2.0, 3),
                case("pwrite,size=16MiB", stream, 1.0, 2),
                case("pwritev,size=16MiB", stream, 1.5, 5),
                case("write,size=4MiB", stream, 1.0, 6),
                case("write,size=16MiB,sync=fsync", "another table", 4.0, 6),
            ],
        })
    }

    #[test]
    fn an_answer_has_its_bound_and_the_cases_with_enough_samples() {
        let answer = json!({"case": "write,size=16MiB", "bound_ppm": 25_000});
        let given = Given::of(&export(&answer), Goal::Stream, false)
            .unwrap()
            .unwrap();
        assert!((given.bound - 0.025).abs() < 1e-9);
        assert_eq!(
            (given.case.to_string().as_str(), given.size().as_str()),
            ("write,size=16MiB", "16MiB")
        );
        let names = |given: &Given| {
            given
                .compared
                .iter()
                .map(Case::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&given), ["pwritev,size=16MiB", "mmap,size=16MiB"]);
        let given = Given::of(&export(&answer), Goal::Stream, true)
            .unwrap()
            .unwrap();
        assert_eq!(names(&given).last().unwrap(), "write,size=16MiB,sync=fsync");
    }

    #[test]
    fn a_goal_may_have_no_answer() {
        assert!(
            Given::of(&export(&Value::Null), Goal::Stream, false)
                .unwrap()
                .is_none()
        );
        assert!(
            Given::of(&export(&Value::Null), Goal::Records, false)
                .unwrap()
                .is_none()
        );
        assert!(Given::of(&json!({}), Goal::Records, false).is_err());
    }
}
