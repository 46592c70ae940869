//! Documents quote the program's output.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use writebench_model::Goal;
use writebench_testkit::{Program, Trials};

use crate::{commands_of, program};

pub(crate) fn add(trials: &mut Trials) {
    trials.add(
        "docs/reference/commands.md matches the program's output",
        &[],
        commands,
    );
    trials.add(
        "docs/reference/exit-codes.md lists the codes that --help lists",
        &[],
        exit_codes,
    );
    trials.add(
        "advise --help and docs/reference/methods.md name each goal",
        &[],
        goals,
    );
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn commands() -> Result<()> {
    let mut text = String::from(
        "# Commands\n\n<!-- Printed by `UPDATE_DOCS=1 cargo test -p writebench --test cli docs`. -->\n",
    );
    let program = program()?;
    for (title, arguments) in calls(&program)? {
        let line = arguments.join(" ");
        let printed = printed(&program, &arguments)?;
        text += &format!("\n## {title}\n\n```text\n$ writebench {line}\n{printed}```\n");
    }
    let path = documents().join("reference/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text)?;
    }
    let written = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    ensure!(
        written == text,
        "docs/reference/commands.md is out of date. The comment at its top has the command that makes it"
    );
    Ok(())
}

/// Both tell the goals by hand, in groups.
fn goals() -> Result<()> {
    let help = program()?.call(&["advise", "--help"])?.stdout;
    let is_in_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    let words: Vec<&str> = help.split(|letter| !is_in_name(letter)).collect();
    let methods = std::fs::read_to_string(documents().join("reference/methods.md"))?;
    for &goal in Goal::ALL {
        ensure!(words.contains(&goal.name()), "--help does not name {goal}");
        for word in std::iter::once(&goal.name()).chain(goal.aliases()) {
            ensure!(
                methods.contains(&format!("`{word}`")),
                "methods.md does not name {word}, which means {goal}"
            );
        }
    }
    Ok(())
}

/// Headings and calls: the help of each command, and the lists.
fn calls(program: &Program) -> Result<Vec<(String, Vec<String>)>> {
    let call = |title: &str, words: &str| {
        (
            title.to_owned(),
            words.split(' ').map(str::to_owned).collect(),
        )
    };
    let mut calls = vec![call("The program", "--help")];
    let commands = commands_of(program)?
        .into_iter()
        .filter(|name| name != "help");
    calls.extend(commands.map(|name| call(&name, &format!("{name} --help"))));
    calls.extend(
        ["Suites", "Methods", "Axes"]
            .map(|what| call(what, &format!("list {}", what.to_lowercase()))),
    );
    Ok(calls)
}

fn printed(program: &Program, arguments: &[String]) -> Result<String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = program.call(&arguments)?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.stdout.lines().map(str::trim_end).collect();
    Ok(lines.join("\n") + "\n")
}

fn exit_codes() -> Result<()> {
    let help = program()?.call(&["--help"])?.stdout;
    let text = std::fs::read_to_string(documents().join("reference/exit-codes.md"))?;
    let mut checked = 0;
    for row in text.lines().filter_map(|line| line.strip_prefix("| ")) {
        let mut cells = row.split(" | ");
        let (Some(code), Some(meaning)) = (cells.next(), cells.next()) else {
            continue;
        };
        if code.parse::<u8>().is_ok() {
            checked += 1;
            ensure!(
                help.replace('\n', " ")
                    .contains(&format!("{code} {meaning}")),
                "{code} {meaning} is not in {help}"
            );
        }
    }
    ensure!(checked == 8, "{checked} codes");
    Ok(())
}
