//! The source of a copy: it is never emptied, it may have another length than its status, and its mode is kept.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use writebench_snippets::Language;
use writebench_testkit::{Image, Kind, Need, Trials, directory_on, entries, traced_calls};

use super::built::{Built, needs};
use super::content::content;
use super::grid::in_all_languages;

/// With the options of `code`.
type Printed = (&'static str, &'static [&'static str]);

const OVER_EXISTING: [Printed; 9] = [
    ("read-write,chunk=64KiB,prepare=truncate", &[]),
    ("read-write,chunk=64KiB,prepare=overwrite", &[]),
    ("sendfile,chunk=64KiB,prepare=truncate", &[]),
    ("pipeline,chunk=64KiB,depth=3,prepare=truncate", &[]),
    ("io_uring-copy,chunk=16KiB,depth=4,prepare=truncate", &[]),
    ("mmap-mmap,chunk=64KiB,prepare=overwrite", &[]),
    ("write,chunk=64KiB,prepare=truncate", &["--stream"]),
    ("pwrite,chunk=64KiB,prepare=overwrite", &["--stream"]),
    (CLONE, &[]),
];
/// On an image, because ext4 shares no blocks.
const CLONE: &str = "ficlone,prepare=overwrite";

/// Each method, and each way to open a file again.
const NEW: [Printed; 15] = [
    ("read-write,chunk=64KiB", &[]),
    ("read-write,chunk=64KiB,sync=fsync", &["--atomic"]),
    ("read-write,chunk=64KiB,cache=direct", &[]),
    (
        "read-write,chunk=64KiB,threads=2,descriptor=per-thread",
        &[],
    ),
    ("pipeline,chunk=64KiB,depth=3", &[]),
    ("mmap-write,chunk=64KiB", &[]),
    (
        "mmap-write,chunk=64KiB,threads=2,descriptor=per-thread,cache=direct",
        &["--atomic"],
    ),
    ("read-mmap,chunk=64KiB", &[]),
    (
        "read-mmap,chunk=64KiB,threads=2,descriptor=per-thread,map=per-thread",
        &[],
    ),
    ("mmap-mmap,chunk=64KiB", &[]),
    ("io_uring-copy,chunk=16KiB,depth=4", &[]),
    ("io_uring-copy,chunk=16KiB,depth=4,cache=direct", &[]),
    ("splice,chunk=64KiB", &[]),
    ("sendfile,chunk=64KiB", &[]),
    ("copy-file-range,chunk=64KiB", &[]),
];

/// Each method that keeps holes, and each way to do so.
const KEEPING_HOLES: [Printed; 6] = [
    ("read-write,chunk=64KiB,holes=keep", &[]),
    (
        "read-write,chunk=64KiB,threads=3,descriptor=per-thread,advice=sequential,sync=fdatasync,holes=keep",
        &["--atomic"],
    ),
    ("read-write,chunk=64KiB,cache=direct,holes=keep", &[]),
    ("splice,chunk=64KiB,prepare=truncate,holes=keep", &[]),
    ("sendfile,chunk=64KiB,advice=sequential,holes=keep", &[]),
    ("copy-file-range,chunk=64KiB,holes=keep", &[]),
];

/// Programs that read their data first.
const READING: [Printed; 3] = [
    ("write,chunk=64KiB", &[]),
    ("pwrite,chunk=64KiB,cache=direct,memory=huge-pages", &[]),
    ("mmap", &[]),
];

pub(crate) fn add(trials: &mut Trials) {
    for (language, (name, more)) in in_all_languages(OVER_EXISTING) {
        let place = if name == CLONE {
            Need::Image("xfs")
        } else {
            Need::Filesystem(Kind::Ext4)
        };
        let needs = [&needs(language, name)[..], &[place]].concat();
        let words = more.concat();
        let title = format!(
            "snippets: {}: {name}{words} does not empty its own source",
            language.name()
        );
        trials.add(title, &needs, move || {
            if name == CLONE {
                spares_source(
                    name,
                    language,
                    more,
                    &Image::mount("xfs", 512 << 20)?.path(),
                )
            } else {
                spares_source(name, language, more, directory_on(Kind::Ext4).path())
            }
        });
    }
    let all_or_nothing = NEW.into_iter().chain(KEEPING_HOLES).chain(READING);
    for (language, (name, more)) in in_all_languages(all_or_nothing) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let words = more.concat();
        let title = format!(
            "snippets: {}: {name}{words} copies a source to its end or fails",
            language.name()
        );
        trials.add(title, &needs, move || {
            is_all_or_nothing(name, language, more)
        });
    }
    for (language, (name, more)) in in_all_languages(KEEPING_HOLES) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let title = format!(
            "snippets: {}: {name}{} keeps the holes of a source",
            language.name(),
            more.concat()
        );
        trials.add(title, &needs, move || keeps_holes(name, language, more));
    }
    for (language, (name, more)) in in_all_languages(NEW) {
        let place = [
            Need::Strace,
            Need::Program("setpriv"),
            Need::Filesystem(Kind::Ext4),
        ];
        let needs = [&needs(language, name)[..], &place].concat();
        let words = more.concat();
        let title = format!(
            "snippets: {}: {name}{words} gives a copy its source's mode",
            language.name()
        );
        trials.add(title, &needs, move || keeps_mode(name, language, more));
    }
}

/// Data of several lengths with holes between, and at the end of the file or not.
fn keeps_holes(name: &str, language: Language, more: &[&str]) -> Result<()> {
    let Some(built) = Built::for_case(name, language, more)? else {
        return Ok(());
    };
    let on = directory_on(Kind::Ext4);
    let [source, target] = ["source", "target"].map(|name| on.path().join(name));
    for (size, all) in [
        (
            2 << 20,
            &[(0, 4096), (512 << 10, 300 << 10), (1 << 20, 70_000)][..],
        ),
        ((1 << 20) + 100, &[(64 << 10, 4096), (1 << 20, 100)]),
        (1 << 20, &[]),
        (100_000, &[(0, 100_000)]),
    ] {
        let file = File::create(&source)?;
        file.set_len(size)?;
        for &(offset, length) in all {
            file.write_all_at(&content(length), offset)?;
        }
        file.sync_all()?;
        if name.contains("prepare=truncate") {
            std::fs::write(&target, content(200_000))?;
        }
        let output = built.output(on.path(), &source, &target)?;
        ensure!(output.status.success(), "{size}: {output:?}");
        ensure!(
            std::fs::read(&target)? == std::fs::read(&source)?,
            "{size}: another content"
        );
        File::open(&target)?.sync_all()?;
        let [of_source, of_copy] = [source.metadata()?.blocks(), target.metadata()?.blocks()];
        ensure!(
            of_source == of_copy,
            "{size}: {of_copy} blocks, {of_source} of the source"
        );
        std::fs::remove_file(&target)?;
    }
    Ok(())
}

/// By its own name, a hard link and a symbolic one.
fn spares_source(name: &str, language: Language, more: &[&str], on: &Path) -> Result<()> {
    let Some(built) = Built::for_case(name, language, more)? else {
        return Ok(());
    };
    let source = on.join("source");
    std::fs::write(&source, content(100_000))?;
    let [hard, soft, other] = ["hard", "soft", "other"].map(|name| on.join(name));
    std::fs::hard_link(&source, &hard)?;
    symlink("source", &soft)?;
    for target in [&source, &hard, &soft] {
        let output = built.output(on, &source, target)?;
        ensure!(!output.status.success(), "{}: {output:?}", target.display());
        ensure!(
            std::fs::read(&source)? == content(100_000),
            "{} was written: {output:?}",
            target.display()
        );
    }
    std::fs::write(&other, content(200_000))?;
    let output = built.output(on, &source, &other)?;
    ensure!(output.status.success(), "{output:?}");
    // A producer's data may end before an overwritten file.
    let end = if name.contains("prepare=overwrite") && !more.is_empty() {
        100_000
    } else {
        usize::MAX
    };
    let copied = std::fs::read(&other)?;
    ensure!(
        copied[..copied.len().min(end)] == content(100_000),
        "another content"
    );
    Ok(())
}

/// Files of /proc have no length, files of /sys have one that is too long, and pipes have none.
fn is_all_or_nothing(name: &str, language: Language, more: &[&str]) -> Result<()> {
    let Some(built) = Built::for_case(name, language, more)? else {
        return Ok(());
    };
    let on = directory_on(Kind::Ext4);
    let target = on.path().join("target");
    let fails = |output: &Output, source: &str| {
        ensure!(
            !output.status.success() && !output.stderr.is_empty(),
            "{source}: {output:?}"
        );
        ensure!(
            !target.exists(),
            "{source}: a file of {} bytes is left",
            target.metadata()?.len()
        );
        Ok(())
    };
    for source in [
        "/proc/cpuinfo",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/dev/null",
        "/proc",
    ] {
        fails(
            &built.output(on.path(), Path::new(source), &target)?,
            source,
        )?;
    }
    let mut command = built.command(on.path(), Path::new("/dev/stdin"), &target);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // The program may have ended already.
    let _ = child
        .stdin
        .take()
        .context("a pipe")?
        .write_all(&content(10_000));
    fails(&child.wait_with_output()?, "a pipe")
}

/// As root, a rename over /dev/null would make it a file for all programs.
fn keeps_pipe(built: &Built, directory: &Path, source: &Path, target: &Path) -> Result<()> {
    std::fs::remove_file(target)?;
    ensure!(
        Command::new("mkfifo").arg(target).status()?.success(),
        "mkfifo"
    );
    let before = entries(directory);
    let output = built.output(directory, source, target)?;
    ensure!(
        !output.status.success() && target.metadata()?.file_type().is_fifo(),
        "{output:?}"
    );
    ensure!(entries(directory) == before, "{:?}", entries(directory));
    Ok(())
}

/// Of the group and others: nothing.
const UMASK: u32 = 0o027;

fn keeps_mode(name: &str, language: Language, more: &[&str]) -> Result<()> {
    let Some(built) = Built::for_case(name, language, more)? else {
        return Ok(());
    };
    let on = directory_on(Kind::Ext4);
    let [source, target, log] = ["source", "target", "log"].map(|name| on.path().join(name));
    for mode in [0o600, 0o444, 0o755] {
        std::fs::write(&source, content(300_001))?;
        std::fs::set_permissions(&source, Permissions::from_mode(mode))?;
        let program = built.command(on.path(), &source, &target);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("umask {UMASK:o}; exec \"$@\""), "sh"]);
        // Root may open any file.
        shell.args([
            "setpriv",
            "--bounding-set=-dac_override",
            "--inh-caps=-dac_override",
        ]);
        shell
            .args(["strace", "-f", "-e", "trace=open,openat", "-o"])
            .arg(&log);
        shell
            .arg(program.get_program())
            .args(program.get_args())
            .current_dir(on.path());
        let output = shell.output()?;
        ensure!(output.status.success(), "{mode:o}: {output:?}");
        let (copied, wanted) = (target.metadata()?.mode() & 0o777, mode & !UMASK);
        ensure!(
            copied == wanted,
            "{copied:o} of {mode:o} with umask {UMASK:o}"
        );
        ensure!(
            std::fs::read(&target)? == content(300_001),
            "another content"
        );
        // From the beginning.
        let calls = traced_calls(&std::fs::read_to_string(&log)?);
        let made: Vec<&String> = calls
            .iter()
            .filter(|line| line.contains("target") && line.contains("O_CREAT"))
            .collect();
        let is_narrow = |line: &&String| {
            let (arguments, _) = line.rsplit_once(')').unwrap_or_default();
            let (_, digits) = arguments.rsplit_once(", ").unwrap_or_default();
            u32::from_str_radix(digits, 8).is_ok_and(|made| made & 0o077 == mode & 0o077)
        };
        ensure!(
            !made.is_empty() && made.iter().all(is_narrow),
            "{mode:o}: {made:?}"
        );
        // A replaced file keeps its own.
        if more.contains(&"--atomic") {
            std::fs::set_permissions(&target, Permissions::from_mode(0o640))?;
            ensure!(built.output(on.path(), &source, &target)?.status.success());
            ensure!(
                target.metadata()?.mode() & 0o777 == 0o640,
                "{:o}",
                target.metadata()?.mode()
            );
            keeps_pipe(&built, on.path(), &source, &target)?;
        }
        std::fs::remove_file(&target)?;
        std::fs::remove_file(&source)?;
    }
    Ok(())
}
