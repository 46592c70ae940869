use std::collections::HashMap;

use crate::sentences::report::Report;

/// Distinguish a run's id.
const ID_LETTERS: usize = 8;

/// Unique: the label or number, and more if necessary.
pub(crate) fn run_names(reports: &[Report]) -> Vec<String> {
    let label = |report: &Report| {
        report
            .run
            .label
            .clone()
            .unwrap_or_else(|| number_or_id(report))
    };
    let names = told_apart(reports, reports.iter().map(label).collect(), |report, _| {
        report
            .run
            .label
            .as_ref()
            .map(|_| format!(" ({})", number_or_id(report)))
    });
    let names = told_apart(reports, names, |report, _| {
        Some(format!("@{}", part(report, reports)?))
    });
    // Databases of two machines have the same numbers, and a run may be given twice.
    let mut met: HashMap<String, usize> = HashMap::new();
    told_apart(reports, names, |_, name| {
        let place = met.entry(name.to_owned()).or_default();
        *place += 1;
        Some(format!(" #{place}"))
    })
}

/// The target, if another part of the same run has another.
fn part<'r>(report: &'r Report, reports: &[Report]) -> Option<&'r str> {
    let [target] = report.run.targets.as_slice() else {
        return None;
    };
    let is_other_part =
        |other: &Report| other.run.id == report.run.id && other.run.target(&target.name).is_none();
    reports.iter().any(is_other_part).then_some(&target.name)
}

/// Adds `more` to repeated names.
fn told_apart(
    reports: &[Report],
    names: Vec<String>,
    mut more: impl FnMut(&Report, &str) -> Option<String>,
) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    names
        .iter()
        .for_each(|name| *times.entry(name).or_default() += 1);
    let name = |(report, name): (&Report, &String)| {
        let end = if times[name.as_str()] > 1 {
            more(report, name)
        } else {
            None
        };
        name.clone() + &end.unwrap_or_default()
    };
    reports.iter().zip(&names).map(name).collect()
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
