use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::copy::{CopyDestination, CopySource};

#[derive(Serialize, Deserialize)]
pub(super) enum TargetRequest {
    /// Holds a directory open.
    Inspect(OsString),
    /// Takes the id. The answer is device and inode.
    Make(String),
    Remove,
    /// Lists directories in a target with names of writebench.
    ListLeftovers(OsString),
    RemoveLeftover(OsString),
    InspectSource(OsString),
    InspectCopyDestination(OsString),
    Copy(CopySource, CopyDestination),
    /// Empties an open file after an interrupted copy.
    Empty(CopyDestination),
}
