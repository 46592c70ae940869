//! The results of all power losses, as text and exports.

use std::rc::Rc;

use anyhow::Result;
use serde::Serialize;
use writebench_filesystems::DiskKind;
use writebench_powerloss::Moment;
use writebench_report::formats::{JunitTest, junit_document, padded};
use writebench_report::{counted, visible};
use writebench_stats::grouped;

use crate::exit::usage;
use crate::output::Output;
use crate::output_file::{OutputFile, OutputPath, ProtectedPaths};

/// The power losses on one filesystem.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    filesystem: String,
    /// The number of power losses with a check.
    pub checked: usize,
    /// The number of power losses in the recordings. `--max-states` chooses some.
    pub possible: usize,
    #[serde(rename = "unsafe")]
    unsafe_cuts: Vec<Unsafe>,
    /// Why disks could not be mounted.
    pub unmountable: Vec<String>,
    /// Where the disk of the first unsafe power loss is, or why it is not kept.
    #[serde(skip)]
    pub kept: Option<String>,
}

/// A power loss after which the check failed.
#[derive(Debug, Serialize)]
pub(super) struct Unsafe {
    /// The number of the power loss on its filesystem.
    number: usize,
    /// The system calls around it.
    after: Option<String>,
    before: Option<String>,
    /// How often the program had said that its data was durable.
    durable: usize,
    /// The reason, in the words of the check.
    reason: String,
}

impl Unsafe {
    pub(super) fn new(number: usize, moment: Moment<'_>, reason: String) -> Self {
        Self {
            number,
            after: moment.after.map(ToString::to_string),
            before: moment.before.map(ToString::to_string),
            durable: moment.durable,
            reason,
        }
    }

    /// `after rename(a, b), before syncfs(.)`
    fn place(&self) -> String {
        let after = self.after.as_deref().unwrap_or("the start of the program");
        let before = self.before.as_deref().unwrap_or("the end of the recording");
        format!("after {after}, before {before}")
    }
}

impl Findings {
    pub(super) fn on(kind: &DiskKind) -> Self {
        Self {
            filesystem: kind.to_string(),
            checked: 0,
            possible: 0,
            unsafe_cuts: Vec::new(),
            unmountable: Vec::new(),
            kept: None,
        }
    }

    pub(super) fn add(&mut self, found: Unsafe) {
        self.unsafe_cuts.push(found);
    }

    pub(super) fn first_unsafe(&self) -> Option<&Unsafe> {
        self.unsafe_cuts.first()
    }

    pub(super) fn is_safe(&self) -> bool {
        self.unsafe_cuts.is_empty() && self.unmountable.is_empty()
    }

    fn verdict(&self) -> String {
        if self.is_safe() {
            return "all safe".to_owned();
        }
        let mut parts = Vec::new();
        if !self.unsafe_cuts.is_empty() {
            parts.push(format!("{} UNSAFE", with_commas(self.unsafe_cuts.len())));
        }
        if !self.unmountable.is_empty() {
            parts.push(format!(
                "{} not mountable",
                with_commas(self.unmountable.len())
            ));
        }
        parts.join(", ")
    }
}

/// A line for each filesystem, and below it the places of unsafe power losses.
pub(super) fn text(all: &[Findings], is_kept: bool) -> String {
    const MOST_PLACES: usize = 5;
    let width = all
        .iter()
        .map(|found| found.filesystem.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for found in all {
        let chosen = if found.checked < found.possible {
            format!(" of {}", with_commas(found.possible))
        } else {
            String::new()
        };
        text += &format!(
            "{}  {:>6}{chosen} power losses: {}\n",
            padded(&found.filesystem, width),
            with_commas(found.checked),
            found.verdict()
        );
        let places = grouped(&found.unsafe_cuts, |found| found.place());
        for (place, cuts) in places.iter().take(MOST_PLACES) {
            text += &format!("  {} {}\n", cuts.len(), visible(place));
            text += &format!(
                "    number {}: {}\n",
                cuts[0].number,
                visible(&cuts[0].reason)
            );
        }
        if places.len() > MOST_PLACES {
            let more = places.len() - MOST_PLACES;
            text += &format!("  and {} more\n", counted(more, "place"));
        }
        if let Some(reason) = found.unmountable.first() {
            text += &format!("  not mountable: {}\n", visible(reason));
        }
    }
    if !is_kept && all.iter().any(|found| found.first_unsafe().is_some()) {
        text += "To look at the disk of the first unsafe power loss, add --keep DIR.\n";
    }
    text
}

/// A file for the results.
pub(super) struct FindingsExport {
    format: Format,
    to: OutputFile,
}

#[derive(Clone, Copy)]
enum Format {
    Json,
    Junit,
}

/// Opens the directories of the files, whose paths may name others when the filesystems are mounted.
pub(super) fn exports(words: &[String], protected: ProtectedPaths) -> Result<Vec<FindingsExport>> {
    let protected = Rc::new(protected);
    let export = |word: &String| {
        let (format, path) = word.split_once('=').unwrap_or((word, "-"));
        let format = match format {
            "json" => Format::Json,
            "junit" => Format::Junit,
            _ => return Err(usage!("--export {word}: use json=FILE or junit=FILE")),
        };
        let to = OutputFile::find(OutputPath {
            option: "--export",
            path: path.into(),
            protected: Rc::clone(&protected),
        })?;
        Ok(FindingsExport { format, to })
    };
    words.iter().map(export).collect()
}

impl FindingsExport {
    pub(super) fn is_for_results(&self) -> bool {
        self.to.is_for_results()
    }

    pub(super) fn write(&self, all: &[Findings], output: &Output) -> Result<()> {
        let text = match self.format {
            Format::Json => serde_json::to_string_pretty(&Document { powerloss: all })? + "\n",
            Format::Junit => junit(all),
        };
        self.to.write(&text, output)
    }
}

#[derive(Serialize)]
struct Document<'d> {
    powerloss: &'d [Findings],
}

/// A test for each filesystem.
fn junit(all: &[Findings]) -> String {
    let test = |found: &Findings| {
        let first = found.first_unsafe();
        let unsafe_one = first.map(|first| {
            let (count, checked) = (found.unsafe_cuts.len(), found.checked);
            let (place, reason) = (first.place(), &first.reason);
            format!("{count} of {checked} power losses are unsafe. The first is {place}: {reason}")
        });
        let problem = unsafe_one.or_else(|| found.unmountable.first().cloned());
        JunitTest {
            group: "powerloss".to_owned(),
            name: found.filesystem.clone(),
            seconds: 0.0,
            problem: problem.map(|message| ("failure", message)),
        }
    };
    junit_document(all.iter().map(test).collect())
}

/// `1,594`
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
