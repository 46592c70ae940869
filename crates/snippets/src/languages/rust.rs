use writebench_model::{Method, Opening, Prepare};

use super::{CaseView, LanguageBackend, UsedNames, special, templates};

templates! {
    "rust/write.rs": Write | Pwrite | Writev | Pwritev;
    "rust/write_files.rs": WriteFiles;
    "rust/map.rs": Mmap;
    "rust/copy.rs": ReadWrite | MmapWrite | Splice | Sendfile | CopyFileRange;
    "rust/copy_map.rs": ReadMmap | MmapMmap;
    "rust/pipeline.rs": Pipeline;
    "rust/ficlone.rs": Ficlone;
    none: "the buffer of the C library is not Rust's: BufWriter makes other calls", Fwrite => Write;
    none: "neither rustix nor libc has the queues of io_uring", Uring => Pwrite, UringCopy => ReadWrite;
}

pub(crate) static BACKEND: LanguageBackend = LanguageBackend {
    template,
    append: special!("rust/append.rs"),
    pages: None,
    unsupported: |_| None,
    complete: with_imports,
};

/// The names of each module, in the order of imports. After `=` are the uses of a trait without its name.
const STD_NAMES: &[(&str, &[&str])] = &[
    ("std", &["env"]),
    ("std::ffi", &["c_void"]),
    ("std::fs", &["self", "File", "OpenOptions"]),
    (
        "std::io",
        &[
            "self",
            "BufRead",
            "BufReader",
            "IoSlice",
            "Read=.read_exact(",
            "Seek=.seek(",
            "SeekFrom",
            "Write=.write_all(",
        ],
    ),
    ("std::num", &["NonZeroU64"]),
    (
        "std::os::fd",
        &[
            "AsRawFd=.as_raw_fd(",
            "FromRawFd=File::from_raw_fd(",
            "IntoRawFd=.into_raw_fd(",
            "OwnedFd",
        ],
    ),
    (
        "std::os::unix::fs",
        &[
            "FileExt=.read_at(|.write_all_at(",
            "MetadataExt=.dev()|.gid()|.mode() &",
            "OpenOptionsExt=.custom_flags(|.mode(mode)",
            "PermissionsExt=fs::Permissions::from_mode(",
        ],
    ),
    ("std::path", &["Path", "PathBuf"]),
    ("std::process", &["ExitCode"]),
    ("std::sync", &["Condvar", "Mutex", "MutexGuard"]),
    (
        "std::sync::mpsc",
        &["self", "Receiver", "Sender", "SyncSender"],
    ),
    ("std", &["thread"]),
    ("std::time", &["Instant", "SystemTime"]),
];
const RUSTIX_NAMES: &[(&str, &[&str])] = &[
    (
        "rustix::fs",
        &[
            "AtFlags",
            "CWD",
            "FlockOperation",
            "Mode",
            "OFlags",
            "RenameFlags",
            "Stat",
        ],
    ),
    ("rustix::io", &["Errno", "ReadWriteFlags", "retry_on_intr"]),
    (
        "rustix::mm",
        &["Advice", "MapFlags", "MsyncFlags", "ProtFlags"],
    ),
    ("rustix::pipe", &["PipeFlags", "SpliceFlags"]),
];

/// The text with the imports that it needs, because rustc warns of unused ones.
fn with_imports(text: String) -> String {
    let names = UsedNames::in_text(&text, &["//"]);
    let libraries = [STD_NAMES, RUSTIX_NAMES].map(|library| imports(&names, library));
    let features: Vec<_> = ["fs", "mm", "pipe"]
        .into_iter()
        .filter(|module| {
            names.has(&format!("rustix::{module}::"))
                || libraries[1].contains(&format!("rustix::{module}::"))
        })
        .map(|feature| format!("\"{feature}\""))
        .collect();
    let rustix = match &features[..] {
        [] if names.has("rustix::") || !libraries[1].is_empty() => ", rustix = \"1.1\"".to_owned(),
        [] => String::new(),
        _ => format!(
            ", rustix = {{ version = \"1.1\", features = [{}] }}",
            features.join(", ")
        ),
    };
    text.replacen("RUSTIX", &rustix, 1)
        .replacen("IMPORTS", libraries.join("\n").trim_end(), 1)
}

fn imports(names: &UsedNames, library: &[(&str, &[&'static str])]) -> String {
    let mut lines = String::new();
    for (module, all) in library {
        let used: Vec<&str> = all
            .iter()
            .filter_map(|entry| used_name(names, module, entry))
            .collect();
        lines += &match used[..] {
            [] => continue,
            ["self"] => format!("use {module};\n"),
            [name] => format!("use {module}::{name};\n"),
            _ => format!("use {module}::{{{}}};\n", used.join(", ")),
        };
    }
    lines
}

/// The name of an entry, if the code uses it.
fn used_name<'n>(names: &UsedNames, module: &str, entry: &'n str) -> Option<&'n str> {
    let (name, functions) = entry.split_once('=').unwrap_or((entry, ""));
    let is_used = if name == "self" {
        let module_name = module.rsplit("::").next().unwrap_or_default();
        names.has(&format!("{module_name}::"))
    } else {
        names.has(name)
            || functions
                .split_terminator('|')
                .any(|function| names.has(function))
    };
    is_used.then_some(name)
}

/// The columns of chains and arguments, of which rustfmt breaks longer ones.
const CHAIN_COLUMNS: usize = 60;

/// These questions are asked by the templates of Rust.
impl CaseView<'_> {
    /// `mut ` for a file with `write_all`.
    fn mut_rust(&self) -> &'static str {
        let is_mut = match self.case.method() {
            Method::Write => !self.has_flags(),
            Method::ReadWrite | Method::MmapWrite | Method::Pipeline => !self.is_direct(),
            _ => false,
        };
        if is_mut { "mut " } else { "" }
    }

    /// The flags of open(2) but the access.
    fn open_flags_rust(&self, is_direct: bool) -> String {
        let direct = (is_direct && self.is_direct()).then_some("O_DIRECT");
        let flags: Vec<_> = direct
            .into_iter()
            .chain(self.sync_flag())
            .map(|flag| format!("libc::{flag}"))
            .collect();
        if flags.is_empty() {
            "0".to_owned()
        } else {
            flags.join(" | ")
        }
    }

    fn open_rust(&self, is_first: bool) -> String {
        let access = if self.maps_target() {
            ".read(true).write(true)"
        } else {
            ".write(true)"
        };
        let how = match self.choices().prepare.opening() {
            _ if !is_first => "",
            Opening::Emptied => ".truncate(true)",
            Opening::Kept => "",
            Opening::New if self.chooses_mode() => ".create_new(true).mode(mode)",
            Opening::New => ".create_new(true)",
        };
        // The other descriptors are opened within a closure.
        let (path, indent) = if is_first {
            (self.written_name(), "    ")
        } else {
            ("path", "        ")
        };
        if self.is_direct() {
            let options = format!("OpenOptions::new(){access}{how}");
            return match format!("{path}, {options}") {
                line if line.len() <= CHAIN_COLUMNS => format!("open_direct({line})"),
                _ => {
                    format!("open_direct(\n{indent}    {path},\n{indent}    {options},\n{indent})")
                }
            };
        }
        let flags = self.custom_flags_rust();
        let calls = format!("{access}{how}{flags}.open({path})");
        match format!("OpenOptions::new(){calls}") {
            line if line.len() < CHAIN_COLUMNS => line,
            line => line.replace(").", &format!(")\n{indent}    .")),
        }
    }

    fn custom_flags_rust(&self) -> String {
        match self.open_flags_rust(false) {
            flags if flags == "0" => String::new(),
            flags => format!(".custom_flags({flags})"),
        }
    }

    /// The arguments after the file.
    fn arguments_rust(&self) -> String {
        let arguments = [
            (self.has_own_descriptors(), self.written_name()),
            (!self.copies() && !self.options.is_stream, "data"),
            (self.options.is_stream, "source"),
            (self.options.is_stream && self.expects(), "expected"),
            (self.copies(), "&input"),
            (self.copies() && self.threads() > 1, "source"),
            (self.checks_end(), "size"),
        ];
        present(&arguments).join(", ")
    }

    /// The value of the constant with a chunk's size. None if the code needs no such constant.
    fn chunk_rust(&self) -> Option<String> {
        if self.is_one_call_rust() || self.is(Method::Ficlone) {
            return None;
        }
        let splits_data = !self.copies() || self.maps_source();
        match self.chunk() {
            Some(chunk) => Some(chunk),
            // `chunks(usize::MAX)` is one chunk.
            None if splits_data => Some("usize::MAX; // all of a part in one call".to_owned()),
            None => None,
        }
    }

    fn at_most_rust(&self, bytes: &str) -> String {
        if self.chunk().is_none() {
            bytes.to_owned()
        } else {
            format!("CHUNK.min({bytes})")
        }
    }

    fn is_one_call_rust(&self) -> bool {
        let is_simple = (self.is(Method::Write) || self.is(Method::Pwrite))
            && !self.has_flags()
            && !self.is_direct();
        is_simple
            && self.chunk().is_none()
            && self.sync_every().is_none()
            && self.writeback().is_none()
    }

    /// The number of calls after which a sync follows, or 0 if none does.
    fn calls_between_syncs_rust(&self) -> u32 {
        let vector = if self.is_vectored() {
            self.choices().vector
        } else {
            1
        };
        self.sync_every().map_or(0, |every| every.div_ceil(vector))
    }

    fn call_rust(&self, chunk: &str, offset: &str) -> String {
        let offset = if self.is_positional() {
            format!(", {offset}")
        } else {
            String::new()
        };
        if !self.is_vectored() && !self.has_flags() {
            let call = if self.is_positional() {
                "write_all_at"
            } else {
                "write_all"
            };
            return format!("file.{call}({chunk}{offset})");
        }
        let vector = if self.is_vectored() {
            "&mut vector[..count]".to_owned()
        } else {
            format!("&mut [IoSlice::new({chunk})]")
        };
        let flags = if self.is_dontcache() {
            ", &mut flags"
        } else {
            ""
        };
        format!("write_all(file, {vector}{offset}{flags})")
    }

    fn write_all_signature_rust(&self) -> String {
        let arguments = [
            (true, "file: &File"),
            (true, "mut vector: &mut [IoSlice<'_>]"),
            (self.is_positional(), "mut offset: u64"),
            (self.is_dontcache(), "flags: &mut ReadWriteFlags"),
        ];
        signature("write_all", &arguments)
    }

    fn size_rust(&self) -> &'static str {
        if self.options.is_stream {
            "size"
        } else {
            "size as u64"
        }
    }

    fn alignment_rust<'s>(&self, least: &'s str) -> &'s str {
        if self.is_in_huge_pages() {
            "2 << 20"
        } else {
            least
        }
    }

    fn has_buffer_rust(&self) -> bool {
        self.options.is_program && !self.copies()
            || self.options.is_stream
            || self.is_direct() && !self.maps_source()
            || self.is(Method::ReadWrite)
            || self.is(Method::Pipeline)
    }

    fn granule_rust(&self) -> &'static str {
        match self.granule() {
            "(size_t)4096" => "4096",
            "CHUNK" if self.page_granule_rust().is_some() => "GRANULE",
            granule => granule,
        }
    }

    /// The least size with whole chunks and whole pages, because a mapping begins at a page. None if chunks are pages.
    fn page_granule_rust(&self) -> Option<u64> {
        const PAGE_BYTES: u64 = 4096;
        let is_mapped = self.maps_target() || self.maps_source();
        let chunk = self
            .chunk_bytes()
            .filter(|chunk| is_mapped && !chunk.is_multiple_of(PAGE_BYTES))?;
        chunk.checked_mul(PAGE_BYTES >> chunk.trailing_zeros())
    }

    fn is_small_granule_rust(&self) -> bool {
        ["4096", "GRANULE"].contains(&self.granule_rust())
            || self.chunk_bytes().is_some_and(|bytes| bytes <= 4096)
    }

    fn least_granule_rust(&self) -> &'static str {
        match (self.maps_target() || self.maps_source(), self.is_direct()) {
            (true, _) => "4096",
            (false, true) => "BLOCK",
            (false, false) => "1",
        }
    }

    /// The expression for the granule of the parts. It is one line if rustfmt would leave it so.
    fn larger_granule_rust(&self) -> String {
        const COLUMNS: usize = 50;
        let granule = self.granule_rust();
        let least = self.least_granule_rust();
        let condition = format!("if {granule} <= size / THREADS");
        match format!("{condition} {{ {granule} }} else {{ {least} }}") {
            line if line.len() <= COLUMNS => line,
            _ => format!(
                "{condition} {{\n        {granule}\n    }} else {{\n        {least}\n    }}"
            ),
        }
    }

    fn parts_signature_rust(&self) -> String {
        let arguments = [
            (
                !self.has_shared_map_rust() || self.syncs_file_on_the_way(),
                "file: &File",
            ),
            (self.has_own_descriptors(), "path: &Path"),
            (self.has_shared_map_rust(), "map: &mut [u8]"),
            (self.copies(), "input: &File"),
            (self.copies(), "source: &Path"),
            (self.copies(), "size: usize"),
            (!self.copies(), "data: &[u8]"),
        ];
        signature("in_parts", &arguments)
    }

    fn part_rust(&self, file: &str, input: &str) -> String {
        let offset = if self.has_offset() {
            ", from as u64"
        } else {
            ""
        };
        let at = if self.maps_source() { ", from" } else { "" };
        let sync = if self.syncs_file_on_the_way() {
            format!("{file}, ")
        } else {
            String::new()
        };
        match (self.copies(), self.maps_target(), self.has_own_maps()) {
            (false, false, _) => format!("write_part({file}, &data[from..until]{offset})"),
            (false, true, true) => format!("write_mapped({file}, from, &data[from..until])"),
            (false, true, false) => format!("write_part({sync}map, &data[from..until])"),
            (true, false, _) => format!("{}({file}, {input}, from, until)", self.copy_function()),
            (true, true, true) => format!("copy_mapped({file}, {input}, from, until)"),
            (true, true, false) => format!("copy_into(map, {input}{at})"),
        }
    }

    fn has_shared_map_rust(&self) -> bool {
        self.maps_target() && !self.has_own_maps()
    }

    fn store_rust(&self) -> &'static str {
        if self.is_nontemporal() {
            "store(to, from)"
        } else {
            "to.copy_from_slice(from)"
        }
    }
}

fn present<'a>(arguments: &[(bool, &'a str)]) -> Vec<&'a str> {
    arguments
        .iter()
        .filter(|(is_present, _)| *is_present)
        .map(|(_, argument)| *argument)
        .collect()
}

/// The head of a function. It is one line if rustfmt would leave it so.
fn signature(name: &str, arguments: &[(bool, &str)]) -> String {
    const COLUMNS: usize = 98;
    let arguments = present(arguments);
    match format!("fn {name}({}) -> io::Result<()>", arguments.join(", ")) {
        line if line.len() <= COLUMNS => line,
        _ => format!(
            "fn {name}(\n    {},\n) -> io::Result<()>",
            arguments.join(",\n    ")
        ),
    }
}
