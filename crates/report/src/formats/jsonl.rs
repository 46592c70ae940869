//! A run as its events, one JSON document per line, see `docs/reference/json.md`. The import reads the same lines.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use writebench_model::{
    CaseRecord, Cluster, Decision, Limit, MOST_ROWS, RunEvent, RunRecord, RunStatus, Sample,
    SampleDocument, at_most,
};

use super::head::{Run, Targets};
use super::json::SCHEMA;
use crate::sentences::Report;

/// An event of a run, in which targets and cases have their names. The first line is the run before its first event.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<'l> {
    Run(Box<Head<'l>>),
    Row(Cow<'l, CaseRecord>),
    Sample(SampleLine<'l>),
    Limits {
        target: Cow<'l, str>,
        #[serde(deserialize_with = "limits")]
        limits: Cow<'l, [Limit]>,
    },
    Cluster(Cow<'l, Cluster>),
    /// One of several.
    Decision(Cow<'l, Decision>),
    Totals {
        written_bytes: u64,
        cpu_wait_ppm: Option<u32>,
    },
    End {
        status: RunStatus,
    },
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Head<'l> {
    pub schema: u32,
    #[serde(flatten)]
    pub run: Run<'l>,
    #[serde(flatten)]
    pub targets: Targets<'l>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SampleLine<'l> {
    pub target: Cow<'l, str>,
    pub case: Cow<'l, str>,
    #[serde(flatten, serialize_with = "with_derived_values")]
    pub sample: Cow<'l, Sample>,
}

fn with_derived_values<S: Serializer>(sample: &Sample, serializer: S) -> Result<S::Ok, S::Error> {
    SampleDocument::from(sample).serialize(serializer)
}

fn limits<'de, 'l, D: Deserializer<'de>>(from: D) -> Result<Cow<'l, [Limit]>, D::Error> {
    at_most(from, MOST_ROWS, "entries in a list").map(Cow::Owned)
}

fn text(line: &Line<'_>) -> String {
    serde_json::to_string(line).expect("every key is a text") + "\n"
}

/// The lines with which the export of a run begins. A resumed run has the events of its earlier parts in them.
pub fn begin(number: Option<i64>, run: &RunRecord) -> String {
    let rows: Vec<&CaseRecord> = run.cases.iter().collect();
    // The totals and the status of an earlier part are not those of the run.
    let earlier = run
        .events(&rows)
        .filter(|event| !matches!(event, RunEvent::Totals { .. } | RunEvent::Status(_)));
    head(number, run) + &earlier.map(|event| lines(run, &event)).collect::<String>()
}

fn head(number: Option<i64>, run: &RunRecord) -> String {
    let run = run.beginning();
    text(&Line::Run(Box::new(Head {
        schema: SCHEMA,
        targets: Targets::of(&run),
        run: Run::new(number, Cow::Borrowed(&run)),
    })))
}

/// The line of an event, or one for each decision.
pub fn lines(run: &RunRecord, event: &RunEvent) -> String {
    let name = |target: usize| Cow::Borrowed(run.targets[target].name.as_str());
    text(&match event {
        RunEvent::Decisions(decisions) => {
            let lines = decisions.iter().map(Cow::Borrowed).map(Line::Decision);
            return lines.map(|line| text(&line)).collect();
        }
        RunEvent::Row(row) => Line::Row(Cow::Borrowed(row)),
        RunEvent::Sample {
            target,
            case,
            sample,
        } => Line::Sample(SampleLine {
            target: name(*target),
            case: Cow::Borrowed(case.name()),
            sample: Cow::Borrowed(sample),
        }),
        RunEvent::Limits { target, limits } => Line::Limits {
            target: name(*target),
            limits: Cow::Borrowed(limits),
        },
        RunEvent::Cluster(cluster) => Line::Cluster(Cow::Borrowed(cluster)),
        RunEvent::Totals {
            written_bytes,
            cpu_wait_ppm,
        } => Line::Totals {
            written_bytes: *written_bytes,
            cpu_wait_ppm: *cpu_wait_ppm,
        },
        RunEvent::Status(status) => Line::End { status: *status },
    })
}

/// The lines of a whole run, as they were written during it. Rows that joined on the way come first.
pub fn render(report: &Report) -> String {
    let run = &report.run;
    let rows: Vec<&CaseRecord> = report.cases.iter().map(|case| &case.record).collect();
    let events = run.events(&rows).map(|event| lines(run, &event));
    head(report.number, run) + &events.collect::<String>()
}
