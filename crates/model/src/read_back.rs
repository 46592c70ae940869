//! How a sample's data was compared with what should have been written, after the clock.

use serde::{Deserialize, Serialize};

use crate::value::named_values;

named_values! {
    /// How much of a sample's data is read back.
    Extent {
        /// Every byte.
        Whole = "whole",
        /// Blocks chosen at random from every region of the file, the first and the last block included.
        Part = "part",
    }

    /// Where the data came from when it was read back, which says how much the comparison proves.
    ReadFrom {
        /// From memory: it proves what the calls did, and nothing about the device.
        PageCache = "page-cache",
        /// None of it was in the page cache right before.
        Device = "device",
    }
}

/// A comparison that found no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    /// Whether all of the data was compared.
    pub extent: Extent,
    /// How many bytes were compared.
    pub bytes: u64,
    /// Where they came from; none where that is unknown: in runs recorded before this was noted, in a file that cannot
    /// be mapped, and where there was nothing to compare.
    pub from: Option<ReadFrom>,
}
