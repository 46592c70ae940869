//! `cp` and `dd`, the usual tools for copying.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use writebench_model::Bytes;

use super::case::Case;
use super::rival::{Other, Rival};
use crate::command::shown;

/// A tool's command, and the arguments for its files in `parity/tool.c`.
pub(super) struct CopyTool(&'static str, &'static str);

/// GNU coreutils 9.1: `read` and `write` of 128 KiB after `POSIX_FADV_SEQUENTIAL` (strace).
pub(super) const CP: CopyTool = CopyTool("cp --reflink=never", "copied 0");

/// GNU coreutils 9.1: an attempt at `FICLONE`, then one `copy_file_range` for the whole file (strace).
pub(super) const CP_IN_KERNEL: CopyTool = CopyTool("cp", "copied 0");

const DD: CopyTool = CopyTool("dd bs=1M", "if=copied of=0");
const DD_SMALL: CopyTool = CopyTool("dd bs=128k", "if=copied of=0");

/// Each tool beside the case that makes the same calls.
pub(super) fn equals(size: Bytes) -> [Rival; 4] {
    let rival = |tool: CopyTool, case| Rival {
        remark: "the tool's wall time, with process start",
        ..tool.beside(Case::new(case, size))
    };
    [
        rival(CP, "read-write,chunk=128KiB"),
        rival(DD_SMALL, "read-write,chunk=128KiB"),
        rival(DD, "read-write"),
        rival(CP_IN_KERNEL, "copy-file-range,chunk=whole"),
    ]
}

impl CopyTool {
    /// The tool beside a case that copies the same amount.
    pub(super) fn beside(self, case: Case) -> Rival {
        let Self(name, files) = self;
        let program = format!("tool {} {name} {files}", case.size_bytes);
        Rival { tool: Some(name), ..Rival::new(case, Other::Program(program)) }
    }
}

/// The time to start an empty program and wait for its end: the median in milliseconds.
pub(super) fn process_start_ms() -> Result<f64> {
    const STARTS: u32 = 101;
    let start = |_| wall_time(&mut Command::new("true")).map(|time| time.as_secs_f64() * 1e3);
    let times = (0..STARTS).map(start).collect::<Result<Vec<f64>>>()?;
    writebench_stats::median(&times).context("no times")
}

/// The time from before the program's start to its end.
fn wall_time(command: &mut Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    let elapsed = start.elapsed();
    ensure!(status.success(), "{} ended with {status}", shown(command));
    Ok(elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_and_its_case_move_the_same_at_a_time() {
        let names = equals(Bytes(256 << 20)).map(|rival| rival.names().join(": "));
        assert_eq!(names[0], "cp --reflink=never: read-write,size=256MiB,chunk=128KiB");
        assert_eq!(names[2], "dd bs=1M: read-write,size=256MiB");
        assert_eq!(names[3], "cp: copy-file-range,size=256MiB,chunk=whole");
    }

    #[test]
    fn starting_a_program_takes_some_time() {
        let start_ms = process_start_ms().unwrap();
        assert!(start_ms > 0.01 && start_ms < 1000.0, "{start_ms}");
    }

    #[test]
    fn a_program_that_fails_has_no_time() {
        assert!(wall_time(&mut Command::new("true")).is_ok());
        assert!(wall_time(&mut Command::new("false")).unwrap_err().to_string().contains("false"));
        assert!(wall_time(&mut Command::new("/no/such/program")).is_err());
    }
}
