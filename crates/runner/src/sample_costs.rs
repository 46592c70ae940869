use std::collections::BTreeMap;
use std::time::Duration;

use writebench_stats::as_f64;

#[derive(Debug, Clone, Default)]
struct SizeCost {
    seconds: f64,
    // The share of the most expensive sample.
    most_s: f64,
    samples: u64,
}

impl SizeCost {
    /// The mean without the most expensive sample. The first sample of a race pays for untouched memory,
    /// and one that waits for another program is also an exception.
    fn sample_s(&self) -> f64 {
        match self.samples {
            0 | 1 => self.seconds,
            samples => (self.seconds - self.most_s) / as_f64(samples - 1),
        }
    }
}

/// Fewer samples predict little.
const FEWEST: u64 = 4;

/// What a sample costs, by the size of its file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Costs {
    sizes: BTreeMap<u64, SizeCost>,
    elapsed: Duration,
    samples: usize,
}

impl Costs {
    pub(crate) fn count(&mut self, bytes: u64, samples: usize, elapsed: Duration) {
        let seconds = elapsed.saturating_sub(self.elapsed).as_secs_f64();
        let new = samples.saturating_sub(self.samples) as u64;
        let is_before_all = self.samples == 0 && new == 0;
        (self.elapsed, self.samples) = (elapsed.max(self.elapsed), samples.max(self.samples));
        if is_before_all {
            return;
        }
        let size = self.sizes.entry(bytes).or_default();
        size.seconds += seconds;
        size.samples += new;
        size.most_s = size.most_s.max(seconds / as_f64(new.max(1)));
    }

    pub(crate) fn are_known(&self) -> bool {
        self.sizes.values().map(|size| size.samples).sum::<u64>() >= FEWEST
    }

    /// The mean seconds of a sample. Between measured sizes the time is on a line. Beyond them it is
    /// halfway from the line to the proportion of the size, because larger files meet limits that small
    /// ones do not.
    pub(crate) fn sample_s(&self, bytes: u64) -> f64 {
        let known = self.sizes.iter().filter(|(_, size)| size.samples > 0);
        let known: Vec<(f64, f64)> = known
            .map(|(&bytes, size)| (as_f64(bytes.max(1)), size.sample_s()))
            .collect();
        let bytes = as_f64(bytes.max(1));
        let above = known
            .iter()
            .position(|(known, _)| *known >= bytes)
            .unwrap_or(known.len());
        match (known.get(above), known.len()) {
            (_, 0) => 0.0,
            (Some(&(known, seconds)), _) if known <= bytes || above == 0 => seconds,
            (_, 1) => known[0].1 * bytes / known[0].0,
            _ => {
                let above = above.min(known.len() - 1);
                let ((a_bytes, a_s), (b_bytes, b_s)) = (known[above - 1], known[above]);
                let slope = ((b_s - a_s) / (b_bytes - a_bytes)).clamp(0.0, b_s / b_bytes);
                let line_s = b_s + slope * (bytes - b_bytes);
                if bytes <= b_bytes {
                    line_s
                } else {
                    f64::midpoint(line_s, b_s * bytes / b_bytes)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_unmeasured_size_follows_from_measured_ones() {
        let mut costs = Costs::default();
        let mut elapsed = Duration::ZERO;
        assert!(costs.sample_s(4) <= 0.0);
        for (bytes, samples, seconds) in [
            (10, 1, 2),
            (10, 2, 60),
            (10, 3, 2),
            (40, 4, 5),
            (40, 5, 9),
            (40, 6, 5),
        ] {
            elapsed += Duration::from_secs(seconds);
            costs.count(bytes, samples, elapsed);
        }
        let close = |bytes, seconds: f64| (costs.sample_s(bytes) - seconds).abs() < 1e-9;
        assert!(
            close(10, 2.0) && close(40, 5.0) && close(20, 3.0),
            "{costs:?}"
        );
        assert!(close(5, 2.0), "not less than was ever seen");
        assert!(close(80, 9.5), "between 9 and 10");
    }
}
