mod proof;

use anyhow::Result;
use clap::Args;
use writebench_model::{Axis, Case, Goal};
use writebench_report::Report;
use writebench_snippets::{EmitOptions, Language, Unsupported, code_with_caution};

use crate::arguments::{goals, named_values};
use crate::caution;
use crate::database;
use crate::earlier_search::{name_without_size, without_size};
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::meant;
use crate::newest_answer::{Choice, newest_answer};
use crate::synonyms;

/// Print the function that writes or copies a file as a case does
#[derive(Args)]
#[command(after_help = CODE_EXAMPLES)]
pub(crate) struct CodeCommand {
    /// Name of a case, as in a table or in `writebench list cases` [default: the recommendation of the newest run or
    /// search]
    case: Option<String>,
    /// Take the newest run's recommendation for this goal, if it has several: stream, log, or another name of `writebench
    /// list goals`
    #[arg(long = "for", value_name = "GOAL", hide_possible_values = true, value_parser = goals(), conflicts_with = "case")]
    goal: Option<Goal>,
    /// Print code in this language
    #[arg(long = "lang", value_name = "LANGUAGE", value_parser = named_values(Language::ALL, Language::name))]
    language: Language,
    /// Print a complete program, called as PROGRAM SOURCE TARGET, which writes the content of SOURCE to TARGET
    #[arg(long)]
    main: bool,
    /// Replace the file atomically: a temporary name, the case's sync, rename(2), and fsync(2) of the directory if the
    /// case is durable
    #[arg(long)]
    atomic: bool,
    /// Take the data in chunks from a producer, not as one buffer. With threads or io_uring, the producer fills a buffer
    /// while others are written
    #[arg(long)]
    stream: bool,
    /// Append records to a log: functions that open it, also after a crash, append a record durably and close it, for any
    /// number of threads
    #[arg(long, conflicts_with_all = ["atomic", "stream"])]
    append: bool,
    /// Print the commands that prove the function instead: they compile a program with it, and cut the power of its disk
    #[arg(long, conflicts_with = "append")]
    powerloss: bool,
}

const CODE_EXAMPLES: &str = "Examples:
  writebench code --lang rust               the recommendation of the newest run or search
  writebench code --for stream --lang rust  that for a new file, after a run of several goals
  writebench code pwrite,prepare=fallocate,threads=2 --lang c --main > writer.c
  writebench code write,sync=fsync --lang python --atomic
  writebench code write,sync=fsync --lang c --atomic --powerloss
  writebench code io_uring,depth=4,cache=direct,prepare=fallocate-ahead --lang c --stream
  writebench code write,prepare=zero-fill,sync=fdatasync/1 --lang rust --append";

impl CodeCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let name = match &self.case {
            Some(case) => case.clone(),
            None => newest_answer(self.goal, |choice| self.command(&choice), global)?.case,
        };
        let understood = synonyms::case(&name).map_err(|why| usage!("{why}"))?;
        understood
            .note
            .iter()
            .for_each(|note| global.output.note(note));
        let name = understood.name;
        let case = Case::parse(&name).map_err(|error| {
            if let Some(goal) = Goal::from_word(&name) {
                let meant = self.command(&Choice::Goal(goal));
                return usage!(
                    "'{name}' is a goal, not a case. Did you mean `writebench {meant}`?"
                );
            }
            match meant::case(&name) {
                Some(meant) => usage!("'{name}' is not a case. Did you mean {meant}?"),
                None => error.into(),
            }
        })?;
        let frame = EmitOptions {
            is_program: self.main || self.powerloss,
            ..self.frame()
        };
        let caution = caution::for_code(&case, global);
        let text = code_with_caution(&case, self.language, frame, caution.as_deref())
            .map_err(|refusal| self.refused(&case, &refusal, global))?;
        if self.powerloss {
            let commands = proof::commands(&case, self.language, frame, &text)?;
            return global.output.results(&commands);
        }
        global.output.results(&text)
    }

    /// Names the nearest case that the language can express, and its cost in a run with both.
    fn refused(&self, case: &Case, refusal: &Unsupported, global: &Global) -> anyhow::Error {
        let Some(nearest) = &refusal.nearest else {
            return usage!("{refusal}");
        };
        let name = name_without_size(nearest);
        let cost = cost(case, nearest, global).unwrap_or_else(|| {
            format!("for its cost: writebench run --case {case} --case {nearest}")
        });
        let title = self.language.title();
        let options = self.options();
        usage!("{refusal}. The nearest in {title}: writebench code {name} {options} ({cost})")
    }

    /// `code --for stream --lang c`
    fn command(&self, choice: &Choice<'_>) -> String {
        let what = match choice {
            Choice::Goal(goal) => format!("--for {goal}"),
            Choice::Case(case) => (*case).to_owned(),
        };
        format!("code {what} {}", self.options())
    }

    /// `--lang c --main`
    fn options(&self) -> String {
        let proof = if self.powerloss { " --powerloss" } else { "" };
        options(self.language, self.frame()) + proof
    }

    fn frame(&self) -> EmitOptions {
        EmitOptions {
            is_program: self.main,
            is_atomic: self.atomic,
            is_stream: self.stream,
            is_append: self.append,
        }
    }
}

fn options(language: Language, frame: EmitOptions) -> String {
    let options = [
        (frame.is_program, " --main"),
        (frame.is_atomic, " --atomic"),
        (frame.is_stream, " --stream"),
        (frame.is_append, " --append"),
    ];
    let wanted = options.iter().filter(|(is_wanted, _)| *is_wanted);
    let words: String = wanted.map(|(_, option)| *option).collect();
    format!("--lang {}{words}", language.name())
}

/// The speed of the second case relative to the first, in the newest run with both on one target.
fn cost(case: &Case, nearest: &Case, global: &Global) -> Option<String> {
    let store = database::open_existing(global.db.as_deref()).ok()?;
    let names = [case, nearest].map(name_without_size);
    let number = store
        .newest_run_with(&names, |wanted, name| without_size(name) == *wanted)
        .ok()??;
    let report = Report::from_run(Some(number), store.run(number).ok()?);
    let reported = |wanted: &str| {
        let wanted = wanted.to_owned();
        report
            .cases
            .iter()
            .filter(move |row| row.record.case.name_without(&[Axis::Size]) == wanted)
    };
    let times = reported(&names[0]).find_map(|own| {
        let other = reported(&names[1]).find(|other| other.record.target == own.record.target)?;
        Some(own.ratio_to(other)?.estimate)
    })?;
    Some(format!(
        "{times:.2} times as fast in the rounds of run {number}"
    ))
}
