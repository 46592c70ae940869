use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use anyhow::{Context, Result};
use serde::Deserialize;
use writebench_model::{Axis, Bytes, Case};
use writebench_snippets::{EmitOptions, Language, code};
use writebench_testkit::entries;

use super::self_timed::{Ior, SelfTimed, mpirun};
use crate::command::output;
use crate::export::Clock;
use crate::program::{Bench, compiled};

pub(super) enum Beside {
    /// Printed C, the loop of a good C programmer.
    C,
    /// Printed code in every language.
    Languages,
    Tools,
    /// fio with an exported job.
    Fio,
    /// IOR under mpirun.
    Ior(PathBuf),
}

pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) program: usize,
    pub(super) clock: Clock,
    pub(super) is_judged: bool,
}

/// Languages without a runtime.
const JUDGED: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

/// GNU coreutils 9.1 (strace): `cp --reflink=never` uses `read` and `write` of 128 KiB after
/// `POSIX_FADV_SEQUENTIAL`. `cp` tries `FICLONE`, then one `copy_file_range`.
const TOOLS: &[(&str, &str)] = &[
    ("cp --reflink=never", "cp --reflink=never {source} {file}"),
    ("cp", "cp {source} {file}"),
    ("dd bs=1M", "dd bs=1M if={source} of={file} status=none"),
    ("dd bs=128k", "dd bs=128k if={source} of={file} status=none"),
];

/// A document of `cases.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) title: String,
    pub(super) option: String,
    pub(super) explanation: String,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    cases: Vec<String>,
    at_most_bytes: Option<u64>,
}

impl Beside {
    pub(super) fn columns(&self) -> Vec<Column> {
        let column = |program, title, is_judged| Column { title, program, clock: Clock::Total, is_judged };
        match self {
            Self::C => vec![column(0, "writebench / C", true)],
            Self::Languages => (0..)
                .zip(Language::ALL)
                .map(|(number, language)| column(number, language.title(), JUDGED.contains(language)))
                .collect(),
            Self::Tools => (0..).zip(TOOLS).map(|(number, (name, _))| column(number, name, false)).collect(),
            Self::Fio => vec![Column { clock: Clock::Calls, ..column(0, "writebench / fio", true) }],
            Self::Ior(_) => vec![
                column(0, "writebench / IOR", true),
                Column { clock: Clock::Calls, ..column(0, "writing", false) },
            ],
        }
    }

    /// The ratio is the case's speed over the program's, or the reverse.
    pub(super) fn judges_cases(&self) -> bool {
        !matches!(self, Self::Languages | Self::Tools)
    }

    pub(super) fn cases(&self, usual: Bytes, only: &[String]) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for Group { cases: names, at_most_bytes } in self.document()?.groups {
            let size = Bytes(usual.0.min(at_most_bytes.unwrap_or(u64::MAX)));
            let is_wanted = |name: &String| only.is_empty() || only.iter().any(|text| name.contains(text));
            for name in names.into_iter().filter(is_wanted) {
                let case = Case::parse(&name)?.with(Axis::Size, &size.to_string())?;
                // Printed programs have page-aligned data.
                let is_aligned =
                    matches!(self, Self::C | Self::Languages) && case.method().has_axis(Axis::Memory);
                cases.push(if is_aligned { case.with(Axis::Memory, "page-aligned")? } else { case });
            }
        }
        Ok(cases)
    }

    /// A command line is none if its language does not support the case.
    pub(super) fn programs(
        &self,
        bench: Bench<'_>,
        case: &Case,
        directory: &Path,
    ) -> Result<Vec<Option<String>>> {
        let languages: &[Language] = match self {
            Self::C => &[Language::C],
            Self::Languages => Language::ALL,
            Self::Tools => return Ok(TOOLS.iter().map(|(_, line)| Some((*line).to_owned())).collect()),
            Self::Fio => {
                let program = SelfTimed::Fio { job: exported_job(bench, case, directory)? };
                return Ok(vec![Some(program.line(case)?)]);
            }
            Self::Ior(ior) => {
                return Ok(vec![Some(SelfTimed::Ior(Ior::for_case(ior, case)).line(case)?)]);
            }
        };
        languages.iter().map(|&language| printed(case, language, directory)).collect()
    }

    pub(super) fn start(&self, writebench: &Path, case: &Case) -> Command {
        match self {
            Self::Ior(_) => mpirun(case.axes().ranks, writebench),
            _ => Command::new(writebench),
        }
    }

    pub(super) fn document(&self) -> Result<Document> {
        let mut all: BTreeMap<String, Document> =
            toml::from_str(include_str!("cases.toml")).context("cases.toml")?;
        let name = match self {
            Self::C => "c",
            Self::Languages => "languages",
            Self::Tools => "tools",
            Self::Fio => "fio",
            Self::Ior(_) => "ior",
        };
        all.remove(name).context(name)
    }
}

fn printed(case: &Case, language: Language, directory: &Path) -> Result<Option<String>> {
    let frame = EmitOptions { is_program: true, ..EmitOptions::default() };
    let Ok(text) = code(case, language, frame) else { return Ok(None) };
    compiled(&text, language, &directory.join(language.name())).map(Some)
}

/// A run of one sample exports the job.
fn exported_job(bench: Bench<'_>, case: &Case, directory: &Path) -> Result<PathBuf> {
    let jobs = directory.join("jobs");
    let mut command = bench.run(slice::from_ref(case), 1);
    command.args(["--no-limits", "--quiet", "--verify", "never"]).arg("--db").arg(directory.join("db"));
    output(command.arg("--export").arg(format!("fio={}", jobs.display())))?;
    let job =
        entries(&jobs).into_iter().find(|file| file.extension().is_some_and(|extension| extension == "fio"));
    job.context("writebench exported no job for fio")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(beside: &Beside) -> Vec<Case> {
        beside.cases(Bytes(256 << 20), &[]).unwrap()
    }

    #[test]
    fn every_case_is_listed_once_and_has_code_in_c() {
        for beside in [Beside::C, Beside::Languages, Beside::Tools, Beside::Fio] {
            let cases = all(&beside);
            for (at, case) in cases.iter().enumerate() {
                let name = case.to_string();
                let has_code = code(case, Language::C, EmitOptions::default()).is_ok();
                assert!(has_code || matches!(beside, Beside::Fio), "{name}");
                assert!(cases[..at].iter().all(|other| other.to_string() != name), "{name} is listed twice");
            }
        }
    }

    #[test]
    fn ior_has_the_same_bytes_in_the_same_blocks() {
        let cases = all(&Beside::Ior(PathBuf::new()));
        assert_eq!(cases.len(), 24 + 24 + 16);
        for case in &cases {
            let options = Ior::for_case(Path::new("ior"), case).options;
            let number = |flag: &str| {
                let at = options.iter().position(|word| word == flag)?;
                options[at + 1].parse::<u64>().ok()
            };
            let bytes = number("-b").unwrap() * number("-s").unwrap_or(1) * u64::from(case.axes().ranks);
            assert_eq!(bytes, case.axes().size_bytes, "{case}");
            assert_eq!(options.iter().any(|word| word == "-e"), case.to_string().contains("sync=fsync"));
        }
    }

    #[test]
    fn code_with_a_runtime_is_not_judged() {
        let judged: Vec<_> = Beside::Languages.columns().iter().map(|column| column.is_judged).collect();
        assert!(judged[0] && !judged[Language::ALL.len() - 1]);
    }
}
