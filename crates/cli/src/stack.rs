//! Enough stack for the program and its workers, even with a low `ulimit -s`.

use anyhow::Result;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::exit::usage;

/// The stack grows up to the current limit. Beyond it, the kernel kills the program.
const ENOUGH_BYTES: u64 = 1 << 20;
/// Parsing a command line takes almost this in unoptimized builds.
const LEAST_BYTES: u64 = 512 << 10;

pub(crate) fn ensure_enough() -> Result<()> {
    let mut limit = getrlimit(Resource::Stack);
    if limit.current.is_none_or(|bytes| bytes >= ENOUGH_BYTES) {
        return Ok(());
    }
    limit.current = Some(
        limit
            .maximum
            .map_or(ENOUGH_BYTES, |most| most.min(ENOUGH_BYTES)),
    );
    let _ = setrlimit(Resource::Stack, limit);
    let bytes = getrlimit(Resource::Stack).current;
    if bytes.is_some_and(|bytes| bytes < LEAST_BYTES) {
        let least = LEAST_BYTES >> 10;
        let most = bytes.unwrap_or(0) >> 10;
        return Err(usage!(
            "the stack is limited to {most} KiB, and {least} are needed. Raise the limit by `ulimit -s {least}`"
        ));
    }
    Ok(())
}
