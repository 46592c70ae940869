use writebench_model::{
    Axis, Case, Choices, Drop, Huge, MapSharing, Method, Naming, Populate, Prepare, Store,
    SyncCall, SyncFiles,
};

use super::{CaseView, LanguageBackend, UnsupportedValue, UsedNames, templates};

templates! {
    "python/write.py": Write | Pwrite | Writev | Pwritev;
    "python/write_files.py": WriteFiles;
    "python/map.py": Mmap;
    "python/copy.py": ReadWrite | MmapWrite | Splice | Sendfile | CopyFileRange;
    "python/copy_map.py": ReadMmap | MmapMmap;
    "python/pipeline.py": Pipeline;
    "python/ficlone.py": Ficlone;
    none: "Python's own buffers hold another number of bytes than the C library's", Fwrite => Write;
    none: "Python's standard library has no io_uring", Uring => Pwrite, UringCopy => ReadWrite;
}

pub(crate) static BACKEND: LanguageBackend = LanguageBackend {
    template,
    append: None,
    pages: None,
    unsupported,
    complete: styled,
};

const MODULES: &[&str] = &[
    "collections",
    "contextlib",
    "ctypes",
    "errno",
    "fcntl",
    "itertools",
    "math",
    "mmap",
    "os",
    "stat",
    "struct",
    "sys",
    "time",
];

/// The text with its imports, and with two empty lines before a function.
fn styled(text: String) -> String {
    let names = UsedNames::in_text(&text, &["#"]);
    let used = MODULES
        .iter()
        .filter(|module| names.has(&format!("{module}.")));
    let imports: String = used.map(|module| format!("import {module}\n")).collect();
    let text = text.replacen("IMPORTS\n", &imports, 1);
    text.replace("\n\ndef ", "\n\n\ndef ")
        .replace("\n\nif __name__", "\n\n\nif __name__")
}

fn unsupported(case: &Case) -> Option<UnsupportedValue> {
    unsupported_of_file(case.choices()).or_else(|| unsupported_of_memory_and_threads(case))
}

fn unsupported_of_file(choices: &Choices) -> Option<UnsupportedValue> {
    const NO_RANGE: &str = "Python has no sync_file_range";
    Some(match *choices {
        Choices {
            naming: Naming::Exchange,
            ..
        } => (Axis::Naming, "Python has no renameat2", "rename"),
        Choices {
            sync_files: SyncFiles::Writeback,
            ..
        } => (Axis::SyncFiles, NO_RANGE, "batch"),
        Choices {
            sync_files: SyncFiles::Syncfs,
            ..
        } => (Axis::SyncFiles, "Python has no syncfs", "batch"),
        Choices {
            drop: Drop::Yes, ..
        } => (
            Axis::Drop,
            "it is part of write-behind, and Python has no sync_file_range",
            "no",
        ),
        Choices {
            writeback_bytes: Some(_),
            ..
        } => (Axis::Writeback, NO_RANGE, "none"),
        Choices {
            prepare: Prepare::FallocateKeepSize | Prepare::FallocateZeroRange | Prepare::WriteZeroes,
            ..
        } => (
            Axis::Prepare,
            "Python has posix_fallocate only, which has no flags",
            "posix-fallocate",
        ),
        _ => return None,
    })
}

fn unsupported_of_memory_and_threads(case: &Case) -> Option<UnsupportedValue> {
    Some(match *case.choices() {
        Choices {
            store: Store::Nontemporal,
            ..
        } => (Axis::Store, "Python's copies are those of memcpy", "plain"),
        Choices {
            huge: Huge::Collapse,
            populate,
            window_bytes,
            ..
        } if populate != Populate::Window && window_bytes != Case::HUGE_PAGE_BYTES => (
            Axis::Window,
            "it is part of huge=collapse, which Python's mmap cannot have",
            "2MiB",
        ),
        Choices {
            huge: Huge::Collapse,
            ..
        } => {
            let why = "Python's mmap chooses the address itself, and huge pages need not fit there";
            (Axis::Huge, why, "advise")
        }
        Choices { threads: 2.., .. } if threads_wait(case) => {
            let why = "Python's memory copies, madvise and msync hold its lock: threads would wait for each other";
            (Axis::Threads, why, "1")
        }
        _ => return None,
    })
}

/// Whether threads wait for each other, because the interpreter's lock lets only one proceed.
fn threads_wait(case: &Case) -> bool {
    let choices = case.choices();
    let syncs_each = choices.map == MapSharing::PerThread && choices.sync.call == SyncCall::Msync;
    matches!(case.method(), Method::Mmap | Method::MmapMmap)
        || choices.populate != Populate::None
        || syncs_each
}

/// These questions are asked by the templates of Python.
impl CaseView<'_> {
    pub(crate) fn chunk_python(&self) -> Option<String> {
        self.chunk().filter(|_| !self.is(Method::Ficlone))
    }

    /// The mode of a new file, before the umask.
    pub(crate) fn new_mode_python(&self) -> &'static str {
        match (self.copies(), self.reopens_copy()) {
            (false, _) => "0o666",
            (true, false) => "status.st_mode & 0o777",
            (true, true) => "status.st_mode & 0o777 | 0o600",
        }
    }

    /// The flags of os.open except `O_DIRECT`.
    pub(crate) fn access_python(&self) -> String {
        let flags = self.access_flags().into_iter().chain(self.sync_flag());
        flags
            .map(|flag| format!("os.{flag}"))
            .collect::<Vec<_>>()
            .join(" | ")
    }

    /// The constant of which a thread's part is a multiple. None if it is a page, at which a mapping begins.
    pub(crate) fn granule_python(&self) -> Option<&'static str> {
        const PAGE_BYTES: u64 = 4096;
        let maps = self.maps_target() || self.maps_source();
        self.chunk_bytes()
            .filter(|bytes| !maps || bytes.is_multiple_of(PAGE_BYTES))
            .map(|_| "CHUNK")
    }

    pub(crate) fn call_slice_python(&self) -> &'static str {
        match (self.chunk().is_some(), self.is_vectored()) {
            (false, _) => "at:",
            (true, false) => "at : at + CHUNK",
            (true, true) => "at : at + VECTOR * CHUNK",
        }
    }

    pub(crate) fn call_python(&self) -> String {
        let chunk = if self.is_direct() {
            "chunk".to_owned()
        } else {
            format!("data[{}]", self.call_slice_python())
        };
        let vector = match (self.is_vectored(), self.chunk().is_some()) {
            (true, true) => "vector".to_owned(),
            _ => format!("[{chunk}]"),
        };
        let offset = match (self.is_positional(), self.threads() > 1) {
            (true, true) => "offset + at",
            (true, false) => "at",
            (false, _) => "-1",
        };
        self.call_of_python(&chunk, &vector, offset)
    }

    pub(crate) fn part_call_python(&self, part: &str, offset: &str) -> String {
        let offset = if self.is_positional() { offset } else { "-1" };
        self.call_of_python(part, &format!("[{part}]"), offset)
    }

    fn call_of_python(&self, chunk: &str, vector: &str, offset: &str) -> String {
        let flags = if self.is_dontcache() {
            "flags"
        } else {
            "os.RWF_DSYNC"
        };
        let call = match (self.has_flags(), self.is_vectored(), self.is_positional()) {
            (true, ..) => format!("os.pwritev(fd, {vector}, {offset}, {flags})"),
            (false, true, true) => format!("os.pwritev(fd, {vector}, {offset})"),
            (false, true, false) => format!("os.writev(fd, {vector})"),
            (false, false, true) => format!("os.pwrite(fd, {chunk}, {offset})"),
            (false, false, false) => format!("os.write(fd, {chunk})"),
        };
        format!("some({call})")
    }

    pub(crate) fn buffers_python(&self) -> &'static str {
        if self.has_writers() {
            "DEPTH * CHUNK"
        } else {
            "CHUNK"
        }
    }

    pub(crate) fn most_python(&self) -> &'static str {
        if self.chunk().is_some() {
            "min(CHUNK, size - at)"
        } else {
            "size - at"
        }
    }

    pub(crate) fn sync_indent_python(&self) -> usize {
        if self.sync_after_several().is_some() {
            4
        } else {
            0
        }
    }
}
