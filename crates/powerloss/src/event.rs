//! What arrives at a disk while a program runs.

use std::fmt;

use writebench_filesystems::DiskKind;

use crate::program::Ended;

/// What happened to a disk, or around it, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Bytes have arrived.
    Write { offset: usize, data: Box<[u8]> },
    /// Bytes have become zeros.
    Discard { offset: usize, length: usize },
    /// All writes before this are durable.
    Flush,
    /// The program has begun.
    Begin,
    /// The program believes that what it has written is durable.
    Durable,
    /// A system call of the program on this filesystem has returned.
    Call(SystemCall),
    /// The program has ended.
    Exit,
    /// What the filesystem has written later is on the disk.
    End,
}

/// Something that the program has done, in its time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act<'r> {
    Call(&'r SystemCall),
    /// It has said that its data is durable.
    Durable,
    Exit,
}

impl fmt::Display for Act<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => call.fmt(f),
            Self::Durable => f.write_str("durable"),
            Self::Exit => f.write_str("the end of the program"),
        }
    }
}

impl Event {
    pub(crate) fn act(&self) -> Option<Act<'_>> {
        match self {
            Self::Call(call) => Some(Act::Call(call)),
            Self::Durable => Some(Act::Durable),
            Self::Exit => Some(Act::Exit),
            _ => None,
        }
    }
}

/// A system call as strace names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemCall {
    pub name: &'static str,
    /// Its files, relative to the filesystem.
    pub paths: Vec<String>,
}

impl fmt::Display for SystemCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.paths.join(", "))
    }
}

/// What has arrived at a disk.
#[derive(Debug)]
pub struct Recording {
    pub kind: DiskKind,
    pub mount_options: Option<String>,
    pub disk_bytes: u64,
    pub events: Vec<Event>,
    /// How the program has ended.
    pub ended: Ended,
}

impl Recording {
    /// How often the program has said that its data is durable.
    #[must_use]
    pub fn durable_count(&self) -> usize {
        let durable = |event: &&Event| **event == Event::Durable;
        self.events.iter().filter(durable).count()
    }

    /// What the program has done, in this order.
    #[must_use]
    pub fn acts(&self) -> Vec<Act<'_>> {
        self.events.iter().filter_map(Event::act).collect()
    }
}
