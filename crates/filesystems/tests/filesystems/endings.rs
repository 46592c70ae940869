use std::fs::File;
use std::os::unix::fs::FileExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{Kind, Need, Trials, wait_for};

use crate::kept::{Kept, loops_over, request};

const SIGNALS: [Signal; 3] = [Signal::KILL, Signal::TERM, Signal::INT];

/// Spread over the whole time of making.
const MOMENTS: u32 = 24;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [
        Need::Image("ext4"),
        Need::Image("btrfs"),
        Need::Image("xfs"),
        Need::Bindfs,
    ];
    trials.add(
        "a signal at any moment of making leaves nothing",
        &needs,
        at_any_moment,
    );
    trials.add(
        "a signal while all are in use leaves nothing",
        &needs,
        while_in_use,
    );
    trials.add("a removal waits for files in use", &needs, still_in_use);
    trials.add(
        "a mount in use for too long is detached, and this is reported",
        &needs,
        in_use_for_too_long,
    );
}

fn requests() -> Vec<Value> {
    ["ext4", "btrfs-raid0", "tmpfs", "overlay:xfs", "fuse:ext4"]
        .map(|kind| request(kind, &[], None))
        .into()
}

fn at_any_moment() -> Result<()> {
    let start = Instant::now();
    Kept::start(Kind::Tmpfs, 0, &requests())?.made()?.remove()?;
    let whole = start.elapsed();
    for moment in 0..MOMENTS {
        let kept = Kept::start(Kind::Tmpfs, 0, &requests())?;
        sleep(whole * moment / MOMENTS);
        kept.end_by(SIGNALS[moment as usize % SIGNALS.len()])?;
    }
    Ok(())
}

fn while_in_use() -> Result<()> {
    for signal in SIGNALS {
        let kept = Kept::start(Kind::Ext4, 0, &requests())?.made()?;
        for index in 0..requests().len() {
            // The file's dirty pages are left to the kernel.
            File::create_new(kept.path(index)?.join("file"))?.write_all_at(&vec![1; 8 << 20], 0)?;
        }
        kept.end_by(signal)?;
    }
    Ok(())
}

fn still_in_use() -> Result<()> {
    let kept = Kept::start(Kind::Tmpfs, 0, &[request("ext4", &[], None)])?.made()?;
    let images = kept.images().to_owned();
    let file = File::create_new(kept.path(0)?.join("file"))?;
    // Another descriptor closes after a second, and the removal has waited for it.
    let closing = std::thread::spawn(move || {
        sleep(Duration::from_secs(1));
        drop(file);
    });
    kept.remove()?;
    closing
        .join()
        .map_err(|_| anyhow::anyhow!("the thread that closes"))?;
    ensure!(loops_over(&images).is_empty());
    Ok(())
}

fn in_use_for_too_long() -> Result<()> {
    let mut kept = Kept::start(Kind::Tmpfs, 0, &[request("ext4", &[], None)])?.made()?;
    let file = File::create_new(kept.path(0)?.join("file"))?;
    let said = kept.try_to_remove()?;
    let expected = "/mnt/1-ext4 was still in use after 10 s and is only detached: \
                    it disappears with its last process";
    ensure!(said["error"] == expected, "{said}");
    ensure!(loops_over(kept.images()).len() == 1);
    drop(file);
    wait_for("the device to be detached", || {
        loops_over(kept.images()).is_empty().then_some(())
    })
}
