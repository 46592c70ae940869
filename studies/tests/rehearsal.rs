//! Each study once, with tiny sizes. A study judges speeds, and this one does not: a busy machine has any speed.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use writebench_testkit::{Need, Trials};

const PROGRAM: Need = Need::Variable("WRITEBENCH");

fn main() -> ExitCode {
    let mut trials = Trials::default();
    let mut add = |name: &str, needs: &[Need], test: fn() -> Result<()>| {
        let needs = [&[PROGRAM], needs].concat();
        trials.add(format!("rehearsal: {name}"), &needs, test);
    };
    add(
        "parity compares printed C with its cases",
        &[Need::Program("cc")],
        || compares(&["--only", "pwrite,chunk=64KiB"], 1),
    );
    add("parity compares cp and dd with copies", &[], || {
        compares(&["--tools"], 4)
    });
    add(
        "parity reads the times that fio reports",
        &[Need::Program("fio")],
        || compares(&["--fio", "--only", "pwrite,chunk=64KiB"], 1),
    );
    add(
        "parity gives printed functions a free producer",
        &["cc", "c++", "rustc"].map(Need::Program),
        || compares(&["--streams", "--only", "write,chunk=64KiB"], 3),
    );
    add(
        "parity compares the printed code of every language",
        &["cc", "c++", "rustc", "python3", "node", "go", "javac"].map(Need::Program),
        || compares(&["--snippets", "--only", "write,chunk=4KiB"], 7),
    );
    add(
        "frontier writes the best of both sides",
        &[],
        frontier_writes_the_best_of_both_sides,
    );
    add(
        "advise keeps its answer in the grid",
        &[Need::Program("cc")],
        advise_keeps_its_answer_in_the_grid,
    );
    add(
        "grid measures a filesystem that it makes on fewer CPUs",
        &[Need::Fuse],
        grid_measures_a_filesystem_that_it_makes_on_fewer_cpus,
    );
    add(
        "advise judges several goals of a first answer",
        &[],
        advise_judges_several_goals_of_a_first_answer,
    );
    add(
        "replay has rates for known and for left-out environments",
        &[],
        replay_has_rates_for_known_and_for_left_out_environments,
    );
    add(
        "powerloss finds a mistake, and none in printed code",
        &[Need::Fuse, Need::Image("ext4"), Need::Program("cc")],
        powerloss_finds_a_mistake_and_none_in_printed_code,
    );
    add(
        "the soak counts what is left behind",
        &[Need::Root, Need::Fuse, Need::Bindfs],
        the_soak_counts_what_is_left_behind,
    );
    trials.run(1)
}

/// Each case of the table has a speed, and each column a ratio or the mark of a language without the case.
fn compares(options: &[&str], columns: usize) -> Result<()> {
    let target = folder()?;
    let tiny = ["--size", "4MiB", "--rounds", "6"];
    let text = study("parity", target.path(), &[&tiny, options].concat())?;
    let rows = text.lines().skip_while(|line| !line.starts_with("|---"));
    let rows: Vec<&str> = rows.skip(1).collect();
    ensure!(!rows.is_empty(), "no case in {text}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        ensure!(cells.len() == 2 + columns, "{columns} columns: {row}");
        ensure!(starts_with_number(cells[1]), "no speed: {row}");
        let has_ratio = |cell: &&str| *cell == "–" || starts_with_number(cell);
        ensure!(cells[2..].iter().all(has_ratio), "no ratio: {row}");
    }
    Ok(())
}

/// A mark or an interval may follow.
fn starts_with_number(cell: &str) -> bool {
    let word = cell.split(' ').next().unwrap_or_default();
    word.parse::<f64>().is_ok()
}

fn frontier_writes_the_best_of_both_sides() -> Result<()> {
    let target = folder()?;
    let document = target.path().join("frontier.md");
    let options = [
        "--size",
        "4MiB",
        "--samples",
        "1",
        "--rounds",
        "6",
        "--only",
        "new file, in the page cache",
        "--markdown",
        &document.display().to_string(),
    ];
    study("frontier", target.path(), &options)?;
    let text = std::fs::read_to_string(document)?;
    let rows = text.lines().filter(|line| line.starts_with("| new file"));
    ensure!(rows.count() == 1, "{text}");
    Ok(())
}

fn advise_keeps_its_answer_in_the_grid() -> Result<()> {
    let target = folder()?;
    let grids = folder()?;
    let kept = [
        "--name",
        "tiny",
        "--grids",
        &grids.path().display().to_string(),
    ]
    .map(String::from);
    let kept = kept.each_ref().map(String::as_str);
    let tiny = ["--goal", "files", "--size", "64KiB", "--small", "64KiB"];
    study("grid", target.path(), &[&tiny[..], &kept].concat())?;
    let environment = std::fs::read_to_string(grids.path().join("tiny.toml"))?;
    ensure!(
        environment.contains("[goals.files]\n") && !environment.contains("[answers"),
        "{environment}"
    );
    let tiny = [
        "--for",
        "files",
        "--budget",
        "5s",
        "--searches",
        "1",
        "--rounds",
        "6",
    ];
    let searched = study("advise", target.path(), &[&tiny[..], &kept].concat());
    if let Err(error) = &searched
        && error.to_string().contains("a search ended without advice")
    {
        // Other programs may disturb all samples of a search.
        return Ok(());
    }
    searched?;
    let environment = std::fs::read_to_string(grids.path().join("tiny.toml"))?;
    for kept in [
        "[answers.files]\n",
        "rounds = 6\n",
        "[answers.files.given.bound]\n",
    ] {
        ensure!(environment.contains(kept), "no {kept:?} in {environment}");
    }
    Ok(())
}

fn grid_measures_a_filesystem_that_it_makes_on_fewer_cpus() -> Result<()> {
    let grids = folder()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_studies"));
    command.args(["grid", "--image", "fuse-slow-sync", "--cpus", "1"]);
    command.args(["--goal", "overwrite", "--size", "64KiB", "--small", "64KiB"]);
    command.args(["--name", "made", "--grids"]);
    let output = command.arg(grids.path()).output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{complaint}");
    let environment = std::fs::read_to_string(grids.path().join("made.toml"))?;
    for fact in [
        "cpus = \"1\"\n",
        "made = \"fuse-slow-sync\"\n",
        "filesystem = \"fuse\"\n",
    ] {
        ensure!(environment.contains(fact), "no {fact} in {environment}");
    }
    Ok(())
}

fn advise_judges_several_goals_of_a_first_answer() -> Result<()> {
    let target = folder()?;
    let tiny = ["--for", "stream", "--for", "overwrite", "--size", "64KiB"];
    let few = ["--budget", "5s", "--searches", "2", "--rounds", "6"];
    let text = study("advise", target.path(), &[&tiny[..], &few].concat())?;
    ensure!(text.contains(" in 6 rounds: about "), "{text}");
    // Other programs may disturb all samples of a goal.
    let judged = ["stream: Answers {", "overwrite: Answers {"];
    ensure!(judged.iter().any(|goal| text.contains(goal)), "{text}");
    Ok(())
}

fn replay_has_rates_for_known_and_for_left_out_environments() -> Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_studies"));
    command.args(["replay", "--goal", "records", "--answers", "1"]);
    let text = String::from_utf8(command.output()?.stdout)?;
    for wanted in [
        "\nKnown environments",
        "\nLeft-out environments",
        "| within 5 % of",
    ] {
        ensure!(text.contains(wanted), "no {wanted:?} in {text}");
    }
    Ok(())
}

/// Other tests leave things behind while it runs, so their number is any.
fn the_soak_counts_what_is_left_behind() -> Result<()> {
    let target = folder()?;
    let text = study("soak", target.path(), &["--rounds", "2", "--seed", "1"])?;
    for wanted in ["before: ", "\n2 rounds. ", "\nafter:  ", " left behind, "] {
        ensure!(text.contains(wanted), "no {wanted:?} in {text}");
    }
    Ok(())
}

fn folder() -> Result<TempDir> {
    tempfile::tempdir().context("a folder")
}

/// The standard output. A study that judges a speed as too low ends with 1, and without an error.
/// A row of the table has the states of ext4, and those that are broken.
fn powerloss_finds_a_mistake_and_none_in_printed_code() -> Result<()> {
    let only = [
        "--only",
        "stream --atomic write,",
        "--only",
        "a log without",
    ];
    let text = study_of(&["powerloss", "--max-states", "8"], &only)?;
    let broken = |title: &str| {
        let row = text.lines().find(|line| line.starts_with(title))?;
        let (checked, broken) = row.split('|').nth(3)?.split_once('/')?;
        Some((
            checked.trim().parse::<u32>().ok()?,
            broken.trim().parse::<u32>().ok()?,
        ))
    };
    let safe = broken("| `--stream --atomic`")
        .with_context(|| format!("no row of printed code: {text}"))?;
    ensure!(safe.0 > 0 && safe.1 == 0, "{text}");
    let mistaken = broken("| mutant: a log without")
        .with_context(|| format!("no row of the mistake: {text}"))?;
    ensure!(mistaken.1 > 0, "{text}");
    Ok(())
}

fn study(name: &str, target: &Path, options: &[&str]) -> Result<String> {
    let target = target.to_str().context("a target in UTF-8")?;
    study_of(&[name, target], options)
}

fn study_of(words: &[&str], options: &[&str]) -> Result<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_studies"));
    let output = command.args(words).args(options).output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        matches!(output.status.code(), Some(0 | 1)) && !complaint.contains("error: "),
        "{command:?} ended with {}: {complaint}",
        output.status
    );
    Ok(String::from_utf8(output.stdout)?)
}
