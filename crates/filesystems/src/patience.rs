use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::Error;

/// How long to wait for a mount in use, an attached device or a running server.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// Waits until the condition is true, and returns whether it was within the limit.
pub(crate) fn is_soon(mut is_so: impl FnMut() -> Result<bool, Error>) -> Result<bool, Error> {
    let start = Instant::now();
    while !is_so()? {
        if start.elapsed() >= LIMIT {
            return Ok(false);
        }
        sleep(Duration::from_millis(2));
    }
    Ok(true)
}
