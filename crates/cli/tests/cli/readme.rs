//! The README's example and limits, and the words of the tables.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, Need, Trials, directory_on};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let ext4 = Need::Filesystem(Kind::Ext4);
    trials.add(
        "the tables have the columns that the documents explain",
        &[ext4],
        words,
    );
    trials.add(
        "README: its example has the lines of an answer",
        &[ext4],
        example,
    );
    trials.add(
        "README: nothing of a run stays in its directory",
        &[ext4],
        traces,
    );
    trials.add("README: it is short", &[], lines);
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn readme() -> Result<String> {
    let path = root().join("README.md");
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn words() -> Result<()> {
    let (program, data) = (program()?, directory_on(Kind::Ext4));
    let names = [
        "write,size=64KiB,sync=fsync",
        "write,size=64KiB",
        "allocate,size=1048576TiB,call=fallocate",
    ];
    let cases: Vec<&str> = names
        .into_iter()
        .flat_map(|name| ["--case", name])
        .chain(["--yes"])
        .collect();
    program.run(data.path(), &cases, 4)?;
    let shown = program.call(&["show", "--all"])?.stdout;
    for words in [
        "total",
        "95% CI",
        "write alone",
        "limit",
        "ms:",
        "CPU ms:",
        "n",
        "vs. plain write",
    ] {
        let columns = words.split(' ').count();
        ensure!(
            shown
                .split_whitespace()
                .collect::<Vec<_>>()
                .windows(columns)
                .any(|window| window.join(" ") == words),
            "{words}: {shown}"
        );
    }
    ensure!(shown.contains("failed: fallocate: "), "{shown}");
    let dry = program.call(&[
        "advise",
        data.path().to_str().context("UTF-8")?,
        "--for",
        "stream",
        "--dry-run",
    ])?;
    ensure!(
        dry.stdout.starts_with("write,size=64MiB\n"),
        "the baseline is `write` of 1 MiB: {}",
        dry.stdout
    );
    Ok(())
}

fn example() -> Result<()> {
    let (program, data) = (program()?, directory_on(Kind::Ext4));
    program.run(data.path(), &["--size", "64KiB", "--no-limits"], 0)?;
    let printed = program.call(&["show"])?.stdout;
    let readme = readme()?;
    let example = readme
        .split("```text\n$ writebench run")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .context("an example")?;
    let heading = |text: &str| {
        text.lines()
            .find(|line| line.contains("vs. plain (95 % CI)"))
            .map(str::to_owned)
    };
    let columns = |line: String| {
        line.split("  ")
            .map(|cell| cell.trim().to_owned())
            .filter(|cell| !cell.is_empty())
            .collect::<Vec<_>>()
    };
    let shown = columns(heading(&printed).context("a heading")?);
    for column in columns(heading(example).context("a heading in the example")?) {
        ensure!(shown.contains(&column), "{column} is not among {shown:?}");
    }
    for goal in [
        "In the page cache: ",
        "  new file  ",
        "  copy  ",
        "On the disk: ",
    ] {
        let has = |text: &str| text.lines().any(|line| line.starts_with(goal));
        ensure!(has(&printed) && has(example), "{goal}: {printed}");
    }
    Ok(())
}

fn traces() -> Result<()> {
    let (program, data) = (program()?, directory_on(Kind::Ext4));
    std::fs::write(data.path().join("mine"), "mine")?;
    program.run(
        data.path(),
        &["--case", "write", "--size", "64KiB", "--samples", "1"],
        0,
    )?;
    let names: Vec<_> = std::fs::read_dir(data.path())?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    ensure!(
        names == ["mine"] && std::fs::read(data.path().join("mine"))? == b"mine",
        "{names:?}"
    );
    Ok(())
}

fn lines() -> Result<()> {
    let readme = readme()?;
    let lines = readme
        .lines()
        .filter(|line| !line.contains("]: https://"))
        .count();
    ensure!(lines <= 120, "{lines} lines");
    ensure!(
        readme
            .lines()
            .all(|line| line.chars().count() <= 100 || line.starts_with(['|', '!', '[']))
    );
    Ok(())
}
