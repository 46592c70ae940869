//! Every way to overwrite a file starts from the same state of the page cache. Another program looks at it.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Axis, Cache, Case, Files, Method, Naming, Phase, Prepare};
use writebench_testkit::{Image, Kind, Need, Trials, directory_on, entries};

fn main() -> ExitCode {
    let mut trials = Trials::default();
    let fincore = Need::Program("fincore");
    for method in Method::ALL
        .iter()
        .copied()
        .filter(|method| method.is_complete())
    {
        for prepare in [Prepare::Overwrite, Prepare::Truncate] {
            if !method.card().prepares.contains(&prepare) {
                continue;
            }
            let name = format!(
                "no old content is in the page cache before {method} with prepare={prepare}"
            );
            trials.add(name, &[Need::Filesystem(Kind::Ext4), fincore], move || {
                before_each(directory_on(Kind::Ext4).path(), method, prepare)
            });
        }
    }
    for kind in ["xfs", "btrfs", "ext2"] {
        let name = format!("no old content is in the page cache before an overwrite on {kind}");
        trials.add(name, &[Need::Image(kind), fincore], move || {
            let image = Image::mount(kind, 512 << 20)?;
            for method in [
                Method::Pwrite,
                Method::Mmap,
                Method::Uring,
                Method::WriteFiles,
            ] {
                before_each(&image.path(), method, Prepare::Overwrite)?;
            }
            Ok(())
        });
    }
    trials.run(2)
}

/// Before the first call of each case.
fn before_each(directory: &Path, method: Method, prepare: Prepare) -> Result<()> {
    let found = RefCell::new(None);
    let before_open = |phase| {
        // Some methods have more work in this phase after they have prepared the file.
        if phase == Phase::Open && found.borrow().is_none() {
            found.replace(Some(old_files(directory).and_then(|files| cached(&files))));
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &before_open);
    let caches = Cache::ALL.iter().map(|cache| (Axis::Cache, cache.name()));
    let files = Files::ALL.iter().map(|files| (Axis::Files, files.name()));
    let namings = Naming::ALL
        .iter()
        .map(|naming| (Axis::Naming, naming.name()));
    for (axis, value) in caches.chain(files).chain(namings) {
        let size = (Axis::Size, "300KiB");
        let more = [(Axis::Prepare, prepare.name()), size, (axis, value)];
        let values = if method.has_axis(axis) {
            &more[..]
        } else {
            &more[..2]
        };
        // A method does not have each naming.
        let Ok(case) = Case::example(method, values) else {
            continue;
        };
        let place = File::open(directory).context("the directory")?;
        // Some kernels and filesystems refuse a cache, after the moment that counts here.
        engine.sample(
            Target::Directory(place.as_fd()),
            &SampleRequest::bare(case.clone(), "start", 1),
        );
        let (bytes, cached) = found
            .take()
            .with_context(|| format!("{case}: phase open did not come"))??;
        ensure!(
            bytes == 300 << 10,
            "{case}: the old files have {bytes} bytes"
        );
        ensure!(
            cached == 0,
            "{case}: {cached} bytes of the old content are in the page cache"
        );
    }
    Ok(())
}

/// Without the source of copies.
fn old_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in entries(directory) {
        if path.is_dir() && !path.ends_with("lost+found") {
            files.extend(old_files(&path)?);
        } else if path.is_file() && !path.ends_with("copied") {
            files.push(path);
        }
    }
    Ok(files)
}

/// The files' bytes, and how many of them are in the page cache.
fn cached(files: &[PathBuf]) -> Result<(u64, u64)> {
    let mut fincore = Command::new("fincore");
    let output = fincore
        .args(["--bytes", "--noheadings", "--raw", "--output", "SIZE,RES"])
        .args(files)
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout)?;
    let mut sums = (0, 0);
    for line in text.lines() {
        let (size, there) = line
            .split_once(' ')
            .with_context(|| format!("two columns: {text}"))?;
        sums = (
            sums.0 + size.trim().parse::<u64>()?,
            sums.1 + there.trim().parse::<u64>()?,
        );
    }
    Ok(sums)
}
