//! A terminal is resized during a run, and sends Ctrl-C.

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, Need, Program, Trials, directory_on, entries, wait_for};

use crate::program;
use crate::terminal::Terminal;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::Filesystem(Kind::Tmpfs), Need::Program("setsid")];
    trials.add("a resized terminal has no partial lines", &needs, resized);
    trials.add(
        "the table has the terminal's width at the end",
        &needs,
        width_at_the_end,
    );
}

const WIDE: u16 = 160;
const NARROW: u16 = 44;

const CASES: [&str; 9] = [
    "--case",
    "write,size=2MiB,chunk=64KiB,prepare=fallocate",
    "--case",
    "pwrite,size=2MiB,chunk=64KiB,prepare=fallocate",
    "--samples",
    "1000",
    "--yes",
    "--seed",
    "1",
];

fn start(program: &Program, target: &std::path::Path, columns: u16) -> Result<Terminal> {
    let path = target.to_str().context("UTF-8")?;
    Terminal::start(
        &program.command(&[&["run", path, "--no-limits"], &CASES[..]].concat()),
        columns,
    )
}

fn wait_for_drawings(terminal: &Terminal, more: usize) -> Result<usize> {
    let drawings = || terminal.shown().matches(" samples").count();
    let before = drawings();
    wait_for("the bar", || (drawings() >= before + more).then_some(()))?;
    Ok(terminal.shown().len())
}

/// The text between two moves to the first column.
fn lines(shown: &str) -> Vec<String> {
    shown
        .split(['\r', '\n'])
        .map(without_styles)
        .filter(|line| !line.trim().is_empty())
        .collect()
}

fn without_styles(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part
            .trim_start_matches(|character: char| !character.is_ascii_alphabetic())
            .get(1..)
            .unwrap_or_default();
    }
    text
}

fn fit(lines: &[String], columns: u16) -> Result<()> {
    for line in lines {
        ensure!(
            line.chars().count() <= columns.into(),
            "more than {columns} columns: {line:?}"
        );
    }
    Ok(())
}

fn resized() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut terminal = start(&program, target.path(), WIDE)?;
    wait_for_drawings(&terminal, 3)?;
    terminal.resize(NARROW)?;
    // The current drawing may still be wide.
    let narrow_from = wait_for_drawings(&terminal, 2)?;
    let narrow_to = wait_for_drawings(&terminal, 3)?;
    terminal.resize(WIDE)?;
    let wide_from = wait_for_drawings(&terminal, 2)?;
    let wide_to = wait_for_drawings(&terminal, 3)?;
    terminal.press("\u{3}")?;
    let (status, shown) = terminal.end()?;
    ensure!(status.code() == Some(130), "{status}: {shown}");
    let narrow = lines(&shown[narrow_from..narrow_to]);
    ensure!(!narrow.is_empty(), "or this test shows nothing");
    fit(&narrow, NARROW)?;
    let wide = lines(&shown[wide_from..wide_to]);
    fit(&wide, WIDE)?;
    ensure!(
        wide.iter().any(|line| line.contains("fallocate(2), then")),
        "the case has room again: {wide:?}"
    );
    ensure!(
        !shown.contains("panicked") && shown.contains("interrupted"),
        "{shown}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

fn width_at_the_end() -> Result<()> {
    let mut tables = Vec::new();
    for (first, last) in [(NARROW, WIDE), (WIDE, 80)] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let mut terminal = start(&program, target.path(), first)?;
        wait_for_drawings(&terminal, 3)?;
        terminal.resize(last)?;
        let from = wait_for_drawings(&terminal, 3)?;
        terminal.press("\u{3}")?;
        let (status, shown) = terminal.end()?;
        ensure!(status.code() == Some(130), "{status}: {shown}");
        let shown = lines(&shown[from..]);
        let table = shown
            .iter()
            .position(|line| line.starts_with("case"))
            .context("a table")?;
        fit(&shown[table..=table + 2], last)?;
        tables.push(shown[table + 1..=table + 2].join("\n"));
    }
    let has_more = |table: &String| table.contains("CPU ms:");
    ensure!(has_more(&tables[0]) && !has_more(&tables[1]), "{tables:#?}");
    Ok(())
}
