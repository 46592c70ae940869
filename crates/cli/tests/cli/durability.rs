//! A case is durable only where the filesystem, the mount and the device make it so.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use writebench_testkit::{
    Bindfs, Caching, Call, Errno, Faulty, Image, LoopDevice, Mounted, Need, Trials,
};

use crate::program;
use crate::syscalls::Flushed;

pub(crate) fn add(trials: &mut Trials) {
    for case in FUSE_SYNCS {
        let name =
            format!("durability: {case} is trusted on FUSE only if it always reaches the server");
        trials.add(name, &[Need::Fuse], move || is_trusted_as_traced(case));
    }
    for (kind, needs) in [
        ("ext2", Need::Image("ext2")),
        ("ext4", Need::Image("ext4")),
        ("xfs", Need::Image("xfs")),
        ("btrfs", Need::Image("btrfs")),
    ] {
        let name =
            format!("durability: every trusted sync of a record flushes the device of {kind}");
        trials.add(name, &[needs], move || trusted_syncs_flush(kind));
    }
    let image = [Need::Image("ext4")];
    trials.add(
        "durability: an overlay mounted volatile makes nothing durable",
        &image,
        volatile_overlay,
    );
    trials.add(
        "durability: an overlay with a relative upperdir is not known to make data durable",
        &image,
        relative_overlay,
    );
    trials.add(
        "durability: ext4 without barriers makes nothing durable",
        &image,
        no_barriers,
    );
    trials.add(
        "durability: an image in memory makes nothing durable",
        &image,
        image_in_memory,
    );
    let name = "durability: a filesystem that cannot sync a directory is named, and new files are unsupported there";
    trials.add(name, &[Need::Fuse], no_directory_syncs);
    trials.add(
        "durability: syncfs is no candidate on FUSE",
        &[Need::Bindfs],
        no_syncfs_on_fuse,
    );
}

/// Each call, by a case on a file with this name, which the server watches.
const FUSE_SYNCS: &[&str] = &[
    "write,size=8KiB,chunk=4KiB,sync=fsync",
    "write,size=8KiB,chunk=4KiB,sync=fdatasync",
    "mmap,size=8KiB,chunk=4KiB,sync=msync",
    "write,size=8KiB,chunk=4KiB,sync=o-dsync",
    "write,size=8KiB,chunk=4KiB,sync=o-sync",
    "pwrite,size=8KiB,chunk=4KiB,sync=rwf-dsync",
    "write-files,size=4KiB,file-size=4KiB,sync-files=each",
    "write-files,size=4KiB,file-size=4KiB,sync-files=batch",
    "write-files,size=4KiB,file-size=4KiB,sync-files=syncfs",
];

fn is_trusted_as_traced(case: &str) -> Result<()> {
    let watched = if case.starts_with("write-files") {
        "writebench0000000"
    } else {
        "sample"
    };
    let mut always_arrives = true;
    let mut is_trusted = Vec::new();
    for caching in [Caching::WriteThrough, Caching::WriteBack, Caching::None] {
        let (program, faulty) = (program()?, Faulty::mount(watched, caching)?);
        let words = [
            "--case",
            case,
            "--samples",
            "1",
            "--no-limits",
            "--verify",
            "never",
        ];
        let document = program.run(faulty.path(), &words, 0)?;
        let row = &document["cases"][0];
        ensure!(row["outcome"] == "ok", "{caching:?}: {row}");
        is_trusted.push(row["not_durable"].is_null());
        always_arrives &= faulty
            .operations()
            .iter()
            .any(|operation| operation.call == Call::Fsync);
    }
    ensure!(
        is_trusted == [always_arrives; 3],
        "FSYNC always arrives: {always_arrives}, trusted: {is_trusted:?}"
    );
    Ok(())
}

fn trusted_syncs_flush(kind: &'static str) -> Result<()> {
    const RECORDS: u64 = 64;
    let flushed = Flushed::on(kind)?;
    for sync in ["fsync/1", "fdatasync/1", "o-dsync", "o-sync", "rwf-dsync"] {
        let case = format!("pwrite,size=256KiB,chunk=4KiB,sync={sync}");
        let flushes = flushed.each(&case, "1")?;
        ensure!(flushes >= RECORDS, "{case}: {flushes} flushes");
    }
    Ok(())
}

const CASES: [&str; 7] = [
    "--case",
    "write,size=64KiB,sync=fsync",
    "--case",
    "write,size=64KiB",
    "--samples",
    "1",
    "--no-limits",
];

/// A durable case is measured without a rank, the goals are left out, and a search for one is refused, all with the reason.
fn makes_nothing_durable(directory: &Path, why: &str) -> Result<()> {
    let program = program()?;
    let document = program.run(directory, &CASES, 0)?;
    let [durable, cached] = [0, 1].map(|index| &document["cases"][index]);
    ensure!(
        durable["not_durable"] == why && durable["outcome"] == "ok",
        "{durable}"
    );
    ensure!(cached["not_durable"].is_null(), "{cached}");
    let finding = &document["findings"][0];
    ensure!(
        finding["unanswered"] == json!({ "kind": "not-durable", "reason": why })
            && finding["throughput_bytes_per_s"].is_null(),
        "{finding}"
    );
    let directory = directory.to_str().context("UTF-8")?;
    let refused = program.call(&["advise", directory, "--for", "durable-stream"])?;
    let expected = format!("no sync is known to make data durable in {directory}: {why}.");
    ensure!(
        refused.code == Some(2) && refused.stderr.contains(&expected),
        "{refused:?}"
    );
    let goals = program.call(&["run", directory, "--budget", "2s", "--max-bytes", "2GiB"])?;
    ensure!(goals.stderr.contains(&format!(
        "Left out the durable goals, because no sync is known to make data durable here: {why}."
    )));
    ensure!(!goals.stdout.contains("durable"), "{goals:?}");
    for language in ["c", "cpp", "rust", "python", "node", "go", "java"] {
        let code = program.call(&["code", "write,sync=fsync", "--lang", language])?;
        let words = code
            .stdout
            .replace(['*', '/', '!'], " ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let cautious = format!(
            "Not durable on {}, the target of run",
            directory.replace('/', " ").trim()
        );
        ensure!(words.contains(&cautious), "{cautious}: {words}");
    }
    let page = program.home().join("page.html");
    let page = page.to_str().context("UTF-8")?;
    let shown = program.call(&["show", "1", &format!("--export=html={page}")])?;
    ensure!(
        shown.code == Some(0) && std::fs::read_to_string(page)?.contains(why),
        "{shown:?}"
    );
    Ok(())
}

fn is_durable(directory: &Path) -> Result<()> {
    let document = program()?.run(directory, &CASES, 0)?;
    let durable: &Value = &document["cases"][0];
    ensure!(durable["not_durable"].is_null(), "{durable}");
    ensure!(
        document["findings"][0]["goal"]
            .as_str()
            .is_some_and(|goal| goal.contains("disk")),
        "{document}"
    );
    Ok(())
}

fn volatile_overlay() -> Result<()> {
    let image = Image::mount("ext4", 256 << 20)?;
    is_durable(Mounted::overlay(&image.path(), "rw")?.path())?;
    let volatile = Mounted::overlay(&image.path(), "volatile")?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    // Newer kernels print another name of the option.
    let option = if mounts.contains("fsync=volatile") {
        "fsync=volatile"
    } else {
        "volatile"
    };
    makes_nothing_durable(
        volatile.path(),
        &format!("mounted with {option}, so overlayfs ignores syncs"),
    )
}

fn relative_overlay() -> Result<()> {
    let image = Image::mount("ext4", 256 << 20)?;
    let overlay = Mounted::relative_overlay(&image.path())?;
    makes_nothing_durable(
        overlay.path(),
        "mounted with the relative upperdir=upper, so it is unknown whether a sync reaches a disk (an absolute path would \
         tell)",
    )
}

fn no_barriers() -> Result<()> {
    let image = Image::mount("ext4", 256 << 20)?;
    is_durable(&image.path())?;
    image.remount("barrier=0")?;
    let name = image
        .device()
        .path()
        .file_name()
        .context("a device")?
        .to_string_lossy()
        .into_owned();
    let why = format!("mounted with nobarrier, so a sync leaves data in the write cache of {name}");
    makes_nothing_durable(&image.path(), &why)
}

fn image_in_memory() -> Result<()> {
    let memory = Mounted::tmpfs(256 << 20)?;
    let file = memory.path().join("image");
    std::fs::File::create(&file)?.set_len(192 << 20)?;
    let image = Image::on(LoopDevice::over(&file, &[])?, "ext4")?;
    makes_nothing_durable(
        &image.path(),
        "its image is not durable: tmpfs is in memory",
    )
}

fn no_syncfs_on_fuse() -> Result<()> {
    let (program, bindfs) = (program()?, Bindfs::mount()?);
    let path = bindfs.path().to_str().context("UTF-8")?;
    for words in [
        &["advise", path, "--for", "durable-files", "--dry-run"][..],
        &["advise", path, "--for", "durable-replace", "--dry-run"],
        &["run", path, "--dry-run"],
    ] {
        let planned = program.call(words)?;
        ensure!(
            planned.code == Some(0) && !planned.stdout.contains("syncfs"),
            "{planned:?}"
        );
        ensure!(
            planned
                .stderr
                .contains("syncfs(2) sends a FUSE server no request"),
            "{planned:?}"
        );
    }
    Ok(())
}

fn no_directory_syncs() -> Result<()> {
    for errno in [Errno::INVAL, Errno::BADF] {
        let (program, faulty) = (program()?, Faulty::mount("sample", Caching::WriteThrough)?);
        faulty.refuse_directory_syncs(errno);
        let cases = [
            "write,size=8KiB,sync=fsync",
            "write,size=8KiB,chunk=4KiB,sync=fdatasync/1",
            "mmap,size=8KiB,sync=msync",
            "write-files,size=8KiB,file-size=8KiB,sync-files=each",
            "write,size=8KiB,prepare=overwrite,sync=fsync",
            "write,size=8KiB",
        ];
        let words: Vec<&str> = cases.iter().flat_map(|case| ["--case", case]).collect();
        let document = program.run(
            faulty.path(),
            &[&words[..], &["--samples", "1", "--no-limits"]].concat(),
            0,
        )?;
        let rows = document["cases"].as_array().context("cases")?;
        let (durable_names, others) = rows.split_at(4);
        for row in durable_names {
            let reason = row["reason"].as_str().context("a reason")?;
            let directory = format!(
                "fsync of the directory: {}/.writebench-",
                faulty.path().display()
            );
            ensure!(
                row["outcome"] == "unsupported" && reason.starts_with(&directory),
                "{row}"
            );
            ensure!(
                reason.contains("the directory cannot be synced here")
                    && reason.contains("prepare=overwrite"),
                "{reason}"
            );
        }
        ensure!(
            others.iter().all(|row| row["outcome"] == "ok"),
            "{errno:?}: {others:?}"
        );
    }
    Ok(())
}
