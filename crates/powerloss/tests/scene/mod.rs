//! A program on a filesystem, and the power losses while it runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use writebench_filesystems::{DiskKind, PrivateMounts};
use writebench_powerloss::{DiskRequest, Error, Limits, Replay, Request, Steps, cuts, record};

/// A program, what is there before it, and what it promises.
pub(crate) struct Scene<'s, A: Fn(&Path) -> Vec<PathBuf>> {
    pub(crate) kind: &'s str,
    pub(crate) mount_options: Option<&'s str>,
    pub(crate) words: Vec<String>,
    pub(crate) arguments: A,
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

impl<A: Fn(&Path) -> Vec<PathBuf>> Scene<'_, A> {
    /// With and without commits between the program's calls.
    pub(crate) fn play(&self) -> Result<Outcome> {
        let kind: DiskKind = self.kind.parse()?;
        let mounts = PrivateMounts::enter(&[])?;
        let mut outcome = Outcome::default();
        for steps in [Steps::Own, Steps::CommitEach] {
            self.add(&mounts, &kind, steps, &mut outcome)?;
        }
        Ok(outcome)
    }

    fn add(
        &self,
        mounts: &PrivateMounts,
        kind: &DiskKind,
        steps: Steps,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let set_up = |root: &Path| {
            (self.set_up)(root).map_err(|error| Error::Program {
                what: "the setup",
                how: format!("{error:#}"),
                said: None,
            })
        };
        let program = |root: &Path, _: &Path| {
            let mut command = Command::new(&self.words[0]);
            command.args(&self.words[1..]).args((self.arguments)(root));
            command
        };
        let request = Request {
            disk: DiskRequest {
                kind,
                mkfs_options: &[],
                mount_options: self.mount_options,
                disk_bytes: DISK_BYTES,
            },
            set_up: &set_up,
            program: &program,
            finish: &|_| {},
            is_durable_at_exit: !self.says_durable,
            steps,
            limits: LIMITS,
        };
        let recording = record(mounts, &request)?;
        ensure!(recording.ended.is_success(), "{:?}", recording.ended);
        let mut replay = Replay::of(mounts, &recording)?;
        let acts = recording.acts();
        for cut in &cuts(&recording, MOST, 1).chosen {
            let mut place = String::new();
            let checked = replay.check(cut, &mut |root, moment| {
                let (before, after) = acts.split_at(moment.acts);
                place = format!("after {:?}, before {:?}", before.last(), after.first());
                (self.check)(root, moment.durable)
            })?;
            outcome.checked += 1;
            if let Err(reason) = checked {
                outcome.broken.push(format!("{reason}, {steps:?}, {place}"));
            }
        }
        replay.end()?;
        Ok(())
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
