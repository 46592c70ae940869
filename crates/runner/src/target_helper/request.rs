//! The requests to a target helper.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use writebench_model::requests;

use super::copy::{CopyDestination, CopySource};
use super::inspection::Inspection;
use crate::workspace::Leftover;

requests! {
    #[derive(Serialize, Deserialize)]
    pub(super) enum TargetRequest {
        /// Inspects a target, and holds it open if it is a directory.
        Inspect(OsString) -> Inspection,
        /// Makes the workspace with that id. Returns its device and inode.
        Make(String) -> [u64; 2],
        /// Removes the workspace.
        Remove() -> Leftover,
        /// Lists directories with names of ours in a target.
        ListLeftovers(OsString) -> Vec<OsString>,
        /// Removes one of them.
        RemoveLeftover(OsString) -> Leftover,
        /// Inspects a file that is to be copied.
        InspectSource(OsString) -> CopySource,
        /// Inspects the destination of a copy.
        InspectCopyDestination(OsString) -> CopyDestination,
        /// Makes the copy.
        Copy(CopySource, CopyDestination) -> (),
        /// Empties an open file after an interrupted copy.
        Empty(CopyDestination) -> (),
    }
}
