use serde::Serialize;
use writebench_model::{Sample, Timeline};
use writebench_stats::{Stability, as_f64};

/// A fast beginning of phase `write`, and the speed after it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Burst {
    pub bytes_per_s: f64,
    /// The time from the beginning of phase `write` to the end of the burst.
    pub duration_ns: f64,
    pub sustained_bytes_per_s: f64,
}

/// How a sample's speed changed during its phase `write`. The second value is None unless it was a burst.
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

/// The speed in each interval of the timeline, in bytes per second.
pub(crate) fn rates(timeline: &Timeline) -> Vec<f64> {
    let interval_ns = as_f64(timeline.interval_ns.max(1));
    timeline
        .bytes
        .iter()
        .map(|&bytes| as_f64(bytes) * 1e9 / interval_ns)
        .collect()
}

/// How the speed of a case changed during its samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverTime {
    /// The stability of most samples. Of two that are as frequent, it is the worse.
    pub stability: Stability,
    /// The number of samples with this stability.
    pub samples: usize,
    /// The number of samples that were long enough to tell.
    pub timelines: usize,
    /// The medians of the samples with a burst. It is None for another stability.
    pub burst: Option<Burst>,
}

impl OverTime {
    /// The result is None without a timeline.
    pub(crate) fn from_samples(samples: &[&Sample]) -> Option<Self> {
        let all: Vec<_> = samples
            .iter()
            .filter_map(|sample| stability(sample))
            .collect();
        let (stability, samples) = all
            .iter()
            .map(|&(stability, _)| (stability, count(&all, stability)))
            .max_by_key(|&(stability, count)| (count, stability))?;
        let bursts: Vec<Burst> = all.iter().filter_map(|(_, burst)| *burst).collect();
        let burst = if stability == Stability::Burst {
            median_burst(&bursts)
        } else {
            None
        };
        Some(Self {
            stability,
            samples,
            timelines: all.len(),
            burst,
        })
    }
}

fn count(all: &[(Stability, Option<Burst>)], wanted: Stability) -> usize {
    all.iter()
        .filter(|(stability, _)| *stability == wanted)
        .count()
}

fn median_burst(bursts: &[Burst]) -> Option<Burst> {
    Some(Burst {
        bytes_per_s: median(bursts, |burst| burst.bytes_per_s)?,
        duration_ns: median(bursts, |burst| burst.duration_ns)?,
        sustained_bytes_per_s: median(bursts, |burst| burst.sustained_bytes_per_s)?,
    })
}

fn median(bursts: &[Burst], value: fn(&Burst) -> f64) -> Option<f64> {
    let values: Vec<f64> = bursts.iter().map(value).collect();
    writebench_stats::median(&values)
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
