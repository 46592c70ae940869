//! The files and directories of the filesystem in memory.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};
use rustix::io::Errno;

/// A file or a directory.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    permissions: u16,
    /// The size that is reported instead of the true one.
    pub(super) reported_size: Option<u64>,
    /// The number of a watched file.
    pub(super) watched: Option<usize>,
    /// A file or directory without a name remains until the kernel forgets it.
    has_name: bool,
}

#[derive(Debug)]
pub(super) enum Content {
    Directory(BTreeMap<OsString, u64>),
    File(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Tree {
    nodes: HashMap<u64, Node>,
    /// The number of the next file or directory. Numbers are not used again.
    next: u64,
}

impl Default for Tree {
    fn default() -> Self {
        let root = Node::new(Content::Directory(BTreeMap::new()), 0o755);
        Self {
            nodes: HashMap::from([(INodeNo::ROOT.0, root)]),
            next: INodeNo::ROOT.0 + 1,
        }
    }
}

impl Tree {
    pub(super) fn node(&mut self, number: INodeNo) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&number.0).ok_or(Errno::STALE)
    }

    pub(super) fn data(&mut self, number: INodeNo) -> Result<&mut Vec<u8>, Errno> {
        match &mut self.node(number)?.content {
            Content::File(data) => Ok(data),
            Content::Directory(_) => Err(Errno::ISDIR),
        }
    }

    pub(super) fn names(&mut self, number: INodeNo) -> Result<&mut BTreeMap<OsString, u64>, Errno> {
        match &mut self.node(number)?.content {
            Content::Directory(names) => Ok(names),
            Content::File(_) => Err(Errno::NOTDIR),
        }
    }

    pub(super) fn find(&mut self, parent: INodeNo, name: &OsStr) -> Result<INodeNo, Errno> {
        self.names(parent)?
            .get(name)
            .map(|&number| INodeNo(number))
            .ok_or(Errno::NOENT)
    }

    pub(super) fn add(
        &mut self,
        parent: INodeNo,
        name: &OsStr,
        content: Content,
        mode: u32,
    ) -> Result<INodeNo, Errno> {
        let number = self.next;
        self.names(parent)?.insert(name.to_owned(), number);
        self.next += 1;
        let permissions = u16::try_from(mode & 0o7777).unwrap_or_default();
        self.nodes.insert(number, Node::new(content, permissions));
        Ok(INodeNo(number))
    }

    pub(super) fn remove(&mut self, parent: INodeNo, name: &OsStr) -> Result<(), Errno> {
        let number = self.find(parent, name)?;
        if matches!(&self.node(number)?.content, Content::Directory(names) if !names.is_empty()) {
            return Err(Errno::NOTEMPTY);
        }
        self.names(parent)?.remove(name);
        self.node(number)?.has_name = false;
        Ok(())
    }

    /// The kernel no longer knows the number, so nobody has the file open.
    pub(super) fn forget(&mut self, number: INodeNo) {
        if self.nodes.get(&number.0).is_some_and(|node| !node.has_name) {
            self.nodes.remove(&number.0);
        }
    }

    pub(super) fn rename(
        &mut self,
        from: (INodeNo, &OsStr),
        to: (INodeNo, &OsStr),
    ) -> Result<(), Errno> {
        let number = self.find(from.0, from.1)?;
        self.names(from.0)?.remove(from.1);
        let replaced = self.names(to.0)?.insert(to.1.to_owned(), number.0);
        if let Some(replaced) = replaced.filter(|&replaced| replaced != number.0) {
            self.node(INodeNo(replaced))?.has_name = false;
        }
        Ok(())
    }

    pub(super) fn attributes(&mut self, number: INodeNo) -> Result<FileAttr, Errno> {
        let node = self.node(number)?;
        let size = match &node.content {
            Content::Directory(_) => 0,
            Content::File(data) => data.len() as u64,
        };
        let size = node.reported_size.unwrap_or(size);
        let time = SystemTime::UNIX_EPOCH;
        Ok(FileAttr {
            ino: number,
            size,
            blocks: size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: node.kind(),
            perm: node.permissions,
            nlink: 1,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Node {
    fn new(content: Content, permissions: u16) -> Self {
        Self {
            content,
            permissions,
            reported_size: None,
            watched: None,
            has_name: true,
        }
    }

    pub(super) fn kind(&self) -> FileType {
        match self.content {
            Content::Directory(_) => FileType::Directory,
            Content::File(_) => FileType::RegularFile,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_directory_can_be_removed() {
        let mut tree = Tree::default();
        let name = OsStr::new("a");
        let directory = tree
            .add(
                INodeNo::ROOT,
                name,
                Content::Directory(BTreeMap::new()),
                0o700,
            )
            .unwrap();
        let file = tree
            .add(directory, name, Content::File(vec![1, 2]), 0o600)
            .unwrap();
        assert_eq!(tree.attributes(file).unwrap().size, 2);
        assert_eq!(tree.remove(INodeNo::ROOT, name), Err(Errno::NOTEMPTY));
        tree.remove(directory, name).unwrap();
        tree.remove(INodeNo::ROOT, name).unwrap();
        assert_eq!(tree.find(INodeNo::ROOT, name), Err(Errno::NOENT));
        assert!(tree.data(file).is_ok(), "open files outlive their names");
    }

    /// Studies write many times the memory of the machine.
    #[test]
    fn only_a_file_without_a_name_is_forgotten() {
        let mut tree = Tree::default();
        let [one, other] = ["one", "other"].map(OsStr::new);
        let mut add = |name| {
            let content = Content::File(vec![1]);
            tree.add(INodeNo::ROOT, name, content, 0o600).unwrap()
        };
        let (first, second) = (add(one), add(other));
        tree.forget(first);
        assert!(tree.data(first).is_ok());
        let place = |name| (INodeNo::ROOT, name);
        tree.rename(place(one), place(other)).unwrap();
        tree.forget(second);
        assert_eq!(tree.data(second), Err(Errno::STALE));
        tree.remove(INodeNo::ROOT, other).unwrap();
        tree.forget(first);
        assert_eq!(tree.data(first), Err(Errno::STALE));
    }
}
