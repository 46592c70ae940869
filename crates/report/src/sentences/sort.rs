use std::cmp::Ordering;

use crate::numbers::{CaseReport, Estimate, across_targets};
use crate::sentences::report::Report;
use crate::sentences::words::counted;

/// An order of the rows of a table.
#[derive(Clone, Copy)]
pub struct Sort {
    name: &'static str,
    /// The row with the least value is first. If there is no key, the name of the case decides.
    key: Option<fn(&Estimate) -> f64>,
}

impl Sort {
    /// All orders, as the help lists them.
    pub const ALL: [Self; 6] = [
        Self {
            name: "throughput",
            key: Some(|estimate| -estimate.throughput_bytes_per_s.value),
        },
        Self {
            name: "write-alone",
            key: Some(|estimate| -estimate.write_alone_bytes_per_s.value),
        },
        // This is another order than throughput if sizes differ.
        Self {
            name: "elapsed",
            key: Some(|estimate| estimate.total_ns.value),
        },
        Self {
            name: "cpu",
            key: Some(|estimate| estimate.user_cpu_ns.value + estimate.system_cpu_ns.value),
        },
        Self {
            name: "precision",
            key: Some(|estimate| estimate.total_ns.half_width().unwrap_or(f64::INFINITY)),
        },
        Self {
            name: "case",
            key: None,
        },
    ];

    pub fn name(self) -> &'static str {
        self.name
    }
}

impl Report {
    /// Sorts the rows of each table, and keeps the first `top` of each. Rows without a value are last. The first of
    /// several targets decides. Sentences remain about all cases.
    #[must_use]
    pub fn sorted(mut self, sort: Sort, top: Option<usize>) -> Self {
        let sections: Vec<Vec<CaseReport>> = self.sections().map(<[CaseReport]>::to_vec).collect();
        let most_rows = top.unwrap_or(usize::MAX);
        let mut left_out = 0;
        self.cases.clear();
        for section in sections {
            let mut rows = across_targets(section);
            sort_rows(&mut rows, sort);
            left_out += rows.len().saturating_sub(most_rows);
            rows.truncate(most_rows);
            self.cases.extend(rows.into_iter().flatten());
        }
        self.is_sorted = true;
        if left_out > 0 {
            self.warnings.push(format!(
                "{} not shown, but in all sentences.",
                counted(left_out, "row")
            ));
        }
        self
    }
}

fn sort_rows(rows: &mut [Vec<CaseReport>], sort: Sort) {
    rows.sort_by(|a, b| compared(&a[0], &b[0], sort));
}

fn compared(a: &CaseReport, b: &CaseReport, sort: Sort) -> Ordering {
    let by_name = a.record.case.name().cmp(b.record.case.name());
    match (&a.estimate, &b.estimate, sort.key) {
        (Some(a), Some(b), Some(key)) => key(a).total_cmp(&key(b)),
        (Some(_), None, _) => Ordering::Less,
        (None, Some(_), _) => Ordering::Greater,
        _ => by_name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Outcome, RunRecord, Sample};
    use writebench_testkit::{example_case, example_run, example_target};

    fn case(target: &str, name: &str, times_ns: &[u64]) -> writebench_model::CaseRecord {
        let samples = (0u32..).zip(times_ns).map(|(round, &time_ns)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            (sample.phases_ns.write, sample.bytes) = (time_ns, 1 << 30);
            sample
        });
        let mut case = example_case("A section", name, samples.collect());
        case.target = target.to_owned();
        case
    }

    fn names(report: &Report) -> Vec<String> {
        report
            .cases
            .iter()
            .map(|case| format!("{}@{}", case.record.case, case.record.target))
            .collect()
    }

    #[test]
    fn the_first_target_decides_and_missing_values_are_last() {
        let cases = vec![
            case("x", "slow", &[900; 6]),
            case("y", "slow", &[1; 6]),
            case("x", "none", &[]),
            case("y", "none", &[5; 6]),
            case("x", "fast", &[100; 6]),
            case("y", "fast", &[500; 6]),
        ];
        let targets = vec![example_target("x"), example_target("y")];
        let report = || {
            Report::from_run(
                None,
                RunRecord {
                    cases: cases.clone(),
                    targets: targets.clone(),
                    ..example_run()
                },
            )
        };
        let sorted = report().sorted(Sort::ALL[0], None);
        assert_eq!(
            names(&sorted),
            ["fast@x", "fast@y", "slow@x", "slow@y", "none@x", "none@y"]
        );
        assert_eq!(sorted.conclusions, report().conclusions);
        let top = report().sorted(Sort::ALL[2], Some(1));
        assert_eq!(names(&top), ["fast@x", "fast@y"]);
        assert_eq!(
            top.warnings.last().unwrap(),
            "2 rows not shown, but in all sentences."
        );
        let by_name = report().sorted(Sort::ALL[5], None);
        assert_eq!(names(&by_name)[..2], ["fast@x", "fast@y"]);
        assert_eq!(
            report().sorted(Sort::ALL[5], Some(9)).warnings,
            report().warnings
        );
    }

    #[test]
    fn every_order_has_its_own_word() {
        let words: std::collections::HashSet<&str> =
            Sort::ALL.iter().map(|sort| sort.name()).collect();
        assert_eq!(words.len(), Sort::ALL.len());
    }
}
