//! Enough stack for the program and its workers, whatever `ulimit -s` says.

use anyhow::Result;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::exit::usage;

/// The stack grows up to the limit of the moment. Where it could not, the kernel would end the program by a signal.
const ENOUGH_BYTES: u64 = 1 << 20;
/// What parsing a command line takes in builds without optimization, and some more.
const LEAST_BYTES: u64 = 512 << 10;

/// Raises the limit if it is low and may be raised.
pub(crate) fn ensure_enough() -> Result<()> {
    let mut limit = getrlimit(Resource::Stack);
    if limit.current.is_none_or(|bytes| bytes >= ENOUGH_BYTES) {
        return Ok(());
    }
    limit.current = Some(limit.maximum.map_or(ENOUGH_BYTES, |most| most.min(ENOUGH_BYTES)));
    let _ = setrlimit(Resource::Stack, limit);
    let bytes = getrlimit(Resource::Stack).current;
    if bytes.is_some_and(|bytes| bytes < LEAST_BYTES) {
        let (least, most) = (LEAST_BYTES >> 10, bytes.unwrap_or(0) >> 10);
        return Err(usage!(
            "the stack may have {most} KiB only, and needs {least}: raise it by `ulimit -s {least}`"
        ));
    }
    Ok(())
}
