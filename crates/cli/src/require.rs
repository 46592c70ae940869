//! `--require`: an exit code for limits.

use anyhow::{Result, ensure};
use clap::Args;
use writebench_model::{CaseOrigin, Goal, Measure, Requirement, SelectedCase};
use writebench_report::{LimitVerdict, Report, Required};

use crate::arguments::GATE;
use crate::exit::{Exit, usage};
use crate::output;

#[derive(Args, Default)]
pub(crate) struct RequireArguments {
    /// Measure until it is known whether plain write of the goals, or each case of --case, keeps this limit:
    /// p99<10ms, rate>5000/s, throughput>500MB/s or time<2s. Exit with code 5 if the whole 95 % interval is beyond it, and
    /// with 7 if that is not known at the end. May be repeated
    #[arg(long, value_name = "LIMIT", value_delimiter = ',', conflicts_with_all = ["suite", "fail_if_slower", "precision"],
        help_heading = GATE)]
    pub require: Vec<Requirement>,
}

impl RequireArguments {
    /// Refuses limits of what a case does not have.
    pub(crate) fn check(&self, rows: &[SelectedCase]) -> Result<()> {
        if self.require.is_empty() {
            return Ok(());
        }
        let is_of_suite = |row: &SelectedCase| {
            !row.origin.is_of_goal()
                && row.origin != CaseOrigin::named()
                && !row.case.method().is_program()
        };
        ensure!(
            !rows.iter().any(is_of_suite),
            usage!(
                "--require judges goals, cases or programs. Name one by --for, --case or --command"
            )
        );
        for requirement in &self.require {
            let lacking = rows
                .iter()
                .find(|row| !measures(row).contains(&requirement.measure));
            if let Some(row) = lacking {
                return Err(usage!("{}", lack(*requirement, row)));
            }
        }
        Ok(())
    }
}

fn measures(row: &SelectedCase) -> Vec<Measure> {
    Measure::of(&row.case.workload(), row.case.method().is_program())
}

/// Why the requirement makes no sense for the case, and what it has instead.
fn lack(requirement: Requirement, row: &SelectedCase) -> String {
    let measure = requirement.measure;
    let goal = Goal::of_workload(&row.case.workload()).filter(|_| row.origin.is_of_goal());
    let name = match goal {
        Some(goal) => format!("the goal {goal}"),
        None => row.label.clone().unwrap_or_else(|| row.case.to_string()),
    };
    let has: Vec<&str> = measures(row).iter().map(|measure| measure.name()).collect();
    let has = has.join(" and ");
    let calls = match (measure, goal) {
        (Measure::Throughput | Measure::Time, _) => "",
        (_, Some(_)) => {
            ". Single records or files have it, so name their goal, for example --for records"
        }
        (_, None) => ". Single records or files have it, for example a case with sync=fdatasync/1",
    };
    format!("--require {requirement}: {name} has no {measure}, only {has}{calls}")
}

/// Whether each judged case has ended well, so that its verdict is the result of the run.
pub(crate) fn is_judged(report: &Report) -> bool {
    let mut judged = report.required.iter().filter(|one| !one.is_recommended);
    let is_ok = |required: &Required| {
        let mut rows = report.cases.iter().map(|case| &case.record);
        let row =
            rows.find(|row| row.case.name() == required.case && row.target == required.target);
        row.and_then(|row| row.samples.last())
            .is_some_and(|sample| sample.outcome.is_ok())
    };
    !report.required.is_empty() && judged.all(is_ok)
}

/// A missed requirement is worse than one without a verdict. The recommended method is only an addition.
pub(crate) fn exit_for_run(report: &Report) -> Exit {
    let mut exit = Exit::Ok;
    for required in report.required.iter().filter(|one| !one.is_recommended) {
        let own = match required.judged.verdict {
            LimitVerdict::Met => continue,
            LimitVerdict::Missed => Exit::Gate,
            LimitVerdict::Undecided => Exit::Undecided,
        };
        let verdict = required.verdict_in_words();
        output::print_error(&anyhow::anyhow!("--require: {verdict}: {}", required.name));
        if exit != Exit::Gate {
            exit = own;
        }
    }
    exit
}
