//! The files below that the kernel knows, by the numbers that we gave it for them.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use fuser::INodeNo;
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

/// Device and inode of the file below.
type Identity = (u64, u64);

/// The files below that the kernel knows. Each is held by a descriptor, so that its inode is not used again meanwhile.
#[derive(Debug)]
pub(super) struct Inodes {
    by_number: HashMap<u64, Inode>,
    by_identity: HashMap<Identity, u64>,
    next: u64,
}

#[derive(Debug)]
struct Inode {
    file: Arc<OwnedFd>,
    identity: Identity,
    /// How often the kernel was told the number, less what it has forgotten.
    lookups: u64,
}

impl Inodes {
    pub(super) fn new(root: OwnedFd) -> Result<Self, Errno> {
        let identity = identity(&rustix::fs::fstat(&root)?);
        let number = INodeNo::ROOT.0;
        // The kernel never forgets the root.
        let root = Inode { file: Arc::new(root), identity, lookups: u64::MAX / 2 };
        Ok(Self {
            by_number: HashMap::from([(number, root)]),
            by_identity: HashMap::from([(identity, number)]),
            next: number + 1,
        })
    }

    pub(super) fn get(&self, number: INodeNo) -> Result<Arc<OwnedFd>, Errno> {
        self.by_number.get(&number.0).map(|inode| Arc::clone(&inode.file)).ok_or(Errno::STALE)
    }

    /// The number of a file that the kernel is about to be told of.
    pub(super) fn remember(&mut self, file: OwnedFd, stat: &Stat) -> INodeNo {
        let identity = identity(stat);
        let number = *self.by_identity.entry(identity).or_insert(self.next);
        if number == self.next {
            self.next += 1;
        }
        let inode = self.by_number.entry(number);
        inode.or_insert_with(|| Inode { file: Arc::new(file), identity, lookups: 0 }).lookups += 1;
        INodeNo(number)
    }

    pub(super) fn forget(&mut self, number: INodeNo, lookups: u64) {
        let Some(inode) = self.by_number.get_mut(&number.0) else { return };
        inode.lookups = inode.lookups.saturating_sub(lookups);
        if inode.lookups == 0 {
            let identity = inode.identity;
            self.by_number.remove(&number.0);
            self.by_identity.remove(&identity);
        }
    }
}

fn identity(stat: &Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

/// A path that leads to what a descriptor refers to, whatever has become of its name.
pub(super) fn path(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The same file, opened to be used.
pub(super) fn reopen(file: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path(file), flags | OFlags::CLOEXEC, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &std::path::Path) -> (OwnedFd, Stat) {
        let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let stat = rustix::fs::fstat(&file).unwrap();
        (file, stat)
    }

    #[test]
    fn a_file_keeps_its_number_until_it_is_forgotten_as_often_as_it_was_told() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("a");
        std::fs::write(&name, "").unwrap();
        let mut inodes = Inodes::new(file(directory.path()).0).unwrap();
        let remember = |inodes: &mut Inodes| {
            let (file, stat) = file(&name);
            inodes.remember(file, &stat)
        };
        let number = remember(&mut inodes);
        assert_eq!(remember(&mut inodes), number);
        inodes.forget(number, 1);
        assert!(inodes.get(number).is_ok());
        inodes.forget(number, 1);
        assert!(matches!(inodes.get(number), Err(Errno::STALE)));
        assert_ne!(remember(&mut inodes), number);
        inodes.forget(INodeNo::ROOT, 1);
        assert!(inodes.get(INodeNo::ROOT).is_ok());
    }
}
