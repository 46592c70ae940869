//! A run that is measured: where it writes to, what it copies, how long it may take, and where it is recorded.

mod configuration;
mod cost;
mod measure;
mod measuring;
mod place;
mod progress;
mod recorder;
mod sized;
mod streams;
mod workspaces;

pub(crate) use self::configuration::{Configuration, Session};
pub(crate) use self::cost::{Cost, least_free_bytes, most_unasked_bytes};
pub(crate) use self::measuring::{MeasuringArguments, VERSION, new_run, seed};
pub(crate) use self::place::{
    AcquiredTarget, DestroyArguments, Place, check_and_claim, inspect, largest_block, no_target,
};
pub(crate) use self::sized::{SizedCases, only_size};
pub(crate) use self::workspaces::Workspaces;
