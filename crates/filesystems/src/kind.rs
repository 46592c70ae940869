use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::recipe::{self, Recipe};

/// A kind of filesystem, by its name on the command line.
///
/// `ext4-no-journal`, `btrfs-no-checksums`, `btrfs-raid0` and `tmpfs-huge` are variants. `overlay:KIND` and
/// `fuse:KIND` are layers over a filesystem of that kind. Any other word is a kind for `mkfs.KIND` and `mount
/// -t KIND`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilesystemKind {
    pub(crate) layer: Option<Layer>,
    pub(crate) base: String,
}

/// A filesystem that keeps its data on another filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// An overlayfs, whose upper and work directories are on the other filesystem.
    Overlay,
    /// bindfs, a server in user space that passes each request on to the other filesystem.
    Fuse,
}

impl Layer {
    /// Every layer, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::Overlay, Self::Fuse];

    /// The word before the colon in a kind's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Fuse => "fuse",
        }
    }

    /// The layer with this name, or `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

const MIB: u64 = 1 << 20;

impl FilesystemKind {
    /// The kinds that are compared if a user names none. Each later kind is compared with the first.
    #[must_use]
    pub fn defaults() -> Vec<Self> {
        let mut kinds = Vec::new();
        for base in recipe::defaults() {
            kinds.push(Self {
                layer: None,
                base: base.to_owned(),
            });
        }
        for layer in Layer::ALL {
            kinds.push(Self {
                layer: Some(layer),
                base: "ext4".to_owned(),
            });
        }
        kinds
    }

    /// Whether a separate server process is between the kernel and the filesystem below. A sync of one does not sync
    /// the other.
    #[must_use]
    pub fn has_server(&self) -> bool {
        self.layer == Some(Layer::Fuse)
    }

    /// Whether the data stays in memory, as on tmpfs and on a layer over it.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        Recipe::for_kind(&self.base).is_in_memory()
    }

    /// How large a filesystem of this kind is made, so that the content fits twice: copy-on-write keeps new data next
    /// to the old. 512 MiB are added for btrfs' metadata and for XFS, which needs at least 300 MiB.
    #[must_use]
    pub fn size_bytes(&self, content_bytes: u64) -> u64 {
        // Each of two images has a whole number of MiB.
        content_bytes
            .saturating_mul(2)
            .saturating_add(512 * MIB)
            .div_ceil(2 * MIB)
            .saturating_mul(2 * MIB)
    }

    /// The bytes of all images for a filesystem of this kind. A filesystem in memory needs none.
    #[must_use]
    pub fn image_bytes(&self, content_bytes: u64) -> u64 {
        if self.is_in_memory() {
            0
        } else {
            self.size_bytes(content_bytes)
        }
    }
}

impl fmt::Display for FilesystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layer {
            Some(layer) => write!(f, "{}:{}", layer.name(), self.base),
            None => f.write_str(&self.base),
        }
    }
}

/// A kind of one filesystem on one disk, without a layer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DiskKind(FilesystemKind);

impl DiskKind {
    pub(crate) fn base(&self) -> &str {
        &self.0.base
    }
}

impl fmt::Display for DiskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DiskKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let kind: FilesystemKind = name.parse()?;
        if kind.layer.is_none() && Recipe::for_kind(&kind.base).devices == 1 {
            Ok(Self(kind))
        } else {
            Err(Error::NotOneDisk {
                kind: kind.to_string(),
            })
        }
    }
}

const WORD: &str =
    "letters a-z, digits, '.' and '-', such as ext4, xfs, btrfs-raid0, tmpfs or f2fs";
const LAYERS: &str = "overlay:KIND or fuse:KIND with a plain KIND, such as overlay:ext4";

impl FromStr for FilesystemKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        parse(name).map_err(|fits| Error::Kind {
            name: name.to_owned(),
            fits,
        })
    }
}

/// The error says which names are accepted.
fn parse(name: &str) -> Result<FilesystemKind, &'static str> {
    let mut layer = None;
    let mut base = name;
    if let Some((before, after)) = name.split_once(':') {
        layer = Some(Layer::named(before).ok_or(LAYERS)?);
        base = after;
    }
    if Layer::named(base).is_some() || base.contains(':') {
        return Err(LAYERS);
    }
    if !is_word(base) {
        return Err(WORD);
    }
    Ok(FilesystemKind {
        layer,
        base: base.to_owned(),
    })
}

/// Whether it can be a part of a program's name, and never an option or a path.
fn is_word(base: &str) -> bool {
    base.starts_with(|c: char| c.is_ascii_alphanumeric())
        && base
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_parses_from_its_own_text() {
        for kind in FilesystemKind::defaults() {
            assert_eq!(kind.to_string().parse::<FilesystemKind>().unwrap(), kind);
        }
        for name in [
            "f2fs",
            "overlay:btrfs-raid0",
            "fuse:tmpfs",
            "ntfs-3g",
            "a.b",
        ] {
            assert_eq!(name.parse::<FilesystemKind>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn an_unknown_kind_is_refused_with_the_accepted_names() {
        for name in [
            "", "Ext4", "../sh", "-t", ".", "ext4 ", "a_b", "overlay:", "fuse:-x",
        ] {
            assert!(
                name.parse::<FilesystemKind>()
                    .unwrap_err()
                    .to_string()
                    .contains(WORD),
                "{name}"
            );
        }
        for name in [
            "overlay",
            "fuse",
            "overlay:fuse:ext4",
            "fuse:overlay",
            "ext4:xfs",
            ":ext4",
            "overlay:a:b",
        ] {
            assert!(
                name.parse::<FilesystemKind>()
                    .unwrap_err()
                    .to_string()
                    .contains(LAYERS),
                "{name}"
            );
        }
    }

    #[test]
    fn a_filesystem_in_memory_needs_no_images() {
        let kind = |name: &str| name.parse::<FilesystemKind>().unwrap();
        for name in ["tmpfs", "tmpfs-huge", "overlay:tmpfs"] {
            assert_eq!(kind(name).image_bytes(MIB), 0);
            assert_eq!(kind(name).size_bytes(MIB), 514 * MIB);
        }
        assert_eq!(kind("btrfs-raid0").image_bytes(MIB + 1), 516 * MIB);
        assert_eq!(kind("fuse:xfs").image_bytes(MIB), 514 * MIB);
    }
}
