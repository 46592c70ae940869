//! The comment above a printed function.

use writebench_model::{Axis, Case, InCode, Method, Prepare, RecordedCase};

use crate::case_view::CaseView;
use crate::needs::needs;
use crate::wrapped::wrapped;

/// The most columns of a comment's text.
const COLUMNS: usize = 92;

impl CaseView<'_> {
    /// The name without values that the caller decides.
    pub(crate) fn name(&self) -> String {
        let left_to_caller: Vec<Axis> = self
            .named
            .chosen_axes()
            .filter(|axis| is_left_to_caller(self.named, *axis))
            .collect();
        RecordedCase::from(self.named.clone()).name_without(&left_to_caller)
    }

    /// The lines of the first paragraph, which says what the function does.
    pub(crate) fn about(&self) -> Vec<String> {
        let does = match (self.copies(), self.choices().prepare) {
            _ if self.options.is_append => "Appends records to a log",
            _ if self.commit_pages() > 0 => "Overwrites pages of an existing file in commits",
            (false, Prepare::Create) if self.writes_set() => "Writes new files",
            _ if self.writes_set() => "Writes existing files",
            (true, Prepare::Truncate | Prepare::Overwrite) => "Copies a file over an existing one",
            (true, _) => "Copies a file to a new one",
            (false, Prepare::Truncate) => "Replaces the content of an existing file",
            (false, Prepare::Overwrite) => "Overwrites an existing file from its beginning",
            (false, _) => "Writes a new file",
        };
        let mut text = format!("{does}: {}.", self.own_words());
        for sentence in [self.about_name(), self.about_old_file(), self.about_syncs()]
            .into_iter()
            .flatten()
        {
            text += &format!(" {sentence}");
        }
        // The function makes memory for a stream and for pages.
        if !self.options.is_stream
            && self.commit_pages() == 0
            && let Some(needs) = needs(self.case, self.block())
        {
            text += &format!(" {needs}");
        }
        if let Some(caution) = self.caution {
            text += &format!(" {caution}");
        }
        wrapped(&text, COLUMNS)
    }

    /// The words of the case without values that the caller decides.
    fn own_words(&self) -> String {
        let mut own = self.case.clone();
        for axis in [Axis::Rate, Axis::Source, Axis::Origin, Axis::Directory] {
            if is_left_to_caller(self.case, axis) {
                own = own.with(axis, &axis.default_value()).unwrap_or(own);
            }
        }
        own.words()
    }

    /// The name under which a file is written, and until when it has that name.
    fn about_name(&self) -> Option<String> {
        let name = match (
            self.is(Method::WriteFiles),
            self.options.is_atomic,
            self.is_durable(),
        ) {
            (true, ..) if self.has_other_name() => {
                "The other name is NAME.PID.TIME.tmp. A crash can leave it behind: remove such files at your next start."
            }
            (false, true, true) => {
                "It has another name, PATH.PID.TIME.tmp, until it is complete and durable. Then rename(2) gives it its \
                 name, and fsync(2) of the directory comes last. A crash can leave the other name behind: remove such \
                 files at your next start."
            }
            (false, true, false) => {
                "It has another name, PATH.PID.TIME.tmp, until it is complete. Then rename(2) gives it its name. A crash \
                 can leave the other name behind: remove such files at your next start."
            }
            _ => return None,
        };
        Some(name.to_owned())
    }

    /// What replaces an old file, and what is lost.
    fn about_old_file(&self) -> Option<String> {
        let old = if self.writes_set() {
            "its old file"
        } else {
            "an old file"
        };
        let sync = if self.is(Method::WriteFiles) {
            "sync-files=each"
        } else {
            "sync=fsync"
        };
        let without_sync = if self.is_durable() {
            String::new()
        } else {
            format!(
                " It is not safe against power loss, which can lose both the old and the new content. A case with a sync \
                 is, such as {sync}."
            )
        };
        self.options.is_atomic.then(|| {
            format!(
                "A file gets the mode of {old}, and its owner and group if permitted, but not its ACL, extended \
                 attributes and set-user-ID bit. A symbolic link is replaced itself, and other hard links keep the old \
                 content.{without_sync}"
            )
        })
    }

    fn about_syncs(&self) -> Option<String> {
        let mut sentences = Vec::new();
        if self.syncs_directory() && !self.options.is_append {
            let last = if self.is(Method::WriteFiles) || self.options.is_atomic {
                ""
            } else {
                "Last comes fsync(2) of the directory. "
            };
            sentences.push(format!(
                "{last}If you have made the directory, sync its parent too."
            ));
        }
        if self.syncs_filesystem() {
            sentences
                .push("Before Linux 5.8, syncfs(2) reports no error of the write-back.".to_owned());
        }
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    /// The report of errors, and the file's state after one.
    pub(crate) fn errors(&self, report: &str) -> Vec<String> {
        let state = match (self.options.is_atomic, self.is_durable()) {
            _ if self.commit_pages() > 0 => self.state_of_pages(),
            _ if self.options.is_append => {
                "After an error, the log takes no more records, because its data may be lost although a second sync \
                 succeeds. Open it again then, and after a crash: each record is stored with its length and a checksum, and \
                 the log is cut after the last whole one."
            }
            _ if self.is(Method::WriteFiles) && (self.writes_set() || !self.options.is_atomic) => {
                self.set_after_error()
            }
            (true, true) => {
                "After an error, an old file is unchanged. Only if the sync of the directory failed, the complete new \
                 file is there, and a power loss may bring the old one back: call it again."
            }
            (true, false) => "After an error, an old file is unchanged.",
            (false, _) if self.creates_name() => "After an error, the file is removed.",
            (false, _) => "After an error, the file is incomplete.",
        };
        wrapped(format!("{report} {state}").trim_start(), COLUMNS)
    }

    fn state_of_pages(&self) -> &'static str {
        if self.writes_twice() {
            "After an error, the store takes no more commits, because its data may be lost although a second sync \
             succeeds. Open it again then, and after a crash. A power loss in a commit leaves all of its pages old, or \
             all of them new once store_open has written them again from the journal."
        } else if self.is_rwf_atomic() {
            "After an error, the store takes no more commits, because its data may be lost although a second sync \
             succeeds. Open it again then. A power loss in a commit leaves each of its pages old or new. If the \
             filesystem cannot promise that for pages of this size, writes fail with EINVAL or EOPNOTSUPP."
        } else {
            "After an error, the store takes no more commits, because its data may be lost although a second sync \
             succeeds. Open it again then. A power loss in a commit can leave its pages old, new or torn: a page needs \
             a checksum, and its content must be elsewhere, for example in a log."
        }
    }
}

fn is_left_to_caller(case: &Case, axis: Axis) -> bool {
    case.card(axis).code == InCode::LeftToCaller
}
