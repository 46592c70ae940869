//! Where is written to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{output, target_directory};

/// Whether the filesystem is in memory: `TMPFS_MAGIC` of statfs(2).
pub(crate) fn is_memory(target: &Path) -> Result<bool> {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    let status = rustix::fs::statfs(target).with_context(|| format!("statfs of {}", target.display()))?;
    Ok(u64::try_from(status.f_type).is_ok_and(|kind| kind == TMPFS_MAGIC))
}

/// A folder of that name in cargo's target directory.
pub(crate) fn folder_for(name: &str) -> Result<PathBuf> {
    let folder = target_directory()?.join(name);
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}

/// The directories that were given; if none, one in memory and a folder of that name on the disk that cargo builds on.
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

/// The directory with its filesystem and the system, for the reader.
pub(crate) fn described(target: &Path) -> String {
    format!("{} ({}, {})", target.display(), filesystem(target), system())
}

/// The filesystem's name, from util-linux.
pub(crate) fn filesystem(target: &Path) -> String {
    let mut command = Command::new("findmnt");
    first_line(command.args(["--noheadings", "--output", "FSTYPE", "--target"]).arg(target))
}

fn system() -> String {
    format!("Linux {}", first_line(Command::new("uname").arg("-r")))
}

fn first_line(command: &mut Command) -> String {
    let text = output(command).map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.ok().and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_from_what_is_none() {
        assert!(!is_memory(Path::new("/proc")).unwrap());
        assert!(is_memory(Path::new("/no/such/place")).is_err());
    }

    #[test]
    fn a_directory_is_described_even_if_nothing_is_known_of_it() {
        assert!(described(Path::new("/no/such/place")).starts_with("/no/such/place ("));
    }
}
