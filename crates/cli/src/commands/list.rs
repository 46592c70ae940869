use anyhow::Result;
use writebench_model::{Axis, Case, Goal, Method, Space, Suite, built_in_suites, suite_named};
use writebench_stats::distinct;

use crate::arguments::suite_names;
use crate::exit::Exit;
use crate::global::Global;
use crate::selection::USUAL_BLOCK_BYTES;
use clap::{Args, Subcommand};

/// List suites, goals, methods, axes, or the cases of a suite
#[derive(Args)]
pub(crate) struct ListCommand {
    #[command(subcommand)]
    what: Option<ListTopic>,
}

#[derive(Subcommand)]
enum ListTopic {
    /// List the suites, which are groups of cases
    Suites,
    /// List the goals for `writebench advise --for`, with everyday words for them
    Goals,
    /// List the methods, which are APIs to write or copy
    Methods,
    /// List the axes, which are properties of a case
    Axes,
    /// List the cases of a suite, by their names for --case
    Cases {
        /// The suite
        #[arg(value_parser = suite_names())]
        suite: String,
    },
}

impl ListCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let text = match &self.what {
            None | Some(ListTopic::Suites) => suites()?,
            Some(ListTopic::Goals) => goals()?,
            Some(ListTopic::Methods) => methods(),
            Some(ListTopic::Axes) => axes(),
            Some(ListTopic::Cases { suite }) => cases(suite)?,
        };
        let exit = global.output.results(&text)?;
        if self.what.is_none() {
            global
                .output
                .note("More: writebench list goals, methods, axes, cases SUITE");
        }
        Ok(exit)
    }
}

fn suites() -> Result<String> {
    let mut text = String::new();
    for suite in built_in_suites() {
        let cases = cases_of(suite)?.len();
        text += &format!("{:<10}{cases:>4} cases  {}\n", suite.name, suite.summary);
    }
    Ok(text)
}

fn goals() -> Result<String> {
    let mut text = String::new();
    for &goal in Goal::ALL {
        let title = Space::for_goal(goal, &[])?.title;
        text += &format!("{:<20}{title}\n", goal.name());
        if !goal.aliases().is_empty() {
            text += &format!("{:<20}also: {}\n", "", goal.aliases().join(", "));
        }
    }
    Ok(text)
}

fn methods() -> String {
    let mut text = String::new();
    for method in Method::ALL {
        let card = method.card();
        let axes: Vec<&str> = method.own_axes().map(Axis::name).collect();
        let prepares: Vec<&str> = card.prepares.iter().map(|prepare| prepare.name()).collect();
        let syncs: Vec<&str> = card.syncs.iter().map(|sync| sync.name()).collect();
        text += &format!("{:<16}{}\n", method.name(), card.summary);
        text += &format!("                calls: {}\n", card.calls);
        text += &format!("                axes: {}\n", axes.join(", "));
        text += &format!(
            "                prepare: {} (default {})\n",
            prepares.join(", "),
            card.prepares[0]
        );
        text += &format!("                sync: {}\n", syncs.join(", "));
        if !card.syncs_on_the_way.is_empty() {
            let calls: Vec<String> = card
                .syncs_on_the_way
                .iter()
                .map(|call| format!("{call}/N"))
                .collect();
            text += &format!(
                "                      and after every N chunks: {}\n",
                calls.join(", ")
            );
        }
    }
    text
}

fn axes() -> String {
    let lines = |&axis: &Axis| {
        let summary = axis.summary();
        let values = axis.values();
        let default = axis.default_value();
        format!("{axis:<12}{summary}\n            {values} (default {default})\n")
    };
    Axis::ALL.iter().map(lines).collect()
}

fn cases(name: &str) -> Result<String> {
    Ok(cases_of(suite_named(name)?)?
        .iter()
        .map(|case| format!("{case}\n"))
        .collect())
}

/// Each case once, even if it is in two tables.
fn cases_of(suite: &Suite) -> Result<Vec<Case>> {
    let rows = suite.rows(&[], USUAL_BLOCK_BYTES)?.rows;
    Ok(distinct(rows.into_iter().map(|row| row.case), Clone::clone))
}
