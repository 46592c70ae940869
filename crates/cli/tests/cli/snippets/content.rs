//! Content with no byte, one byte, and odd sizes.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use writebench_model::{Case, Naming, Prepare};
use writebench_snippets::Language;
use writebench_testkit::{Kind, Need, Trials, directory_on};

use super::built::{Built, files_at, needs};
use super::grid::{CONTENT, LOGS, SETS, appends, case, in_all_languages, streams};
use super::log_file;

pub(crate) fn add(trials: &mut Trials) {
    for (language, name) in in_all_languages(CONTENT.iter().copied()) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        trials.add(
            format!("snippets: {}: {name} writes the content", language.name()),
            &needs,
            move || is_whole(name, language, &[], directory_on(Kind::Ext4).path()),
        );
    }
    let producers = CONTENT
        .iter()
        .copied()
        .filter(|name| case(name).is_ok_and(|case| streams(&case)));
    for (language, name) in in_all_languages(producers) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let title = format!(
            "snippets: {}: {name} writes the content of a producer",
            language.name()
        );
        trials.add(title, &needs, move || {
            is_whole(
                name,
                language,
                &["--stream"],
                directory_on(Kind::Ext4).path(),
            )
        });
    }
    for (language, name) in in_all_languages(CONTENT.iter().chain(LOGS).copied()) {
        if !case(name).is_ok_and(|case| appends(&case, language)) {
            continue;
        }
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let title = format!(
            "snippets: {}: {name} writes the content to a log",
            language.name()
        );
        trials.add(title, &needs, move || appends_content(name, language));
    }
    for (language, name) in in_all_languages(REPLACING) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let more: &[&str] = if name.starts_with("write-files") {
            &[]
        } else {
            &["--atomic"]
        };
        let words = more
            .iter()
            .map(|option| format!(" with {option}"))
            .collect::<String>();
        let title = format!(
            "snippets: {}: {name}{words} replaces a file when it is whole",
            language.name()
        );
        trials.add(title, &needs, move || replaces(name, language, more));
    }
    let sets = SETS.iter().copied().filter(|name| !name.contains("whole,"));
    for (language, name) in in_all_languages(sets) {
        let needs = [&needs(language, name)[..], &[Need::Filesystem(Kind::Ext4)]].concat();
        let title = format!("snippets: {}: {name} writes the files", language.name());
        trials.add(title, &needs, move || writes_set(name, language));
    }
}

/// Each method of opening the file.
const REPLACING: [&str; 11] = [
    "write,sync=fsync",
    "fwrite",
    "read-write",
    "mmap",
    "pwrite,chunk=64KiB,threads=2,descriptor=per-thread,cache=direct",
    "write-files,file-size=whole,naming=rename,prepare=overwrite",
    "write-files,file-size=whole,chunk=64KiB,naming=rename,sync-files=each",
    "write-files,file-size=whole,naming=exchange,prepare=overwrite",
    "write-files,file-size=whole,naming=exchange,prepare=overwrite,sync-files=syncfs",
    "write-files,file-size=whole,naming=tmpfile,prepare=overwrite,sync-files=each",
    "write-files,file-size=whole,naming=rename,prepare=overwrite,sync-files=writeback",
];

const SIZES: [usize; 4] = [3_000_001, 1 << 20, 1, 0];

/// Chunks differ from each other, and so do their bytes.
pub(super) fn content(size: usize) -> Vec<u8> {
    static LONGEST: LazyLock<Vec<u8>> = LazyLock::new(|| {
        (0..SIZES[0])
            .map(|at| (at * 31 + at / 4096).to_le_bytes()[0])
            .collect()
    });
    LONGEST[..size].to_vec()
}

/// Sizes of an existing file. A copy replaces a longer one completely.
fn old_sizes(case: &Case, size: usize) -> impl Iterator<Item = Option<usize>> + use<> {
    let sizes = if !case.choices().prepare.needs_old_content() {
        vec![None]
    } else if case.method().copies() || case.choices().prepare == Prepare::Truncate {
        vec![Some(size), Some(size / 2), Some(size + 5000)]
    } else {
        vec![Some(size), Some(size / 2)]
    };
    sizes.into_iter()
}

pub(super) fn is_whole(name: &str, language: Language, more: &[&str], on: &Path) -> Result<()> {
    let case: Case = case(name)?;
    let Some(built) = Built::for_case(name, language, more)? else {
        return Ok(());
    };
    let (source, target) = (on.join("source"), on.join("target"));
    for (size, old) in SIZES
        .into_iter()
        .flat_map(|size| old_sizes(&case, size).map(move |old| (size, old)))
    {
        let content = content(size);
        std::fs::write(&source, &content)?;
        let _ = std::fs::remove_file(&target);
        if let Some(old) = old {
            std::fs::write(&target, vec![9; old])?;
        }
        let output = built.output(on, &source, &target)?;
        ensure!(
            output.status.success(),
            "{size} bytes over {old:?}: {output:?}"
        );
        let written = std::fs::read(&target)?;
        ensure!(written.len() == size, "{} of {size} bytes", written.len());
        let other = || {
            written
                .iter()
                .zip(&content)
                .position(|(one, other)| one != other)
        };
        ensure!(
            written == content,
            "another byte at {:?} of {size}",
            other()
        );
    }
    // An existing file is never replaced by accident.
    if !case.choices().prepare.needs_old_content() {
        std::fs::write(&target, "old")?;
        let output = built.output(on, &source, &target)?;
        ensure!(
            !output.status.success() && std::fs::read(&target)? == b"old",
            "{output:?}"
        );
    }
    Ok(())
}

/// Twice: to a new log, and to the same log again.
fn appends_content(name: &str, language: Language) -> Result<()> {
    let Some(built) = Built::for_case(name, language, &["--append"])? else {
        return Ok(());
    };
    let on = directory_on(Kind::Ext4);
    let (source, target) = (on.path().join("source"), on.path().join("target"));
    for size in SIZES {
        let content = content(size);
        std::fs::write(&source, &content)?;
        let _ = std::fs::remove_file(&target);
        for times in 1..=2 {
            let output = built.output(on.path(), &source, &target)?;
            ensure!(output.status.success(), "{size} bytes: {output:?}");
            let file = std::fs::read(&target)?;
            let (records, rest) = log_file::records(&file)?;
            ensure!(
                rest.is_empty() && records.concat() == content.repeat(times),
                "other records of {size} bytes"
            );
        }
    }
    // Other files are left as they are: text, zeros before text, and no regular file.
    for other in [
        &b"old"[..],
        &[&[0; 5000][..], b"old"].concat(),
        &[b'x'; 9000],
    ] {
        std::fs::write(&target, other)?;
        let output = built.output(on.path(), &source, &target)?;
        ensure!(
            !output.status.success() && std::fs::read(&target)? == other,
            "{output:?}"
        );
    }
    let output = built.output(on.path(), &source, Path::new("/dev/null"))?;
    ensure!(!output.status.success(), "{output:?}");
    Ok(())
}

/// This process is not a member.
const GROUP: u32 = 12_345;

fn writes_set(name: &str, language: Language) -> Result<()> {
    let case: Case = case(name)?;
    let Some(built) = Built::for_case(name, language, &[])? else {
        return Ok(());
    };
    let on = directory_on(Kind::Ext4);
    let (source, target) = (on.path().join("source"), on.path().join("target"));
    let replaces = case.choices().prepare.needs_old_content();
    for size in SIZES {
        let content = content(size);
        std::fs::write(&source, &content)?;
        let _ = std::fs::remove_dir_all(&target);
        std::fs::create_dir(&target)?;
        let files = files_at(&target, &case, &content);
        for (path, content) in files.iter().filter(|_| replaces) {
            std::fs::write(path, vec![9; content.len()])?;
            std::fs::set_permissions(path, Permissions::from_mode(0o640))?;
        }
        let output = built.output(on.path(), &source, &target)?;
        ensure!(output.status.success(), "{size} bytes: {output:?}");
        for (path, content) in &files {
            ensure!(
                std::fs::read(path)? == *content,
                "another content of {}",
                path.display()
            );
            let mode = std::fs::metadata(path)?.mode() & 0o777;
            ensure!(
                !replaces || mode == 0o640,
                "{} has mode {mode:o}",
                path.display()
            );
        }
        let left = std::fs::read_dir(&target)?.count();
        ensure!(
            left == files.len(),
            "{left} of {} files are there",
            files.len()
        );
    }
    // A file that exists is never replaced by accident.
    if !replaces && case.choices().naming == Naming::Direct {
        let (source_bytes, first) = (content(20_000), target.join("writebench0000000"));
        std::fs::write(&source, source_bytes)?;
        std::fs::write(&first, "old")?;
        let output = built.output(on.path(), &source, &target)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(
            !output.status.success() && errors.contains("writebench0000000"),
            "{output:?}"
        );
        ensure!(std::fs::read(&first)? == b"old", "another content");
    }
    Ok(())
}

fn replaces(name: &str, language: Language, more: &[&str]) -> Result<()> {
    let Some(built) = Built::for_case(name, language, more)? else {
        return Ok(());
    };
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
    shell
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(on.path());
    let output = shell.output()?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(
        std::fs::read(&target)? == content(100_000),
        "another content"
    );
    let status = std::fs::metadata(&target)?;
    ensure!(
        (status.mode(), status.gid()) == (old.mode(), old.gid()),
        "{old:?} became {status:?}"
    );
    let left = std::fs::read_dir(on.path())?.count();
    ensure!(
        left == 3,
        "{left} files are there, with the source and the leftover"
    );
    std::fs::write(&target, "old")?;
    let missing = on.path().join("missing");
    let output = built
        .output(on.path(), &missing, &target)
        .context("without a source")?;
    ensure!(
        !output.status.success() && std::fs::read(&target)? == b"old",
        "{output:?}"
    );
    Ok(())
}
