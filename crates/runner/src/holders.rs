//! Which processes have something in a directory open, and keep it open.
//!
//! By the names that the kernel has for open files: a look at the files themselves might wait for what such a process
//! waits for. Of processes that this user may not look into, nothing is known.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Any process but this one.
pub(crate) fn lasting_holder(directory: &Path) -> Option<u32> {
    lasting(directory, |process| process != std::process::id())
}

/// A process that this one started, other than the directory's keeper.
pub(crate) fn lasting_child(directory: &Path, keeper: u32) -> Option<u32> {
    lasting(directory, |process| process != keeper && parent(process) == Some(std::process::id()))
}

/// One that still has it open two seconds later: one that is about to die is waited for.
fn lasting(directory: &Path, is_meant: impl Fn(u32) -> bool) -> Option<u32> {
    let start = Instant::now();
    loop {
        let numbers = entries(Path::new("/proc")).filter_map(|path| path.file_name()?.to_str()?.parse().ok());
        let holder =
            numbers.filter(|&process| is_meant(process)).find(|&process| has_open(process, directory))?;
        if start.elapsed() > Duration::from_secs(2) {
            return Some(holder);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Through each of its threads: the first has nothing open any more once it has ended, which the others need not have.
fn has_open(process: u32, directory: &Path) -> bool {
    let threads = entries(&PathBuf::from(format!("/proc/{process}/task")));
    let mut descriptors = threads.flat_map(|thread| entries(&thread.join("fd")));
    descriptors.any(|it| fs::read_link(it).is_ok_and(|file| file.starts_with(directory)))
}

/// proc_pid_stat(5); the name before it may hold anything.
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// What has gone meanwhile has none.
fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn another_process_that_has_a_file_open_is_found_until_it_has_not() {
        let folder = tempfile::tempdir().unwrap();
        let inside = fs::File::create(folder.path().join("file")).unwrap();
        assert_eq!(lasting_holder(folder.path()), None, "only this process has it open");
        let mut child = Command::new("sleep").arg("1000").stdin(Stdio::from(inside)).spawn().unwrap();
        assert_eq!(lasting_holder(folder.path()), Some(child.id()));
        assert_eq!(lasting_child(folder.path(), 0), Some(child.id()));
        assert_eq!(lasting_holder(&folder.path().join("file-2")), None, "another name");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lasting_holder(folder.path()), None);
    }

    #[test]
    fn a_grandchild_is_no_child() {
        let folder = tempfile::tempdir().unwrap();
        let inside = fs::File::create(folder.path().join("file")).unwrap();
        // Of something in the background the shell itself makes /dev/null the input.
        let line = "exec 3<&0 </dev/null; sleep 1000 <&3 3<&- >&2 & exec 3<&-; echo $!; wait";
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).stdin(Stdio::from(inside)).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.spawn().unwrap();
        let mut said = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut said)
            .unwrap();
        let found = [lasting_child(folder.path(), 0), lasting_holder(folder.path())];
        Command::new("kill").arg(said.trim()).status().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [None, said.trim().parse().ok()]);
    }
}
