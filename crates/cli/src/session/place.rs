//! TARGET: a directory, or a block device that `--destroy` names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use writebench_model::{Environment, TargetRecord};
use writebench_probe::Space;
use writebench_runner::{ClaimedDevice, Keeper, Look, Patience, RunnerError, TargetKind, claim_device};

use crate::arguments::RunCommand;
use crate::exit;
use crate::keeper;
use crate::output::Output;
use crate::session::copied::Copied;

/// Where a run writes to, as it was found.
pub struct Place {
    look: Look,
    environment: Environment,
    kind: Kind,
    is_own_filesystem: bool,
}

enum Kind {
    /// A directory, which its keeper holds open.
    Directory(Box<Keeper>),
    /// A block device that may be written over.
    Device,
}

/// The same, and nobody else's any more.
pub enum Claimed {
    /// A directory, in which the run makes one of its own.
    Directory(Box<KeptDirectory>),
    /// A device, held exclusively.
    Device(Box<ClaimedDevice>),
}

/// A directory in which the run makes one of its own.
pub struct KeptDirectory {
    /// It makes all calls there that are no sample's.
    pub keeper: Keeper,
    /// Where it is.
    pub path: PathBuf,
    /// The space that its filesystem had left when it was looked at.
    pub space: Option<Space>,
    /// Whether the run made its filesystem, so that no later run could find anything there.
    pub is_own_filesystem: bool,
}

impl Place {
    /// What the command line names: one place or several different directories.
    pub fn find_all(command: &RunCommand, copied: Option<&Copied>) -> Result<Vec<Self>> {
        let (destroy, limit) = (command.destroy.as_deref(), command.measuring.timeout);
        if let Some(target) = copied.and_then(Copied::target) {
            return Ok(vec![Self::find_again(target, destroy, limit)?]);
        }
        match command.target.as_slice() {
            [] => Ok(vec![Self::find_again(Path::new("."), destroy, limit)?]),
            [target] => Ok(vec![Self::find_again(target, destroy, limit)?]),
            targets => different_directories(targets, destroy, limit),
        }
    }

    /// The place at that path, if it answers within `limit`.
    pub fn find_again(target: &Path, destroy: Option<&Path>, limit: Option<Duration>) -> Result<Self> {
        let (keeper, look) = look_at(target, limit)?;
        let kind = match (look.kind, destroy) {
            (TargetKind::Directory, None) => Kind::Directory(Box::new(keeper)),
            (TargetKind::Directory, Some(device)) => {
                return Err(exit::usage(format!(
                    "--destroy {}: the target is the directory {}; name the device as TARGET, too",
                    device.display(),
                    look.path.display()
                )));
            }
            (TargetKind::BlockDevice, destroy) => {
                check_device_is_meant(target, &look.path, destroy)?;
                Kind::Device
            }
            (TargetKind::Other, _) => return Err(no_target(target)),
        };
        Self::new(target, look, kind)
    }

    /// The root of a filesystem that the run made.
    pub fn find_own_filesystem(root: &Path) -> Result<Self> {
        Ok(Self { is_own_filesystem: true, ..Self::find_again(root, None, None)? })
    }

    fn new(target: &Path, look: Look, kind: Kind) -> Result<Self> {
        let environment = look.environment.clone().ok_or_else(|| no_target(target))?;
        Ok(Self { look, environment, kind, is_own_filesystem: false })
    }

    /// What it is in the database and in tables, with the facts about it.
    pub fn record(&self) -> TargetRecord {
        let path = self.path().display().to_string();
        let environment = self.environment.clone();
        TargetRecord {
            name: path.clone(),
            path,
            environment,
            limits: Vec::new(),
            making: None,
            properties: None,
        }
    }

    /// The space that a directory's filesystem has left; none for a device, which is written over.
    pub fn space(&self) -> Option<Space> {
        match self.kind {
            Kind::Directory(_) => self.look.space,
            Kind::Device => None,
        }
    }

    /// Whether it is a device.
    pub fn is_device(&self) -> bool {
        matches!(self.kind, Kind::Device)
    }

    /// Whether files on the one take space of the other.
    pub fn shares_filesystem_with(&self, other: &Self) -> bool {
        self.look.filesystem_number == other.look.filesystem_number
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.look.path
    }

    /// Takes it, if it is to be had.
    pub fn claim(self, destroy_data: bool, output: &Output) -> Result<Claimed> {
        let space = self.space();
        Ok(match self.kind {
            Kind::Directory(keeper) => Claimed::Directory(Box::new(KeptDirectory {
                keeper: *keeper,
                path: self.look.path,
                space,
                is_own_filesystem: self.is_own_filesystem,
            })),
            Kind::Device => {
                let device = claim_device(&self.look.path, destroy_data)?;
                output.note(&format!("Writing over {}.", device.description()));
                Claimed::Device(Box::new(device))
            }
        })
    }
}

impl Claimed {
    /// Its path, if it is a directory.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory(directory) => Some(&directory.path),
            Self::Device(_) => None,
        }
    }

    /// Its keeper, if it is a directory.
    pub fn keeper(&self) -> Option<&Keeper> {
        match self {
            Self::Directory(directory) => Some(&directory.keeper),
            Self::Device(_) => None,
        }
    }

    /// The space that its filesystem had left, if it is a directory.
    pub fn space(&self) -> Option<Space> {
        match self {
            Self::Directory(directory) => directory.space,
            Self::Device(_) => None,
        }
    }
}

/// Looks at a path that is named as a target.
pub fn look_at(target: &Path, limit: Option<Duration>) -> Result<(Keeper, Look)> {
    let looked = Keeper::look_at(&keeper::command()?, target, Patience::without_stop(limit));
    looked.map_err(|error| match error {
        RunnerError::Target { call, error, .. } if call == "realpath" => {
            let why = exit::meaning(&error);
            exit::usage(format!("target {}: {why}; give a directory that exists", target.display()))
        }
        error => error.into(),
    })
}

fn no_target(target: &Path) -> anyhow::Error {
    exit::usage(format!("target {}: neither a directory nor a block device", target.display()))
}

/// Whether `--destroy` names the block device at `path`, too.
fn check_device_is_meant(target: &Path, path: &Path, destroy: Option<&Path>) -> Result<()> {
    let facts = writebench_probe::block_device(path)?;
    let Some(destroy) = destroy else {
        return Err(exit::refused(format!(
            "target {} is a block device ({}): what is on it would be lost; if that is meant, add --destroy {}",
            target.display(),
            writebench_runner::device_description(&facts),
            target.display()
        )));
    };
    // By number: one device can have several names.
    if writebench_probe::block_device(destroy).ok().map(|named| named.number) != Some(facts.number) {
        return Err(exit::refused(format!(
            "--destroy {} does not name the target {}",
            destroy.display(),
            target.display()
        )));
    }
    Ok(())
}

/// Several targets can only be directories, each of them once.
pub fn different_directories(
    targets: &[PathBuf],
    destroy: Option<&Path>,
    limit: Option<Duration>,
) -> Result<Vec<Place>> {
    if let Some(device) = destroy {
        return Err(exit::usage(format!(
            "--destroy {}: a device is measured alone; name it as the only TARGET",
            device.display()
        )));
    }
    let mut places: Vec<Place> = Vec::new();
    for target in targets {
        let (keeper, look) = look_at(target, limit)?;
        let place = match look.kind {
            TargetKind::Directory => Place::new(target, look, Kind::Directory(Box::new(keeper)))?,
            TargetKind::BlockDevice => {
                return Err(exit::usage(format!(
                    "target {} is a block device: several targets have to be directories",
                    target.display()
                )));
            }
            TargetKind::Other => return Err(no_target(target)),
        };
        if places.iter().any(|other| other.path() == place.path()) {
            return Err(exit::usage(format!("target {} is given twice", place.path().display())));
        }
        places.push(place);
    }
    Ok(places)
}
