//! A case cut into one part per thread.

use model::{Axes, Case, Files, Range, Source};

/// What one thread writes, and where.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The case's values.
    pub axes: &'a Axes,
    /// Which thread, from 0.
    pub index: usize,
    /// The part's place in the data.
    pub range: Range,
    /// Where the part begins in its file.
    pub file_offset: u64,
    /// How long its file will be.
    pub file_length: u64,
    source: &'a [u8],
}

impl<'a> Part<'a> {
    /// The name of its file, of one for all parts or one for each.
    pub fn name<'n>(&self, names: &'n [String]) -> &'n str {
        &names[self.index.min(names.len() - 1)]
    }

    /// The pieces to hand over, in order: the thread's own range of the source, or one chunk over and over.
    #[inline]
    pub fn chunks(&self) -> Chunks<'a> {
        let chunk = usize::try_from(self.axes.chunk_size_bytes).unwrap_or(usize::MAX);
        let (bytes, again) = match self.axes.source {
            Source::File => {
                let start = usize::try_from(self.range.offset).unwrap_or(usize::MAX);
                (&self.source[start..], false)
            }
            Source::Chunk => (self.source, true),
        };
        Chunks { bytes, chunk, rest: self.range.length, again }
    }
}

/// See [`Part::chunks`].
pub struct Chunks<'a> {
    bytes: &'a [u8],
    chunk: usize,
    rest: u64,
    again: bool,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest == 0 {
            return None;
        }
        let length = usize::try_from(self.rest).unwrap_or(usize::MAX).min(self.chunk);
        let (piece, after) = self.bytes.split_at(length);
        self.rest -= length as u64;
        if !self.again {
            self.bytes = after;
        }
        Some(piece)
    }
}

/// One part per thread.
pub fn parts<'a>(case: &'a Case, source: &'a [u8]) -> Vec<Part<'a>> {
    let axes = case.axes();
    let chunk = if case.method().writes_data() { axes.chunk_size_bytes } else { 0 };
    model::split(axes.size_bytes, axes.threads, chunk)
        .into_iter()
        .enumerate()
        .map(|(index, range)| {
            let (file_offset, file_length) = match axes.files {
                Files::Shared => (range.offset, axes.size_bytes),
                Files::PerThread => (0, range.length),
            };
            Part { axes, index, range, file_offset, file_length, source }
        })
        .collect()
}
