//! Builds the disks that a power loss could leave behind. Linux only, as root.
//!
//! This is an internal part of writebench, without a stability promise.
//!
//! A filesystem is on a disk that records, in their order, all writes, discards and flushes, the system calls of a
//! program, and each moment at which the program believes that its data is durable ([`record`]). After a power loss, the
//! disk has everything from before its last flush, and any part of what was written later. Such disks are built from
//! the recording ([`Cut`]), mounted and checked ([`Replay`]).
//!
//! The disk is a file in FUSE behind a loop device. Sectors of 4 KiB are written as a whole or not at all, and a disk
//! never loses what it has confirmed by a flush: the disk itself is not under test.

mod cuts;
mod disk;
mod error;
mod event;
mod noise;
mod program;
mod record;
mod replay;
mod trace;

pub use cuts::{Cut, Cuts, cuts, uncut};
pub use error::Error;
pub use event::{Act, Event, Recording, SystemCall};
pub use noise::OTHER_PROGRAM;
pub use program::{Ended, Limits, run_to_end};
pub use record::{DiskRequest, Request, Steps, record, rehearse};
pub use replay::{Moment, Replay};
