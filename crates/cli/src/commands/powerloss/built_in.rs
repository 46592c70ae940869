//! The check without `--verify`: each file is as before the program or as after it.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use writebench_model::Bytes;

/// The regular files of a filesystem, by their paths in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tree(BTreeMap<PathBuf, Content>);

/// The content of a file. Contents of the same length and hash are taken for equal.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Bytes {
        length: u64,
        hash: u64,
        zero_from: Option<u64>,
    },
    Unreadable(String),
}

impl Tree {
    /// Symbolic links are not followed.
    pub(super) fn read(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        read_into(root, Path::new(""), &mut files);
        Self(files)
    }
}

fn read_into(root: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Content>) {
    let entries = match fs::read_dir(root.join(below)) {
        Ok(entries) => entries,
        Err(error) => {
            files.insert(below.to_owned(), Content::Unreadable(reason(&error)));
            return;
        }
    };
    for entry in entries.flatten() {
        let path = below.join(entry.file_name());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            read_into(root, &path, files);
        } else if kind.is_file() && entry.file_name() != writebench_powerloss::OTHER_PROGRAM {
            files.insert(path, Content::read(&entry.path()));
        }
    }
}

impl Content {
    fn read(path: &Path) -> Self {
        match fs::read(path) {
            Ok(bytes) => Self::of(&bytes),
            Err(error) => Self::Unreadable(reason(&error)),
        }
    }

    fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        let zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
        Self::Bytes {
            length: bytes.len() as u64,
            hash: hasher.finish(),
            zero_from: (zeros > 0).then_some((bytes.len() - zeros) as u64),
        }
    }

    /// `is empty`
    fn words(&self) -> String {
        match self {
            Self::Unreadable(why) => format!("cannot be read: {why}"),
            Self::Bytes { length: 0, .. } => "is empty".to_owned(),
            Self::Bytes {
                length,
                zero_from: Some(0),
                ..
            } => {
                format!("has {} of zeros", Bytes(*length).approximate())
            }
            Self::Bytes {
                length,
                zero_from: Some(from),
                ..
            } => format!(
                "has {}, with zeros from byte {from}",
                Bytes(*length).approximate()
            ),
            Self::Bytes { length, .. } => {
                format!("has {} of other content", Bytes(*length).approximate())
            }
        }
    }
}

fn reason(error: &io::Error) -> String {
    writebench_model::Failure::io_message(error)
}

/// What a program has promised by replacing files, and by saying that its data is durable.
#[derive(Debug)]
pub(super) struct BuiltIn {
    old: Tree,
    new: Tree,
    /// How often the program has said that its data is durable.
    promises: usize,
}

impl BuiltIn {
    pub(super) fn new(old: Tree, new: Tree, promises: usize) -> Self {
        Self { old, new, promises }
    }

    /// Whether some file can have a wrong content at some time.
    pub(super) fn checks_something(&self) -> bool {
        !self.old.0.is_empty() || (self.promises > 0 && !self.new.0.is_empty())
    }

    /// After the last promise, the files are as the program left them. Before, those that were there have the old or the
    /// new content, and nothing is known of new ones.
    pub(super) fn check(&self, root: &Path, durable: usize) -> Result<(), String> {
        let now = Tree::read(root);
        if self.promises > 0 && durable >= self.promises {
            for (path, new) in &self.new.0 {
                let found = now.0.get(path);
                let old = self.old.0.get(path).filter(|old| *old != new);
                if found.is_some() && found == old {
                    return Err(format!("{} has its old content", path.display()));
                }
                expect(path, found, &[new], false)?;
            }
            return Ok(());
        }
        for (path, old) in &self.old.0 {
            let new = self.new.0.get(path);
            let allowed: Vec<&Content> = [Some(old), new].into_iter().flatten().collect();
            expect(path, now.0.get(path), &allowed, new.is_none())?;
        }
        Ok(())
    }
}

fn expect(
    path: &Path,
    found: Option<&Content>,
    allowed: &[&Content],
    may_be_absent: bool,
) -> Result<(), String> {
    let path = path.display();
    match found {
        Some(found) if allowed.contains(&found) => Ok(()),
        Some(found) => Err(format!("{path} {}", found.words())),
        None if may_be_absent => Ok(()),
        None => Err(format!("{path} is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &[u8])]) -> Tree {
        let content = |(name, bytes): &(&str, &[u8])| (PathBuf::from(name), Content::of(bytes));
        Tree(files.iter().map(content).collect())
    }

    /// The verdict on a directory with these files.
    fn said(check: &BuiltIn, files: &[(&str, &[u8])], durable: usize) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        check.check(directory.path(), durable).err()
    }

    #[test]
    fn a_replaced_file_is_old_or_new_and_new_after_the_promise() {
        let check = BuiltIn::new(tree(&[("f", b"old")]), tree(&[("f", b"new")]), 1);
        assert!(check.checks_something());
        for now in [b"old", b"new"] {
            assert_eq!(said(&check, &[("f", now), ("f.tmp", b"n")], 0), None);
        }
        assert_eq!(said(&check, &[("f", b"")], 0).unwrap(), "f is empty");
        assert_eq!(
            said(&check, &[("f", b"\0\0\0")], 0).unwrap(),
            "f has 3 B of zeros"
        );
        assert_eq!(
            said(&check, &[("f", b"ne\0")], 0).unwrap(),
            "f has 3 B, with zeros from byte 2"
        );
        assert_eq!(said(&check, &[], 0).unwrap(), "f is missing");
        assert_eq!(said(&check, &[("f", b"new")], 1), None);
        assert_eq!(
            said(&check, &[("f", b"old")], 1).unwrap(),
            "f has its old content"
        );
    }

    #[test]
    fn a_new_file_is_promised_only_when_it_is_durable() {
        let check = BuiltIn::new(tree(&[]), tree(&[("f", b"new")]), 1);
        assert!(check.checks_something());
        assert_eq!(said(&check, &[("f", b"ne")], 0), None);
        assert_eq!(
            said(&check, &[("f", b"ne")], 1).unwrap(),
            "f has 2 B of other content"
        );
        assert!(!BuiltIn::new(tree(&[]), tree(&[("f", b"new")]), 0).checks_something());
    }

    #[test]
    fn a_file_that_the_program_removes_may_still_be_there_and_one_that_it_leaves_alone_must_be() {
        let check = BuiltIn::new(tree(&[("a", b"a"), ("b", b"b")]), tree(&[("b", b"b")]), 0);
        assert_eq!(said(&check, &[("a", b"a"), ("b", b"b")], 0), None);
        assert_eq!(said(&check, &[("b", b"b")], 0), None);
        assert_eq!(said(&check, &[("a", b"a")], 0).unwrap(), "b is missing");
    }
}
