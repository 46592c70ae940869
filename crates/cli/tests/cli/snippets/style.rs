//! The printed code is as its language's own formatter and linter have it: one call of each for all of it. Compilers
//! warn of the rest: see [`writebench_testkit::Compiled`].

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use writebench_snippets::{EmitOptions, Language, code};
use writebench_testkit::{Need, Trials, python_with};

use super::grid::{CONTENT, case, promises};

pub(crate) fn add(trials: &mut Trials) {
    let title = "snippets: python: all code is as ruff formats it, and ruff has no complaint";
    trials.add(title, &[Need::Python("ruff")], ruff);
    let title = "snippets: rust: all code is as rustfmt formats it";
    trials.add(title, &[Need::Program("rustfmt")], rustfmt);
    let title = "snippets: go: all code is as gofmt formats it, and go vet has no complaint";
    trials.add(title, &[Need::Program("go"), Need::Program("gofmt")], gofmt);
}

/// Files of all code in a language, each in a folder of its own.
fn written(language: Language, file: &str) -> Result<TempDir> {
    let directory = tempfile::tempdir()?;
    let promises = promises();
    let cases = promises.iter().map(|(case, _)| Ok(case.clone())).chain(CONTENT.iter().map(|name| case(name)));
    let mut count = 0;
    for case in cases {
        let case = case?;
        for bits in 0..8 {
            let frame =
                EmitOptions { is_program: bits & 1 > 0, is_atomic: bits & 2 > 0, is_stream: bits & 4 > 0 };
            if let Ok(text) = code(&case, language, frame) {
                let folder = directory.path().join(format!("p{count}"));
                std::fs::create_dir(&folder)?;
                std::fs::write(folder.join(file), text)?;
                count += 1;
            }
        }
    }
    ensure!(count > 100, "{count} files");
    Ok(directory)
}

fn files<'d>(directory: &'d Path, file: &'d str) -> Result<impl Iterator<Item = std::path::PathBuf> + 'd> {
    Ok(std::fs::read_dir(directory)?.flatten().map(move |entry| entry.path().join(file)))
}

/// The tool agrees and prints nothing, if it must.
fn agrees(command: &mut Command, is_silent: bool) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let [out, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    ensure!(output.status.success() && (!is_silent || out.is_empty()), "{out}{errors}");
    Ok(())
}

fn ruff() -> Result<()> {
    let directory = written(Language::Python, "p.py")?;
    let python = python_with("ruff").context("ruff")?;
    let ruff = |words: &[&str]| {
        agrees(Command::new(&python).args(["-m", "ruff"]).args(words).arg(directory.path()), false)
    };
    ruff(&["format", "--isolated", "--no-cache", "--diff"])?;
    ruff(&["check", "--isolated", "--no-cache"])
}

fn rustfmt() -> Result<()> {
    let directory = written(Language::Rust, "p.rs")?;
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024"]).args(files(directory.path(), "p.rs")?);
    // Without this project's own configuration.
    agrees(rustfmt.current_dir(directory.path()), true)
}

fn gofmt() -> Result<()> {
    let directory = written(Language::Go, "p.go")?;
    agrees(Command::new("gofmt").arg("-d").arg(directory.path()), true)?;
    std::fs::write(directory.path().join("go.mod"), "module snippets\n\ngo 1.23\n")?;
    let mut go = Command::new("go");
    agrees(go.args(["vet", "./..."]).current_dir(directory.path()).env("GO111MODULE", "on"), false)
}
