//! A failed sync of the directory, which some filesystems do not have, is reported as that.

use anyhow::{Result, ensure};
use writebench_snippets::Language;
use writebench_testkit::{Kind, Need, Trials, directory_on, strace};

use super::built::{Built, needs};
use super::grid::in_all_languages;

const CANNOT: &str = "the directory cannot be synced here";

/// With further options.
const CASES: [(&str, &[&str]); 4] = [
    ("write,sync=fsync", &[]),
    ("write,sync=fdatasync", &["--atomic"]),
    (
        "write-files,file-size=8KiB,naming=rename,sync-files=each",
        &[],
    ),
    (
        "write-files,file-size=whole,naming=tmpfile,prepare=overwrite,sync-files=batch",
        &[],
    ),
];

pub(crate) fn add(trials: &mut Trials) {
    for (language, (case, options)) in in_all_languages(CASES) {
        let needs = [
            &needs(language, case)[..],
            &[Need::Strace, Need::Filesystem(Kind::Ext4)],
        ]
        .concat();
        let name = format!(
            "snippets: {}: {case}{} names a directory whose sync fails",
            language.name(),
            options.concat()
        );
        trials.add(name, &needs, move || {
            names_directory(case, language, options)
        });
    }
}

fn names_directory(case: &str, language: Language, options: &[&str]) -> Result<()> {
    let Some(built) = Built::for_case(case, language, options)? else {
        return Ok(());
    };
    for (error, is_unable) in [("EINVAL", true), ("EBADF", true), ("EIO", false)] {
        let on = directory_on(Kind::Ext4);
        let (source, directory) = (on.path().join("source"), on.path().join("the-directory"));
        std::fs::write(&source, vec![7; 20_000])?;
        std::fs::create_dir(&directory)?;
        let is_set = case.contains("8KiB");
        let target = if is_set {
            directory.clone()
        } else {
            directory.join("file")
        };
        if case.contains("overwrite") {
            std::fs::write(&target, "old")?;
        }
        let program = built.command(on.path(), &source, &target);
        let mut strace = strace();
        strace
            .args(["-qq", "-o", "/dev/null", "-e", "trace=fsync", "-P"])
            .arg(&directory);
        strace.args(["-e", &format!("inject=fsync:error={error}")]);
        strace
            .arg(program.get_program())
            .args(program.get_args())
            .env("LC_ALL", "C");
        let output = strace.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(!output.status.success(), "{error}: {output:?}");
        ensure!(
            said.contains("sync") && said.contains("the-directory"),
            "{error}: {said}"
        );
        ensure!(said.contains(CANNOT) == is_unable, "{error}: {said}");
    }
    Ok(())
}
