//! For programs that follow a run: one JSON document per line, as `docs/json.md` describes.

use serde::Serialize;
use writebench_model::{MissingTarget, RunRecord, Sample, SampleRow, TargetRecord};

use super::json::{self, SCHEMA};
use crate::numbers::grouped::distinct;
use crate::sentences::report::Report;

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'r> {
    Run {
        schema: u32,
        #[serde(flatten)]
        run: json::Run<'r>,
        targets: &'r [TargetRecord],
        missing: &'r [MissingTarget],
    },
    Sample {
        target: &'r str,
        case: &'r str,
        #[serde(flatten)]
        sample: SampleRow<'r>,
    },
    End {
        status: &'r str,
    },
}

fn line(line: &Line<'_>) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(line)? + "\n")
}

/// The first line: the run before its first sample.
///
/// # Errors
/// Never in practice: every key is a text.
pub fn begin(number: Option<i64>, run: &RunRecord) -> Result<String, serde_json::Error> {
    let (targets, missing) = (run.targets.as_slice(), run.missing.as_slice());
    line(&Line::Run { schema: SCHEMA, run: json::run_of(number, run), targets, missing })
}

/// A line for a sample.
///
/// # Errors
/// Never in practice: every key is a text.
pub fn sample(target: &str, case: &str, sample: &Sample) -> Result<String, serde_json::Error> {
    line(&Line::Sample { target, case, sample: SampleRow::of(sample) })
}

/// The last line.
///
/// # Errors
/// Never in practice: every key is a text.
pub fn end(run: &RunRecord) -> Result<String, serde_json::Error> {
    line(&Line::End { status: run.status.name() })
}

/// The whole of a finished run, in the order of rounds.
///
/// # Errors
/// Never in practice: every key is a text.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    let run = &report.run;
    let records = report.cases.iter().map(|case| &case.record);
    let mut samples: Vec<(&str, &str, &Sample)> = distinct(records, |case| (&case.target, case.case.name()))
        .into_iter()
        .flat_map(|case| case.samples.iter().map(|sample| (case.target.as_str(), case.case.name(), sample)))
        .collect();
    samples.sort_by_key(|(_, _, sample)| sample.round);
    let mut text = begin(report.number, run)?;
    for (target, case, of_case) in samples {
        text += &sample(target, case, of_case)?;
    }
    Ok(text + &end(run)?)
}
