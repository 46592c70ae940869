//! What a run may take of a filesystem: bytes and inodes, all but the reserve.

use std::path::Path;

use model::{Case, Content, Reserve};
use probe::Space;

use crate::error::RunnerError;

/// What a run makes beside the files of a case: its directory, the file that locks it, a file to be copied, one that
/// shows what the device can do.
const FILES_BESIDE: u64 = 4;

/// Whether every case leaves the target its reserve; `beside_bytes` is what stands there at the same time as the
/// largest case: a file that is copied, and the copy that stays. A case that only allocates, and more than there
/// is, passes: the kernel's refusal is what such a case is about.
///
/// # Errors
/// The largest case does not fit, or the target cannot be asked.
pub fn check_space(
    target: &Path,
    cases: &[Case],
    beside_bytes: u64,
    reserve: Reserve,
) -> Result<(), RunnerError> {
    let space = probe::space(target)?;
    check_bytes(target, &space, cases, beside_bytes, reserve)?;
    check_inodes(target, &space, cases, reserve)
}

fn check_bytes(
    target: &Path,
    space: &Space,
    cases: &[Case],
    beside_bytes: u64,
    reserve: Reserve,
) -> Result<(), RunnerError> {
    // Filesystems without a size of their own (ramfs, some of FUSE) report none.
    if space.total_bytes == 0 {
        return Ok(());
    }
    let takes_blocks = |case: &&Case| case.contract().content != Content::Hole;
    let tries = |case: &&Case| !case.method().writes_data() && case.axes().size_bytes > space.available_bytes;
    let cases = cases.iter().filter(takes_blocks).filter(|case| !tries(case));
    let Some(case) = cases.max_by_key(|case| case.axes().size_bytes) else { return Ok(()) };
    let needed_bytes = case.axes().size_bytes.saturating_add(beside_bytes);
    let reserve_bytes = reserve.of_bytes(space.total_bytes);
    if needed_bytes.saturating_add(reserve_bytes) <= space.available_bytes {
        return Ok(());
    }
    Err(RunnerError::NoSpace {
        path: target.to_path_buf(),
        case: case.to_string(),
        needed_bytes,
        available_bytes: space.available_bytes,
        reserve_bytes,
    })
}

fn check_inodes(target: &Path, space: &Space, cases: &[Case], reserve: Reserve) -> Result<(), RunnerError> {
    let (Some(total), Some(available)) = (space.total_inodes, space.available_inodes) else { return Ok(()) };
    let Some(case) = cases.iter().max_by_key(|case| case.file_count()) else { return Ok(()) };
    let needed = u64::from(case.file_count()) + FILES_BESIDE;
    let reserve = reserve.of_inodes(total);
    if needed.saturating_add(reserve) <= available {
        return Ok(());
    }
    Err(RunnerError::NoInodes {
        path: target.to_path_buf(),
        case: case.to_string(),
        needed,
        available,
        reserve,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example_method::WRITE;

    const SPACE: Space = Space {
        total_bytes: 1000 << 20,
        available_bytes: 100 << 20,
        total_inodes: Some(1000),
        available_inodes: Some(60),
    };

    fn refusal(space: &Space, case: &str, beside_bytes: u64, reserve: &str) -> Option<String> {
        let cases = [Case::parse(case, &[&WRITE]).unwrap()];
        let (target, reserve) = (Path::new("/data"), reserve.parse().unwrap());
        let bytes = check_bytes(target, space, &cases, beside_bytes, reserve);
        bytes.and_then(|()| check_inodes(target, space, &cases, reserve)).err().map(|error| error.to_string())
    }

    #[test]
    fn the_reserve_stays_to_the_byte() {
        assert_eq!(refusal(&SPACE, "write,size=50MiB", 0, "5%"), None);
        assert_eq!(refusal(&SPACE, "write,size=50MiB", 1, "0%"), None);
        assert_eq!(refusal(&SPACE, "write,size=100MiB", 0, "0"), None);
        let text = refusal(&SPACE, "write,size=50MiB", 10 << 20, "5%").unwrap();
        assert!(text.contains("10 MiB are missing") && text.contains("--reserve"), "{text}");
        assert!(refusal(&SPACE, "write,size=1MiB", 0, "100MiB").is_some());
        assert!(refusal(&SPACE, "write,size=1MiB", u64::MAX, "0%").is_some(), "no overflow");
    }

    #[test]
    fn inodes_have_a_reserve_too_where_they_are_counted() {
        let scarce = Space { available_inodes: Some(54), ..SPACE };
        let text = refusal(&scarce, "write,size=1MiB", 0, "5%").unwrap();
        assert!(text.contains("1 more is needed") && text.contains("--reserve"), "{text}");
        assert_eq!(refusal(&scarce, "write,size=1MiB", 0, "1%"), None);
        let uncounted = Space { total_inodes: None, available_inodes: None, ..SPACE };
        assert_eq!(refusal(&uncounted, "write,size=1MiB", 0, "5%"), None);
    }

    #[test]
    fn a_filesystem_without_a_size_is_not_held_to_one() {
        let unsized_one = Space { total_bytes: 0, available_bytes: 0, ..SPACE };
        assert_eq!(refusal(&unsized_one, "write,size=1GiB", 0, "5%"), None);
    }
}
