use writebench_model::{FileSize, Naming, Opening, SyncFiles};

use crate::case_view::{CaseView, number};

/// These questions are asked by the templates of sets of files.
impl CaseView<'_> {
    /// Whether the function writes several files. A set of one file has the function of one file.
    pub(crate) fn writes_set(&self) -> bool {
        self.case.method().writes_set() && self.given().file_size != FileSize::Whole
    }

    /// The size of each file into which a program splits its source.
    pub(crate) fn file_size(&self) -> Option<String> {
        match self.given().file_size {
            FileSize::Each(bytes) => Some(number(bytes)),
            FileSize::Between { .. } | FileSize::Whole => None,
        }
    }

    /// The least and the largest size of the files into which a program splits its source.
    pub(crate) fn file_sizes(&self) -> Option<(u64, u64)> {
        match self.given().file_size {
            FileSize::Between { least, most } => Some((least, most)),
            FileSize::Each(_) | FileSize::Whole => None,
        }
    }

    pub(crate) fn computes_sizes(&self) -> bool {
        self.options.is_program && self.writes_set() && self.file_sizes().is_some()
    }

    pub(crate) fn set_after_error(&self) -> &'static str {
        match (self.choices().naming, self.is_durable()) {
            (Naming::Direct, _) if !self.creates_name() => {
                "After an error, files may be incomplete."
            }
            (_, false) => {
                "After an error, incomplete files are removed, and complete ones may be there."
            }
            (_, true) => {
                "After an error, incomplete files are removed, and complete ones may be there, but not durable."
            }
        }
    }

    pub(crate) fn is_tmpfile(&self) -> bool {
        self.choices().naming == Naming::Tmpfile
    }

    pub(crate) fn exchanges(&self) -> bool {
        self.choices().naming == Naming::Exchange
    }

    /// Whether a file has another name until it is complete.
    pub(crate) fn has_other_name(&self) -> bool {
        let is_final = self.creates_name() && !self.syncs_afterwards();
        self.choices().naming != Naming::Direct && !(self.is_tmpfile() && is_final)
    }

    /// A further argument or parameter, if files have another name until they are complete.
    pub(crate) fn other(&self, text: &str) -> String {
        if self.has_other_name() {
            format!(", {text}")
        } else {
            String::new()
        }
    }

    /// Whether a file is removed after an error with it. A name that existed before is kept.
    pub(crate) fn removes_one(&self) -> bool {
        self.has_other_name() || self.creates_name() && !self.is_tmpfile()
    }

    /// The flags that open a file, each of which begins with `module`.
    pub(crate) fn set_flags(&self, module: &str) -> String {
        let how: &[&str] = match (self.choices().naming, self.choices().prepare.opening()) {
            (Naming::Tmpfile, _) => &["O_TMPFILE"],
            (Naming::Rename | Naming::Exchange | Naming::ExchangeBackground, _)
            | (Naming::Direct, Opening::New) => &["O_CREAT", "O_EXCL"],
            (Naming::Direct, Opening::Emptied) => &["O_TRUNC"],
            (Naming::Direct, Opening::Kept) => &[],
        };
        let flags = [&["O_WRONLY"], how].concat();
        flags
            .iter()
            .map(|flag| format!("{module}{flag}"))
            .collect::<Vec<_>>()
            .join(" | ")
    }

    /// The variable that has the file's name during the write.
    pub(crate) fn written<'n>(&self, other: &'n str, name: &'n str) -> &'n str {
        if self.has_other_name() { other } else { name }
    }

    pub(crate) fn syncs_each(&self) -> bool {
        self.choices().sync_files == SyncFiles::Each
    }

    pub(crate) fn syncs_batch(&self) -> bool {
        matches!(
            self.choices().sync_files,
            SyncFiles::Batch | SyncFiles::Writeback
        )
    }

    pub(crate) fn starts_write_back(&self) -> bool {
        self.choices().sync_files == SyncFiles::Writeback
    }

    pub(crate) fn syncs_filesystem(&self) -> bool {
        self.choices().sync_files == SyncFiles::Syncfs
    }

    pub(crate) fn syncs_afterwards(&self) -> bool {
        self.choices().sync_files.is_afterwards()
    }
}
