//! Three stages measure a goal's cases, each with fewer cases and more samples.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;
use writebench_model::{Case, Content, Goal, Space};
use writebench_testkit::TestRng;

use super::choice::Gains;
use crate::export::{measured, result, without_size};
use crate::program::{Bench, compared, exported};

const SEED: u64 = 1;

pub(super) struct Measurement<'m> {
    pub(super) bench: Bench<'m>,
    pub(super) goal: Goal,
}

/// A search sets the size and the record.
pub(super) fn short_name(goal: Goal, case: &Case) -> String {
    let name = without_size(case);
    let mut parts: Vec<&str> = name.split(',').collect();
    if goal.has_records() {
        parts.retain(|part| !part.starts_with("chunk="));
    }
    parts.join(",")
}

impl Measurement<'_> {
    /// Returns the gains from a case's newest stage, and the export of the last.
    pub(super) fn gains(&self, small: &Space, full: &Space) -> Result<(Gains, Value)> {
        let name = |case: &Case| short_name(self.goal, case);
        let (first, _) = self.stage(small, |_| true, 1)?;
        let tried: BTreeSet<String> = small.cases().map(name).collect();
        let always: BTreeSet<String> = full
            .portfolio
            .iter()
            .chain([&full.baseline])
            .map(name)
            .collect();
        let chosen = best_and_some(&first);
        // Some cases exist only at the full size.
        let is_chosen =
            |name: &String| always.contains(name) || chosen.contains(name) || !tried.contains(name);
        let (second, _) = self.stage(full, is_chosen, 3)?;
        let best: Vec<String> = ranked(&second)
            .into_iter()
            .take(second.len().div_ceil(20))
            .collect();
        let (third, export) =
            self.stage(full, |name| always.contains(name) || best.contains(name), 6)?;
        Ok((joined(second, third, &best), export))
    }

    /// Copies with shared blocks have another workload.
    fn stage(
        &self,
        space: &Space,
        is_in: impl Fn(&String) -> bool,
        samples: u32,
    ) -> Result<(Gains, Value)> {
        let others = space.others.iter().filter(|case| {
            is_in(&short_name(self.goal, case)) && case.workload().content != Content::SharedCopy
        });
        let cases: Vec<Case> = [&space.baseline]
            .into_iter()
            .chain(others)
            .cloned()
            .collect();
        let export = exported(compared(self.bench.run(&cases, samples)))?;
        let measured = measured(&export)?;
        let baseline_ns = result(&measured, &space.baseline)?.value_ns;
        let gains = measured.iter().filter(|case| {
            case.case != space.baseline
                && case
                    .samples
                    .iter()
                    .all(|sample| sample.shares_blocks != Some(true))
        });
        let gains = gains
            .map(|case| {
                (
                    short_name(self.goal, &case.case),
                    baseline_ns / case.value_ns,
                )
            })
            .collect();
        Ok((gains, export))
    }
}

/// The best is first.
pub(super) fn ranked(gains: &Gains) -> Vec<String> {
    let mut ranked: Vec<_> = gains.iter().collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked.into_iter().map(|(name, _)| name.clone()).collect()
}

/// Takes the best fifth, and half as many at random from the rest.
fn best_and_some(gains: &Gains) -> BTreeSet<String> {
    let mut chosen = ranked(gains);
    let mut rest = chosen.split_off(chosen.len().div_ceil(5));
    let mut rng = TestRng::new(SEED);
    for _ in 0..(chosen.len() / 2).min(rest.len()) {
        chosen.push(rest.swap_remove(rng.below(rest.len())));
    }
    chosen.into_iter().collect()
}

/// The best of many are overestimated, and each stage has its own baseline. So the second stage's gains are
/// scaled to the third's level of the best.
fn joined(mut second: Gains, third: Gains, best: &[String]) -> Gains {
    let changes = best
        .iter()
        .filter_map(|name| Some((third.get(name)? / second.get(name)?).ln()));
    let changes: Vec<f64> = changes.collect();
    let level = (changes.iter().sum::<f64>() / changes.len().max(1) as f64).exp();
    second.values_mut().for_each(|gain| *gain *= level);
    second.extend(third);
    second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_stage_has_the_best_and_half_as_many_of_the_rest() {
        let gains: Gains = (0..100)
            .map(|number| (format!("{number:02}"), f64::from(number)))
            .collect();
        let chosen = best_and_some(&gains);
        assert_eq!(chosen.len(), 30);
        assert!((80..100).all(|number| chosen.contains(&number.to_string())));
        assert_eq!(chosen, best_and_some(&gains));
        assert_eq!(
            best_and_some(&Gains::from([("one".to_owned(), 1.0)])).len(),
            1
        );
    }

    #[test]
    fn the_newest_stage_counts_and_sets_the_level_of_the_older_one() {
        let gains = |table: &[(&str, f64)]| {
            table
                .iter()
                .map(|(name, gain)| ((*name).to_owned(), *gain))
                .collect()
        };
        let second = gains(&[("a", 4.0), ("b", 4.0), ("c", 3.0), ("failed", 5.0)]);
        let third: Gains = gains(&[("a", 2.0), ("b", 2.0)]);
        let best = ["failed", "a", "b"].map(str::to_owned);
        let joined = joined(second, third, &best);
        assert_eq!((joined["a"], joined["b"]), (2.0, 2.0));
        assert!((joined["c"] - 1.5).abs() < 1e-9);
    }

    #[test]
    fn a_short_name_has_neither_the_size_nor_the_record() {
        let case = Case::parse("pwrite,size=4MiB,chunk=4KiB,sync=fdatasync/1").unwrap();
        assert_eq!(short_name(Goal::Records, &case), "pwrite,sync=fdatasync/1");
        assert_eq!(
            short_name(Goal::Stream, &case),
            "pwrite,chunk=4KiB,sync=fdatasync/1"
        );
    }
}
