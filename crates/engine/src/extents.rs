//! The data of a file outside its holes, by lseek(2).

use std::os::fd::AsFd;

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use writebench_model::Range;

/// The next data from an offset on, up to the next hole or the file's end. None if no more follows. Reserved blocks without
/// data are holes, and data that waits for its blocks is none: so the file needs no sync, other than for `st_blocks`.
pub(crate) fn next_data(file: impl AsFd, from: u64) -> rustix::io::Result<Option<Range>> {
    let file = file.as_fd();
    let offset = match rustix::fs::seek(file, SeekFrom::Data(from)) {
        Ok(offset) => offset,
        // lseek(2) reports that no data follows.
        Err(Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    let end = rustix::fs::seek(file, SeekFrom::Hole(offset))?;
    // A filesystem that does not advance would cause an endless loop.
    if offset < from || end <= offset {
        return Err(Errno::INVAL);
    }
    Ok(Some(Range {
        offset,
        length: end - offset,
    }))
}

/// The bytes of the data before an offset. It is `None` if the filesystem does not report them.
pub(crate) fn data_bytes(file: impl AsFd, until: u64) -> Option<u64> {
    let file = file.as_fd();
    let (mut from, mut bytes) = (0, 0);
    while from < until {
        let Some(data) = next_data(file, from).ok()? else {
            break;
        };
        from = data.offset + data.length;
        bytes += from.min(until).saturating_sub(data.offset);
    }
    Some(bytes)
}
