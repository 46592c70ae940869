//! What a run may take: space, memory, time.

use std::path::Path;
use std::time::Duration;

use model::{Case, Environment};

use crate::error::RunnerError;

/// The part of a filesystem that stays free, in percent of its size.
const RESERVE_PERCENT: u64 = 5;

/// Whether every case that writes data leaves the target its reserve. Cases that only allocate are
/// left to the kernel, which refuses what does not fit before anything is written.
///
/// # Errors
/// The largest case does not fit, or the target cannot be asked.
pub fn check_space(target: &Path, cases: &[Case]) -> Result<(), RunnerError> {
    let space = probe::space(target)?;
    let reserve_bytes = space.total_bytes / 100 * RESERVE_PERCENT;
    let writing = cases.iter().filter(|case| case.method().writes_data());
    match writing.max_by_key(|case| case.axes().size_bytes) {
        Some(case) if case.axes().size_bytes.saturating_add(reserve_bytes) > space.available_bytes => {
            Err(RunnerError::NoSpace {
                path: target.to_path_buf(),
                case: case.to_string(),
                needed_bytes: case.axes().size_bytes,
                available_bytes: space.available_bytes,
                reserve_bytes,
            })
        }
        _ => Ok(()),
    }
}

/// Whether every case's source fits into memory, beside the file itself where the target is memory.
///
/// # Errors
/// The largest case does not fit, or the machine cannot be asked.
pub fn check_memory(environment: &Environment, cases: &[Case]) -> Result<(), RunnerError> {
    let in_memory = matches!(environment.filesystem.kind.as_str(), "tmpfs" | "ramfs" | "devtmpfs");
    let needed = |case: &Case| {
        let file = if in_memory && case.method().writes_data() { case.axes().size_bytes } else { 0 };
        case.source_bytes().saturating_add(file)
    };
    let available_bytes = probe::available_memory_bytes()?;
    match cases.iter().max_by_key(|case| needed(case)) {
        Some(case) if needed(case) > available_bytes / 10 * 9 => {
            Err(RunnerError::NoMemory { case: case.to_string(), needed_bytes: needed(case), available_bytes })
        }
        _ => Ok(()),
    }
}

/// When a sample counts as hanging, where the user has not said: a minute, and time to make, write,
/// sync and read its data at 4 MiB/s, with 20 µs for every call.
#[must_use]
pub fn deadline(case: &Case) -> Duration {
    const SLOWEST_BYTES_PER_S: u64 = 4 << 20;
    let axes = case.axes();
    let calls = if case.method().writes_data() { axes.size_bytes.div_ceil(axes.chunk_size_bytes) } else { 0 };
    Duration::from_secs(60)
        + Duration::from_secs(axes.size_bytes / SLOWEST_BYTES_PER_S)
        + Duration::from_micros(calls.saturating_mul(20))
}
