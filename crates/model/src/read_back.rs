//! Verification of a sample's data after the clock.

use serde::{Deserialize, Serialize};

use crate::value::named_values;

named_values! {
    /// The extent of the data that is read back.
    Extent {
        /// Every byte.
        Whole = "whole",
        /// Blocks chosen at random from every region of the file, the first and the last block included.
        Part = "part",
    }

    /// The source of the data that was read back, which decides how much the comparison proves.
    ReadFrom {
        /// Memory: the comparison covers the calls, but not the device.
        PageCache = "page-cache",
        /// The device: no byte was in the page cache right before.
        Device = "device",
    }
}

/// A comparison that found no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    pub extent: Extent,
    /// The number of bytes compared.
    pub bytes: u64,
    /// The source of the bytes; none if unknown: in older runs, in a file that cannot be mapped,
    /// and in a comparison of no bytes.
    pub from: Option<ReadFrom>,
}
