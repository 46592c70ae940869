//! A delay of known size, which tests whether a difference of that size is found. No released build has it.

use std::time::Instant;

/// Makes the work since `start` take 5 % longer.
pub(crate) fn lengthen(start: Instant) {
    let until = start.elapsed().mul_f64(1.05);
    while start.elapsed() < until {
        std::hint::spin_loop();
    }
}
