//! What a keeper is asked.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use writebench_model::questions;

use super::copy::{CopyPlace, CopySource};
use super::look::Look;
use crate::workspace::LeftOver;

questions! {
    #[derive(Serialize, Deserialize)]
    pub(super) enum Asked {
        /// A target, which is held open from then on if it is a directory.
        LookAt(OsString) -> Look,
        /// The workspace of that id in the target. Its device and inode.
        Make(String) -> [u64; 2],
        /// The workspace is to go.
        Remove() -> LeftOver,
        /// Directories with a name of ours in a target.
        ListLeftOvers(OsString) -> Vec<OsString>,
        /// One of those.
        RemoveLeftOver(OsString) -> LeftOver,
        /// A file that is to be copied.
        LookAtSource(OsString) -> CopySource,
        /// Where a copy is to go.
        LookAtPlace(OsString) -> CopyPlace,
        /// The copy is to be made.
        Copy(CopySource, CopyPlace) -> (),
        /// An open file that was to become a copy is to be emptied.
        Empty(CopyPlace) -> (),
    }
}
