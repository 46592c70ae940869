//! `cp` and `dd`, which people measure with already.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::place::{Place, wall_time};
use super::reading::Reading;

/// A program that copies a file.
#[derive(Clone, Copy)]
pub(super) struct CopyTool {
    /// As it is called, without the names of the files.
    pub(super) name: &'static str,
    // How it takes those of a place.
    files: [&'static str; 2],
}

const CP_FILES: [&str; 2] = ["source", "written"];
const DD_FILES: [&str; 2] = ["if=source", "of=written"];

/// GNU coreutils 9.1: `read` and `write` of 128 KiB after `POSIX_FADV_SEQUENTIAL` (strace).
pub(super) const CP: CopyTool = CopyTool { name: "cp --reflink=never", files: CP_FILES };

/// GNU coreutils 9.1: an attempt at `FICLONE`, then one `copy_file_range` for all of it (strace).
pub(super) const CP_IN_KERNEL: CopyTool = CopyTool { name: "cp", files: CP_FILES };

pub(super) const DD: CopyTool = CopyTool { name: "dd bs=1M", files: DD_FILES };
pub(super) const DD_SMALL: CopyTool = CopyTool { name: "dd bs=128k", files: DD_FILES };

/// What it takes to start a program that does nothing, and to wait for its end: median in milliseconds.
pub(super) fn process_start_ms() -> Result<f64> {
    const STARTS: u32 = 101;
    let start = |_| wall_time(&mut Command::new("true")).map(|time| time.as_secs_f64() * 1e3);
    let times = (0..STARTS).map(start).collect::<Result<Vec<f64>>>()?;
    writebench_stats::median(&times).context("no times")
}

impl CopyTool {
    /// Copies once. The source is read before, as the last that happens to it.
    pub(super) fn measure(&self, place: &Place) -> Result<Reading> {
        place.read_source()?;
        let mut words = self.name.split(' ').chain(self.files);
        let mut command = Command::new(words.next().unwrap_or_default());
        let elapsed = wall_time(command.args(words).current_dir(place.folder()))?;
        let elapsed_ns = u64::try_from(elapsed.as_nanos())?;
        let bytes = fs::metadata(place.written())?.len();
        Ok(Reading { total_ns: elapsed_ns, work_ns: elapsed_ns, bytes, probe_ns: 0, record: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_copies_a_file() {
        let target = tempfile::tempdir().unwrap();
        for tool in [CP, CP_IN_KERNEL, DD, DD_SMALL] {
            let place = Place::new(target.path()).unwrap();
            place.make_source((3 << 20) + 5).unwrap();
            let reading = tool.measure(&place).unwrap();
            assert_eq!(reading.bytes, (3 << 20) + 5, "{}", tool.name);
            let [copy, source] = [place.written(), place.source()].map(|path| fs::read(path).unwrap());
            assert!(copy == source, "{}", tool.name);
        }
    }

    #[test]
    fn starting_a_program_takes_some_time() {
        let start_ms = process_start_ms().unwrap();
        assert!(start_ms > 0.01 && start_ms < 1000.0, "{start_ms}");
    }
}
