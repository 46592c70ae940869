//! A release: its version, its time, and the machines that it is for.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{metadata, output, root};

/// A machine that the program is built for. All are static: they run on any Linux with their processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    X86_64,
    Aarch64,
}

impl Target {
    pub(super) const ALL: &'static [Self] = &[Self::X86_64, Self::Aarch64];

    /// Rust's name for the target.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-musl",
            Self::Aarch64 => "aarch64-unknown-linux-musl",
        }
    }

    pub(super) fn from_name(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.iter().map(|target| target.name()).collect::<Vec<_>>().join(", ");
        let found = Self::ALL.iter().copied().find(|target| target.name() == name);
        found.ok_or_else(|| format!("there are {}", known()))
    }

    /// Debian's name for the processor.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The kernel's name for the processor, which is RPM's, too.
    pub(super) fn processor(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// The words before a program to run it here; none if it is for this machine.
    pub(super) fn runner(self) -> &'static [&'static str] {
        match self {
            _ if self.processor() == std::env::consts::ARCH => &[],
            Self::X86_64 => &["qemu-x86_64"],
            Self::Aarch64 => &["qemu-aarch64"],
        }
    }

    /// A command that runs a program for this target here.
    pub(super) fn command(self, program: &std::path::Path) -> Command {
        match self.runner() {
            [] => Command::new(program),
            [runner, ..] => {
                let mut command = Command::new(runner);
                command.arg(program);
                command
            }
        }
    }
}

/// The version, the time and the folder that the files of a release have in common.
pub(super) struct Release {
    pub(super) version: String,
    /// The time of the commit, in seconds since 1970: the time of all files in the archives.
    pub(super) epoch_s: String,
    /// The folder that the files come into.
    pub(super) folder: PathBuf,
}

impl Release {
    pub(super) fn of_this_tree(folder: PathBuf) -> Result<Self> {
        let metadata = metadata()?;
        let program = metadata.packages.iter().find(|package| package.name.as_str() == "writebench");
        let version = program.context("the workspace has no package writebench")?.version.to_string();
        let mut git = Command::new("git");
        let time = output(git.current_dir(root()).args(["log", "-1", "--format=%ct"]))?.stdout;
        Ok(Self { version, epoch_s: String::from_utf8(time)?.trim().to_owned(), folder })
    }

    /// The beginning of a file's name.
    pub(super) fn stem(&self, target: Target) -> String {
        format!("writebench-{}-{}", self.version, target.name())
    }
}
