use std::collections::HashMap;

use crate::sentences::report::Report;

/// So many letters of a run's id distinguish it from others.
const ID_LETTERS: usize = 8;

/// A unique name for each run: its label or number, and more if necessary.
pub(crate) fn run_names(reports: &[Report]) -> Vec<String> {
    let names = reports.iter().map(label_or_number).collect();
    let names = with_endings(reports, names, |report, _| {
        report.run.label.as_ref()?;
        Some(format!(" ({})", number_or_id(report)))
    });
    let names = with_endings(reports, names, |report, _| {
        Some(format!("@{}", target_of_part(report, reports)?))
    });
    // Databases of two machines have the same numbers, and a run may be given twice.
    let mut counts: HashMap<String, usize> = HashMap::new();
    with_endings(reports, names, |_, name| {
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        Some(format!(" #{count}"))
    })
}

/// The target of a part of a run, if another part of the same run has another target.
fn target_of_part<'r>(report: &'r Report, reports: &[Report]) -> Option<&'r str> {
    let [target] = report.run.targets.as_slice() else {
        return None;
    };
    reports
        .iter()
        .any(|other| other.run.id == report.run.id && other.run.target(&target.name).is_none())
        .then_some(&target.name)
}

/// Adds an ending to each name that several runs have.
fn with_endings(
    reports: &[Report],
    names: Vec<String>,
    mut ending: impl FnMut(&Report, &str) -> Option<String>,
) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *counts.entry(name).or_default() += 1;
    }
    let mut longer = Vec::new();
    for (report, name) in reports.iter().zip(&names) {
        let ending = if counts[name.as_str()] > 1 {
            ending(report, name)
        } else {
            None
        };
        longer.push(name.clone() + &ending.unwrap_or_default());
    }
    longer
}

fn label_or_number(report: &Report) -> String {
    report
        .run
        .label
        .clone()
        .unwrap_or_else(|| number_or_id(report))
}

fn number_or_id(report: &Report) -> String {
    match report.number {
        Some(number) => format!("run {number}"),
        None => report.run.id.chars().take(ID_LETTERS).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_testkit::{example_run, example_target};

    fn named(runs: &[(Option<i64>, Option<&str>, &str)]) -> Vec<String> {
        let report = |&(number, label, target): &(Option<i64>, Option<&str>, &str)| {
            let mut run = example_run();
            run.label = label.map(str::to_owned);
            run.targets = vec![example_target(target)];
            Report::from_run(number, run)
        };
        run_names(&runs.iter().map(report).collect::<Vec<_>>())
    }

    #[test]
    fn a_unique_label_is_enough_as_a_name() {
        assert_eq!(
            named(&[(Some(3), Some("before"), "/d"), (Some(4), None, "/d")]),
            ["before", "run 4"]
        );
        assert_eq!(
            named(&[
                (Some(3), Some("a"), "/d"),
                (Some(4), Some("a"), "/d"),
                (None, Some("a"), "/d")
            ]),
            ["a (run 3)", "a (run 4)", "a (0f0e)"]
        );
    }

    #[test]
    fn parts_of_a_run_and_runs_of_two_machines_have_unique_names() {
        assert_eq!(
            named(&[(Some(5), None, "ext4"), (Some(5), None, "xfs")]),
            ["run 5@ext4", "run 5@xfs"]
        );
        assert_eq!(
            named(&[
                (Some(5), None, "/d"),
                (Some(5), None, "/d"),
                (Some(6), None, "/d")
            ]),
            ["run 5 #1", "run 5 #2", "run 6"]
        );
    }
}
