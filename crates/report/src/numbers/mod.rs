//! The lowest layer of a report: values without sentences.

mod case;
mod cases;
mod choices;
mod comparison;
mod decisions;
mod estimate;
mod failures;
mod gated;
mod latency;
mod limit_share;
mod obstacle;
mod over_time;
mod required;
mod rounds;
#[cfg(test)]
mod tests;

pub(crate) use self::case::{CaseReport, across_targets, by_rank, by_workload};
pub(crate) use self::cases::cases;
pub(crate) use self::choices::{Choice, Choices};
pub(crate) use self::comparison::{CaseOn, CompareError, ComparedCase};
pub use self::comparison::{ComparedRun, Comparison, ObservationUnit, Side};
pub(crate) use self::decisions::{Decided, contest_samples, decided, is_baseline};
pub(crate) use self::estimate::{Estimate, Figure, PHASES, PhaseNs, least_and_most};
pub use self::failures::FailedCases;
pub(crate) use self::failures::{candidate, failures};
pub use self::gated::Gated;
pub(crate) use self::gated::gated;
pub(crate) use self::latency::{LatencyCurve, LatencyEstimate, has_percentile};
pub(crate) use self::limit_share::{LimitShare, limit_kind};
pub(crate) use self::obstacle::{
    EndedBy, Obstacle, ObstacleKind, before_samples, disturbance, failure, obstacle, obstacle_to,
    others_wait_ppm, usable,
};
pub(crate) use self::over_time::{Burst, OverTime, rates};
pub(crate) use self::required::required;
pub use self::required::{Judged, Required, Undecided, Watched};
pub(crate) use self::rounds::{geometric_mean, ratio_in_rounds, total};
pub(crate) use writebench_stats::{distinct, grouped};
