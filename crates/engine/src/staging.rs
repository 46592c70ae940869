//! Aligned copies of data for direct I/O.

use std::io::IoSlice;
use std::ops::Range;

use memmap2::{Advice, MmapMut};
use writebench_model::Case;

use crate::call::{CallError, Result};
use crate::region::{Region, to_usize};

/// Memory for aligned copies, if a case needs them. It is allocated inside the clock, as in a program.
pub(crate) struct Staging(Option<Buffer>);

struct Buffer {
    mapping: MmapMut,
    range: Range<usize>,
}

impl Staging {
    pub(crate) fn for_region(region: &Region<'_>, chunks: u64) -> Result<Self> {
        let bytes = region
            .choices
            .chunk_size_bytes
            .saturating_mul(chunks)
            .min(region.range.length);
        if !region.choices.is_staged(region.given) || bytes == 0 {
            return Ok(Self(None));
        }
        let buffer = usize::try_from(bytes)
            .map_err(std::io::Error::other)
            .and_then(Buffer::with_bytes)
            .map_err(|error| {
                CallError::other("aligned memory", format!("{error}: try a smaller chunk"))
            })?;
        Ok(Self(Some(buffer)))
    }

    /// The bytes themselves, or their aligned copy.
    #[inline(always)]
    pub(crate) fn staged<'b>(&'b mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(buffer) = self.buffer() else {
            return bytes;
        };
        let aligned = &mut buffer[..bytes.len()];
        aligned.copy_from_slice(bytes);
        aligned
    }

    /// One aligned copy of all chunks, or `None` if no copy is needed.
    pub(crate) fn gathered(&mut self, vector: &[IoSlice<'_>]) -> Option<&[u8]> {
        let buffer = self.buffer()?;
        let mut end = 0;
        for piece in vector {
            buffer[end..end + piece.len()].copy_from_slice(piece);
            end += piece.len();
        }
        Some(&buffer[..end])
    }

    #[inline(always)]
    pub(crate) fn buffer(&mut self) -> Option<&mut [u8]> {
        self.0
            .as_mut()
            .map(|buffer| &mut buffer.mapping[buffer.range.clone()])
    }
}

impl Buffer {
    /// Huge pages mean fewer page faults, and fewer pieces for the device.
    fn with_bytes(bytes: usize) -> std::io::Result<Self> {
        let huge = to_usize(Case::HUGE_PAGE_BYTES);
        if bytes < huge {
            return Ok(Self {
                mapping: MmapMut::map_anon(bytes)?,
                range: 0..bytes,
            });
        }
        let mapping = MmapMut::map_anon(bytes.saturating_add(huge))?;
        // Kernels without huge pages refuse.
        let _ = mapping.advise(Advice::HugePage);
        let start = mapping.as_ptr().align_offset(huge);
        Ok(Self {
            mapping,
            range: start..start + bytes,
        })
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
