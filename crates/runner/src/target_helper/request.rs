use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use writebench_model::requests;

use super::copy::{CopyDestination, CopySource};
use super::inspection::Inspection;
use crate::workspace::Leftover;

requests! {
    #[derive(Serialize, Deserialize)]
    pub(super) enum TargetRequest {
        /// Holds a directory open.
        Inspect(OsString) -> Inspection,
        /// Takes the id. Returns device and inode.
        Make(String) -> [u64; 2],
        Remove() -> Leftover,
        /// Lists directories in a target with names of writebench.
        ListLeftovers(OsString) -> Vec<OsString>,
        RemoveLeftover(OsString) -> Leftover,
        InspectSource(OsString) -> CopySource,
        InspectCopyDestination(OsString) -> CopyDestination,
        Copy(CopySource, CopyDestination) -> (),
        /// Empties an open file after an interrupted copy.
        Empty(CopyDestination) -> (),
    }
}
