//! For monitoring: OpenMetrics text, as node_exporter's textfile collector and promtool read it.
//!
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>: one family after the other,
//! base units, `# EOF` at the end.

use crate::numbers::case::CaseReport;
use crate::numbers::estimate::{Estimate, Figure};
use crate::numbers::grouped::distinct;
use crate::sentences::report::Report;

/// A family: its name without what every name begins with, its unit, its help, and its figure.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    figure: fn(&Estimate) -> Option<&Figure>,
    /// From the figure's unit to the family's.
    factor: f64,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "throughput_bytes_per_second",
        unit: "bytes_per_second",
        help: "Bytes over the time of all phases, median of the samples and the ends of its interval",
        figure: |it| Some(&it.throughput_bytes_per_s),
        factor: 1.0,
    },
    Family {
        name: "elapsed_seconds",
        unit: "seconds",
        help: "Time of all phases, median of the samples and the ends of its interval",
        figure: |it| Some(&it.total_ns),
        factor: 1e-9,
    },
    Family {
        name: "user_cpu_seconds",
        unit: "seconds",
        help: "CPU time in user mode, median of the samples and the ends of its interval",
        figure: |it| Some(&it.user_cpu_figure_ns),
        factor: 1e-9,
    },
    Family {
        name: "system_cpu_seconds",
        unit: "seconds",
        help: "CPU time in the kernel, median of the samples and the ends of its interval",
        figure: |it| Some(&it.system_cpu_figure_ns),
        factor: 1e-9,
    },
];

/// The whole report. Cases without a figure are counted by outcome only.
#[must_use]
pub(super) fn render(report: &Report) -> String {
    // A case may stand in several tables, and a series in a file once.
    let cases = distinct(&report.cases, |case| (&case.record.target, case.record.case.name()));
    let mut text = String::new();
    for family in FAMILIES {
        text += &format!("# TYPE writebench_{} gauge\n", family.name);
        text += &format!("# UNIT writebench_{} {}\n", family.name, family.unit);
        text += &format!("# HELP writebench_{} {}\n", family.name, family.help);
        for case in &cases {
            let figure = case.estimate.as_ref().and_then(family.figure);
            for (quantity, value) in figure.iter().flat_map(|it| parts(it)) {
                let labels = labels(report, case);
                let value = value * family.factor;
                text += &format!("writebench_{}{{{labels},figure=\"{quantity}\"}} {value}\n", family.name);
            }
        }
    }
    text += "# TYPE writebench_case_ok gauge\n";
    text += "# HELP writebench_case_ok 1 where the last sample was good, 0 where it was not or there is none\n";
    for case in &cases {
        let (labels, outcome) = (labels(report, case), case.outcome_name());
        let is_ok = u8::from(case.is_ok());
        text += &format!("writebench_case_ok{{{labels},outcome=\"{outcome}\"}} {is_ok}\n");
    }
    text + "# EOF\n"
}

fn parts(figure: &Figure) -> [(&'static str, f64); 3] {
    [("median", figure.median), ("low", figure.low), ("high", figure.high)]
}

fn labels(report: &Report, case: &CaseReport) -> String {
    let kind = case.target(&report.run).map_or("", |target| target.environment.filesystem.kind.as_str());
    let record = &case.record;
    format!(
        "run=\"{}\",target=\"{}\",filesystem=\"{}\",case=\"{}\"",
        escaped(&report.run.id),
        escaped(&record.target),
        escaped(kind),
        escaped(record.case.name())
    )
}

/// A label's value: backslash, quote and line feed are escaped, and nothing else.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
