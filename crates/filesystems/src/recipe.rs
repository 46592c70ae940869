//! How to make a filesystem of each kind: the arguments of mkfs and the options of mount.

/// How to make the filesystem of a kind.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// The word in `mkfs.FAMILY` and `mount -t FAMILY`.
    pub(crate) family: String,
    /// How many devices it spans. A filesystem in memory has none.
    pub(crate) devices: u64,
    mkfs_words: &'static [&'static str],
    mount_options: &'static [&'static str],
}

/// A kind whose name differs from its family, or that needs arguments or options.
struct KnownKind {
    name: &'static str,
    family: &'static str,
    devices: u64,
    mkfs_words: &'static [&'static str],
    mount_options: &'static [&'static str],
    /// Whether it is compared if a user names no kinds.
    is_default: bool,
}

/// A kind that needs nothing special.
const PLAIN: KnownKind = KnownKind {
    name: "",
    family: "",
    devices: 1,
    mkfs_words: &[],
    mount_options: &[],
    is_default: true,
};

/// Discards would punch holes into the image. Lazy initialisation would write after the mount, during some
/// sample.
const EXT_EXTENDED: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";

const KINDS: &[KnownKind] = &[
    KnownKind {
        name: "ext4",
        family: "ext4",
        mkfs_words: &["-q", "-E", EXT_EXTENDED],
        ..PLAIN
    },
    KnownKind {
        name: "ext4-no-journal",
        family: "ext4",
        mkfs_words: &["-q", "-E", EXT_EXTENDED, "-O", "^has_journal"],
        ..PLAIN
    },
    KnownKind {
        name: "ext3",
        family: "ext3",
        mkfs_words: &["-q", "-E", EXT_EXTENDED],
        ..PLAIN
    },
    KnownKind {
        name: "ext2",
        family: "ext2",
        mkfs_words: &["-q", "-E", EXT_EXTENDED],
        ..PLAIN
    },
    KnownKind {
        name: "xfs",
        family: "xfs",
        mkfs_words: &["-q", "-K"],
        ..PLAIN
    },
    KnownKind {
        name: "btrfs",
        family: "btrfs",
        mkfs_words: &["-q", "-K"],
        mount_options: &["nodiscard"],
        ..PLAIN
    },
    KnownKind {
        name: "btrfs-no-checksums",
        family: "btrfs",
        mkfs_words: &["-q", "-K"],
        mount_options: &["nodiscard", "nodatasum"],
        ..PLAIN
    },
    KnownKind {
        name: "btrfs-raid0",
        family: "btrfs",
        devices: 2,
        mkfs_words: &["-q", "-K", "-d", "raid0", "-m", "raid0"],
        mount_options: &["nodiscard"],
        ..PLAIN
    },
    KnownKind {
        name: "tmpfs",
        family: "tmpfs",
        devices: 0,
        ..PLAIN
    },
    KnownKind {
        name: "tmpfs-huge",
        family: "tmpfs",
        devices: 0,
        mount_options: &["huge=always"],
        ..PLAIN
    },
    KnownKind {
        name: "f2fs",
        family: "f2fs",
        mkfs_words: &["-t", "0"],
        mount_options: &["nodiscard"],
        is_default: false,
        ..PLAIN
    },
    KnownKind {
        name: "nilfs2",
        family: "nilfs2",
        mkfs_words: &["-K"],
        mount_options: &["nodiscard"],
        is_default: false,
        ..PLAIN
    },
    KnownKind {
        name: "jfs",
        family: "jfs",
        // Without `-q`, mkfs.jfs asks for confirmation.
        mkfs_words: &["-q"],
        is_default: false,
        ..PLAIN
    },
];

/// The names of the kinds that are compared if a user names none.
pub(crate) fn defaults() -> impl Iterator<Item = &'static str> {
    KINDS
        .iter()
        .filter(|kind| kind.is_default)
        .map(|kind| kind.name)
}

impl Recipe {
    /// An unknown kind is its own family, with one device.
    pub(crate) fn for_kind(base: &str) -> Self {
        let known = KINDS.iter().find(|kind| kind.name == base);
        let kind = known.unwrap_or(&PLAIN);
        Self {
            family: known.map_or(base, |kind| kind.family).to_owned(),
            devices: kind.devices,
            mkfs_words: kind.mkfs_words,
            mount_options: kind.mount_options,
        }
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        self.devices == 0
    }

    /// The name of the program that makes the filesystem.
    pub(crate) fn mkfs(&self) -> String {
        format!("mkfs.{}", self.family)
    }

    /// The arguments of mkfs: writebench's own, then the user's, then the devices.
    pub(crate) fn mkfs_words(&self, user: &[String], devices: &[String]) -> Vec<String> {
        let mut words: Vec<String> = self
            .mkfs_words
            .iter()
            .map(|&word| word.to_owned())
            .collect();
        let mut user = user.iter();
        while let Some(word) = user.next() {
            let ours = words.iter().position(|ours| ours == word);
            match ours.filter(|_| self.takes_one_list(word)) {
                Some(option) => match user.next() {
                    Some(list) => words[option + 1] = format!("{},{list}", words[option + 1]),
                    None => words.push(word.clone()),
                },
                None => words.push(word.clone()),
            }
        }
        words.extend_from_slice(devices);
        words
    }

    /// mke2fs uses only the last list after each of these options, so writebench's and the user's must be one list.
    fn takes_one_list(&self, option: &str) -> bool {
        self.family.starts_with("ext") && matches!(option, "-E" | "-O")
    }

    /// The options of mount. The user's come last and override writebench's.
    pub(crate) fn mount_options(
        &self,
        size_bytes: u64,
        devices: &[String],
        user: Option<&str>,
    ) -> String {
        let mut options = Vec::new();
        if self.is_in_memory() {
            options.push(format!("size={size_bytes}"));
        }
        // Without the names of the other devices, mount would need a scan for them.
        if devices.len() > 1 {
            options.extend(devices.iter().map(|device| format!("device={device}")));
        }
        options.extend(self.mount_options.iter().map(|&option| option.to_owned()));
        options.extend(user.map(str::to_owned));
        options.join(",")
    }

    /// The Debian package with the mkfs of this family.
    pub(crate) fn package(&self) -> Option<&'static str> {
        Some(match self.family.as_str() {
            "ext2" | "ext3" | "ext4" => "e2fsprogs",
            "xfs" => "xfsprogs",
            "btrfs" => "btrfs-progs",
            "f2fs" => "f2fs-tools",
            "nilfs2" => "nilfs-tools",
            "jfs" => "jfsutils",
            "fat" | "msdos" | "vfat" => "dosfstools",
            "exfat" => "exfatprogs",
            "ntfs" => "ntfs-3g",
            "bcachefs" => "bcachefs-tools",
            "udf" => "udftools",
            "ocfs2" => "ocfs2-tools",
            "gfs2" => "gfs2-utils",
            "reiserfs" => "reiserfsprogs",
            "hfsplus" => "hfsprogs",
            "zfs" => "zfsutils-linux",
            "bfs" | "cramfs" | "minix" => "util-linux-extra",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mkfs(base: &str, user: &[&str]) -> String {
        let user: Vec<_> = user.iter().map(|&word| word.to_owned()).collect();
        Recipe::for_kind(base)
            .mkfs_words(&user, &["/dev/loop7".to_owned()])
            .join(" ")
    }

    #[test]
    fn user_options_follow_writebenchs_and_precede_the_device() {
        assert_eq!(
            mkfs("xfs", &["-m", "reflink=0"]),
            "-q -K -m reflink=0 /dev/loop7"
        );
        assert_eq!(mkfs("made-up", &[]), "/dev/loop7");
    }

    #[test]
    fn user_lists_do_not_replace_writebenchs_in_mke2fs() {
        assert_eq!(
            mkfs(
                "ext4-no-journal",
                &["-O", "^metadata_csum", "-E", "stride=4", "-b", "1024"]
            ),
            format!(
                "-q -E {EXT_EXTENDED},stride=4 -O ^has_journal,^metadata_csum -b 1024 /dev/loop7"
            )
        );
        assert_eq!(
            mkfs("ext4", &["-O", "bigalloc"]),
            format!("-q -E {EXT_EXTENDED} -O bigalloc /dev/loop7")
        );
    }

    #[test]
    fn user_mount_options_follow_writebenchs() {
        let devices = ["/dev/loop1".to_owned(), "/dev/loop2".to_owned()];
        let raid = Recipe::for_kind("btrfs-raid0").mount_options(
            0,
            &devices,
            Some("compress=zstd,noatime"),
        );
        assert_eq!(
            raid,
            "device=/dev/loop1,device=/dev/loop2,nodiscard,compress=zstd,noatime"
        );
        assert_eq!(
            Recipe::for_kind("tmpfs-huge").mount_options(4096, &[], None),
            "size=4096,huge=always"
        );
        assert_eq!(
            Recipe::for_kind("ext4").mount_options(0, &devices[..1], None),
            ""
        );
    }
}
