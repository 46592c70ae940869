use serde::Serialize;
use writebench_model::{Sample, Timeline};
use writebench_stats::{Stability, as_f64};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Burst {
    pub bytes_per_s: f64,
    /// Since the beginning of phase write.
    pub duration_ns: f64,
    pub sustained_bytes_per_s: f64,
}

/// The second only for a burst.
fn stability(sample: &Sample) -> Option<(Stability, Option<Burst>)> {
    let timeline = sample
        .timeline
        .as_ref()
        .filter(|_| sample.outcome.is_ok())?;
    let elapsed_ns = as_f64(timeline.interval_ns) * as_f64(timeline.bytes.len() as u64);
    let (stability, burst) = writebench_stats::stability(&rates(timeline))?;
    let burst = burst.map(|burst| Burst {
        bytes_per_s: burst.before,
        duration_ns: burst.until * elapsed_ns,
        sustained_bytes_per_s: burst.after,
    });
    Some((stability, burst))
}

pub(crate) fn rates(timeline: &Timeline) -> Vec<f64> {
    let interval_ns = as_f64(timeline.interval_ns.max(1));
    timeline
        .bytes
        .iter()
        .map(|&bytes| as_f64(bytes) * 1e9 / interval_ns)
        .collect()
}

/// That of most samples, and the worse of a tie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverTime {
    pub stability: Stability,
    pub samples: usize,
    /// Samples that were long enough.
    pub timelines: usize,
    /// Medians of those samples, for a burst.
    pub burst: Option<Burst>,
}

impl OverTime {
    /// None without a timeline.
    pub(crate) fn from_samples(samples: &[&Sample]) -> Option<Self> {
        let all: Vec<_> = samples
            .iter()
            .filter_map(|sample| stability(sample))
            .collect();
        let count = |wanted| {
            all.iter()
                .filter(|(stability, _)| *stability == wanted)
                .count()
        };
        let (stability, _) = *all
            .iter()
            .max_by_key(|(stability, _)| (count(*stability), *stability))?;
        let bursts: Vec<Burst> = all.iter().filter_map(|(_, burst)| *burst).collect();
        let median = |value: fn(&Burst) -> f64| {
            writebench_stats::median(&bursts.iter().map(value).collect::<Vec<f64>>())
        };
        let burst = || {
            Some(Burst {
                bytes_per_s: median(|burst| burst.bytes_per_s)?,
                duration_ns: median(|burst| burst.duration_ns)?,
                sustained_bytes_per_s: median(|burst| burst.sustained_bytes_per_s)?,
            })
        };
        let burst = if stability == Stability::Burst {
            burst()
        } else {
            None
        };
        Some(Self {
            stability,
            samples: count(stability),
            timelines: all.len(),
            burst,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Outcome;

    fn sample(bytes: impl IntoIterator<Item = u64>) -> Sample {
        let mut sample = Sample::without_figures(0, Outcome::Ok);
        sample.timeline = Some(
            Timeline {
                interval_ns: 100_000_000,
                bytes: bytes.into_iter().collect(),
            }
            .into(),
        );
        sample
    }

    #[test]
    fn a_burst_has_bytes_per_second_and_a_time() {
        let over_time =
            OverTime::from_samples(&[&sample([[460_000_000; 10], [50_000_000; 10]].concat())])
                .unwrap();
        assert_eq!(over_time.stability, Stability::Burst);
        let burst = over_time.burst.unwrap();
        assert!(
            (burst.bytes_per_s - 4.6e9).abs() < 1.0
                && (burst.sustained_bytes_per_s - 0.5e9).abs() < 1.0,
            "{burst:?}"
        );
        assert!((burst.duration_ns - 1e9).abs() < 1.0, "{burst:?}");
    }

    #[test]
    fn most_samples_give_a_case_its_stability_and_the_worse_of_two() {
        let (steady, burst) = (sample([5; 20]), sample([[50; 10], [5; 10]].concat()));
        let short = Sample::without_figures(0, Outcome::Ok);
        let over_time = OverTime::from_samples(&[&steady, &steady, &burst, &short]).unwrap();
        assert_eq!(
            (over_time.stability, over_time.samples, over_time.timelines),
            (Stability::Steady, 2, 3)
        );
        assert_eq!(over_time.burst, None);
        let over_time = OverTime::from_samples(&[&steady, &burst]).unwrap();
        assert_eq!(
            (over_time.stability, over_time.samples, over_time.timelines),
            (Stability::Burst, 1, 2)
        );
        assert!(over_time.burst.is_some());
        assert_eq!(OverTime::from_samples(&[&short]), None);
    }
}
