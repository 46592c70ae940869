use serde::Serialize;
use writebench_model::{Sample, Timeline};
use writebench_stats::{Stability, as_f64};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fall {
    pub bytes_per_s: f64,
    /// Since the beginning of phase write.
    pub until_ns: f64,
    pub then_bytes_per_s: f64,
}

/// The fall only of a burst.
fn stability(sample: &Sample) -> Option<(Stability, Option<Fall>)> {
    let timeline = sample.timeline.as_ref().filter(|_| sample.outcome.is_ok())?;
    let elapsed_ns = as_f64(timeline.interval_ns) * as_f64(timeline.bytes.len() as u64);
    let (stability, burst) = writebench_stats::stability(&rates(timeline))?;
    let fall = burst.map(|burst| Fall {
        bytes_per_s: burst.before,
        until_ns: burst.until * elapsed_ns,
        then_bytes_per_s: burst.after,
    });
    Some((stability, fall))
}

pub(crate) fn rates(timeline: &Timeline) -> Vec<f64> {
    let interval_ns = as_f64(timeline.interval_ns.max(1));
    timeline.bytes.iter().map(|&bytes| as_f64(bytes) * 1e9 / interval_ns).collect()
}

/// That of most samples, and the worse of a tie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverTime {
    #[serde(rename = "course")]
    pub stability: Stability,
    pub samples: usize,
    /// Samples that were long enough.
    pub of: usize,
    /// Medians of those samples, for a burst.
    pub fall: Option<Fall>,
}

impl OverTime {
    /// None without a timeline.
    pub(crate) fn from_samples(samples: &[&Sample]) -> Option<Self> {
        let all: Vec<_> = samples.iter().filter_map(|sample| stability(sample)).collect();
        let count = |wanted| all.iter().filter(|(stability, _)| *stability == wanted).count();
        let (stability, _) = *all.iter().max_by_key(|(stability, _)| (count(*stability), *stability))?;
        let falls: Vec<Fall> = all.iter().filter_map(|(_, fall)| *fall).collect();
        let median =
            |value: fn(&Fall) -> f64| writebench_stats::median(&falls.iter().map(value).collect::<Vec<f64>>());
        let fall = || {
            Some(Fall {
                bytes_per_s: median(|fall| fall.bytes_per_s)?,
                until_ns: median(|fall| fall.until_ns)?,
                then_bytes_per_s: median(|fall| fall.then_bytes_per_s)?,
            })
        };
        let fall = if stability == Stability::Burst { fall() } else { None };
        Some(Self { stability, samples: count(stability), of: all.len(), fall })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Outcome;

    fn sample(bytes: impl IntoIterator<Item = u64>) -> Sample {
        let mut sample = Sample::without_figures(0, Outcome::Ok);
        sample.timeline =
            Some(Timeline { interval_ns: 100_000_000, bytes: bytes.into_iter().collect() }.into());
        sample
    }

    #[test]
    fn a_burst_has_bytes_per_second_and_a_time() {
        let over_time =
            OverTime::from_samples(&[&sample([[460_000_000; 10], [50_000_000; 10]].concat())]).unwrap();
        assert_eq!(over_time.stability, Stability::Burst);
        let fall = over_time.fall.unwrap();
        assert!(
            (fall.bytes_per_s - 4.6e9).abs() < 1.0 && (fall.then_bytes_per_s - 0.5e9).abs() < 1.0,
            "{fall:?}"
        );
        assert!((fall.until_ns - 1e9).abs() < 1.0, "{fall:?}");
    }

    #[test]
    fn most_samples_give_a_case_its_stability_and_the_worse_of_two() {
        let (steady, burst) = (sample([5; 20]), sample([[50; 10], [5; 10]].concat()));
        let short = Sample::without_figures(0, Outcome::Ok);
        let over_time = OverTime::from_samples(&[&steady, &steady, &burst, &short]).unwrap();
        assert_eq!((over_time.stability, over_time.samples, over_time.of), (Stability::Steady, 2, 3));
        assert_eq!(over_time.fall, None);
        let over_time = OverTime::from_samples(&[&steady, &burst]).unwrap();
        assert_eq!((over_time.stability, over_time.samples, over_time.of), (Stability::Burst, 1, 2));
        assert!(over_time.fall.is_some());
        assert_eq!(OverTime::from_samples(&[&short]), None);
    }
}
