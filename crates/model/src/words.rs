//! A case as a programmer would describe it.

use crate::axis::Axis;
use crate::case::Case;
use crate::file_set::FileSize;
use crate::method::Method;
use crate::value::{Directory, Naming, Opening, Prepare, SyncFiles};
use crate::value_card::Phrase;

/// Pieces of a sentence by their place in it.
#[derive(Default)]
struct Sentence {
    first: String,
    /// The call in place of the method's own.
    instead: Option<&'static str>,
    how: String,
    beside: String,
    last: String,
}

impl Sentence {
    fn add(&mut self, phrase: Phrase) {
        match phrase {
            Phrase::Silent => {}
            Phrase::First(before) => self.first += &format!("{before}, then "),
            Phrase::Instead(other) => self.instead = Some(other),
            Phrase::How(more) if self.how.contains(" with ") => {
                self.how += &format!(" {}", more.replacen("with", "and", 1));
            }
            Phrase::How(manner) => self.how += &format!(" {manner}"),
            Phrase::Beside(circumstance) => self.beside += &format!(", {circumstance}"),
            Phrase::Last(after) => self.last += &format!(", then {after}"),
        }
    }
}

impl Case {
    /// A programmer's description: `fallocate(2), then write(2) in 64 KiB chunks, then fsync(2)`. It leaves
    /// out defaults and the file's size. The calls of a set are in their order.
    pub fn words(&self) -> String {
        self.words_with("")
    }

    /// The same with words after the method's own call, which samples have proven: ` in kernel threads (io-wq)`.
    pub fn words_with(&self, proven: &str) -> String {
        let mut sentence = Sentence::default();
        for axis in self.chosen_axes().filter(|axis| self.has_phrase(*axis)) {
            sentence.add(self.card(axis).words);
        }
        if self.method().writes_set() {
            return self.words_of_set(&sentence, proven);
        }
        let Sentence {
            first,
            instead,
            how,
            beside,
            last,
        } = sentence;
        let call = instead.unwrap_or(self.method().card().words);
        format!("{first}{call}{proven}{how}{beside}{last}")
    }

    /// The description for a table: `fallocate, then io_uring writes with O_DIRECT, 2 in flight`. It leaves out what the
    /// workload says already, such as the size of a record or that a file is overwritten in place.
    pub fn short_words(&self) -> String {
        self.short_words_with("")
    }

    /// The same with words after the method's own call, as in [`Self::words_with`].
    pub fn short_words_with(&self, proven: &str) -> String {
        let is_said = |axis: Axis| match axis {
            Axis::Chunk => self.workload().record_bytes() == Some(self.choices().chunk_size_bytes),
            Axis::Access => true,
            Axis::Prepare => self.choices().prepare == Prepare::Overwrite,
            _ => false,
        };
        let mut sentence = Sentence::default();
        for axis in self.chosen_axes().filter(|axis| self.has_phrase(*axis)) {
            if !is_said(axis) {
                sentence.add(self.card(axis).words);
            }
        }
        let call = if self.method().writes_set() {
            self.short_calls_of_set(proven)
        } else {
            let own = self.method().card().words;
            format!("{}{proven}", sentence.instead.unwrap_or(own))
        };
        let Sentence {
            first,
            how,
            beside,
            last,
            ..
        } = sentence;
        let words = format!("{first}{call}{how}{beside}{last}");
        // A page or a record is the workload's word for the chunk.
        let words = if self.commit_pages().is_some() {
            words
                .replace("after each chunk", "after each page")
                .replace(" chunks", " pages")
        } else if self.workload().durable_every_bytes.is_some() {
            words.replace("after each chunk", "after each record")
        } else {
            words
        };
        without_sections(&words.replace("zeros and fsync(2)", "zero-fill"))
    }

    /// The calls that distinguish ways to write a set. All of them open, write and close each file, and sync the
    /// directories last.
    fn short_calls_of_set(&self, proven: &str) -> String {
        let ring = if self.method() == Method::UringFiles {
            format!("io_uring{proven}: ")
        } else {
            String::new()
        };
        let name = self.calls_of_name().join(" and ");
        let name = if name.is_empty() {
            String::new()
        } else {
            format!(", {name}")
        };
        let tmpfile = if self.choices().naming == Naming::Tmpfile {
            " to an O_TMPFILE"
        } else {
            ""
        };
        match self.choices().sync_files {
            SyncFiles::None => format!("{ring}write{tmpfile}{name}"),
            SyncFiles::Each => format!("{ring}write{tmpfile} and fsync each{name}"),
            SyncFiles::Batch => format!("{ring}write all{tmpfile}, then fsync each{name}"),
            SyncFiles::Writeback => {
                format!("{ring}write and sync_file_range all{tmpfile}, then fsync each{name}")
            }
            SyncFiles::Syncfs => format!("{ring}write all{tmpfile}, then one syncfs{name}"),
        }
    }

    fn words_of_set(&self, sentence: &Sentence, proven: &str) -> String {
        let mut words = sentence.first.clone();
        words += &self.calls_of_file().join(", ");
        words += proven;
        words += &sentence.how;
        words += match self.choices().naming {
            Naming::Direct => "",
            Naming::Rename | Naming::Exchange | Naming::ExchangeBackground => {
                " under a temporary name"
            }
            Naming::Tmpfile => " in an O_TMPFILE",
        };
        if !self.choices().sync_files.is_afterwards() {
            for call in self.calls_of_name() {
                words += &format!(", {call}");
            }
        }
        words += &sentence.beside;
        let afterwards = self.calls_afterwards();
        if !afterwards.is_empty() {
            words += &format!(", then {}", afterwards.join(", "));
        }
        words
    }

    /// Whether the sentence has the words of the axis' value. Those of a set's names and syncs are among its calls.
    fn has_phrase(&self, axis: Axis) -> bool {
        match axis {
            // A new file takes the name, so nothing is overwritten in place.
            Axis::Prepare => self.choices().naming == Naming::Direct,
            Axis::Naming | Axis::SyncFiles => !self.method().writes_set(),
            _ => true,
        }
    }

    /// The calls for a file of a set until it is closed.
    fn calls_of_file(&self) -> Vec<String> {
        let sync = match self.choices().sync_files {
            SyncFiles::Each => Some("fsync(2)"),
            SyncFiles::Writeback => Some("sync_file_range(2)"),
            SyncFiles::None | SyncFiles::Batch | SyncFiles::Syncfs => None,
        };
        let link = (self.choices().naming == Naming::Tmpfile).then_some("linkat(2)");
        let calls = ["open(2)", "write(2)"]
            .into_iter()
            .chain(sync)
            .chain(link)
            .chain(["close(2)"]);
        if self.method() != Method::UringFiles {
            return calls.map(str::to_owned).collect();
        }
        let mut operations: Vec<String> = calls.map(|call| call.replace("(2)", "")).collect();
        operations[0].insert_str(0, "linked io_uring(7) ");
        operations
    }

    /// The calls that give a closed file its final name.
    fn calls_of_name(&self) -> &'static [&'static str] {
        let is_afterwards = self.choices().sync_files.is_afterwards();
        match self.choices().naming {
            Naming::Direct => &[],
            // linkat(2) gives a new file its final name, unless the data must be durable first.
            Naming::Tmpfile
                if self.choices().prepare.opening() == Opening::New && !is_afterwards =>
            {
                &[]
            }
            Naming::Rename if self.method() == Method::UringFiles && !is_afterwards => &["rename"],
            Naming::Rename | Naming::Tmpfile => &["rename(2)"],
            Naming::Exchange => &["RENAME_EXCHANGE", "unlink(2)"],
            Naming::ExchangeBackground => &["RENAME_EXCHANGE", "unlink(2) by a second thread"],
        }
    }

    /// The calls after all files are written: their syncs, those that give names, and the sync of the names.
    fn calls_afterwards(&self) -> Vec<String> {
        let of_each = if self.given().file_size == FileSize::Whole {
            ""
        } else {
            " of each file"
        };
        let sync = match self.choices().sync_files {
            SyncFiles::None => return Vec::new(),
            SyncFiles::Each => None,
            SyncFiles::Batch | SyncFiles::Writeback => Some(format!("fsync(2){of_each}")),
            SyncFiles::Syncfs => Some("one syncfs(2)".to_owned()),
        };
        let is_named_here =
            self.choices().sync_files.is_afterwards() && self.choices().naming != Naming::Direct;
        let names =
            is_named_here.then(|| format!("{}{of_each}", self.calls_of_name().join(" and ")));
        let directory = match self.choices().directory {
            Directory::One => "fsync(2) of the directory",
            Directory::PerThread | Directory::FanOut => "fsync(2) of each directory",
        };
        sync.into_iter()
            .chain(names)
            .chain([directory.to_owned()])
            .collect()
    }

    /// The choices that this case makes and another one does not: `fallocate(2) first, 2 threads`. A method replaces
    /// another.
    pub fn words_beyond(&self, other: &Self) -> String {
        let mut words = Vec::new();
        if self.method() != other.method() {
            let [own, others] = [self, other].map(|case| case.method().card().words);
            words.push(format!("{own} instead of {others}"));
        }
        for axis in self.chosen_axes() {
            let is_also_others =
                other.method().has_axis(axis) && self.value(axis) == other.value(axis);
            if !is_also_others {
                words.extend(words_alone(self.card(axis).words));
            }
        }
        words.join(", ")
    }
}

/// The words with the names of calls only, not the sections of the manual that describe them.
fn without_sections(words: &str) -> String {
    ["(2)", "(3)", "(7)"]
        .iter()
        .fold(words.to_owned(), |words, section| {
            words.replace(section, "")
        })
}

/// The words of a phrase in a list of choices, without the rest of the sentence.
fn words_alone(phrase: Phrase) -> Option<String> {
    match phrase {
        Phrase::Silent => None,
        Phrase::First(before) => Some(format!("{before} first")),
        Phrase::Instead(call) => Some(call.to_owned()),
        Phrase::How(words) | Phrase::Beside(words) => Some(words.into_owned()),
        Phrase::Last(after) => Some(format!("then {after}")),
    }
}
