use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use writebench_model::Bytes;
use writebench_testkit::Kind;
use writebench_testkit::command::{folder_for, printed};

use crate::made::Made;
use crate::program::{self, Bench};

#[derive(clap::Args)]
pub(crate) struct Targets {
    /// Directories to write to [default: /dev/shm and a folder in cargo's target directory]
    targets: Vec<PathBuf>,
    /// Also new filesystems of these kinds: words of mkfs such as xfs, in image files, or one of ext4-1k-blocks,
    /// ext4-slow-disk (100 MB/s), xfs-no-reflink, and fuse-slow-sync (in memory, 5 ms for each fsync, no sets of files).
    /// Without directories, only these
    #[arg(long = "image", value_name = "KIND")]
    images: Vec<String>,
    /// Let all programs use only so many of this machine's CPUs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cpus: Option<u16>,
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
        if let Some(cpus) = self.cpus {
            use_only(cpus.into())?;
        }
        let mut good = true;
        if !self.targets.is_empty() || self.images.is_empty() {
            for target in &memory_and_disk(&self.targets, name)? {
                good &= measure(Bench {
                    program: &program,
                    target,
                    made: None,
                })?;
            }
        }
        for kind in &self.images {
            let made = Made::new(kind, image_size)?;
            good &= measure(Bench {
                program: &program,
                target: &made.path(),
                made: Some(kind),
            })?;
        }
        Ok(good)
    }
}

/// This process and those that it starts use only the first of their CPUs.
fn use_only(cpus: u32) -> Result<()> {
    let allowed = sched_getaffinity(None).context("sched_getaffinity")?;
    ensure!(
        allowed.count() >= cpus,
        "there are {} CPUs, fewer than --cpus {cpus}",
        allowed.count()
    );
    let mut chosen = CpuSet::new();
    for cpu in (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)) {
        if chosen.count() < cpus {
            chosen.set(cpu);
        }
    }
    sched_setaffinity(None, &chosen).context("sched_setaffinity")
}

pub(crate) fn is_memory(target: &Path) -> Result<bool> {
    Kind::Tmpfs
        .is_at(target)
        .with_context(|| format!("statfs of {}", target.display()))
}

/// The given directories, or if there are none, memory and a folder on cargo's disk.
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
    fn a_process_can_be_confined_to_fewer_cpus() {
        // The setting is this thread's, and the test's own.
        let confined = std::thread::spawn(|| {
            use_only(1).unwrap();
            sched_getaffinity(None).unwrap().count()
        });
        assert_eq!(confined.join().unwrap(), 1);
        assert!(use_only(u32::MAX).is_err());
    }

    #[test]
    fn a_missing_directory_has_a_description() {
        assert!(described(Path::new("/no/such/place")).starts_with("/no/such/place ("));
    }
}
