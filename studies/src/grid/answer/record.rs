//! What the files of the grids keep of answers, and the document says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::grid::rates::{Alternative, Claim, Knowledge, LOW_BOUND, NEAR, Rates, SAME, are_alike};

/// All answers to one goal in one environment.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::grid) struct Answers {
    /// That of the program that answered.
    pub(super) version: String,
    /// How many rounds judged the answers.
    pub(super) rounds: u32,
    /// How many times the program was asked.
    pub(super) asked: u32,
    pub(super) given: Vec<Answer>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::grid) struct Answer {
    pub(super) size: String,
    pub(super) case: String,
    /// The cases that its contest could not tell from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) as_good: Vec<String>,
    /// The time of plain write over that of the case.
    pub(super) gain: f64,
    /// The time over that of the fastest measured case, less 1.
    pub(super) regret: f64,
    /// Earlier versions printed none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bound: Option<Bound>,
    /// The time of each case with one choice less, and of plain write, over that of the answer. Empty for plain write.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) steps: BTreeMap<String, f64>,
}

/// A loss is the time over that of the fastest case that the answer was compared with, less 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Bound {
    /// What the program said of the loss.
    pub(super) printed: f64,
    pub(super) loss: f64,
    /// The lower end of its interval.
    pub(super) least_loss: f64,
}

/// The section about all answers. Each comes with its environment and its goal.
pub(in crate::grid) fn summary(answers: &[(&str, &str, &Answers)]) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let mut text = include_str!("summary.md").to_owned();
    for (environment, goal, answers) in answers {
        text += &answers.row(environment, goal);
    }
    text
}

/// A table for each version that answered, and each number of rounds that judged.
pub(in crate::grid) fn rates_of_versions(answers: &[(&str, &str, &Answers)]) -> String {
    let mut rates = BTreeMap::<(&str, u32), Rates>::new();
    for (.., answers) in answers {
        let key = (answers.version.as_str(), answers.rounds);
        answers.add_to(rates.entry(key).or_default());
    }
    let mut text = String::new();
    for ((version, rounds), rates) in rates.iter().rev() {
        text += &format!(
            "\nVersion {version}, judged by {rounds} rounds:\n\n{}",
            rates.table(Knowledge::Known)
        );
    }
    text
}

impl Answers {
    fn add_to(&self, rates: &mut Rates) {
        let missing = (self.asked as usize).saturating_sub(self.given.len());
        let none = || std::iter::repeat_n(false, missing);
        let near = self.given.iter().map(|answer| answer.regret <= NEAR);
        rates.add(Claim::Near, near.chain(none()));
        let several = (self.asked > 1).then(|| missing == 0 && self.are_alike());
        rates.add(Claim::Alike, several);
        let bounds: Vec<Bound> = self
            .given
            .iter()
            .filter_map(|answer| answer.bound)
            .collect();
        if bounds.len() == self.given.len() {
            let low = bounds.iter().map(|bound| bound.printed <= LOW_BOUND);
            rates.add(Claim::LowBound, low.chain(none()));
        }
        let is_true = |bound: &Bound| bound.least_loss <= bound.printed;
        rates.add(Claim::TrueBound, bounds.iter().map(is_true));
        let choices = self.given.iter().filter(|answer| !answer.steps.is_empty());
        rates.add(
            Claim::Minimal,
            choices.map(|answer| answer.steps.values().all(|step| *step >= 1.0 + SAME)),
        );
    }

    fn are_alike(&self) -> bool {
        let mut alternatives = Vec::new();
        for answer in &self.given {
            alternatives.push(Alternative {
                case: &answer.case,
                time: 1.0 + answer.regret,
                as_good: &answer.as_good,
            });
        }
        are_alike(&alternatives)
    }

    fn row(&self, environment: &str, goal: &str) -> String {
        let column = |text: &dyn Fn(&Answer) -> String| {
            let texts: Vec<String> = self.given.iter().map(text).collect();
            texts.join(", ")
        };
        // The sum turns the negative zero of a small loss into a usual one.
        let percent = |share: f64| format!("{:.0} %", (share * 100.0).round() + 0.0);
        let mut sizes: Vec<&str> = self
            .given
            .iter()
            .map(|answer| answer.size.as_str())
            .collect();
        sizes.dedup();
        format!(
            "| {environment} | {goal} | {}, {} | {} | {} | {} | {} | {} |\n",
            self.version,
            self.rounds,
            sizes.join(", "),
            column(&|answer| format!("{:.2}", answer.gain)),
            column(&|answer| percent(answer.regret)),
            column(&|answer| answer
                .bound
                .map_or("–".to_owned(), |bound| percent(bound.printed))),
            self.given
                .first()
                .map_or("–".to_owned(), |answer| format!("`{}`", answer.case)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(case: &str, regret: f64, bound: Option<[f64; 2]>, steps: &[f64]) -> Answer {
        Answer {
            size: "16MiB".to_owned(),
            case: case.to_owned(),
            as_good: Vec::new(),
            gain: 2.0,
            regret,
            bound: bound.map(|[printed, least_loss]| Bound {
                printed,
                loss: least_loss,
                least_loss,
            }),
            steps: (0..)
                .map(|number: u32| number.to_string())
                .zip(steps.iter().copied())
                .collect(),
        }
    }

    fn answers(version: &str, rounds: u32, given: Vec<Answer>) -> Answers {
        Answers {
            version: version.to_owned(),
            rounds,
            asked: 3,
            given,
        }
    }

    #[test]
    fn a_summary_counts_true_claims_by_version_and_rounds() {
        let new = answers(
            "0.4.0",
            60,
            vec![
                answer("a", 0.0, Some([0.01, 0.0]), &[1.5, 1.01]),
                answer("b", 0.06, Some([0.06, 0.07]), &[1.5]),
            ],
        );
        let old = answers(
            "0.3.0",
            15,
            vec![
                answer("a", -0.01, None, &[]),
                answer("b", 0.01, None, &[]),
                answer("a", 0.01, None, &[]),
            ],
        );
        let all = [("ext4", "stream", &new), ("xfs", "copy", &old)];
        let rates = rates_of_versions(&all);
        let (new, old) = rates
            .split_once("Version 0.3.0, judged by 15 rounds:\n")
            .unwrap();
        assert!(new.starts_with("\nVersion 0.4.0, judged by 60 rounds:\n"));
        for (table, rows) in [
            (
                new,
                [
                    "| 1 of 3, 33 % |",
                    "| 0 of 1, 0 % |",
                    "| 1 of 2, 50 % |",
                    "| 1 of 3, 33 % |",
                    "| 1 of 2, 50 % |",
                ],
            ),
            (
                old,
                [
                    "| 3 of 3, 100 % |",
                    "| 1 of 1, 100 % |",
                    "| not measured |",
                    "| not measured |",
                    "| not measured |",
                ],
            ),
        ] {
            let found = table.lines().filter(|line| line.contains(" % | "));
            let found: Vec<&str> = found.collect();
            assert_eq!(found.len(), rows.len(), "{table}");
            for (line, row) in found.iter().zip(rows) {
                assert!(line.contains(row), "{line} lacks {row}");
            }
        }
        let text = summary(&all);
        for row in [
            "| ext4 | stream | 0.4.0, 60 | 16MiB | 2.00, 2.00 | 0 %, 6 % | 1 %, 6 % | `a` |\n",
            "| xfs | copy | 0.3.0, 15 | 16MiB | 2.00, 2.00, 2.00 | -1 %, 1 %, 1 % | –, –, – | `a` |\n",
        ] {
            assert!(text.contains(row), "{text}");
        }
        assert_eq!(summary(&[]), "");
    }

    #[test]
    fn answers_that_name_each_other_are_alike() {
        let naming = |case: &str, as_good: &[&str]| Answer {
            as_good: as_good.iter().map(|&case| case.to_owned()).collect(),
            ..answer(case, if case == "a" { 0.0 } else { 0.1 }, None, &[])
        };
        let are_alike = |given| answers("0.4.0", 60, given).are_alike();
        assert!(are_alike(vec![
            naming("a", &["b"]),
            naming("b", &["c", "a"])
        ]));
        assert!(!are_alike(vec![naming("a", &["b"]), naming("b", &["c"])]));
        assert!(!are_alike(vec![naming("a", &[]), naming("b", &["a"])]));
        assert!(
            are_alike(vec![naming("b", &[]), naming("c", &[])]),
            "equally fast"
        );
    }

    #[test]
    fn answers_are_kept_with_all_digits() {
        let kept = answers(
            "0.4.0",
            60,
            vec![
                answer("a", 0.25, Some([0.01, 0.02]), &[1.5]),
                answer("b", 0.5, None, &[]),
            ],
        );
        let text = toml::to_string(&kept).unwrap();
        let read: Answers = toml::from_str(&text).unwrap();
        assert_eq!(format!("{kept:?}"), format!("{read:?}"));
    }
}
