use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use writebench_model::RunRecord;
use writebench_store::Store;

use crate::exit::usage;

/// The most characters of a label, so that it fits into one line.
const LONGEST_LABEL: usize = 200;

/// A label must differ from a run's number, a file, and a list of labels.
pub(crate) fn label(text: &str) -> Result<String, &'static str> {
    match text {
        "" => Err("a label needs at least one character"),
        _ if is_number(text) => Err("a number means a run. Add a letter to the label"),
        _ if text.contains(',') => Err("commas separate labels. Leave them out"),
        _ if text.contains('@') => Err("an '@' precedes a target. Leave it out"),
        _ if is_file(text) => {
            Err("a name with '/', '.json' or '.jsonl' means a file. Choose another label")
        }
        _ if text.chars().any(char::is_control) => Err("a label is one line of text"),
        _ if text.chars().nth(LONGEST_LABEL).is_some() => Err("a label has at most 200 characters"),
        _ if text.trim() != text || text.starts_with('-') => {
            Err("a label begins and ends with neither a space nor a dash")
        }
        _ => Ok(text.to_owned()),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunName {
    Number(i64),
    /// The label of one run or several.
    Label(String),
    /// An exported run.
    File(PathBuf),
}

impl From<&str> for RunName {
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(number) if is_number(text) => Self::Number(number),
            _ if is_file(text) => Self::File(PathBuf::from(text)),
            _ => Self::Label(text.to_owned()),
        }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Label(label) => f.write_str(label),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// `5`, `5@ext4` or `before@/data`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunSelector {
    pub run: RunName,
    /// The only target to show. None for all of them.
    pub target: Option<String>,
}

impl From<&str> for RunSelector {
    /// A file may have an `@` in its name.
    fn from(text: &str) -> Self {
        let of_file = text
            .rmatch_indices('@')
            .map(|(at, _)| (&text[..at], &text[at + 1..]))
            .find(|(run, _)| has_ending_of_file(run));
        let of_other = text
            .split_once('@')
            .filter(|(run, _)| !run.is_empty() && !has_ending_of_file(text));
        let (run, target) = of_file.or(of_other).unzip();
        Self {
            run: run.unwrap_or(text).into(),
            target: target.map(str::to_owned),
        }
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Some(target) => write!(f, "{}@{target}", self.run),
            None => self.run.fmt(f),
        }
    }
}

impl RunSelector {
    pub(crate) fn part_of(&self, run: RunRecord) -> Result<RunRecord> {
        let Some(target) = &self.target else {
            return Ok(run);
        };
        run.on_target(target).ok_or_else(|| {
            let names: Vec<&str> = run
                .targets
                .iter()
                .map(|target| target.name.as_str())
                .collect();
            let missing = run.missing.iter().find(|missing| missing.name == *target);
            let why = missing.map_or(String::new(), |missing| format!(" ({})", missing.reason));
            usage!(
                "{}: no results on '{target}'{why}. Name one of its targets: {}",
                self.run,
                names.join(", ")
            )
        })
    }
}

pub(crate) fn run_names(text: &str) -> Result<Box<[RunSelector]>, &'static str> {
    if text.split(',').any(str::is_empty) {
        return Err("expected run numbers, labels or files, separated by single commas");
    }
    Ok(text.split(',').map(RunSelector::from).collect())
}

impl RunName {
    /// The numbers of the runs, at least one, the newest last.
    pub(crate) fn numbers(&self, store: &Store) -> Result<Vec<i64>> {
        let numbers = match self {
            // A later step reports a missing one.
            Self::Number(number) => vec![*number],
            Self::Label(label) => store.runs_labelled(label)?,
            Self::File(path) => {
                let path = path.display();
                return Err(usage!(
                    "{path} is a file. Give a run's number or label here, or `writebench import` the file first"
                ));
            }
        };
        if numbers.is_empty() {
            let newest = store.newest_run()?.map_or(String::new(), |run| {
                format!("The newest run is {run}, and ")
            });
            return Err(usage!(
                "no run has the label '{self}'. {newest}`writebench runs` lists all. The name of a file has a '/', or \
                 ends with .json or .jsonl"
            ));
        }
        Ok(numbers)
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_file(text: &str) -> bool {
    text.contains('/') || has_ending_of_file(text)
}

fn has_ending_of_file(text: &str) -> bool {
    text.ends_with(".json") || text.ends_with(".jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_differs_from_numbers_files_and_lists() {
        for label in ["before", "6.18-rc1", "v2 of July", "3a", "+5"] {
            assert_eq!(super::label(label), Ok(label.to_owned()));
            assert_eq!(RunName::from(label), RunName::Label(label.to_owned()));
        }
        for refused in [
            "",
            "12",
            "a,b",
            "a/b",
            "a@b",
            "base.json",
            "base.jsonl",
            "two\nlines",
            " a",
            "-a",
            &"l".repeat(201),
        ] {
            assert!(label(refused).is_err(), "{refused:?}");
        }
        assert_eq!(RunName::from("12"), RunName::Number(12));
        assert_eq!(RunName::from("./12"), RunName::File(PathBuf::from("./12")));
    }

    #[test]
    fn a_target_follows_the_run() {
        let on = |text: &str| {
            let RunSelector { run, target } = text.into();
            (run, target)
        };
        let named = |target: &str| Some(target.to_owned());
        assert_eq!(on("5@ext4"), (RunName::Number(5), named("ext4")));
        assert_eq!(
            on("before@/data/x"),
            (RunName::Label("before".to_owned()), named("/data/x"))
        );
        assert_eq!(
            on("x.json@xfs"),
            (RunName::File(PathBuf::from("x.json")), named("xfs"))
        );
        assert_eq!(
            on("x.jsonl@xfs"),
            (RunName::File(PathBuf::from("x.jsonl")), named("xfs"))
        );
        let file = RunName::File(PathBuf::from("./a@b/run.json"));
        assert_eq!(on("./a@b/run.json@ext4"), (file, named("ext4")));
        assert_eq!(
            on("me@home/x.json"),
            (RunName::File(PathBuf::from("me@home/x.json")), None)
        );
        assert_eq!(on("5"), (RunName::Number(5), None));
    }
}
