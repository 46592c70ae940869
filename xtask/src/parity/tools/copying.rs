//! `cp` and `dd`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use writebench_model::Bytes;

use crate::parity::case::Case;
use crate::parity::place::{Place, wall_time};
use crate::parity::reading::Reading;

/// A program that copies a file.
pub(super) struct CopyTool {
    /// As it is called, without the names of the files.
    pub(super) name: &'static str,
    command: fn(&Path, &Path) -> Command,
}

/// GNU coreutils 9.1: `read` and `write` of 128 KiB after `POSIX_FADV_SEQUENTIAL` (strace).
pub(super) const CP: CopyTool =
    CopyTool { name: "cp --reflink=never", command: |from, to| cp(&["--reflink=never"], from, to) };

/// GNU coreutils 9.1: an attempt at `FICLONE`, then one `copy_file_range` for all of it (strace).
pub(super) const CP_IN_KERNEL: CopyTool = CopyTool { name: "cp", command: |from, to| cp(&[], from, to) };

const DD: CopyTool = CopyTool { name: "dd bs=1M", command: |from, to| dd("1M", from, to) };
const DD_SMALL: CopyTool = CopyTool { name: "dd bs=128k", command: |from, to| dd("128k", from, to) };

fn cp(options: &[&str], from: &Path, to: &Path) -> Command {
    let mut command = Command::new("cp");
    command.args(options).arg("--").arg(from).arg(to);
    command
}

fn dd(block: &str, from: &Path, to: &Path) -> Command {
    let argument = |name: &str, path: &Path| {
        let mut argument = std::ffi::OsString::from(name);
        argument.push(path);
        argument
    };
    let mut command = Command::new("dd");
    command.arg(argument("if=", from)).arg(argument("of=", to)).arg(format!("bs={block}"));
    command
}

/// Each tool with the case that makes the same calls, and what is to be said of the two.
pub(super) fn equals(size: Bytes) -> Vec<(CopyTool, Case, &'static str)> {
    let read_write = |chunk: u64| Case::new("read-write", size).chunked(Bytes(chunk));
    const WALL: &str = "the tool's wall time, with process start";
    vec![
        (CP, read_write(128 << 10), WALL),
        (DD_SMALL, read_write(128 << 10), WALL),
        (DD, read_write(1 << 20), WALL),
        (CP_IN_KERNEL, Case::new("copy-file-range", size).with("chunk", "whole"), WALL),
    ]
}

/// Every way of writebench to copy that may be the fastest.
pub(super) fn ways(size: Bytes) -> Vec<Case> {
    let usual = ["read-write", "splice"].map(|method| Case::new(method, size));
    let small = Case::new("read-write", size).chunked(Bytes(128 << 10));
    let whole = ["sendfile", "copy-file-range", "mmap-write"]
        .map(|method| Case::new(method, size).with("chunk", "whole"));
    usual.into_iter().chain([small]).chain(whole).collect()
}

impl CopyTool {
    /// Copies once. The source is read before, as the last that happens to it.
    pub(super) fn measure(&self, place: &Place) -> Result<Reading> {
        place.read_source()?;
        let (from, to) = (place.source(), place.written());
        let elapsed_ns = u64::try_from(wall_time(&mut (self.command)(&from, &to))?.as_nanos())?;
        let bytes = fs::metadata(&to)?.len();
        let wanted = fs::metadata(&from)?.len();
        ensure!(bytes == wanted, "{} copied {bytes} of {wanted} bytes", self.name);
        Ok(Reading { total_ns: elapsed_ns, work_ns: elapsed_ns, bytes, probe_ns: 0, record: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_copies_a_file() {
        let target = tempfile::tempdir().unwrap();
        for (tool, ..) in equals(Bytes(1)) {
            let place = Place::new(target.path()).unwrap();
            place.make_source((3 << 20) + 5).unwrap();
            let reading = tool.measure(&place).unwrap();
            assert_eq!(reading.bytes, (3 << 20) + 5, "{}", tool.name);
            let [copy, source] = [place.written(), place.source()].map(|path| fs::read(path).unwrap());
            assert!(copy == source, "{}", tool.name);
        }
    }

    #[test]
    fn a_tool_and_its_case_move_the_same_at_a_time() {
        let names: Vec<_> =
            equals(Bytes(256 << 20)).iter().map(|(tool, case, _)| format!("{}: {case}", tool.name)).collect();
        assert_eq!(names[0], "cp --reflink=never: read-write,size=256MiB,chunk=128KiB");
        assert_eq!(names[2], "dd bs=1M: read-write,size=256MiB");
        assert_eq!(names[3], "cp: copy-file-range,size=256MiB,chunk=whole");
    }
}
