//! The differences that can be resolved in a machine's noise, for each kind of work.

use serde::Serialize;
use writebench_model::{Series, Work};
use writebench_stats::{CONFIDENCE, FEWEST_FOR_INTERVAL, as_f64};

/// The numbers of samples considered: a run's default, and many.
const FEW: usize = FEWEST_FOR_INTERVAL as usize;
pub(crate) const MANY: usize = 30;

/// The noise of one kind of work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkNoise {
    pub work: Work,
    /// The number of values, each of `times` repetitions.
    pub values: usize,
    pub times: u32,
    /// The median of one repetition; none without a value.
    pub median_ns: Option<f64>,
    /// Half the distance of the quartiles, as a part of the median.
    pub spread: Option<f64>,
    /// The range of the medians of ten pieces of the time, as a part of the median.
    pub drift: Option<f64>,
    /// The smallest difference that medians of 6 values resolve at 95 %.
    pub difference_with_6: Option<f64>,
    /// The smallest difference that medians of 30 values resolve at 95 %.
    pub difference_with_30: Option<f64>,
    /// The reason if the work failed or stopped early.
    pub failed: Option<String>,
}

impl WorkNoise {
    pub(crate) fn of(series: &Series) -> Self {
        let values: Vec<f64> = series.values_ns.iter().map(|&ns| as_f64(ns)).collect();
        let median = writebench_stats::median(&values).filter(|median| *median > 0.0);
        let medians = |pieces: usize| -> Vec<f64> {
            let each = values.len().div_ceil(pieces).max(1);
            values.chunks(each).filter_map(writebench_stats::median).collect()
        };
        let range = |values: &[f64]| {
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            largest - values.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let enough = values.len() >= 20;
        Self {
            work: series.work,
            values: values.len(),
            times: series.times,
            median_ns: median.map(|median| median / f64::from(series.times.max(1))),
            spread: median.filter(|_| enough).map(|median| quartile_distance(&values) / 2.0 / median),
            drift: median.filter(|_| enough).map(|median| range(&medians(10)) / median),
            difference_with_6: writebench_stats::smallest_difference(&values, FEW, CONFIDENCE),
            difference_with_30: writebench_stats::smallest_difference(&values, MANY, CONFIDENCE),
            failed: series.failed.clone(),
        }
    }

    /// The number of samples that resolve that difference; none if even many do not.
    pub(crate) fn samples_for(&self, difference: f64) -> Option<usize> {
        let within = |smallest: Option<f64>| smallest.is_some_and(|smallest| smallest <= difference);
        let enough = [(FEW, self.difference_with_6), (MANY, self.difference_with_30)];
        enough.into_iter().find(|(_, smallest)| within(*smallest)).map(|(samples, _)| samples)
    }

    pub(crate) fn is_known(&self) -> bool {
        self.difference_with_6.is_some()
    }
}

fn quartile_distance(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |quarter: usize| sorted[(sorted.len() - 1) * quarter / 4];
    at(3) - at(1)
}
