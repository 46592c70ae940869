use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::sys::memory::Allocation;
use crate::{ALIGNMENT_MAX_BYTES, ALIGNMENT_MIN_BYTES, Alignment, BufferError};

/// A zero-filled buffer whose address is a multiple of its alignment.
///
/// Direct I/O hands a buffer's pages to the device, which needs them aligned. A `Vec<u8>` makes no such
/// promise. [`DirectIo`](crate::DirectIo) reports the alignment (4096 is enough nearly everywhere).
///
/// The memory comes from Rust's global allocator: `posix_memalign` or `aligned_alloc` on Unix, the process heap
/// on Windows. An allocator may spend up to `alignment` bytes more than `size`.
///
/// ```
/// use direct_io::AlignedBuffer;
///
/// let mut buffer = AlignedBuffer::new(1 << 20, 4096)?;
/// assert_eq!(buffer.as_ptr().addr() % 4096, 0);
/// assert!(buffer.iter().all(|&byte| byte == 0));
/// buffer[..5].copy_from_slice(b"hello");
/// # Ok::<(), direct_io::BufferError>(())
/// ```
pub struct AlignedBuffer {
    memory: Allocation,
}

impl AlignedBuffer {
    /// A zero-filled buffer of `size` bytes that begins at a multiple of `alignment` bytes.
    ///
    /// The size need not be a multiple of the sector, because a buffer can be used in parts.
    ///
    /// # Errors
    ///
    /// `size` is zero or too large, `alignment` is not a power of two from 8 to 4194304, or memory is
    /// insufficient.
    pub fn new(size: usize, alignment: usize) -> Result<Self, BufferError> {
        check(size, alignment)?;
        let memory =
            Allocation::zeroed(size, alignment).ok_or(BufferError::OutOfMemory { size })?;
        Ok(Self { memory })
    }

    /// A buffer for direct transfers. `size` is rounded up to a multiple of `offset_bytes`, and `memory_bytes`
    /// to at least [`ALIGNMENT_MIN_BYTES`].
    ///
    /// # Errors
    ///
    /// The errors are those of [`new`](Self::new).
    pub fn for_alignment(size: usize, alignment: Alignment) -> Result<Self, BufferError> {
        let unit = usize::try_from(alignment.offset_bytes)
            .unwrap_or(usize::MAX)
            .max(1);
        let size = size.checked_next_multiple_of(unit).unwrap_or(usize::MAX);
        Self::new(size, alignment.memory_bytes.max(ALIGNMENT_MIN_BYTES))
    }

    /// A copy of `bytes` that begins at a multiple of `alignment` bytes.
    ///
    /// # Errors
    ///
    /// The errors are those of [`new`](Self::new). Empty `bytes` are [`BufferError::SizeZero`].
    pub fn from_slice(bytes: &[u8], alignment: usize) -> Result<Self, BufferError> {
        let mut buffer = Self::new(bytes.len(), alignment)?;
        buffer.copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The alignment of the address, in bytes.
    #[must_use]
    pub fn alignment(&self) -> usize {
        self.memory.layout.align()
    }
}

fn check(size: usize, alignment: usize) -> Result<(), BufferError> {
    let max = isize::MAX
        .unsigned_abs()
        .saturating_sub(alignment.saturating_sub(1));
    match (size, alignment) {
        (0, _) => Err(BufferError::SizeZero),
        (_, 0) => Err(BufferError::AlignmentZero),
        _ if !alignment.is_power_of_two() => Err(BufferError::AlignmentNotPowerOfTwo),
        (_, ..ALIGNMENT_MIN_BYTES) => Err(BufferError::AlignmentTooSmall),
        _ if alignment > ALIGNMENT_MAX_BYTES => Err(BufferError::AlignmentTooLarge),
        _ if size > max => Err(BufferError::SizeTooLarge { max }),
        _ => Ok(()),
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.bytes()
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.bytes_mut()
    }
}

impl AsRef<[u8]> for AlignedBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for AlignedBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuffer")
            .field("size", &self.len())
            .field("alignment", &self.alignment())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(size: usize, alignment: usize) -> String {
        AlignedBuffer::new(size, alignment).unwrap_err().to_string()
    }

    #[test]
    fn every_broken_rule_has_its_message() {
        assert_eq!(refused(0, 8), "size must not be 0");
        assert_eq!(refused(8, 0), "alignment must not be 0");
        for alignment in [3, 9, 12, 4095] {
            assert_eq!(refused(8, alignment), "alignment must be a power of 2");
        }
        for alignment in [1, 2, 4] {
            assert_eq!(refused(8, alignment), "alignment must be at least 8 bytes");
        }
        assert_eq!(
            refused(8, 8 << 20),
            "alignment must be at most 4194304 bytes"
        );
        let max = isize::MAX.unsigned_abs() - 4095;
        assert_eq!(
            refused(usize::MAX, 4096),
            format!("size must be at most {max} bytes")
        );
    }

    // Miri's memory is unlimited, and valgrind's allocator has no such error.
    #[cfg(not(miri))]
    #[test]
    fn insufficient_memory_is_an_error_and_no_abort() {
        let size = isize::MAX.unsigned_abs() - 4095;
        assert_eq!(
            refused(size, 4096),
            format!("insufficient memory for {size} bytes")
        );
    }

    #[test]
    fn a_buffer_can_move_to_another_thread_and_be_shared() {
        fn moves<T: Send + Sync>() {}
        moves::<AlignedBuffer>();
        let mut buffer = AlignedBuffer::new(64, 64).unwrap();
        let buffer = std::thread::spawn(move || {
            buffer[63] = 7;
            buffer
        });
        assert_eq!(buffer.join().unwrap()[63], 7);
    }

    #[test]
    fn a_buffer_for_an_alignment_has_whole_units_and_one_from_a_slice_its_bytes() {
        let made = |size, alignment| {
            AlignedBuffer::for_alignment(size, alignment)
                .map(|buffer| (buffer.len(), buffer.alignment()))
        };
        assert_eq!(made(5000, Alignment::new(512, 4096)), Ok((8192, 512)));
        assert_eq!(
            made(4096, Alignment::new(4, 512)),
            Ok((4096, ALIGNMENT_MIN_BYTES))
        );
        assert_eq!(
            made(0, Alignment::new(512, 512)),
            Err(BufferError::SizeZero)
        );
        assert_eq!(
            made(7, Alignment::new(96, 1)),
            Err(BufferError::AlignmentNotPowerOfTwo)
        );
        let max = isize::MAX.unsigned_abs() - 511;
        assert_eq!(
            made(usize::MAX - 5, Alignment::new(512, 4096)),
            Err(BufferError::SizeTooLarge { max })
        );
        let copy = AlignedBuffer::from_slice(b"hello", 4096).unwrap();
        assert_eq!((&*copy, copy.as_ptr().addr() % 4096), (&b"hello"[..], 0));
        assert_eq!(
            AlignedBuffer::from_slice(b"", 4096).err(),
            Some(BufferError::SizeZero)
        );
    }

    #[test]
    fn debug_output_has_no_bytes() {
        let buffer = AlignedBuffer::new(512, 4096).unwrap();
        assert_eq!(
            format!("{buffer:?}"),
            "AlignedBuffer { size: 512, alignment: 4096, .. }"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 256 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_buffer_is_zero_begins_at_its_alignment_and_holds_what_is_written(
            size in 1usize..(if cfg!(miri) { 5000 } else { 1 << 20 }),
            power in 3u32..=22,
        ) {
            // Miri tracks each byte by which an allocation could be moved.
            let alignment = 1 << (if cfg!(miri) { power.min(13) } else { power });
            let mut buffer = AlignedBuffer::new(size, alignment).unwrap();
            prop_assert_eq!((buffer.len(), buffer.alignment()), (size, alignment));
            prop_assert_eq!(buffer.as_ptr().addr() % alignment, 0);
            prop_assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(0xa5);
            prop_assert!(buffer.as_ref().iter().all(|&byte| byte == 0xa5));
        }
    }
}
