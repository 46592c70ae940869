//! A delay of known size, to see whether a difference of that size is found. In no build that anyone uses.

use std::time::Instant;

/// Makes what began at `start` and ends now take 5 % longer.
pub(crate) fn lengthen(start: Instant) {
    let until = start.elapsed().mul_f64(1.05);
    while start.elapsed() < until {
        std::hint::spin_loop();
    }
}
