//! Limits of control groups on a process: memory, CPU time, and freezing. See cgroups(7).

use std::path::{Component, Path, PathBuf};

use crate::kernel_file::{self, ROOT};
use crate::mount;
use crate::mountinfo::Mount;

/// The memory of a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) limit_bytes: Option<u64>,
    used_bytes: Option<u64>,
    /// The page cache of files counts as used, but the kernel reclaims it if other data needs the memory.
    reclaimable_bytes: u64,
}

impl Group {
    pub(crate) fn left_bytes(&self) -> Option<u64> {
        let held_bytes = self.used_bytes?.saturating_sub(self.reclaimable_bytes);
        Some(self.limit_bytes?.saturating_sub(held_bytes))
    }
}

/// A system may mount both versions, and then each controller belongs to one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

/// The folder of a control group in the filesystem of its version.
#[derive(Debug)]
struct GroupFolder {
    path: PathBuf,
    version: Version,
}

impl GroupFolder {
    fn below(self, root: &Path) -> Self {
        Self {
            path: root.join(self.path.strip_prefix("/").unwrap_or(&self.path)),
            version: self.version,
        }
    }

    /// The state includes that of the groups around this one.
    fn is_frozen(&self) -> bool {
        match self.version {
            Version::V1 => kernel_file::text(&self.path.join("freezer.state"))
                .is_some_and(|state| state != "THAWED"),
            Version::V2 => kernel_file::text(&self.path.join("cgroup.events"))
                .is_some_and(|events| events.lines().any(|line| line == "frozen 1")),
        }
    }

    /// The limit in millionths of a CPU. Without a limit, version 2's quota is the word "max" and version 1's the
    /// number -1, which do not parse.
    fn cpu_limit_ppm(&self) -> Option<u64> {
        let (quota_us, period_us) = self.cpu_quota_and_period_us()?;
        quota_us.checked_mul(1_000_000)?.checked_div(period_us)
    }

    fn cpu_quota_and_period_us(&self) -> Option<(u64, u64)> {
        match self.version {
            Version::V1 => Some((
                kernel_file::value(&self.path.join("cpu.cfs_quota_us"))?,
                kernel_file::value(&self.path.join("cpu.cfs_period_us"))?,
            )),
            Version::V2 => {
                let cpu_max = kernel_file::text(&self.path.join("cpu.max"))?;
                let (quota, period) = cpu_max.split_once(' ')?;
                Some((quota.parse().ok()?, period.parse().ok()?))
            }
        }
    }
}

/// The memory of this process's control group and of all groups around it, each of which limits the process. Either
/// version may have the memory controller.
pub(crate) fn for_this_process(root: &Path, mounts: &[Mount]) -> Vec<Group> {
    folders_of_this_process(root, mounts, "memory")
        .map(|folder| read(&folder))
        .collect()
}

/// The tightest limit of this process's control group and of all groups around it, in millionths of a CPU. It is
/// `None` if no group has a limit.
pub(crate) fn cpu_limit_ppm(root: &Path, mounts: &[Mount]) -> Option<u64> {
    folders_of_this_process(root, mounts, "cpu")
        .filter_map(|folder| folder.cpu_limit_ppm())
        .min()
}

fn folders_of_this_process(
    root: &Path,
    mounts: &[Mount],
    controller: &str,
) -> impl Iterator<Item = GroupFolder> {
    let memberships = kernel_file::text(&root.join("proc/self/cgroup")).unwrap_or_default();
    folders(&memberships, mounts, controller)
        .into_iter()
        .map(|folder| folder.below(root))
}

/// The control groups of all processes, found through the mounts at the time of the call to `mounted`.
#[derive(Debug)]
pub struct ControlGroups {
    mounts: Vec<Mount>,
}

impl ControlGroups {
    /// Finds the mounted filesystems of control groups.
    #[must_use]
    pub fn mounted() -> Self {
        Self {
            mounts: mount::all(Path::new(ROOT)),
        }
    }

    /// The files `cpu.stat` of a process's own group and of all groups around it. They count the delays from limits
    /// on CPU time.
    #[must_use]
    pub fn cpu_stats(&self, process: u32) -> Vec<PathBuf> {
        self.folders(process, "cpu")
            .into_iter()
            .map(|folder| folder.path.join("cpu.stat"))
            .filter(|file| file.exists())
            .collect()
    }

    /// Whether a process is frozen by its group or one around it.
    #[must_use]
    pub fn are_frozen(&self, process: u32) -> bool {
        self.folders(process, "freezer")
            .iter()
            .any(GroupFolder::is_frozen)
    }

    fn folders(&self, process: u32, controller: &str) -> Vec<GroupFolder> {
        let memberships = kernel_file::text(Path::new(&format!("/proc/{process}/cgroup")));
        folders(&memberships.unwrap_or_default(), &self.mounts, controller)
    }
}

fn read(folder: &GroupFolder) -> Group {
    // What can be reclaimed is the sum of two lines, which include the groups below.
    let (limit, used, reclaimable) = match folder.version {
        Version::V1 => (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            ["total_active_file", "total_inactive_file"],
        ),
        Version::V2 => (
            "memory.max",
            "memory.current",
            ["active_file", "inactive_file"],
        ),
    };
    let stat = kernel_file::text(&folder.path.join("memory.stat")).unwrap_or_default();
    Group {
        // Version 2's word for no limit, "max", is not a number.
        limit_bytes: kernel_file::value(&folder.path.join(limit)),
        used_bytes: kernel_file::value(&folder.path.join(used)),
        reclaimable_bytes: reclaimable
            .iter()
            .filter_map(|name| stat_bytes(&stat, name))
            .sum(),
    }
}

fn stat_bytes(stat: &str, name: &str) -> Option<u64> {
    stat.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?
        .trim()
        .parse()
        .ok()
}

/// The folders of a process's groups, from the innermost to the mounted root.
fn folders(memberships: &str, mounts: &[Mount], controller: &str) -> Vec<GroupFolder> {
    let mut folders = Vec::new();
    for (group, version) in memberships
        .lines()
        .filter_map(|line| membership(line, controller))
    {
        let mut mounted = mounts
            .iter()
            .filter(|mount| version_mounted(mount, controller) == Some(version));
        if let Some((top, inside)) = mounted.find_map(|mount| locate(mount, group)) {
            folders.extend(inside.ancestors().map(|group| GroupFolder {
                path: top.join(group),
                version,
            }));
        }
    }
    folders
}

/// The group in a line such as `0::/user.slice` or `4:memory:/docker/1f`, if it is about the controller.
fn membership<'l>(line: &'l str, controller: &str) -> Option<(&'l Path, Version)> {
    let mut fields = line.splitn(3, ':').skip(1);
    let version = match fields.next()? {
        "" => Version::V2,
        controllers if has(controllers, controller) => Version::V1,
        _ => return None,
    };
    fields.next().map(|group| (Path::new(group), version))
}

fn version_mounted(mount: &Mount, controller: &str) -> Option<Version> {
    match mount.kind.as_str() {
        "cgroup2" => Some(Version::V2),
        "cgroup" if has(&mount.super_options, controller) => Some(Version::V1),
        _ => None,
    }
}

fn has(list: &str, controller: &str) -> bool {
    list.split(',').any(|word| word == controller)
}

/// The mount point, and the group's path below it. In a container the root of the mount may be the container's own
/// group. A group outside the mount cannot be read.
fn locate<'p>(mount: &'p Mount, group: &'p Path) -> Option<(&'p Path, &'p Path)> {
    let inside = group.strip_prefix(&mount.root).ok()?;
    let is_plain = inside
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    is_plain.then_some((Path::new(&mount.mount_point), inside))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mountinfo;

    fn paths(memberships: &str, mountinfo: &str) -> Vec<PathBuf> {
        let mounts = mountinfo::parse(mountinfo);
        folders(memberships, &mounts, "memory")
            .into_iter()
            .map(|folder| folder.path)
            .collect()
    }

    fn expected<const N: usize>(paths: [&str; N]) -> Vec<PathBuf> {
        paths.map(PathBuf::from).to_vec()
    }

    const UNIFIED: &str = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
    const HYBRID: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                          32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                          35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                          41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn groups_are_found_from_the_innermost_to_the_root() {
        assert_eq!(
            paths("0::/user.slice/job.scope\n", UNIFIED),
            expected([
                "/sys/fs/cgroup/user.slice/job.scope",
                "/sys/fs/cgroup/user.slice",
                "/sys/fs/cgroup"
            ])
        );
    }

    #[test]
    fn both_versions_are_searched() {
        assert_eq!(
            paths("4:memory:/job\n3:cpuset:/\n1:cpu:/x\n0::/\n", HYBRID),
            expected([
                "/sys/fs/cgroup/memory/job",
                "/sys/fs/cgroup/memory",
                "/sys/fs/cgroup/unified"
            ])
        );
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let mountinfo =
            "35 31 0:32 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        assert_eq!(
            paths("4:memory:/docker/1f\n", mountinfo),
            expected(["/sys/fs/cgroup/memory"])
        );
    }

    #[test]
    fn a_group_that_is_not_mounted_is_skipped() {
        let mountinfo =
            "35 31 0:32 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        assert!(paths("4:memory:/docker/2a\n", mountinfo).is_empty());
        assert!(paths("0::/../sibling\n", UNIFIED).is_empty());
        assert!(paths("0::/job\n", "").is_empty());
    }

    fn cpu_limit(memberships: &str, mountinfo: &str, files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in [&[("proc/self/cgroup", memberships)], files].concat() {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        cpu_limit_ppm(root.path(), &mountinfo::parse(mountinfo))
    }

    #[test]
    fn the_tightest_cpu_limit_counts_and_none_is_no_limit() {
        let job = ("sys/fs/cgroup/user.slice/job.scope/cpu.max", "max 100000\n");
        let user = ("sys/fs/cgroup/user.slice/cpu.max", "250000 100000\n");
        let memberships = "0::/user.slice/job.scope\n";
        assert_eq!(cpu_limit(memberships, UNIFIED, &[job]), None);
        assert_eq!(
            cpu_limit(memberships, UNIFIED, &[job, user]),
            Some(2_500_000)
        );
        let tighter = (
            "sys/fs/cgroup/user.slice/job.scope/cpu.max",
            "15000 100000\n",
        );
        assert_eq!(
            cpu_limit(memberships, UNIFIED, &[tighter, user]),
            Some(150_000)
        );
    }

    #[test]
    fn version_1_has_the_limit_in_two_files() {
        let period = ("sys/fs/cgroup/cpu/t/cpu.cfs_period_us", "100000\n");
        let quota = |quota| ("sys/fs/cgroup/cpu/t/cpu.cfs_quota_us", quota);
        assert_eq!(
            cpu_limit("1:cpu,cpuacct:/t\n", HYBRID, &[period, quota("15000\n")]),
            Some(150_000)
        );
        assert_eq!(
            cpu_limit("1:cpu,cpuacct:/t\n", HYBRID, &[period, quota("-1\n")]),
            None
        );
    }

    #[test]
    fn page_cache_counts_as_free() {
        let group = Group {
            limit_bytes: Some(100),
            used_bytes: Some(70),
            reclaimable_bytes: 30,
        };
        assert_eq!(group.left_bytes(), Some(60));
        assert_eq!(
            Group {
                used_bytes: Some(200),
                ..group
            }
            .left_bytes(),
            Some(0)
        );
        assert_eq!(
            Group {
                limit_bytes: None,
                ..group
            }
            .left_bytes(),
            None
        );
    }

    #[test]
    fn a_line_is_found_by_its_whole_name() {
        let stat = "inactive_file 5\ntotal_inactive_file 7\n";
        assert_eq!(stat_bytes(stat, "total_inactive_file"), Some(7));
        assert_eq!(stat_bytes(stat, "inactive"), None);
    }

    proptest! {
        #[test]
        fn no_membership_makes_it_panic(text in any::<String>(), path in "[./a:\u{e9}]{0,12}") {
            paths(&text, UNIFIED);
            paths(&format!("0::{path}\n4:memory:{path}\n"), HYBRID);
        }
    }
}
