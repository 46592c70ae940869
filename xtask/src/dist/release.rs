use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{metadata, printed, root};

/// All programs are static.
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) debian: &'static str,
    /// Also RPM's name.
    pub(super) processor: &'static str,
    /// `e_machine` for binfmt_misc.
    pub(super) elf_machine: &'static str,
}

pub(super) const TARGETS: &[Target] = &[
    Target { name: "x86_64-unknown-linux-musl", debian: "amd64", processor: "x86_64", elf_machine: "\\x3e" },
    Target { name: "aarch64-unknown-linux-musl", debian: "arm64", processor: "aarch64", elf_machine: "\\xb7" },
];

impl Target {
    pub(super) fn emulator(&self) -> Option<String> {
        (self.processor != std::env::consts::ARCH).then(|| format!("qemu-{}", self.processor))
    }

    pub(super) fn command(&self, program: &Path) -> Command {
        let Some(emulator) = self.emulator() else { return Command::new(program) };
        let mut command = Command::new(emulator);
        command.arg(program);
        command
    }
}

pub(super) struct Release {
    pub(super) version: String,
    /// The time of the commit, in seconds since 1970.
    pub(super) epoch_s: String,
    pub(super) folder: PathBuf,
}

impl Release {
    pub(super) fn of_this_tree(folder: PathBuf) -> Result<Self> {
        let metadata = metadata()?;
        let program = metadata.packages.iter().find(|package| package.name.as_str() == "writebench");
        let version = program.context("the workspace has no package writebench")?.version.to_string();
        let mut git = Command::new("git");
        let time = printed(git.current_dir(root()).args(["log", "-1", "--format=%ct"]))?;
        Ok(Self { version, epoch_s: time.trim().to_owned(), folder })
    }

    pub(super) fn stem(&self, target: &Target) -> String {
        format!("writebench-{}-{}", self.version, target.name)
    }

    pub(super) fn tarball(&self, target: &Target) -> PathBuf {
        self.folder.join(format!("{}.tar.gz", self.stem(target)))
    }

    pub(super) fn deb(&self, target: &Target) -> PathBuf {
        self.folder.join(format!("writebench_{}_{}.deb", self.version, target.debian))
    }

    pub(super) fn rpm(&self, target: &Target) -> PathBuf {
        self.folder.join(format!("writebench-{}-1.{}.rpm", self.version, target.processor))
    }
}
