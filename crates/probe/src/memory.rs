use std::path::Path;

use rustix::param::page_size;
use rustix::system::sysinfo;
use writebench_model::Memory;

use crate::cgroup::{self, Group};
use crate::error::ProbeError;
use crate::kernel_file::{self, ROOT};
use crate::mount;
use crate::mountinfo::Mount;

#[derive(Debug, PartialEq, Eq)]
struct Meminfo {
    total_bytes: u64,
    available_bytes: u64,
}

pub(crate) fn facts(root: &Path, mounts: &[Mount]) -> Memory {
    let Meminfo {
        total_bytes,
        available_bytes,
    } = read(root).unwrap_or_else(|_| from_sysinfo());
    let limit_bytes = cgroup::for_this_process(root, mounts)
        .iter()
        .filter_map(|group| group.limit_bytes)
        .min();
    Memory {
        total_bytes,
        available_bytes,
        limit_bytes: limit_bytes.filter(|&limit| limit < total_bytes),
        page_size_bytes: page_size() as u64,
    }
}

/// How many bytes of memory this process may still use: the kernel's `MemAvailable`, or less if the control groups
/// of the process permit less. Page cache of files counts as available.
///
/// # Errors
///
/// It is an error if `/proc/meminfo` cannot be read or lacks the line.
pub fn available_memory_bytes() -> Result<u64, ProbeError> {
    let root = Path::new(ROOT);
    available_bytes(root, &mount::all(root))
}

fn available_bytes(root: &Path, mounts: &[Mount]) -> Result<u64, ProbeError> {
    let available_bytes = read(root)?.available_bytes;
    let allowed_bytes = cgroup::for_this_process(root, mounts)
        .iter()
        .filter_map(Group::left_bytes)
        .min();
    Ok(allowed_bytes.map_or(available_bytes, |allowed| allowed.min(available_bytes)))
}

fn read(root: &Path) -> Result<Meminfo, ProbeError> {
    let path = root.join("proc/meminfo");
    parse(&kernel_file::needed_text(&path)?).map_err(|line| ProbeError::Absent { path, line })
}

/// The error is the name of the missing line.
fn parse(text: &str) -> Result<Meminfo, &'static str> {
    Ok(Meminfo {
        total_bytes: line_bytes(text, "MemTotal").ok_or("MemTotal")?,
        available_bytes: line_bytes(text, "MemAvailable").ok_or("MemAvailable")?,
    })
}

fn line_bytes(text: &str, name: &str) -> Option<u64> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value
        .trim()
        .strip_suffix("kB")?
        .trim_end()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// sysinfo(2) knows only free memory, which is a lower bound for available memory.
fn from_sysinfo() -> Meminfo {
    let info = sysinfo();
    let unit_bytes = u64::from(info.mem_unit);
    Meminfo {
        total_bytes: unit_bytes.saturating_mul(info.totalram as u64),
        available_bytes: unit_bytes.saturating_mul(info.freeram as u64),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::mountinfo;

    const MEMINFO: &str = "MemTotal:       24684096 kB\nMemFree:        20000000 kB\n\
                           MemAvailable:   24361388 kB\nBuffers:            1756 kB\n";

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path: PathBuf = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }

    #[test]
    fn kilobytes_are_counted_in_bytes() {
        let expected = Meminfo {
            total_bytes: 24_684_096 * 1024,
            available_bytes: 24_361_388 * 1024,
        };
        assert_eq!(parse(MEMINFO), Ok(expected));
    }

    #[test]
    fn a_missing_line_is_named() {
        assert_eq!(
            parse("MemTotal: 1 kB\nMemAvailableX: 1 kB\n"),
            Err("MemAvailable")
        );
        assert_eq!(parse("MemTotal: much kB\n"), Err("MemTotal"));
    }

    #[test]
    fn the_kernels_estimate_is_capped_by_the_control_group() {
        let root = tempfile::tempdir().unwrap();
        let mounts = mountinfo::parse("30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write(
            root.path(),
            &[("proc/meminfo", MEMINFO), ("proc/self/cgroup", "0::/job\n")],
        );
        assert_eq!(
            available_bytes(root.path(), &mounts).unwrap(),
            24_361_388 * 1024
        );
        assert_eq!(facts(root.path(), &mounts).limit_bytes, None);

        let group = [
            ("sys/fs/cgroup/job/memory.max", "1000000\n"),
            ("sys/fs/cgroup/job/memory.current", "700000\n"),
            (
                "sys/fs/cgroup/job/memory.stat",
                "anon 500000\nfile 200000\nactive_file 50000\ninactive_file 100000\n",
            ),
        ];
        write(root.path(), &group);
        assert_eq!(available_bytes(root.path(), &mounts).unwrap(), 450_000);
        assert_eq!(facts(root.path(), &mounts).limit_bytes, Some(1_000_000));
    }

    #[test]
    fn a_limit_above_total_memory_is_no_limit() {
        let root = tempfile::tempdir().unwrap();
        let mounts =
            mountinfo::parse("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "4:memory:/\n"),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "180998144\n"),
        ];
        write(root.path(), &files);
        assert_eq!(facts(root.path(), &mounts).limit_bytes, None);
        assert_eq!(
            available_bytes(root.path(), &mounts).unwrap(),
            24_361_388 * 1024
        );
    }

    #[test]
    fn without_proc_there_are_facts_but_no_estimate() {
        let root = tempfile::tempdir().unwrap();
        assert!(facts(root.path(), &[]).total_bytes > 0);
        let error = available_bytes(root.path(), &[]).unwrap_err().to_string();
        assert!(
            error.starts_with("read ") && error.ends_with("meminfo: No such file or directory (2)"),
            "{error}"
        );
    }
}
