//! How much of a file is in the page cache.

use std::os::fd::BorrowedFd;

use crate::call::Result;
use crate::methods::map::Map;

/// How many of at least these bytes are in the page cache. mincore(2) needs a mapping, so the answer is `None` where a
/// filesystem cannot map files, as FUSE with direct I/O and sysfs: no method is worse for what nobody can observe.
pub(crate) fn resident_bytes(
    file: BorrowedFd<'_>,
    offset: u64,
    length: u64,
) -> Result<Option<u64>> {
    match Map::reading(file, offset, length) {
        Ok(map) => map.resident_bytes().map(Some),
        Err(error) if error.is_unsupported() => Ok(None),
        Err(error) => Err(error),
    }
}
