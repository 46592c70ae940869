//! Measuring and recording a run.

mod adaptive_size;
mod cost;
mod measure;
mod measuring;
mod progress;
mod recorder;
mod scheduled;
mod streams;
mod target;
mod workspaces;

pub(crate) use self::adaptive_size::{
    count_goals, keep_different_work, leave_out_unfit, resized, size_of_goals, smallest_cases,
};
pub(crate) use self::cost::{Cost, least_free_bytes, most_unasked_bytes};
pub(crate) use self::measure::Session;
pub(crate) use self::measuring::{MeasuringArguments, VERSION, new_run};
pub(crate) use self::scheduled::ScheduledCases;
pub(crate) use self::target::{DestroyArguments, Target, check_and_claim, largest_block};
pub(crate) use self::workspaces::Workspaces;
