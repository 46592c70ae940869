//! A case split into one region per thread.

use std::os::fd::BorrowedFd;

use writebench_model::{Case, Choices, Files, Given, Range, Source, Stride};

use crate::page_writes::PageWrites;

/// The part of the data that one thread writes.
#[derive(Clone, Copy)]
pub(crate) struct Region<'a> {
    pub choices: &'a Choices,
    pub given: &'a Given,
    /// The number of the thread in its rank, from 0.
    pub index: usize,
    /// Where the region is in the data of all ranks.
    pub range: Range,
    /// Where the region begins in the data of its rank.
    pub rank_offset: u64,
    /// Where the region begins in its file.
    pub file_offset: u64,
    /// The distance of the region's blocks. A contiguous region has none.
    stride: Option<Stride>,
    pub file_length: u64,
    /// The longest region of all ranks.
    pub longest_bytes: u64,
    pub copy_from: Option<BorrowedFd<'a>>,
    /// The places of pages at random. Without them, each chunk follows the one before.
    pub pages: Option<&'a PageWrites>,
    /// Where a commit is written before its pages go to their places.
    pub journal: Option<BorrowedFd<'a>>,
    source: &'a [u8],
}

impl<'a> Region<'a> {
    pub(crate) fn name<'n>(&self, names: &'n [String]) -> &'n str {
        &names[self.index.min(names.len() - 1)]
    }

    /// The same region, with its pages at random places, and the journal of a double write.
    pub(crate) fn with_pages(
        self,
        pages: Option<&'a PageWrites>,
        journal: Option<BorrowedFd<'a>>,
    ) -> Self {
        Self {
            pages,
            journal,
            ..self
        }
    }

    /// The data in memory: that of the region's own range, or the one chunk.
    pub(crate) fn memory(&self) -> &'a [u8] {
        match self.given.source {
            Source::File => {
                let start = to_usize(self.rank_offset);
                &self.source[start..start + to_usize(self.range.length)]
            }
            Source::Chunk => {
                &self.source[..to_usize(self.choices.chunk_size_bytes.min(self.range.length))
                    .min(self.source.len())]
            }
        }
    }

    /// Cuts the region into pieces of `bytes`, or of one larger chunk, each with its end in the region. Work between
    /// two pieces does not slow the loop over chunks.
    pub(crate) fn pieces(&self, bytes: u64) -> impl Iterator<Item = (u64, Self)> + use<'a> {
        let region = *self;
        let chunk = region.choices.chunk_size_bytes.max(1);
        let each = bytes.div_ceil(chunk).saturating_mul(chunk);
        // Blocks are whole chunks.
        let each = region.stride.map_or(each, |Stride { block_bytes, .. }| {
            each.div_ceil(block_bytes).saturating_mul(block_bytes)
        });
        (0..region.range.length.div_ceil(each)).map(move |index| {
            let from = index * each;
            let length = each.min(region.range.length - from);
            (from + length, region.piece(from, length))
        })
    }

    fn piece(&self, from: u64, length: u64) -> Self {
        let distance = self.stride.map_or(from, |stride| stride.distance(from));
        let range = Range {
            offset: self.range.offset + distance,
            length,
        };
        let stride = self.stride.filter(|stride| length > stride.block_bytes);
        Self {
            range,
            rank_offset: self.rank_offset + from,
            file_offset: self.file_offset + distance,
            stride,
            ..*self
        }
    }

    /// The region of a file in a set.
    pub(crate) fn file(&self, from: u64, length: u64) -> Self {
        Self {
            file_offset: 0,
            file_length: length,
            ..self.piece(from, length)
        }
    }

    /// The same region, with the number of its file among the checked ones.
    pub(crate) fn numbered(&self, index: usize) -> Self {
        Self { index, ..*self }
    }

    /// The bytes from `at` to the end of its window if they are not prepared, which moves `prepared` to that end.
    /// Windows begin at multiples of their size, because a short call may end anywhere.
    #[inline(always)]
    pub(crate) fn next_window(
        &self,
        at: u64,
        window_bytes: impl FnOnce() -> u64,
        prepared: &mut u64,
    ) -> Option<u64> {
        if at < *prepared {
            return None;
        }
        let window_bytes = window_bytes();
        *prepared = (at / window_bytes)
            .saturating_add(1)
            .saturating_mul(window_bytes)
            .min(self.range.length);
        Some(*prepared - at)
    }

    pub(crate) fn is_contiguous(&self) -> bool {
        self.stride.is_none()
    }

    /// The length in the file from the region's first byte to the end of so many.
    pub(crate) fn span_bytes(&self, bytes: u64) -> u64 {
        self.stride
            .filter(|_| bytes > 0)
            .map_or(bytes, |stride| stride.distance(bytes - 1) + 1)
    }

    /// The contiguous pieces of a part of the region.
    pub(crate) fn contiguous(
        &self,
        from: u64,
        length: u64,
    ) -> impl Iterator<Item = Self> + use<'a> {
        let region = *self;
        let end = from + length;
        let block = region.stride.map_or(u64::MAX, |stride| stride.block_bytes);
        let mut at = from;
        std::iter::from_fn(move || {
            let length = (block - at % block).min(end - at);
            let piece = (at < end).then(|| region.piece(at, length));
            at += length;
            piece
        })
    }

    /// Calls `hand_over` with each chunk and its offset in the file. The loop is inlined, so that no other code runs
    /// between a method's system calls.
    #[inline(always)]
    pub(crate) fn try_each_chunk<E>(
        &self,
        mut hand_over: impl FnMut(&'a [u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(pages) = self.pages {
            return self.try_each_page(pages, hand_over);
        }
        if self.stride.is_none() {
            return self.try_each_contiguous_chunk(hand_over);
        }
        self.contiguous(0, self.range.length)
            .try_for_each(|block| block.try_each_contiguous_chunk(&mut hand_over))
    }

    #[inline(always)]
    fn try_each_page<E>(
        &self,
        pages: &PageWrites,
        mut hand_over: impl FnMut(&'a [u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = to_usize(self.rank_offset / pages.page_bytes());
        let own = self.memory().chunks(to_usize(pages.page_bytes()));
        for (number, page) in own.enumerate() {
            hand_over(page, pages.offset(first + number))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn try_each_contiguous_chunk<E>(
        &self,
        mut hand_over: impl FnMut(&'a [u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let chunk_size = to_usize(self.choices.chunk_size_bytes);
        let mut offset = self.file_offset;
        if self.given.source == Source::File {
            let own = self.memory();
            for chunk in own.chunks(chunk_size) {
                // The offset is computed, so that a method that ignores it keeps no counter across its call.
                let done = chunk.as_ptr().addr() - own.as_ptr().addr();
                hand_over(chunk, offset + done as u64)?;
            }
            return Ok(());
        }
        let end = offset + self.range.length;
        while offset < end {
            let chunk = &self.source[..to_usize(end - offset).min(chunk_size)];
            hand_over(chunk, offset)?;
            offset += chunk.len() as u64;
        }
        Ok(())
    }
}

/// Converts a number of bytes. One that does not fit becomes the largest.
pub(crate) fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Splits the data of a rank into one region per thread.
pub(crate) fn split<'a>(
    case: &'a Case,
    rank: u32,
    source: &'a [u8],
    copy_from: Option<BorrowedFd<'a>>,
) -> Vec<Region<'a>> {
    let choices = case.choices();
    let stride = case.stride();
    let threads = choices.threads as usize;
    let all = case.ranges();
    let longest_bytes = all.iter().map(|range| range.length).max().unwrap_or(0);
    let own: Vec<Range> = all
        .into_iter()
        .skip(rank as usize * threads)
        .take(threads)
        .collect();
    let rank_bytes = own.iter().map(|range| range.length).sum();
    let mut rank_offset = 0;
    own.into_iter()
        .enumerate()
        .map(|(index, range)| {
            let (file_offset, file_length) = match choices.files {
                Files::Shared => (range.offset, case.given().size_bytes),
                Files::PerThread => (0, range.length),
                Files::PerRank => (rank_offset, rank_bytes),
            };
            let region = Region {
                choices,
                given: case.given(),
                index,
                range,
                rank_offset,
                file_offset,
                stride,
                file_length,
                longest_bytes,
                copy_from,
                pages: None,
                journal: None,
                source,
            };
            rank_offset += range.length;
            region
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_write_every_byte_of_the_file_once_each_from_its_own_memory() {
        for name in [
            "pwrite,size=1000,ranks=3,threads=2,chunk=7",
            "pwrite,size=1000,ranks=3,threads=2,layout=strided,chunk=7,block=21",
            "pwrite,size=1000,ranks=3,chunk=7,layout=strided,block=140",
        ] {
            let case = Case::parse(name).unwrap();
            let mut owners = vec![0; 1000];
            for rank in 0..3 {
                let bytes = split(&case, rank, &[], None)
                    .iter()
                    .map(|region| region.range.length)
                    .sum::<u64>();
                let source = vec![0; usize::try_from(bytes).unwrap()];
                let mut from_memory = 0;
                for region in split(&case, rank, &source, None) {
                    let whole = region
                        .pieces(30)
                        .flat_map(|(_, piece)| piece.contiguous(0, piece.range.length));
                    for piece in whole {
                        assert_eq!(piece.rank_offset, from_memory, "{name}");
                        let _ = piece.try_each_chunk(|chunk, offset| {
                            assert_eq!(
                                (chunk.as_ptr().addr() - source.as_ptr().addr()) as u64,
                                from_memory
                            );
                            from_memory += chunk.len() as u64;
                            let at = usize::try_from(offset).unwrap();
                            owners[at..at + chunk.len()]
                                .iter_mut()
                                .for_each(|count| *count += 1);
                            Ok::<(), ()>(())
                        });
                    }
                }
                assert_eq!(from_memory, bytes, "{name}");
            }
            assert!(owners.iter().all(|&count| count == 1), "{name}: {owners:?}");
        }
    }

    #[test]
    fn pieces_hand_over_the_same_chunks_as_the_whole() {
        for name in [
            "pwrite,size=1000,chunk=7,threads=3",
            "pwrite,size=1000,chunk=7,source=chunk",
            "pwrite,size=1000,chunk=7,threads=3,layout=strided,block=14",
            "write,size=0",
        ] {
            let case = Case::parse(name).unwrap();
            let source: Vec<u8> = (0..1000)
                .map(|byte| u8::try_from(byte % 251).unwrap())
                .collect();
            for region in split(&case, 0, &source, None) {
                let chunks = |region: &Region<'_>| {
                    let mut chunks = Vec::new();
                    let _ = region.try_each_chunk(|chunk, offset| {
                        chunks.push((chunk.to_vec(), offset));
                        Ok::<(), ()>(())
                    });
                    chunks
                };
                let pieces: Vec<_> = region.pieces(20).collect();
                assert_eq!(
                    pieces
                        .iter()
                        .flat_map(|(_, piece)| chunks(piece))
                        .collect::<Vec<_>>(),
                    chunks(&region)
                );
                assert_eq!(
                    pieces.last().map_or(0, |(until, _)| *until),
                    region.range.length
                );
                assert!(pieces.len() > 10 || region.range.length < 210, "{name}");
            }
        }
    }
}
