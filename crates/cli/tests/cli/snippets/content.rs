//! Content with no byte, one byte, and odd sizes.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_model::{Case, Prepare};
use writebench_snippets::Language;
use writebench_testkit::{Kind, Need, Trials, directory_on};

use super::built::{Built, needs};
use super::grid::{CONTENT, case, in_all_languages, streams};

pub(crate) fn add(trials: &mut Trials) {
    for (language, name) in in_all_languages(CONTENT.iter().copied()) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        trials.add(format!("snippets: {}: {name} writes the content", language.name()), &needs, move || {
            is_whole(name, language, &[], directory_on(Kind::Ext4).path())
        });
    }
    let producers = CONTENT.iter().copied().filter(|name| case(name).is_ok_and(|case| streams(&case)));
    for (language, name) in in_all_languages(producers) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let title = format!("snippets: {}: {name} writes the content of a producer", language.name());
        trials.add(title, &needs, move || {
            is_whole(name, language, &["--stream"], directory_on(Kind::Ext4).path())
        });
    }
    for (language, name) in in_all_languages(REPLACING) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let title =
            format!("snippets: {}: {name} with --atomic replaces a file when it is whole", language.name());
        trials.add(title, &needs, move || replaces(name, language));
    }
}

/// Each method of opening the file.
const REPLACING: [&str; 7] = [
    "write,sync=fsync",
    "fwrite",
    "read-write",
    "mmap",
    "pwrite,chunk=64KiB,threads=2,descriptor=per-thread,cache=direct",
    "write-files,file-size=whole,naming=rename,prepare=overwrite",
    "write-files,file-size=whole,chunk=64KiB,naming=rename,sync-files=each",
];

const SIZES: [usize; 5] = [3_000_001, 1 << 20, 8192, 1, 0];

/// Chunks differ from each other, and so do their bytes.
pub(super) fn content(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 31 + at / 4096).to_le_bytes()[0]).collect()
}

/// Sizes of an existing file. A copy replaces a longer one completely.
fn old_sizes(case: &Case, size: usize) -> impl Iterator<Item = Option<usize>> + use<> {
    let sizes = if !case.axes().prepare.needs_old_content() {
        vec![None]
    } else if case.method().copies() || case.axes().prepare == Prepare::Truncate {
        vec![Some(size), Some(size / 2), Some(size + 5000)]
    } else {
        vec![Some(size), Some(size / 2)]
    };
    sizes.into_iter()
}

pub(super) fn is_whole(name: &str, language: Language, more: &[&str], on: &Path) -> Result<()> {
    let case: Case = case(name)?;
    let Some(built) = Built::for_case(name, language, more)? else { return Ok(()) };
    let (source, target) = (on.join("source"), on.join("target"));
    for (size, old) in SIZES.into_iter().flat_map(|size| old_sizes(&case, size).map(move |old| (size, old))) {
        let content = content(size);
        std::fs::write(&source, &content)?;
        let _ = std::fs::remove_file(&target);
        if let Some(old) = old {
            std::fs::write(&target, vec![9; old])?;
        }
        let output = built.output(on, &source, &target)?;
        ensure!(output.status.success(), "{size} bytes over {old:?}: {output:?}");
        let written = std::fs::read(&target)?;
        ensure!(written.len() == size, "{} of {size} bytes", written.len());
        let other = written.iter().zip(&content).position(|(one, other)| one != other);
        ensure!(other.is_none(), "another byte at {} of {size}", other.unwrap_or_default());
    }
    // An existing file is never replaced by accident.
    if !case.axes().prepare.needs_old_content() {
        std::fs::write(&target, "old")?;
        let output = built.output(on, &source, &target)?;
        ensure!(!output.status.success() && std::fs::read(&target)? == b"old", "{output:?}");
    }
    Ok(())
}

/// This process is not a member.
const GROUP: u32 = 12_345;

fn replaces(name: &str, language: Language) -> Result<()> {
    let Some(built) = Built::for_case(name, language, &["--atomic"])? else { return Ok(()) };
    let on = directory_on(Kind::Ext4);
    let (source, target) = (on.path().join("source"), on.path().join("target"));
    std::fs::write(&source, content(100_000))?;
    std::fs::write(&target, "old")?;
    std::fs::set_permissions(&target, Permissions::from_mode(0o640))?;
    let _ = std::os::unix::fs::chown(&target, None, Some(GROUP)); // only root may
    let old = std::fs::metadata(&target)?;
    // A crashed process with the same number leaves its file.
    let program = built.command(on.path(), &source, &target);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "umask 077; : > target.$$.tmp; exec \"$@\"", "sh"]);
    shell.arg(program.get_program()).args(program.get_args()).current_dir(on.path());
    let output = shell.output()?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(std::fs::read(&target)? == content(100_000), "another content");
    let status = std::fs::metadata(&target)?;
    ensure!((status.mode(), status.gid()) == (old.mode(), old.gid()), "{old:?} became {status:?}");
    let left = std::fs::read_dir(on.path())?.count();
    ensure!(left == 3, "{left} files are there, with the source and the leftover");
    std::fs::write(&target, "old")?;
    let missing = on.path().join("missing");
    let output = built.output(on.path(), &missing, &target).context("without a source")?;
    ensure!(!output.status.success() && std::fs::read(&target)? == b"old", "{output:?}");
    Ok(())
}
