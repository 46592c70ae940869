//! MPI-IO: `MPI_File_write_at`, and with `collective=yes` `MPI_File_write_at_all`, as HDF5 and netCDF write.
//!
//! All ranks open, sync and close the file together, and make each collective write together. A failed rank
//! takes part with no bytes, or the other ranks would wait forever.

use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd};

use writebench_model::{Collective, SyncCall};

use super::mpi_file::{MpiFile, Opener};
use super::{IoThread, Region, Result, WriteLoop};
use crate::call::CallError;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    let opener = Opener::for_axes(region.choices);
    MpiioThread {
        opener,
        region,
        file: None,
        has_written: false,
        has_synced: false,
    }
}

struct MpiioThread<'a> {
    region: Region<'a>,
    // Outside MPI there is none.
    opener: Option<Opener>,
    file: Option<MpiFile>,
    has_written: bool,
    has_synced: bool,
}

impl MpiioThread<'_> {
    fn file(&self) -> Result<&MpiFile> {
        self.file
            .as_ref()
            .ok_or_else(|| CallError::new("MPI_File_open", rustix::io::Errno::BADF))
    }

    /// Makes as many collective calls as the rank with the longest region.
    fn write_together(&self, write_loop: &mut WriteLoop) -> Result<()> {
        let file = self.file()?;
        let region = &self.region;
        let mut calls = 0;
        let mut result = write_loop.each_chunk(
            region,
            |chunk, offset| {
                calls += 1;
                file.write_at(Collective::Yes, chunk, offset)
                    .map_err(|error| error.at(offset))
            },
            |_, _| Ok(()),
        );
        while calls
            < region
                .longest_bytes
                .div_ceil(region.choices.chunk_size_bytes)
        {
            calls += 1;
            result = result.and(file.write_at(Collective::Yes, &[], region.file_offset));
        }
        result
    }
}

impl IoThread for MpiioThread<'_> {
    fn attach(&mut self, file: BorrowedFd<'_>) -> Result<()> {
        let Some(opener) = &self.opener else {
            let why = "MPI-IO works among ranks: start a writebench with the feature mpi by mpirun or srun";
            return Err(CallError::unsupported("MPI_File_open", why));
        };
        if self
            .region
            .choices
            .chunk_size_bytes
            .min(self.region.longest_bytes)
            > i32::MAX as u64
        {
            let why = "MPI counts end below 2 GiB: use smaller chunks";
            return Err(CallError::unsupported("MPI_File_write_at", why));
        }
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
        self.file = Some(opener.open(&path)?);
        Ok(())
    }

    fn write(&mut self, _file: BorrowedFd<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        self.has_written = true;
        if self.region.choices.collective == Collective::Yes {
            return self.write_together(write_loop);
        }
        let file = self.file()?;
        write_loop.each_chunk(
            &self.region,
            |chunk, offset| {
                file.write_at(Collective::No, chunk, offset)
                    .map_err(|error| error.at(offset))
            },
            |_, _| Ok(()),
        )
    }

    fn sync(&mut self, _file: BorrowedFd<'_>, _call: SyncCall) -> Result<()> {
        self.has_synced = true;
        self.file()?.sync()
    }

    fn detach(&mut self) -> Result<()> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        if !self.has_written {
            // Another rank may lack such a file, and would not close it.
            return Ok(());
        }
        // A rank that could not write still makes the collective calls of all ranks.
        let synced = if self.region.choices.sync.is_at_end() && !self.has_synced {
            file.sync()
        } else {
            Ok(())
        };
        file.close().and(synced)
    }
}
