use std::path::Path;

use writebench_model::{Goal, Verify};
use writebench_testkit::TestRng;

use crate::target::is_memory;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Run,
    SideBySide,
    Filesystems,
    Advise,
    Copy,
    Resume,
    Read,
    Report,
    Compare,
}

const KINDS: &str = "ext4 ext4-no-journal ext3 ext2 xfs btrfs btrfs-no-checksums btrfs-raid0 tmpfs tmpfs-huge \
                     overlay:ext4 fuse:ext4";

pub(super) const COPIED: &str = "copied";

/// Copies have their own names, because two runs at once, one of them resumed, would replace each other's.
const COPY: &str = "copy-";

impl Work {
    /// Sampling commands are more frequent.
    pub(super) fn choose(rng: &mut TestRng) -> Self {
        use Work::{Advise, Compare, Copy, Filesystems, Read, Report, Resume, Run, SideBySide};
        let others = [
            SideBySide,
            Filesystems,
            Advise,
            Copy,
            Resume,
            Read,
            Report,
            Compare,
        ];
        rng.pick(&[&[Run, Run, Run, Run, Run, Resume], &others[..]].concat())
    }

    /// Each command works for seconds, and writes gigabytes at most.
    pub(super) fn arguments(
        self,
        rng: &mut TestRng,
        target: &Path,
        other: &Path,
        home: &Path,
    ) -> Vec<String> {
        let mut words = match self {
            Self::Run => "run TARGET --max-bytes 1GiB".to_owned(),
            Self::SideBySide => "run TARGET OTHER --max-bytes 1GiB".to_owned(),
            Self::Filesystems => {
                let kinds: Vec<&str> = KINDS.split(' ').collect();
                let first = rng.below(kinds.len());
                let second = (first + 1 + rng.below(kinds.len() - 1)) % kinds.len();
                format!(
                    "fs --on {},{} --images TARGET --max-bytes 4GiB",
                    kinds[first], kinds[second]
                )
            }
            Self::Advise => {
                let goal = rng.pick(&goals_on(target));
                format!("advise --for {goal} --size 2MiB --budget 4s TARGET")
            }
            Self::Copy => {
                let number = rng.below(1 << 30);
                format!(
                    "run --suite copy --samples 1 --budget 3s --from HOME/{COPIED} --to TARGET/{COPY}{number}"
                )
            }
            // A resumed run has only a new time limit.
            Self::Resume => "run --resume --budget 5s".to_owned(),
            Self::Read => rng
                .pick(&["show", "runs", "show --export json=-"])
                .to_owned(),
            Self::Report => "report -o HOME/report.html".to_owned(),
            Self::Compare => format!("compare 1 {}", rng.pick(&["2", "3"])),
        };
        if matches!(self, Self::Run | Self::SideBySide | Self::Filesystems) {
            words += &measuring(rng);
        }
        // A run also removes leftovers of runs in another database.
        if self == Self::Run && rng.below(4) == 0 {
            words += " --db HOME/other.db";
        }
        let [target, other, home] = [target, other, home].map(Path::to_string_lossy);
        let words = words
            .split_whitespace()
            .map(|word| word.replace("TARGET", &target));
        words
            .map(|word| word.replace("OTHER", &other).replace("HOME", &home))
            .collect()
    }

    /// The exit codes when no fault is injected: 1 and 2 mean nothing to resume or compare, 3 and 4 mean no space.
    /// `advise` also tries unsupported cases.
    pub(super) fn codes(self, is_small: bool) -> &'static [i32] {
        match self {
            Self::Read | Self::Report => &[0],
            Self::Run | Self::SideBySide | Self::Copy if is_small => &[0, 3, 4],
            Self::Run | Self::SideBySide | Self::Copy => &[0],
            // No filesystem could be made.
            Self::Filesystems if is_small => &[0, 1, 3, 4],
            Self::Filesystems => &[0],
            // Its time is often too short for an answer.
            Self::Advise if is_small => &[0, 3, 4, 6],
            Self::Advise => &[0, 4, 6],
            Self::Resume => &[0, 1, 2, 3, 4],
            Self::Compare => &[0, 1, 2],
        }
    }
}

/// Memory is not durable, and one goal refuses small sizes.
fn goals_on(target: &Path) -> Vec<Goal> {
    let mut goals = Goal::ALL.to_vec();
    goals.retain(|goal| *goal != Goal::LargerThanMemory);
    if is_memory(target).unwrap_or(false) {
        goals.retain(|goal| !goal.is_durable());
    }
    goals
}

pub(super) fn remove_copies(folder: &Path) {
    for path in writebench_testkit::entries(folder) {
        let name = path.file_name().unwrap_or_default();
        if name.to_string_lossy().starts_with(COPY) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

fn measuring(rng: &mut TestRng) -> String {
    let suites = writebench_model::built_in_suites();
    let suite = &suites[rng.below(suites.len())].name;
    let size = rng.pick(&["64KiB", "1MiB", "3MiB"]);
    let samples = rng.pick(&["1", "4", "6"]);
    let budget = rng.pick(&["2s", "5s"]);
    let verify = rng.pick(Verify::ALL);
    let more = rng.pick(&["", "--no-limits", "--precision 5%"]);
    let format = rng.pick(&["json", "jsonl", "csv", "markdown", "html", "svg", "fio"]);
    format!(
        " --suite {suite} --size {size} --samples {samples} --budget {budget} --verify {verify} {more} \
         --export {format}=HOME/{format}"
    )
}
