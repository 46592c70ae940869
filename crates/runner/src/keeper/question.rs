//! The questions to a keeper.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use writebench_model::questions;

use super::copy::{CopyPlace, CopySource};
use super::look::Look;
use crate::workspace::LeftOver;

questions! {
    #[derive(Serialize, Deserialize)]
    pub(super) enum Asked {
        /// Inspects a target, and holds it open if it is a directory.
        LookAt(OsString) -> Look,
        /// Makes the workspace with that id. Returns its device and inode.
        Make(String) -> [u64; 2],
        /// Removes the workspace.
        Remove() -> LeftOver,
        /// Lists directories with names of ours in a target.
        ListLeftOvers(OsString) -> Vec<OsString>,
        /// Removes one of them.
        RemoveLeftOver(OsString) -> LeftOver,
        /// Inspects a file that is to be copied.
        LookAtSource(OsString) -> CopySource,
        /// Inspects the place of a copy.
        LookAtPlace(OsString) -> CopyPlace,
        /// Makes the copy.
        Copy(CopySource, CopyPlace) -> (),
        /// Empties an open file after an interrupted copy.
        Empty(CopyPlace) -> (),
    }
}
