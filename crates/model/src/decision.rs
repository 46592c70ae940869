//! The results of contests.

use serde::{Deserialize, Serialize};

use crate::earlier_names;
use crate::workload::Workload;

/// The result of a contest between the cases of one workload on one target.
///
/// The scheduler makes it once, from the samples that it took. Tables, pages and exports show it, and never choose
/// again. Only runs of earlier versions, and runs that were killed, have none: there it is made when the run is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The target's name.
    pub target: String,
    #[serde(rename = "contract")]
    pub workload: Workload,
    /// The best case and its bound. There is none if the samples do not suffice.
    pub answer: Option<ContestAnswer>,
    /// The number of cases with enough samples to be better or worse than another one. The bound says nothing of the
    /// rest.
    pub compared: u32,
    /// The number of cases that the contest could have measured. 0 in runs of earlier versions.
    #[serde(default)]
    pub candidates: u32,
    /// Whether disturbed samples count, because they were not slower, or because too few others remain. Estimates of
    /// these cases use the same samples.
    pub counts_disturbed: bool,
}

impl Decision {
    /// Whether the contest is also about this workload, which promises at least as much.
    pub(crate) fn covers(&self, workload: &Workload) -> bool {
        workload.content == self.workload.content && workload.check(&self.workload).is_ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContestAnswer {
    /// The name of the case to use.
    #[serde(deserialize_with = "earlier_names::name")]
    pub case: String,
    /// The bound in millionths: with a probability of 95 %, no other compared case is faster by more than this.
    pub bound_ppm: u64,
    /// The names of the other cases with the samples of an answer that may be as fast: within two standard errors, the
    /// fastest first.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "earlier_names::names"
    )]
    pub as_good: Vec<String>,
}

impl ContestAnswer {
    /// An answer whose `bound` is a ratio of times of at least 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and saturating"
    )]
    pub fn new(case: String, bound: f64, as_good: Vec<String>) -> Self {
        let bound_ppm = ((bound - 1.0) * 1e6).round().max(0.0) as u64;
        Self {
            case,
            bound_ppm,
            as_good,
        }
    }

    /// The bound as a ratio of times, which is at least 1.
    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds are far below 2^52 millionths"
    )]
    pub fn bound(&self) -> f64 {
        1.0 + self.bound_ppm as f64 / 1e6
    }
}
