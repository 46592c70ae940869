//! TARGET: a directory, or a block device that `--destroy` names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use clap::{Args, ValueHint};
use writebench_filesystems::FilesystemKind;
use writebench_model::{Case, Environment, Failure, FilesystemSpec, Reserve, TargetRecord, path_text};
use writebench_probe::Space;
use writebench_runner::{
    ClaimedDevice, Deadline, Inspection, PlannedTarget, RunnerError, TargetHelper, TargetKind, claim_device,
};

use crate::exit::{refused, usage};
use crate::output::Output;
use crate::processes;

#[derive(Args, Default)]
pub(crate) struct DestroyArguments {
    /// Overwrite a block device: name it a second time. Refused if it is in use or carries data
    #[arg(long, value_name = "DEVICE", value_hint = ValueHint::FilePath)]
    pub destroy: Option<PathBuf>,
    /// Overwrite it even if it carries a filesystem or a partition table
    #[arg(long, requires = "destroy")]
    pub destroy_data: bool,
}

/// Where a run writes to, as it was found.
pub(crate) struct Target {
    inspection: Inspection,
    pub environment: Environment,
    /// Holds a directory open; none for a block device, which may be written over.
    helper: Option<Box<TargetHelper>>,
    /// The name and making of a filesystem that the run made.
    made: Option<(String, FilesystemSpec)>,
}

fn no_target(named: &Path) -> anyhow::Error {
    usage!("target {}: neither a directory nor a block device; give one of these", named.display())
}

/// A target that belongs to this run alone.
pub(crate) struct AcquiredTarget {
    /// The facts that samples need.
    pub planned: PlannedTarget,
    /// The free space of a directory's filesystem at the first look.
    pub space: Option<Space>,
    /// Whether the run made its filesystem, so that no later run could find anything there.
    pub is_made: bool,
    /// Makes all calls in a directory that are no sample's, and a directory for the run.
    pub helper: Option<Box<TargetHelper>>,
    /// The claim of a device, which has no helper. A device is the only target of its run.
    pub device: Option<ClaimedDevice>,
}

impl Target {
    /// Finds the target at that path, if it answers within `limit`.
    pub(crate) fn find(path: &Path, destroy: Option<&Path>, limit: Option<Duration>) -> Result<Self> {
        let target = Self::inspect_fit(path, limit)?;
        match destroy {
            _ if target.helper.is_none() => check_destroy_option(path, target.path(), destroy)?,
            Some(device) => {
                let (device, path) = (device.display(), target.path().display());
                return Err(usage!(
                    "--destroy {device}: the target is the directory {path}; name the device as TARGET, too"
                ));
            }
            None => {}
        }
        target.check_writable()?;
        Ok(target)
    }

    /// Several targets can only be directories, each of them once.
    pub(crate) fn find_different(paths: &[PathBuf], limit: Option<Duration>) -> Result<Vec<Self>> {
        let mut targets: Vec<Self> = Vec::new();
        for path in paths {
            let target = Self::inspect_fit(path, limit)?;
            if target.helper.is_none() {
                let path = path.display();
                return Err(usage!("target {path} is a block device: several targets have to be directories"));
            }
            if targets.iter().any(|other| other.path() == target.path()) {
                return Err(usage!("target {} is given twice", target.path().display()));
            }
            target.check_writable()?;
            targets.push(target);
        }
        Ok(targets)
    }

    /// Whether this user may make files there, before a run is recorded that could not begin.
    fn check_writable(&self) -> Result<()> {
        let Some(errno) = self.inspection.not_writable else { return Ok(()) };
        let why = Failure::io_message(&std::io::Error::from_raw_os_error(errno));
        Err(anyhow!("target {}: access: {why}; give a directory that you can write to", self.path().display()))
    }

    /// The root of a filesystem that the run made.
    pub(crate) fn find_made(root: &Path, name: String, making: FilesystemSpec) -> Result<Self> {
        Ok(Self { made: Some((name, making)), ..Self::find(root, None, None)? })
    }

    /// Looks at it, and refuses a file, whose facts `probe` shows nevertheless.
    fn inspect_fit(path: &Path, limit: Option<Duration>) -> Result<Self> {
        let target = Self::inspect(path, limit)?;
        if target.inspection.kind == TargetKind::Other { Err(no_target(path)) } else { Ok(target) }
    }

    /// Looks at a path that is named as a target.
    pub(crate) fn inspect(path: &Path, limit: Option<Duration>) -> Result<Self> {
        let name = path.display();
        let inspected =
            TargetHelper::inspect(&processes::target_helper()?, path, Deadline::without_stop(limit));
        let (helper, mut inspection) = inspected.map_err(|error| match error {
            RunnerError::Target { call, error, .. } if call == "realpath" => {
                usage!("target {name}: {}; give a directory that exists", Failure::io_message(&error))
            }
            error => error.into(),
        })?;
        let environment = inspection.environment.take().ok_or_else(|| no_target(path))?;
        let helper = (inspection.kind == TargetKind::Directory).then(|| Box::new(helper));
        Ok(Self { inspection, environment, helper, made: None })
    }

    /// The target's record for the database and tables.
    pub(crate) fn record(&self) -> TargetRecord {
        let path = path_text(self.path());
        let (name, making) = self.made.clone().unzip();
        TargetRecord {
            name: name.unwrap_or_else(|| path.clone()),
            path,
            environment: self.environment.clone(),
            limits: Vec::new(),
            making,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.inspection.path
    }

    /// The space that a directory's filesystem has left; none for a device, which is written over.
    pub(crate) fn space(&self) -> Option<Space> {
        self.inspection.space.filter(|_| self.helper.is_some())
    }

    /// The reserve, unless the run made the filesystem, which goes with the run.
    fn reserve(&self, asked: Reserve) -> Reserve {
        if self.made.is_some() { Reserve::NONE } else { asked }
    }

    /// Whether the target, the device and the memory are enough for the cases. On those of `all` that share its
    /// filesystem, files to be copied stand at the same time, unless one was given, whose copy takes `copy_bytes`.
    pub(crate) fn check(
        &self,
        cases: &[Case],
        copy_bytes: Option<u64>,
        reserve: Reserve,
        all: &[Self],
    ) -> Result<()> {
        let copied =
            cases.iter().filter(|case| case.method().has_source_file()).map(|case| case.axes().size_bytes);
        let shares = |other: &&Self| other.inspection.filesystem_number == self.inspection.filesystem_number;
        let sharing = all.iter().filter(shares).count().max(1) as u64;
        let beside_bytes = copy_bytes.unwrap_or_else(|| copied.max().unwrap_or(0).saturating_mul(sharing));
        let (path, total_bytes) = (self.path(), self.environment.filesystem.total_bytes);
        match self.space() {
            Some(space) => {
                writebench_runner::check_space(path, &space, cases, beside_bytes, self.reserve(reserve))?;
            }
            None => writebench_runner::check_device(path, total_bytes, cases)?,
        }
        writebench_runner::check_sectors(&self.environment, cases)?;
        Ok(writebench_runner::check_memory(&self.environment, cases, beside_bytes)?)
    }

    /// Refuses a device that could not be claimed now.
    pub(crate) fn check_claim(&self, destroy_data: bool) -> Result<()> {
        match self.helper {
            Some(_) => Ok(()),
            None => Ok(writebench_runner::check_claim(&self.inspection.path, destroy_data)?),
        }
    }

    /// Claims the target, if it is free.
    pub(crate) fn claim(self, destroy_data: bool, reserve: Reserve, output: &Output) -> Result<AcquiredTarget> {
        let device = self.environment.device.as_ref().map(|device| device.number.clone());
        let making = self.made.as_ref().map(|(_, making)| making);
        let planned = PlannedTarget {
            path: self.inspection.path.clone(),
            device_number: device.or_else(|| making.and_then(device_below)),
            reserve: self.reserve(reserve),
            // The kernel syncs a FUSE filesystem without asking its server to sync what it has written elsewhere.
            sync_all: making
                .is_some_and(|making| making.kind.parse().is_ok_and(|kind: FilesystemKind| kind.has_server())),
        };
        let (space, is_made) = (self.space(), self.made.is_some());
        let device = self.helper.is_none().then(|| claim_device(self.path(), destroy_data)).transpose()?;
        if let Some(device) = &device {
            output.note(&format!("Writing over {}.", writebench_runner::device_description(device.facts())));
        }
        Ok(AcquiredTarget { planned, space, is_made, helper: self.helper, device })
    }
}

/// Claims all targets, if those that the run did not make are enough for the cases.
pub(crate) fn check_and_claim(
    targets: Vec<Target>,
    cases: &[Case],
    (copy_bytes, reserve): (Option<u64>, Reserve),
    destroy_data: bool,
    output: &Output,
) -> Result<Vec<AcquiredTarget>> {
    for target in targets.iter().filter(|target| target.made.is_none()) {
        target.check(cases, copy_bytes, reserve, &targets)?;
    }
    targets.into_iter().map(|target| target.claim(destroy_data, reserve, output)).collect()
}

/// Suites may count in blocks: a multiple of the largest block is a multiple of all.
pub(crate) fn largest_block(targets: &[Target]) -> u64 {
    targets.iter().map(|target| target.environment.filesystem.block_size_bytes).max().unwrap_or(1)
}

/// The one device below what a run made, where the mount does not name it: below overlay and FUSE.
fn device_below(making: &FilesystemSpec) -> Option<String> {
    let [image] = making.images.as_slice() else { return None };
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", image.device)).ok()?;
    Some(number.trim_end().to_owned())
}

/// Whether `--destroy` names the block device at `path`, too.
fn check_destroy_option(target: &Path, path: &Path, destroy: Option<&Path>) -> Result<()> {
    let (facts, target) = (writebench_probe::block_device(path)?, target.display());
    let Some(destroy) = destroy else {
        let device = writebench_runner::device_description(&facts);
        return Err(refused!(
            "target {target} is a block device ({device}): what is on it would be lost; if that is meant, add --destroy \
             {target}"
        ));
    };
    // By number: one device can have several names.
    if writebench_probe::block_device(destroy).ok().map(|named| named.number) != Some(facts.number) {
        return Err(refused!("--destroy {} does not name the target {target}", destroy.display()));
    }
    Ok(())
}
