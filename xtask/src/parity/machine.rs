//! The machine in the state that a sample of writebench begins in, for a program that does not see to it.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use writebench_model::nanoseconds;

/// The bytes of the probe, as many as writebench's.
const PROBE_BYTES: usize = 4 << 20;

/// Syncs the target's filesystem, and touches `size_bytes` of memory once and gives them back, so
/// that they are warm. Returns the time to copy 4 MiB.
pub(super) fn settle(target: &Path, size_bytes: u64) -> Result<u64> {
    let folder = std::fs::File::open(target).with_context(|| format!("opening {}", target.display()))?;
    rustix::fs::syncfs(&folder).with_context(|| format!("syncfs of {}", target.display()))?;
    drop(black_box(vec![1u8; usize::try_from(size_bytes)?]));
    let from = black_box(vec![1u8; PROBE_BYTES]);
    let start = Instant::now();
    drop(black_box(from.clone()));
    Ok(nanoseconds(start.elapsed()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_probe_takes_some_time_and_a_missing_target_is_an_error() {
        assert!(super::settle(std::path::Path::new("."), 1).unwrap() > 0);
        assert!(super::settle(std::path::Path::new("/no/such/place"), 1).is_err());
    }
}
