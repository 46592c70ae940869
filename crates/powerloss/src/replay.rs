//! Mounts the disks that a power loss could leave.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use writebench_filesystems::{Disk, PrivateMounts};

use crate::cuts::{Arrived, Cut};
use crate::disk::{Content, DiskFile};
use crate::error::Error;
use crate::event::{Act, Event, Recording};
use crate::record::Points;

/// What the program had done when the power was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// How often the program had said that its data is durable.
    pub durable: usize,
    /// How many of the [acts](Recording::acts) of the program were over.
    pub acts: usize,
}

/// A disk that can have each state of a recording.
pub struct Replay<'r> {
    recording: &'r Recording,
    points: Points,
    // The loop device goes before the file below it.
    disk: Option<Disk>,
    file: DiskFile,
    /// The events before this one are on the disk.
    applied: usize,
}

impl<'r> Replay<'r> {
    /// # Errors
    ///
    /// The disk cannot be made.
    pub fn of(mounts: &PrivateMounts, recording: &'r Recording) -> Result<Self, Error> {
        let points = Points::make(mounts)?;
        let file = DiskFile::replaying(&points.disk, recording.disk_bytes)?;
        let disk = Disk::attach(
            &recording.kind,
            file.open()?,
            &file.path(),
            recording.disk_bytes,
        )?;
        Ok(Self {
            recording,
            points,
            disk: Some(disk),
            file,
            applied: 0,
        })
    }

    /// Mounts the disk of a cut, and calls `check` with the mount point. Cuts must come in the order of their moments.
    /// The inner error is the reason why the program's promise is broken, or why the filesystem does not mount.
    ///
    /// # Errors
    ///
    /// The disk cannot be used any more.
    pub fn check(
        &mut self,
        cut: &Cut,
        check: &mut dyn FnMut(&Path, Moment) -> Result<(), String>,
    ) -> Result<Result<(), String>, Error> {
        let undo = self.cut(cut);
        let result = self.check_disk(moment(self.recording, cut), check);
        undo.apply(&mut self.file.content().lock());
        result
    }

    /// Writes the disk of a cut into a new file, which `mount -o loop` takes. It has holes instead of zeros.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub fn save(&mut self, cut: &Cut, path: &Path) -> Result<(), Error> {
        let undo = self.cut(cut);
        let saved = save(self.file.content().lock().image(), path);
        undo.apply(&mut self.file.content().lock());
        saved.map_err(|error| Error::call("keep a disk", "write", path, error))
    }

    /// `xfs-48.img`
    #[must_use]
    pub fn image_name(&self, number: usize) -> String {
        format!("{}-{number}.img", self.recording.kind)
    }

    /// Detaches the disk.
    ///
    /// # Errors
    ///
    /// It is still in use after 10 s.
    pub fn end(mut self) -> Result<(), Error> {
        match self.disk.take() {
            Some(disk) => Ok(disk.detach()?),
            None => Ok(()),
        }
    }

    /// Brings the disk into the state of the cut.
    fn cut(&mut self, cut: &Cut) -> Undo {
        let content = self.file.content();
        let mut content = content.lock();
        content.forget_mount();
        let events = &self.recording.events;
        for event in &events[self.applied..cut.flushed.max(self.applied)] {
            apply(&mut content, event, None);
        }
        self.applied = self.applied.max(cut.flushed);
        let mut undo = Undo::default();
        for Arrived { event, parts } in &cut.arrived {
            let event = &events[*event];
            undo.remember(&mut content, event);
            apply(&mut content, event, parts.as_deref());
        }
        undo
    }

    fn check_disk(
        &self,
        moment: Moment,
        check: &mut dyn FnMut(&Path, Moment) -> Result<(), String>,
    ) -> Result<Result<(), String>, Error> {
        let Some(disk) = &self.disk else {
            return Ok(Ok(()));
        };
        let point = &self.points.filesystem;
        disk.forget()?;
        if let Err(error) = disk.repair() {
            return Ok(Err(error.to_string()));
        }
        if let Err(error) = disk.mount(point, self.recording.mount_options.as_deref()) {
            return Ok(Err(error.to_string()));
        }
        let checked = check(point, moment);
        disk.unmount(point)?;
        Ok(checked)
    }
}

/// What the program had done before a cut.
fn moment(recording: &Recording, cut: &Cut) -> Moment {
    let over: Vec<Act<'_>> = recording.events[..cut.until]
        .iter()
        .filter_map(Event::act)
        .collect();
    // The end changes nothing unless it is a promise, so the disks before and after it are of one window.
    let ended = usize::from(over.last() == Some(&Act::Exit));
    Moment {
        durable: over.iter().filter(|act| **act == Act::Durable).count(),
        acts: over.len() - ended,
    }
}

fn apply(content: &mut Content, event: &Event, parts: Option<&[Range<usize>]>) {
    let image = content.image();
    match event {
        Event::Write { offset, data } => {
            let whole = 0..data.len();
            for part in parts.unwrap_or(std::slice::from_ref(&whole)) {
                image[offset + part.start..offset + part.end].copy_from_slice(&data[part.clone()]);
            }
        }
        Event::Discard { offset, length } => image[*offset..offset + length].fill(0),
        _ => {}
    }
}

/// The bytes before a cut, to take it back.
#[derive(Default)]
struct Undo(Vec<(usize, Vec<u8>)>);

impl Undo {
    fn remember(&mut self, content: &mut Content, event: &Event) {
        let range = match event {
            Event::Write { offset, data } => *offset..offset + data.len(),
            Event::Discard { offset, length } => *offset..offset + length,
            _ => return,
        };
        self.0.push((range.start, content.image()[range].to_vec()));
    }

    fn apply(self, content: &mut Content) {
        content.forget_mount();
        for (offset, bytes) in self.0.into_iter().rev() {
            content.image()[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
    }
}

fn save(image: &[u8], path: &Path) -> std::io::Result<()> {
    const CHUNK_BYTES: usize = 64 << 10;
    let mut file = File::create_new(path)?;
    for (number, chunk) in image.chunks(CHUNK_BYTES).enumerate() {
        if chunk.iter().any(|&byte| byte != 0) {
            file.seek(SeekFrom::Start((number * CHUNK_BYTES) as u64))?;
            file.write_all(chunk)?;
        }
    }
    file.set_len(image.len() as u64)?;
    file.sync_all()
}
