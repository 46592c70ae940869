use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use writebench_model::{Case, FileSize};
use writebench_snippets::{EmitOptions, Language};
use writebench_testkit::{Need, Purpose, compiled};

use super::grid::case;
use crate::program;

/// The required programs and package.
pub(super) fn needs(language: Language, name: &str) -> Vec<Need> {
    let programs: &[&'static str] = match language {
        Language::C => &["cc"],
        Language::Cpp => &["c++"],
        Language::Rust => &["cargo"],
        Language::Python => &["python3"],
        Language::Node => &["node"],
        Language::Go => &["go"],
        Language::Java => &["javac", "java"],
    };
    let package = requires_package(language, name).then_some(Need::NodePackage);
    programs
        .iter()
        .map(|name| Need::Program(name))
        .chain(package)
        .collect()
}

fn requires_package(language: Language, name: &str) -> bool {
    language == Language::Node
        && case(name).is_ok_and(|case| {
            writebench_snippets::code(&case, language, EmitOptions::default())
                .is_ok_and(|text| text.contains("@writebench/direct-io"))
        })
}

#[derive(Clone)]
pub(super) struct Built {
    _directory: Arc<TempDir>,
    words: Vec<String>,
}

type Programs = HashMap<(&'static str, String), Arc<OnceLock<Result<Built, String>>>>;

/// By language and text. Several tests run each program, and compilers take most of their time.
static PROGRAMS: LazyLock<Mutex<Programs>> = LazyLock::new(Mutex::default);

pub(crate) fn remove_programs() {
    PROGRAMS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
}

/// The files at a target. A program splits its source into the files of a set.
pub(super) fn files_at<'c>(
    target: &Path,
    case: &Case,
    content: &'c [u8],
) -> Vec<(PathBuf, &'c [u8])> {
    let size = case.given().file_size;
    if !case.method().writes_set() || size == FileSize::Whole {
        return vec![(target.to_owned(), content)];
    }
    let mut rest = content;
    let files = size
        .files(content.len() as u64)
        .enumerate()
        .map(|(number, range)| {
            let content =
                rest.split_off(..usize::try_from(range.length).expect("a part of the content"));
            (
                target.join(format!("writebench{number:07}")),
                content.expect("a part of the content"),
            )
        });
    files.collect()
}

/// Or the refusal.
pub(super) fn text(
    case: &str,
    language: Language,
    more: &[&str],
) -> Result<Result<String, String>> {
    let words = [&["code", case, "--lang", language.name()], more].concat();
    let ended = program()?.call(&words)?;
    Ok(if ended.code == Some(0) {
        Ok(ended.stdout)
    } else {
        Err(ended.stderr)
    })
}

impl Built {
    /// None if the language lacks the case.
    pub(super) fn for_case(case: &str, language: Language, more: &[&str]) -> Result<Option<Self>> {
        let text = match text(case, language, &[&["--main"], more].concat())? {
            Ok(text) => text,
            Err(refusal) => {
                // Of pages at random, no other case does the same work.
                let is_explained = [". The nearest in", "have code in C only"];
                ensure!(
                    is_explained.iter().any(|words| refusal.contains(words)),
                    "{refusal}"
                );
                return Ok(None);
            }
        };
        Self::from_text(&text, language).map(Some)
    }

    pub(super) fn from_text(text: &str, language: Language) -> Result<Self> {
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let program = Arc::clone(
            programs
                .entry((language.name(), text.to_owned()))
                .or_default(),
        );
        drop(programs);
        let built = program
            .get_or_init(|| Self::compile(text, language).map_err(|error| format!("{error:#}")));
        built.clone().map_err(anyhow::Error::msg)
    }

    fn compile(text: &str, language: Language) -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("writebench-snippet-")
            .tempdir()?;
        let words = compiled(text, language, directory.path(), Purpose::Test)?;
        Ok(Self {
            _directory: Arc::new(directory),
            words,
        })
    }

    pub(super) fn command(&self, directory: &Path, source: &Path, target: &Path) -> Command {
        let (program, words) = self.words.split_first().expect("a program");
        let mut command = Command::new(program);
        command
            .args(words)
            .arg(source)
            .arg(target)
            .current_dir(directory)
            .env("LC_ALL", "C");
        command
    }

    pub(super) fn output(&self, directory: &Path, source: &Path, target: &Path) -> Result<Output> {
        self.command(directory, source, target)
            .output()
            .context("start the program")
    }
}
