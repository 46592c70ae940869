use writebench_probe::{DeviceUse, Edge, UseEnd};

/// The text follows the device's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    #[error("{}", in_words(.0))]
    Used(DeviceUse),
    /// The kernel refuses exclusive access to another device with the same bytes.
    #[error(
        "shares its bytes with {0}, which is in use by the kernel: end its use by a filesystem, swap, RAID \
         or another program first"
    )]
    AliasBusy(String),
    #[error("is not overwritten: {0}")]
    UnknownUse(String),
    /// The kernel refuses exclusive access to the device.
    #[error(
        "is in use by the kernel: end its use by a filesystem, swap, RAID or another program first"
    )]
    Busy,
    #[error("is read-only: make it writable, or name another device")]
    ReadOnly,
    #[error("has {size_bytes} bytes, less than one sector of {sector_bytes}: name another device")]
    TooSmall { size_bytes: u64, sector_bytes: u64 },
    #[error("has partitions ({0}): add --destroy-data to overwrite them")]
    Partitioned(String),
    #[error("carries {0}: add --destroy-data to overwrite it")]
    CarriesData(String),
    #[error("is not overwritten: its content is unknown, {0}. Add --destroy-data to overwrite it")]
    CannotTell(String),
    #[error("became another device during its inspection: check the path, and try again")]
    Changed,
}

/// Names by users and makers may contain any character.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(char::is_control, "?")
}

/// The path from the device to its use, and the remedy: `is used by loop1, which is mounted at /mnt:
/// unmount it first`.
fn in_words(used: &DeviceUse) -> String {
    let mut text = String::new();
    let mut then = "";
    for edge in &used.edges {
        match edge {
            Edge::Partition(name) if text.is_empty() => {
                text += &format!("(its partition {})", one_line(name));
            }
            Edge::Partition(name) => text += &format!(", whose partition {}", one_line(name)),
            Edge::Loop(name) | Edge::Holder(name) => {
                text += &format!("{then}is used by {}", one_line(name));
            }
            Edge::SameBytes(name) => {
                text += &format!("{then}shares its bytes with {}", one_line(name));
            }
        }
        then = if matches!(edge, Edge::Partition(_)) {
            " "
        } else {
            ", which "
        };
    }
    match &used.end {
        UseEnd::Mounted(points) => {
            let points: Vec<String> = points.iter().map(|point| one_line(point)).collect();
            text + &format!(
                "{then}is mounted at {}: unmount it first",
                points.join(", ")
            )
        }
        UseEnd::Swap => text + then + "is used as swap: swapoff it first",
        UseEnd::Attached => match used.edges.last() {
            Some(Edge::Loop(name)) => {
                text + &format!(
                    ": detach it first (losetup --detach /dev/{})",
                    one_line(name)
                )
            }
            _ => text + ": take that down first",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(edges: &[Edge], end: UseEnd) -> String {
        ClaimError::Used(DeviceUse {
            edges: edges.to_vec(),
            end,
        })
        .to_string()
    }

    fn mounted(points: &[&str]) -> UseEnd {
        UseEnd::Mounted(points.iter().map(|&point| point.to_owned()).collect())
    }

    #[test]
    fn the_path_to_a_devices_user_is_a_sentence() {
        let partition = |name: &str| Edge::Partition(name.to_owned());
        let over = |name: &str| Edge::Loop(name.to_owned());
        let held = Edge::Holder("dm-0 (vg0-root)".to_owned());
        let same = Edge::SameBytes("loop1".to_owned());
        for (edges, end, sentence) in [
            (
                &[][..],
                mounted(&["/a", "/b\nc"]),
                "is mounted at /a, /b?c: unmount it first",
            ),
            (&[], UseEnd::Swap, "is used as swap: swapoff it first"),
            (
                &[partition("sdb2")],
                mounted(&["/a"]),
                "(its partition sdb2) is mounted at /a: unmount it first",
            ),
            (
                &[partition("sdb1"), held.clone()],
                UseEnd::Attached,
                "(its partition sdb1) is used by dm-0 (vg0-root): take that down first",
            ),
            (
                &[held, over("loop3"), partition("loop3p1")],
                mounted(&["/a"]),
                "is used by dm-0 (vg0-root), which is used by loop3, whose partition loop3p1 is mounted at /a: \
                 unmount it first",
            ),
            (
                &[over("loop1"), over("loop2")],
                UseEnd::Attached,
                "is used by loop1, which is used by loop2: detach it first (losetup --detach /dev/loop2)",
            ),
            (
                &[same],
                UseEnd::Swap,
                "shares its bytes with loop1, which is used as swap: swapoff it first",
            ),
        ] {
            assert_eq!(refusal(edges, end), sentence);
        }
    }
}
