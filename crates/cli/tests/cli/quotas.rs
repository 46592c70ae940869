use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Image, Need, Trials, call, entries};

use crate::outcomes::case;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    // btrfs applies quotas to root, without other kernel features.
    let needs = [Need::Image("btrfs"), Need::Program("btrfs")];
    trials.add(
        "an exhausted quota costs the cases that do not fit",
        &needs,
        used_up,
    );
}

fn limited(image: &Image, bytes: u64) -> Result<PathBuf> {
    let volume = image.path().join("limited");
    let btrfs = |words: &[&str], path: &Path| call(Command::new("btrfs").args(words).arg(path));
    btrfs(&["quota", "enable"], &image.path())?;
    btrfs(&["subvolume", "create"], &volume)?;
    btrfs(&["qgroup", "limit", &bytes.to_string()], &volume)?;
    Ok(volume)
}

fn used_up() -> Result<()> {
    const WRITE: &str = "write,size=16MiB,chunk=64KiB";
    const FALLOCATE: &str = "write,size=16MiB,prepare=fallocate";
    const STORE: &str = "mmap,size=16MiB";
    const FITS: &str = "write,size=64KiB";
    let (program, image) = (program()?, Image::mount("btrfs", 256 << 20)?);
    let volume = limited(&image, 8 << 20)?;
    let mut arguments = vec!["--samples", "2", "--yes", "--no-limits"];
    arguments.extend(
        [WRITE, FALLOCATE, STORE, FITS]
            .iter()
            .flat_map(|case| ["--case", case]),
    );
    let document: Value = program.run(&volume, &arguments, 4)?;
    let write = case(&document, WRITE)?;
    let cause = &write["samples"][0]["cause"];
    ensure!(
        write["outcome"] == "failed" && write["estimate"].is_null(),
        "{write}"
    );
    ensure!(
        cause["phase"] == "write" && cause["call"] == "write" && cause["errno"] == 122,
        "{write}"
    );
    let offset = cause["offset"].as_u64().context("an offset")?;
    ensure!((1..=8 << 20).contains(&offset), "below the limit: {offset}");
    let fallocate = case(&document, FALLOCATE)?;
    ensure!(
        fallocate["reason"] == "fallocate: Disk quota exceeded (122)",
        "{fallocate}"
    );
    let store = case(&document, STORE)?;
    ensure!(
        store["outcome"] == "worker-died" && store["estimate"].is_null(),
        "{store}"
    );
    ensure!(
        store["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("SIGBUS (7)")),
        "{store}"
    );
    ensure!(case(&document, FITS)?["outcome"] == "ok", "{document}");
    ensure!(entries(&volume).is_empty(), "{:?}", entries(&volume));
    Ok(())
}
