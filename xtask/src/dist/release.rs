use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use writebench_testkit::command::{metadata, printed, root};

/// All programs are static.
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) debian: &'static str,
    pub(super) npm: &'static str,
    /// RPM and Python use the same name.
    pub(super) processor: &'static str,
}

pub(super) const TARGETS: &[Target] = &[
    Target {
        name: "x86_64-unknown-linux-musl",
        debian: "amd64",
        npm: "x64",
        processor: "x86_64",
    },
    Target {
        name: "aarch64-unknown-linux-musl",
        debian: "arm64",
        npm: "arm64",
        processor: "aarch64",
    },
];

impl Target {
    pub(super) fn emulator(&self) -> Option<String> {
        (self.processor != std::env::consts::ARCH).then(|| format!("qemu-{}", self.processor))
    }

    pub(super) fn command(&self, program: &Path) -> Command {
        let Some(emulator) = self.emulator() else {
            return Command::new(program);
        };
        let mut command = Command::new(emulator);
        command.arg(program);
        command
    }
}

/// Each pair is a word that a template has between two `@`, and what replaces it.
pub(super) type Words = Vec<(String, String)>;

pub(super) struct Release {
    pub(super) version: String,
    /// The release has the time of its commit, in seconds since 1970.
    pub(super) epoch_s: String,
    pub(super) folder: PathBuf,
    /// Templates take the facts of the manifest from here.
    pub(super) words: Words,
}

impl Release {
    pub(super) fn of_this_tree(folder: PathBuf) -> Result<Self> {
        let metadata = metadata()?;
        let program = metadata
            .packages
            .into_iter()
            .find(|package| package.name.as_str() == "writebench");
        let program = program.context("the workspace has no package writebench")?;
        let version = program.version.to_string();
        let words = [
            ("version", Some(version.clone())),
            ("description", program.description),
            ("license", program.license),
            ("repository", program.repository),
        ];
        let words = words
            .into_iter()
            .filter_map(|(name, word)| Some((name.to_owned(), word?)))
            .collect();
        let mut git = Command::new("git");
        let time = printed(git.current_dir(root()).args(["log", "-1", "--format=%ct"]))?;
        Ok(Self {
            version,
            epoch_s: time.trim().to_owned(),
            folder,
            words,
        })
    }

    pub(super) fn stem(&self, target: &Target) -> String {
        format!("writebench-{}-{}", self.version, target.name)
    }

    pub(super) fn tarball(&self, target: &Target) -> PathBuf {
        self.folder.join(format!("{}.tar.gz", self.stem(target)))
    }

    pub(super) fn deb(&self, target: &Target) -> PathBuf {
        self.folder
            .join(format!("writebench_{}_{}.deb", self.version, target.debian))
    }

    /// `wheel pack` puts the tags of `templates/wheel/WHEEL` in this order.
    pub(super) fn wheel(&self, target: &Target) -> PathBuf {
        let tags = ["manylinux2014", "manylinux_2_17", "musllinux_1_1"];
        let tags = tags
            .map(|tag| format!("{tag}_{}", target.processor))
            .join(".");
        self.folder
            .join(format!("writebench-{}-py3-none-{tags}.whl", self.version))
    }

    pub(super) fn rpm(&self, target: &Target) -> PathBuf {
        self.folder.join(format!(
            "writebench-{}-1.{}.rpm",
            self.version, target.processor
        ))
    }
}
