//! Replaces `mpi_file` in a build without MPI.

use std::ffi::CStr;

use writebench_model::{Choices, Collective};

use crate::call::Result;

pub(super) enum Opener {}

pub(super) enum MpiFile {}

impl Opener {
    pub(super) fn for_axes(_axes: &Choices) -> Option<Self> {
        None
    }

    pub(super) fn open(&self, _path: &CStr) -> Result<MpiFile> {
        match *self {}
    }
}

impl MpiFile {
    pub(super) fn write_at(
        &self,
        _collective: Collective,
        _bytes: &[u8],
        _offset: u64,
    ) -> Result<()> {
        match *self {}
    }

    pub(super) fn sync(&self) -> Result<()> {
        match *self {}
    }

    pub(super) fn close(self) -> Result<()> {
        match self {}
    }
}
