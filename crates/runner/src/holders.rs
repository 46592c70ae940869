//! Processes with open files in a directory.
//!
//! The kernel's names of open files suffice, and inspecting a file might hang with the process. Processes
//! that this user may not inspect are unknown.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) fn lasting_holder(directory: &Path) -> Option<u32> {
    lasting(|| {
        processes().find(|&process| process != std::process::id() && has_open(process, directory))
    })
}

pub(crate) fn is_held_by(processes: &[u32], directory: &Path) -> bool {
    lasting(|| {
        processes
            .iter()
            .copied()
            .find(|&process| has_open(process, directory))
    })
    .is_some()
}

pub fn children() -> Vec<u32> {
    processes()
        .filter(|&process| parent(process) == Some(std::process::id()))
        .collect()
}

/// Found again two seconds later. A dying process does not count.
fn lasting(find: impl Fn() -> Option<u32>) -> Option<u32> {
    let start = Instant::now();
    loop {
        let holder = find()?;
        if start.elapsed() > Duration::from_secs(2) {
            return Some(holder);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn processes() -> impl Iterator<Item = u32> {
    entries(Path::new("/proc")).filter_map(|path| path.file_name()?.to_str()?.parse().ok())
}

/// Searches each thread, because the first one may have ended without the process.
fn has_open(process: u32, directory: &Path) -> bool {
    let threads = entries(&PathBuf::from(format!("/proc/{process}/task")));
    let mut descriptors = threads.flat_map(|thread| entries(&thread.join("fd")));
    descriptors
        .any(|descriptor| fs::read_link(descriptor).is_ok_and(|file| file.starts_with(directory)))
}

/// See proc_pid_stat(5). The name before the parent may contain any character.
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn another_process_is_found_while_it_has_a_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let inside = fs::File::create(folder.path().join("file")).unwrap();
        assert_eq!(
            lasting_holder(folder.path()),
            None,
            "only this process has it open"
        );
        let mut child = Command::new("sleep")
            .arg("1000")
            .stdin(Stdio::from(inside))
            .spawn()
            .unwrap();
        assert_eq!(lasting_holder(folder.path()), Some(child.id()));
        assert!(children().contains(&child.id()) && is_held_by(&[child.id()], folder.path()));
        assert_eq!(
            lasting_holder(&folder.path().join("file-2")),
            None,
            "another name"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lasting_holder(folder.path()), None);
    }

    #[test]
    fn a_grandchild_does_not_count_as_a_child() {
        let folder = tempfile::tempdir().unwrap();
        let inside = fs::File::create(folder.path().join("file")).unwrap();
        // The shell redirects the input of background commands to /dev/null.
        let line = "exec 3<&0 </dev/null; sleep 1000 <&3 3<&- >&2 & exec 3<&-; echo $!; wait";
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .stdin(Stdio::from(inside))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = shell.spawn().unwrap();
        let mut said = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(child.stdout.take().unwrap()),
            &mut said,
        )
        .unwrap();
        let grandchild: u32 = said.trim().parse().unwrap();
        let is_child = children().contains(&grandchild);
        let holder = lasting_holder(folder.path());
        Command::new("kill").arg(said.trim()).status().unwrap();
        child.wait().unwrap();
        assert_eq!((is_child, holder), (false, Some(grandchild)));
    }
}
