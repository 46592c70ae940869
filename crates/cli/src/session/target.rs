//! TARGET: a directory, or a block device that `--destroy` names.

use std::io::ErrorKind::PermissionDenied;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use clap::{Args, ValueHint};
use writebench_filesystems::FilesystemKind;
use writebench_model::{
    Case, Environment, Failure, FilesystemSpec, Reserve, TargetRecord, path_text,
};
use writebench_probe::Space;
use writebench_runner::{
    ClaimedDevice, Deadline, Inspection, PlannedTarget, RunnerError, TargetAgent, TargetKind,
    claim_device,
};

use super::measuring::MeasuringArguments;
use crate::arguments::WHERE;
use crate::exit::{refused, usage};
use crate::output::Output;
use crate::processes;

#[derive(Args, Default)]
pub(crate) struct DestroyArguments {
    /// Overwrite this block device, which is also the TARGET. Refused if it is in use or holds data
    #[arg(long, value_name = "DEVICE", value_hint = ValueHint::FilePath, help_heading = WHERE)]
    pub destroy: Option<PathBuf>,
    /// Overwrite the device even if it holds a filesystem or a partition table
    #[arg(long, requires = "destroy", help_heading = WHERE)]
    pub destroy_data: bool,
}

pub(crate) struct Target {
    inspection: Inspection,
    pub environment: Environment,
    reserve: Reserve,
    /// Holds a directory open, and makes all calls in it except those of samples. None for a block device.
    pub agent: Option<Box<TargetAgent>>,
    /// Set for a filesystem that the run made. No later run can find leftovers there.
    pub made: Option<(String, FilesystemSpec)>,
    /// Claimed for this run, as its only target.
    pub device: Option<ClaimedDevice>,
}

fn no_target(named: &Path) -> anyhow::Error {
    usage!(
        "target {} is neither a directory nor a block device. Give one of these",
        named.display()
    )
}

impl Target {
    pub(crate) fn find(
        path: &Path,
        destroy: Option<&Path>,
        measuring: &MeasuringArguments,
    ) -> Result<Self> {
        let target = Self::inspect_fit(path, measuring)?;
        if target.agent.is_none() {
            check_destroy_option(path, target.path(), destroy)?;
        } else if let Some(device) = destroy.map(Path::display) {
            let path = target.path().display();
            return Err(usage!(
                "--destroy {device}: the target is the directory {path}. Give the device as TARGET also"
            ));
        }
        target.check_writable()?;
        Ok(target)
    }

    /// Several targets must be different directories.
    pub(crate) fn find_different(
        paths: &[PathBuf],
        measuring: &MeasuringArguments,
    ) -> Result<Vec<Self>> {
        let mut targets: Vec<Self> = Vec::new();
        for path in paths {
            let target = Self::inspect_fit(path, measuring)?;
            let named = path.display();
            ensure!(
                target.agent.is_some(),
                usage!(
                    "target {named} is a block device. Measure it alone, or give directories only"
                )
            );
            let is_new = targets.iter().all(|other| other.path() != target.path());
            ensure!(
                is_new,
                usage!(
                    "target {} is given twice. Give it once",
                    target.path().display()
                )
            );
            target.check_writable()?;
            targets.push(target);
        }
        Ok(targets)
    }

    /// Checks the permission to create files, before a run is recorded.
    fn check_writable(&self) -> Result<()> {
        let Some(errno) = self.inspection.not_writable else {
            return Ok(());
        };
        let why = Failure::io_message(&std::io::Error::from_raw_os_error(errno));
        Err(anyhow!(
            "target {}: access: {why}. Give a directory that you can write to",
            self.path().display()
        ))
    }

    /// A filesystem made by the run needs no reserve.
    pub(crate) fn find_made(root: &Path, name: String, making: FilesystemSpec) -> Result<Self> {
        let measuring = MeasuringArguments {
            reserve: Reserve::NONE,
            ..MeasuringArguments::default()
        };
        Ok(Self {
            made: Some((name, making)),
            ..Self::find(root, None, &measuring)?
        })
    }

    /// Refuses a file, which `probe` accepts.
    fn inspect_fit(path: &Path, measuring: &MeasuringArguments) -> Result<Self> {
        let target = Self::inspect(path, measuring.timeout)?;
        ensure!(target.inspection.kind != TargetKind::Other, no_target(path));
        let filesystem = &target.environment.filesystem;
        ensure!(
            !filesystem.takes_no_files(),
            usage!(
                "target {} is on {}, a filesystem of the kernel's own that takes no files. Give a directory on a disk or \
                 in memory",
                path.display(),
                filesystem.kind
            )
        );
        Ok(Self {
            reserve: measuring.reserve,
            ..target
        })
    }

    pub(crate) fn inspect(path: &Path, limit: Option<Duration>) -> Result<Self> {
        let name = path.display();
        let inspected = TargetAgent::inspect(
            &processes::target_agent()?,
            path,
            Deadline::without_stop(limit),
        );
        let (agent, mut inspection) = inspected.map_err(|error| match error {
            RunnerError::Target { call, error, .. }
                if call == "realpath" && error.kind() != PermissionDenied =>
            {
                usage!(
                    "target {name}: {}. Give a directory that exists",
                    Failure::io_message(&error)
                )
            }
            RunnerError::Target { call, error, .. } if error.kind() == PermissionDenied => {
                anyhow!(
                    "target {name}: {call}: {}. Give a directory that you can open",
                    Failure::io_message(&error)
                )
            }
            error => error.into(),
        })?;
        let environment = inspection
            .environment
            .take()
            .ok_or_else(|| no_target(path))?;
        let agent = (inspection.kind == TargetKind::Directory).then(|| Box::new(agent));
        Ok(Self {
            inspection,
            environment,
            reserve: Reserve::NONE,
            agent,
            made: None,
            device: None,
        })
    }

    pub(crate) fn record(&self) -> TargetRecord {
        let path = path_text(self.path());
        let (name, made_filesystem) = self.made.clone().unzip();
        TargetRecord {
            name: name.unwrap_or_else(|| path.clone()),
            path,
            environment: self.environment.clone(),
            limits: Vec::new(),
            made_filesystem,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.inspection.path
    }

    /// None for a device, which is overwritten.
    pub(crate) fn space(&self) -> Option<Space> {
        self.inspection.space.filter(|_| self.agent.is_some())
    }

    /// Checks space, sectors and memory for the cases. Sources of copies exist at the same time on those of `all` that
    /// share the filesystem, unless the user gave one, whose copy takes `copy_bytes`.
    pub(crate) fn check(
        &self,
        cases: &[Case],
        copy_bytes: Option<u64>,
        all: &[Self],
    ) -> Result<()> {
        let copied = cases
            .iter()
            .filter(|case| case.method().has_source_file())
            .map(|case| case.given().size_bytes);
        let shares =
            |other: &&Self| other.inspection.filesystem_number == self.inspection.filesystem_number;
        let sharing = all.iter().filter(shares).count().max(1) as u64;
        let beside_bytes =
            copy_bytes.unwrap_or_else(|| copied.max().unwrap_or(0).saturating_mul(sharing));
        let path = self.path();
        let total_bytes = self.environment.filesystem.total_bytes;
        match self.space() {
            Some(space) => {
                writebench_runner::check_space(path, &space, cases, beside_bytes, self.reserve)?;
            }
            None => writebench_runner::check_device(path, total_bytes, cases)?,
        }
        writebench_runner::check_sectors(&self.environment, cases)?;
        Ok(writebench_runner::check_memory(
            &self.environment,
            cases,
            beside_bytes,
        )?)
    }

    pub(crate) fn check_claim(&self, destroy_data: bool) -> Result<()> {
        if self.agent.is_none() {
            writebench_runner::check_claim(self.path(), destroy_data)?;
        }
        Ok(())
    }

    pub(crate) fn claim(mut self, destroy_data: bool, output: &Output) -> Result<Self> {
        if self.agent.is_none() {
            let device = claim_device(self.path(), destroy_data)?;
            output.note(&format!(
                "Overwriting {}.",
                writebench_runner::device_description(&device.facts)
            ));
            self.device = Some(device);
        }
        Ok(self)
    }

    pub(crate) fn planned(&self) -> PlannedTarget {
        let device = self
            .environment
            .device
            .as_ref()
            .map(|device| device.number.clone());
        let making = self.made.as_ref().map(|(_, making)| making);
        let kind = making.and_then(|making| making.kind.parse::<FilesystemKind>().ok());
        PlannedTarget {
            name: self.record().name,
            path: self.path().to_path_buf(),
            device_number: device.or_else(|| making.and_then(device_below)),
            reserve: self.reserve,
            // A sync of a FUSE filesystem does not reach its server's files.
            sync_all: kind.is_some_and(|kind| kind.has_server()),
        }
    }
}

/// Checks the targets that the run did not make, and claims all.
pub(crate) fn check_and_claim(
    targets: Vec<Target>,
    cases: &[Case],
    copy_bytes: Option<u64>,
    destroy_data: bool,
    output: &Output,
) -> Result<Vec<Target>> {
    let mut found = targets.iter().filter(|target| target.made.is_none());
    found.try_for_each(|target| target.check(cases, copy_bytes, &targets))?;
    targets
        .into_iter()
        .map(|target| target.claim(destroy_data, output))
        .collect()
}

/// The device below overlay and FUSE, whose mounts do not name it.
fn device_below(making: &FilesystemSpec) -> Option<String> {
    let [image] = making.images.as_slice() else {
        return None;
    };
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", image.device)).ok()?;
    Some(number.trim_end().to_owned())
}

fn check_destroy_option(target: &Path, path: &Path, destroy: Option<&Path>) -> Result<()> {
    let facts = writebench_probe::block_device(path)?;
    let target = target.display();
    let Some(destroy) = destroy else {
        let device = writebench_runner::device_description(&facts);
        return Err(refused!(
            "target {target} is a block device ({device}), whose content would be lost. To overwrite it, add --destroy \
             {target}"
        ));
    };
    // By number: one device can have several names.
    let is_same =
        writebench_probe::block_device(destroy).is_ok_and(|named| named.number == facts.number);
    let destroy = destroy.display();
    ensure!(
        is_same,
        refused!(
            "--destroy {destroy} does not name the target {target}. Give the same device twice"
        )
    );
    Ok(())
}
