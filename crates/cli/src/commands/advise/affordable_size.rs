//! An estimate, before measuring, of the file size that a search's limits pay for.

use std::time::Duration;

use writebench_model::{Bytes, Case};
use writebench_runner::{Pace, RaceLimits};

/// A usual disk.
const PACE: Pace =
    Pace { bytes_per_s: 1_000_000_000, sync: Duration::from_micros(200), call: Duration::from_micros(1) };
/// The duration of a search in writes of its file. Half is for the screening. The finals have eight checks and eight
/// rounds of three. Warming memory and reading back double the time.
const WRITES: u32 = 220;

/// `At 1 GB/s, 60s pays for finals with 256 MiB. With 4 GiB a search takes about 16m: --budget 16m.` The cases are plain
/// write at the requested size, then at smaller ones.
pub(super) fn sentence(cases: &[&Case], limits: &RaceLimits) -> String {
    let Some(asked) = cases.first() else { return String::new() };
    let time = |case: &Case| PACE.time_of(case).saturating_mul(WRITES);
    let bytes = |case: &Case| RaceLimits::least_bytes(case.axes().size_bytes, limits.times_written);
    let is_paid = |case: &Case| time(case) <= limits.budget && bytes(case) <= limits.max_bytes;
    let paid = cases.iter().find(|case| is_paid(case)).or(cases.last()).unwrap_or(asked);
    let size = |case: &Case| Bytes(case.axes().size_bytes).approximate();
    let mut text = format!("At 1 GB/s, {:?} pays for finals with {}.", limits.budget, size(paid));
    let budget = (time(asked) > limits.budget).then(|| {
        let time = rounded_up(time(asked));
        format!("takes about {time}: --budget {time}")
    });
    let most = (bytes(asked) > limits.max_bytes).then(|| {
        let bytes = Bytes(bytes(asked).next_multiple_of(1 << 30));
        format!("writes {bytes} and more: --max-bytes {bytes}")
    });
    let missing: Vec<String> = budget.into_iter().chain(most).collect();
    if !missing.is_empty() {
        text += &format!(" With {} a search {}.", size(asked), missing.join(", and "));
    }
    text
}

/// In the form of `--budget`.
fn rounded_up(time: Duration) -> String {
    match time.as_secs_f64().ceil() {
        seconds @ ..=120.0 => format!("{seconds:.0}s"),
        seconds @ ..=7200.0 => format!("{:.0}m", (seconds / 60.0).ceil()),
        seconds => format!("{:.0}h", (seconds / 3600.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sizes: &[&str], budget_s: u64, max_bytes: u64) -> String {
        let case = |size: &&str| Case::parse(&format!("write,size={size}")).unwrap();
        let cases: Vec<Case> = sizes.iter().map(case).collect();
        let budget = Duration::from_secs(budget_s);
        let limits = RaceLimits { budget, max_bytes, times_written: 2, ..RaceLimits::default() };
        sentence(&cases.iter().collect::<Vec<_>>(), &limits)
    }

    #[test]
    fn the_note_names_the_affordable_size_and_the_limits_for_the_requested_one() {
        let large = ["4GiB", "2GiB", "1GiB", "256MiB"];
        assert_eq!(said(&large[3..], 60, 1 << 40), "At 1 GB/s, 60s pays for finals with 256 MiB.");
        assert_eq!(
            said(&large, 60, 1 << 40),
            "At 1 GB/s, 60s pays for finals with 256 MiB. With 4 GiB a search takes about 16m: --budget 16m."
        );
        assert_eq!(
            said(&large, 60, 64 << 30),
            "At 1 GB/s, 60s pays for finals with 256 MiB. With 4 GiB a search takes about 16m: --budget 16m, and \
             writes 214GiB and more: --max-bytes 214GiB."
        );
    }
}
