//! Measuring and recording a run.

mod adaptive_size;
mod configuration;
mod cost;
mod measure;
mod measuring;
mod progress;
mod recorder;
mod streams;
mod target;
mod workspaces;

pub(crate) use self::adaptive_size::AdaptiveCases;
pub(crate) use self::configuration::{Configuration, Session};
pub(crate) use self::cost::{Cost, least_free_bytes, most_unasked_bytes};
pub(crate) use self::measuring::{MeasuringArguments, VERSION, new_run, seed};
pub(crate) use self::target::{DestroyArguments, Target, check_and_claim, largest_block};
pub(crate) use self::workspaces::Workspaces;
