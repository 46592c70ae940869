use std::fs;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::kernel_file;
use crate::mountinfo::{self, Mount};
use crate::target::Target;

pub(crate) fn all(root: &Path) -> Vec<Mount> {
    list(root).unwrap_or_default()
}

/// An error for callers to whom an empty list would mean no mounts.
pub(crate) fn list(root: &Path) -> Result<Vec<Mount>, ProbeError> {
    kernel_file::needed_text(&root.join("proc/self/mountinfo")).map(|text| mountinfo::parse(&text))
}

/// The kernel names the mount since Linux 5.8. Before, the path decides.
pub(crate) fn for_target<'m>(target: &Target<'_>, mounts: &'m [Mount]) -> Option<&'m Mount> {
    let named = mount_id(target.path).and_then(|id| mounts.iter().find(|mount| mount.id == id));
    named.or_else(|| {
        by_path(
            mounts,
            &fs::canonicalize(target.path).ok()?,
            target.filesystem,
        )
    })
}

fn mount_id(path: &Path) -> Option<u64> {
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

/// The latest one at the deepest mount point.
fn by_path<'m>(mounts: &'m [Mount], path: &Path, number: DeviceNumber) -> Option<&'m Mount> {
    let deepest = |fits: &dyn Fn(&Mount) -> bool| {
        let above = mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.mount_point) && fits(mount));
        // `max_by_key` returns the last of several equal ones.
        above.max_by_key(|mount| Path::new(&mount.mount_point).components().count())
    };
    // On btrfs and overlayfs, a file's number may differ from its filesystem's, and may be anonymous.
    deepest(&|mount| mount.number == number).or_else(|| {
        deepest(&|_| true).filter(|mount| number.is_anonymous() && mount.number.is_anonymous())
    })
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
