//! How much each choice matters in a search.
//!
//! A choice is the method or one of its axes. Its share is the correlation ratio η² of a one-way analysis of
//! variance (K. Pearson, "On the general theory of skew correlation and non-linear regression", 1905) over the
//! logarithms of times. By chance alone, η² grows with the number of values, so it is adjusted as ε² (T. L.
//! Kelley, "An unbiased correlation ratio measure", PNAS 21, 1935):
//!
//! ```text
//! η² = B / T     ε² = (B - (k - 1) · W / (m - k)) / T
//! ```
//!
//! `B` is the sum of squares between the `k` values of the choice, `W` that within them, over its `m`
//! candidates. `T` is the sum of squares of all candidates: all shares are of one spread.

use crate::numbers::{CaseReport, grouped};

/// The share is decided by chance with fewer degrees of freedom.
const FEWEST_DEGREES_OF_FREEDOM: usize = 10;

/// The choices of a search's candidates, and how much each matters.
pub(crate) struct Choices {
    /// The bytes that each of the candidates wrote.
    pub bytes: u64,
    /// The total time of each candidate.
    pub times_ns: Vec<f64>,
    /// The choices with several values. The one with the largest share is first.
    pub all: Vec<Choice>,
}

pub(crate) struct Choice {
    pub name: String,
    /// The share of the spread of times that the choice explains, from 0 to 1. It is None with too few candidates.
    pub share: Option<f64>,
    /// The choice's values. The one with the shortest median time is first.
    pub values: Vec<ChoiceValue>,
}

pub(crate) struct ChoiceValue {
    pub value: String,
    /// The times of the candidates with this value. The shortest is first.
    pub times_ns: Vec<f64>,
}

impl Choices {
    /// The choices of the largest group of candidates that wrote the same number of bytes. They are None if no choice
    /// has several values.
    pub(crate) fn of_search(cases: &[CaseReport]) -> Option<Self> {
        let measured = cases
            .iter()
            .filter(|case| case.record.origin.is_search() && case.time_ns().is_normal());
        let sizes = grouped(measured, |case| {
            (case.record.target.as_str(), case.record.workload.bytes)
        });
        let ((_, bytes), cases) = sizes.into_iter().max_by_key(|(_, cases)| cases.len())?;
        let candidates = one_per_candidate(cases);
        let times_ns: Vec<f64> = candidates.iter().map(|case| case.time_ns()).collect();
        let spread = squares(&logarithms(&times_ns));
        let chosen = candidates.iter().flat_map(|case| chosen_values(case));
        let mut all: Vec<Choice> = grouped(chosen, |(name, ..)| name.clone())
            .into_iter()
            .map(|(name, chosen)| Choice::new(name, chosen, spread))
            .collect();
        all.retain(|choice| choice.values.len() > 1);
        all.sort_by(|a, b| b.share.unwrap_or(-1.0).total_cmp(&a.share.unwrap_or(-1.0)));
        (!all.is_empty()).then_some(Self {
            bytes,
            times_ns,
            all,
        })
    }
}

/// A finalist was measured in several stages: the final has the most samples.
fn one_per_candidate(cases: Vec<&CaseReport>) -> Vec<&CaseReport> {
    grouped(cases, |case| case.record.case.name())
        .into_iter()
        .filter_map(|(_, stages)| {
            stages
                .into_iter()
                .max_by_key(|case| case.record.samples.len())
        })
        .collect()
}

/// The name of a choice, the value that a candidate has, and the candidate's time.
type ChosenValue = (String, String, f64);

fn chosen_values(candidate: &CaseReport) -> impl Iterator<Item = ChosenValue> {
    let case = &candidate.record.case;
    let time_ns = candidate.time_ns();
    let method = ("method".to_owned(), case.method().to_owned());
    case.axes()
        .into_iter()
        .chain([method])
        .map(move |(name, value)| (name, value, time_ns))
}

impl Choice {
    fn new(name: String, chosen: Vec<ChosenValue>, spread: f64) -> Self {
        let mut values: Vec<ChoiceValue> = grouped(chosen, |(_, value, _)| value.clone())
            .into_iter()
            .map(|(value, chosen)| ChoiceValue::new(value, &chosen))
            .collect();
        values.sort_by(|a, b| a.times_ns()[1].total_cmp(&b.times_ns()[1]));
        let groups: Vec<Vec<f64>> = values
            .iter()
            .map(|value| logarithms(&value.times_ns))
            .collect();
        Self {
            name,
            share: share(&groups, spread),
            values,
        }
    }
}

impl ChoiceValue {
    fn new(value: String, chosen: &[ChosenValue]) -> Self {
        let mut times_ns: Vec<f64> = chosen.iter().map(|(.., ns)| *ns).collect();
        times_ns.sort_by(f64::total_cmp);
        Self { value, times_ns }
    }

    /// The shortest time, the median and the longest.
    pub(crate) fn times_ns(&self) -> [f64; 3] {
        let [first, .., last] = self.times_ns[..] else {
            return [self.times_ns[0]; 3];
        };
        [
            first,
            writebench_stats::median(&self.times_ns).unwrap_or(first),
            last,
        ]
    }
}

fn logarithms(times: &[f64]) -> Vec<f64> {
    times.iter().map(|time| time.ln()).collect()
}

/// The sum of the squared distances to the mean.
fn squares(values: &[f64]) -> f64 {
    let (mean, _) = writebench_stats::mean_and_sd(values).unwrap_or_default();
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// ε², at least 0. `spread` is the sum of squares of all candidates.
#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of candidates are far below 2^52"
)]
fn share(groups: &[Vec<f64>], spread: f64) -> Option<f64> {
    let all: Vec<f64> = groups.concat();
    let degrees_of_freedom = all
        .len()
        .checked_sub(groups.len())
        .filter(|&degrees| degrees >= FEWEST_DEGREES_OF_FREEDOM && spread > 0.0)?;
    let within: f64 = groups.iter().map(|group| squares(group)).sum();
    let by_chance = (groups.len() - 1) as f64 * within / degrees_of_freedom as f64;
    Some(((squares(&all) - within - by_chance) / spread).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
