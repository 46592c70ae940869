//! What the first rank tells the others.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use writebench_runner::Share;

#[derive(Serialize, Deserialize)]
pub(super) enum Message {
    /// Take samples in these directories of the run's from now on.
    WorkIn(Vec<OsString>),
    RunSample(Box<Share>),
    End,
}
