//! Another recorder: the driver `blklogwrites` of qemu-storage-daemon, whose log has the format of dm-log-writes.
//!
//! It shares no code with writebench's own disk. It knows nothing of the program, so writes beyond the filesystem mark
//! what the program has done.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use writebench_filesystems::{DiskKind, PrivateMounts};
use writebench_powerloss::{Ended, Event, Limits, Recording, run_to_end};
use writebench_testkit::{call, wait_for};

pub(crate) struct Request<'r> {
    pub(crate) kind: &'r DiskKind,
    pub(crate) mount_options: Option<&'r str>,
    pub(crate) disk_bytes: u64,
    pub(crate) set_up: &'r dyn Fn(&Path) -> Result<()>,
    /// The program, which says by its successful end that its data is durable. It gets the mount point.
    pub(crate) program: &'r dyn Fn(&Path) -> Command,
    pub(crate) limits: Limits,
}

/// The bytes behind the filesystem.
const MARKER_BYTES: usize = 4096;

const BEGIN: u8 = b'B';
const DURABLE: u8 = b'D';
const END: u8 = b'E';

/// Nothing is left however this ends: all files are in a filesystem of the private mount namespace, the loop device
/// detaches itself, and the daemon dies with this thread.
pub(crate) fn record(mounts: &PrivateMounts, request: &Request<'_>) -> Result<Recording> {
    let folder = mounts.point("qemu")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("writebench", &folder, "tmpfs", flags, None).context("mount a tmpfs for qemu")?;
    let recorded = record_in(&folder, &mounts.point("filesystem")?, request);
    unmount(&folder, UnmountFlags::DETACH).context("unmount qemu's tmpfs")?;
    recorded
}

fn record_in(folder: &Path, point: &Path, request: &Request<'_>) -> Result<Recording> {
    let image = folder.join("image");
    let mut events = formatted(&image, request)?;
    let daemon = Daemon::start(folder, request.disk_bytes + MARKER_BYTES as u64)?;
    mount_loop(&daemon.export, point, request)?;
    let ended = run_on(point, &daemon, request);
    writebench_testkit::unmount(point)?;
    events.extend(log_events(
        &std::fs::read(&daemon.log)?,
        request.disk_bytes,
    )?);
    Ok(Recording {
        kind: request.kind.clone(),
        mount_options: request.mount_options.map(str::to_owned),
        disk_bytes: request.disk_bytes,
        events,
        ended: ended?,
    })
}

/// Makes the filesystem in a new file. The result is what is on the disk then.
fn formatted(image: &Path, request: &Request<'_>) -> Result<Vec<Event>> {
    const CHUNK_BYTES: usize = 64 << 10;
    let file = File::create_new(image)?;
    file.set_len(request.disk_bytes)?;
    let mut mkfs = Command::new(format!("mkfs.{}", request.kind));
    call(mkfs.arg("-q").arg(image))?;
    let bytes = std::fs::read(image)?;
    file.set_len(request.disk_bytes + MARKER_BYTES as u64)?;
    let chunks = bytes.chunks(CHUNK_BYTES).enumerate();
    let used = chunks.filter(|(_, chunk)| chunk.iter().any(|&byte| byte != 0));
    let event = |(number, chunk): (usize, &[u8])| Event::Write {
        offset: number * CHUNK_BYTES,
        data: chunk.into(),
    };
    Ok(used.map(event).collect())
}

/// The loop device detaches itself after the unmount. It uses the page cache.
fn mount_loop(export: &Path, point: &Path, request: &Request<'_>) -> Result<()> {
    let options = match request.mount_options {
        Some(options) => format!("loop,{options}"),
        None => "loop".to_owned(),
    };
    let mut mount = Command::new("mount");
    mount.args(["-t", &request.kind.to_string(), "-o", &options]);
    call(mount.arg(export).arg(point))
}

fn run_on(point: &Path, daemon: &Daemon, request: &Request<'_>) -> Result<Ended> {
    (request.set_up)(point)?;
    let root = File::open(point)?;
    rustix::fs::syncfs(&root)?;
    daemon.mark(BEGIN, request.disk_bytes)?;
    let ended = run_to_end((request.program)(point), request.limits)?;
    daemon.mark(DURABLE, request.disk_bytes)?;
    rustix::fs::syncfs(&root)?;
    daemon.mark(END, request.disk_bytes)?;
    Ok(ended)
}

/// qemu-storage-daemon, with a disk as a file in FUSE. It ends with a drop.
struct Daemon {
    process: Child,
    export: PathBuf,
    log: PathBuf,
}

impl Daemon {
    fn start(folder: &Path, bytes: u64) -> Result<Self> {
        let at = |name: &str| folder.join(name);
        let (export, log) = (at("export"), at("log"));
        File::create_new(&export)?;
        File::create_new(&log)?;
        // It dies with the thread that starts it.
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "qemu-storage-daemon"])
            .arg("--blockdev")
            .arg(format!(
                "driver=file,node-name=image,filename={}",
                at("image").display()
            ))
            .arg("--blockdev")
            .arg(format!(
                "driver=file,node-name=log,filename={}",
                log.display()
            ))
            .args([
                "--blockdev",
                "driver=blklogwrites,node-name=disk,file=image,log=log",
            ])
            .arg("--export")
            .arg(format!(
                "type=fuse,id=export,node-name=disk,mountpoint={},writable=on",
                export.display()
            ))
            .stdin(Stdio::null());
        let mut daemon = Self {
            process: command.spawn().context("start setpriv")?,
            export,
            log,
        };
        match wait_for("qemu-storage-daemon", || daemon.begun(bytes))? {
            None => Ok(daemon),
            Some(status) => bail!("qemu-storage-daemon ended with {status}"),
        }
    }

    /// How it has ended, or `Some(None)` once the export is mounted.
    fn begun(&mut self, bytes: u64) -> Option<Option<ExitStatus>> {
        match self.process.try_wait() {
            Ok(None) => {
                let metadata = self.export.metadata().ok()?;
                (metadata.len() == bytes).then_some(None)
            }
            Ok(status) => Some(status),
            Err(_) => Some(Some(ExitStatus::from_raw(0))),
        }
    }

    /// The close is a flush in the log, so the file must not be open while the program runs: its start would be another.
    fn mark(&self, what: u8, place: u64) -> Result<()> {
        let export = OpenOptions::new().write(true).open(&self.export)?;
        Ok(export.write_all_at(&[what; MARKER_BYTES], place)?)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// `struct log_write_super` and `struct log_write_entry` of the kernel's drivers/md/dm-log-writes.c.
const MAGIC: u64 = 0x006a_7366_7773_6872;
const IS_FLUSH: usize = 1;
const IS_DISCARD: usize = 4;

/// Reads a log. A write beyond the disk is a marker.
fn log_events(log: &[u8], disk_bytes: u64) -> Result<Vec<Event>> {
    let disk_bytes = usize::try_from(disk_bytes)?;
    ensure!(
        log.starts_with(&MAGIC.to_le_bytes()),
        "no log of dm-log-writes"
    );
    let entries = number(log, 16)?;
    let sector_bytes = number(log, 24)? & 0xffff_ffff;
    let mut events = Vec::new();
    let mut at = sector_bytes;
    for _ in 0..entries {
        let offset = number(log, at)? * sector_bytes;
        let length = number(log, at + 8)? * sector_bytes;
        let flags = number(log, at + 16)?;
        at += sector_bytes;
        if flags & IS_FLUSH != 0 {
            events.push(Event::Flush);
        }
        if flags & IS_DISCARD != 0 {
            events.push(Event::Discard { offset, length });
        } else if length > 0 {
            let data = log.get(at..at + length).context("the log is cut off")?;
            at += length;
            events.push(match data[0] {
                _ if offset < disk_bytes => Event::Write {
                    offset,
                    data: data.into(),
                },
                BEGIN => Event::Begin,
                DURABLE => Event::Durable,
                END => Event::End,
                other => bail!("a marker with {other}"),
            });
        }
    }
    ensure!(events.contains(&Event::End), "the log ends early");
    Ok(events)
}

/// The number of 8 bytes at a place.
fn number(log: &[u8], at: usize) -> Result<usize> {
    let bytes = log.get(at..at + 8).context("the log is cut off")?;
    Ok(usize::try_from(u64::from_le_bytes(bytes.try_into()?))?)
}
