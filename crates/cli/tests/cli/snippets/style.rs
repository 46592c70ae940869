//! Formatters and linters accept the printed code. [`writebench_testkit::compiled`] shows compiler warnings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use writebench_model::{Axis, Case, Method};
use writebench_snippets::{Language, code, supports};
use writebench_testkit::{Need, TestRng, Trials, python_with, rust_libraries};

use super::grid::{CONTENT, LOGS, SETS, case, frames, promises};

pub(crate) fn add(trials: &mut Trials) {
    let title = "snippets: python: ruff accepts all code";
    trials.add(title, &[Need::Python("ruff")], ruff);
    let title = "snippets: rust: rustfmt accepts all code";
    trials.add(title, &[Need::Program("rustfmt")], rustfmt);
    let title = "snippets: rust: clippy accepts all programs";
    trials.add(
        title,
        &[Need::Program("cargo"), Need::Program("clippy-driver")],
        clippy,
    );
    let formatter = [Need::Python("clang_format")];
    trials.add(
        "snippets: c: clang-format accepts all code",
        &formatter,
        || clang_format(Language::C, "p.c"),
    );
    trials.add(
        "snippets: cpp: clang-format accepts all code",
        &formatter,
        || clang_format(Language::Cpp, "p.cpp"),
    );
    trials.add(
        "snippets: cpp: all code includes what it uses",
        &[Need::Program("c++")],
        includes,
    );
    trials.add(
        "snippets: node: all code parses",
        &[Need::Program("node")],
        node,
    );
    let title = "snippets: go: all code is as gofmt formats it, and go vet has no complaint";
    trials.add(title, &[Need::Program("go"), Need::Program("gofmt")], gofmt);
}

fn all_code(language: Language) -> Result<Vec<String>> {
    let named = CONTENT
        .iter()
        .chain(LOGS)
        .chain(SETS)
        .map(|name| case(name));
    let cases = promises()
        .into_iter()
        .map(|(case, _)| Ok(case))
        .chain(named)
        .collect::<Result<Vec<_>>>()?;
    let texts = cases
        .iter()
        .flat_map(|case| frames().filter_map(move |frame| code(case, language, frame).ok()));
    let texts: Vec<_> = texts.collect();
    ensure!(texts.len() > 100, "{} texts", texts.len());
    Ok(texts)
}

/// One folder per file.
fn written(language: Language, file: &str) -> Result<TempDir> {
    written_each(all_code(language)?, file)
}

/// With random combinations of values too, which formatters read quickly.
fn written_combined(language: Language, file: &str) -> Result<TempDir> {
    let texts: BTreeSet<String> = all_code(language)?
        .into_iter()
        .chain(combined(language))
        .collect();
    ensure!(texts.len() > 500, "{} texts", texts.len());
    written_each(texts, file)
}

fn written_each(texts: impl IntoIterator<Item = String>, file: &str) -> Result<TempDir> {
    let directory = tempfile::tempdir()?;
    for (number, text) in texts.into_iter().enumerate() {
        let folder = directory.path().join(format!("p{number}"));
        std::fs::create_dir(&folder)?;
        std::fs::write(folder.join(file), text)?;
    }
    Ok(directory)
}

/// [`writebench_testkit::compiled`] adds headers. So the code with the fewest includes for each name is compiled
/// without them.
fn includes() -> Result<()> {
    let mut fewest = BTreeMap::new();
    for text in all_code(Language::Cpp)? {
        let count = text.matches("#include").count();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        for name in words.filter(|word| word.starts_with("std::") || word.starts_with("::")) {
            let known = fewest
                .entry(name.to_owned())
                .or_insert((count, text.clone()));
            if count < known.0 {
                *known = (count, text.clone());
            }
        }
    }
    let texts: BTreeSet<String> = fewest.into_values().map(|(_, text)| text).collect();
    let file = tempfile::Builder::new().suffix(".cpp").tempfile()?;
    for text in &texts {
        std::fs::write(file.path(), text)?;
        agrees(
            Command::new("c++")
                .args(["-std=c++17", "-fsyntax-only"])
                .arg(file.path()),
            true,
        )
        .with_context(|| text.clone())?;
    }
    Ok(())
}

fn files<'d>(
    directory: &'d Path,
    file: &'d str,
) -> Result<impl Iterator<Item = std::path::PathBuf> + 'd> {
    Ok(std::fs::read_dir(directory)?
        .flatten()
        .map(move |entry| entry.path().join(file)))
}

/// The tool must succeed, perhaps without output.
fn agrees(command: &mut Command, is_silent: bool) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let [out, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    ensure!(
        output.status.success() && (!is_silent || out.is_empty()),
        "{out}{errors}"
    );
    Ok(())
}

/// Random combinations of values, the same in each run, in all frames.
fn combined(language: Language) -> BTreeSet<String> {
    const OF_EACH_METHOD: usize = 60;
    const MOST_VALUES: usize = 6;
    let mut rng = TestRng::new(52);
    let mut texts = BTreeSet::new();
    for &method in Method::ALL
        .iter()
        .filter(|&&method| supports(language, method).is_ok())
    {
        let axes: Vec<Axis> = method.own_axes().collect();
        for _ in 0..OF_EACH_METHOD {
            let values: BTreeMap<&str, &str> = (0..1 + rng.below(MOST_VALUES))
                .map(|_| {
                    let axis = rng.pick(&axes);
                    (axis.name(), rng.pick(axis.examples()))
                })
                .collect();
            let values: Vec<String> = values
                .iter()
                .map(|(axis, value)| format!(",{axis}={value}"))
                .collect();
            let Ok(case) = Case::parse(&format!("{method}{}", values.concat())) else {
                continue;
            };
            texts.extend(frames().filter_map(|frame| code(&case, language, frame).ok()));
        }
    }
    texts
}

fn ruff() -> Result<()> {
    let directory = written_combined(Language::Python, "p.py")?;
    let python = python_with("ruff").context("ruff")?;
    let ruff = |words: &[&str]| {
        agrees(
            Command::new(&python)
                .args(["-m", "ruff"])
                .args(words)
                .arg(directory.path()),
            false,
        )
    };
    ruff(&["format", "--isolated", "--no-cache", "--diff"])?;
    ruff(&["check", "--isolated", "--no-cache"])
}

fn rustfmt() -> Result<()> {
    let directory = written_combined(Language::Rust, "p.rs")?;
    let mut rustfmt = Command::new("rustfmt");
    rustfmt
        .args(["--check", "--edition", "2024"])
        .args(files(directory.path(), "p.rs")?);
    // Ignores this project's configuration.
    agrees(rustfmt.current_dir(directory.path()), true)
}

/// Modules of one library compile faster than many programs.
fn clippy() -> Result<()> {
    let directory = written(Language::Rust, "p.rs")?;
    // Only programs: they contain the functions. No module calls its `main`.
    let mut library = "#![allow(dead_code)]\n".to_owned();
    for file in files(directory.path(), "p.rs")? {
        if std::fs::read_to_string(&file)?.contains("\nfn main()") {
            let name = file
                .parent()
                .and_then(Path::file_name)
                .context("a folder")?
                .display();
            library += &format!("#[path = \"{}\"] mod {name};\n", file.display());
        }
    }
    ensure!(
        library.lines().count() > 1,
        "no program has a main function"
    );
    let path = directory.path().join("lib.rs");
    std::fs::write(&path, library)?;
    let mut clippy = Command::new("clippy-driver");
    clippy.args([
        "--edition",
        "2024",
        "--crate-type",
        "lib",
        "--emit",
        "metadata",
        "-D",
        "warnings",
    ]);
    agrees(
        clippy
            .args(rust_libraries()?)
            .arg(&path)
            .current_dir(directory.path()),
        true,
    )
}

/// Style of C and C++. Without a column limit, line breaks are kept.
const CLANG_STYLE: &str = "{BasedOnStyle: LLVM, IndentWidth: 4, AccessModifierOffset: -4, ColumnLimit: 0, \
    BreakBeforeBraces: Custom, BraceWrapping: {AfterFunction: true}, AlignTrailingComments: {Kind: Never}, \
    AlwaysBreakTemplateDeclarations: Yes, ForEachMacros: [io_uring_for_each_cqe], \
    SpaceBeforeParens: ControlStatementsExceptControlMacros}";

fn clang_format(language: Language, file: &str) -> Result<()> {
    let directory = written_combined(language, file)?;
    let program = python_with("clang_format")
        .context("clang-format")?
        .with_file_name("clang-format");
    let mut clang_format = Command::new(program);
    clang_format.args(["--dry-run", "--Werror", &format!("--style={CLANG_STYLE}")]);
    agrees(clang_format.args(files(directory.path(), file)?), true)
}

/// One process for all, because starting is slow.
fn node() -> Result<()> {
    const PARSE: &str = "for (const file of process.argv.slice(1))
        new (require('vm').Script)(require('fs').readFileSync(file, 'utf8'), file);";
    let directory = written(Language::Node, "p.js")?;
    agrees(
        Command::new("node")
            .args(["-e", PARSE])
            .args(files(directory.path(), "p.js")?),
        true,
    )
}

fn gofmt() -> Result<()> {
    let directory = written_combined(Language::Go, "p.go")?;
    agrees(Command::new("gofmt").arg("-d").arg(directory.path()), true)?;
    let directory = written(Language::Go, "p.go")?;
    std::fs::write(
        directory.path().join("go.mod"),
        "module snippets\n\ngo 1.23\n",
    )?;
    let mut go = Command::new("go");
    agrees(
        go.args(["vet", "./..."])
            .current_dir(directory.path())
            .env("GO111MODULE", "on"),
        false,
    )
}
