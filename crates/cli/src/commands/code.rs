//! `writebench code`: a case → a function in a programming language.

use anyhow::Result;
use clap::Args;
use writebench_model::{Axis, Case};
use writebench_report::Report;
use writebench_snippets::{EmitOptions, Language, Unsupported, code};

use crate::arguments::named_values;
use crate::database;
use crate::earlier_search::name_without_size;
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::meant;

/// Print the function that writes or copies a file as a case does
#[derive(Args)]
#[command(after_help = CODE_EXAMPLES)]
pub(crate) struct CodeCommand {
    /// Name of a case; `writebench list cases` and every table have them [default: the one that the newest search
    /// recommends]
    case: Option<String>,
    /// Programming language
    #[arg(long = "lang", value_name = "LANGUAGE", value_parser = named_values(Language::ALL, Language::name))]
    language: Language,
    /// A whole program, PROGRAM SOURCE TARGET, which writes a file's content to another
    #[arg(long)]
    main: bool,
    /// Give the file its name when it is whole: a temporary name, the case's sync, rename(2), and fsync(2)
    /// of the directory if the case is durable
    #[arg(long)]
    atomic: bool,
    /// Take the data from a producer, chunk by chunk, instead of as one buffer
    #[arg(long)]
    stream: bool,
}

const CODE_EXAMPLES: &str = "Examples:
  writebench code --lang rust                              what the newest search recommends
  writebench code pwrite,prepare=fallocate,threads=2 --lang c --main > writer.c
  writebench code write,sync=fsync --lang python --atomic";

impl CodeCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let name = self.case.clone().map_or_else(|| recommended(global), Ok)?;
        let case = Case::parse(&name).map_err(|error| match meant::case(&name) {
            Some(meant) => usage!("'{name}' is not a case. Did you mean {meant}?"),
            None => error.into(),
        })?;
        let frame = EmitOptions { is_program: self.main, is_atomic: self.atomic, is_stream: self.stream };
        match code(&case, self.language, frame) {
            Ok(text) => {
                global.output.results(&text)?;
                Ok(Exit::Ok)
            }
            Err(refusal) => Err(self.refused(&case, &refusal, global)),
        }
    }

    /// The reason, the nearest case that the language can express, and its cost by a run that has
    /// both.
    fn refused(&self, case: &Case, refusal: &Unsupported, global: &Global) -> anyhow::Error {
        let Some(nearest) = &refusal.nearest else { return usage!("{refusal}") };
        let name = name_without_size(nearest);
        let cost = cost(case, nearest, global)
            .unwrap_or_else(|| format!("to see what it costs: writebench run --case {case} --case {nearest}"));
        let frame = [(self.main, " --main"), (self.atomic, " --atomic"), (self.stream, " --stream")];
        let frame: String =
            frame.iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, option)| *option).collect();
        let (title, language) = (self.language.title(), self.language.name());
        usage!("{refusal}; the nearest in {title}: writebench code {name} --lang {language}{frame} ({cost})")
    }
}

/// The case that the newest search recommends.
fn recommended(global: &Global) -> Result<String> {
    let none = || usage!("no search to take a case from: name one, or run `writebench advise` first");
    let path = database::path(global.db.as_deref())?;
    let store = database::open_if_there(&path)?.ok_or_else(none)?;
    let searches = store.runs()?.into_iter().rev().filter(|run| run.is_search);
    for search in searches {
        let report = Report::from_run(Some(search.number), store.run(search.number)?);
        if let Some(advice) = report.advice {
            return Ok(advice.recommended);
        }
    }
    Err(none())
}

/// How many times as fast as the first case the second is, in the rounds of the newest run that has both on one target.
fn cost(case: &Case, nearest: &Case, global: &Global) -> Option<String> {
    let store = database::open_existing(global.db.as_deref()).ok()?;
    store.runs().ok()?.into_iter().rev().find_map(|summary| {
        let report = Report::from_run(Some(summary.number), store.run(summary.number).ok()?);
        let reported = |case: &Case| {
            let wanted = name_without_size(case);
            report.cases.iter().filter(move |row| row.record.case.name_without(&[Axis::Size]) == wanted)
        };
        let times = reported(case).find_map(|own| {
            let other = reported(nearest).find(|other| other.record.target == own.record.target)?;
            Some(own.ratio_to(other)?.estimate)
        })?;
        Some(format!("{times:.2} times as fast in the rounds of run {}", summary.number))
    })
}
