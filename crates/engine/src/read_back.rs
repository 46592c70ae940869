//! The comparison of the files' content with what should be there, after the clock.

use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::Advice;
use writebench_model::protocol::SampleRequest;
use writebench_model::{Cache, Durability, Extent, ReadBack, ReadFrom};

use crate::call::Result;
use crate::file::{self, COPIED};
use crate::region::{Region, to_usize};
use crate::verify::{WrittenFiles, wrong};
use crate::{page_cache, pattern, source};

const PAGE_BYTES: u64 = 4096;
/// Fewer and larger blocks take a fraction of the time.
const DEVICE_BLOCKS: u64 = 256;
const MOST_BLOCK_BYTES: u64 = 64 << 10;
/// Each stripe has a selected block, so a selection includes part of an aligned lost write of one or two
/// stripes.
const STRIPE_BLOCKS: u64 = 16;
/// A smaller selection would hardly be faster than the whole.
const LEAST_SELECTED_BYTES: u64 = 1 << 20;
const WHOLE_STEP_BYTES: usize = 1 << 20;

/// Compares the content of the files, or a part of it. Durable data is read from the device if the kernel releases its
/// pages.
pub(crate) fn read_back(
    written: &WrittenFiles<'_, '_>,
    request: &SampleRequest,
    extent: Extent,
) -> Result<ReadBack> {
    let selection = match extent {
        Extent::Whole => None,
        Extent::Part => {
            let bytes = written.handed_over_bytes.iter().sum();
            let seed = pattern::sample_seed(request);
            BlockSelection::new(bytes, seed, block_bytes(written, bytes))
        }
    };
    let mut reader = Reader {
        written,
        data_seed: request.data_seed,
        found: vec![0; WHOLE_STEP_BYTES],
        expected: vec![0; WHOLE_STEP_BYTES],
        compared_bytes: 0,
        last_writes: None,
    };
    let mut origins = Vec::new();
    for (region, &bytes) in written.regions.iter().zip(&written.handed_over_bytes) {
        if bytes > 0 {
            let origin = reader
                .compare_region(region, bytes, selection)
                .map_err(|error| error.with_path(region.name(written.names)))?;
            origins.push(origin);
        }
    }
    Ok(ReadBack {
        extent: if selection.is_some() {
            Extent::Part
        } else {
            Extent::Whole
        },
        bytes: reader.compared_bytes,
        from: least_certain(&origins),
    })
}

/// Where all data was certainly read from: it is unknown if one origin is, and only the device if all are.
pub(crate) fn least_certain(origins: &[Option<ReadFrom>]) -> Option<ReadFrom> {
    [None, Some(ReadFrom::PageCache), Some(ReadFrom::Device)]
        .into_iter()
        .find(|from| origins.contains(from))
        .flatten()
}

fn block_bytes(written: &WrittenFiles<'_, '_>, bytes: u64) -> u64 {
    let is_durable = written.case.workload().durability == Durability::Durable;
    let is_on_device = is_durable || written.case.choices().cache == Cache::Direct;
    if is_on_device {
        device_block_bytes(bytes)
    } else {
        PAGE_BYTES
    }
}

fn device_block_bytes(bytes: u64) -> u64 {
    let block_bytes = bytes / STRIPE_BLOCKS / DEVICE_BLOCKS;
    block_bytes
        .next_power_of_two()
        .clamp(PAGE_BYTES, MOST_BLOCK_BYTES)
}

/// The blocks to be compared.
#[derive(Clone, Copy)]
struct BlockSelection {
    block_bytes: u64,
    stripe_blocks: u64,
    seed: u64,
}

impl BlockSelection {
    /// `None` means every block.
    fn new(bytes: u64, seed: u64, block_bytes: u64) -> Option<Self> {
        let stripe_blocks = (bytes / LEAST_SELECTED_BYTES).min(STRIPE_BLOCKS);
        (stripe_blocks > 1).then_some(Self {
            block_bytes,
            stripe_blocks,
            seed,
        })
    }

    /// The first block, the last one and a random one of each stripe, cut to the range.
    fn ranges(self, begin: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let block_bytes = self.block_bytes;
        let first = begin / block_bytes;
        let last = (end - 1) / block_bytes;
        let stripes = first / self.stripe_blocks..=last / self.stripe_blocks;
        let blocks = stripes.flat_map(move |stripe| {
            let low = first.max(stripe * self.stripe_blocks);
            let high = last.min((stripe + 1) * self.stripe_blocks - 1);
            let random = low + pattern::word(self.seed, stripe) % (high - low + 1);
            let begins = (low == first && random != first).then_some(first);
            let ends = (high == last && random != last && last != first).then_some(last);
            [begins, Some(random), ends].into_iter().flatten()
        });
        blocks.map(move |block| {
            (
                (block * block_bytes).max(begin),
                ((block + 1) * block_bytes).min(end),
            )
        })
    }
}

fn steps(begin: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    (begin..end)
        .step_by(WHOLE_STEP_BYTES)
        .map(move |from| (from, (from + WHOLE_STEP_BYTES as u64).min(end)))
}

struct Reader<'r, 'w, 'a> {
    written: &'r WrittenFiles<'w, 'a>,
    data_seed: u64,
    found: Vec<u8>,
    expected: Vec<u8>,
    compared_bytes: u64,
    /// For pages at random places, the last write of each.
    last_writes: Option<Vec<Option<u64>>>,
}

impl Reader<'_, '_, '_> {
    /// Returns where the data was read from.
    fn compare_region(
        &mut self,
        region: &Region<'_>,
        bytes: u64,
        selection: Option<BlockSelection>,
    ) -> Result<Option<ReadFrom>> {
        let file = file::open_to_read(self.written.target, region.name(self.written.names))?;
        if self.written.case.workload().durability == Durability::Durable
            || self.written.is_of_another_rank
        {
            // The search below finds pages that remain.
            let _ = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
        }
        let from = find_origin(&file, region.file_offset, region.span_bytes(bytes));
        // Pages are anywhere in the region, also if the time was limited.
        let last_writes = region.pages.map(|pages| {
            let writes = bytes / pages.page_bytes();
            pages.last_writes(usize::try_from(writes).unwrap_or(usize::MAX))
        });
        let bytes = match last_writes {
            Some(_) => region.range.length,
            None => bytes,
        };
        self.last_writes = last_writes;
        // If ranks have blocks in turns, the region's are chosen.
        let begin = if region.is_contiguous() {
            region.file_offset
        } else {
            0
        };
        let end = begin + bytes;
        let original = region
            .copy_from
            .map(|source| file::reopen_to_read(source, Cache::Buffered))
            .transpose()?;
        let ranges: Vec<(u64, u64)> = match selection {
            None => steps(begin, end).collect(),
            Some(selection) => {
                for file in [Some(&file), original.as_ref()].into_iter().flatten() {
                    // Read-ahead would read data that is not compared.
                    let _ = rustix::fs::fadvise(file, 0, None, Advice::Random);
                }
                let seed = pattern::word(selection.seed, region.index as u64);
                BlockSelection { seed, ..selection }
                    .ranges(begin, end)
                    .collect()
            }
        };
        let reads_ahead = selection.is_some() && from != Some(ReadFrom::PageCache);
        for batch in ranges.chunks(BATCH_BLOCKS) {
            let pieces: Vec<Region<'_>> = batch
                .iter()
                .flat_map(|(from, to)| region.contiguous(from - begin, to - from))
                .collect();
            if reads_ahead {
                begin_to_read(&file, &pieces);
            }
            for piece in &pieces {
                let before = piece.rank_offset - region.rank_offset;
                self.compare_piece(piece, before, &file, original.as_ref())?;
            }
        }
        Ok(from)
    }

    fn compare_piece(
        &mut self,
        piece: &Region<'_>,
        before: u64,
        file: &OwnedFd,
        original: Option<&OwnedFd>,
    ) -> Result<()> {
        let length = usize::try_from(piece.range.length).unwrap_or(0);
        let offset = piece.range.offset;
        let found = &mut self.found[..length];
        let expected = &mut self.expected[..length];
        file::read_exact("verify", file.as_fd(), found, piece.file_offset)?;
        match original {
            Some(original) => {
                file::read_exact("verify", original.as_fd(), expected, offset)
                    .map_err(|error| error.with_path(COPIED))?;
            }
            None if self.last_writes.is_some() => return self.compare_pages(piece, length),
            None => source::expected(self.written.case, self.data_seed, offset, before, expected),
        }
        if found != expected {
            let same_bytes = first_difference(found, expected).unwrap_or(0);
            let error = wrong("the content differs from the written data".to_owned());
            return Err(error.at(piece.file_offset + same_bytes as u64));
        }
        self.compared_bytes += piece.range.length;
        Ok(())
    }
}

impl Reader<'_, '_, '_> {
    /// Compares what was read of the pages with their last writes. A page without one has its old content.
    fn compare_pages(&mut self, piece: &Region<'_>, length: usize) -> Result<()> {
        let last_writes = self.last_writes.as_deref().unwrap_or_default();
        let page_bytes = self.written.case.choices().chunk_size_bytes;
        let mut done = 0;
        while done < length {
            let at = piece.file_offset + done as u64;
            let into_page = at % page_bytes;
            let end = length.min(done + to_usize(page_bytes - into_page));
            let last_write = last_writes.get(to_usize(at / page_bytes));
            let part = done..end;
            done = end;
            let Some(&Some(write)) = last_write else {
                continue;
            };
            let in_data = write * page_bytes + into_page;
            let (found, expected) = (&self.found[part.clone()], &mut self.expected[part]);
            source::expected(self.written.case, self.data_seed, in_data, 0, expected);
            self.compared_bytes += found.len() as u64;
            if let Some(differing) = first_difference(found, expected) {
                let page = at / page_bytes;
                let error = wrong(format!(
                    "page {page} differs from what was last written to it"
                ));
                return Err(error.at(at + differing as u64));
            }
        }
        Ok(())
    }
}

/// Where the bytes begin to differ.
fn first_difference(found: &[u8], expected: &[u8]) -> Option<usize> {
    found
        .iter()
        .zip(expected)
        .position(|(found, expected)| found != expected)
}

const BATCH_BLOCKS: usize = 1024;

/// Lets the kernel read all pieces at once. The later read waits and reports errors.
fn begin_to_read(file: &OwnedFd, pieces: &[Region<'_>]) {
    for piece in pieces {
        let length = NonZeroU64::new(piece.range.length);
        let _ = rustix::fs::fadvise(file, piece.file_offset, length, Advice::WillNeed);
    }
}

/// Where these bytes will be read from, or `None` if that is unknown. One cached page is enough to doubt the device.
fn find_origin(file: &OwnedFd, begin: u64, bytes: u64) -> Option<ReadFrom> {
    const INSPECTED_BYTES: usize = 16 << 20;
    for at in (0..bytes).step_by(INSPECTED_BYTES) {
        let length = (INSPECTED_BYTES as u64).min(bytes - at);
        let resident_bytes =
            page_cache::resident_bytes(file.as_fd(), begin + at, length).ok()??;
        if resident_bytes > 0 {
            return Some(ReadFrom::PageCache);
        }
    }
    Some(ReadFrom::Device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(bytes: u64, seed: u64, begin: u64, block_bytes: u64) -> Vec<(u64, u64)> {
        let selection = BlockSelection::new(bytes, seed, block_bytes);
        selection.map_or_else(Vec::new, |selection| {
            selection.ranges(begin, begin + bytes).collect()
        })
    }

    proptest! {
        #[test]
        fn a_part_is_a_sixteenth_or_a_mebibyte_with_both_ends_and_a_block_of_every_stripe(
            bytes in 2u64 << 20..200 << 20, seed: u64, begin in 0u64..1 << 20, is_device: bool,
        ) {
            let block_bytes = if is_device { device_block_bytes(bytes) } else { PAGE_BYTES };
            let ranges = blocks(bytes, seed, begin, block_bytes);
            let compared: u64 = ranges.iter().map(|(from, to)| to - from).sum();
            // Blocks at the ends may overlap the range by only a few bytes.
            let least = (bytes / 16).max(LEAST_SELECTED_BYTES) - 2 * block_bytes;
            prop_assert!((least..bytes / 2 + 4 * block_bytes).contains(&compared), "{}", compared);
            prop_assert_eq!(ranges[0].0, begin);
            prop_assert_eq!(ranges[ranges.len() - 1].1, begin + bytes);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "in order, none twice");
            // A gap of two stripes could hide a lost write of that size.
            let stripe = STRIPE_BLOCKS * block_bytes;
            prop_assert!(ranges.windows(2).all(|pair| pair[1].0 - pair[0].1 < 2 * stripe));
            prop_assert_eq!(blocks(bytes, seed, begin, block_bytes), ranges, "the same for the same seed");
        }
    }

    #[test]
    fn every_lost_write_of_an_aligned_stripe_has_a_block_in_a_part() {
        for (seed, block_bytes) in (0..20).zip([PAGE_BYTES, MOST_BLOCK_BYTES].into_iter().cycle()) {
            let stripe = STRIPE_BLOCKS * block_bytes;
            let ranges = blocks(64 << 20, seed, 0, block_bytes);
            for lost in (0..64 << 20).step_by(usize::try_from(stripe).unwrap()) {
                assert!(
                    ranges
                        .iter()
                        .any(|(from, to)| lost <= *from && *to <= lost + stripe),
                    "{seed} {lost}"
                );
            }
        }
    }

    #[test]
    fn blocks_from_a_device_grow_with_the_file() {
        let sizes = [1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 40].map(device_block_bytes);
        assert_eq!(sizes, [4096, 4096, 16 << 10, 64 << 10, 64 << 10]);
    }

    #[test]
    fn another_seed_chooses_other_blocks_and_a_small_file_is_compared_whole() {
        assert_ne!(
            blocks(64 << 20, 1, 0, PAGE_BYTES),
            blocks(64 << 20, 2, 0, PAGE_BYTES)
        );
        assert!(BlockSelection::new((2 << 20) - 1, 1, PAGE_BYTES).is_none());
    }
}
