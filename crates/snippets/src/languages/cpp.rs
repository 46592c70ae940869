use writebench_model::{Method, Prepare};

use super::{CaseView, LanguageBackend, c_family, templates};
use crate::used_names::is_part_of_name;

templates! {
    "cpp/write.cpp": Write | Pwrite | Writev | Pwritev;
    "cpp/write_files.cpp": WriteFiles;
    "cpp/fwrite.cpp": Fwrite;
    "cpp/map.cpp": Mmap;
    "cpp/uring.cpp": Uring;
    "cpp/copy.cpp": ReadWrite | MmapWrite | Splice | Sendfile | CopyFileRange;
    "cpp/copy_map.cpp": ReadMmap | MmapMmap;
    "cpp/pipeline.cpp": Pipeline;
    "cpp/uring_copy.cpp": UringCopy;
    "cpp/ficlone.cpp": Ficlone;
}

pub(crate) static BACKEND: LanguageBackend = LanguageBackend {
    template,
    append: None,
    pages: None,
    unsupported: |_| None,
    complete: completed,
};

/// The headers of C++, each with the names that need it.
const HEADERS: &[(&str, &[&str])] = &[
    ("algorithm", &["std::max", "std::min"]),
    ("array", &["std::array"]),
    ("cerrno", &["errno"]),
    ("chrono", &["std::chrono"]),
    ("climits", &["INT_MAX", "NAME_MAX"]),
    ("cmath", &["std::sqrt"]),
    ("condition_variable", &["std::condition_variable"]),
    ("cstddef", &["std::size_t"]),
    (
        "cstdint",
        &["SIZE_MAX", "UINT64_MAX", "std::uint64_t", "std::uintptr_t"],
    ),
    (
        "cstdio",
        &["dprintf", "rename", "renameat", "snprintf", "std::fwrite"],
    ),
    ("cstdlib", &["std::free", "std::getenv"]),
    ("cstring", &["std::memcpy"]),
    ("ctime", &["clock_gettime"]),
    ("deque", &["std::deque"]),
    ("exception", &["std::exception", "std::exception_ptr"]),
    ("filesystem", &["std::filesystem"]),
    ("fstream", &["std::ifstream"]),
    ("functional", &["std::cref", "std::function"]),
    ("future", &["std::async"]),
    ("iterator", &["std::istreambuf_iterator"]),
    ("memory", &["std::unique_ptr"]),
    ("mutex", &["std::mutex"]),
    ("new", &["std::bad_alloc"]),
    ("optional", &["std::optional"]),
    ("string", &["std::string"]),
    ("system_error", &["std::system_error"]),
    ("utility", &["std::exchange", "std::move", "std::pair"]),
    ("vector", &["std::vector"]),
];

/// The names of C in shared templates, each with the one of C++.
const NAMES: &[(&str, &str)] = &[
    ("BEHIND", "behind_size"),
    ("BLOCK", "block_size"),
    ("CHUNK", "chunk_size"),
    ("NULL", "nullptr"),
    ("THREADS", "thread_count"),
    ("WINDOW", "window_size"),
    ("_Alignas", "alignas"),
    ("memcpy", "std::memcpy"),
    ("size_t", "std::size_t"),
    ("uintptr_t", "std::uintptr_t"),
];

/// The types in casts of shared templates.
const STATIC_CASTS: &[&str] = &[
    "char *",
    "gid_t",
    "off_t",
    "size_t",
    "struct part *",
    "uid_t",
];
const REINTERPRET_CASTS: &[&str] = &[
    "__m128i *",
    "const __m128i *",
    "__m256i *",
    "const __m256i *",
    "__m512i *",
    "uintptr_t",
];

/// The text with its headers, and with the lines of templates shared with C rewritten.
fn completed(text: String) -> String {
    let (inside, outside) = text.split_once("} // namespace\n").expect("a namespace");
    // Functions of an unnamed namespace need no `static`.
    let inside: String = inside
        .lines()
        .map(|line| in_cpp(line.strip_prefix("static ").unwrap_or(line)))
        .collect();
    c_family::with_includes(&format!("{inside}}} // namespace\n{outside}"), HEADERS)
}

fn in_cpp(line: &str) -> String {
    let (code, comment) = line.split_at(line.find("//").unwrap_or(line.len()));
    let code = with_cast(code.to_owned(), "static_cast", STATIC_CASTS);
    let code = with_cast(code, "reinterpret_cast", REINTERPRET_CASTS);
    // Every second part between quotes is a string, which is unchanged.
    let parts: Vec<String> = code
        .split('"')
        .enumerate()
        .map(|(index, part)| {
            if index % 2 == 0 {
                with_cpp_names(part)
            } else {
                part.to_owned()
            }
        })
        .collect();
    format!("{}{comment}\n", parts.join("\""))
}

/// Writes C's casts to these types as `cast`. The operand is a name, a number, a call or in parentheses.
fn with_cast(mut code: String, cast: &str, types: &[&str]) -> String {
    for of_type in types {
        while let Some((before, after)) = code.split_once(&format!("({of_type})")) {
            let (operand, rest) = after.split_at(end_of_operand(after));
            let inner = operand
                .strip_prefix('(')
                .and_then(|operand| operand.strip_suffix(')'));
            let operand = inner.unwrap_or(operand);
            code = format!("{before}{cast}<{of_type}>({operand}){rest}");
        }
    }
    code
}

/// The length of the operand with which the code begins. Parentheses after a name belong to it.
fn end_of_operand(code: &str) -> usize {
    let name_end = code
        .find(|letter: char| !letter.is_alphanumeric() && !"_.-".contains(letter))
        .unwrap_or(code.len());
    if !code[name_end..].starts_with('(') {
        return name_end;
    }
    let mut depth = 0;
    let last_parenthesis = code[name_end..].find(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        depth <= 0
    });
    name_end + last_parenthesis.unwrap_or(code.len() - name_end) + 1
}

fn with_cpp_names(code: &str) -> String {
    let mut named = String::new();
    let mut rest = code;
    while let Some(start) = rest.find(is_part_of_name) {
        let (before, after) = rest.split_at(start);
        let word_end = after.find(|letter| !is_part_of_name(letter));
        let (word, next) = after.split_at(word_end.unwrap_or(after.len()));
        named += before;
        // A member, a part of a path, or a declaration keeps its name.
        let is_free = !named.ends_with([':', '.', '>']) && !named.ends_with("void ");
        let cpp_name = NAMES
            .iter()
            .find(|(name, _)| is_free && *name == word)
            .map_or(word, |(_, cpp_name)| cpp_name);
        if is_free && next.starts_with('(') && c_family::is_of_system(word) {
            named += "::";
        }
        named += cpp_name;
        rest = next;
    }
    named + rest
}

/// These questions are asked by the templates of C++ only.
impl CaseView<'_> {
    pub(crate) fn has_memory_cpp(&self) -> bool {
        let reads = matches!(
            self.case.method(),
            Method::ReadWrite | Method::Pipeline | Method::UringCopy
        );
        reads
            || self.options.is_stream
            || !self.copies() && (self.options.is_program || self.is_direct())
    }

    pub(crate) fn looks_at_status_cpp(&self) -> bool {
        let of_stream = self.options.is_program && self.options.is_stream && self.expects();
        of_stream
            || self.needs_regular_cpp()
            || self.meets_source()
            || self.maps_target() && self.overwrites()
    }

    /// Whether the source must be a regular file, which has a length.
    pub(crate) fn needs_regular_cpp(&self) -> bool {
        self.copies() || self.options.is_program && !self.options.is_stream
    }

    pub(crate) fn is_plain_cpp(&self) -> bool {
        let is_written = self.is(Method::Write) || self.is(Method::Pwrite);
        let has_more = self.threads() > 1 || self.is_direct() || self.is_dontcache();
        is_written && !has_more && self.sync_every().is_none() && self.writeback().is_none()
    }

    pub(crate) fn is_plain_map_cpp(&self) -> bool {
        let has_more = self.threads() > 1 || self.prepares_windows();
        self.is(Method::Mmap) && !has_more && self.sync_every().is_none()
    }

    /// Whether the loop throws. A loop shared with C would return.
    pub(crate) fn loops_throwing_cpp(&self) -> bool {
        !self.is(Method::Fwrite)
            && !self.is_uring()
            && !self.moves_in_kernel()
            && !self.maps_target()
    }

    pub(crate) fn throws_cpp(&self) -> &'static str {
        if self.options.is_stream {
            "Throws std::system_error, or what the producer throws."
        } else {
            "Throws std::system_error."
        }
    }

    pub(crate) fn path_cpp(&self) -> &'static str {
        if self.options.is_atomic {
            "other.c_str()"
        } else {
            "path"
        }
    }

    /// A size as an expression, whose type makes room for the shift.
    pub(crate) fn size_cpp(&self, number: impl AsRef<str>) -> String {
        match number.as_ref().split_once(" << ") {
            Some((bytes, shift)) => format!("std::size_t{{{bytes}}} << {shift}"),
            None => number.as_ref().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_lines_get_casts_and_names_of_cpp() {
        for (c, cpp) in [
            (
                "const off_t at = (off_t)from;",
                "const off_t at = static_cast<off_t>(from);",
            ),
            (
                "return (size_t)(end - at);",
                "return static_cast<std::size_t>(end - at);",
            ),
            (
                "munmap(place, (size_t)(at - start));",
                "::munmap(place, static_cast<std::size_t>(at - start));",
            ),
            (
                "if (ftruncate(fd, (off_t)size) != 0)",
                "if (::ftruncate(fd, static_cast<off_t>(size)) != 0)",
            ),
            ("size_t n = 0; // size_t", "std::size_t n = 0; // size_t"),
            ("fail(\"close\");", "fail(\"close\");"),
            ("file.close();", "file.close();"),
        ] {
            assert_eq!(in_cpp(c).trim_end(), cpp);
        }
        let page = in_cpp("const size_t page = (size_t)sysconf(_SC_PAGESIZE);");
        assert_eq!(
            page.trim_end(),
            "const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));"
        );
    }
}
