use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use writebench_model::protocol::{InsufficientSpace, Resource};
use writebench_model::{Bytes, Case, Failure, Outcome, Phase, Reserve};
use writebench_probe::Space;

use crate::error::RunnerError;

/// The run's directory, its lock, a source for copies, and a file for the device's limit.
const FILES_BESIDE: u64 = 4;

/// Checks that every case leaves the target its reserve. `beside_bytes` are files that exist at the same
/// time as the largest case: a source and its remaining copy. A case that only allocates more than there is
/// passes, because it measures the kernel's refusal.
pub fn check_space(
    target: &Path,
    space: &Space,
    cases: &[Case],
    beside_bytes: u64,
    reserve: Reserve,
) -> Result<(), RunnerError> {
    shortage(space, cases, beside_bytes, reserve).map_or(Ok(()), |(case, shortage)| {
        Err(insufficient_space(target, case, shortage))
    })
}

/// The shortage for a sample in the open directory. Filesystems that free blocks in the background get time
/// to do so. Without a reserve, or with an unknown space, the sample itself meets the kernel's error.
pub fn shortage_of_sample(
    directory: impl AsFd,
    case: &Case,
    reserve: Reserve,
) -> Option<InsufficientSpace> {
    if reserve.is_none() {
        return None;
    }
    shortage_in(directory.as_fd(), case, reserve)?;
    let _ = rustix::fs::syncfs(directory.as_fd());
    shortage_in(directory.as_fd(), case, reserve)
}

fn shortage_in(
    directory: BorrowedFd<'_>,
    case: &Case,
    reserve: Reserve,
) -> Option<InsufficientSpace> {
    let space = writebench_probe::space_around(directory).ok()?;
    let (_, shortage) = shortage(&space, std::slice::from_ref(case), 0, reserve)?;
    Some(shortage)
}

/// The outcome of a sample that would leave less than the reserve.
pub(crate) fn does_not_fit(shortage: InsufficientSpace) -> Outcome {
    Outcome::Unsupported(Box::new(Failure {
        phase: Phase::Settle,
        call: Failure::FREE_SPACE.to_owned(),
        path: None,
        offset: None,
        errno: None,
        message: format!("it {}", in_words(shortage)),
    }))
}

pub(crate) fn insufficient_space(
    target: &Path,
    case: &Case,
    shortage: InsufficientSpace,
) -> RunnerError {
    let what = match shortage.resource {
        Resource::Bytes => "space",
        Resource::Inodes => "inodes",
    };
    RunnerError::TooLarge(format!(
        "not enough free {what} in {}: {case:#} {}. {}, or use a smaller --reserve",
        target.display(),
        in_words(shortage),
        with_less(case, shortage)
    ))
}

/// What fits: `Use --size 13MiB`. Where the reserve alone takes all free space, no size does.
fn with_less(case: &Case, shortage: InsufficientSpace) -> String {
    let InsufficientSpace {
        resource,
        needed,
        available,
        reserve,
    } = shortage;
    let usable = available.saturating_sub(reserve);
    if resource == Resource::Inodes {
        return if usable > FILES_BESIDE {
            "Use fewer threads or files".to_owned()
        } else {
            "Remove files".to_owned()
        };
    }
    // Of a set or a log, the size is a number of files or records.
    if case.unit_bytes().is_some() && usable > 0 {
        return "Use a smaller --size".to_owned();
    }
    match fitting_size(case, needed, usable) {
        0 => "Free some".to_owned(),
        size => format!("Use --size {}", Bytes(size)),
    }
}

/// The largest round size of the case's file with which it needs no more than is usable.
fn fitting_size(case: &Case, needed: u64, usable: u64) -> u64 {
    const PAGE: u64 = 4 << 10;
    const MEBIBYTE: u64 = 1 << 20;
    let size = u128::from(case.given().size_bytes);
    let fitting = size * u128::from(usable) / u128::from(needed.max(1));
    let fitting = u64::try_from(fitting).unwrap_or(u64::MAX);
    let unit = if fitting < MEBIBYTE { PAGE } else { MEBIBYTE };
    fitting / unit * unit
}

/// `needs 16 MiB and the reserve 15 MiB, but 30 MiB are free, so 1 MiB are missing`.
fn in_words(shortage: InsufficientSpace) -> String {
    let InsufficientSpace {
        resource,
        needed,
        available,
        reserve,
    } = shortage;
    let missing = needed.saturating_add(reserve).saturating_sub(available);
    let amount = |number: u64| match resource {
        Resource::Bytes => Bytes(number).approximate(),
        Resource::Inodes if number == 1 => "1 inode".to_owned(),
        Resource::Inodes => format!("{number} inodes"),
    };
    let is = |number: u64| if number == 1 { "is" } else { "are" };
    format!(
        "needs {} and the reserve {}, but {} {} free, so {} {} missing",
        amount(needed),
        amount(reserve),
        amount(available),
        is(available),
        amount(missing),
        is(missing)
    )
}

/// The neediest case, with its shortage of bytes, or else of inodes.
fn shortage<'c>(
    space: &Space,
    cases: &'c [Case],
    beside_bytes: u64,
    reserve: Reserve,
) -> Option<(&'c Case, InsufficientSpace)> {
    let bytes = needed_bytes(space, cases, beside_bytes, reserve);
    if bytes.as_ref().is_some_and(|(_, needed)| is_short(needed)) {
        return bytes;
    }
    needed_inodes(space, cases, reserve).filter(|(_, needed)| is_short(needed))
}

fn is_short(needed: &InsufficientSpace) -> bool {
    needed.needed.saturating_add(needed.reserve) > needed.available
}

/// What the case with the largest files needs. None if no case takes blocks, or the filesystem has no size: ramfs, and
/// some in FUSE, report zero.
fn needed_bytes<'c>(
    space: &Space,
    cases: &'c [Case],
    beside_bytes: u64,
    reserve: Reserve,
) -> Option<(&'c Case, InsufficientSpace)> {
    if space.total_bytes == 0 {
        return None;
    }
    let available = space.available_bytes;
    let case = cases
        .iter()
        .filter(|case| takes_blocks(case, available))
        .max_by_key(|case| case.space_bytes())?;
    let needed = InsufficientSpace {
        resource: Resource::Bytes,
        needed: case.space_bytes().saturating_add(beside_bytes),
        available,
        reserve: reserve.of_bytes(space.total_bytes),
    };
    Some((case, needed))
}

/// A method that only allocates may ask for more than there is, and gets the kernel's error.
fn takes_blocks(case: &Case, available: u64) -> bool {
    let only_tries = !case.method().writes_data() && case.given().size_bytes > available;
    case.workload().content.takes_space() && !only_tries
}

/// What the case with the most files needs. None if the filesystem has no fixed number of inodes.
fn needed_inodes<'c>(
    space: &Space,
    cases: &'c [Case],
    reserve: Reserve,
) -> Option<(&'c Case, InsufficientSpace)> {
    let total = space.total_inodes?;
    let available = space.available_inodes?;
    let case = cases.iter().max_by_key(|case| case.most_inodes())?;
    let needed = InsufficientSpace {
        resource: Resource::Inodes,
        needed: case.most_inodes() + FILES_BESIDE,
        available,
        reserve: reserve.of_inodes(total),
    };
    Some((case, needed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space {
        total_bytes: 1000 << 20,
        available_bytes: 100 << 20,
        total_inodes: Some(1000),
        available_inodes: Some(60),
    };

    fn refusal(space: &Space, case: &str, beside_bytes: u64, reserve: &str) -> Option<String> {
        let cases = [Case::parse(case).unwrap()];
        let target = Path::new("/data");
        let reserve = reserve.parse().unwrap();
        check_space(target, space, &cases, beside_bytes, reserve)
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn the_reserve_is_kept_to_the_byte() {
        assert_eq!(refusal(&SPACE, "write,size=50MiB", 0, "5%"), None);
        assert_eq!(refusal(&SPACE, "write,size=50MiB", 1, "0%"), None);
        assert_eq!(refusal(&SPACE, "write,size=100MiB", 0, "0"), None);
        let text = refusal(&SPACE, "write,size=50MiB", 10 << 20, "5%").unwrap();
        assert!(
            text.contains("10 MiB are missing") && text.contains("--reserve"),
            "{text}"
        );
        assert!(refusal(&SPACE, "write,size=1MiB", 0, "100MiB").is_some());
        assert!(
            refusal(&SPACE, "write,size=1MiB", u64::MAX, "0%").is_some(),
            "no overflow"
        );
    }

    #[test]
    fn a_clone_takes_no_blocks_but_its_source_and_an_old_file_do() {
        assert_eq!(refusal(&SPACE, "ficlone,size=900MiB", 0, "5%"), None);
        assert!(refusal(&SPACE, "ficlone,size=900MiB", 900 << 20, "5%").is_some());
        assert!(refusal(&SPACE, "ficlone,size=900MiB,prepare=overwrite", 0, "5%").is_some());
        assert!(refusal(&SPACE, "copy-file-range,size=900MiB", 0, "5%").is_some());
    }

    #[test]
    fn counted_inodes_also_have_a_reserve() {
        let scarce = Space {
            available_inodes: Some(54),
            ..SPACE
        };
        let text = refusal(&scarce, "write,size=1MiB", 0, "5%").unwrap();
        assert!(
            text.contains("so 1 inode is missing") && text.contains("--reserve"),
            "{text}"
        );
        assert_eq!(refusal(&scarce, "write,size=1MiB", 0, "1%"), None);
        let uncounted = Space {
            total_inodes: None,
            available_inodes: None,
            ..SPACE
        };
        assert_eq!(refusal(&uncounted, "write,size=1MiB", 0, "5%"), None);
    }

    #[test]
    fn a_sample_and_a_run_that_do_not_fit_have_the_same_words() {
        let shortage = InsufficientSpace {
            resource: Resource::Inodes,
            needed: 5,
            available: 54,
            reserve: 50,
        };
        let reason = does_not_fit(shortage).reason().unwrap();
        let expected = "needs 5 inodes and the reserve 50 inodes, but 54 inodes are free, so 1 inode is missing";
        assert_eq!(reason, format!("free space: it {expected}"));
        let case = Case::parse("write,size=1MiB").unwrap();
        let error = insufficient_space(Path::new("/data"), &case, shortage).to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_shortage_names_the_size_that_fits() {
        let remedy_beside = |case: &str, beside_bytes: u64, reserve: &str| {
            let text = refusal(&SPACE, case, beside_bytes, reserve).unwrap();
            let (_, remedy) = text.split_once("missing. ").unwrap();
            remedy.to_owned()
        };
        let remedy = |case, reserve| remedy_beside(case, 0, reserve);
        assert_eq!(
            remedy("write,size=64MiB", "5%"),
            "Use --size 50MiB, or use a smaller --reserve"
        );
        assert_eq!(refusal(&SPACE, "write,size=50MiB", 0, "5%"), None);
        let with_source = remedy_beside("read-write,size=64MiB", 64 << 20, "5%");
        assert_eq!(with_source, "Use --size 25MiB, or use a smaller --reserve");
        assert_eq!(
            refusal(&SPACE, "read-write,size=25MiB", 25 << 20, "5%"),
            None
        );
        assert_eq!(
            remedy("write,size=16KiB", "100MiB"),
            "Free some, or use a smaller --reserve"
        );
        assert_eq!(
            remedy("write-files,size=64MiB", "5%"),
            "Use a smaller --size, or use a smaller --reserve"
        );
    }

    #[test]
    fn a_filesystem_without_a_size_has_no_shortage() {
        let unsized_one = Space {
            total_bytes: 0,
            available_bytes: 0,
            ..SPACE
        };
        assert_eq!(refusal(&unsized_one, "write,size=1GiB", 0, "5%"), None);
    }
}
