//! Aligned memory that data in any memory is copied to, as direct I/O needs it.

use std::io::IoSlice;
use std::ops::Range;

use memmap2::{Advice, MmapMut};
use writebench_model::Case;

use crate::call::{CallError, Result};
use crate::region::{Region, to_usize};

/// A buffer of one call, if the region's data must be copied. A program allocates it inside the clock, too.
pub(crate) struct Staging(Option<Buffer>);

struct Buffer {
    mapping: MmapMut,
    range: Range<usize>,
}

impl Staging {
    /// Room for so many chunks of the region.
    pub(crate) fn for_region(region: &Region<'_>, chunks: u64) -> Result<Self> {
        let bytes = region.axes.chunk_size_bytes.saturating_mul(chunks).min(region.range.length);
        if !region.axes.is_staged() || bytes == 0 {
            return Ok(Self(None));
        }
        let buffer = usize::try_from(bytes).map_err(std::io::Error::other).and_then(Buffer::with_bytes);
        let failed = |error| CallError::other("aligned memory", format!("{error}; try a smaller chunk"));
        buffer.map(|buffer| Self(Some(buffer))).map_err(failed)
    }

    /// The same bytes, in aligned memory if they must be there.
    #[inline(always)]
    pub(crate) fn staged<'b>(&'b mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(buffer) = self.buffer() else { return bytes };
        let aligned = &mut buffer[..bytes.len()];
        aligned.copy_from_slice(bytes);
        aligned
    }

    /// The bytes of a vector, one behind the other in aligned memory; none if they can stay where they are.
    pub(crate) fn gathered(&mut self, vector: &[IoSlice<'_>]) -> Option<&[u8]> {
        let buffer = self.buffer()?;
        let mut end = 0;
        for piece in vector {
            buffer[end..end + piece.len()].copy_from_slice(piece);
            end += piece.len();
        }
        Some(&buffer[..end])
    }

    /// The buffer, for methods that have several calls under way.
    #[inline(always)]
    pub(crate) fn buffer(&mut self) -> Option<&mut [u8]> {
        self.0.as_mut().map(|buffer| &mut buffer.mapping[buffer.range.clone()])
    }
}

impl Buffer {
    /// Memory in huge pages if it fills one: it has fewer page faults, and fewer pieces for the device.
    fn with_bytes(bytes: usize) -> std::io::Result<Self> {
        let huge = to_usize(Case::HUGE_PAGE_BYTES);
        if bytes < huge {
            return Ok(Self { mapping: MmapMut::map_anon(bytes)?, range: 0..bytes });
        }
        let mapping = MmapMut::map_anon(bytes.saturating_add(huge))?;
        // A kernel without huge pages refuses, and gives small ones.
        let _ = mapping.advise(Advice::HugePage);
        let start = mapping.as_ptr().align_offset(huge);
        Ok(Self { mapping, range: start..start + bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_huge_page_or_more_begins_at_one() {
        let huge = to_usize(Case::HUGE_PAGE_BYTES);
        for bytes in [1, huge - 1, huge, 2 * huge + 4096] {
            let mut staging = Staging(Some(Buffer::with_bytes(bytes).unwrap()));
            let buffer = staging.buffer().unwrap();
            assert_eq!(buffer.len(), bytes);
            let alignment = if bytes < huge { 4096 } else { huge };
            assert!(buffer.as_ptr().addr().is_multiple_of(alignment));
            buffer.fill(1);
        }
    }
}
