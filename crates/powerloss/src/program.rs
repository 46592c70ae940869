//! The output and the end of a program.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::fs::MemfdFlags;

use crate::error::Error;

/// The line by which a program says that its data is durable.
const DURABLE_LINE: &[u8] = b"durable";

/// The limits at which a program is killed.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub time: Duration,
    /// Whether the user has asked to stop.
    pub is_stopped: fn() -> bool,
}

impl Limits {
    pub(crate) fn are_over(&self, begin: Instant) -> bool {
        begin.elapsed() > self.time || (self.is_stopped)()
    }
}

/// How a program has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub status: ExitStatus,
    pub is_too_late: bool,
    /// The last line that it printed.
    pub said: Option<String>,
}

impl Ended {
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status.success() && !self.is_too_late
    }

    /// # Errors
    ///
    /// `what` has failed. The error says how, and what it printed last.
    pub fn expect_success(&self, what: &'static str) -> Result<(), Error> {
        if self.is_success() {
            return Ok(());
        }
        Err(Error::Program {
            what,
            how: self.how(),
            said: self.said.clone(),
        })
    }

    /// `ended with exit code 1`
    #[must_use]
    pub fn how(&self) -> String {
        if self.is_too_late {
            return "was killed after its time limit (--timeout)".to_owned();
        }
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, signal) => format!("was killed by {}", name_of(signal.unwrap_or(0))),
        }
    }
}

/// `SIGSEGV`. A realtime signal has a number only.
fn name_of(signal: i32) -> String {
    Signal::try_from(signal).map_or_else(
        |_| format!("signal {signal}"),
        |signal| signal.as_str().to_owned(),
    )
}

/// Runs a program to its end, without a recording. It gets no input, and nothing that it has started survives it, because
/// a process would keep the filesystem in use.
///
/// # Errors
///
/// The program cannot be started.
pub fn run_to_end(mut command: Command, limits: Limits) -> Result<Ended, Error> {
    let mut output = Output::new()?;
    command.stdin(Stdio::null());
    command.process_group(0);
    command.stdout(output.for_program()?);
    command.stderr(output.for_program()?);
    let program = PathBuf::from(command.get_program());
    let failed = |call| {
        let program = &program;
        move |error| Error::call("run a program", call, program, error)
    };
    let mut child = command.spawn().map_err(failed("execve"))?;
    let begin = Instant::now();
    let mut is_too_late = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed("waitpid"))? {
            break status;
        }
        if !is_too_late && limits.are_over(begin) {
            is_too_late = true;
            end_group(&child);
        }
        sleep(POLLING);
    };
    end_group(&child);
    output.explain(Ended {
        status,
        is_too_late,
        said: None,
    })
}

/// Kills what is left of the program's process group.
fn end_group(leader: &Child) {
    let group = Pid::from_raw(leader.id().cast_signed());
    let _ = killpg(group, Signal::SIGKILL);
}

/// The output of a program. It is a file, because a pipe could be full while the program is stopped.
pub(crate) struct Output {
    file: File,
    read_bytes: u64,
    /// The beginning of a line.
    rest: Vec<u8>,
}

/// Most checks take some milliseconds.
const POLLING: Duration = Duration::from_micros(500);

const DOING: &str = "read the output of a program";

impl Output {
    pub(crate) fn new() -> Result<Self, Error> {
        let file = rustix::fs::memfd_create("writebench-output", MemfdFlags::CLOEXEC);
        Ok(Self {
            file: file
                .map_err(|errno| failed("memfd_create", errno.into()))?
                .into(),
            read_bytes: 0,
            rest: Vec::new(),
        })
    }

    /// The descriptors share a position.
    pub(crate) fn for_program(&self) -> Result<Stdio, Error> {
        let file = self.file.try_clone();
        Ok(file.map_err(|error| failed("dup", error))?.into())
    }

    /// The number of lines since the last call that say that the data is durable.
    pub(crate) fn new_durable_lines(&mut self) -> Result<usize, Error> {
        let length = self
            .file
            .metadata()
            .map_err(|error| failed("fstat", error))?
            .len();
        let Some(new_bytes) = length.checked_sub(self.read_bytes).filter(|&new| new > 0) else {
            return Ok(0);
        };
        let mut new = vec![0; usize::try_from(new_bytes).unwrap_or(usize::MAX)];
        self.file
            .read_exact_at(&mut new, self.read_bytes)
            .map_err(|error| failed("pread", error))?;
        self.read_bytes = length;
        self.rest.extend(new);
        Ok(take_durable_lines(&mut self.rest))
    }

    /// Adds the last line to the end of the program.
    pub(crate) fn explain(&mut self, ended: Ended) -> Result<Ended, Error> {
        let length = self
            .file
            .metadata()
            .map_err(|error| failed("fstat", error))?
            .len();
        const MOST_BYTES: u64 = 4096;
        let from = length.saturating_sub(MOST_BYTES);
        let mut tail = vec![0; usize::try_from(length - from).unwrap_or(0)];
        self.file
            .read_exact_at(&mut tail, from)
            .map_err(|error| failed("pread", error))?;
        Ok(Ended {
            said: last_line(&tail),
            ..ended
        })
    }
}

fn take_durable_lines(text: &mut Vec<u8>) -> usize {
    let end = text
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let lines: Vec<u8> = text.drain(..end).collect();
    let lines = lines.split(|&byte| byte == b'\n');
    lines
        .filter(|line| line.trim_ascii() == DURABLE_LINE)
        .count()
}

pub(crate) fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_owned())
}

fn failed(call: &'static str, error: io::Error) -> Error {
    Error::call(DOING, call, Path::new("its standard output"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_with_the_word_count() {
        let mut text = b"durable\nnot durable\n durable \ndura".to_vec();
        assert_eq!(take_durable_lines(&mut text), 2);
        assert_eq!(text, b"dura");
        text.extend(b"ble\n");
        assert_eq!(take_durable_lines(&mut text), 1);
        assert!(text.is_empty());
    }

    #[test]
    fn the_last_line_that_is_not_empty_is_the_reason() {
        assert_eq!(last_line(b"a\nwhy\n\n").as_deref(), Some("why"));
        assert_eq!(last_line(b" \n"), None);
    }
}
