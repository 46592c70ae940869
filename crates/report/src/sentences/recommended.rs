use writebench_model::Case;
use writebench_stats::FEWEST_FOR_INTERVAL;

use crate::numbers::{CaseReport, Decided};

impl Decided<'_> {
    /// `no other of the 9 methods compared is more than 2 % faster (95 %)`. The words are None if there is no other.
    /// `faster` may be another word for what a search minimizes.
    pub(crate) fn bound_in_words(&self, faster: &str) -> Option<String> {
        let percent = bound_percent(self.bound);
        match self.compared {
            0 | 1 => None,
            2 => Some(format!(
                "the other method compared is at most {percent} % {faster} (95 %)"
            )),
            many => Some(format!(
                "no other of the {many} methods compared is more than {percent} % {faster} (95 %)"
            )),
        }
    }
}

/// The bound in percent, rounded up.
pub(crate) fn bound_percent(bound: f64) -> String {
    // Recorded in millionths. A quotient of floats must not round 7 % up to 8.
    let millionths = ((bound - 1.0) * 1e6).round();
    let percent = (millionths / 1e4).ceil().max(1.0);
    format!("{percent:.0}")
}

/// Whether a case has the samples of an interval.
pub(crate) fn has_rounds(case: &CaseReport) -> bool {
    case.estimate
        .as_ref()
        .is_some_and(|estimate| estimate.samples >= FEWEST_FOR_INTERVAL as usize)
}

/// The measured cases that have one choice less than this one, which is again the baseline's.
pub(crate) fn simpler<'c>(
    case: &CaseReport,
    baseline: &CaseReport,
    measured: &[&'c CaseReport],
) -> Vec<&'c CaseReport> {
    let (Some(case), Some(baseline)) = (case.record.case.known(), baseline.record.case.known())
    else {
        return Vec::new();
    };
    case.simplifications(baseline)
        .iter()
        .filter_map(|simpler| find(simpler, measured))
        .collect()
}

fn find<'c>(case: &Case, measured: &[&'c CaseReport]) -> Option<&'c CaseReport> {
    measured
        .iter()
        .copied()
        .find(|measured| measured.record.case.known() == Some(case))
}
