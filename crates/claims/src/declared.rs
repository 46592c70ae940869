//! All claims.

use std::collections::HashSet;

use anyhow::Result;
use writebench_model::{Case, Goal, Space};
use writebench_snippets::Language;

use crate::claim::{Claim, Expected, Promise};
use crate::filesystem::Filesystem::{self, Btrfs, Ext4, Ext4NoAutoDaAlloc, Xfs};
use crate::printed::{Form, Printed, printable};

const COMMON: &[Filesystem] = &[Ext4, Xfs, Btrfs];
/// [`COMMON`] with `noauto_da_alloc`: otherwise ext4 begins to write the data at a rename, and it may be there in time.
const WITHOUT_EARLY_WRITES: &[Filesystem] = &[Ext4NoAutoDaAlloc, Xfs, Btrfs];
/// Only the long study tries these.
const NOT_TESTED: &[Filesystem] = &[];

const OTHER_LANGUAGES: [Language; 6] = [
    Language::Cpp,
    Language::Go,
    Language::Rust,
    Language::Python,
    Language::Node,
    Language::Java,
];

/// A claim by several programs.
struct Group {
    title: &'static str,
    promise: Promise,
    form: Form,
    /// The tests try these in C.
    tested: &'static [&'static str],
    /// The study also tries the cases that are measured first for this goal.
    goal: Option<Goal>,
}

const GROUPS: &[Group] = &[
    Group {
        title: "a new file is durable after success",
        promise: Promise::NewFile,
        form: Form::Main,
        tested: &[
            "write,sync=fsync",
            "io_uring,chunk=1MiB,depth=2,cache=direct,sync=fdatasync",
            "pwrite,cache=dontcache,sync=fdatasync",
            "mmap,prepare=fallocate,sync=msync",
            "write,sync=o-dsync",
        ],
        goal: Some(Goal::DurableStream),
    },
    Group {
        title: "a copy is durable after success",
        promise: Promise::NewFile,
        form: Form::Main,
        tested: &["copy-file-range,sync=fsync"],
        goal: Some(Goal::DurableCopy),
    },
    Group {
        title: "a file that is overwritten in place is durable after success",
        promise: Promise::OverwrittenFile,
        form: Form::Main,
        tested: &[
            "pwrite,prepare=overwrite,cache=direct,sync=fdatasync",
            "write,prepare=overwrite,sync=fsync",
        ],
        goal: Some(Goal::DurableOverwrite),
    },
    Group {
        title: "a set by rename, exchange or O_TMPFILE leaves old or new files, and new ones after success",
        promise: Promise::ReplacedFile,
        form: Form::Main,
        tested: &[
            "write-files,file-size=whole,naming=rename,prepare=overwrite,sync-files=each",
            RENAMED_SET,
            "write-files,file-size=whole,naming=exchange,prepare=overwrite,sync-files=batch",
            "write-files,file-size=whole,naming=tmpfile,prepare=overwrite,sync-files=writeback",
        ],
        goal: Some(Goal::DurableReplace),
    },
    Group {
        title: ATOMIC,
        promise: Promise::ReplacedFile,
        form: Form::Atomic,
        tested: &["write,sync=fsync"],
        goal: Some(Goal::DurableStream),
    },
    Group {
        title: "`--stream`: a new file is durable after success",
        promise: Promise::NewFile,
        form: Form::Stream,
        tested: &[],
        goal: Some(Goal::DurableStream),
    },
    Group {
        title: "`--stream --atomic` leaves the old or the new file, and the new one after success",
        promise: Promise::ReplacedFile,
        form: Form::StreamAtomic,
        tested: &["write,sync=fdatasync"],
        goal: Some(Goal::DurableStream),
    },
    Group {
        title: "`--append`: a record is in the log once it is durable",
        promise: Promise::Log,
        form: Form::Append,
        tested: &[
            "pwrite,chunk=512,prepare=zero-fill,sync=fdatasync/1",
            "write,chunk=512,sync=fdatasync/1",
            "write,chunk=512,sync=o-sync",
        ],
        goal: Some(Goal::Records),
    },
    Group {
        title: "the pages of a commit are in the file once it is durable",
        promise: Promise::Pages,
        form: Form::Store,
        tested: &[PAGES],
        goal: None,
    },
    Group {
        title: "the same with a double write, and no page is ever torn",
        promise: Promise::UntornPages,
        form: Form::Store,
        tested: &[UNTORN_PAGES],
        goal: None,
    },
    Group {
        title: "all files of a set are durable after success",
        promise: Promise::Set,
        form: Form::Main,
        tested: &["write-files,file-size=16KiB,sync-files=syncfs"],
        goal: Some(Goal::DurableFiles),
    },
];

/// A claim by programs in other languages, or on other filesystems.
struct Translated {
    title: &'static str,
    promise: Promise,
    form: Form,
    case: &'static str,
    languages: &'static [Language],
    tested_on: &'static [Filesystem],
}

const TRANSLATED: &[Translated] = &[
    Translated {
        title: "`--atomic` in C++, Go, Rust, Python, Node.js and Java: the same",
        promise: Promise::ReplacedFile,
        form: Form::Atomic,
        case: "write,sync=fsync",
        languages: &OTHER_LANGUAGES,
        tested_on: COMMON,
    },
    Translated {
        title: "a new file in these languages: the same",
        promise: Promise::NewFile,
        form: Form::Main,
        case: "write,sync=fsync",
        languages: &OTHER_LANGUAGES,
        tested_on: NOT_TESTED,
    },
    Translated {
        title: "a set by rename in these languages: the same",
        promise: Promise::ReplacedFile,
        form: Form::Main,
        case: RENAMED_SET,
        languages: &OTHER_LANGUAGES,
        tested_on: NOT_TESTED,
    },
    // ext4 needs a device that can, and xfs does it by copy on write.
    Translated {
        title: "the same with RWF_ATOMIC, and no page is ever torn",
        promise: Promise::UntornPages,
        form: Form::Store,
        case: "pwrite,chunk=16KiB,access=uniform,protect=rwf-atomic,prepare=overwrite,cache=direct,sync=fdatasync/4",
        languages: &[Language::C],
        tested_on: &[Xfs],
    },
    Translated {
        title: "`--append` in Rust and Go: the same",
        promise: Promise::Log,
        form: Form::Append,
        case: "write,chunk=512,sync=fdatasync/1",
        // The others have no log.
        languages: &[Language::Rust, Language::Go],
        tested_on: &[Xfs],
    },
];

/// A program with a mistake.
struct Mutant {
    title: &'static str,
    promise: Promise,
    form: Form,
    case: &'static str,
    mistakes: &'static [(&'static str, &'static str)],
    tested_on: &'static [Filesystem],
}

const PAGES: &str = "pwrite,chunk=16KiB,access=uniform,prepare=overwrite,sync=fdatasync/4";
const UNTORN_PAGES: &str =
    "pwrite,chunk=16KiB,access=uniform,protect=double-write,prepare=overwrite,sync=fdatasync/4";
const ATOMIC: &str = "`--atomic` leaves the old or the new file, and the new one after success";
const ATOMIC_WITHOUT_FSYNC: &str = "`--atomic` without the fsync of the file";
const RENAMED_SET: &str =
    "write-files,file-size=whole,naming=rename,prepare=overwrite,sync-files=syncfs";
const WITHOUT_FSYNC: (&str, &str) = ("return fsync(fd);", "return 0;");
const WITHOUT_DIRECTORY: (&str, &str) = (
    "int result = fsync(fd) == 0 ? 0 : -2, error",
    "int result = 0, error",
);

const MUTANTS: &[Mutant] = &[
    Mutant {
        title: "a new file without its fsync and its directory's",
        promise: Promise::NewFile,
        form: Form::Main,
        case: "write,sync=fsync",
        mistakes: &[WITHOUT_FSYNC, WITHOUT_DIRECTORY],
        tested_on: COMMON,
    },
    // The fsync of a new file commits its name on all of these, though POSIX does not promise that.
    Mutant {
        title: "a new file without the fsync of its directory",
        promise: Promise::NewFile,
        form: Form::Main,
        case: "write,sync=fsync",
        mistakes: &[WITHOUT_DIRECTORY],
        tested_on: NOT_TESTED,
    },
    Mutant {
        title: ATOMIC_WITHOUT_FSYNC,
        promise: Promise::ReplacedFile,
        form: Form::Atomic,
        case: "write,sync=fsync",
        mistakes: &[WITHOUT_FSYNC],
        tested_on: WITHOUT_EARLY_WRITES,
    },
    Mutant {
        title: "`--atomic` without the fsync of the directory",
        promise: Promise::ReplacedFile,
        form: Form::Atomic,
        case: "write,sync=fsync",
        mistakes: &[WITHOUT_DIRECTORY],
        tested_on: WITHOUT_EARLY_WRITES,
    },
    // ext4 and xfs have written the blocks by then, and the fsync of the directory commits the rest.
    Mutant {
        title: "`--atomic` with sync_file_range in place of fsync",
        promise: Promise::ReplacedFile,
        form: Form::Atomic,
        case: "write,sync=fsync",
        mistakes: &[("return fsync(fd);", "return sync_file_range(fd, 0, 0, 7);")],
        tested_on: &[Btrfs],
    },
    // On the others, the data may be there in time.
    Mutant {
        title: "a set with its rename before syncfs",
        promise: Promise::ReplacedFile,
        form: Form::Main,
        case: RENAMED_SET,
        mistakes: &[
            ("if (result == 0 && syncfs(dir) != 0)", "if (0)"),
            (
                "if (result == 0 && fsync(dir) != 0)",
                "if (result == 0 && syncfs(dir) != 0)",
            ),
        ],
        tested_on: &[Xfs],
    },
    Mutant {
        title: "a set without the fsync of its directory",
        promise: Promise::ReplacedFile,
        form: Form::Main,
        case: RENAMED_SET,
        mistakes: &[("if (result == 0 && fsync(dir) != 0)", "if (0)")],
        tested_on: WITHOUT_EARLY_WRITES,
    },
    // btrfs writes to other blocks.
    Mutant {
        title: "pages in place without protection, one of which is torn",
        promise: Promise::UntornPages,
        form: Form::Store,
        case: PAGES,
        mistakes: &[],
        tested_on: &[Ext4, Xfs],
    },
    Mutant {
        title: "a double write without the sync of its journal",
        promise: Promise::UntornPages,
        form: Form::Store,
        case: UNTORN_PAGES,
        mistakes: &[(
            "|| fdatasync(store->journal) != 0)\n        return -1;\n    return write_pages",
            ")\n        return -1;\n    return write_pages",
        )],
        tested_on: &[Ext4, Xfs],
    },
    Mutant {
        title: "pages without the sync of their commit",
        promise: Promise::Pages,
        form: Form::Store,
        case: PAGES,
        mistakes: &[("return fdatasync(store->fd);", "return 0;")],
        tested_on: COMMON,
    },
    Mutant {
        title: "a log without its fdatasync",
        promise: Promise::Log,
        form: Form::Append,
        case: "write,chunk=512,sync=fdatasync/1",
        mistakes: &[("fdatasync(log->fd) == 0 ? 0 : errno", "0")],
        tested_on: COMMON,
    },
];

/// Each program once: those that hold first, and those with a mistake last.
pub fn claims() -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for group in GROUPS {
        claims.extend(group.claims()?);
    }
    for translated in TRANSLATED {
        claims.extend(translated.claims()?);
    }
    claims.extend(MUTANTS.iter().map(Mutant::claim));
    Ok(claims)
}

/// `--atomic` with and without its fsync, which another recorder must judge as ours does.
pub fn recorded_twice() -> Result<Vec<Claim>> {
    let mut claims = claims()?;
    claims.retain(|claim| {
        [ATOMIC, ATOMIC_WITHOUT_FSYNC].contains(&claim.title) && !claim.tested_on.is_empty()
    });
    Ok(claims)
}

impl Group {
    fn claims(&self) -> Result<Vec<Claim>> {
        let tested = self
            .tested
            .iter()
            .map(|&case| self.claim(case.to_owned(), COMMON));
        let mut claims: Vec<Claim> = tested.collect();
        let mut known: HashSet<String> = claims.iter().map(Claim::program).collect();
        let Some(goal) = self.goal else {
            return Ok(claims);
        };
        for case in Space::for_goal(goal, &Vec::new())?.portfolio {
            // The nearest case with printed code takes the place of one without.
            let case = printable(&case, Language::C, self.form)?;
            let claim = self.claim(case, NOT_TESTED);
            if known.insert(claim.program()) {
                claims.push(claim);
            }
        }
        Ok(claims)
    }

    fn claim(&self, case: String, tested_on: &'static [Filesystem]) -> Claim {
        Claim {
            title: self.title,
            expected: Expected::Holds,
            tested_on,
            promise: self.promise,
            printed: Printed {
                case,
                language: Language::C,
                form: self.form,
                mistakes: &[],
            },
        }
    }
}

impl Translated {
    fn claims(&self) -> Result<Vec<Claim>> {
        self.languages
            .iter()
            .map(|&language| self.claim(language))
            .collect()
    }

    fn claim(&self, language: Language) -> Result<Claim> {
        Ok(Claim {
            title: self.title,
            expected: Expected::Holds,
            tested_on: self.tested_on,
            promise: self.promise,
            printed: Printed {
                case: printable(&Case::parse(self.case)?, language, self.form)?,
                language,
                form: self.form,
                mistakes: &[],
            },
        })
    }
}

impl Mutant {
    fn claim(&self) -> Claim {
        Claim {
            title: self.title,
            expected: Expected::IsBroken,
            tested_on: self.tested_on,
            promise: self.promise,
            printed: Printed {
                case: self.case.to_owned(),
                language: Language::C,
                form: self.form,
                mistakes: self.mistakes,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_each_claim_is_printed_and_has_its_mistakes() {
        for claim in claims().unwrap() {
            assert!(claim.printed.source().is_ok(), "{claim:?}");
        }
    }
}
