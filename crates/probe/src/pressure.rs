use std::path::Path;
use std::time::Duration;

use crate::kernel_file::{self, ROOT};

/// How long at least one task waited for a CPU since the machine started. It is `None` if the kernel keeps no
/// pressure stall information.
#[must_use]
pub fn cpu_wait() -> Option<Duration> {
    let file = Path::new(ROOT).join("proc/pressure/cpu");
    time_some_task_waited(&kernel_file::text(&file)?)
}

/// The line `some` counts the microseconds in which some task waited, and `full` those in which all did.
fn time_some_task_waited(pressure: &str) -> Option<Duration> {
    let some = pressure
        .lines()
        .find_map(|line| line.strip_prefix("some "))?;
    let total_us = some
        .split_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    total_us.parse().ok().map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_in_which_some_task_waited() {
        let text = "some avg10=96.15 avg60=89.49 avg300=92.25 total=3147535588\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(
            time_some_task_waited(text),
            Some(Duration::from_micros(3_147_535_588))
        );
        assert_eq!(time_some_task_waited("full avg10=0.00 total=7"), None);
    }
}
