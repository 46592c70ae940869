#[derive(Debug)]
pub(crate) struct Recipe {
    /// The word in `mkfs.FAMILY` and `mount -t FAMILY`.
    pub(crate) family: String,
    /// 0 in memory.
    pub(crate) devices: u64,
    mkfs_words: &'static [&'static str],
    mount_options: &'static [&'static str],
}

/// Discards would punch holes into the image. Lazy initialisation would write after the mount, during some
/// sample.
const EXT_EXTENDED: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";

/// The kind, its family, devices, arguments and options, and whether it is a default.
type KnownKind = (
    &'static str,
    &'static str,
    u64,
    &'static [&'static str],
    &'static [&'static str],
    bool,
);

const KINDS: &[KnownKind] = &[
    ("ext4", "ext4", 1, &["-q", "-E", EXT_EXTENDED], &[], true),
    (
        "ext4-no-journal",
        "ext4",
        1,
        &["-q", "-E", EXT_EXTENDED, "-O", "^has_journal"],
        &[],
        true,
    ),
    ("ext3", "ext3", 1, &["-q", "-E", EXT_EXTENDED], &[], true),
    ("ext2", "ext2", 1, &["-q", "-E", EXT_EXTENDED], &[], true),
    ("xfs", "xfs", 1, &["-q", "-K"], &[], true),
    ("btrfs", "btrfs", 1, &["-q", "-K"], &["nodiscard"], true),
    (
        "btrfs-no-checksums",
        "btrfs",
        1,
        &["-q", "-K"],
        &["nodiscard", "nodatasum"],
        true,
    ),
    (
        "btrfs-raid0",
        "btrfs",
        2,
        &["-q", "-K", "-d", "raid0", "-m", "raid0"],
        &["nodiscard"],
        true,
    ),
    ("tmpfs", "tmpfs", 0, &[], &[], true),
    ("tmpfs-huge", "tmpfs", 0, &[], &["huge=always"], true),
    ("f2fs", "f2fs", 1, &["-t", "0"], &["nodiscard"], false),
    ("nilfs2", "nilfs2", 1, &["-K"], &["nodiscard"], false),
    // Otherwise `mkfs.jfs` asks for confirmation.
    ("jfs", "jfs", 1, &["-q"], &[], false),
];

pub(crate) fn defaults() -> impl Iterator<Item = &'static str> {
    KINDS.iter().filter(|row| row.5).map(|row| row.0)
}

impl Recipe {
    pub(crate) fn for_kind(base: &str) -> Self {
        let known = KINDS.iter().find(|row| row.0 == base);
        let &(_, family, devices, mkfs_words, mount_options, _) =
            known.unwrap_or(&("", base, 1, &[], &[], false));
        Self {
            family: family.to_owned(),
            devices,
            mkfs_words,
            mount_options,
        }
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        self.devices == 0
    }

    pub(crate) fn mkfs_words(&self, user: &[String], devices: &[String]) -> Vec<String> {
        let mut words: Vec<String> = self
            .mkfs_words
            .iter()
            .map(|&word| word.to_owned())
            .collect();
        let mut user = user.iter();
        while let Some(word) = user.next() {
            // mke2fs uses only the last list of each option.
            let is_list = self.family.starts_with("ext") && matches!(word.as_str(), "-E" | "-O");
            let ours = words.iter().position(|ours| is_list && ours == word);
            match (ours, ours.and_then(|_| user.next())) {
                (Some(at), Some(list)) => words[at + 1] = format!("{},{list}", words[at + 1]),
                _ => words.push(word.clone()),
            }
        }
        words.extend_from_slice(devices);
        words
    }

    /// The user's options come last and override writebench's.
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
        // Naming the other devices saves a scan.
        if devices.len() > 1 {
            options.extend(devices.iter().map(|device| format!("device={device}")));
        }
        options.extend(self.mount_options.iter().map(|&option| option.to_owned()));
        options.extend(user.map(str::to_owned));
        options.join(",")
    }

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
