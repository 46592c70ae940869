//! The orders of the first rank to the others.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use writebench_runner::Share;

/// An order from the first rank to all others.
#[derive(Serialize, Deserialize)]
pub(super) enum Order {
    /// Take samples in these directories of the run's from now on.
    WorkIn(Vec<OsString>),
    /// Take a share of a sample.
    Take(Share),
    /// The run is over.
    End,
}
