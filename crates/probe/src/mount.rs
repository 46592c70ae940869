use std::fs;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::kernel_file;
use crate::mountinfo::{self, Mount};
use crate::target::Target;

/// All mounts that this process sees, or none if they are unknown.
pub(crate) fn all(root: &Path) -> Vec<Mount> {
    list(root).unwrap_or_default()
}

/// All mounts that this process sees, for callers to whom an empty list would mean that nothing is mounted.
pub(crate) fn list(root: &Path) -> Result<Vec<Mount>, ProbeError> {
    kernel_file::needed_text(&root.join("proc/self/mountinfo")).map(|text| mountinfo::parse(&text))
}

/// The mount that holds the target. The kernel names it since Linux 5.8. Before, the path decides.
pub(crate) fn for_target<'m>(target: &Target<'_>, mounts: &'m [Mount]) -> Option<&'m Mount> {
    by_id(mounts, target.path).or_else(|| {
        let path = fs::canonicalize(target.path).ok()?;
        by_path(mounts, &path, target.filesystem)
    })
}

fn by_id<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    let id = mount_id(path)?;
    mounts.iter().find(|mount| mount.id == id)
}

fn mount_id(path: &Path) -> Option<u64> {
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

/// The deepest mount above the path that has the number. On btrfs and overlayfs, a file's number may differ from its
/// filesystem's, and may be anonymous. The deepest mount of all is then the right one, if its number is anonymous too.
fn by_path<'m>(mounts: &'m [Mount], path: &Path, number: DeviceNumber) -> Option<&'m Mount> {
    let above = mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.mount_point));
    let with_number = above.clone().filter(|mount| mount.number == number);
    deepest(with_number).or_else(|| {
        deepest(above).filter(|mount| number.is_anonymous() && mount.number.is_anonymous())
    })
}

/// The latest of several mounts in one place hides the others, and `max_by_key` returns the last of equal ones.
fn deepest<'m>(mounts: impl Iterator<Item = &'m Mount>) -> Option<&'m Mount> {
    mounts.max_by_key(|mount| Path::new(&mount.mount_point).components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: DeviceNumber = DeviceNumber {
        major: 254,
        minor: 0,
    };

    fn mounts() -> Vec<Mount> {
        mountinfo::parse(
            "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
             30 27 0:30 / /data rw - tmpfs tmpfs rw\n\
             31 30 254:0 /var/deep /data/deep rw - ext4 /dev/vda rw\n\
             32 27 0:40 /@ /pool rw - btrfs /dev/vdb rw\n\
             33 30 254:0 /var/over /data/deep rw - ext4 /dev/vda rw\n\
             34 27 8:1 / /usb rw - vfat /dev/sda1 rw\n",
        )
    }

    fn id_at(path: &str, number: DeviceNumber) -> Option<u64> {
        by_path(&mounts(), Path::new(path), number).map(|mount| mount.id)
    }

    #[test]
    fn the_deepest_mount_point_of_the_same_filesystem_wins() {
        assert_eq!(id_at("/srv/file", DISK), Some(27));
        assert_eq!(
            id_at(
                "/data/file",
                DeviceNumber {
                    major: 0,
                    minor: 30
                }
            ),
            Some(30)
        );
    }

    #[test]
    fn a_name_with_the_same_beginning_is_not_below() {
        assert_eq!(id_at("/database", DISK), Some(27));
    }

    #[test]
    fn the_later_of_two_mounts_in_one_place_hides_the_earlier() {
        assert_eq!(id_at("/data/deep/file", DISK), Some(33));
    }

    #[test]
    fn a_btrfs_subvolumes_own_number_leads_to_the_mount_above_it() {
        assert_eq!(
            id_at(
                "/pool/snapshot",
                DeviceNumber {
                    major: 0,
                    minor: 41
                }
            ),
            Some(32)
        );
    }

    #[test]
    fn a_mount_of_another_device_is_not_the_targets() {
        assert_eq!(
            id_at(
                "/usb/file",
                DeviceNumber {
                    major: 8,
                    minor: 17
                }
            ),
            None
        );
        assert_eq!(
            id_at(
                "/usb/file",
                DeviceNumber {
                    major: 0,
                    minor: 99
                }
            ),
            None
        );
    }

    #[test]
    fn the_kernels_number_for_a_mount_is_in_its_list() {
        let mounts = all(Path::new("/"));
        let id = mount_id(Path::new("/proc")).expect("this test needs /proc, and Linux 5.8");
        // Another mount may hide it.
        assert!(
            mounts
                .iter()
                .any(|mount| mount.mount_point == "/proc" && mount.id == id),
            "{id}"
        );
    }
}
