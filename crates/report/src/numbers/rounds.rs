//! Cases compared by one model of all samples of a contract on a target.

use std::collections::HashMap;
use std::sync::Arc;

use writebench_model::{Contract, Sample, TargetRecord};
use writebench_stats::{CONFIDENCE, Interval, Rounds, Verdict, as_f64};

use crate::numbers::case::CaseReport;
use crate::numbers::grouped::grouped;

/// A case's place in the model of its contract on its target.
#[derive(Debug, Clone)]
pub(crate) struct Modelled {
    rounds: Arc<Rounds>,
    index: usize,
}

impl Modelled {
    /// The model of a case alone; none without an undisturbed sample.
    pub(crate) fn alone(case: &CaseReport) -> Option<Self> {
        let times = times(case);
        (!times.is_empty()).then(|| Self { rounds: Arc::new(Rounds::fit(&[times])), index: 0 })
    }

    /// The time of all of the work in a typical round.
    pub(crate) fn value_ns(&self) -> Option<f64> {
        self.rounds.value(self.index)
    }
}

/// The undisturbed samples: the time that all of the work takes at each one's rate, since a time limit may have
/// cut it.
fn times(case: &CaseReport) -> Vec<(u32, f64)> {
    let Contract { content, bytes, .. } = case.record.contract;
    let time = |sample: &Sample| {
        let total_ns = total(sample).max(1.0);
        match sample.bytes {
            0 if content.has_own_bytes() && bytes > 0 => None,
            cut if (1..bytes).contains(&cut) => Some((sample.round, total_ns * as_f64(bytes) / as_f64(cut))),
            _ => Some((sample.round, total_ns)),
        }
    };
    let calm = |sample: &&&Sample| sample.disturbed.is_none();
    Sample::usable(&case.record.samples).iter().filter(calm).filter_map(|sample| time(sample)).collect()
}

/// Fits a model to the cases of each contract on each target, and gives every case its value.
pub(crate) fn fit(cases: &mut [CaseReport], targets: &[TargetRecord]) {
    let groups = grouped(0..cases.len(), |&index| {
        let record = &cases[index].record;
        (record.contract.clone(), record.target.clone())
    });
    for (_, group) in groups {
        let (mut tables, mut places) = (Vec::new(), HashMap::new());
        let place = |&index: &usize| {
            let (name, times) = (cases[index].record.case.to_string(), times(&cases[index]));
            // A case in several tables has the same samples in each, and counts once.
            let bits: Vec<(u32, u64)> = times.iter().map(|(round, time)| (*round, time.to_bits())).collect();
            *places.entry((name, bits)).or_insert_with(|| {
                tables.push(times);
                tables.len() - 1
            })
        };
        let place_of_each: Vec<usize> = group.iter().map(place).collect();
        let rounds = Arc::new(Rounds::fit(&tables));
        for (case, index) in group.into_iter().zip(place_of_each) {
            let modelled = rounds.value(index).map(|_| Modelled { rounds: Arc::clone(&rounds), index });
            cases[case].model(modelled, targets);
        }
    }
}

impl CaseReport {
    /// The time of this case over another's: 2 if the other is twice as fast. The other may be of another contract or
    /// target; then only rounds compare them. None without undisturbed samples of both.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> Option<Interval> {
        let (own, others) = (self.modelled.as_ref()?, other.modelled.as_ref()?);
        own.rounds.ratio(own.index, (&others.rounds, others.index))
    }

    /// The verdict on this case, compared with another.
    pub(crate) fn verdict_to(&self, other: &Self) -> Verdict {
        self.ratio_to(other).map_or(Verdict::Inconclusive, |ratio| Verdict::of(&ratio, Verdict::MARGIN))
    }
}

/// The ratio of any value of two cases, with the interval from their common rounds. 0 over 0 counts as 1; a
/// positive value over 0 is infinite.
pub(crate) fn ratio_in_rounds(
    case: (&CaseReport, f64),
    other: (&CaseReport, f64),
    of_sample: fn(&Sample) -> f64,
) -> Option<Interval> {
    let by_round = |case: &CaseReport| -> HashMap<u32, f64> {
        let usable = Sample::usable(&case.record.samples).into_iter();
        usable.map(|sample| (sample.round, of_sample(sample))).collect()
    };
    let over = |own: f64, other: f64| if own == other { 1.0 } else { own / other };
    let others = by_round(other.0);
    let ratios = by_round(case.0).into_iter();
    let ratios: Vec<f64> =
        ratios.filter_map(|(round, own)| others.get(&round).map(|&other| over(own, other))).collect();
    Some(writebench_stats::median_interval(&ratios, CONFIDENCE)?.around(over(case.1, other.1)))
}

/// The total time, in nanoseconds.
pub(crate) fn total(sample: &Sample) -> f64 {
    as_f64(sample.phases_ns.total())
}

/// The geometric mean, for which 2 and 1/2 cancel.
pub(crate) fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / as_f64(ratios.len() as u64)).exp()
}
