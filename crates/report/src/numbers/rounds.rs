//! One model of all samples of a workload on a target.

use std::collections::HashMap;
use std::sync::Arc;

use writebench_model::{CaseRecord, Objective, Sample};
use writebench_stats::{Interval, Rounds, as_f64, grouped};

/// A case's part of the model of its workload.
#[derive(Debug, Clone)]
pub(crate) struct Modelled {
    rounds: Arc<Rounds>,
    /// The case's index in the model.
    index: usize,
}

impl Modelled {
    /// Makes a model for each workload on each target, from cases with their [`times`]. A case without a sample that
    /// counts has none.
    pub(crate) fn for_cases(cases: &[(&CaseRecord, Times)]) -> Vec<Option<Self>> {
        let mut modelled = vec![None; cases.len()];
        let workloads = grouped(0..cases.len(), |&case| {
            let (record, _) = &cases[case];
            (&record.workload, &record.target)
        });
        for (_, group) in workloads {
            // A case in several tables counts once.
            let rows = grouped(group, |&case| {
                let (record, times) = &cases[case];
                (record.case.name(), times_in_bits(times))
            });
            let tables: Vec<Times> = rows
                .iter()
                .map(|(_, same)| cases[same[0]].1.clone())
                .collect();
            let rounds = Arc::new(Rounds::fit(&tables));
            for (index, (_, same)) in rows.into_iter().enumerate() {
                for case in same {
                    let part = Self {
                        rounds: Arc::clone(&rounds),
                        index,
                    };
                    modelled[case] = Some(part).filter(|part| part.value_ns().is_some());
                }
            }
        }
        modelled
    }

    /// The case's time in a typical round.
    pub(crate) fn value_ns(&self) -> Option<f64> {
        self.rounds.value(self.index)
    }

    /// The case's time over the other's, which may be in another model.
    pub(crate) fn ratio_to(&self, other: &Self) -> Option<Interval> {
        self.rounds.ratio(self.index, (&other.rounds, other.index))
    }
}

/// A round and the time of a sample there, for each sample that decides.
pub(crate) type Times = Vec<(u32, f64)>;

/// The times of the samples that decide. See [`Sample::judged_ns`].
pub(crate) fn times(case: &CaseRecord, objective: Objective, counts_disturbed: bool) -> Times {
    case.samples
        .iter()
        .filter_map(|sample| {
            let judged_ns = sample.judged_ns(&case.workload, objective, counts_disturbed)?;
            Some((sample.round, judged_ns))
        })
        .collect()
}

/// The same times, in a form that is a key.
fn times_in_bits(times: &[(u32, f64)]) -> Vec<(u32, u64)> {
    times
        .iter()
        .map(|(round, time)| (*round, time.to_bits()))
        .collect()
}

/// The ratio of two cases' values, with an interval from their common rounds. Each case comes with its value, and
/// `value_of` reads the same quantity from a sample.
pub(crate) fn ratio_in_rounds(
    (case, value): (&CaseRecord, f64),
    (other, other_value): (&CaseRecord, f64),
    value_of: fn(&Sample) -> f64,
) -> Option<Interval> {
    let others_by_round = values_by_round(other, value_of);
    let ratios: Vec<f64> = values_by_round(case, value_of)
        .into_iter()
        .filter_map(|(round, own)| Some(quotient(own, *others_by_round.get(&round)?)))
        .collect();
    let interval = writebench_stats::paired_ratio(&ratios)?;
    Some(interval.around(quotient(value, other_value)))
}

fn values_by_round(case: &CaseRecord, value_of: fn(&Sample) -> f64) -> HashMap<u32, f64> {
    Sample::usable(&case.samples)
        .iter()
        .map(|sample| (sample.round, value_of(sample)))
        .collect()
}

/// 0 over 0 is 1 here, and a positive value over 0 is infinite.
fn quotient(value: f64, other: f64) -> f64 {
    if value == other { 1.0 } else { value / other }
}

/// The sample's total time in nanoseconds.
pub(crate) fn total(sample: &Sample) -> f64 {
    as_f64(sample.phases_ns.total())
}

/// The mean of ratios, in which 2 and 1/2 cancel.
pub(crate) fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / as_f64(ratios.len() as u64)).exp()
}
