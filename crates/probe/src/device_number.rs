use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// The kernel's number of a block device or of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl DeviceNumber {
    pub(crate) fn from_stat(number: u64) -> Self {
        Self {
            major: rustix::fs::major(number),
            minor: rustix::fs::minor(number),
        }
    }

    /// Whether it belongs to a filesystem without a single device: tmpfs, btrfs, overlay, NFS.
    pub(crate) fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

/// The text has the form `254:0` of `/sys/dev/block` and of mountinfo.
impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        // If the colon is missing, the empty minor number fails to parse.
        let (major, minor) = text.split_once(':').unwrap_or((text, ""));
        Ok(Self {
            major: major.parse()?,
            minor: minor.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_survives_its_text() {
        let number = DeviceNumber {
            major: 259,
            minor: 1_048_575,
        };
        assert_eq!(number.to_string().parse(), Ok(number));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "8", "8:", ":1", "8:1:2", "a:b", "-1:0"] {
            assert!(text.parse::<DeviceNumber>().is_err(), "{text}");
        }
    }
}
