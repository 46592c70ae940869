//! A set of files by io_uring: linked operations open, write, sync and close each file in a slot of the ring.
#![expect(unsafe_code, reason = "the kernel uses names and data after the call")]

use std::os::fd::AsRawFd;
use std::time::Instant;

use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{DestinationSlot, Fd, Fixed};
use rustix::fs::OFlags;
use writebench_model::{Naming, Source, SyncFiles};

use super::set_thread::{FilesWriter, OpenFiles, PlacedFile, opened_as};
use super::uring::{
    Operations, PIECE_BYTES, RegisteredRing, Ring, must_be_repeated, operation_failed, user_data,
    write_entry,
};
use super::{Region, Result, WriteLoop};
use crate::call::wrote_nothing;
use crate::file;
use crate::file_tree::SetFile;
use crate::region::to_usize;

#[derive(Default)]
pub(super) struct ByRing {
    ring: Option<RegisteredRing>,
}

impl FilesWriter for ByRing {
    fn attach(&mut self, region: &Region<'_>) -> Result<()> {
        let choices = region.choices;
        let ring = self
            .ring
            .insert(RegisteredRing::new(choices.depth * LONGEST_CHAIN)?);
        ring.register_slots(choices.depth)?;
        // SAFETY: the region's data outlives the thread.
        unsafe { ring.register(choices.registered, &[], region.memory().chunks(PIECE_BYTES)) }
    }

    fn write(&mut self, files: &OpenFiles<'_>, write_loop: &mut WriteLoop) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        Queue::new(files.region, &mut ring.ring).run(files.iter(), write_loop)
    }

    fn detach(&mut self) -> Result<()> {
        self.ring.take().map_or(Ok(()), RegisteredRing::unregister)
    }
}

/// The operations of a file in their order, of which a case may leave some out.
const OPEN: u64 = 0;
const WRITE: u64 = 1;
const SYNC: u64 = 2;
const CLOSE: u64 = 3;
const RENAME: u64 = 4;
/// The longest chain has all operations but the sync.
const LONGEST_CHAIN: u32 = 4;

/// A file in flight.
struct Slot<'f, 'a> {
    placed: PlacedFile<'f, 'a>,
    /// The first operation of the next chain.
    next: u64,
    written: usize,
    submitted: Instant,
}

impl<'f, 'a> Slot<'f, 'a> {
    fn new(placed: PlacedFile<'f, 'a>) -> Self {
        Self {
            placed,
            next: OPEN,
            written: 0,
            submitted: Instant::now(),
        }
    }

    fn left(&self) -> usize {
        to_usize(self.placed.file.region.range.length) - self.written
    }

    fn open(&self, index: u32) -> Entry {
        let PlacedFile {
            directory, file, ..
        } = self.placed;
        let (name, flags) = opened_as(file);
        // The kernel refuses O_CLOEXEC for a file without a descriptor.
        let flags = flags.difference(OFlags::CLOEXEC).bits().cast_signed();
        let slot = DestinationSlot::try_from_slot_target(index).ok();
        let open = opcode::OpenAt::new(Fd(directory.as_raw_fd()), name.as_ptr());
        open.file_index(slot)
            .flags(flags)
            .mode(file::MODE.bits())
            .build()
    }

    /// The next write of the file, and its bytes.
    fn write(&self, index: u32, thread: &Region<'_>) -> (Entry, usize) {
        let region = &self.placed.file.region;
        let begin = match region.given.source {
            Source::File => to_usize(region.rank_offset - thread.rank_offset),
            Source::Chunk => 0,
        };
        let bytes = &region.memory()[self.written..];
        let at = begin + self.written;
        let offset = self.written as u64;
        write_entry(
            bytes,
            at,
            region.choices.registered,
            in_slot(index),
            (offset, 0),
        )
    }

    fn sync(&self, index: u32) -> Option<Entry> {
        let (file, flags) = in_slot(index);
        let entry = match self.placed.file.region.choices.sync_files {
            SyncFiles::Each => opcode::Fsync::new(file).build(),
            SyncFiles::Writeback => opcode::SyncFileRange::new(file, 0)
                .flags(libc::SYNC_FILE_RANGE_WRITE)
                .build(),
            SyncFiles::None | SyncFiles::Batch | SyncFiles::Syncfs => return None,
        };
        Some(entry.flags(flags))
    }

    fn rename(&self) -> Option<Entry> {
        let PlacedFile {
            directory,
            file:
                SetFile {
                    name,
                    temporary,
                    region,
                },
            ..
        } = self.placed;
        let directory = Fd(directory.as_raw_fd());
        let is_now =
            region.choices.naming == Naming::Rename && !region.choices.sync_files.is_afterwards();
        is_now.then(|| {
            opcode::RenameAt::new(directory, temporary.as_ptr(), directory, name.as_ptr()).build()
        })
    }

    /// Returns whether the file is complete. Of a chain only one operation completes.
    fn complete(&mut self, kind: u64, result: i32) -> Result<bool> {
        let at = self.written as u64;
        match usize::try_from(result) {
            Ok(0) if kind == WRITE => return Err(wrote_nothing("io_uring write").at(at)),
            Ok(written) if kind == WRITE => {
                self.written += written.min(self.left());
                self.next = if self.left() > 0 { WRITE } else { SYNC };
            }
            Ok(_) if kind == SYNC => self.next = CLOSE,
            Ok(_) => return Ok(true),
            Err(_) if must_be_repeated(result) && !matches!(kind, SYNC | CLOSE) => self.next = kind,
            Err(_) if kind == WRITE => {
                return Err(operation_failed("io_uring write", result).at(at));
            }
            Err(_) => {
                let call = match kind {
                    OPEN => "io_uring openat",
                    SYNC if self.placed.file.region.choices.sync_files == SyncFiles::Each => {
                        "io_uring fsync"
                    }
                    SYNC => "io_uring sync_file_range",
                    CLOSE => "io_uring close",
                    _ => "io_uring renameat",
                };
                return Err(operation_failed(call, result));
            }
        }
        Ok(false)
    }
}

/// At most `depth` files are in flight.
struct Queue<'f, 'a, R: Ring> {
    // It is the first field, so it ends before the names and the data.
    operations: Operations<'f, R>,
    region: Region<'a>,
    slots: Vec<Slot<'f, 'a>>,
    chain: Vec<Entry>,
}

impl<'f, 'a, R: Ring> Queue<'f, 'a, R> {
    fn new(region: Region<'a>, ring: &'f mut R) -> Self {
        Self {
            operations: Operations::new(ring),
            region,
            slots: Vec::new(),
            chain: Vec::new(),
        }
    }

    fn run(
        &mut self,
        mut files: impl Iterator<Item = PlacedFile<'f, 'a>>,
        write_loop: &mut WriteLoop,
    ) -> Result<()> {
        for placed in files.by_ref().take(self.region.choices.depth as usize) {
            self.slots.push(Slot::new(placed));
            self.push_chain(self.slots.len() - 1)?;
        }
        while !self.operations.is_empty() {
            self.operations.wait()?;
            while let Some((index, kind, result)) = self.operations.completed() {
                let slot = &mut self.slots[index];
                if slot
                    .complete(kind, result)
                    .map_err(|error| slot.placed.describe(error))?
                {
                    write_loop.wrote_file_in(
                        slot.submitted.elapsed(),
                        slot.placed.file.region.range.length,
                    );
                    let Some(placed) = files.next() else { continue };
                    *slot = Slot::new(placed);
                }
                self.push_chain(index)?;
            }
        }
        Ok(())
    }

    /// A chain ends with a sync, because the kernel continues silently after a failed one (`io_fsync` in its
    /// io_uring/sync.c). It also ends with a write too long for one operation.
    fn push_chain(&mut self, index: usize) -> Result<()> {
        let slot = &self.slots[index];
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        self.chain.clear();
        for kind in slot.next..=RENAME {
            let mut is_last = kind == SYNC;
            let entry = match kind {
                OPEN => Some(slot.open(number)),
                WRITE => {
                    let (entry, bytes) = slot.write(number, &self.region);
                    is_last = bytes < slot.left();
                    Some(entry)
                }
                SYNC => slot.sync(number),
                CLOSE => Some(opcode::Close::new(Fixed(number)).build()),
                _ => slot.rename(),
            };
            let Some(entry) = entry else { continue };
            self.chain.push(entry.user_data(user_data(index, kind)));
            if is_last {
                break;
            }
        }
        // SAFETY: the files, their names and the source outlive the queue.
        unsafe { self.operations.push_chain(&mut self.chain) }
    }
}

fn in_slot(index: u32) -> (Fd, Flags) {
    (Fd(index.cast_signed()), Flags::FIXED_FILE)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::os::fd::AsFd;

    use writebench_model::Case;

    use super::*;
    use crate::file_tree;
    use crate::region;

    /// Needs no kernel with io_uring: completes each chain with the next result.
    #[derive(Default)]
    struct Scripted {
        results: VecDeque<(u64, i32)>,
        pushed: Vec<Vec<u64>>,
        completions: VecDeque<(u64, i32)>,
    }

    impl Ring for Scripted {
        unsafe fn push(&mut self, entries: &[Entry]) -> bool {
            self.pushed
                .push(entries.iter().map(Entry::get_user_data).collect());
            // Only an entry's debug output has its flags.
            let link = Flags::IO_LINK | Flags::SKIP_SUCCESS;
            let flags =
                [link, link | Flags::FIXED_FILE].map(|flags| format!("flags: {},", flags.bits()));
            let is_linked = |entry: &Entry| {
                flags
                    .iter()
                    .any(|flags| format!("{entry:?}").contains(flags))
            };
            let (last, before) = entries.split_last().unwrap();
            assert!(before.iter().all(is_linked) && !is_linked(last));
            let usual = (last.get_user_data(), 0);
            self.completions
                .push_back(self.results.pop_front().unwrap_or(usual));
            true
        }

        fn submit(&mut self, _: usize) -> Result<bool> {
            Ok(true)
        }

        fn completed(&mut self) -> Option<(u64, i32)> {
            self.completions.pop_front()
        }
    }

    const FIRST: usize = 0;
    const SECOND: usize = 1;

    fn chain(slot: usize, kinds: &[u64]) -> Vec<u64> {
        kinds.iter().map(|&kind| user_data(slot, kind)).collect()
    }

    /// The pushed chains, and the result.
    fn run(axes: &str, results: &[(usize, u64, i32)]) -> (Vec<Vec<u64>>, Result<WriteLoop>) {
        let name = format!("io_uring-files,size=24KiB,file-size=8KiB,depth=2,{axes}");
        let case = Case::parse(name.trim_end_matches(',')).unwrap();
        let source = vec![7; 24 << 10];
        let region = region::split(&case, 0, &source, None)[0];
        let directories = file_tree::directories(&region);
        let place = tempfile::tempfile().unwrap();
        let results = results
            .iter()
            .map(|&(slot, kind, result)| (user_data(slot, kind), result));
        let mut ring = Scripted {
            results: results.collect(),
            ..Scripted::default()
        };
        let mut write_loop = WriteLoop::new(&case, 0, None);
        let files = directories[0]
            .files
            .iter()
            .map(|file| PlacedFile::new(place.as_fd(), file, None));
        let result = Queue::new(region, &mut ring).run(files, &mut write_loop);
        (ring.pushed, result.map(|()| write_loop))
    }

    #[test]
    fn each_file_is_a_chain_and_the_next_one_takes_its_slot() {
        let (chains, write_loop) = run("naming=rename", &[]);
        let whole = [OPEN, WRITE, CLOSE, RENAME];
        assert_eq!(
            chains,
            [
                chain(FIRST, &whole),
                chain(SECOND, &whole),
                chain(FIRST, &whole)
            ]
        );
        let write_loop = write_loop.unwrap();
        assert_eq!(
            (
                write_loop.handed_over_bytes,
                write_loop.latency().unwrap().count
            ),
            (24 << 10, 3)
        );
        let (chains, _) = run("naming=rename,sync-files=batch", &[]);
        assert_eq!(
            chains[0],
            chain(FIRST, &[OPEN, WRITE, CLOSE]),
            "the name is given after the sync"
        );
    }

    #[test]
    fn a_file_is_closed_and_renamed_only_after_its_sync_has_succeeded() {
        let (chains, write_loop) = run("naming=rename,sync-files=each", &[]);
        let (synced, named) = ([OPEN, WRITE, SYNC], [CLOSE, RENAME]);
        assert_eq!(
            chains[..3],
            [
                chain(FIRST, &synced),
                chain(SECOND, &synced),
                chain(FIRST, &named)
            ]
        );
        assert_eq!(write_loop.unwrap().latency().unwrap().count, 3);
        let (chains, result) = run(
            "naming=rename,sync-files=each",
            &[(FIRST, SYNC, -libc::EIO)],
        );
        assert!(result.is_err() && chains.len() == 2);
    }

    #[test]
    fn a_file_continues_after_a_short_write_or_an_interruption() {
        let short = [
            (FIRST, WRITE, 5000),
            (SECOND, OPEN, -libc::EINTR),
            (FIRST, WRITE, 100),
        ];
        let (chains, write_loop) = run("", &short);
        let rest = chain(FIRST, &[WRITE, CLOSE]);
        let whole = chain(SECOND, &[OPEN, WRITE, CLOSE]);
        assert_eq!(chains[2..5], [rest.clone(), whole, rest]);
        assert_eq!(write_loop.unwrap().handed_over_bytes, 24 << 10);
    }

    #[test]
    fn an_error_names_its_call_file_and_offset() {
        let failed = |results: &[(usize, u64, i32)]| {
            let (_, result) = run("sync-files=each", results);
            let error = result.map(|_| ()).unwrap_err();
            let failure = error.failure(writebench_model::Phase::Write, None);
            (
                failure.call,
                failure.path.unwrap_or_default(),
                failure.offset,
            )
        };
        let named = |call: &str, file: &str, offset| (call.to_owned(), file.to_owned(), offset);
        assert_eq!(
            failed(&[(FIRST, OPEN, -libc::EEXIST)]),
            named("io_uring openat", "writebench0000000", None)
        );
        let second = [
            (FIRST, CLOSE, 0),
            (SECOND, WRITE, 4096),
            (FIRST, CLOSE, 0),
            (SECOND, WRITE, -libc::EIO),
        ];
        assert_eq!(
            failed(&second),
            named("io_uring write", "writebench0000001", Some(4096))
        );
        assert_eq!(
            failed(&[(FIRST, WRITE, 0)]),
            named("io_uring write", "writebench0000000", Some(0))
        );
        assert_eq!(
            failed(&[(FIRST, SYNC, -libc::EINTR)]),
            named("io_uring fsync", "writebench0000000", None)
        );
        assert_eq!(
            failed(&[(FIRST, CLOSE, -libc::EIO)]),
            named("io_uring close", "writebench0000000", None)
        );
    }
}
