//! TARGET: a directory, or a block device that `--destroy` names.

use std::path::{Path, PathBuf};

use anyhow::Result;
use model::TargetRecord;
use runner::{ClaimedDevice, claim_device};

use crate::arguments::RunCommand;
use crate::copied::Copied;
use crate::exit;
use crate::output::Output;
use crate::probe_command::existing_path;

/// Where a run writes to.
pub enum Place {
    /// A directory, by its absolute path.
    Directory(PathBuf),
    /// A block device that may be written over.
    Device(PathBuf),
}

/// The same, and nobody else's any more.
pub enum Claimed {
    /// A directory: what is ours in it is made later.
    Directory(PathBuf),
    /// The same on a filesystem that the run made itself.
    OwnFilesystem(PathBuf),
    /// A device, held exclusively.
    Device(Box<ClaimedDevice>),
}

impl Place {
    /// What the command line names: one place or several different directories.
    pub fn find_all(command: &RunCommand, copied: Option<&Copied>) -> Result<Vec<Self>> {
        if let Some(target) = copied.and_then(Copied::target) {
            return Ok(vec![Self::find_again(target, command.destroy.as_deref())?]);
        }
        match command.target.as_slice() {
            [] => Ok(vec![Self::find_again(Path::new("."), command.destroy.as_deref())?]),
            [target] => Ok(vec![Self::find_again(target, command.destroy.as_deref())?]),
            targets => different_directories(targets, command.destroy.as_deref()),
        }
    }

    /// The place at that path.
    pub fn find_again(target: &Path, destroy: Option<&Path>) -> Result<Self> {
        let path = existing_path(target)?;
        match (path.is_dir(), destroy) {
            (true, None) => return Ok(Self::Directory(path)),
            (true, Some(device)) => {
                return Err(exit::usage(format!(
                    "--destroy {}: the target is the directory {}; name the device as TARGET, too",
                    device.display(),
                    path.display()
                )));
            }
            (false, _) => {}
        }
        let facts = probe::block_device(&path).map_err(|_| {
            exit::usage(format!("target {}: neither a directory nor a block device", target.display()))
        })?;
        let Some(destroy) = destroy else {
            return Err(exit::refused(format!(
                "target {} is a block device ({}): what is on it would be lost; if that is meant, add --destroy {}",
                target.display(),
                runner::device_description(&facts),
                target.display()
            )));
        };
        // By number: one device can have several names.
        if probe::block_device(destroy).ok().map(|named| named.number) != Some(facts.number) {
            return Err(exit::refused(format!(
                "--destroy {} does not name the target {}",
                destroy.display(),
                target.display()
            )));
        }
        Ok(Self::Device(path))
    }

    /// What it is in the database and in tables, with the facts about it.
    pub fn record(&self) -> Result<TargetRecord> {
        let path = self.path().display().to_string();
        let environment = probe::environment(self.path())?;
        let (name, limits) = (path.clone(), Vec::new());
        Ok(TargetRecord { name, path, environment, limits, making: None, properties: None })
    }

    /// Its path, if it is a directory.
    pub fn directory(&self) -> Option<PathBuf> {
        match self {
            Self::Directory(path) => Some(path.clone()),
            Self::Device(_) => None,
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::Device(path) => path,
        }
    }

    /// Takes it, if it is to be had.
    pub fn claim(self, destroy_data: bool, output: &Output) -> Result<Claimed> {
        Ok(match self {
            Self::Directory(path) => Claimed::Directory(path),
            Self::Device(path) => {
                let device = claim_device(&path, destroy_data)?;
                output.note(&format!("Writing over {}.", device.description()));
                Claimed::Device(Box::new(device))
            }
        })
    }
}

impl Claimed {
    /// Its path, if it is a directory.
    pub fn directory(&self) -> Option<PathBuf> {
        match self {
            Self::Directory(path) | Self::OwnFilesystem(path) => Some(path.clone()),
            Self::Device(_) => None,
        }
    }
}

/// Several targets can only be directories, each of them once.
pub fn different_directories(targets: &[PathBuf], destroy: Option<&Path>) -> Result<Vec<Place>> {
    if let Some(device) = destroy {
        return Err(exit::usage(format!(
            "--destroy {}: a device is measured alone; name it as the only TARGET",
            device.display()
        )));
    }
    let mut places: Vec<Place> = Vec::new();
    for target in targets {
        let place = match Place::find_again(target, None) {
            Ok(Place::Directory(path)) => path,
            Err(error) if !is_block_device(target) => return Err(error),
            _ => {
                return Err(exit::usage(format!(
                    "target {} is a block device: several targets have to be directories",
                    target.display()
                )));
            }
        };
        if places.iter().any(|other| other.path() == place) {
            return Err(exit::usage(format!("target {} is given twice", place.display())));
        }
        places.push(Place::Directory(place));
    }
    Ok(places)
}

fn is_block_device(path: &Path) -> bool {
    probe::block_device(path).is_ok()
}
