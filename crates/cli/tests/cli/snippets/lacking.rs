//! Printed code works without optional system features.

use anyhow::{Context, Result, ensure};
use writebench_snippets::Language;
use writebench_testkit::{Image, Kind, Need, Trials, directory_on};

use super::built::{Built, needs};
use super::content::is_whole;
use super::grid::in_all_languages;

/// ext3 lacks fallocate(2), and xfs refuses a clone that ends within the file.
const ON_IMAGES: [(&str, &str); 3] = [
    (
        "ext3",
        "pwrite,chunk=64KiB,cache=direct,prepare=posix-fallocate",
    ),
    ("ext3", "pwrite,chunk=64KiB,cache=direct,prepare=fallocate"),
    ("xfs", "ficlone,prepare=overwrite"),
];

const OF_RINGS: [(&str, &str); 4] = [
    ("io_uring,chunk=16KiB,depth=4,sync=fsync/5", "fsync"),
    (
        "io_uring,chunk=16KiB,depth=4,cache=direct,sync=fdatasync",
        "fdatasync",
    ),
    ("io_uring-copy,chunk=16KiB,depth=4,sync=fsync", "fsync"),
    (
        "io_uring-copy,chunk=16KiB,depth=4,cache=direct,threads=2,descriptor=per-thread,sync=fdatasync",
        "fdatasync",
    ),
];

pub(crate) fn add(trials: &mut Trials) {
    for (language, (kind, name)) in in_all_languages(ON_IMAGES) {
        let needs = [&needs(language, name)[..], &[Need::Image(kind)]].concat();
        let title = format!(
            "snippets: {}: {name} writes the content on {kind}",
            language.name()
        );
        trials.add(title, &needs, move || {
            is_whole(name, language, &[], &Image::mount(kind, 512 << 20)?.path())
        });
    }
    for (language, (name, sync)) in in_all_languages(OF_RINGS) {
        let needs = [
            &needs(language, name)[..],
            &[Need::Strace, Need::Filesystem(Kind::Ext4)],
        ]
        .concat();
        let title = format!(
            "snippets: {}: {name} works without io_uring",
            language.name()
        );
        trials.add(title, &needs, move || {
            does_without_ring(name, language, sync)
        });
    }
}

fn does_without_ring(name: &str, language: Language, sync: &str) -> Result<()> {
    const SIZE: usize = 100_001;
    let Some(built) = Built::for_case(name, language, &[])? else {
        return Ok(());
    };
    let on = directory_on(Kind::Ext4);
    let [source, target, log] = ["source", "target", "log"].map(|name| on.path().join(name));
    let content: Vec<u8> = (0..SIZE)
        .map(|at| (at * 31 + at / 4096).to_le_bytes()[0])
        .collect();
    std::fs::write(&source, &content)?;
    let program = built.command(on.path(), &source, &target);
    let mut strace = writebench_testkit::strace();
    strace.args(["-e", "trace=io_uring_setup,fsync,fdatasync"]);
    strace
        .args(["-e", "inject=io_uring_setup:error=EPERM", "-o"])
        .arg(&log);
    strace.arg(program.get_program()).args(program.get_args());
    let output = strace.output().context("start strace")?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(std::fs::read(&target)? == content, "another content");
    // The last sync is the directory's.
    let log = std::fs::read_to_string(&log)?;
    ensure!(
        log.contains("io_uring_setup") && log.contains(&format!(" {sync}(")),
        "{log}"
    );
    ensure!(sync != "fsync" || !log.contains("fdatasync"), "{log}");
    Ok(())
}
