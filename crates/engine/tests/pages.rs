//! Pages at random places: the last write of each page is in the file, and is compared.

use std::cell::{Cell, RefCell};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Case, Extent, Outcome, Phase, Sample};
use writebench_testkit::{Kind, Need, Trials, directory_on, entries};

const SEED: u64 = 0x5eed;
const NAME: &str = "pages";
const PAGE_BYTES: usize = 8 << 10;

/// Each method, with values that a commit is written by.
const CASES: [&str; 14] = [
    "pwrite,size=1MiB,sync=fdatasync/16",
    "pwrite,size=1000KiB,sync=fsync/16",
    "pwrite,size=1MiB,order=sorted,sync=o-dsync/16",
    "pwrite,size=1MiB,cache=direct,sync=rwf-dsync/16",
    "pwrite,size=1MiB,sync=fdatasync/1",
    "pwrite,size=64KiB,sync=fdatasync/16",
    "pwrite,size=1MiB,protect=double-write,sync=fdatasync/16",
    "pwrite,size=1000KiB,protect=double-write,order=sorted,cache=direct,sync=fsync/16",
    "mmap,size=1MiB,sync=msync/16",
    "mmap,size=1MiB,order=sorted,sync=fdatasync/16",
    "io_uring,size=1MiB,depth=4,sync=fdatasync/16",
    "io_uring,size=1000KiB,depth=32,cache=direct,sync=o-dsync/16",
    "io_uring,size=1MiB,depth=3,registered=both,cache=direct,memory=page-aligned,sync=rwf-dsync/16",
    "io_uring,size=1MiB,depth=1,order=sorted,sync=fsync/1",
];

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for case in CASES {
        for access in ["uniform", "zipf"] {
            let name = format!("{case}: {access} pages are written, compared and committed");
            let needs = [Need::Filesystem(Kind::Ext4)];
            trials.add(name, &needs, move || writes_pages(case, access));
        }
    }
    let needs = [Need::Filesystem(Kind::Ext4)];
    trials.add(
        "a page with an earlier content is found",
        &needs,
        earlier_content_is_found,
    );
    trials.add(
        "all strategies leave the same pages",
        &needs,
        same_pages_for_all,
    );
    for case in [
        "pwrite,size=1MiB,protect=rwf-atomic,cache=direct,sync=fdatasync/16",
        "io_uring,size=1MiB,depth=4,protect=rwf-atomic,cache=direct,sync=o-dsync/16",
    ] {
        let name = format!("{case}: pages are written whole, or the case is unsupported");
        trials.add(name, &[Need::Image("xfs")], move || on_xfs(case));
    }
    trials.run(2)
}

fn parsed(case: &str, access: &str) -> Result<Case> {
    let name = format!("{case},chunk=8KiB,access={access},prepare=overwrite");
    Ok(Case::parse(&name)?)
}

fn request(case: &Case) -> SampleRequest {
    SampleRequest {
        read_back: Some(Extent::Whole),
        ..SampleRequest::bare(case.clone(), NAME, SEED)
    }
}

fn take(engine: &mut Engine<'_>, directory: &Path, case: &Case) -> Result<Sample> {
    let directory = std::fs::File::open(directory)?;
    Ok(engine.sample(Target::Directory(directory.as_fd()), &request(case)))
}

fn must_be_good(sample: &Sample, case: &Case, access: &str) -> Result<()> {
    let bytes = case.given().size_bytes;
    ensure!(sample.outcome == Outcome::Ok, "{:?}", sample.outcome);
    ensure!(sample.bytes == bytes, "{} bytes", sample.bytes);
    let compared = sample.read_back.as_ref().context("no content")?.bytes;
    let is_compared = match access {
        "uniform" => compared == bytes,
        // Others are never written.
        _ => (bytes / 4..bytes).contains(&compared) || bytes < 100_000,
    };
    ensure!(is_compared, "{compared} bytes are compared");
    let commit_bytes = PAGE_BYTES as u64 * u64::from(case.commit_pages().context("no commits")?);
    let commits = sample.latency.as_ref().map_or(0, |latency| latency.count);
    ensure!(commits == bytes / commit_bytes, "{commits} latencies");
    Ok(())
}

fn writes_pages(case: &str, access: &str) -> Result<()> {
    let directory = directory_on(Kind::Ext4);
    let case = parsed(case, access)?;
    let mut engine = Engine::new(None, || Ok(0), &|_| {});
    // The second sample finds the pages of the first.
    for _ in 0..2 {
        let sample = take(&mut engine, directory.path(), &case)?;
        must_be_good(&sample, &case, access)?;
        let left = entries(directory.path());
        ensure!(left.len() == 1, "left behind: {left:?}");
    }
    drop(engine);
    ensure!(entries(directory.path()).is_empty(), "a file remains");
    Ok(())
}

fn on_xfs(case: &str) -> Result<()> {
    let image = writebench_testkit::Image::mount("xfs", 512 << 20)?;
    let case = parsed(case, "uniform")?;
    let mut engine = Engine::new(None, || Ok(0), &|_| {});
    let sample = take(&mut engine, &image.path(), &case)?;
    if sample.outcome.name() == "unsupported" {
        return Ok(());
    }
    must_be_good(&sample, &case, "uniform")
}

fn file_after(case: &str) -> Result<Vec<u8>> {
    let directory = directory_on(Kind::Ext4);
    let content = RefCell::new(Vec::new());
    let keep = |phase| {
        if phase == Phase::Clean {
            *content.borrow_mut() = std::fs::read(directory.path().join(NAME)).unwrap_or_default();
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &keep);
    let case = parsed(case, "zipf")?;
    let sample = take(&mut engine, directory.path(), &case)?;
    must_be_good(&sample, &case, "zipf")?;
    drop(engine);
    Ok(content.into_inner())
}

/// Sorted pages have the content of another write, but are the same pages.
fn same_pages_for_all() -> Result<()> {
    let first = file_after(CASES[0])?;
    ensure!(!first.is_empty(), "no file");
    for case in [CASES[6], CASES[8], CASES[10]] {
        ensure!(file_after(case)? == first, "{case}");
    }
    Ok(())
}

/// The content of another write of the same sample is no proof that the last one arrived.
fn earlier_content_is_found() -> Result<()> {
    let directory = directory_on(Kind::Ext4);
    let path = directory.path().join(NAME);
    let swaps = Cell::new(true);
    let swap = |phase| {
        if phase == Phase::Verify && swaps.take() {
            let file = std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(&path)
                .expect("the file");
            let mut page = vec![0; PAGE_BYTES];
            file.read_exact_at(&mut page, 0).expect("a page");
            file.write_all_at(&page, 5 * PAGE_BYTES as u64)
                .expect("a page");
        }
    };
    let mut engine = Engine::new(None, || Ok(0), &swap);
    let sample = take(&mut engine, directory.path(), &parsed(CASES[0], "uniform")?)?;
    let reason = sample.outcome.reason().context("it is not found")?;
    ensure!(
        reason.contains("page 5 differs from what was last written to it"),
        "{reason}"
    );
    Ok(())
}
