//! One JSON document per line during a run, see `docs/reference/json.md`.

use serde::Serialize;
use writebench_model::{
    CaseRecord, Decision, MissingTarget, RunEvent, RunRecord, Sample, SampleDocument, TargetRecord,
    distinct_rows,
};

use super::json::{self, SCHEMA};
use crate::sentences::Report;

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'r> {
    Run {
        schema: u32,
        #[serde(flatten)]
        run: json::Run<'r>,
        targets: &'r [TargetRecord],
        missing_targets: &'r [MissingTarget],
    },
    Sample {
        target: &'r str,
        case: &'r str,
        #[serde(flatten)]
        sample: SampleDocument<'r>,
    },
    Decision(&'r Decision),
    End {
        status: &'r str,
    },
}

fn text(line: &Line<'_>) -> String {
    serde_json::to_string(line).expect("every key is a text") + "\n"
}

/// The first line, before any sample.
pub fn begin(number: Option<i64>, run: &RunRecord) -> String {
    text(&Line::Run {
        schema: SCHEMA,
        run: json::run_of(number, run),
        targets: &run.targets,
        missing_targets: &run.missing,
    })
}

/// The line of an event, or one for each decision. Events that only the whole document has give no line.
pub fn lines(run: &RunRecord, event: &RunEvent) -> String {
    match event {
        RunEvent::Sample {
            target,
            case,
            sample,
        } => {
            let target = &run.targets[*target].name;
            text(&Line::Sample {
                target,
                case: case.name(),
                sample: SampleDocument::from(&**sample),
            })
        }
        RunEvent::Decisions(decisions) => decision_lines(decisions),
        RunEvent::Status(status) => text(&Line::End {
            status: status.name(),
        }),
        RunEvent::Row(_)
        | RunEvent::Limits { .. }
        | RunEvent::Cluster(_)
        | RunEvent::Totals { .. } => String::new(),
    }
}

fn decision_lines(decisions: &[Decision]) -> String {
    decisions
        .iter()
        .map(|decision| text(&Line::Decision(decision)))
        .collect()
}

/// The lines of a whole run, as they would have been written during it. Runs of earlier versions did not record the
/// order of their samples, which are in that of the rounds.
pub fn render(report: &Report) -> String {
    let rows = distinct_rows(report.cases.iter().map(|case| &case.record));
    let mut samples: Vec<(&CaseRecord, &Sample)> = rows
        .flat_map(|row| row.samples.iter().map(move |sample| (row, sample)))
        .collect();
    samples.sort_by_key(|(_, sample)| (sample.order, sample.round));
    let mut lines = begin(report.number, &report.run);
    for (row, sample) in samples {
        let sample = SampleDocument::from(sample);
        lines += &text(&Line::Sample {
            target: &row.target,
            case: row.case.name(),
            sample,
        });
    }
    lines
        + &decision_lines(&report.run.decisions)
        + &text(&Line::End {
            status: report.run.status.name(),
        })
}
