//! Options of a FUSE mount: flags of the mount, words for the kernel's FUSE, and one of our own.

use rustix::mount::MountFlags;

/// Options of a FUSE mount.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) flags: MountFlags,
    /// What the kernel's FUSE is to understand.
    pub(super) data: Vec<String>,
    /// Writes stay in the page cache until the kernel writes them back. Without it each goes through at once.
    pub(super) writeback_cache: bool,
}

const FLAGS: [(&str, MountFlags); 9] = [
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("nosuid", MountFlags::NOSUID),
    ("ro", MountFlags::RDONLY),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
];

impl Options {
    /// Of a list with commas.
    pub(super) fn parse(list: &str) -> Self {
        let mut options =
            Self { flags: MountFlags::NOSUID | MountFlags::NODEV, data: Vec::new(), writeback_cache: false };
        for word in list.split(',').filter(|word| !word.is_empty()) {
            match FLAGS.iter().find(|(name, _)| *name == word) {
                Some((_, flag)) => options.flags |= *flag,
                None if word == "writeback_cache" => options.writeback_cache = true,
                None if word == "rw" => {}
                None => options.data.push(word.to_owned()),
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_word_and_flags_do_not_reach_the_kernels_fuse() {
        let options = Options::parse("writeback_cache,noatime,max_read=65536,rw");
        assert!(options.writeback_cache);
        assert!(options.flags.contains(MountFlags::NOATIME));
        assert_eq!(options.data, ["max_read=65536"]);
        assert!(!Options::parse("").writeback_cache);
    }
}
