//! What writebench is asked to do, at random.

use std::path::{Path, PathBuf};

use writebench_testkit::Chance;

/// What is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Run,
    SideBySide,
    Filesystems,
    Advise,
    Copy,
    Resume,
    Look,
    Report,
    Compare,
}

const KINDS: &[&str] = &[
    "ext4",
    "ext4-no-journal",
    "ext3",
    "ext2",
    "xfs",
    "btrfs",
    "btrfs-raid0",
    "tmpfs",
    "overlay:ext4",
    "fuse:ext4",
];

/// The file in the program's home that is copied.
pub(super) const COPIED: &str = "copied";

const PURPOSES: &[&str] = &["stream", "durable-stream", "durable-records", "copy"];

impl Work {
    /// More often what takes samples.
    pub(super) fn choose(chance: &mut Chance) -> Self {
        use Work::{Advise, Compare, Copy, Filesystems, Look, Report, Resume, Run, SideBySide};
        let weighed = [
            Run,
            Run,
            Run,
            Run,
            Run,
            SideBySide,
            Filesystems,
            Advise,
            Copy,
            Resume,
            Resume,
            Look,
            Report,
            Compare,
        ];
        chance.pick(&weighed)
    }

    /// The command line: seconds of work, and gigabytes written at most.
    pub(super) fn arguments(
        self,
        chance: &mut Chance,
        target: &Path,
        other: &Path,
        home: &Path,
    ) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let mut words = match self {
            Self::Run => strings(&["run", &path(target), "--max-bytes", "1GiB"]),
            Self::SideBySide => strings(&["run", &path(target), &path(other), "--max-bytes", "1GiB"]),
            Self::Filesystems => {
                let first = chance.below(KINDS.len());
                let second = first + 1 + chance.below(KINDS.len() - 1);
                let kinds = [KINDS[first], KINDS[second % KINDS.len()]].join(",");
                strings(&["fs", "--on", &kinds, "--images", &path(target), "--max-bytes", "4GiB"])
            }
            Self::Advise => {
                let mut words =
                    strings(&["advise", "--for", chance.pick(PURPOSES), "--size", "2MiB", "--budget", "4s"]);
                words.push(path(target));
                words
            }
            Self::Copy => {
                let mut words =
                    strings(&["run", "--suite", "copy", "--samples", "1", "--budget", "3s", "--from"]);
                words.extend([path(&home.join(COPIED)), "--to".to_owned(), path(&target.join("copy"))]);
                words
            }
            // A run that is resumed has no limit on time but a new one.
            Self::Resume => strings(&["run", "--resume", "--budget", "5s"]),
            Self::Look => {
                strings(chance.pick(&[&["show"][..], &["list", "runs"], &["show", "--export", "json=-"]]))
            }
            Self::Report => strings(&["report", "-o", &path(&home.join("report.html"))]),
            Self::Compare => strings(&["compare", "1", chance.pick(&["2", "3"])]),
        };
        if matches!(self, Self::Run | Self::SideBySide | Self::Filesystems) {
            words.extend(measuring(chance, home));
        }
        // Runs with another database tidy up behind those of the first.
        if self == Self::Run && chance.below(4) == 0 {
            words.extend(["--db".to_owned(), path(&home.join("other.db"))]);
        }
        words
    }

    /// How it may end where nothing goes wrong: 1 and 2 say that there is nothing to go on with or to compare, 3 and 4
    /// that there is no room, and `advise` tries what is unsupported, too.
    pub(super) fn codes(self, is_small: bool) -> &'static [i32] {
        match self {
            Self::Look | Self::Report => &[0],
            Self::Run | Self::SideBySide | Self::Copy if is_small => &[0, 3, 4],
            Self::Run | Self::SideBySide | Self::Copy => &[0],
            // None of the filesystems could be made.
            Self::Filesystems if is_small => &[0, 1, 3, 4],
            Self::Filesystems => &[0],
            Self::Advise if is_small => &[0, 3, 4],
            Self::Advise => &[0, 4],
            Self::Resume => &[0, 1, 2, 3, 4],
            Self::Compare => &[0, 1, 2],
        }
    }
}

fn measuring(chance: &mut Chance, home: &Path) -> Vec<String> {
    let suites = writebench_model::built_in_suites();
    let suites: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    let mut words = strings(&["--suite", chance.pick(&suites)]);
    words.extend(strings(&["--size", chance.pick(&["64KiB", "1MiB", "3MiB"])]));
    words.extend(strings(&[
        "--samples",
        chance.pick(&["1", "4", "6"]),
        "--budget",
        chance.pick(&["2s", "5s"]),
    ]));
    words.extend(strings(&["--verify", chance.pick(&["sampled", "first", "every", "never"])]));
    words.extend(strings(chance.pick(&[&[][..], &["--no-limits"], &["--precision", "5%"]])));
    let export = |format: &str| format!("{format}={}", home.join(format).display());
    let format = chance.pick(&["json", "jsonl", "csv", "markdown", "openmetrics", "html", "svg", "fio"]);
    words.extend(strings(&["--export", &export(format)]));
    words
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Where it may work.
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// Whether there is so little room that a case may fail for want of it.
    pub(super) is_small: bool,
}
