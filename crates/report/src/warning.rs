//! What a reader of the figures must know.

use model::{RunRecord, RunStatus};

use crate::estimate::CONFIDENCE;
use crate::report::CaseReport;

pub(crate) fn warnings(run: &RunRecord, cases: &[CaseReport]) -> Vec<String> {
    let mut warnings = Vec::new();
    match run.status {
        RunStatus::Complete => {}
        RunStatus::Limited => warnings.push("A limit on time or bytes ended the run early.".to_owned()),
        RunStatus::Interrupted => {
            warnings.push("The run was interrupted; --resume goes on with it.".to_owned());
        }
        RunStatus::Running | RunStatus::Failed => {
            warnings.push("The run did not come to its end; --resume goes on with it.".to_owned());
        }
    }
    let estimates = || cases.iter().filter_map(|case| case.estimate.as_ref());
    let fewest = estimates().map(|estimate| estimate.samples).min();
    if let Some(fewest) = fewest
        && let Some(lowest) = estimates().map(|it| it.confidence).min_by(f64::total_cmp)
        && lowest < CONFIDENCE
    {
        let lowest = lowest * 100.0;
        warnings.push(format!(
            "As few as {}: their intervals are the range seen and hold the median with {lowest:.0} % confidence, not 95 %.",
            if fewest == 1 { "1 sample".to_owned() } else { format!("{fewest} samples") }
        ));
    }
    let (mut disturbed, mut all) = (0, 0);
    for case in cases {
        all += case.record.samples.iter().filter(|sample| sample.outcome.is_ok()).count();
        disturbed += case.estimate.as_ref().map_or(0, |estimate| estimate.disturbed);
    }
    if disturbed > 0 {
        warnings.push(format!(
            "{disturbed} of {all} samples were disturbed and are in no figure, unless a case has no other."
        ));
    }
    let only_disturbed = estimates().filter(|it| it.disturbed > 0 && it.disturbed == it.samples).count();
    if only_disturbed > 0 {
        warnings.push(format!("Cases with nothing but disturbed samples, marked ~: {only_disturbed}."));
    }
    if let Some(governor) = &run.environment.cpu.governor
        && governor != "performance"
    {
        warnings
            .push(format!("The CPU frequency governor is '{governor}': clocks may change between samples."));
    }
    warnings
}
