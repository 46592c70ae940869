//! Pairs of runs, and their ratio.

use std::collections::VecDeque;

use anyhow::{Result, bail};
use writebench_stats::{Interval, Rounds, as_f64, median};
use writebench_testkit::Chance;

use super::reading::{Reading, RecordTimes};

/// Takes one sample; none if it was disturbed.
pub(super) type Measure<'a> = dyn Fn() -> Result<Option<Reading>> + 'a;

/// Takes pairs, and decides which of them count.
#[derive(Default)]
pub(super) struct Pairing {
    // The latest memory-copy probes, over all cases.
    probes_ns: VecDeque<f64>,
}

/// The result of a case's pairs.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Over all phases.
    pub(super) total: Ratio,
    /// Over the work alone.
    pub(super) work: Ratio,
    /// Median percentiles of records, of the reference and of writebench, where both timed them.
    pub(super) records: Option<[RecordTimes; 2]>,
    /// Pairs that count.
    pub(super) pairs: usize,
    /// Pairs that were disturbed and repeated.
    pub(super) disturbed: usize,
}

/// Two medians in GB/s, and writebench's over the reference's.
#[derive(Debug)]
pub(super) struct Ratio {
    pub(super) reference: f64,
    pub(super) writebench: f64,
    pub(super) interval: Interval,
}

/// A run of the reference and one of writebench, one right after the other.
type Pair = [Reading; 2];

impl Pairing {
    /// A probe this many times slower than the median is disturbed.
    const SLOW: f64 = 1.5;
    /// Older probes are dropped, so that a permanent slowdown becomes normal.
    const MOST: usize = 21;
    /// With fewer probes there is no verdict.
    const LEAST: usize = 5;

    /// Takes `rounds` undisturbed pairs, or as many as twice that many attempts give.
    pub(super) fn compare(
        &mut self,
        reference: &Measure<'_>,
        writebench: &Measure<'_>,
        rounds: u32,
        seed: u64,
    ) -> Result<Comparison> {
        let rounds = usize::try_from(rounds)?;
        let mut order = Chance::new(seed);
        let mut pairs = Vec::new();
        let mut attempts = 0;
        while pairs.len() < rounds && attempts < 2 * rounds {
            attempts += 1;
            let first = order.below(2);
            let mut readings = [None; 2];
            for side in [first, 1 - first] {
                readings[side] = [reference, writebench][side]()?;
            }
            let [Some(reference), Some(writebench)] = readings else { continue };
            let pair = [reference, writebench];
            // Both readings are judged in any case: the rule learns from each.
            if pair.map(|reading| self.admits(reading.probe_ns)) == [true; 2] {
                pairs.push(pair);
            }
        }
        compared(&pairs, attempts)
    }

    fn admits(&mut self, probe_ns: u64) -> bool {
        // Several ranks have no probe.
        if probe_ns == 0 {
            return true;
        }
        let probe_ns = as_f64(probe_ns);
        let usual = median(self.probes_ns.make_contiguous()).filter(|_| self.probes_ns.len() >= Self::LEAST);
        if self.probes_ns.len() == Self::MOST {
            self.probes_ns.pop_front();
        }
        self.probes_ns.push_back(probe_ns);
        usual.is_none_or(|usual| probe_ns <= Self::SLOW * usual)
    }
}

fn compared(pairs: &[Pair], attempts: usize) -> Result<Comparison> {
    let ratio = |elapsed_ns: fn(&Reading) -> u64| {
        let rate = |reading: &Reading| reading.rate(elapsed_ns(reading));
        let rates = |side: usize| pairs.iter().map(|pair| rate(&pair[side])).collect::<Vec<_>>();
        let (reference, writebench) = (rates(0), rates(1));
        let rounds =
            Rounds::fit(&[&reference, &writebench].map(|rates| (0..).zip(rates.iter().copied()).collect()));
        Some(Ratio {
            reference: median(&reference)?,
            writebench: median(&writebench)?,
            interval: rounds.ratio(1, (&rounds, 0))?,
        })
    };
    let (Some(total), Some(work)) = (ratio(|it| it.total_ns), ratio(|it| it.work_ns)) else {
        bail!("the machine was disturbed in all {attempts} attempts");
    };
    let [reference, ours] = [0, 1].map(|side| record_medians(pairs.iter().map(|pair| pair[side].record)));
    let records = reference.zip(ours).map(|(reference, ours)| [reference, ours]);
    Ok(Comparison { total, work, records, pairs: pairs.len(), disturbed: attempts - pairs.len() })
}

fn record_medians(times: impl Iterator<Item = Option<RecordTimes>>) -> Option<RecordTimes> {
    let (p50, p99): (Vec<f64>, Vec<f64>) =
        times.map(|times| Some((times?.p50_ns, times?.p99_ns))).collect::<Option<_>>()?;
    Some(RecordTimes { p50_ns: median(&p50)?, p99_ns: median(&p99)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(total_ns: u64) -> Reading {
        let record = Some(RecordTimes { p50_ns: total_ns as f64 / 2.0, p99_ns: total_ns as f64 });
        Reading { total_ns, work_ns: total_ns / 2, bytes: 8000, probe_ns: 1, record }
    }

    #[test]
    fn twice_as_fast_is_a_ratio_of_two() {
        let times = [4000, 4200, 4400, 4600];
        let pair = |ns: u64| [reading(ns * 2), reading(ns)];
        let pairs: Vec<_> = times.into_iter().map(pair).collect();
        let comparison = compared(&pairs, 6).unwrap();
        assert!((comparison.total.interval.estimate - 2.0).abs() < 0.01);
        assert!((comparison.work.reference - 2.0 * comparison.total.reference).abs() < 0.01);
        assert_eq!((comparison.pairs, comparison.disturbed), (4, 2));
        let [reference, ours] = comparison.records.unwrap();
        let about = |value: f64, wanted: f64| (value - wanted).abs() < 1e-9;
        assert!(about(reference.p50_ns, 4300.0) && about(ours.p50_ns, 2150.0) && about(ours.p99_ns, 4300.0));
    }

    #[test]
    fn a_pair_with_a_disturbed_run_is_repeated() {
        let attempts = std::cell::Cell::new(0);
        let reference = || Ok(Some(reading(4000)));
        let writebench = || {
            attempts.set(attempts.get() + 1);
            Ok((attempts.get() > 2).then(|| reading(2000)))
        };
        let comparison = Pairing::default().compare(&reference, &writebench, 3, 1).unwrap();
        assert_eq!((comparison.pairs, comparison.disturbed), (3, 2));
        assert!((comparison.total.interval.estimate - 2.0).abs() < 1e-9);
    }

    #[test]
    fn without_a_pair_there_is_no_figure() {
        assert!(compared(&[], 42).is_err());
    }

    #[test]
    fn a_slow_probe_is_a_disturbance_once_the_usual_is_known() {
        let mut pairing = Pairing::default();
        assert!([900, 1000, 1000, 1100, 9000].into_iter().all(|probe_ns| pairing.admits(probe_ns)));
        assert!(pairing.admits(1400));
        assert!(!pairing.admits(1700));
    }

    #[test]
    fn a_machine_that_stays_slow_becomes_the_rule() {
        let mut pairing = Pairing::default();
        let rejected = std::iter::repeat_n(1000, 100).chain(std::iter::repeat_n(2000, 100));
        assert_eq!(rejected.filter(|&probe_ns| !pairing.admits(probe_ns)).count(), 11);
    }
}
