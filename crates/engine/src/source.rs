//! The memory that samples write from.

use std::ops::Range;

use memmap2::{Advice, MmapMut};
use rustix::io::Errno;
use writebench_model::{Bytes, Case, Data, DataMemory, Source};

use crate::call::{Call, CallError, Result};
use crate::region::to_usize;
use crate::{pattern, region};

/// The memory is kept between samples while the next case needs the same content.
#[derive(Default)]
pub(crate) struct SourceBuffer {
    // At first there is none, because an empty mapping cannot exist.
    mapping: Option<MmapMut>,
    data_range: Range<usize>,
    content: Option<Content>,
}

#[derive(PartialEq)]
struct Content {
    data: Data,
    memory: DataMemory,
    seed: u64,
    /// The case and the rank whose share of the data it is, if the rank's blocks are not all in one piece.
    share_of: Option<(String, u32)>,
}

const PAGE_BYTES: usize = 4096;
/// glibc's malloc begins large memory here in its first page, which direct I/O refuses.
const MALLOC_BYTES: usize = 16;
const MADVISE: Call = Call {
    name: "madvise",
    lacks: &[Errno::INVAL],
    advice: &[],
};

impl SourceBuffer {
    /// Fills memory with the data that a rank writes, unless it is there already.
    pub(crate) fn make(&mut self, case: &Case, rank: u32, seed: u64) -> Result<()> {
        let choices = case.choices();
        let length = usize::try_from(case.source_bytes())
            .map_err(|_| CallError::other("source", "larger than the address space"))?;
        let is_share =
            case.given().source == Source::File && (choices.ranks > 1 || case.stride().is_some());
        let content = Content {
            data: case.given().data,
            memory: case.given().memory,
            seed,
            share_of: is_share.then(|| (case.to_string(), rank)),
        };
        if self.content.as_ref() == Some(&content) && length <= self.bytes().len() {
            return Ok(());
        }
        // Memory that cannot be used again is released before the new is taken.
        let memory = std::mem::take(self).memory_for(&content, length);
        if length == 0 {
            return Ok(());
        }
        let (mut mapping, data_range) = match memory {
            Some(memory) => memory,
            None => map_memory(case.given().memory, length)?,
        };
        let bytes = &mut mapping[data_range.clone()];
        if is_share {
            fill_share(case, rank, seed, bytes);
        } else {
            pattern::fill_with(case.given().data, seed, 0, bytes);
        }
        if case.given().memory == DataMemory::HugePages {
            check_huge_pages(bytes)?;
        }
        *self = Self {
            mapping: Some(mapping),
            data_range,
            content: Some(content),
        };
        Ok(())
    }

    /// The memory and the range of its data, if other content of the same length can be there. New memory would have to
    /// be faulted in.
    fn memory_for(self, content: &Content, length: usize) -> Option<(MmapMut, Range<usize>)> {
        let is_alike = self.content?.memory == content.memory && self.data_range.len() == length;
        is_alike.then_some((self.mapping?, self.data_range))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.mapping
            .as_deref()
            .map_or(&[], |mapping| &mapping[self.data_range.clone()])
    }

    /// Reads each page, so that none is faulted in while the clock runs.
    pub(crate) fn touch(&self) {
        let sum = self
            .bytes()
            .iter()
            .step_by(PAGE_BYTES)
            .fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        std::hint::black_box(sum);
    }
}

/// Maps memory, and returns it with the range of the data in it.
fn map_memory(memory: DataMemory, length: usize) -> Result<(MmapMut, Range<usize>)> {
    let huge = to_usize(Case::HUGE_PAGE_BYTES);
    let mapping = MmapMut::map_anon(length + huge).map_err(|error| {
        CallError::other(
            "source",
            format!("{error}: try a smaller size or source=chunk"),
        )
    })?;
    let border = mapping.as_ptr().align_offset(huge);
    let start = match memory {
        DataMemory::Any => border + MALLOC_BYTES,
        DataMemory::PageAligned | DataMemory::HugePages => border,
    };
    if memory == DataMemory::HugePages {
        mapping
            .advise(Advice::HugePage)
            .map_err(|error| CallError::from_io(MADVISE, &error))?;
    }
    Ok((mapping, start..start + length))
}

/// Fills memory with the blocks that a rank writes, one after the other.
fn fill_share(case: &Case, rank: u32, seed: u64, bytes: &mut [u8]) {
    let mut rest = bytes;
    for region in region::split(case, rank, &[], None) {
        for piece in region.contiguous(0, region.range.length) {
            let length = to_usize(piece.range.length).min(rest.len());
            let (own, others) = rest.split_at_mut(length);
            pattern::fill_with(case.given().data, seed, piece.range.offset, own);
            rest = others;
        }
    }
}

/// The kernel may accept the advice and give no huge pages. Without a report the memory is trusted.
fn check_huge_pages(bytes: &[u8]) -> Result<()> {
    let Ok(maps) = std::fs::read_to_string("/proc/self/smaps") else {
        return Ok(());
    };
    let huge_bytes = huge_bytes_at(&maps, bytes.as_ptr().addr() as u64).unwrap_or(0);
    let length = bytes.len() as u64;
    if huge_bytes >= length / 2 {
        return Ok(());
    }
    let message = format!(
        "the kernel gave huge pages for {} of {}: see /sys/kernel/mm/transparent_hugepage/enabled, and free memory",
        Bytes(huge_bytes),
        Bytes(length)
    );
    Err(CallError::unsupported("memory=huge-pages", message))
}

/// `AnonHugePages` of the mapping around an address: proc_pid_smaps(5).
fn huge_bytes_at(maps: &str, address: u64) -> Option<u64> {
    let mut is_around = false;
    for line in maps.lines() {
        if let Some(range) = address_range(line) {
            is_around = range.contains(&address);
        } else if is_around && let Some(size) = line.strip_prefix("AnonHugePages:") {
            let kib: u64 = size.split_whitespace().next()?.parse().ok()?;
            return kib.checked_mul(1024);
        }
    }
    None
}

/// The addresses at the beginning of a mapping's first line.
fn address_range(line: &str) -> Option<Range<u64>> {
    let (range, _) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let from = u64::from_str_radix(from, 16).ok()?;
    let to = u64::from_str_radix(to, 16).ok()?;
    Some(from..to)
}

/// Fills `bytes` with what a file should have. `offset` is in the data of all ranks, behind `before` bytes of its
/// region.
pub(crate) fn expected(case: &Case, seed: u64, offset: u64, before: u64, bytes: &mut [u8]) {
    let data = case.given().data;
    match case.given().source {
        Source::File => pattern::fill_with(data, seed, offset, bytes),
        Source::Chunk => {
            let chunk = case.choices().chunk_size_bytes;
            let mut done = 0;
            while done < bytes.len() {
                let into_chunk = (before + done as u64) % chunk;
                let length = to_usize(chunk - into_chunk).min(bytes.len() - done);
                pattern::fill_with(data, seed, into_chunk, &mut bytes[done..done + length]);
                done += length;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0 
Size:               4096 kB
AnonHugePages:      2048 kB
7f0000400000-7f0000401000 r--p 00000000 fe:00 17                         /usr/lib/libc.so.6
AnonHugePages:         0 kB
";

    #[test]
    fn huge_pages_are_counted_for_the_mapping_around_an_address() {
        assert_eq!(huge_bytes_at(MAPS, 0x7f00_0000_1000), Some(2 << 20));
        assert_eq!(huge_bytes_at(MAPS, 0x7f00_0040_0000), Some(0));
        assert_eq!(huge_bytes_at(MAPS, 0x7f00_0040_1000), None);
    }

    #[test]
    fn memory_without_huge_pages_is_unsupported() {
        let small = vec![1u8; 4 << 20];
        assert!(
            check_huge_pages(&small)
                .is_err_and(|error| error.reason().contains("the kernel gave huge pages for"))
        );
    }
}
