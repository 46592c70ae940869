//! The words of a set name its calls in their order: in a sample, and in the code under these words.

use anyhow::{Context, Result, ensure};
use writebench_model::{Case, Naming, SyncFiles};
use writebench_snippets::Language;
use writebench_testkit::{Kind, Need, Trials, directory_on, strace, traced_calls};

use super::built::{Built, needs, text};
use crate::program;

const FILES: usize = 2;
const FILE_BYTES: usize = 4096;

/// With the values of `prepare` that go with each.
const NAMES: [(&str, &[&str]); 4] = [
    ("direct", &["create"]),
    ("rename", &["create", "overwrite"]),
    ("tmpfile", &["create", "overwrite"]),
    ("exchange", &["overwrite"]),
];

pub(crate) fn add(trials: &mut Trials) {
    let place = [Need::Strace, Need::Filesystem(Kind::Ext4)];
    for case in cases() {
        trials.add(
            format!("{case} makes its calls in the order of its words"),
            &place,
            {
                let case = case.clone();
                move || sample(&case)
            },
        );
        for &language in Language::ALL
            .iter()
            .filter(|language| is_tried(&case, **language))
        {
            let title = format!(
                "snippets: {}: the comment has the calls of {case} in their order",
                language.name()
            );
            let case = case.clone();
            trials.add(
                title,
                &[&needs(language, "write")[..], &place].concat(),
                move || printed(&case, language),
            );
        }
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let names = NAMES
        .iter()
        .flat_map(|(naming, prepares)| prepares.iter().map(move |prepare| (naming, prepare)));
    let all = names.flat_map(|name| SyncFiles::ALL.iter().map(move |sync| (name, sync)));
    let bytes = FILES * FILE_BYTES;
    all.map(move |((naming, prepare), sync)| {
        let name = format!(
            "write-files,size={bytes},file-size={FILE_BYTES},naming={naming},prepare={prepare},sync-files={sync}"
        );
        Case::parse(&name).expect("a case")
    })
}

/// Compilers take long: C has all cases.
fn is_tried(case: &Case, language: Language) -> bool {
    let has_many_steps = case.choices().naming != Naming::Direct
        && case.choices().prepare.needs_old_content()
        && matches!(
            case.choices().sync_files,
            SyncFiles::Each | SyncFiles::Batch | SyncFiles::Syncfs
        );
    match language {
        Language::C | Language::Python => true,
        Language::Cpp | Language::Rust | Language::Go => has_many_steps,
        Language::Node | Language::Java => false,
    }
}

const OF_DIRECTORY: &str = "fsync(2) of the directory";

/// The calls that the words name, for all files.
fn promised(words: &str) -> Vec<String> {
    let (of_file, afterwards) = words.split_once(", then ").unwrap_or((words, ""));
    let mut calls: Vec<String> = (0..FILES).flat_map(|_| named(of_file)).collect();
    for step in afterwards.split(", ") {
        match step {
            OF_DIRECTORY => calls.push(step.to_owned()),
            _ if step.ends_with(" of each file") => {
                calls.extend((0..FILES).flat_map(|_| named(step)));
            }
            _ => calls.extend(named(step)),
        }
    }
    calls
}

fn named(words: &str) -> Vec<String> {
    let words = words.split([' ', ',']);
    words
        .filter(|word| word.ends_with("(2)") || *word == "RENAME_EXCHANGE")
        .map(str::to_owned)
        .collect()
}

/// In the words' form, those in a directory whose path contains `set`.
fn made(log: &str, set: &str) -> Vec<String> {
    let mut calls = Vec::new();
    let mut read_only = Vec::new();
    for line in traced_calls(log) {
        let (name, rest) = line.split_once('(').unwrap_or((&line, ""));
        let (arguments, result) = rest.rsplit_once(" = ").unwrap_or((rest, ""));
        if result.starts_with('-') || !arguments.contains(set) {
            continue;
        }
        let descriptor = |text: &str| text.split(['<', ' ']).next().unwrap_or_default().to_owned();
        let path = arguments
            .split_once('<')
            .and_then(|(_, path)| path.split_once('>'))
            .map_or("", |(path, _)| path);
        let is_directory = path
            .rsplit('/')
            .next()
            .is_some_and(|last| last.contains(set));
        calls.push(
            match name {
                "openat" if arguments.contains("O_WRONLY") => "open(2)",
                // To be synced.
                "openat" if !arguments.contains("O_DIRECTORY") => {
                    read_only.push(descriptor(result));
                    continue;
                }
                "close" if read_only.contains(&descriptor(arguments)) => {
                    read_only.retain(|open| *open != descriptor(arguments));
                    continue;
                }
                "close" if !is_directory => "close(2)",
                "fsync" if is_directory => OF_DIRECTORY,
                "renameat2" if arguments.contains("RENAME_EXCHANGE") => "RENAME_EXCHANGE",
                "renameat" | "renameat2" => "rename(2)",
                "unlinkat" if arguments.contains(".tmp\"") => "unlink(2)",
                "write" => "write(2)",
                "fsync" => "fsync(2)",
                "sync_file_range" => "sync_file_range(2)",
                "linkat" => "linkat(2)",
                "syncfs" => "syncfs(2)",
                _ => continue,
            }
            .to_owned(),
        );
    }
    calls
}

/// Calls before are of the old files.
fn ends_with(calls: &[String], promised: &[String]) -> Result<()> {
    ensure!(
        promised.len() > FILES && calls.ends_with(promised),
        "made {calls:#?}\npromised {promised:#?}"
    );
    Ok(())
}

fn sample(case: &Case) -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let program = program()?;
    let log = program.home().join("strace");
    let mut strace = strace();
    strace
        .args(["-y", "-s", "0", "-o"])
        .arg(&log)
        .arg(program.binary());
    strace.args([
        "run",
        "--verify",
        "never",
        "--samples",
        "1",
        "--no-limits",
        "--case",
        &case.to_string(),
    ]);
    let output = strace
        .arg("--db")
        .arg(program.home().join("db"))
        .arg(on.path())
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    ends_with(
        &made(&std::fs::read_to_string(log)?, "sample-"),
        &promised(&case.words()),
    )
}

fn printed(case: &Case, language: Language) -> Result<()> {
    let name = case.to_string();
    let Some(built) = Built::for_case(&name, language, &[])? else {
        return Ok(());
    };
    let text = text(&name, language, &[])?.map_err(anyhow::Error::msg)?;
    let on = directory_on(Kind::Ext4);
    let [source, log, set] = ["source", "log", "sample-set"].map(|name| on.path().join(name));
    std::fs::write(&source, vec![7; FILES * FILE_BYTES])?;
    std::fs::create_dir(&set)?;
    if case.choices().prepare.needs_old_content() {
        for number in 0..FILES {
            std::fs::write(set.join(format!("writebench{number:07}")), "old")?;
        }
    }
    let command = built.command(on.path(), &source, &set);
    let mut strace = strace();
    strace
        .args(["-y", "-s", "0", "-o"])
        .arg(&log)
        .arg(command.get_program())
        .args(command.get_args());
    let output = strace.output()?;
    ensure!(output.status.success(), "{output:?}");
    ends_with(
        &made(&std::fs::read_to_string(log)?, "sample-set"),
        &promised(&comment(&text)?),
    )
}

/// The first sentence of the comment at the beginning.
fn comment(text: &str) -> Result<String> {
    let line = |line: &str| {
        line.trim_start_matches(['/', '!', '*', '#', ' ', '"'])
            .trim_end()
            .to_owned()
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    let start = lines
        .iter()
        .position(|line| line.contains(" files: "))
        .context("no words")?;
    let paragraph = lines[start..]
        .iter()
        .take_while(|line| !line.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    let (_, words) = paragraph.split_once(" files: ").context("no words")?;
    Ok(words
        .split(". ")
        .next()
        .unwrap_or(words)
        .trim_end_matches('.')
        .to_owned())
}
