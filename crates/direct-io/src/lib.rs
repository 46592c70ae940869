//! Direct I/O, which bypasses the page cache, on Linux, macOS, Windows and FreeBSD.
//!
//! The page cache is not always helpful. For example, a database that caches its pages itself would keep them twice, and
//! a large file evicts the data of other programs. With direct I/O, the device transfers your memory instead, but then
//! memory, offset and length must be aligned, and each system has another way to ask for it. Use this crate if you want
//! to write such code once for all of them:
//!
//! - [`AlignedBuffer`]: memory as aligned as the device needs.
//! - [`OpenOptions`]: `O_DIRECT`, `O_DSYNC`, `O_SYNC`, `O_EXCL`, and their equivalents on other systems.
//! - [`DirectIo`]: the alignment of direct I/O on a file. The errors of all reads and writes name it.
//! - [`write_all_at`], [`read_at`], [`read_exact_at`], and for several slices [`write_vectored_at`],
//!   [`read_vectored_at`].
//! - [`write_tail_at`]: a file's last bytes, less than a sector.
//! - [`BlockDevice`]: sectors, capacity and serial number of a device, or of the one below a file.
//! - [`LoopBacking`]: the file behind a loop device.
//! - [`fdatasync`], [`fsync`], [`full_fsync`], [`lock`], [`lock_volume`], [`preallocate`], [`set_no_cache`].
//!
//! Every function names its system calls. If a system lacks a call, the result is [`Error::Unsupported`], never
//! a silent substitute.
//!
//! ```
//! use direct_io::{AlignedBuffer, Alignment, DirectIo, OpenOptions, fdatasync, write_all_at, write_tail_at};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("file");
//! // Not every filesystem has direct I/O.
//! let options = OpenOptions::new().read(true).write(true).create(true);
//! let (file, is_direct) = match options.direct(true).open(&path) {
//!     Ok(file) => (file, true),
//!     Err(_) => (options.open(&path)?, false),
//! };
//! let alignment = DirectIo::for_file(&file)?.alignment().unwrap_or(Alignment::new(4096, 4096));
//! let mut block = AlignedBuffer::for_alignment(4096, alignment)?;
//! block[..5].copy_from_slice(b"hello");
//! write_all_at(&file, &block, 0)?;
//! // The last five bytes: less than a sector.
//! write_tail_at(&file, &block[..5], 4096)?;
//! # assert_eq!(file.metadata().unwrap().len(), 4101);
//! # #[cfg(any(target_os = "linux", target_os = "freebsd"))]
//! fdatasync(&file)?;
//! # let _ = is_direct;
//! # Ok::<(), direct_io::Error>(())
//! ```

#![warn(missing_docs)]

mod alignment;
mod buffer;
mod cache;
mod device;
mod direct;
mod error;
mod facts;
mod flush;
mod lock;
mod open;
mod options;
mod preallocate;
mod sys;
mod tail;
mod transfer;

pub use alignment::{ALIGNMENT_MAX_BYTES, ALIGNMENT_MIN_BYTES, Alignment, Misaligned, Part};
pub use buffer::AlignedBuffer;
pub use cache::set_no_cache;
pub use direct::explain;
pub use error::{BufferError, Error};
pub use facts::{BlockDevice, DirectIo, LoopBacking};
pub use flush::{fdatasync, fsync, full_fsync};
pub use lock::{lock, lock_volume, unlock, unlock_volume};
pub use options::{OpenOptions, WriteThrough};
pub use preallocate::preallocate;
/// An open file: `AsFd` on Unix, `AsHandle` on Windows.
pub use sys::AsFile;
pub use tail::write_tail_at;
pub use transfer::{read_at, read_exact_at, read_vectored_at, write_all_at, write_vectored_at};
