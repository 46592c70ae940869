//! Measuring and recording a run.

mod adaptive_size;
mod cost;
mod longest_step;
mod measure;
mod measuring;
mod observer;
mod plan;
mod progress;
mod recorder;
mod request;
mod scheduled;
mod streams;
mod target;
mod until_judged;
mod workspaces;

pub(crate) use self::adaptive_size::{GoalsOfSize, count_goals, experience, smallest_cases};
pub(crate) use self::cost::{Cost, least_free_bytes, most_unasked_bytes};
pub(crate) use self::measuring::{MeasuringArguments, VERSION, new_run};
pub(crate) use self::plan::Plan;
pub(crate) use self::request::{Request, are_in_memory, free_disk_bytes};
pub(crate) use self::scheduled::ScheduledCases;
pub(crate) use self::target::{DestroyArguments, Target, check_and_claim};
