use writebench_model::{Case, Settings};
use writebench_stats::{FEWEST_FOR_INTERVAL, Standings};

use crate::numbers::{CaseReport, times};

/// The answer of the scheduler, found again from the same samples by the same [`Standings`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decision<'c> {
    pub(crate) case: &'c CaseReport,
    /// No other case is faster by more than this ratio, at 95 %.
    pub(crate) bound: f64,
    /// The cases with enough samples to be better or worse. The bound says nothing of the others.
    pub(crate) compared: usize,
}

impl Decision<'_> {
    /// `no other of the 9 methods compared is more than 2 % faster (95 %)`. None if there is no other.
    pub(crate) fn bound_in_words(&self) -> Option<String> {
        let percent = self.bound_percent();
        match self.compared {
            0 | 1 => None,
            2 => Some(format!(
                "the other method compared is at most {percent} % faster (95 %)"
            )),
            many => Some(format!(
                "no other of the {many} methods compared is more than {percent} % faster (95 %)"
            )),
        }
    }

    /// Rounded up.
    pub(crate) fn bound_percent(&self) -> String {
        let percent = ((self.bound - 1.0) * 100.0).ceil().max(1.0);
        format!("{percent:.0}")
    }
}

/// What is recommended among the cases of one contract. None without enough samples. Baselines that the user's
/// program cannot have are only references.
pub(crate) fn decide<'c>(
    cases: &[&'c CaseReport],
    settings: &Settings,
    is_baseline: impl Fn(&CaseReport) -> bool,
) -> Option<Decision<'c>> {
    let able: Vec<&CaseReport> = cases
        .iter()
        .copied()
        .filter(|case| !case.is_out())
        .collect();
    let tables: Vec<_> = able
        .iter()
        .map(|case| times(&case.judged(), settings.objective))
        .collect();
    let standings = Standings::of(&tables);
    let compared = (0..able.len())
        .filter(|&index| standings.is_compared(index))
        .count();
    let is_allowed = |case: &CaseReport| {
        case.record
            .case
            .known()
            .is_none_or(|case| settings.allows(case, case))
    };
    // A later version's case counts as the most complex.
    let effort = |case: &CaseReport| match case.record.case.known() {
        _ if is_baseline(case) => None,
        known => Some(known.map_or((u32::MAX, usize::MAX), Case::complexity)),
    };
    let rivals =
        (0..able.len()).filter(|&index| !is_baseline(able[index]) || is_allowed(able[index]));
    let rivals: Vec<_> = rivals.map(|index| (index, effort(able[index]))).collect();
    let answer = standings.answer(&rivals)?;
    Some(Decision {
        case: able[answer],
        bound: standings.bound(answer)?,
        compared,
    })
}

/// Whether a case has the samples of an interval.
pub(crate) fn has_rounds(case: &CaseReport) -> bool {
    case.estimate
        .as_ref()
        .is_some_and(|estimate| estimate.samples >= FEWEST_FOR_INTERVAL as usize)
}

/// The cases with one choice less, towards the baseline.
pub(crate) fn simpler<'c>(
    case: &CaseReport,
    baseline: &CaseReport,
    measured: &[&'c CaseReport],
) -> Vec<&'c CaseReport> {
    let known = case.record.case.known().zip(baseline.record.case.known());
    let simpler = known.map_or(Vec::new(), |(case, plain)| case.simplifications(plain));
    let find = |case: &Case| {
        measured
            .iter()
            .copied()
            .find(|other| other.record.case.known() == Some(case))
    };
    simpler.iter().filter_map(find).collect()
}
