mod axes;
mod goals;
mod methods;
mod reference;

use anyhow::Result;
use writebench_model::{Case, Suite, built_in_suites, suite_named};
use writebench_stats::distinct;

use crate::arguments::suite_names;
use crate::exit::Exit;
use crate::global::Global;
use crate::selection::USUAL_BLOCK_BYTES;
use clap::{Args, Subcommand};

/// List and explain suites, goals, methods, axes, or the cases of a suite
#[derive(Args)]
pub(crate) struct ListCommand {
    #[command(subcommand)]
    what: Option<ListTopic>,
}

#[derive(Subcommand)]
enum ListTopic {
    /// List the suites, which are groups of cases
    Suites,
    /// List the goals for `writebench advise --for`: what is true afterwards, everyday words, and the command
    Goals,
    /// List the methods, which are APIs to write or copy, or explain one
    Methods {
        /// Explain this method: its calls, its axes with their defaults, and its syncs
        #[arg(value_name = "METHOD")]
        method: Option<String>,
    },
    /// List the axes, which are properties of a case, or explain one
    Axes {
        /// Explain each value of this axis, or one value: the call it makes, what it needs, and when it pays
        #[arg(value_name = "AXIS[=VALUE]")]
        axis: Option<String>,
    },
    /// List the cases of a suite, by their names for --case
    Cases {
        /// The suite
        #[arg(value_parser = suite_names())]
        suite: String,
    },
}

impl ListCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let width = global.output.width().unwrap_or(usize::MAX);
        let text = match &self.what {
            None | Some(ListTopic::Suites) => suites()?,
            Some(ListTopic::Goals) => goals::all(width)?,
            Some(ListTopic::Methods { method: None }) => methods::all(),
            Some(ListTopic::Methods { method: Some(name) }) => methods::described(name, width)?,
            Some(ListTopic::Axes { axis: None }) => axes::all(),
            Some(ListTopic::Axes { axis: Some(asked) }) => axes::described(asked, width)?,
            Some(ListTopic::Cases { suite }) => cases(suite)?,
        };
        let exit = global.output.results(&text)?;
        if let Some(more) = self.more()? {
            global.output.note(&more);
        }
        Ok(exit)
    }

    /// Where to read on.
    fn more(&self) -> Result<Option<String>> {
        Ok(match &self.what {
            None => Some("More: writebench list goals, methods, axes, cases SUITE".to_owned()),
            Some(ListTopic::Methods { method: None }) => {
                Some("More about one: writebench list methods METHOD".to_owned())
            }
            Some(ListTopic::Axes { axis: None }) => {
                Some("More about one: writebench list axes AXIS, or AXIS=VALUE".to_owned())
            }
            Some(ListTopic::Axes { axis: Some(asked) }) => {
                let axis = axes::axis_in(asked)?;
                Some(format!("With links: {REFERENCE}/axes.md#{axis}"))
            }
            Some(_) => None,
        })
    }
}

/// The reference on the web.
const REFERENCE: &str = "https://github.com/writebench/writebench/blob/main/docs/reference";

fn suites() -> Result<String> {
    let mut text = String::new();
    for suite in built_in_suites() {
        let cases = cases_of(suite)?.len();
        text += &format!("{:<10}{cases:>4} cases  {}\n", suite.name, suite.summary);
    }
    Ok(text)
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
