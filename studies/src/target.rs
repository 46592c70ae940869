use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use writebench_model::Bytes;
use writebench_testkit::command::{folder_for, printed};
use writebench_testkit::{Image, Kind, LoopDevice};

use crate::program::{self, Bench};

#[derive(clap::Args)]
pub(crate) struct Targets {
    /// Directories to write to [default: /dev/shm and a folder in cargo's target directory]
    targets: Vec<PathBuf>,
    /// Also new filesystems of these kinds, in image files, such as xfs. Without directories, only these
    #[arg(long = "image", value_name = "KIND")]
    images: Vec<String>,
}

impl Targets {
    /// Returns whether all targets are good. `name` is the folder on cargo's disk.
    pub(crate) fn each(
        &self,
        name: &str,
        image_size: Bytes,
        mut measure: impl FnMut(Bench<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let program = program::build()?;
        let mut good = true;
        if !self.targets.is_empty() || self.images.is_empty() {
            for target in &memory_and_disk(&self.targets, name)? {
                good &= measure(Bench {
                    program: &program,
                    target,
                })?;
            }
        }
        for kind in &self.images {
            let image = Image::on(LoopDevice::attach_for_measurements(image_size.0)?, kind)?;
            good &= measure(Bench {
                program: &program,
                target: &image.path(),
            })?;
        }
        Ok(good)
    }
}

pub(crate) fn is_memory(target: &Path) -> Result<bool> {
    Kind::Tmpfs
        .is_at(target)
        .with_context(|| format!("statfs of {}", target.display()))
}

/// Without given directories, these are memory and a folder on cargo's disk.
pub(crate) fn memory_and_disk(given: &[PathBuf], name: &str) -> Result<Vec<PathBuf>> {
    let targets = match given {
        [] => vec![PathBuf::from("/dev/shm"), folder_for(name)?],
        given => given.to_vec(),
    };
    match targets.iter().find(|target| !target.is_dir()) {
        Some(target) => bail!("{} is not a directory", target.display()),
        None => Ok(targets),
    }
}

pub(crate) fn described(target: &Path) -> String {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    format!(
        "{} ({}, Linux {release})",
        target.display(),
        filesystem(target)
    )
}

pub(crate) fn filesystem(target: &Path) -> String {
    let mut command = Command::new("findmnt");
    command
        .args(["--noheadings", "--output", "FSTYPE", "--target"])
        .arg(target);
    let said = printed(&mut command)
        .ok()
        .and_then(|text| text.lines().next().map(str::to_owned));
    said.unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memory_filesystems_count_as_memory() {
        assert!(!is_memory(Path::new("/proc")).unwrap());
        assert!(is_memory(Path::new("/no/such/place")).is_err());
    }

    #[test]
    fn a_missing_directory_has_a_description() {
        assert!(described(Path::new("/no/such/place")).starts_with("/no/such/place ("));
    }
}
