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

/// With fewer degrees of freedom, chance decides about the share.
const FEWEST: usize = 10;

/// Candidates with files of one size.
pub(crate) struct Choices {
    pub bytes: u64,
    pub times_ns: Vec<f64>,
    /// From the largest share.
    pub all: Vec<Choice>,
}

pub(crate) struct Choice {
    pub name: String,
    /// From 0 to 1. None of too few candidates.
    pub share: Option<f64>,
    /// From the fastest.
    pub values: Vec<ChoiceValue>,
}

pub(crate) struct ChoiceValue {
    pub value: String,
    /// From the shortest.
    pub times_ns: Vec<f64>,
}

impl Choices {
    /// Of the largest group that wrote the same number of bytes. None if no choice has several values.
    pub(crate) fn of_search<'c>(cases: &'c [CaseReport]) -> Option<Self> {
        let is_measured =
            |case: &&CaseReport| case.record.origin.is_search() && case.time_ns().is_normal();
        let measured = cases.iter().filter(is_measured);
        let sizes = grouped(measured, |case| {
            (case.record.target.as_str(), case.record.contract.bytes)
        });
        let ((_, bytes), cases) = sizes.into_iter().max_by_key(|(_, cases)| cases.len())?;
        // A finalist has several stages: the final has the most samples.
        let stages = grouped(cases, |case| case.record.case.name()).into_iter();
        let most = |(_, stages): (_, Vec<&'c CaseReport>)| {
            stages
                .into_iter()
                .max_by_key(|case| case.record.samples.len())
        };
        let candidates: Vec<&CaseReport> = stages.filter_map(most).collect();
        let chosen = candidates.iter().flat_map(|case| {
            let axes = case.record.case.axes().into_iter();
            let method = ("method".to_owned(), case.record.case.method().to_owned());
            axes.chain([method])
                .map(|(name, value)| (name, value, case.time_ns()))
        });
        let times_ns: Vec<f64> = candidates.iter().map(|case| case.time_ns()).collect();
        let spread = squares(&logarithms(&times_ns));
        let choices = grouped(chosen, |(name, ..)| name.clone()).into_iter();
        let mut all: Vec<Choice> = choices
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

impl Choice {
    /// `chosen` has the choice's name, its value and the time of each candidate.
    fn new(name: String, chosen: Vec<(String, String, f64)>, spread: f64) -> Self {
        let by_value = grouped(chosen, |(_, value, _)| value.clone()).into_iter();
        let times = |chosen: Vec<(_, _, f64)>| chosen.into_iter().map(|(.., ns)| ns).collect();
        let mut values: Vec<ChoiceValue> = by_value
            .map(|(value, chosen)| ChoiceValue {
                value,
                times_ns: times(chosen),
            })
            .collect();
        values
            .iter_mut()
            .for_each(|value| value.times_ns.sort_by(f64::total_cmp));
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
    /// Shortest, median and longest.
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

/// Squared distances to the mean.
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
    let free = all
        .len()
        .checked_sub(groups.len())
        .filter(|&free| free >= FEWEST && spread > 0.0)?;
    let within: f64 = groups.iter().map(|group| squares(group)).sum();
    let by_chance = (groups.len() - 1) as f64 * within / free as f64;
    Some(((squares(&all) - within - by_chance) / spread).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
