//! A self-contained interactive page without network. Its scripts (`crates/report/page/`) make tables from its data,
//! and filter and explain its charts. The content security policy allows no other script: recorded text cannot become one.

mod command;
mod content;
mod data;
mod highlight;
mod packs;
mod pictures;
mod short;
mod spread;

use askama::Template;
use base64::Engine as _;
use sha2::{Digest, Sha256};

use self::content::{Goals, Run, Suite, extent, goals, runs, suites, title};
use self::data::data;
use self::packs::{Packs, packed};
use self::pictures::of_ratios;
use self::spread::{Spread, spreads};
use super::palette;
use super::svg::Picture;
use crate::charts;
use crate::numbers::{CompareError, ComparedRun, Comparison, Side};
use crate::sentences::{Report, run_names};

const STYLE: &str = include_str!("../../../page/style.css");
/// The page's scripts in the order of their dependencies.
const SCRIPTS: [&str; 10] = [
    include_str!("../../../page/data.js"),
    include_str!("../../../page/text.js"),
    include_str!("../../../page/filters.js"),
    include_str!("../../../page/copying.js"),
    include_str!("../../../page/points.js"),
    include_str!("../../../page/charts.js"),
    include_str!("../../../page/pointing.js"),
    include_str!("../../../page/tables.js"),
    include_str!("../../../page/overview.js"),
    include_str!("../../../page/main.js"),
];

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'r> {
    title: String,
    extent: String,
    goals: Option<Goals>,
    runs: Vec<Run<'r>>,
    /// The comparison of the first run with each other run.
    comparisons: Vec<Result<Comparison, CompareError>>,
    ratios: Vec<Option<Picture>>,
    suites: Vec<Suite<'r>>,
    spreads: Vec<Spread<'r>>,
    troubled: usize,
    /// The colours of the charts.
    chart_styles: String,
    /// Drawings that the script unpacks.
    packs: Vec<String>,
    script: String,
    /// What only the script reads, packed as well.
    data: String,
    /// The hash by which the content security policy allows the script.
    script_hash: String,
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
    // The first script waits for the data.
    let script = format!(
        "\"use strict\";\n(async () => {{\n{}}})();\n",
        short(&SCRIPTS.concat())
    );
    let mut suites = suites(reports, &names, &charts);
    let mut ratios = of_ratios(&comparisons);
    let answers = charts::goals::chart(reports);
    let drawn = charts.iter().map(|named| &named.chart);
    let drawn = drawn.chain(answers.iter().flat_map(|answers| &answers.goals));
    let page = Page {
        title: title(reports, &names),
        extent: extent(reports),
        runs: runs(reports, &names),
        packs: Packs::of(&mut suites, &mut ratios),
        suites,
        ratios,
        chart_styles: palette::page_styles(drawn),
        goals: answers.as_ref().map(goals),
        spreads: spreads(reports, &names),
        troubled: reports
            .iter()
            .flat_map(|report| &report.cases)
            .filter(|case| !case.is_ok())
            .count(),
        comparisons,
        script_hash: hash(&script),
        script,
        data: packed(&data),
    };
    page.render().expect("the page is written to memory")
}

/// The script without comments and indentation. No text of the scripts has several lines.
fn short(script: &str) -> String {
    let lines = script.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn hash(script: &str) -> String {
    format!(
        "'sha256-{}'",
        base64::engine::general_purpose::STANDARD.encode(Sha256::digest(script))
    )
}

#[cfg(test)]
mod tests;
