//! `--fail-if-slower`: an exit code for a loss of speed.

use anyhow::{Result, ensure};
use clap::Args;
use writebench_model::{Method, SelectedCase};
use writebench_report::{GateVerdict, Report, counted, percent, ratio_interval};
use writebench_stats::Interval;

use crate::arguments::{GATE, percent_in_ppm};
use crate::exit::{Exit, usage};
use crate::output::{self, Output};

#[derive(Args, Default)]
pub(crate) struct GateArguments {
    /// Take rounds until it is known whether each case or program is slower than the baseline by more than this,
    /// at most 20 times --samples. Exit with code 5 if one is: if its whole interval is (for 5%, below 0.95)
    #[arg(long, value_name = "PERCENT", value_parser = percent_in_ppm, conflicts_with = "precision",
        help_heading = GATE)]
    pub fail_if_slower: Option<u32>,
    /// Compare with this case, or with the program of this name [default: the first]
    #[arg(long, value_name = "CASE|NAME", requires = "fail_if_slower", help_heading = GATE)]
    pub baseline: Option<String>,
}

impl GateArguments {
    /// Refuses unequal work. The baseline is the first row.
    pub(crate) fn check(&self, rows: &[SelectedCase]) -> Result<()> {
        let (Some(_), Some(baseline)) = (self.fail_if_slower, rows.first()) else {
            return Ok(());
        };
        let mut others = rows
            .iter()
            .filter(|row| row.case != baseline.case)
            .peekable();
        ensure!(
            others.peek().is_some(),
            usage!(
                "--fail-if-slower needs a baseline and another case. Name two by --case or --command"
            )
        );
        let workload = baseline.case.workload();
        let Some(other) = others.find(|row| row.case.workload() != workload) else {
            return Ok(());
        };
        let difference = difference(baseline, other);
        let [baseline, other] = [baseline, other].map(name);
        Err(usage!(
            "--fail-if-slower: {other} is other work than the baseline {baseline}, so they are not compared.{difference} \
             Name cases of one workload"
        ))
    }
}

fn name(row: &SelectedCase) -> String {
    row.label.clone().unwrap_or_else(|| row.case.to_string())
}

/// What one of two cases lacks of the work of the other.
fn difference(baseline: &SelectedCase, other: &SelectedCase) -> String {
    let [method, to_compare] = [other, baseline].map(|row| row.case.method());
    if method == Method::Program && to_compare.copies() {
        return " If the program copies {source}, add --copies.".to_owned();
    }
    for (weaker, stronger) in [(other, baseline), (baseline, other)] {
        if let Err(shortfall) = weaker.case.workload().check(&stronger.case.workload()) {
            return format!(" With {}, {shortfall}.", name(weaker));
        }
    }
    String::new()
}

/// Prints the slower cases as an error.
pub(crate) fn exit_for(limit_ppm: u32, slower: impl Iterator<Item = (String, Interval)>) -> Exit {
    let Err(error) = slower_error(limit_ppm, slower) else {
        return Exit::Ok;
    };
    output::print_error(&error);
    Exit::Gate
}

fn slower_error(limit_ppm: u32, slower: impl Iterator<Item = (String, Interval)>) -> Result<()> {
    let of_each = slower.map(|(name, ratio)| format!("{name} ({})", ratio_interval(&ratio)));
    let of_each: Vec<String> = of_each.collect();
    ensure!(
        of_each.is_empty(),
        "slower by more than {}: {}",
        percent(limit_ppm),
        of_each.join(", ")
    );
    Ok(())
}

pub(crate) fn exit_for_run(report: &Report, output: &Output) -> Result<Exit> {
    let Some(limit_ppm) = report.run.settings.fail_if_slower_ppm else {
        return Ok(Exit::Ok);
    };
    let judged = report
        .gated
        .iter()
        .filter(|gated| gated.speed_ratio.is_some())
        .count();
    ensure!(
        judged > 0,
        usage!(
            "--fail-if-slower: no case has the {} undisturbed rounds that a verdict needs. {}",
            report.rounds_for_verdict(),
            report.without_verdict().trim_end_matches('.')
        )
    );
    let undecided = report
        .gated
        .iter()
        .filter(|gated| gated.verdict == GateVerdict::Undecided)
        .count();
    if undecided > 0 {
        output.note(&format!(
            "--fail-if-slower: {} undecided.",
            counted(undecided, "case")
        ));
    }
    let slower = report
        .gated
        .iter()
        .filter(|gated| gated.verdict == GateVerdict::Slower);
    Ok(exit_for(
        limit_ppm,
        slower.filter_map(|gated| Some((gated.name.clone(), gated.speed_ratio?))),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its line said 0.935, and the last line of the run 0.934.
    #[test]
    fn a_bound_is_rounded_in_one_way() {
        let ratio = Interval {
            estimate: 0.5,
            low: 0.0824,
            high: 0.9341,
            confidence: 0.95,
            count: 8,
        };
        let Err(error) = slower_error(50_000, [("head".to_owned(), ratio)].into_iter()) else {
            panic!("no error")
        };
        assert_eq!(
            error.to_string(),
            "slower by more than 5 %: head (0.082 – 0.935)"
        );
    }
}
