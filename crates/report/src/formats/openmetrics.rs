//! For monitoring: OpenMetrics text, as node_exporter's textfile collector and promtool read it.
//!
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>: one family after the other,
//! base units, `# EOF` at the end.

use crate::numbers::case::CaseReport;
use crate::numbers::estimate::{Estimate, Figure};
use crate::numbers::grouped::distinct;
use crate::sentences::report::Report;

/// A family: its name without prefix and unit, its unit, its description, and its figure.
type Family = (&'static str, &'static str, &'static str, fn(&Estimate) -> &Figure);

const FAMILIES: [Family; 4] = [
    ("throughput", "bytes_per_second", "Bytes over the time of all phases", |it| &it.throughput_bytes_per_s),
    ("elapsed", SECONDS, "Time of all phases", |it| &it.total_ns),
    ("user_cpu", SECONDS, "CPU time in user mode", |it| &it.user_cpu_figure_ns),
    ("system_cpu", SECONDS, "CPU time in the kernel", |it| &it.system_cpu_figure_ns),
];

/// Figures of time are in nanoseconds.
const SECONDS: &str = "seconds";

/// The whole report. Cases without a figure are counted by outcome only.
#[must_use]
pub(super) fn render(report: &Report) -> String {
    // A case may be in several tables, but a series in a file only once.
    let cases = distinct(&report.cases, |case| (&case.record.target, case.record.case.name()));
    let mut text = String::new();
    for (name, unit, what, figure) in FAMILIES {
        text += &format!("# TYPE writebench_{name}_{unit} gauge\n");
        text += &format!("# UNIT writebench_{name}_{unit} {unit}\n");
        text += &format!("# HELP writebench_{name}_{unit} {what}, the value and the ends of its interval\n");
        let factor = if unit == SECONDS { 1e-9 } else { 1.0 };
        for (case, estimate) in cases.iter().filter_map(|case| Some((case, case.estimate.as_ref()?))) {
            let (labels, figure) = (labels(report, case), figure(estimate));
            let ends = [("low", figure.low), ("high", figure.high)];
            let ends = ends.into_iter().filter_map(|(end, value)| Some((end, value?)));
            for (quantity, value) in std::iter::once(("value", figure.value)).chain(ends) {
                let value = value * factor;
                text += &format!("writebench_{name}_{unit}{{{labels},figure=\"{quantity}\"}} {value}\n");
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

/// A label's value: only backslash, quote and line feed are escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
