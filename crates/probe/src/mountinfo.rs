//! The mounts of a process, by proc_pid_mountinfo(5).

use crate::device_number::DeviceNumber;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    /// The number of the filesystem. Its files may have another `st_dev`: a btrfs subvolume has its own.
    pub(crate) number: DeviceNumber,
    pub(crate) root: String,
    pub(crate) mount_point: String,
    pub(crate) options: String,
    pub(crate) kind: String,
    pub(crate) source: String,
    /// The options that all mounts of the filesystem share.
    pub(crate) super_options: String,
}

impl Mount {
    /// The options of the mount and of the filesystem, each once.
    pub(crate) fn all_options(&self) -> String {
        let mut seen: Vec<&str> = Vec::new();
        for option in options(&self.options).chain(options(&self.super_options)) {
            if !seen.contains(&option) {
                seen.push(option);
            }
        }
        seen.join(",")
    }
}

/// Commas separate options. The commas in a quoted SELinux context do not.
fn options(list: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    list.split(move |character| {
        is_quoted ^= character == '"';
        character == ',' && !is_quoted
    })
    .filter(|option| !option.is_empty())
}

/// The mounts of `/proc/self/mountinfo`. Malformed lines are skipped.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    // Fields are split at single spaces, because a source may be empty.
    let mut mount = line.splitn(7, ' ');
    let id = mount.next()?.parse().ok()?;
    let _parent = mount.next()?;
    let number = mount.next()?.parse().ok()?;
    let root = mount.next()?;
    let mount_point = mount.next()?;
    let options = mount.next()?;
    // The number of optional fields between the two parts varies.
    let rest = mount.next()?;
    let of_filesystem = rest
        .strip_prefix("- ")
        .or_else(|| rest.split_once(" - ").map(|(_, last)| last))?;
    let mut filesystem = of_filesystem.splitn(3, ' ');
    Some(Mount {
        id,
        number,
        root: unescape(root),
        mount_point: unescape(mount_point),
        options: unescape(options),
        kind: unescape(filesystem.next()?),
        source: unescape(filesystem.next()?),
        super_options: unescape(filesystem.next()?),
    })
}

/// Undoes the kernel's escapes: a space, tab, newline, backslash or hash is a backslash and three octal digits.
pub(crate) fn unescape(field: &str) -> String {
    let mut parts = field.as_bytes().split(|byte| *byte == b'\\');
    let mut bytes = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        if let [
            high @ b'0'..=b'3',
            middle @ b'0'..=b'7',
            low @ b'0'..=b'7',
            rest @ ..,
        ] = part
        {
            bytes.push((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'));
            bytes.extend(rest);
        } else {
            bytes.push(b'\\');
            bytes.extend(part);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn only(line: &str) -> Mount {
        let mounts = parse(line);
        assert_eq!(mounts.len(), 1, "{line}");
        mounts.into_iter().next().unwrap()
    }

    #[test]
    fn every_field_of_the_manual_pages_example_is_found() {
        let line = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let expected = Mount {
            id: 36,
            number: DeviceNumber {
                major: 98,
                minor: 0,
            },
            root: "/mnt1".to_owned(),
            mount_point: "/mnt2".to_owned(),
            options: "rw,noatime".to_owned(),
            kind: "ext3".to_owned(),
            source: "/dev/root".to_owned(),
            super_options: "rw,errors=continue".to_owned(),
        };
        assert_eq!(only(line), expected);
        assert_eq!(only(line).all_options(), "rw,noatime,errors=continue");
    }

    #[test]
    fn a_mount_may_have_no_optional_field_or_several() {
        let none = only("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resuid=65534");
        assert_eq!(
            (none.kind.as_str(), none.source.as_str()),
            ("ext4", "/dev/vda")
        );
        let several = only(
            "64 29 8:2 / /mnt rw shared:31 master:5 propagate_from:2 unbindable - xfs /dev/sda2 rw",
        );
        assert_eq!(
            (several.kind.as_str(), several.source.as_str()),
            ("xfs", "/dev/sda2")
        );
    }

    #[test]
    fn a_btrfs_subvolume_has_an_anonymous_number_and_its_own_root() {
        let mount = only(
            "29 1 0:26 /@home /home rw,noatime shared:15 - btrfs /dev/nvme0n1p2 \
             rw,compress=zstd:1,ssd,space_cache=v2,subvolid=257,subvol=/@home",
        );
        assert!(mount.number.is_anonymous());
        assert_eq!(mount.root, "/@home");
        assert_eq!(
            mount.all_options(),
            "rw,noatime,compress=zstd:1,ssd,space_cache=v2,subvolid=257,subvol=/@home"
        );
    }

    #[test]
    fn an_overlay_names_no_device() {
        let mount = only(
            "1034 782 0:63 / / rw,relatime master:322 - overlay overlay \
             rw,lowerdir=/var/lib/docker/overlay2/l/A:/var/lib/docker/overlay2/l/B,upperdir=/u,workdir=/w",
        );
        assert_eq!(
            (mount.kind.as_str(), mount.source.as_str()),
            ("overlay", "overlay")
        );
    }

    #[test]
    fn a_bind_mount_keeps_the_source_of_its_filesystem() {
        let mount = only(
            "1051 1034 259:2 /var/lib/docker/volumes/v/_data /data rw,relatime master:1 - ext4 \
             /dev/nvme0n1p2 rw,errors=remount-ro",
        );
        assert_eq!(mount.root, "/var/lib/docker/volumes/v/_data");
        assert_eq!(mount.mount_point, "/data");
        assert_eq!(mount.source, "/dev/nvme0n1p2");
    }

    #[test]
    fn a_filesystem_in_user_space_keeps_its_subtype() {
        let mount = only(
            "95 28 0:52 / /mnt/server rw,nosuid,nodev,relatime shared:50 - fuse.sshfs \
             me@server:/data rw,user_id=1000,group_id=1000",
        );
        assert_eq!(mount.kind, "fuse.sshfs");
        assert_eq!(mount.source, "me@server:/data");
    }

    #[test]
    fn escaped_characters_are_put_back() {
        let mount = only(r"97 28 8:17 / /media/My\040Disk\011\134\043 rw - vfat /dev/sdb1 rw");
        assert_eq!(mount.mount_point, "/media/My Disk\t\\#");
        assert_eq!(unescape(r"caf\303\251"), "café");
    }

    #[test]
    fn other_backslashes_are_kept() {
        assert_eq!(unescape(r"\04 \400 \08x \"), r"\04 \400 \08x \");
    }

    #[test]
    fn an_empty_source_does_not_shift_the_options() {
        let mount = only("44 22 0:40 / /mnt rw - tmpfs  rw,size=1024k");
        assert_eq!(
            (mount.source.as_str(), mount.super_options.as_str()),
            ("", "rw,size=1024k")
        );
    }

    #[test]
    fn a_quoted_option_is_one_option() {
        let mount = only(
            "44 22 0:40 / /mnt rw,c2 - tmpfs tmpfs rw,context=\"system_u:object_r:tmp_t:s0:c1,c2\",size=4k",
        );
        assert_eq!(
            mount.all_options(),
            "rw,c2,context=\"system_u:object_r:tmp_t:s0:c1,c2\",size=4k"
        );
    }

    #[test]
    fn a_field_that_looks_like_the_separator_is_a_field() {
        let mount = only("27 1 254:0 - - rw shared:1 - ext4 /dev/vda rw");
        assert_eq!(
            (
                mount.root.as_str(),
                mount.mount_point.as_str(),
                mount.kind.as_str()
            ),
            ("-", "-", "ext4")
        );
    }

    #[test]
    fn a_broken_line_hides_no_other() {
        let mounts =
            parse("nonsense\n\n27 1 254:0 / / rw - ext4 /dev/vda rw\n28 1 x / / rw - ext4 a rw\n");
        assert_eq!(
            mounts.iter().map(|mount| mount.id).collect::<Vec<_>>(),
            [27]
        );
    }

    fn escape(field: &str) -> String {
        let escaped = |byte: u8| match byte {
            b' ' | b'\t' | b'\n' | b'\\' | b'#' => format!("\\{byte:03o}").into_bytes(),
            _ => vec![byte],
        };
        String::from_utf8(field.bytes().flat_map(escaped).collect()).unwrap()
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            parse(&text).iter().for_each(|mount| drop(mount.all_options()));
        }

        #[test]
        fn no_text_of_nearly_the_right_shape_makes_it_panic(
            text in r#"[0-9]{1,25} 1 [0-9]{1,12}:?[0-9]{1,12} [\\0-9é/ ]{0,9} /\\[0-9]{0,4} [rw,"]{0,5} -? [a-z]? .{0,9}"#
        ) {
            parse(&text).iter().for_each(|mount| drop(mount.all_options()));
        }

        #[test]
        fn a_mount_point_survives_the_kernels_escapes(path in any::<String>()) {
            let line = format!("27 1 254:0 / {} rw - ext4 /dev/vda rw", escape(&path));
            prop_assert_eq!(only(&line).mount_point, path);
        }
    }
}
