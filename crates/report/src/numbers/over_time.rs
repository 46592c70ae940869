//! The course of a case's throughput over time.

use serde::Serialize;
use writebench_model::{Sample, Timeline};
use writebench_stats::{Burst, Course, as_f64};

/// The course of throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CourseName {
    /// Throughput stayed constant.
    Steady,
    /// Throughput was neither constant nor a burst.
    Unsteady,
    /// Throughput was high, and then lower.
    Burst,
}

impl CourseName {
    /// The word in tables and exports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Unsteady => "unsteady",
            Self::Burst => "burst",
        }
    }
}

/// The fall of throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fall {
    /// The throughput before the fall.
    pub bytes_per_s: f64,
    /// The time of the fall, since the beginning of phase write.
    pub until_ns: f64,
    /// The throughput after the fall.
    pub then_bytes_per_s: f64,
}

/// The course of a sample with a timeline, and its fall if it is a burst.
fn course(sample: &Sample) -> Option<(CourseName, Option<Fall>)> {
    let timeline = sample.timeline.as_ref().filter(|_| sample.outcome.is_ok())?;
    let elapsed_ns = as_f64(timeline.interval_ns) * as_f64(timeline.bytes.len() as u64);
    Some(match writebench_stats::course(&rates(timeline))? {
        Course::Steady => (CourseName::Steady, None),
        Course::Unsteady => (CourseName::Unsteady, None),
        Course::Burst(Burst { before, until, after }) => {
            let fall = Fall { bytes_per_s: before, until_ns: until * elapsed_ns, then_bytes_per_s: after };
            (CourseName::Burst, Some(fall))
        }
    })
}

/// Throughput of each interval.
pub(crate) fn rates(timeline: &Timeline) -> Vec<f64> {
    let interval_ns = as_f64(timeline.interval_ns.max(1));
    timeline.bytes.iter().map(|&bytes| as_f64(bytes) * 1e9 / interval_ns).collect()
}

/// The course of samples: that of most of them; of a tie, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverTime {
    pub course: CourseName,
    /// The number of samples with this course.
    pub samples: usize,
    /// The number of samples that were long enough.
    pub of: usize,
    /// The fall, for a burst: medians of those samples.
    pub fall: Option<Fall>,
}

impl OverTime {
    /// The course over the samples of the figures; none if none of them has a timeline.
    pub(crate) fn from_samples(samples: &[&Sample]) -> Option<Self> {
        let courses: Vec<_> = samples.iter().filter_map(|sample| course(sample)).collect();
        let count = |wanted| courses.iter().filter(|(name, _)| *name == wanted).count();
        let course = courses.iter().map(|(name, _)| *name).max_by_key(|&name| (count(name), name))?;
        let falls: Vec<Fall> = courses.iter().filter_map(|(_, fall)| *fall).collect();
        let median =
            |value: fn(&Fall) -> f64| writebench_stats::median(&falls.iter().map(value).collect::<Vec<f64>>());
        let fall = || {
            Some(Fall {
                bytes_per_s: median(|fall| fall.bytes_per_s)?,
                until_ns: median(|fall| fall.until_ns)?,
                then_bytes_per_s: median(|fall| fall.then_bytes_per_s)?,
            })
        };
        let fall = if course == CourseName::Burst { fall() } else { None };
        Some(Self { course, samples: count(course), of: courses.len(), fall })
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
    fn a_burst_is_told_in_bytes_per_second_and_time() {
        let course =
            OverTime::from_samples(&[&sample([[460_000_000; 10], [50_000_000; 10]].concat())]).unwrap();
        assert_eq!(course.course, CourseName::Burst);
        let fall = course.fall.unwrap();
        assert!(
            (fall.bytes_per_s - 4.6e9).abs() < 1.0 && (fall.then_bytes_per_s - 0.5e9).abs() < 1.0,
            "{fall:?}"
        );
        assert!((fall.until_ns - 1e9).abs() < 1.0, "{fall:?}");
    }

    #[test]
    fn most_samples_give_a_case_its_course_and_the_worse_of_two() {
        let (steady, burst) = (sample([5; 20]), sample([[50; 10], [5; 10]].concat()));
        let short = Sample::without_figures(0, Outcome::Ok);
        let over_time = OverTime::from_samples(&[&steady, &steady, &burst, &short]).unwrap();
        assert_eq!((over_time.course, over_time.samples, over_time.of), (CourseName::Steady, 2, 3));
        assert_eq!(over_time.fall, None);
        let over_time = OverTime::from_samples(&[&steady, &burst]).unwrap();
        assert_eq!((over_time.course, over_time.samples, over_time.of), (CourseName::Burst, 1, 2));
        assert!(over_time.fall.is_some());
        assert_eq!(OverTime::from_samples(&[&short]), None);
    }
}
