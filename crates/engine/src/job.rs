//! A case split into one part per thread.

use std::os::fd::BorrowedFd;

use writebench_model::{Axes, Case, Files, Range, Source};

/// One thread's share of the data.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The case's values.
    pub axes: &'a Axes,
    /// The thread's number, from 0.
    pub index: usize,
    /// The part's place in the data.
    pub range: Range,
    /// The part's offset in its file.
    pub file_offset: u64,
    /// The final length of its file.
    pub file_length: u64,
    /// The file that is copied, for a copying method.
    pub copy_from: Option<BorrowedFd<'a>>,
    source: &'a [u8],
}

impl<'a> Part<'a> {
    /// The name of its file: the common one or its own.
    pub(crate) fn name<'n>(&self, names: &'n [String]) -> &'n str {
        &names[self.index.min(names.len() - 1)]
    }

    /// The memory that holds the part's data: its own range, or the one chunk.
    pub(crate) fn memory(&self) -> &'a [u8] {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        match self.axes.source {
            Source::File => {
                let start = size(self.range.offset);
                &self.source[start..start + size(self.range.length)]
            }
            Source::Chunk => {
                &self.source[..size(self.axes.chunk_size_bytes.min(self.range.length)).min(self.source.len())]
            }
        }
    }

    /// Splits the part into pieces of `bytes`, or of one chunk if that is larger, each with its end in the
    /// part. Work between two pieces does not slow the loop over chunks.
    pub(crate) fn pieces(&self, bytes: u64) -> impl Iterator<Item = (u64, Self)> + use<'a> {
        let part = *self;
        let chunk = part.axes.chunk_size_bytes.max(1);
        let each = bytes.div_ceil(chunk).saturating_mul(chunk);
        (0..part.range.length.div_ceil(each)).map(move |index| {
            let from = index * each;
            let length = each.min(part.range.length - from);
            let range = Range { offset: part.range.offset + from, length };
            (from + length, Self { range, file_offset: part.file_offset + from, ..part })
        })
    }

    /// Hands over the chunks in order, each with its offset in the file: from the thread's own range of the
    /// source, or one chunk repeatedly. Inlined into a method's loop, so that no other code runs between two
    /// system calls.
    #[inline(always)]
    pub(crate) fn try_each_chunk<E>(
        &self,
        mut hand_over: impl FnMut(&'a [u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let chunk_size = size(self.axes.chunk_size_bytes);
        let mut offset = self.file_offset;
        if self.axes.source == Source::File {
            let own = self.memory();
            for chunk in own.chunks(chunk_size) {
                // The position is computed rather than counted, so that a method that ignores it keeps no
                // counter across its call.
                let done = chunk.as_ptr().addr() - own.as_ptr().addr();
                hand_over(chunk, offset + done as u64)?;
            }
            return Ok(());
        }
        let end = offset + self.range.length;
        while offset < end {
            let chunk = &self.source[..size(end - offset).min(chunk_size)];
            hand_over(chunk, offset)?;
            offset += chunk.len() as u64;
        }
        Ok(())
    }
}

/// One part per thread, of data in memory or in a file.
pub(crate) fn parts<'a>(case: &'a Case, source: &'a [u8], copy_from: Option<BorrowedFd<'a>>) -> Vec<Part<'a>> {
    let axes = case.axes();
    case.ranges()
        .into_iter()
        .enumerate()
        .map(|(index, range)| {
            let (file_offset, file_length) = match axes.files {
                Files::Shared => (range.offset, axes.size_bytes),
                Files::PerThread => (0, range.length),
            };
            Part { axes, index, range, file_offset, file_length, copy_from, source }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hand_over_the_same_chunks_as_the_whole() {
        for name in
            ["pwrite,size=1000,chunk=7,threads=3", "pwrite,size=1000,chunk=7,source=chunk", "write,size=0"]
        {
            let case = Case::parse(name, &crate::method_infos()).unwrap();
            let source: Vec<u8> = (0..1000).map(|byte| u8::try_from(byte % 251).unwrap()).collect();
            for part in parts(&case, &source, None) {
                let chunks = |part: &Part<'_>| {
                    let mut chunks = Vec::new();
                    let _ = part.try_each_chunk(|chunk, offset| {
                        chunks.push((chunk.to_vec(), offset));
                        Ok::<(), ()>(())
                    });
                    chunks
                };
                let pieces: Vec<_> = part.pieces(20).collect();
                assert_eq!(
                    pieces.iter().flat_map(|(_, piece)| chunks(piece)).collect::<Vec<_>>(),
                    chunks(&part)
                );
                assert_eq!(pieces.last().map_or(0, |(until, _)| *until), part.range.length);
                assert!(pieces.len() > 10 || part.range.length < 210, "{name}");
            }
        }
    }
}
