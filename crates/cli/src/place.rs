//! TARGET: a directory, or a block device that `--destroy` names.

use std::path::{Path, PathBuf};

use anyhow::Result;
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
    /// A device, held exclusively.
    Device(Box<ClaimedDevice>),
}

impl Place {
    /// What the command line names.
    pub fn find(command: &RunCommand, copied: Option<&Copied>) -> Result<Self> {
        let given = command.target.as_deref().unwrap_or(Path::new("."));
        let target = copied.and_then(Copied::target).unwrap_or(given);
        Self::find_again(target, command.destroy.as_deref())
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
                "target {} is a block device: what is on it would be lost; if that is meant, add --destroy {}",
                target.display(),
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
