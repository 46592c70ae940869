//! A program on a filesystem, and the power losses while it runs.

mod qemu;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use writebench_filesystems::PrivateMounts;
use writebench_powerloss::{
    DiskRequest, Error, Limits, Recording, Replay, Request, Steps, cuts, record,
};

/// A program, what is there before it, and what it promises.
pub(crate) struct Scene<'s> {
    pub(crate) kind: &'s str,
    pub(crate) mount_options: Option<&'s str>,
    pub(crate) words: Vec<String>,
    pub(crate) arguments: &'s dyn Fn(&Path) -> Vec<PathBuf>,
    /// Whether the program itself says that its data is durable, and not by its end.
    pub(crate) says_durable: bool,
    pub(crate) set_up: &'s dyn Fn(&Path) -> Result<()>,
    /// Gets the number of times that the program has said that its data is durable.
    pub(crate) check: &'s dyn Fn(&Path, usize) -> Result<(), String>,
}

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) checked: usize,
    /// What was wrong, and between which calls.
    pub(crate) broken: Vec<String>,
}

const LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    is_stopped: || false,
};
const DISK_BYTES: u64 = 320 << 20;
const MOST: usize = 60;

impl Scene<'_> {
    /// With and without commits between the program's calls.
    pub(crate) fn play(&self) -> Result<Outcome> {
        let mounts = PrivateMounts::enter(&[])?;
        let mut outcome = Outcome::default();
        for steps in [Steps::Own, Steps::CommitEach] {
            let recording = self.record(&mounts, steps)?;
            self.judge(&mounts, &recording, &format!("{steps:?}"), &mut outcome)?;
        }
        Ok(outcome)
    }

    /// Without commits, on the disk of another program. The result has its recording, and one of our own.
    pub(crate) fn play_on_qemu(&self) -> Result<(Outcome, [Recording; 2])> {
        let mounts = PrivateMounts::enter(&[])?;
        let mut outcome = Outcome::default();
        let other = self.record_by_qemu(&mounts)?;
        self.judge(&mounts, &other, "qemu", &mut outcome)?;
        Ok((outcome, [other, self.record(&mounts, Steps::Own)?]))
    }

    fn record(&self, mounts: &PrivateMounts, steps: Steps) -> Result<Recording> {
        let set_up = |root: &Path| {
            (self.set_up)(root).map_err(|error| Error::Program {
                what: "the setup",
                how: format!("{error:#}"),
                said: None,
            })
        };
        let request = Request {
            disk: DiskRequest {
                kind: &self.kind.parse()?,
                mkfs_options: &[],
                mount_options: self.mount_options,
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

    fn record_by_qemu(&self, mounts: &PrivateMounts) -> Result<Recording> {
        let request = qemu::Request {
            kind: &self.kind.parse()?,
            mount_options: self.mount_options,
            disk_bytes: DISK_BYTES,
            set_up: self.set_up,
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
        how: &str,
        outcome: &mut Outcome,
    ) -> Result<()> {
        ensure!(recording.ended.is_success(), "{:?}", recording.ended);
        let mut replay = Replay::of(mounts, recording)?;
        let acts = recording.acts();
        for cut in &cuts(recording, MOST, 1).chosen {
            let mut place = String::new();
            let checked = replay.check(cut, &mut |root, moment| {
                let (before, after) = acts.split_at(moment.acts);
                place = format!("after {:?}, before {:?}", before.last(), after.first());
                (self.check)(root, moment.durable)
            })?;
            outcome.checked += 1;
            if let Err(reason) = checked {
                outcome.broken.push(format!("{reason}, {how}, {place}"));
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
