//! The results of all power losses, as text and exports.

use std::rc::Rc;

use anyhow::Result;
use serde::Serialize;
use writebench_filesystems::DiskKind;
use writebench_powerloss::{Moment, Recording, Steps};
use writebench_report::formats::{JunitTest, folded, junit_document, padded};
use writebench_report::{counted, visible};

use super::timeline::Window;
use crate::exit::usage;
use crate::output::Output;
use crate::output_file::{OutputFile, OutputPath, ProtectedPaths};

/// The windows of a filesystem that the text shows.
const MOST_WINDOWS: usize = 3;

/// The power losses on one filesystem.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    filesystem: String,
    /// The number of power losses with a check.
    pub checked: usize,
    /// The number of power losses in the recordings. `--max-states` chooses some.
    pub possible: usize,
    recordings: Vec<Recorded>,
    #[serde(rename = "unsafe")]
    pub unsafe_cuts: Vec<Unsafe>,
    /// Why disks could not be mounted.
    pub unmountable: Vec<String>,
    /// Where the disk of the first unsafe power loss is, or why it is not kept.
    #[serde(skip)]
    pub kept: Option<String>,
}

/// What the program did in one recording.
#[derive(Debug, Serialize)]
struct Recorded {
    /// Whether the journal was committed after each call.
    commits: bool,
    /// Its system calls, the promises among them, and its end.
    calls: Vec<String>,
}

/// A power loss after which the check failed.
#[derive(Debug, Serialize)]
pub(super) struct Unsafe {
    /// The number of the power loss on its filesystem.
    pub number: usize,
    /// The number of its recording.
    pub recording: usize,
    /// How many of the recording's calls were over, and those next to the power loss.
    pub calls_before: usize,
    after: Option<String>,
    before: Option<String>,
    /// How often the program had said that its data was durable.
    durable: usize,
    /// The reason, in the words of the check.
    pub reason: String,
}

impl Unsafe {
    /// `after rename(a, b), before syncfs(.)`
    pub(super) fn place(&self) -> String {
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
            recordings: Vec::new(),
            unsafe_cuts: Vec::new(),
            unmountable: Vec::new(),
            kept: None,
        }
    }

    /// Power losses that are added later are of this recording.
    pub(super) fn begin(&mut self, recording: &Recording, steps: Steps) {
        self.recordings.push(Recorded {
            commits: steps == Steps::CommitEach,
            calls: recording.acts().iter().map(ToString::to_string).collect(),
        });
    }

    pub(super) fn add_unsafe(&mut self, moment: Moment, reason: String) {
        let recording = self.recordings.len() - 1;
        let (over, later) = self.recordings[recording].calls.split_at(moment.acts);
        self.unsafe_cuts.push(Unsafe {
            number: self.checked,
            recording,
            calls_before: moment.acts,
            after: over.last().cloned(),
            before: later.first().cloned(),
            durable: moment.durable,
            reason,
        });
    }

    pub(super) fn first_unsafe(&self) -> Option<&Unsafe> {
        self.unsafe_cuts.first()
    }

    /// The calls before and after a power loss.
    pub(super) fn around(&self, cut: &Unsafe) -> [&[String]; 2] {
        let calls = &self.recordings[cut.recording].calls;
        calls.split_at(cut.calls_before).into()
    }

    pub(super) fn is_safe(&self) -> bool {
        self.unsafe_cuts.is_empty() && self.unmountable.is_empty()
    }

    /// `xfs, recording 2 of 2: 4 unsafe`
    pub(super) fn progress(&self) -> String {
        format!(
            "{}, recording {} of 2: {} unsafe",
            self.filesystem,
            self.recordings.len(),
            self.unsafe_cuts.len() + self.unmountable.len()
        )
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
pub(super) fn text(all: &[Findings], is_kept: bool, width: usize) -> String {
    let name_width = all
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
            padded(&found.filesystem, name_width),
            with_commas(found.checked),
            found.verdict()
        );
        let windows = Window::all(found);
        let shown = windows.iter().take(MOST_WINDOWS);
        let shown: Vec<String> = shown.map(|window| window.text(width)).collect();
        text += &shown.join("\n");
        if windows.len() > MOST_WINDOWS {
            let more = windows.len() - MOST_WINDOWS;
            let places = counted(more, "other place");
            text += &format!("  More in {places}: see --export json=FILE\n");
        }
        if let Some(reason) = found.unmountable.first() {
            let line = format!("  not mountable: {}", visible(reason));
            text += &folded(&line, width, 6);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(calls: &[&str], unsafe_after: &[usize]) -> Findings {
        let mut found = Findings::on(&"xfs".parse().unwrap());
        found.recordings.push(Recorded {
            commits: false,
            calls: calls.iter().map(ToString::to_string).collect(),
        });
        for &acts in unsafe_after {
            found.checked += 1;
            let moment = Moment { durable: 0, acts };
            found.add_unsafe(moment, "f is empty".to_owned());
        }
        found.possible = found.checked;
        found
    }

    #[test]
    fn an_unsafe_power_loss_is_marked_at_its_place() {
        let calls = ["openat(f)", "write(f)", "write(f)", "rename(f, g)"];
        assert_eq!(
            text(&[found(&calls, &[3, 3])], true, 80),
            "xfs       2 power losses: 2 UNSAFE
    openat(f)
    write(f), 2 times
  > 2 UNSAFE here. Number 1: f is empty
    rename(f, g)
"
        );
    }

    #[test]
    fn a_loop_has_one_of_its_places_and_other_places_follow() {
        let record = ["write(f)", "durable", "fsync(f)"];
        let calls = [&record.repeat(4)[..], &["ftruncate(f)"]].concat();
        assert_eq!(
            text(&[found(&calls, &[8, 11, 13])], true, 80),
            "xfs       3 power losses: 3 UNSAFE
    …
    durable
    fsync(f)
    write(f)
    durable
    fsync(f)
    write(f)
    durable
  > 2 UNSAFE in 2 such places. Number 1: f is empty
    fsync(f)
    write(f)
    …

    …
    write(f)
    durable
    fsync(f)
    write(f)
    durable
    fsync(f)
    ftruncate(f)
  > 1 UNSAFE here. Number 3: f is empty
"
        );
    }

    #[test]
    fn long_lines_are_folded() {
        let long = format!("rename({}, {})", "a".repeat(50), "b".repeat(50));
        let text = text(&[found(&[&long], &[1])], true, 80);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }
}
