use writebench_model::{Axis, Case, Method, Prepare, Store};

use super::{CaseView, LanguageBackend, UnsupportedValue, UsedNames, special, templates};

templates! {
    "go/write.go": Write | Pwrite | Writev | Pwritev;
    "go/write_files.go": WriteFiles;
    "go/map.go": Mmap;
    "go/copy.go": ReadWrite | MmapWrite | Splice | Sendfile | CopyFileRange;
    "go/copy_map.go": ReadMmap | MmapMmap;
    "go/pipeline.go": Pipeline;
    "go/ficlone.go": Ficlone;
    none: "fwrite(3) and its buffer are the C library's, and package bufio makes other calls", Fwrite => Write;
    none: "the standard library has no io_uring", Uring => Pwrite, UringCopy => ReadWrite;
}

pub(crate) static BACKEND: LanguageBackend = LanguageBackend {
    template,
    append: special!("go/append.go"),
    pages: None,
    unsupported,
    complete: with_imports,
};

fn unsupported(case: &Case) -> Option<UnsupportedValue> {
    let is_nontemporal = case.choices().store == Store::Nontemporal;
    is_nontemporal.then_some((
        Axis::Store,
        "the stores of `copy` are chosen by the runtime",
        "plain",
    ))
}

const PACKAGES: &str = "bufio bytes encoding/binary errors fmt hash/crc32 io math os path/filepath runtime slices strconv sync syscall time unsafe";

/// The text with its imports, because Go refuses an unused one, and with the systems on which it can be built.
fn with_imports(text: String) -> String {
    let names = UsedNames::in_text(&text, &["//"]);
    let imports: Vec<String> = PACKAGES
        .split(' ')
        .filter(|package| uses_package(&names, package))
        .map(|package| format!("\"{package}\""))
        .collect();
    let imports = match &imports[..] {
        [one] => format!("import {one}"),
        several => format!("import (\n\t{}\n)", several.join("\n\t")),
    };
    // Raw calls take an offset in one register.
    let build = if names.has_any(&["syscall.Syscall", "syscall.Syscall6"]) {
        "//go:build linux && (amd64 || arm64)\n\n"
    } else if uses_package(&names, "syscall") {
        "//go:build linux\n\n"
    } else {
        ""
    };
    text.replacen("BUILD\n\n", build, 1)
        .replacen("IMPORTS", &imports, 1)
}

/// Whether the code uses a package, whose name is the last part of its path.
fn uses_package(names: &UsedNames, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    names.has(&format!("{name}."))
}

/// The most bytes of one call of package os.
const MOST_OF_OS_BYTES: u64 = 1 << 30;
const PAGE_BYTES: u64 = 4096;

/// These questions are asked by the templates of Go.
impl CaseView<'_> {
    fn access_go(&self, is_first: bool) -> String {
        let all = self.access_flags();
        let flags = if is_first { &all } else { &all[..1] };
        let flags = flags.join("|os.").replace("O_CREAT|", "O_CREATE|");
        let sync = match self.sync_flag() {
            Some("O_DSYNC") => "|syscall.O_DSYNC",
            Some(_) => "|os.O_SYNC",
            None => "",
        };
        format!("os.{flags}{sync}")
    }

    /// The mode of a new file, before the umask. gofmt omits the spaces between arguments.
    fn new_mode_go(&self, space: &str) -> String {
        match (self.copies(), self.reopens_copy()) {
            (false, _) => "os.FileMode(0o666)".to_owned(),
            (true, false) => "status.Mode().Perm()".to_owned(),
            (true, true) => format!("status.Mode().Perm(){space}|{space}0o600"),
        }
    }

    fn calls_fdatasync_go(&self) -> bool {
        // The end of a buffer is written without the flag, that of a stream with it.
        let is_apart = self.is_direct() && self.is_rwf_dsync() && !self.options.is_stream;
        let cuts = self.reserves_ahead();
        self.is_fdatasync()
            || self.options.is_append
            || is_apart
            || cuts && self.is_durable() && !self.syncs_at_end()
    }

    fn calls_fsync_go(&self) -> bool {
        let syncs = self.syncs_at_end() || self.sync_every().is_some();
        // A stream's reserved file is cut at the data's end.
        let cuts = self.options.is_stream
            && !self.options.is_append
            && self.expects()
            && self.is_durable();
        (syncs || cuts) && !self.is_fdatasync() && !self.syncs_map() || self.fills_with_zeros()
    }

    fn sync_go(&self) -> &'static str {
        if self.is_fdatasync() {
            "datasync(file)"
        } else {
            "fsync(file)"
        }
    }

    fn has_large_chunks_go(&self) -> bool {
        self.chunk_bytes()
            .is_none_or(|bytes| bytes > MOST_OF_OS_BYTES)
    }

    fn writes_large_go(&self) -> bool {
        let writes = [
            Method::Write,
            Method::Pwrite,
            Method::ReadWrite,
            Method::MmapWrite,
            Method::Pipeline,
        ];
        self.has_large_chunks_go()
            && !self.has_flags()
            && writes.iter().any(|&method| self.is(method))
    }

    fn reads_large_go(&self) -> bool {
        let reads = matches!(
            self.case.method(),
            Method::ReadWrite | Method::ReadMmap | Method::Pipeline
        );
        reads && self.has_large_chunks_go()
    }

    /// The function of a large, vectored or flagged call. A copy with direct I/O wraps it.
    fn large_name_go(&self) -> &'static str {
        if self.copies() && self.is_direct() {
            "writeLarge"
        } else {
            "writeAll"
        }
    }

    fn writes_rest_go(&self) -> bool {
        self.is_direct() && (self.copies() || self.options.is_stream)
    }

    fn chunk_name_go(&self) -> &'static str {
        if self.copies() {
            "writeAll"
        } else {
            "writeChunk"
        }
    }

    fn offset_go(&self) -> &'static str {
        match (
            self.is_positional(),
            self.is_single_go() && !self.has_part_go(),
        ) {
            (false, _) => "",
            (true, true) => ", 0",
            (true, false) => ", offset",
        }
    }

    /// The statement that writes a chunk and sets `err`.
    fn write_go(&self, data: &str) -> String {
        if self.writes_rest_go() {
            format!(
                "err := {}(file, {data}{})",
                self.chunk_name_go(),
                self.offset_go()
            )
        } else {
            self.write_blocks_go(data)
        }
    }

    /// The statement that writes whole blocks and sets `err`, without the function that also writes the end.
    fn write_blocks_go(&self, data: &str) -> String {
        let offset = self.offset_go();
        let flags = if self.is_dontcache() { ", &flags" } else { "" };
        if self.is_vectored() || self.has_flags() || self.writes_large_go() {
            format!(
                "err := {}(file, {data}{offset}{flags})",
                self.large_name_go()
            )
        } else if self.is_positional() {
            format!("_, err := file.WriteAt({data}{offset})")
        } else {
            format!("_, err := file.Write({data})")
        }
    }

    /// The statements that write the end, which is smaller than a block, and return.
    fn write_rest_go(&self, data: &str) -> String {
        let write = format!("_, err := file.Write({data})");
        let write = if self.copies() {
            write
        } else {
            self.write_blocks_go(data)
        };
        match write.strip_prefix("err := ") {
            Some(call) => format!("return {call}"),
            None => format!("{write}\n\treturn err"),
        }
    }

    fn read_go(&self, buffer: &str) -> String {
        if self.reads_large_go() {
            format!("read(input, {buffer})")
        } else {
            format!("input.Read({buffer})")
        }
    }

    fn write_parameters_go(&self) -> String {
        let offset = if self.is_positional() {
            ", offset int64"
        } else {
            ""
        };
        let flags = if self.is_dontcache() {
            ", flags *uintptr"
        } else {
            ""
        };
        format!("{offset}{flags}")
    }

    /// Whether one call writes all of the data, or all of a thread's part.
    fn is_single_go(&self) -> bool {
        let is_plain = !self.is_vectored() && !self.is_direct() && !self.is_dontcache();
        self.chunk().is_none()
            && is_plain
            && self.sync_every().is_none()
            && self.writeback().is_none()
    }

    fn buffers_go(&self) -> &'static str {
        if self.has_writers() {
            "depth * chunkSize"
        } else {
            "chunkSize"
        }
    }

    fn counts_chunks_go(&self) -> bool {
        self.sync_after_several().is_some() || self.is_vectored() && self.sync_every().is_some()
    }

    fn takes_offset_go(&self) -> bool {
        let must_know_end = self.options.is_stream && self.expects() || self.reserves_ahead();
        self.is_positional()
            || self.is(Method::MmapWrite)
            || self.writeback().is_some()
            || must_know_end
    }

    fn has_part_go(&self) -> bool {
        self.threads() > 1 || self.is_direct()
    }

    fn ends_with_parts_go(&self) -> bool {
        let is_last = if self.copies() {
            !self.overwrites()
        } else {
            self.has_part_go() && !self.is_direct()
        };
        is_last && !self.syncs_at_end() && !self.is(Method::Ficlone)
    }

    /// Whether a part is rounded to pages, because a mapped one begins at a page.
    fn rounds_chunks_go(&self) -> bool {
        let is_of_pages = self
            .chunk_bytes()
            .is_none_or(|bytes| bytes.is_multiple_of(PAGE_BYTES));
        (self.maps_target() || self.maps_source()) && !is_of_pages
    }

    fn has_own_input_go(&self) -> bool {
        // Mappings have no position.
        self.copies() && self.threads() > 1 && (self.has_own_descriptors() || !self.maps_source())
    }

    fn files_go(&self) -> &'static str {
        if self.copies() { "file, input" } else { "file" }
    }

    fn map_ends_with_parts_go(&self) -> bool {
        !self.syncs_at_end() || self.has_own_maps() && self.syncs_map()
    }
}
