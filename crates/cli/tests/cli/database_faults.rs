//! A damaged or full database costs neither the target nor recorded samples.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use writebench_testkit::{
    Ended, Image, Kind, Mounted, Need, Program, Trials, directory_on, entries,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a damaged database is not mistaken for a missing search",
        &[],
        no_search,
    );
    trials.add(
        "a database on a full disk keeps its samples, and its run is resumed",
        &[Need::Root],
        full,
    );
    trials.add(
        "a database on a read-only disk is shown",
        &[Need::Image("ext4")],
        read_only,
    );
    trials.add(
        "a truncated or overwritten database is reported in one line",
        &tmpfs,
        corrupted,
    );
    trials.add(
        "four simultaneous runs create one database",
        &tmpfs,
        four_at_once,
    );
}

const CASES: [&str; 5] = [
    "--case",
    "write,size=4KiB",
    "--samples",
    "12",
    "--no-limits",
];

fn no_search() -> Result<()> {
    let program = program()?;
    let code = ["code", "--lang", "c"];
    let none = program.call(&code)?;
    ensure!(
        none.code == Some(2) && none.stderr.contains("there is no run yet"),
        "{none:?}"
    );
    let file = program.home().join("writebench/writebench.db");
    std::fs::create_dir_all(file.with_file_name(""))?;
    std::fs::write(
        &file,
        "no database, and longer than the header of one; ".repeat(20),
    )?;
    let damaged = program.call(&code)?;
    ensure!(
        damaged.code == Some(1)
            && damaged
                .stderr
                .contains("file is not a database. Name another with --db. If"),
        "{damaged:?}"
    );
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
    let others = program.call(&code)?;
    ensure!(
        others.code == Some(3) && others.stderr.contains("chmod go-w"),
        "{others:?}"
    );
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn one_line(ended: &Ended) -> Result<()> {
    let stderr = &ended.stderr;
    ensure!(
        stderr.trim_end().lines().count() == 1 && stderr.starts_with("writebench: database "),
        "{ended:?}"
    );
    Ok(())
}

fn rows(program: &Program, database: &str) -> Result<Vec<String>> {
    let shown = program.call(&["--db", database, "show", "--export", "csv=-"])?;
    ensure!(shown.code == Some(0), "{shown:?}");
    Ok(shown.stdout.lines().skip(1).map(str::to_owned).collect())
}

fn full() -> Result<()> {
    // Enough space for the tables, but not for all samples.
    let (program, target, disk) = (
        program()?,
        directory_on(Kind::Tmpfs),
        Mounted::tmpfs(256 << 10)?,
    );
    let file = disk.path().join("db");
    let database = text(&file)?;
    let path = text(target.path())?;
    let case = [
        "--case",
        "write,size=4KiB",
        "--samples",
        "60",
        "--no-limits",
    ];
    let ended = program.call(&[&["--quiet", "--db", database, "run", path], &case[..]].concat())?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("full"),
        "{ended:?}"
    );
    one_line(&ended)?;
    ensure!(
        entries(target.path()).is_empty(),
        "left behind: {:?}",
        entries(target.path())
    );
    disk.remount("size=16M")?;
    let before = rows(&program, database)?;
    ensure!(
        !before.is_empty() && before.len() < 60,
        "{} samples",
        before.len()
    );
    let resumed = program.call(&["--db", database, "run", "--resume"])?;
    ensure!(resumed.code == Some(0), "{resumed:?}");
    let after = rows(&program, database)?;
    ensure!(
        after.len() >= 60 && before.iter().all(|row| after.contains(row)),
        "{before:?} {after:?}"
    );
    Ok(())
}

fn read_only() -> Result<()> {
    let (program, target, image) = (
        program()?,
        directory_on(Kind::Tmpfs),
        Image::mount("ext4", 32 << 20)?,
    );
    let file = image.path().join("db");
    let database = text(&file)?;
    let run = [&["--db", database, "run", text(target.path())?], &CASES[..]].concat();
    let ended = program.call(&run)?;
    ensure!(ended.code == Some(0), "{ended:?}");
    image.remount("ro")?;
    let shown = rows(&program, database);
    let refused = program.call(&run)?;
    image.remount("rw")?;
    ensure!(shown?.len() >= 12);
    ensure!(
        refused.code == Some(1) && refused.stderr.contains("--db"),
        "{refused:?}"
    );
    one_line(&refused)?;
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn corrupted() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    program.run(target.path(), &CASES, 0)?;
    let whole = std::fs::read(program.home().join("writebench/writebench.db"))?;
    let file: PathBuf = program.home().join("corrupted.db");
    let mut said = 0;
    for step in 1..=24 {
        let at = whole.len() * step / 25;
        let mut overwritten = whole.clone();
        let end = (at + 4096).min(whole.len());
        for (index, byte) in overwritten[at..end].iter_mut().enumerate() {
            *byte = u8::try_from((index * 7919 + step * 104_729) % 251)?;
        }
        for damaged in [whole[..at].to_vec(), overwritten] {
            let _ = std::fs::remove_file(file.with_extension("db-wal"));
            std::fs::write(&file, damaged)?;
            for arguments in [&["show"][..], &["run", text(target.path())?, "--quiet"]] {
                let ended = program.call(
                    &[&["--db", text(&file)?], arguments, &CASES[..]]
                        [..if arguments.len() == 1 { 2 } else { 3 }]
                        .concat(),
                )?;
                ensure!(!ended.stderr.contains("panicked"), "{ended:?}");
                // SQLite does not notice damage to unread pages.
                if ended.code != Some(0) {
                    ensure!(matches!(ended.code, Some(1 | 2)), "{ended:?}");
                    ensure!(ended.stderr.trim_end().lines().count() == 1, "{ended:?}");
                    said += 1;
                }
                ensure!(
                    entries(target.path()).is_empty(),
                    "{:?}",
                    entries(target.path())
                );
            }
        }
    }
    ensure!(said > 24, "{said} were said");
    Ok(())
}

fn four_at_once() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let arguments = [&["run", text(target.path())?], &CASES[..]].concat();
    let children: Vec<_> = (0..4)
        .map(|_| program.start(&arguments))
        .collect::<Result<_>>()?;
    for child in children {
        let output = child.wait_with_output()?;
        ensure!(output.status.code() == Some(0), "{output:?}");
    }
    let runs = program.call(&["runs"])?.stdout;
    ensure!(
        runs.lines()
            .filter(|line| line.contains("complete"))
            .count()
            == 4,
        "{runs}"
    );
    ensure!(entries(target.path()).is_empty());
    Ok(())
}
