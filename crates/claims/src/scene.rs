//! A program on a filesystem, and the power losses while it runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;
use writebench_filesystems::PrivateMounts;
use writebench_powerloss::{
    DiskRequest, Error, Limits, Recording, Replay, Request, Steps, cuts, record,
};

use crate::filesystem::Filesystem;
use crate::qemu;

/// A program, what is there before it, and what it promises.
pub struct Scene {
    pub(crate) words: Vec<String>,
    pub(crate) arguments: Box<Arguments>,
    /// Whether the program itself says that its data is durable, and not by its end.
    pub(crate) says_durable: bool,
    pub(crate) set_up: Box<SetUp>,
    pub(crate) check: Box<Check>,
    /// The folder of the program and its data.
    pub(crate) _folder: TempDir,
}

/// All of these get the mount point.
pub(crate) type Arguments = dyn Fn(&Path) -> Vec<PathBuf>;
pub(crate) type SetUp = dyn Fn(&Path) -> Result<()>;

/// A check, which also gets the number of times that the program has said that its data is durable.
pub(crate) type Check = dyn Fn(&Path, usize) -> Result<(), String>;

/// The power losses that were tried.
#[derive(Debug, Default)]
pub struct Outcome {
    pub checked: usize,
    /// What was wrong, and between which calls.
    pub broken: Vec<String>,
}

const LIMITS: Limits = Limits {
    // A busy machine runs a program ten times slower.
    time: Duration::from_secs(600),
    is_stopped: || false,
};
const DISK_BYTES: u64 = 320 << 20;

impl Scene {
    /// Records the program with and without commits between its calls, and checks at most so many disks of each
    /// recording.
    pub fn play(&self, filesystem: Filesystem, most: usize) -> Result<Outcome> {
        let mounts = PrivateMounts::enter(&[])?;
        let mut outcome = Outcome::default();
        for steps in [Steps::Own, Steps::CommitEach] {
            let recording = self.record(&mounts, filesystem, steps)?;
            self.judge(&mounts, &recording, most, &mut outcome)
                .with_context(|| format!("{steps:?}"))?;
        }
        Ok(outcome)
    }

    /// Records and checks as well, but on the disk of another program, QEMU, and with no commits between calls. The
    /// result has its recording, and one of our own.
    pub fn play_on_qemu(
        &self,
        filesystem: Filesystem,
        most: usize,
    ) -> Result<(Outcome, [Recording; 2])> {
        let mounts = PrivateMounts::enter(&[])?;
        let mut outcome = Outcome::default();
        let other = self.record_by_qemu(&mounts, filesystem)?;
        self.judge(&mounts, &other, most, &mut outcome)?;
        let own = self.record(&mounts, filesystem, Steps::Own)?;
        Ok((outcome, [other, own]))
    }

    fn record(
        &self,
        mounts: &PrivateMounts,
        filesystem: Filesystem,
        steps: Steps,
    ) -> Result<Recording> {
        let set_up = |root: &Path| {
            (self.set_up)(root).map_err(|error| Error::Program {
                what: "the setup",
                how: format!("{error:#}"),
                said: None,
            })
        };
        let request = Request {
            disk: DiskRequest {
                kind: &filesystem.kind().parse()?,
                mkfs_options: &filesystem.mkfs_options(),
                mount_options: filesystem.mount_options(),
                disk_bytes: DISK_BYTES,
            },
            set_up: &set_up,
            program: &|root: &Path, _: &Path| self.command(root),
            finish: &|_| {},
            is_durable_at_exit: !self.says_durable,
            steps,
            limits: LIMITS,
        };
        Ok(record(mounts, &request)?)
    }

    fn record_by_qemu(&self, mounts: &PrivateMounts, filesystem: Filesystem) -> Result<Recording> {
        let request = qemu::Request {
            kind: &filesystem.kind().parse()?,
            mount_options: filesystem.mount_options(),
            disk_bytes: DISK_BYTES,
            set_up: &self.set_up,
            program: &|root: &Path| self.command(root),
            limits: LIMITS,
        };
        qemu::record(mounts, &request)
    }

    fn command(&self, root: &Path) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args((self.arguments)(root));
        command
    }

    /// Mounts the disks of a recording, and checks each.
    fn judge(
        &self,
        mounts: &PrivateMounts,
        recording: &Recording,
        most: usize,
        outcome: &mut Outcome,
    ) -> Result<()> {
        /// The same cuts in each run.
        const SEED: u64 = 1;
        recording.ended.expect_success("the program")?;
        let mut replay = Replay::of(mounts, recording)?;
        let acts = recording.acts();
        for cut in &cuts(recording, most, SEED).chosen {
            let mut place = String::new();
            let checked = replay.check(cut, &mut |root, moment| {
                let (before, after) = acts.split_at(moment.acts);
                place = format!("after {:?}, before {:?}", before.last(), after.first());
                (self.check)(root, moment.durable)
            })?;
            outcome.checked += 1;
            if let Err(reason) = checked {
                outcome.broken.push(format!("{reason}, {place}"));
            }
        }
        Ok(replay.end()?)
    }
}

/// Bytes that differ for each number and at each place.
pub(crate) fn bytes(number: u64, length: usize) -> Vec<u8> {
    let mut state = number;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// What a file has.
pub(crate) struct Content(Option<Vec<u8>>);

impl Content {
    pub(crate) fn of(path: &Path) -> Self {
        Self(std::fs::read(path).ok())
    }

    pub(crate) fn must_be(&self, allowed: &[&[u8]]) -> Result<(), String> {
        let is_allowed = self
            .0
            .as_ref()
            .is_some_and(|found| allowed.contains(&found.as_slice()));
        if is_allowed {
            Ok(())
        } else {
            Err(self.to_string())
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("absent"),
            Some(bytes) if bytes.is_empty() => f.write_str("empty"),
            Some(bytes) => {
                let zeros = bytes.iter().filter(|&&byte| byte == 0).count();
                write!(f, "{} other bytes, {zeros} zeros", bytes.len())
            }
        }
    }
}
