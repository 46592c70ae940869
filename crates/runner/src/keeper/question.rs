//! What a keeper is asked.

use serde::{Deserialize, Serialize};
use writebench_model::questions;

use super::copy::{CopyPlace, CopySource};
use super::look::Look;
use crate::question::PathBytes;
use crate::workspace::LeftOver;

questions! {
    #[derive(Serialize, Deserialize)]
    pub(super) enum Asked {
        LookAt -> Look,
        // Its device and inode.
        Make -> [u64; 2],
        Remove -> LeftOver,
        ListLeftOvers -> Vec<PathBytes>,
        RemoveLeftOver -> LeftOver,
        LookAtSource -> CopySource,
        LookAtPlace -> CopyPlace,
        Copy -> (),
        Empty -> (),
    }
}

/// A target, which is held open from then on if it is a directory.
#[derive(Serialize, Deserialize)]
pub(super) struct LookAt(pub(super) PathBytes);

/// The workspace of that id in the target.
#[derive(Serialize, Deserialize)]
pub(super) struct Make(pub(super) String);

/// The workspace is to go.
#[derive(Serialize, Deserialize)]
pub(super) struct Remove;

/// Directories with a name of ours in a target.
#[derive(Serialize, Deserialize)]
pub(super) struct ListLeftOvers(pub(super) PathBytes);

/// One of those.
#[derive(Serialize, Deserialize)]
pub(super) struct RemoveLeftOver(pub(super) PathBytes);

/// A file that is to be copied.
#[derive(Serialize, Deserialize)]
pub(super) struct LookAtSource(pub(super) PathBytes);

/// Where a copy is to go.
#[derive(Serialize, Deserialize)]
pub(super) struct LookAtPlace(pub(super) PathBytes);

/// The copy is to be made.
#[derive(Serialize, Deserialize)]
pub(super) struct Copy(pub(super) CopySource, pub(super) CopyPlace);

/// An open file that was to become a copy is to be emptied.
#[derive(Serialize, Deserialize)]
pub(super) struct Empty(pub(super) CopyPlace);
