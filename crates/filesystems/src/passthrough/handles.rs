//! Files and directories that are open, and the memory that their data goes through.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use direct_io::AlignedBuffer;
use fuser::{FileHandle, FileType};
use rustix::io::Errno;

/// What is open, by the numbers that we gave the kernel for it.
#[derive(Debug)]
pub(super) struct Handles<T> {
    open: RwLock<HashMap<u64, Arc<T>>>,
    next: AtomicU64,
}

impl<T> Handles<T> {
    pub(super) fn new() -> Self {
        Self { open: RwLock::default(), next: AtomicU64::new(1) }
    }

    pub(super) fn add(&self, it: T) -> FileHandle {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(number, Arc::new(it));
        FileHandle(number)
    }

    pub(super) fn get(&self, handle: FileHandle) -> Result<Arc<T>, Errno> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(&handle.0).map(Arc::clone).ok_or(Errno::BADF)
    }

    pub(super) fn remove(&self, handle: FileHandle) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&handle.0);
    }
}

/// An open file.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: File,
    /// Opened with `O_DIRECT`, here and below.
    pub(super) direct: bool,
}

impl OpenFile {
    /// Hands a request's data on. What a request holds begins somewhere, so that direct I/O needs it copied.
    pub(super) fn write(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        if !self.direct {
            return write_all_at(&self.file, data, offset);
        }
        with_memory(data.len(), |memory| {
            let memory = memory?;
            memory.copy_from_slice(data);
            write_all_at(&self.file, memory, offset)
        })
    }

    /// Hands what was read to `reply`. Only the end of the file makes it shorter than `size_bytes`.
    pub(super) fn read<R>(
        &self,
        size_bytes: usize,
        offset: u64,
        reply: impl FnOnce(io::Result<&[u8]>) -> R,
    ) -> R {
        with_memory(size_bytes, |memory| {
            let memory = match memory {
                Ok(memory) => memory,
                Err(error) => return reply(Err(error)),
            };
            let mut done = 0;
            while done < size_bytes {
                match self.file.read_at(&mut memory[done..], offset + done as u64) {
                    Ok(0) => break,
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if done == 0 => return reply(Err(error)),
                    Err(_) => break,
                }
                // A direct read that ends within a sector has met the end of the file, and could not go on.
                if self.direct {
                    break;
                }
            }
            reply(Ok(&memory[..done]))
        })
    }
}

/// All of it, or what could be written before an error.
fn write_all_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < data.len() {
        match file.write_at(&data[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if done == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(done)
}

/// Aligned memory of this thread's own, which is made once and grows with need.
fn with_memory<R>(size_bytes: usize, work: impl FnOnce(io::Result<&mut [u8]>) -> R) -> R {
    const ALIGNMENT: usize = 4096;
    thread_local!(static MEMORY: RefCell<Option<AlignedBuffer>> = const { RefCell::new(None) });
    MEMORY.with_borrow_mut(|memory| {
        if memory.as_ref().is_none_or(|memory| memory.len() < size_bytes) {
            let size = size_bytes.max(super::server::REQUEST_BYTES as usize);
            *memory = AlignedBuffer::new(size, ALIGNMENT).ok();
        }
        match memory {
            Some(memory) => work(Ok(&mut memory[..size_bytes])),
            None => work(Err(io::Error::from_raw_os_error(Errno::NOMEM.raw_os_error()))),
        }
    })
}

/// An open directory, as it was when its reading began.
#[derive(Debug)]
pub(super) struct OpenDirectory {
    pub(super) file: File,
    pub(super) entries: Mutex<Vec<Entry>>,
}

/// An entry of a directory.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) kind: FileType,
    pub(super) name: OsString,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_until_it_is_released() {
        let handles = Handles::new();
        let (first, second) = (handles.add('a'), handles.add('b'));
        assert_eq!(handles.get(first).as_deref(), Ok(&'a'));
        handles.remove(first);
        assert_eq!(handles.get(first), Err(Errno::BADF));
        assert_eq!(handles.get(second).as_deref(), Ok(&'b'));
    }

    #[test]
    fn a_read_ends_with_the_file() {
        let file = tempfile::tempfile().unwrap();
        let open = OpenFile { file, direct: false };
        assert_eq!(open.write(b"hello", 3).unwrap(), 5);
        assert_eq!(open.read(100, 2, |read| read.map(<[u8]>::to_vec)).unwrap(), b"\0hello");
        assert_eq!(open.read(100, 8, |read| read.map(<[u8]>::to_vec)).unwrap(), b"");
    }
}
