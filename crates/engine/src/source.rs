//! The memory that samples write from.

use direct_io::AlignedBuffer;
use writebench_model::{Alignment, Case, Data, Source};

use crate::call::CallError;
use crate::pattern;

/// Source data, kept between samples while the next case needs the same.
#[derive(Default)]
pub(crate) struct SourceBuffer {
    // None at first, as an empty buffer cannot exist.
    memory: Option<AlignedBuffer>,
    // The start of the data in the memory.
    start: usize,
    made: Option<(Data, Alignment, u64)>,
}

const PAGE_BYTES: usize = 4096;

impl SourceBuffer {
    /// Generates the data that `case` writes, unless the present data fits.
    pub(crate) fn make(&mut self, case: &Case, seed: u64) -> Result<(), CallError> {
        let (data, alignment) = (case.axes().data, case.axes().alignment);
        let start = match alignment {
            Alignment::Page => 0,
            Alignment::OffByOne => 1,
        };
        let length = usize::try_from(case.source_bytes())
            .map_err(|_| CallError::other("source", "larger than the address space".to_owned()))?;
        let made = Some((data, alignment, seed));
        if self.made == made && length <= self.bytes().len() {
            return Ok(());
        }
        *self = Self::default();
        if length == 0 {
            return Ok(());
        }
        let mut memory = AlignedBuffer::new(start + length, PAGE_BYTES).map_err(|error| {
            CallError::other("source", format!("{error}; try a smaller size or source=chunk"))
        })?;
        match data {
            Data::Random => pattern::fill(seed, 0, &mut memory[start..]),
            // The zeros are written, because untouched memory is one shared page.
            Data::Zero => memory.fill(0),
        }
        *self = Self { memory: Some(memory), start, made };
        Ok(())
    }

    /// The data.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.memory.as_deref().map_or(&[], |memory| &memory[self.start..])
    }

    /// Reads one byte of every page, so that no page has to be faulted in while the clock runs.
    pub(crate) fn touch(&self) {
        let sum = self.bytes().iter().step_by(PAGE_BYTES).fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        std::hint::black_box(sum);
    }
}

/// The expected content of a file at `offset` of the data of a part that begins at `range_offset`.
pub(crate) fn expected(case: &Case, seed: u64, range_offset: u64, offset: u64, bytes: &mut [u8]) {
    match (case.axes().data, case.axes().source) {
        (Data::Zero, _) => bytes.fill(0),
        (Data::Random, Source::File) => pattern::fill(seed, range_offset + offset, bytes),
        (Data::Random, Source::Chunk) => {
            let chunk = case.axes().chunk_size_bytes;
            let mut done = 0;
            while done < bytes.len() {
                let into_chunk = (offset + done as u64) % chunk;
                let length = usize::try_from(chunk - into_chunk).unwrap_or(usize::MAX).min(bytes.len() - done);
                pattern::fill(seed, into_chunk, &mut bytes[done..done + length]);
                done += length;
            }
        }
    }
}
