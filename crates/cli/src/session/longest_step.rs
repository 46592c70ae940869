//! Why a run takes longer than its budget: some steps cannot be interrupted.

use std::time::Duration;

use writebench_model::{PhasesNs, RecordedCase, Sample};

use super::cost::rounded;

/// A shorter excess needs no words.
const EXCESS: Duration = Duration::from_secs(2);

/// The longest step of a run that its budget does not interrupt.
#[derive(Debug, Default)]
pub(super) struct LongestStep {
    took: Duration,
    what: String,
}

impl LongestStep {
    pub(super) fn see(&mut self, took: Duration, what: impl FnOnce() -> String) {
        if took > self.took {
            (self.took, self.what) = (took, what());
        }
    }

    /// Why the run took so much longer than its budget. None if it did not, or if this step was short.
    pub(super) fn why_longer(&self, took: Duration, budget: Duration) -> Option<String> {
        let excess = took.saturating_sub(budget);
        (excess > EXCESS && excess > budget / 10 && self.took > excess / 4).then(|| {
            format!(
                "That is longer than its budget of {budget:?}, because some steps are not interrupted: {} took {}.",
                self.what,
                rounded(self.took.as_secs_f64())
            )
        })
    }
}

/// `a sample of write,size=16MiB (18 s in phase sync)`.
pub(super) fn sample_in_words(case: &RecordedCase, sample: &Sample) -> String {
    let PhasesNs {
        prepare,
        open,
        write,
        sync,
        close,
    } = sample.phases_ns;
    let parts = [
        (prepare, "in phase prepare"),
        (open, "in phase open"),
        (write, "in phase write"),
        (sync, "in phase sync"),
        (close, "in phase close"),
        (sample.settle_ns, "to write back what was written before"),
    ];
    let longest = parts.into_iter().max().filter(|(ns, _)| *ns > 0);
    let part = longest.map_or(String::new(), |(ns, place)| {
        let time = rounded(Duration::from_nanos(ns).as_secs_f64());
        format!(" ({time} {place})")
    });
    format!("a sample of {case}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Case, Outcome};

    #[test]
    fn the_longest_step_explains_a_late_end() {
        let mut longest = LongestStep::default();
        let seconds = Duration::from_secs;
        longest.see(seconds(19), || "a sample of write".to_owned());
        longest.see(seconds(1), || panic!("it is shorter"));
        assert_eq!(
            longest.why_longer(seconds(22), seconds(3)).unwrap(),
            "That is longer than its budget of 3s, because some steps are not interrupted: a sample of write took 19 s."
        );
        assert_eq!(longest.why_longer(seconds(4), seconds(3)), None);
        assert_eq!(
            longest.why_longer(seconds(160), seconds(3)),
            None,
            "it explains little"
        );
    }

    #[test]
    fn a_sample_has_its_longest_part() {
        let case = RecordedCase::from(Case::parse("write,sync=fsync").unwrap());
        let mut sample = Sample::without_figures(0, Outcome::Ok);
        assert_eq!(
            sample_in_words(&case, &sample),
            "a sample of write,sync=fsync"
        );
        sample.phases_ns.sync = 18_000_000_000;
        sample.settle_ns = 1_000_000_000;
        assert_eq!(
            sample_in_words(&case, &sample),
            "a sample of write,sync=fsync (18 s in phase sync)"
        );
    }
}
