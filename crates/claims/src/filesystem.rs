use writebench_testkit::Need;

/// A filesystem that keeps the claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filesystem {
    Ext4,
    /// Repaired by e2fsck before the mount.
    Ext4NoJournal,
    Ext4FastCommit,
    /// A rename does not start to write the file's data.
    Ext4NoAutoDaAlloc,
    Xfs,
    Btrfs,
}

impl Filesystem {
    pub const ALL: [Self; 6] = [
        Self::Ext4,
        Self::Xfs,
        Self::Btrfs,
        Self::Ext4NoJournal,
        Self::Ext4FastCommit,
        Self::Ext4NoAutoDaAlloc,
    ];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Ext4NoJournal => "ext4 without a journal",
            Self::Ext4FastCommit => "ext4, fast_commit",
            Self::Ext4NoAutoDaAlloc => "ext4, noauto_da_alloc",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// The name for writebench's own recipes.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Ext4NoJournal => "ext4-no-journal",
            _ => self.family(),
        }
    }

    /// The word in `mkfs.FAMILY`.
    fn family(self) -> &'static str {
        match self {
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            _ => "ext4",
        }
    }

    pub(crate) fn mkfs_options(self) -> Vec<String> {
        match self {
            Self::Ext4FastCommit => ["-O", "fast_commit"].map(str::to_owned).to_vec(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn mount_options(self) -> Option<&'static str> {
        (self == Self::Ext4NoAutoDaAlloc).then_some("noauto_da_alloc")
    }

    pub(crate) fn needs(self) -> [Need; 2] {
        [Need::Fuse, Need::Image(self.family())]
    }
}
