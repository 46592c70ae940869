//! Who has files open.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A process, other than this one, that has the directory or something in it open, and still has it two seconds later:
/// one that is about to die is waited for. Of processes that this user may not look into, nothing is known.
pub(crate) fn lasting_holder(directory: &Path) -> Option<u32> {
    let start = Instant::now();
    loop {
        let holder = holder(directory)?;
        if start.elapsed() > Duration::from_secs(2) {
            return Some(holder);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn holder(directory: &Path) -> Option<u32> {
    let processes =
        fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|&process| process != std::process::id()).find(|&process| has_open(process, directory))
}

/// By the names that the kernel has for them: a look at the files themselves might wait for what the process waits for.
fn has_open(process: u32, directory: &Path) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    descriptors.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|file| file.starts_with(directory)))
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
        assert_eq!(lasting_holder(&folder.path().join("file-2")), None, "another name");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lasting_holder(folder.path()), None);
    }
}
