use std::fmt;

/// The multiples that direct transfers need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alignment {
    /// The address of the memory, in bytes.
    pub memory_bytes: usize,
    /// The offset in the file and the length, in bytes.
    pub offset_bytes: u64,
}

/// The smallest alignment of a buffer: a pointer's on 64-bit systems. It is the same on 32-bit systems for
/// portable code.
pub const ALIGNMENT_MIN_BYTES: usize = 8;

/// The largest alignment of a buffer. No known device needs more.
pub const ALIGNMENT_MAX_BYTES: usize = 4 << 20;

/// The misaligned part of a direct transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misaligned {
    /// The part.
    pub part: Part,
    /// Its address, offset or length, in bytes.
    pub value: u64,
    /// The necessary multiple, in bytes.
    pub needed_bytes: u64,
}

/// A part of a direct transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The address of the memory.
    Address,
    /// The offset in the file.
    Offset,
    /// The number of bytes.
    Length,
}

impl Alignment {
    /// An alignment in bytes. 4096 for both is enough nearly everywhere, if [`DirectIo`](crate::DirectIo)
    /// reports none.
    #[must_use]
    pub const fn new(memory_bytes: usize, offset_bytes: u64) -> Self {
        Self {
            memory_bytes,
            offset_bytes,
        }
    }

    /// Checks a transfer between `bytes` and the file at `offset`.
    ///
    /// # Errors
    /// [`Misaligned`] names the first misaligned part and the multiple that it needs.
    pub fn check(&self, bytes: &[u8], offset: u64) -> Result<(), Misaligned> {
        let address = bytes.as_ptr().addr() as u64;
        let length = bytes.len() as u64;
        check_part(Part::Address, address, self.memory_bytes as u64)?;
        check_part(Part::Offset, offset, self.offset_bytes)?;
        check_part(Part::Length, length, self.offset_bytes)
    }
}

/// A multiple of zero is no requirement.
fn check_part(part: Part, value: u64, needed_bytes: u64) -> Result<(), Misaligned> {
    if needed_bytes == 0 || value.is_multiple_of(needed_bytes) {
        return Ok(());
    }
    Err(Misaligned {
        part,
        value,
        needed_bytes,
    })
}

impl std::error::Error for Misaligned {}

impl fmt::Display for Misaligned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            part,
            value,
            needed_bytes,
        } = self;
        let part = match part {
            Part::Address => {
                let beyond = value % needed_bytes;
                write!(
                    f,
                    "direct I/O needs memory at a multiple of {needed_bytes} bytes, "
                )?;
                return write!(f, "not {beyond} bytes after one");
            }
            Part::Offset => "an offset",
            Part::Length => "a length",
        };
        write!(
            f,
            "direct I/O needs {part} that is a multiple of {needed_bytes} bytes, not {value}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AlignedBuffer;

    #[test]
    fn the_misaligned_part_is_named() {
        let buffer = AlignedBuffer::new(8192, 4096).unwrap();
        let alignment = Alignment {
            memory_bytes: 512,
            offset_bytes: 4096,
        };
        assert_eq!(alignment.check(&buffer, 4096), Ok(()));
        let wrong = |bytes: &[u8], offset| alignment.check(bytes, offset).unwrap_err().to_string();
        assert_eq!(
            wrong(&buffer[4..4100], 0),
            "direct I/O needs memory at a multiple of 512 bytes, not 4 bytes after one"
        );
        assert_eq!(
            wrong(&buffer[..4096], 512),
            "direct I/O needs an offset that is a multiple of 4096 bytes, not 512"
        );
        assert_eq!(
            wrong(&buffer[..512], 0),
            "direct I/O needs a length that is a multiple of 4096 bytes, not 512"
        );
    }
}
