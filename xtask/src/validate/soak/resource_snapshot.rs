use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::WaitOptions;
use writebench_testkit::{descendants, entries, loop_devices};

/// Names by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResourceSnapshot(BTreeMap<&'static str, BTreeSet<String>>);

impl ResourceSnapshot {
    /// Files are those of the directories. Processes and descriptors are those of this process.
    pub(super) fn now(directories: &[PathBuf]) -> Self {
        let own = std::process::id();
        // Several mounts may share a mount point. Their lines have numbers.
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let loops = loop_devices().into_iter().map(|(device, file)| format!("{} on {file}", device.display()));
        Self(BTreeMap::from([
            ("files", directories.iter().flat_map(|directory| names(directory)).collect()),
            ("mounts", mounts.lines().map(str::to_owned).collect()),
            ("loop devices", loops.collect()),
            ("FUSE connections", names(Path::new("/sys/fs/fuse/connections"))),
            ("processes", descendants(own).into_iter().map(described).collect()),
            ("descriptors", descriptors(own)),
        ]))
    }

    /// Waits a minute at most for new resources to disappear. A killed program may have started mkfs, which
    /// runs to its end.
    pub(super) fn settled(directories: &[PathBuf], before: &Self) -> Self {
        let start = Instant::now();
        loop {
            // `PR_SET_CHILD_SUBREAPER`: orphans are children.
            while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
            let now = Self::now(directories);
            if now.new_since(before).is_empty() || start.elapsed() > Duration::from_secs(60) {
                return now;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    pub(super) fn new_since(&self, before: &Self) -> Vec<String> {
        let new = self.0.iter().flat_map(|(kind, here)| {
            let known = before.0.get(kind);
            here.iter()
                .filter(move |name| known.is_none_or(|known| !known.contains(*name)))
                .map(move |name| format!("{kind}: {name}"))
        });
        new.collect()
    }
}

impl fmt::Display for ResourceSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<_> = self.0.iter().map(|(kind, names)| format!("{} {kind}", names.len())).collect();
        f.write_str(&counts.join(", "))
    }
}

fn names(directory: &Path) -> BTreeSet<String> {
    entries(directory).iter().map(|path| path.display().to_string()).collect()
}

fn described(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    format!("{process} {}", String::from_utf8_lossy(&line).replace('\0', " ").trim_end())
}

/// Without the one that lists them.
fn descriptors(process: u32) -> BTreeSet<String> {
    let all = entries(&PathBuf::from(format!("/proc/{process}/fd")));
    let open = all.iter().filter_map(|entry| Some((entry, fs::read_link(entry).ok()?)));
    open.map(|(entry, file)| format!("{} is {}", entry.display(), file.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_resources_are_named_and_old_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let directories = [folder.path().to_owned()];
        fs::write(folder.path().join("old"), "").unwrap();
        let before = ResourceSnapshot::now(&directories);
        assert!(before.to_string().contains("1 files"), "{before}");
        fs::remove_file(folder.path().join("old")).unwrap();
        fs::write(folder.path().join("new"), "").unwrap();
        let found = ResourceSnapshot::now(&directories).new_since(&before);
        let new = format!("files: {}", folder.path().join("new").display());
        // Other tests open files at the same time.
        assert!(found.contains(&new) && !found.iter().any(|line| line.contains("/old")), "{found:?}");
    }

    #[test]
    fn a_running_process_is_found() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let found = descendants(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()));
    }
}
