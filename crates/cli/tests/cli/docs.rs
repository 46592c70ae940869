//! Documents quote the program's output.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use writebench_model::{Axis, Goal, Method, ValueEntry};
use writebench_testkit::{Program, Trials};

use crate::{commands_of, program};

pub(crate) fn add(trials: &mut Trials) {
    trials.add(
        "docs/reference/commands.md matches the program's output",
        &[],
        commands,
    );
    trials.add(
        "docs/reference/axes.md has the paragraphs of the declarations",
        &[],
        axes,
    );
    trials.add(
        "docs/reference/exit-codes.md lists the codes that --help lists",
        &[],
        exit_codes,
    );
    trials.add("docs/reference/methods.md names each method", &[], methods);
    trials.add(
        "advise --help and docs/reference/goals.md name each goal",
        &[],
        goals,
    );
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn commands() -> Result<()> {
    let mut text = format!("# Commands\n\n{GENERATED}\n");
    let program = program()?;
    for (title, arguments) in calls(&program)? {
        let line = arguments.join(" ");
        let printed = printed(&program, &arguments)?;
        text += &format!("\n## {title}\n\n```text\n$ writebench {line}\n{printed}```\n");
    }
    is_written("reference/commands.md", &text)
}

/// How to make a generated page. Readers of the book do not see it.
const GENERATED: &str =
    "<!-- Printed by `UPDATE_DOCS=1 cargo test -p writebench --test cli docs`. -->";

fn is_written(document: &str, text: &str) -> Result<()> {
    let path = documents().join(document);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text)?;
    }
    let written = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    ensure!(
        written == text,
        "docs/{document} is out of date. The comment at its top has the command that makes it"
    );
    Ok(())
}

const AXES: &str = "\
A case has a value on each axis of its method, and its name leaves out the defaults: `write,chunk=4KiB` has the default of \
every axis but `chunk`. This page has a section for each axis, with a paragraph for each value: the call that it makes, what \
it needs, and when it pays. [Methods](methods.md) lists the methods. `writebench list axes prepare` prints a section in a \
terminal, and `writebench list axes prepare=zero-fill` a paragraph.

Where a filesystem or a kernel does not support a value, its cases are *unsupported* in the tables, with the reason. Nothing \
else is measured instead. [Requirements](requirements.md) lists the kernels.";

/// The sections of all axes. The words of a value in the program are the same.
fn axes() -> Result<()> {
    let mut text = format!("# Axes\n\n{GENERATED}\n\n");
    for paragraph in AXES.split("\n\n") {
        text += &format!("{}\n\n", wrapped(paragraph));
    }
    text += "| axis | default | sets |\n|---|---|---|\n";
    for &axis in Axis::ALL {
        let default = axis.default_value();
        let summary = axis.summary();
        text += &format!("| [`{axis}`](#{axis}) | `{default}` | {summary} |\n");
    }
    for &axis in Axis::ALL {
        text += &section(axis);
    }
    is_written("reference/axes.md", &text)
}

fn section(axis: Axis) -> String {
    let methods: Vec<String> = Method::ALL
        .iter()
        .filter(|method| method.has_axis(axis))
        .map(|method| format!("`{method}`"))
        .collect();
    let methods = if methods.len() == Method::ALL.len() {
        "all".to_owned()
    } else {
        methods.join(", ")
    };
    let entries = axis.entries();
    let values = if axis.is_number() {
        axis.values()
    } else {
        let words: Vec<String> = entries
            .iter()
            .map(|entry| format!("`{}`", entry.value))
            .collect();
        words.join(", ")
    };
    let default = axis.default_value();
    let about = wrapped(axis.about());
    let facts = wrapped(&format!(
        "Values: {values}. Default: `{default}`. Methods: {methods}."
    ));
    let mut text = format!("\n## {axis}\n\n{about}\n\n{facts}\n");
    for ValueEntry { value, paragraph } in entries {
        // A heading without the mark keeps its anchor when the default changes.
        let mark = if value == default { "*(default)* " } else { "" };
        let paragraph = wrapped(&format!("{mark}{paragraph}"));
        text += &format!("\n### `{axis}={value}`\n\n{paragraph}\n");
    }
    text
}

/// A paragraph in lines of 120 columns.
fn wrapped(paragraph: &str) -> String {
    const COLUMNS: usize = 120;
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= COLUMNS => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

fn methods() -> Result<()> {
    let page = std::fs::read_to_string(documents().join("reference/methods.md"))?;
    for method in Method::ALL {
        ensure!(
            page.contains(&format!("| `{method}`")) || page.contains(&format!(", `{method}` |")),
            "methods.md has no row for {method}"
        );
    }
    Ok(())
}

/// Both tell the goals by hand, in groups.
fn goals() -> Result<()> {
    let help = program()?.call(&["advise", "--help"])?.stdout;
    let is_in_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    let words: Vec<&str> = help.split(|letter| !is_in_name(letter)).collect();
    let page = std::fs::read_to_string(documents().join("reference/goals.md"))?;
    for &goal in Goal::ALL {
        ensure!(words.contains(&goal.name()), "--help does not name {goal}");
        for word in std::iter::once(&goal.name()).chain(goal.aliases()) {
            ensure!(
                page.contains(&format!("`{word}`")),
                "goals.md does not name {word}, which means {goal}"
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
        ["Suites", "Goals", "Methods", "Axes"]
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
    ensure!(checked == 9, "{checked} codes");
    Ok(())
}
