use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use anyhow::{Context, Result};
use serde::Deserialize;
use writebench_model::{Axis, Bytes, Case, FileSize, Method};
use writebench_snippets::{EmitOptions, Language, code};
use writebench_testkit::command::output;
use writebench_testkit::entries;

use super::free_producer::with_free_producer;
use super::self_timed::{Ior, SelfTimed};
use super::self_timed_set::{SetClock, SetProgram};
use crate::export::Clock;
use crate::program::{Bench, compiled, mpirun};

pub(super) enum Beside {
    /// Printed C has the loop of a good C programmer.
    C,
    Languages,
    /// Printed code gets its data from a producer without cost.
    Streams,
    Tools,
    /// fio runs an exported job.
    Fio,
    /// This IOR runs under mpirun.
    Ior(PathBuf),
    /// This mdtest and `fs_mark` write sets of files.
    Sets(PathBuf),
}

/// A column of ratios has one of three kinds of programs, or the one of its document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub(super) title: String,
    /// The program is printed code of this language.
    language: Option<String>,
    /// The program is this command line.
    line: Option<String>,
    /// The program writes sets of files.
    set: Option<SetClock>,
    #[serde(default)]
    pub(super) clock: Clock,
    #[serde(default)]
    pub(super) is_judged: bool,
}

/// `cases.toml` has a document for each option.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) title: String,
    pub(super) option: String,
    pub(super) explanation: String,
    /// The ratio is the case's speed over the program's, or the reverse.
    pub(super) judges_cases: bool,
    pub(super) columns: Vec<Column>,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    cases: Vec<String>,
    at_most_bytes: Option<u64>,
}

impl Beside {
    pub(super) fn cases(&self, usual: Bytes, only: &[String]) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        let Document {
            columns, groups, ..
        } = self.document()?;
        for Group {
            cases: names,
            at_most_bytes,
        } in groups
        {
            let size = Bytes(usual.0.min(at_most_bytes.unwrap_or(u64::MAX)));
            for name in names {
                if !only.is_empty() && !only.iter().any(|text| name.contains(text)) {
                    continue;
                }
                let case = Case::parse(&name)?.with_size(size.0)?;
                // Printed programs have page-aligned data.
                let is_aligned = columns[0].language.is_some()
                    && case.method().has_axis(Axis::Memory)
                    && !matches!(self, Self::Streams);
                cases.push(if is_aligned {
                    case.with(Axis::Memory, "page-aligned")?
                } else {
                    case
                });
            }
        }
        Ok(cases)
    }

    /// Each column has a command line. It is none if the column's language does not support the case.
    pub(super) fn programs(
        &self,
        columns: &[Column],
        bench: Bench<'_>,
        case: &Case,
        directory: &Path,
    ) -> Result<Vec<Option<String>>> {
        let self_timed = match self {
            Self::Fio => Some(SelfTimed::Fio {
                job: exported_job(bench, case, directory)?,
            }),
            Self::Ior(ior) => Some(SelfTimed::Ior(Ior::for_case(ior, case))),
            Self::C | Self::Languages | Self::Streams | Self::Tools | Self::Sets(_) => None,
        };
        let mut lines = Vec::new();
        for column in columns {
            lines.push(if let Some(language) = &column.language {
                self.printed(case, language, directory)?
            } else if let (Some(clock), Self::Sets(mdtest)) = (column.set, self) {
                match SetProgram::for_case(clock, mdtest, case) {
                    Some(set) => Some(SelfTimed::Set(set).line(case)?),
                    None => None,
                }
            } else if let Some(program) = &self_timed {
                Some(program.line(case)?)
            } else {
                column.line.clone()
            });
        }
        Ok(lines)
    }

    pub(super) fn start(&self, writebench: &Path, case: &Case) -> Command {
        match self {
            Self::Ior(_) => mpirun(case.choices().ranks, writebench),
            _ => Command::new(writebench),
        }
    }

    pub(super) fn document(&self) -> Result<Document> {
        let mut all: BTreeMap<String, Document> =
            toml::from_str(include_str!("cases.toml")).context("cases.toml")?;
        let name = match self {
            Self::C => "c",
            Self::Languages => "languages",
            Self::Streams => "streams",
            Self::Tools => "tools",
            Self::Fio => "fio",
            Self::Ior(_) => "ior",
            Self::Sets(_) => "sets",
        };
        all.remove(name).context(name)
    }

    fn frame(&self) -> EmitOptions {
        let is_stream = matches!(self, Self::Streams);
        EmitOptions {
            is_program: true,
            is_stream,
            ..EmitOptions::default()
        }
    }

    fn printed(&self, case: &Case, language: &str, directory: &Path) -> Result<Option<String>> {
        let language = *Language::ALL
            .iter()
            .find(|known| known.name() == language)
            .with_context(|| language.to_owned())?;
        let folder = directory.join(language.name());
        let line = match (case.method(), case.given().file_size) {
            (Method::UringFiles, FileSize::Each(bytes)) => {
                let line = compiled(include_str!("uring_files.c"), language, &folder)?;
                format!("{line} {bytes} {}", case.choices().depth)
            }
            _ => {
                let Ok(mut text) = code(case, language, self.frame()) else {
                    return Ok(None);
                };
                if matches!(self, Self::Streams) {
                    text = with_free_producer(&text, language)?;
                }
                compiled(&text, language, &folder)?
            }
        };
        with_directory(case, line).map(Some)
    }
}

/// A printed program that writes a set of files gets a directory for them.
pub(crate) fn with_directory(case: &Case, line: String) -> Result<String> {
    if writes_several(case) {
        SelfTimed::Set(SetProgram::printed(&line)).line(case)
    } else {
        Ok(line)
    }
}

pub(crate) fn writes_several(case: &Case) -> bool {
    case.method().writes_set() && case.given().file_size != FileSize::Whole
}

/// A run of one sample exports the job.
fn exported_job(bench: Bench<'_>, case: &Case, directory: &Path) -> Result<PathBuf> {
    let jobs = directory.join("jobs");
    let mut command = bench.run(slice::from_ref(case), 1);
    command
        .args(["--no-limits", "--quiet", "--verify", "never"])
        .arg("--db")
        .arg(directory.join("db"));
    output(
        command
            .arg("--export")
            .arg(format!("fio={}", jobs.display())),
    )?;
    let job = entries(&jobs)
        .into_iter()
        .find(|file| file.extension().is_some_and(|extension| extension == "fio"));
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
        let all_besides = [
            Beside::C,
            Beside::Languages,
            Beside::Streams,
            Beside::Tools,
            Beside::Fio,
            Beside::Sets(PathBuf::new()),
        ];
        for beside in all_besides {
            let cases = all(&beside);
            for (at, case) in cases.iter().enumerate() {
                let name = case.to_string();
                let has_code = code(case, Language::C, beside.frame()).is_ok();
                let has_own_program =
                    matches!(beside, Beside::Fio) || case.method() == Method::UringFiles;
                assert!(has_code || has_own_program, "{name}");
                assert!(
                    cases[..at].iter().all(|other| other.to_string() != name),
                    "{name} is listed twice"
                );
            }
        }
    }

    #[test]
    fn ior_has_the_same_bytes_in_the_same_blocks() {
        let cases = all(&Beside::Ior(PathBuf::new()));
        assert_eq!(cases.len(), 24 + 24 + 16);
        for case in &cases {
            let options = Ior::for_case(Path::new("ior"), case).words;
            let number = |flag: &str| {
                let at = options.iter().position(|word| word == flag)?;
                options[at + 1].parse::<u64>().ok()
            };
            let bytes =
                number("-b").unwrap() * number("-s").unwrap_or(1) * u64::from(case.choices().ranks);
            assert_eq!(bytes, case.given().size_bytes, "{case}");
            assert_eq!(
                options.iter().any(|word| word == "-e"),
                case.to_string().contains("sync=fsync")
            );
        }
    }

    #[test]
    fn every_language_has_a_column_and_code_with_a_runtime_is_not_judged() {
        let columns = Beside::Languages.document().unwrap().columns;
        let shown = |column: &Column| (column.language.clone(), column.title.clone());
        let known = Language::ALL
            .iter()
            .map(|known| (Some(known.name().to_owned()), known.title().to_owned()));
        assert_eq!(
            columns.iter().map(shown).collect::<Vec<_>>(),
            known.collect::<Vec<_>>()
        );
        let judged = columns
            .iter()
            .filter(|column| column.is_judged)
            .map(|column| column.title.as_str());
        assert_eq!(judged.collect::<Vec<_>>(), ["C", "C++", "Rust"]);
    }
}
