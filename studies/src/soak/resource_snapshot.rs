use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::WaitOptions;
use writebench_testkit::{descendants, entries, loop_devices};

/// Each resource has its kind and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResourceSnapshot(BTreeSet<(&'static str, String)>);

impl ResourceSnapshot {
    /// Files are those of the directories. Processes and descriptors are those of this process.
    pub(super) fn now(directories: &[PathBuf]) -> Self {
        let own = std::process::id();
        // Several mounts may share a mount point. Their lines have numbers.
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let loops = loop_devices()
            .into_iter()
            .map(|(device, file)| format!("{} on {file}", device.display()));
        let kinds = [
            (
                "files",
                directories
                    .iter()
                    .flat_map(|directory| names(directory))
                    .collect(),
            ),
            ("mounts", mounts.lines().map(str::to_owned).collect()),
            ("loop devices", loops.collect()),
            (
                "FUSE connections",
                names(Path::new("/sys/fs/fuse/connections")),
            ),
            (
                "processes",
                descendants(own).into_iter().map(described).collect(),
            ),
            ("descriptors", descriptors(own)),
        ];
        Self(
            kinds
                .into_iter()
                .flat_map(|(kind, names)| names.into_iter().map(move |name| (kind, name)))
                .collect(),
        )
    }

    /// Waits a minute at most for new resources to disappear. A killed program may have started mkfs, which
    /// runs to its end.
    pub(super) fn settled(directories: &[PathBuf], before: &Self) -> Self {
        let start = Instant::now();
        loop {
            // Because of `PR_SET_CHILD_SUBREAPER`, orphans are children.
            while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
            let now = Self::now(directories);
            if now.new_since(before).is_empty() || start.elapsed() > Duration::from_secs(60) {
                return now;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    pub(super) fn new_since(&self, before: &Self) -> Vec<String> {
        self.0
            .difference(&before.0)
            .map(|(kind, name)| format!("{kind}: {name}"))
            .collect()
    }
}

impl fmt::Display for ResourceSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.0.iter().map(|(kind, _)| *kind).collect();
        let counts = all
            .chunk_by(|a, b| a == b)
            .map(|kind| format!("{} {}", kind.len(), kind[0]));
        f.write_str(&counts.collect::<Vec<_>>().join(", "))
    }
}

fn names(directory: &Path) -> Vec<String> {
    entries(directory)
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

fn described(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    format!(
        "{process} {}",
        String::from_utf8_lossy(&line).replace('\0', " ").trim_end()
    )
}

/// The descriptor that lists the others has no file any more, and is left out.
fn descriptors(process: u32) -> Vec<String> {
    let all = entries(&PathBuf::from(format!("/proc/{process}/fd")));
    let open = all
        .iter()
        .filter_map(|entry| Some((entry, fs::read_link(entry).ok()?)));
    open.map(|(entry, file)| format!("{} is {}", entry.display(), file.display()))
        .collect()
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
        assert!(
            found.contains(&new) && !found.iter().any(|line| line.contains("/old")),
            "{found:?}"
        );
    }

    #[test]
    fn a_running_process_is_found() {
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let found = descendants(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()));
    }
}
