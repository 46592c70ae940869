//! Printed code, and refusals.

use anyhow::{Result, ensure};
use writebench_model::{Axis, Case, InCode, Method};
use writebench_snippets::{EmitOptions, Language, Unsupported, code, supports};
use writebench_testkit::{Kind, Need, Trials, directory_on, example_pairs};

use super::built::text;
use super::grid::{CONTENT, LOGS, SETS};
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let name = "snippets: every method has code in C, or a reason against it";
    trials.add(name, &[], every_method);
    let name =
        "snippets: each value of each axis changes the code, is refused, or belongs to the caller";
    trials.add(name, &[], every_value);
    trials.add(
        "snippets: each value of each axis changes a log, is refused, or belongs to the caller",
        &[],
        every_value_of_logs,
    );
    trials.add(
        "snippets: --append refuses other cases and names the nearest log",
        &[],
        refuses_logs,
    );
    trials.add(
        "snippets: a case without code names the nearest with code",
        &[],
        nearest,
    );
    let needs = [Need::Filesystem(Kind::Ext4)];
    trials.add(
        "snippets: a refusal reports the cost of the nearest case",
        &needs,
        cost,
    );
    trials.add(
        "snippets: no line is longer than 120 columns, and none ends with a space",
        &[],
        lines,
    );
    trials.add(
        "snippets: --atomic explains an error of the last sync",
        &[],
        || {
            for &language in Language::ALL {
                let durable = text("write,sync=fsync", language, &["--atomic"])?
                    .map_err(anyhow::Error::msg)?;
                // A comment is wrapped.
                let words = durable
                    .split_whitespace()
                    .filter(|word| !matches!(*word, "//" | "#" | "*"));
                let words = words.collect::<Vec<_>>().join(" ");
                ensure!(
                    words.contains("a power loss may bring the old one back"),
                    "{durable}"
                );
                let cached = text("write", language, &["--atomic"])?.map_err(anyhow::Error::msg)?;
                ensure!(!cached.contains("bring the old one back"), "{cached}");
            }
            Ok(())
        },
    );
    trials.add("snippets: an invalid case is refused", &[], || {
        let ended = program()?.call(&["code", "wriet", "--lang", "c"])?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains("Did you mean"),
            "{}",
            ended.stderr
        );
        Ok(())
    });
    trials.add(
        "snippets: a call without a case needs a search",
        &[],
        || {
            let ended = program()?.call(&["code", "--lang", "c"])?;
            ensure!(
                ended.code == Some(2) && ended.stderr.contains("writebench advise"),
                "{}",
                ended.stderr
            );
            Ok(())
        },
    );
}

fn every_method() -> Result<()> {
    for &method in Method::ALL {
        let found = text(method.name(), Language::C, &[])?;
        match supports(Language::C, method) {
            Ok(()) => ensure!(found.is_ok(), "{found:?}"),
            Err(_) => ensure!(
                found.as_ref().is_err_and(|why| why.contains(method.name())),
                "{found:?}"
            ),
        }
    }
    Ok(())
}

/// Comments contain the case's name.
fn code_alone(case: &Case) -> Result<String, Unsupported> {
    code_in_frame(case, EmitOptions::default())
}

fn code_in_frame(case: &Case, frame: EmitOptions) -> Result<String, Unsupported> {
    let text = code(case, Language::C, frame)?;
    let is_comment = |line: &&str| {
        ["/*", "*", "//"]
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    };
    Ok(text
        .lines()
        .filter(|line| !is_comment(line))
        .collect::<Vec<_>>()
        .join("\n"))
}

fn every_value() -> Result<()> {
    for &axis in Axis::ALL {
        for value in axis.examples() {
            let mut pairs = example_pairs(axis, value);
            pairs.retain(|(usual, _)| code_alone(usual).is_ok());
            let Some((_, case)) = pairs.first() else {
                continue;
            };
            let fits = match case.card(axis).code {
                // With one thread, sharing makes no difference.
                InCode::Supported => pairs.iter().any(|(usual, case)| {
                    let direct = [usual, case].map(|case| case.with(Axis::Cache, "direct"));
                    code_alone(case) != code_alone(usual)
                        // The memory of the data affects direct I/O only.
                        || matches!(&direct, [Ok(usual), Ok(case)] if code_alone(case) != code_alone(usual))
                }),
                InCode::LeftToCaller => pairs.iter().all(|(usual, case)| code_alone(case) == code_alone(usual)),
                InCode::Unsupported(why) => {
                    let is_said = |case| code_alone(case).is_err_and(|refusal| refusal.why.contains(why));
                    pairs.iter().all(|(_, case)| is_said(case))
                }
            };
            ensure!(fits, "{axis}={value}");
        }
    }
    Ok(())
}

/// A log ignores no value silently.
fn every_value_of_logs() -> Result<()> {
    let frame = EmitOptions {
        is_append: true,
        is_program: true,
        ..EmitOptions::default()
    };
    // The caller has the memory, and one thread has one descriptor.
    let is_callers = |axis: Axis| matches!(axis, Axis::Memory | Axis::Descriptor);
    for base in [
        "write,chunk=4KiB,sync=fdatasync/1",
        "pwrite,chunk=4KiB,sync=fdatasync/1",
    ] {
        let base = Case::parse(base)?;
        let plain = code_in_frame(&base, frame)?;
        for &axis in Axis::ALL {
            for case in axis
                .examples()
                .iter()
                .filter_map(|value| base.with(axis, value).ok())
            {
                let is_left = case.card(axis).code == InCode::LeftToCaller || is_callers(axis);
                let fits = match code_in_frame(&case, frame) {
                    Ok(text) => (text == plain) == (is_left || case == base),
                    Err(refusal) => refusal
                        .why
                        .contains(&format!("{axis}={}: ", case.value(axis))),
                };
                ensure!(fits, "{case}");
            }
        }
    }
    Ok(())
}

fn refuses_log(case: &str, language: Language, says: &str) -> Result<()> {
    let refusal = text(case, language, &["--append"])?
        .err()
        .unwrap_or_default();
    ensure!(
        refusal.contains(says),
        "{case} in {}: {refusal}",
        language.title()
    );
    Ok(())
}

fn refuses_logs() -> Result<()> {
    let nearest =
        |case: &str| format!("The nearest in C: writebench code {case} --lang c --append (");
    for (case, says) in [
        (
            "write,chunk=4KiB",
            nearest("write,chunk=4KiB,sync=fdatasync/1"),
        ),
        (
            "write,chunk=4KiB,sync=fsync",
            nearest("write,chunk=4KiB,sync=fsync/1"),
        ),
        (
            "write,chunk=whole,sync=fsync",
            nearest("write,chunk=4KiB,sync=fsync/1"),
        ),
        (
            "pwrite,threads=4,sync=fdatasync/1",
            nearest("pwrite,sync=fdatasync/1"),
        ),
        (
            "pwritev,vector=1,sync=rwf-dsync",
            nearest("pwrite,sync=rwf-dsync"),
        ),
        (
            "mmap,chunk=4KiB,sync=msync/1",
            nearest("pwrite,chunk=4KiB,sync=fdatasync/1"),
        ),
        (
            "write,chunk=4KiB,cache=direct,sync=o-dsync",
            nearest("write,chunk=4KiB,sync=o-dsync"),
        ),
        ("read-write", "read-write: a file is copied".to_owned()),
    ] {
        refuses_log(case, Language::C, &says)?;
    }
    let record = "write,chunk=4KiB,sync=fdatasync/1";
    refuses_log(
        record,
        Language::Python,
        "a log has code in C, Rust and Go only",
    )?;
    refuses_log(record, Language::Cpp, "From C++, link that in C")?;
    for option in ["--stream", "--atomic"] {
        let ended = program()?.call(&["code", record, "--lang", "c", "--append", option])?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains("cannot be used with"),
            "{}",
            ended.stderr
        );
    }
    Ok(())
}

/// Durability is required of the nearest case. Bypassing the page cache is not.
fn keeps(case: &Case) -> bool {
    case.workload().durability == writebench_model::Durability::Durable
}

fn nearest() -> Result<()> {
    let sets = ["write-files,threads=2,directory=per-thread,naming=tmpfile,sync-files=syncfs"];
    for name in CONTENT.iter().chain(SETS).chain(&sets) {
        let case = Case::parse(name)?;
        for &language in Language::ALL {
            let frame = EmitOptions::default();
            if let Err(refusal) = code(&case, language, frame) {
                let Some(nearest) = refusal.nearest else {
                    anyhow::bail!("{name} in {}", language.title())
                };
                let kept = |case: &Case| case.workload().durability;
                ensure!(
                    kept(&nearest) == kept(&case) || !keeps(&case),
                    "{name} is as durable as {nearest}"
                );
                let found = code(&nearest, language, frame);
                ensure!(
                    found.is_ok(),
                    "{name} in {}: {nearest}: {found:?}",
                    language.title()
                );
            }
        }
    }
    let frame = ["--main", "--atomic", "--stream"];
    let ended = program()?.call(&[&["code", "fwrite", "--lang", "go"], &frame[..]].concat())?;
    ensure!(
        ended
            .stderr
            .contains("code write --lang go --main --atomic --stream ("),
        "{}",
        ended.stderr
    );
    let ended = program()?.call(&["code", "write,files=per-thread,threads=2", "--lang", "c"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("The nearest in C: writebench code"),
        "{}",
        ended.stderr
    );
    Ok(())
}

fn lines() -> Result<()> {
    let frames = [&["--main"][..], &["--main", "--stream", "--atomic"]];
    let files = CONTENT
        .iter()
        .chain(SETS)
        .flat_map(|name| frames.map(|frame| (name, frame)));
    for (name, frame) in files.chain(LOGS.iter().map(|name| (name, &["--main", "--append"][..]))) {
        for &language in Language::ALL {
            let Ok(text) = text(name, language, frame)? else {
                continue;
            };
            let wrong = text
                .lines()
                .find(|line| line.len() > 120 || line.ends_with([' ', '\t']));
            ensure!(wrong.is_none(), "{name} in {}: {wrong:?}", language.title());
            // Python has two blank lines before a function.
            let empty = if language == Language::Python {
                "\n\n\n\n"
            } else {
                "\n\n\n"
            };
            ensure!(
                !text.contains(empty),
                "{name} in {}: too many empty lines",
                language.title()
            );
        }
    }
    Ok(())
}

fn cost() -> Result<()> {
    let target = directory_on(Kind::Ext4);
    let program = program()?;
    // A ratio needs a round in which neither case was disturbed.
    let run = [
        "run",
        &target.path().display().to_string(),
        "--samples",
        "9",
        "--quiet",
    ];
    let cases = ["--case", "mmap,size=64KiB", "--case", "pwrite,size=64KiB"];
    let ended = program.call(&[&run[..], &cases].concat())?;
    ensure!(ended.code == Some(0), "{}", ended.stderr);
    let ended = program.call(&["code", "mmap", "--lang", "node"])?;
    let says = "The nearest in Node.js: writebench code pwrite --lang node (";
    ensure!(
        ended.code == Some(2) && ended.stderr.contains(says),
        "{}",
        ended.stderr
    );
    ensure!(
        ended
            .stderr
            .contains("times as fast in the rounds of run 1)"),
        "{}",
        ended.stderr
    );
    Ok(())
}
