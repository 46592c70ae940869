//! The results of all power losses, as text and exports.

use std::rc::Rc;

use anyhow::Result;
use serde::Serialize;
use writebench_filesystems::DiskKind;
use writebench_powerloss::{Moment, Recording, Steps};
use writebench_report::formats::{JunitTest, junit_document};

use crate::exit::usage;
use crate::output::Output;
use crate::output_file::{OutputFile, OutputPath, ProtectedPaths};

/// The windows of a filesystem that the text shows.
pub(super) const MOST_WINDOWS: usize = 3;

/// The power losses on one filesystem.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    pub filesystem: String,
    /// The number of power losses with a check.
    pub checked: usize,
    /// The number of power losses in the recordings. `--max-states` chooses some.
    pub possible: usize,
    pub recordings: Vec<Recorded>,
    #[serde(rename = "unsafe")]
    pub unsafe_cuts: Vec<Unsafe>,
    pub unmountable: Vec<Unmountable>,
    /// The places of unsafe power losses, in the order of the first ones.
    #[serde(skip)]
    places: Vec<String>,
}

/// A power loss whose disk does not mount.
#[derive(Debug, Serialize)]
pub(super) struct Unmountable {
    pub number: usize,
    pub reason: String,
    #[serde(flatten)]
    pub kept: Kept,
}

/// The image of a disk.
#[derive(Debug, Default, Serialize)]
pub(super) struct Kept {
    /// Its path as the user can type it.
    pub image: Option<String>,
    /// Why it could not be written.
    #[serde(skip)]
    pub error: Option<String>,
}

/// What the program did in one recording.
#[derive(Debug, Serialize)]
pub(super) struct Recorded {
    /// Whether the journal was committed after each call.
    pub commits: bool,
    /// Its system calls, the promises among them, and its end.
    pub calls: Vec<String>,
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
    #[serde(flatten)]
    pub kept: Kept,
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
            places: Vec::new(),
        }
    }

    /// Power losses that are added later are of this recording.
    pub(super) fn begin(&mut self, recording: &Recording, steps: Steps) {
        self.recordings.push(Recorded {
            commits: steps == Steps::CommitEach,
            calls: recording.acts().iter().map(ToString::to_string).collect(),
        });
    }

    /// The power loss that was checked last.
    pub(super) fn unsafe_now(&self, moment: Moment, reason: String) -> Unsafe {
        let recording = self.recordings.len() - 1;
        let (over, later) = self.recordings[recording].calls.split_at(moment.acts);
        Unsafe {
            number: self.checked,
            recording,
            calls_before: moment.acts,
            after: over.last().cloned(),
            before: later.first().cloned(),
            durable: moment.durable,
            reason,
            kept: Kept::default(),
        }
    }

    /// Whether the text will show it as the first of its window.
    pub(super) fn begins_window(&mut self, cut: &Unsafe) -> bool {
        let place = cut.place();
        if self.places.contains(&place) {
            return false;
        }
        self.places.push(place);
        self.places.len() <= MOST_WINDOWS
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
        let problem =
            unsafe_one.or_else(|| found.unmountable.first().map(|first| first.reason.clone()));
        JunitTest {
            group: "powerloss".to_owned(),
            name: found.filesystem.clone(),
            seconds: 0.0,
            problem: problem.map(|message| ("failure", message)),
        }
    };
    junit_document(all.iter().map(test).collect())
}
