//! The user's program, which writes a file instead of a method.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::fs::MemfdFlags;
use writebench_model::{Case, Failure, Phase, PhasesNs, Sample};

use crate::call::{CallError, Result};
use crate::file::Target;
use crate::guard::{Ended, PHASES_FD, run_guarded};

/// The word in a command that stands for the path of the written file.
pub const FILE: &str = "{file}";
/// The word in a command that stands for the path of a file with the data, which is in the page cache.
pub const SOURCE: &str = "{source}";

const MAX_WORDS_BYTES: usize = 400;

/// A program's file and source.
pub(crate) struct Program<'p> {
    pub target: Target<'p>,
    pub name: &'p str,
    pub source: Option<BorrowedFd<'p>>,
}

impl Program<'_> {
    /// Whether the command names the source, so that the content of the program's file is known.
    pub(crate) fn is_given_its_data(words: &[String]) -> bool {
        words.iter().any(|word| word.contains(SOURCE))
    }

    /// Records the program's own phases, or phase `write` from start to end.
    pub(crate) fn run(&self, words: &[String], case: &Case, sample: &mut Sample) -> Result<()> {
        if words.is_empty() {
            return Err(CallError::other(
                "program",
                "the program has no command: use run --command",
            ));
        }
        let (program, ended, mut reported) = self.run_to_end("program", words)?;
        ended.usage.write(sample);
        sample.startup_ns = ended.startup_ns;
        sample.phases_ns = phases(&read_text(&mut reported), ended.elapsed_ns)
            .map_err(|why| CallError::other(PHASES_FD, format!("{program}: {why}")))?;
        sample.bytes = case.given().size_bytes;
        if ended.left > 0 {
            let left = format!(
                "{program} left {} processes behind, which were killed",
                ended.left
            );
            sample.disturbed = sample.disturbed.take().or(Some(left));
        }
        Ok(())
    }

    /// A command before or after the program. Does nothing without words.
    pub(crate) fn run_beside(&self, option: &'static str, words: &[String]) -> Result<()> {
        if words.is_empty() {
            Ok(())
        } else {
            self.run_to_end(option, words).map(drop)
        }
    }

    /// Returns the program's name, its end, and what it reported. Fails if the program does.
    fn run_to_end(&self, role: &'static str, words: &[String]) -> Result<(String, Ended, File)> {
        let line = self.line(words)?;
        let program = line
            .first()
            .map(|word| word.to_string_lossy().into_owned())
            .unwrap_or_default();
        let reported = memory_file("phases")?;
        let mut errors = memory_file("errors")?;
        let inherited_errors = errors
            .try_clone()
            .map_err(|error| CallError::from_io("dup", &error))?;
        let ended =
            run_guarded(&line, reported.as_fd(), inherited_errors.into()).map_err(|error| {
                let why = Failure::io_message(&error);
                CallError::other("exec", format!("{program}: {why}"))
            })?;
        let status = ExitStatus::from_raw(ended.status);
        if status.success() {
            return Ok((program, ended, reported));
        }
        let mut message = format!("{program} ended with {status}");
        let said = last_words(&read_text(&mut errors));
        if !said.is_empty() {
            message += &format!(": {said}");
        }
        Err(CallError::other(role, message))
    }

    fn line(&self, words: &[String]) -> Result<Vec<OsString>> {
        let Target::Directory(directory) = self.target else {
            return Err(CallError::unsupported(
                "program",
                "a program needs a file, not a device",
            ));
        };
        let file = path_to(directory)?.join(self.name);
        let source = self.source.map(path_to).transpose()?;
        let source = source.as_deref().unwrap_or(Path::new(SOURCE));
        Ok(words
            .iter()
            .map(|word| filled(word, &file, source))
            .collect())
    }
}

/// A word of the command with the paths in it, which need not be text.
fn filled(word: &str, file: &Path, source: &Path) -> OsString {
    word.split(FILE)
        .map(|piece| with_source(piece, source))
        .collect::<Vec<_>>()
        .join(file.as_os_str())
}

fn with_source(piece: &str, source: &Path) -> OsString {
    piece
        .split(SOURCE)
        .map(OsStr::new)
        .collect::<Vec<_>>()
        .join(source.as_os_str())
}

fn path_to(file: BorrowedFd<'_>) -> Result<PathBuf> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::fs::read_link(link).map_err(|error| CallError::from_io("readlink", &error))
}

/// A file in memory, which takes any output without a reader.
fn memory_file(name: &str) -> Result<File> {
    let file: OwnedFd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)
        .map_err(|errno| CallError::new("memfd_create", errno))?;
    Ok(File::from(file))
}

fn read_text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn last_words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = line.len().saturating_sub(MAX_WORDS_BYTES);
    let from = (from..=line.len())
        .find(|&at| line.is_char_boundary(at))
        .unwrap_or(line.len());
    line[from..].to_owned()
}

/// A report such as `write 1234 sync 567`. Without one all time is phase `write`.
fn phases(reported: &str, elapsed_ns: u64) -> Result<PhasesNs, String> {
    let mut phases = PhasesNs::default();
    let mut words = reported.split_whitespace().peekable();
    if words.peek().is_none() {
        phases.write = elapsed_ns;
        return Ok(phases);
    }
    while let Some(name) = words.next() {
        let time_ns = words
            .next()
            .and_then(|text| text.parse::<u64>().ok())
            .ok_or_else(|| format!("'{name}' is not followed by a number of nanoseconds"))?;
        let total_ns = Phase::from_name(name)
            .and_then(|phase| phases.get_mut(phase))
            .ok_or_else(|| {
                format!("'{name}' is not a phase: use open, prepare, write, sync or close")
            })?;
        *total_ns = total_ns.saturating_add(time_ns);
    }
    let total = phases.total();
    if total > elapsed_ns {
        return Err(format!(
            "it reports {total} ns, but ran for {elapsed_ns} ns"
        ));
    }
    Ok(phases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_report_all_time_is_phase_write() {
        let all = phases(" \n", 70).unwrap();
        assert_eq!((all.write, all.total()), (70, 70));
    }

    #[test]
    fn reported_phases_are_added_up_in_any_order() {
        let told = phases("write 30 sync 20\nopen 5 write 10 close 1 prepare 2\n", 100).unwrap();
        assert_eq!(
            (told.open, told.prepare, told.write, told.sync, told.close),
            (5, 2, 40, 20, 1)
        );
    }

    #[test]
    fn an_impossible_report_is_refused_with_the_reason() {
        assert!(phases("write", 10).unwrap_err().contains("nanoseconds"));
        assert!(
            phases("wrote 5", 10)
                .unwrap_err()
                .contains("'wrote' is not a phase")
        );
        assert!(
            phases("settle 5", 10)
                .unwrap_err()
                .contains("is not a phase")
        );
        assert!(
            phases("write 11", 10)
                .unwrap_err()
                .contains("ran for 10 ns")
        );
    }

    #[test]
    fn placeholders_are_filled_everywhere() {
        let fill = |word| filled(word, Path::new("/a b/c"), Path::new("/{file}"));
        assert_eq!(fill("--to={file}:{file}"), "--to=/a b/c:/a b/c");
        assert_eq!(fill("{source}{file}"), "/{file}/a b/c");
        assert_eq!(fill("{fil}"), "{fil}");
    }

    #[test]
    fn last_words_end_at_a_character() {
        let long = "ä".repeat(MAX_WORDS_BYTES);
        assert!(last_words(&long).len() <= MAX_WORDS_BYTES);
        assert_eq!(last_words("a\n b\n"), "a b");
    }
}
