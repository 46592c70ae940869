//! Aligned memory that data in any memory is copied to, as direct I/O needs it.

use std::io::IoSlice;

use memmap2::MmapMut;

use crate::call::{CallError, Result};
use crate::region::Region;

/// A buffer of one call, if the region's data must be copied. A program allocates it inside the clock, too.
pub(crate) struct Staging(Option<MmapMut>);

impl Staging {
    /// Room for so many chunks of the region.
    pub(crate) fn for_region(region: &Region<'_>, chunks: u64) -> Result<Self> {
        let bytes = region.axes.chunk_size_bytes.saturating_mul(chunks).min(region.range.length);
        if !region.axes.is_staged() || bytes == 0 {
            return Ok(Self(None));
        }
        let buffer = usize::try_from(bytes).map_err(std::io::Error::other).and_then(MmapMut::map_anon);
        let failed = |error| CallError::other("aligned memory", format!("{error}; try a smaller chunk"));
        buffer.map(|buffer| Self(Some(buffer))).map_err(failed)
    }

    /// The same bytes, in aligned memory if they must be there.
    #[inline(always)]
    pub(crate) fn staged<'b>(&'b mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(buffer) = &mut self.0 else { return bytes };
        let aligned = &mut buffer[..bytes.len()];
        aligned.copy_from_slice(bytes);
        aligned
    }

    /// The bytes of a vector, one behind the other in aligned memory; none if they can stay where they are.
    pub(crate) fn gathered(&mut self, vector: &[IoSlice<'_>]) -> Option<&[u8]> {
        let buffer = self.0.as_mut()?;
        let mut end = 0;
        for piece in vector {
            buffer[end..end + piece.len()].copy_from_slice(piece);
            end += piece.len();
        }
        Some(&buffer[..end])
    }

    /// The buffer, for methods that have several calls under way.
    pub(crate) fn buffer(&mut self) -> Option<&mut [u8]> {
        self.0.as_deref_mut()
    }
}
