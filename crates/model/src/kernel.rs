//! Releases of the kernel, and what they change.

use std::fmt;

/// The first two numbers of a kernel's release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelRelease(pub u32, pub u32);

impl KernelRelease {
    /// Reads `6.18.44-fc` as 6.18. None for other text.
    pub fn parse(release: &str) -> Option<Self> {
        let mut numbers = release.split(['.', '-']);
        let mut next = || numbers.next()?.parse().ok();
        Some(Self(next()?, next()?))
    }
}

impl fmt::Display for KernelRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// A change of the kernel that can change how fast a value of an axis is. `docs/reference/requirements.md`
/// has them with other changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelChange {
    pub since: KernelRelease,
    /// A clause about these and later kernels.
    pub what: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_begins_with_two_numbers() {
        let release = |text| KernelRelease::parse(text);
        assert_eq!(release("6.18.44-fc"), Some(KernelRelease(6, 18)));
        assert_eq!(release("5.12-rc1"), Some(KernelRelease(5, 12)));
        assert_eq!(release("unknown"), None);
        assert!(release("6.18.44") < release("7.2.0"));
    }
}
