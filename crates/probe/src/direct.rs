//! What direct and atomic writes need, by statx(2).

use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Statx, StatxFlags, statx};
use writebench_model::{AtomicWrites, DirectAlignment};

/// `STATX_WRITE_ATOMIC` of linux/stat.h, since 6.11. rustix has the fields but not the flags.
const WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x1_0000);
/// `STATX_DIO_READ_ALIGN`, since 6.14.
const DIO_READ_ALIGN: StatxFlags = StatxFlags::from_bits_retain(0x2_0000);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Direct {
    pub(crate) alignment: Option<DirectAlignment>,
    pub(crate) atomic: Option<AtomicWrites>,
}

/// The facts of a file or block device, or of a new file in a directory: a filesystem has them for files only, and they
/// may depend on the directory. Nothing is known where the file cannot be made.
pub(crate) fn of_new_file(target: &Path) -> Direct {
    let status = if target.is_dir() {
        status_of_unnamed_file(target)
    } else {
        statx(CWD, target, AtFlags::empty(), wanted())
    };
    status.as_ref().map(facts).unwrap_or_default()
}

fn wanted() -> StatxFlags {
    StatxFlags::DIOALIGN | WRITE_ATOMIC | DIO_READ_ALIGN
}

/// The file has no name, so it vanishes when it is closed, even if this process is killed.
fn status_of_unnamed_file(directory: &Path) -> rustix::io::Result<Statx> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)?;
    statx(&file, "", AtFlags::EMPTY_PATH, wanted())
}

fn facts(status: &Statx) -> Direct {
    let has = |flag: StatxFlags| StatxFlags::from_bits_retain(status.stx_mask).contains(flag);
    let known = |bytes: u32| (bytes > 0).then_some(u64::from(bytes));
    let read_offset_bytes = known(status.stx_dio_read_offset_align)
        .filter(|&bytes| has(DIO_READ_ALIGN) && bytes != u64::from(status.stx_dio_offset_align));
    let alignment = has(StatxFlags::DIOALIGN).then(|| DirectAlignment {
        memory_bytes: status.stx_dio_mem_align.into(),
        offset_bytes: status.stx_dio_offset_align.into(),
        read_offset_bytes,
    });
    let sizes =
        known(status.stx_atomic_write_unit_min).zip(known(status.stx_atomic_write_unit_max));
    let atomic = sizes
        .filter(|_| has(WRITE_ATOMIC))
        .map(|(least_bytes, most_bytes)| AtomicWrites {
            least_bytes,
            most_bytes,
            optimal_bytes: known(status.stx_atomic_write_unit_max_opt),
        });
    Direct { alignment, atomic }
}
