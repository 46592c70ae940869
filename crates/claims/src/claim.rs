use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;
use writebench_powerloss::{Event, Recording};
use writebench_testkit::{Need, Purpose, compiled, entries};

use crate::filesystem::Filesystem;
use crate::log;
use crate::pages::{self, Unpromised};
use crate::printed::Printed;
use crate::scene::{Content, Outcome, Scene, bytes};

/// What a program claims to leave after a power loss.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The claim in words, which several programs have in common.
    pub title: &'static str,
    pub expected: Expected,
    /// The filesystems on which the tests demand it.
    pub tested_on: &'static [Filesystem],
    pub(crate) promise: Promise,
    pub(crate) printed: Printed,
}

/// What must be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Holds,
    /// The program has a mistake, which must be caught where the tests demand it.
    IsBroken,
}

/// What is promised, and how it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// The new file has the data after success.
    NewFile,
    /// The old file has the new data after success.
    OverwrittenFile,
    /// The file has the old or the new data at any time, and the new data after success.
    ReplacedFile,
    /// Each record is in the log once it is durable.
    Log,
    /// A commit's pages are in the file once it is durable. Until then they may be torn.
    Pages,
    /// The same, and each page is old or new at any time.
    UntornPages,
    /// All files of the set are there after success.
    Set,
}

/// The numbers of the contents.
const OLD: u64 = 1;
const NEW: u64 = 2;
const SET: u64 = 3;

const LENGTH: usize = 300_000;
const FILES_OF_SET: usize = 12;
const FILE_OF_SET: usize = 16 << 10;

impl Claim {
    /// The program, such as `--atomic write,sync=fsync in Java`.
    #[must_use]
    pub fn program(&self) -> String {
        self.printed.name()
    }

    /// What the machine needs to try it.
    #[must_use]
    pub fn needs(&self, filesystem: Filesystem) -> Vec<Need> {
        let mut needs = filesystem.needs().to_vec();
        needs.push(Need::Program(self.printed.compiler()));
        needs
    }

    /// Compiles the program.
    pub fn scene(&self) -> Result<Scene> {
        let folder = tempfile::tempdir()?;
        let source = match self.promise {
            Promise::Log => log::source(&self.printed)?,
            Promise::Pages => pages::source(&self.printed, Unpromised::Torn)?,
            Promise::UntornPages => pages::source(&self.printed, Unpromised::Whole)?,
            _ => self.printed.source()?,
        };
        let language = self.printed.language;
        let words = compiled(&source, language, folder.path(), Purpose::Measurement)?;
        match self.promise {
            Promise::NewFile => Ok(durable_file(words, folder, false)),
            Promise::OverwrittenFile => Ok(durable_file(words, folder, true)),
            Promise::ReplacedFile => replaced_file(words, folder),
            Promise::Log => Ok(self_checked(words, folder, None)),
            Promise::Pages | Promise::UntornPages => {
                Ok(self_checked(words, folder, Some(pages::old_file())))
            }
            Promise::Set => set_of_files(words, folder),
        }
    }

    /// Checks the claim on a filesystem as the tests do.
    pub fn verify(&self, filesystem: Filesystem, most: usize) -> Result<()> {
        let scene = self.scene()?;
        match self.expected {
            Expected::Holds => must_hold(&scene.play(filesystem, most)?),
            Expected::IsBroken => must_be_caught(&|| scene.play(filesystem, most)),
        }
    }

    /// Checks the claim by the recordings of another program. They must lead to the same verdict as ours, and have the
    /// same order.
    pub fn verify_on_qemu(&self, filesystem: Filesystem, most: usize) -> Result<()> {
        let scene = self.scene()?;
        if self.expected == Expected::IsBroken {
            return must_be_caught(&|| Ok(scene.play_on_qemu(filesystem, most)?.0));
        }
        let (outcome, recordings) = scene.play_on_qemu(filesystem, most)?;
        must_hold(&outcome)?;
        for recording in &recordings {
            let promised = flushed_before_promise(recording)?;
            let data = bytes(NEW, LENGTH);
            ensure!(
                data.chunks_exact(BLOCK)
                    .all(|block| promised.contains(block)),
                "data was not flushed before the promise"
            );
        }
        Ok(())
    }
}

fn durable_file(words: Vec<String>, folder: TempDir, overwrites: bool) -> Scene {
    let new = bytes(NEW, LENGTH);
    let data = new.clone();
    Scene {
        words,
        // Some methods copy only within a filesystem.
        arguments: Box::new(|root| vec![root.join("data"), root.join("file")]),
        says_durable: false,
        set_up: Box::new(move |root| {
            std::fs::write(root.join("data"), &data)?;
            if overwrites {
                std::fs::write(root.join("file"), bytes(OLD, LENGTH))?;
            }
            Ok(())
        }),
        check: Box::new(move |root, durable| match durable {
            0 => Ok(()),
            _ => Content::of(&root.join("file")).must_be(&[&new]),
        }),
        _folder: folder,
    }
}

fn replaced_file(words: Vec<String>, folder: TempDir) -> Result<Scene> {
    let (old, new) = (bytes(OLD, LENGTH + 1000), bytes(NEW, LENGTH));
    let data = folder.path().join("data");
    std::fs::write(&data, &new)?;
    let before = old.clone();
    Ok(Scene {
        words,
        arguments: Box::new(move |root| vec![data.clone(), root.join("file")]),
        says_durable: false,
        set_up: Box::new(move |root| Ok(std::fs::write(root.join("file"), &before)?)),
        check: Box::new(move |root, durable| {
            let found = Content::of(&root.join("file"));
            match durable {
                0 => found.must_be(&[&old, &new]),
                _ => found.must_be(&[&new]),
            }
        }),
        _folder: folder,
    })
}

/// A program that says when its data is durable, and that checks the file after a power loss itself.
fn self_checked(words: Vec<String>, folder: TempDir, old: Option<Vec<u8>>) -> Scene {
    let reader = words.clone();
    Scene {
        words,
        arguments: Box::new(|root| vec![root.join("file"), "0".into()]),
        says_durable: true,
        set_up: Box::new(move |root| match &old {
            Some(old) => Ok(std::fs::write(root.join("file"), old)?),
            None => Ok(()),
        }),
        check: Box::new(move |root, durable| {
            // Before a log was opened it may not be there.
            if durable == 0 && !root.join("file").exists() {
                return Ok(());
            }
            let mut command = Command::new(&reader[0]);
            command.args(&reader[1..]).arg(root.join("file"));
            let read = command.arg(durable.max(1).to_string()).output();
            let read = read.map_err(|error| error.to_string())?;
            if read.status.success() {
                Ok(())
            } else {
                Err(String::from_utf8_lossy(&read.stderr).into_owned())
            }
        }),
        _folder: folder,
    }
}

fn set_of_files(words: Vec<String>, folder: TempDir) -> Result<Scene> {
    let all = bytes(SET, FILES_OF_SET * FILE_OF_SET);
    let data = folder.path().join("data");
    std::fs::write(&data, &all)?;
    Ok(Scene {
        words,
        arguments: Box::new(move |root| vec![data.clone(), root.join("set")]),
        says_durable: false,
        set_up: Box::new(|root| Ok(std::fs::create_dir(root.join("set"))?)),
        check: Box::new(move |root, durable| {
            if durable == 0 {
                return Ok(());
            }
            let mut files = HashMap::new();
            find_files(&root.join("set"), &mut files);
            for (number, content) in all.chunks(FILE_OF_SET).enumerate() {
                let name = format!("writebench{number:07}");
                let path = files
                    .get(OsStr::new(&name))
                    .ok_or(format!("{name} is absent"))?;
                Content::of(path).must_be(&[content])?;
            }
            Ok(())
        }),
        _folder: folder,
    })
}

/// The files by their names. Some programs use several directories.
fn find_files(directory: &Path, files: &mut HashMap<OsString, PathBuf>) {
    for path in entries(directory) {
        if path.is_dir() {
            find_files(&path, files);
        } else if let Some(name) = path.file_name() {
            files.insert(name.to_owned(), path);
        }
    }
}

/// Demands that no power loss broke the promise, and that enough of them were really tried.
fn must_hold(outcome: &Outcome) -> Result<()> {
    const LEAST: usize = 10;
    let Outcome { checked, broken } = outcome;
    ensure!(*checked >= LEAST, "only {checked} power losses");
    if let [first, ..] = &broken[..] {
        bail!("{} of {checked} power losses: {first}", broken.len());
    }
    Ok(())
}

/// btrfs begins to write the data at a rename, and it can be there in time.
pub const TRIES: usize = 5;

fn must_be_caught(play: &dyn Fn() -> Result<Outcome>) -> Result<()> {
    for _ in 0..TRIES {
        if !play()?.broken.is_empty() {
            return Ok(());
        }
    }
    bail!("nothing was found in {TRIES} recordings");
}

/// The smallest block of the filesystems.
const BLOCK: usize = 1024;

/// The blocks that have arrived before the last flush that precedes the promise.
fn flushed_before_promise(recording: &Recording) -> Result<HashSet<&[u8]>> {
    let events = &recording.events;
    let place = |wanted| events.iter().position(|event| *event == wanted);
    let begin = place(Event::Begin).context("no beginning")?;
    let durable = place(Event::Durable).context("no promise")?;
    let own = events
        .get(begin..durable)
        .context("a promise before the beginning")?;
    let flush = own.iter().rposition(|event| *event == Event::Flush);
    let flushed = &own[..flush.context("no flush before the promise")?];
    let data = flushed.iter().filter_map(|event| match event {
        Event::Write { data, .. } => Some(data.chunks_exact(BLOCK)),
        _ => None,
    });
    Ok(data.flatten().collect())
}
