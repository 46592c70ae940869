//! A self-contained interactive page without network. Its scripts (`crates/report/page/`) make charts and
//! tables from its data. The content security policy allows no other script: recorded text cannot become one.

mod command;
mod content;
mod data;
mod highlight;
mod short;
mod spread;

use askama::Template;
use base64::Engine as _;
use sha2::{Digest, Sha256};

use self::content::{Run, Suite, extent, runs, suites, title};
use self::data::data;
use self::spread::{Spread, spreads};
use crate::charts;
use crate::numbers::{CompareError, ComparedRun, Comparison, Side};
use crate::sentences::{Report, run_names};

const STYLE: &str = include_str!("../../../page/style.css");
/// `docs/contributing/dependencies.md` has the source and the reason.
const PLOTLY: &str = include_str!("../../../page/vendor/plotly-cartesian.min.js");
/// In the order of their dependencies.
const SCRIPTS: [&str; 9] = [
    include_str!("../../../page/data.js"),
    include_str!("../../../page/text.js"),
    include_str!("../../../page/filters.js"),
    include_str!("../../../page/copying.js"),
    include_str!("../../../page/traces.js"),
    include_str!("../../../page/charts.js"),
    include_str!("../../../page/tables.js"),
    include_str!("../../../page/overview.js"),
    include_str!("../../../page/main.js"),
];

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'r> {
    title: String,
    extent: String,
    runs: Vec<Run<'r>>,
    /// Of the first run with each other run.
    comparisons: Vec<Result<Comparison, CompareError>>,
    suites: Vec<Suite<'r>>,
    spreads: Vec<Spread<'r>>,
    warnings: usize,
    troubled: usize,
    script: String,
    data: String,
    /// For the content security policy.
    script_hashes: String,
}

/// Compares all other runs with the first.
#[must_use]
pub fn render(reports: &[Report]) -> String {
    let names = run_names(reports);
    let charts = charts::charts(reports);
    let side = |index: usize| {
        let (name, run) = (names[index].clone(), reports[index].whole_run());
        Side {
            name: name.clone(),
            runs: vec![ComparedRun { name, run }],
        }
    };
    let comparison = |b: usize| Comparison::from_sides(side(0), side(b));
    let comparisons: Vec<_> = (1..reports.len()).map(comparison).collect();
    let data = serde_json::to_string(&data(reports, &names, &charts, &comparisons))
        .expect("every key is a text");
    let script = format!("\"use strict\"\n{{\n{}}}\n", SCRIPTS.concat());
    let page = Page {
        title: title(reports, &names),
        extent: extent(reports),
        runs: runs(reports, &names),
        suites: suites(reports, &names, &charts),
        spreads: spreads(reports, &names),
        warnings: reports.iter().map(|report| report.warnings.len()).sum(),
        troubled: reports
            .iter()
            .flat_map(|report| &report.cases)
            .filter(|case| !case.is_ok())
            .count(),
        comparisons,
        script_hashes: [PLOTLY, &script].map(hash).join(" "),
        script,
        // The same in a JSON string, and cannot end an element.
        data: data.replace('<', "\\u003c"),
    };
    page.render().expect("the page is written to memory")
}

fn hash(script: &str) -> String {
    format!(
        "'sha256-{}'",
        base64::engine::general_purpose::STANDARD.encode(Sha256::digest(script))
    )
}

#[cfg(test)]
mod tests;
