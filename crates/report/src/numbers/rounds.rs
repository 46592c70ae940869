//! One model of all samples of a contract on a target.

use std::collections::HashMap;
use std::sync::Arc;

use writebench_model::{CaseRecord, Objective, Sample};
use writebench_stats::{CONFIDENCE, Interval, Rounds, as_f64, grouped};

#[derive(Debug, Clone)]
pub(crate) struct Modelled {
    rounds: Arc<Rounds>,
    index: usize,
}

impl Modelled {
    /// A model for each contract on each target. None without a sample that counts.
    pub(crate) fn for_cases(cases: &[Judged<'_>], objective: Objective) -> Vec<Option<Self>> {
        let mut modelled = vec![None; cases.len()];
        for (_, group) in grouped(0..cases.len(), |&index| {
            (&cases[index].record.contract, &cases[index].record.target)
        }) {
            // A case in several tables counts once.
            let bits = |case: &Judged<'_>| -> Vec<(u32, u64)> {
                times(case, objective)
                    .into_iter()
                    .map(|(round, time)| (round, time.to_bits()))
                    .collect()
            };
            let rows = grouped(group, |&case| {
                (cases[case].record.case.name(), bits(&cases[case]))
            });
            let tables: Vec<_> = rows
                .iter()
                .map(|(_, same)| times(&cases[same[0]], objective))
                .collect();
            let rounds = Arc::new(Rounds::fit(&tables));
            for (index, (_, same)) in rows.into_iter().enumerate() {
                for case in same {
                    let place = Self {
                        rounds: Arc::clone(&rounds),
                        index,
                    };
                    modelled[case] = Some(place).filter(|place| place.value_ns().is_some());
                }
            }
        }
        modelled
    }

    /// In a typical round.
    pub(crate) fn value_ns(&self) -> Option<f64> {
        self.rounds.value(self.index)
    }

    /// The other may be in another model.
    pub(crate) fn ratio_to(&self, other: &Self) -> Option<Interval> {
        self.rounds.ratio(self.index, (&other.rounds, other.index))
    }
}

/// A case, and whether its disturbed samples count.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'c> {
    pub(crate) record: &'c CaseRecord,
    pub(crate) counts_disturbed: bool,
}

/// The samples that decide, by round. See [`Sample::judged_ns`].
pub(crate) fn times(case: &Judged<'_>, objective: Objective) -> Vec<(u32, f64)> {
    let judged = |sample: &Sample| {
        let judged_ns =
            sample.judged_ns(&case.record.contract, objective, case.counts_disturbed)?;
        Some((sample.round, judged_ns))
    };
    case.record.samples.iter().filter_map(judged).collect()
}

/// The interval is from common rounds. 0 over 0 is 1, a positive value over 0 infinite.
pub(crate) fn ratio_in_rounds(
    case: (&CaseRecord, f64),
    other: (&CaseRecord, f64),
    of_sample: fn(&Sample) -> f64,
) -> Option<Interval> {
    let by_round = |case: &CaseRecord| -> HashMap<u32, f64> {
        Sample::usable(&case.samples)
            .iter()
            .map(|sample| (sample.round, of_sample(sample)))
            .collect()
    };
    let over = |own: f64, other: f64| if own == other { 1.0 } else { own / other };
    let others = by_round(other.0);
    let ratios = by_round(case.0).into_iter();
    let ratios: Vec<f64> = ratios
        .filter_map(|(round, own)| others.get(&round).map(|&other| over(own, other)))
        .collect();
    Some(writebench_stats::median_interval(&ratios, CONFIDENCE)?.around(over(case.1, other.1)))
}

/// In nanoseconds.
pub(crate) fn total(sample: &Sample) -> f64 {
    as_f64(sample.phases_ns.total())
}

/// 2 and 1/2 cancel.
pub(crate) fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / as_f64(ratios.len() as u64)).exp()
}
