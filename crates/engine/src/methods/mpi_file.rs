//! The files of MPI-IO.
#![expect(
    unsafe_code,
    reason = "rsmpi has no files, and these functions take pointers"
)]

use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::sync::Once;

use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AsRaw, Communicator, Group};
use rustix::io::Errno;
use writebench_model::{Choices, Collective, Files};

use crate::call::{Call, CallError, Result};

pub(super) struct Opener(SimpleCommunicator);

pub(super) struct MpiFile(ffi::MPI_File);

// SAFETY: MPI is initialized with MPI_THREAD_SERIALIZED: any thread may call it, and the thread that made this
// value waits while another uses it.
unsafe impl Send for Opener {}
// SAFETY: the same.
unsafe impl Send for MpiFile {}

const CLASSES: &[(u32, Errno)] = &[
    (ffi::MPI_ERR_ACCESS, Errno::ACCESS),
    (ffi::MPI_ERR_NO_SPACE, Errno::NOSPC),
    (ffi::MPI_ERR_NO_SUCH_FILE, Errno::NOENT),
    (ffi::MPI_ERR_QUOTA, Errno::DQUOT),
    (ffi::MPI_ERR_READ_ONLY, Errno::ROFS),
    (ffi::MPI_ERR_UNSUPPORTED_OPERATION, Errno::OPNOTSUPP),
];

impl Opener {
    /// All ranks for a shared file, otherwise this one alone. The ranks call this together.
    pub(super) fn for_axes(choices: &Choices) -> Option<Self> {
        if !mpi::is_initialized() {
            return None;
        }
        let own = [SimpleCommunicator::world().rank()];
        static FIRST: Once = Once::new();
        // MPI loads its libraries for files with the first file, outside any sample's time.
        FIRST.call_once(|| {
            keep_memory();
            let _ =
                Self::for_ranks(&own).and_then(|alone| alone.open(c"/dev/null").ok()?.close().ok());
        });
        match choices.files {
            Files::Shared => {
                Self::for_ranks(&(0..c_int::try_from(choices.ranks).ok()?).collect::<Vec<_>>())
            }
            Files::PerThread | Files::PerRank => Self::for_ranks(&own),
        }
    }

    fn for_ranks(ranks: &[c_int]) -> Option<Self> {
        let world = SimpleCommunicator::world();
        world
            .split_by_subgroup(&world.group().include(ranks))
            .map(Self)
    }

    pub(super) fn open(&self, path: &CStr) -> Result<MpiFile> {
        #[expect(clippy::cast_possible_wrap, reason = "a flag")]
        const WRITE_ONLY: c_int = ffi::MPI_MODE_WRONLY as c_int;
        // SAFETY: a constant of the library.
        let no_hints = unsafe { ffi::RSMPI_INFO_NULL };
        // SAFETY: a constant of the library.
        let mut file = unsafe { ffi::RSMPI_FILE_NULL };
        // SAFETY: the communicator is valid, and path and file outlive the call.
        let code = unsafe {
            ffi::MPI_File_open(
                self.0.as_raw(),
                path.as_ptr(),
                WRITE_ONLY,
                no_hints,
                &raw mut file,
            )
        };
        checked("MPI_File_open", code)?;
        Ok(MpiFile(file))
    }
}

type WriteAt = unsafe extern "C" fn(
    ffi::MPI_File,
    ffi::MPI_Offset,
    *const std::ffi::c_void,
    c_int,
    ffi::MPI_Datatype,
    *mut ffi::MPI_Status,
) -> c_int;

impl MpiFile {
    /// If it is collective, all ranks of the file call this together.
    #[inline(always)]
    pub(super) fn write_at(&self, collective: Collective, bytes: &[u8], offset: u64) -> Result<()> {
        let (write_at, name): (WriteAt, _) = match collective {
            Collective::No => (ffi::MPI_File_write_at, "MPI_File_write_at"),
            Collective::Yes => (ffi::MPI_File_write_at_all, "MPI_File_write_at_all"),
        };
        let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
        let Ok(position) = ffi::MPI_Offset::try_from(offset) else {
            return Err(CallError::new(name, Errno::INVAL));
        };
        let Ok(length) = c_int::try_from(bytes.len()) else {
            return Err(CallError::new(name, Errno::INVAL));
        };
        // SAFETY: a constant of the library.
        let byte = unsafe { ffi::RSMPI_UINT8_T };
        // SAFETY: the file is open, the memory has that many bytes, and the status is written to.
        let code = unsafe {
            write_at(
                self.0,
                position,
                bytes.as_ptr().cast(),
                length,
                byte,
                status.as_mut_ptr(),
            )
        };
        checked(name, code)?;
        let mut written = 0;
        // SAFETY: the call above has filled the status.
        let code = unsafe { ffi::MPI_Get_count(status.as_ptr(), byte, &raw mut written) };
        checked("MPI_Get_count", code)?;
        if written < length {
            let message =
                format!("only {written} of {length} bytes were written: check the free space");
            return Err(CallError::other(name, message));
        }
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<()> {
        // SAFETY: the file is open.
        checked("MPI_File_sync", unsafe { ffi::MPI_File_sync(self.0) })
    }

    /// All ranks of the file call this together.
    pub(super) fn close(mut self) -> Result<()> {
        // SAFETY: the file is open, and is not used after this.
        checked("MPI_File_close", unsafe {
            ffi::MPI_File_close(&raw mut self.0)
        })
    }
}

/// MPI takes and returns memory in each collective call. Otherwise some samples fault the same pages again and
/// again.
#[cfg(target_env = "gnu")]
fn keep_memory() {
    /// The most that mallopt(3) accepts.
    const MOST_MAPPED: c_int = 32 << 20;
    for (setting, value) in [
        (libc::M_MMAP_THRESHOLD, MOST_MAPPED),
        (libc::M_TRIM_THRESHOLD, c_int::MAX),
    ] {
        // SAFETY: a setting of the allocator, with a number.
        let _ = unsafe { libc::mallopt(setting, value) };
    }
}

#[cfg(not(target_env = "gnu"))]
fn keep_memory() {}

#[inline]
fn checked(call: &'static str, code: c_int) -> Result<()> {
    if code == 0 {
        Ok(())
    } else {
        Err(error(call, code))
    }
}

#[cold]
fn error(call: &'static str, code: c_int) -> CallError {
    let mut class = 0;
    // SAFETY: the number is written to.
    let _ = unsafe { ffi::MPI_Error_class(code, &raw mut class) };
    let known = CLASSES
        .iter()
        .find(|(number, _)| i64::from(*number) == i64::from(class));
    if let Some((_, errno)) = known {
        return CallError::new(Call::from(call), *errno);
    }
    let mut words = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the memory has room for the longest text and its end.
    let _ = unsafe {
        ffi::MPI_Error_string(code, words.as_mut_ptr().cast::<c_char>(), &raw mut length)
    };
    let text = CStr::from_bytes_until_nul(&words)
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    CallError::other(call, text)
}
