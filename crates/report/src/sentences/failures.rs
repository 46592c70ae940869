use writebench_model::Failure;

use crate::numbers::{CaseReport, FailedCases, candidate, distinct};
use crate::sentences::words::{counted, in_one_line, listed};

/// A line for each reason: a search names what it could not measure.
pub(crate) fn failures(failures: &[FailedCases], cases: &[CaseReport]) -> Vec<String> {
    let measured = cases.iter().filter(|case| case.outcome().is_some());
    let candidates = distinct(measured.map(candidate), |name| *name);
    let all = counted(candidates.len(), "candidate");
    failures
        .iter()
        .map(|failed| {
            format!(
                "{} of {all} {}: {}:{}",
                failed.cases.len(),
                words(failed),
                in_one_line(&failed.reason),
                listed(&failed.cases, 1)
            )
        })
        .collect()
}

/// The failures in a run of goals, because few people read its tables. `O_DIRECT` in the page cache has its own
/// sentence.
pub(crate) fn failures_in_goals(failed: &[FailedCases], cases: &[CaseReport]) -> Vec<String> {
    let other: Vec<FailedCases> = failed
        .iter()
        .filter(|failed| !failed.reason.starts_with(Failure::DIRECT_IN_PAGE_CACHE))
        .cloned()
        .collect();
    failures(&other, cases)
}

fn words(failed: &FailedCases) -> &'static str {
    match (failed.outcome, failed.cases.len()) {
        ("unsupported", 1) => "is unsupported",
        ("unsupported", _) => "are unsupported",
        ("timed-out", _) => "timed out",
        ("worker-died", _) => "lost the worker",
        _ => "failed",
    }
}

#[cfg(test)]
mod tests {
    use writebench_model::{
        CaseOrigin, CaseRecord, Failure, Outcome, Phase, RunRecord, Sample, Stage,
    };
    use writebench_testkit::{example_case, example_run, section_of};

    use crate::Report;

    fn ended(name: &str, label: Option<&str>, outcome: Outcome) -> CaseRecord {
        let origin = CaseOrigin::of_search(Stage::Screening, false);
        let record = example_case("", name, vec![Sample::without_figures(0, outcome)]);
        CaseRecord {
            origin,
            label: label.map(str::to_owned),
            ..record
        }
    }

    fn failure(call: &str, errno: i32, offset: u64) -> Box<Failure> {
        let message = Failure::errno_message(errno);
        let (call, offset) = (call.to_owned(), Some(offset));
        Box::new(Failure {
            phase: Phase::Write,
            call,
            path: None,
            offset,
            errno: Some(errno),
            message,
        })
    }

    fn cases() -> Vec<CaseRecord> {
        let forbidden = |depth: u32| {
            let name = format!("io_uring,size=1MiB,depth={depth}");
            ended(
                &name,
                None,
                Outcome::Unsupported(failure("io_uring_setup", 1, 0)),
            )
        };
        let full = |size: &str, offset| {
            let failed = Outcome::Failed(failure("write", 28, offset));
            ended(&format!("write,size={size}"), Some("write"), failed)
        };
        let good = ended("pwrite,size=1MiB", None, Outcome::Ok);
        vec![
            forbidden(1),
            good,
            full("16MiB", 4096),
            forbidden(2),
            full("64MiB", 8192),
            forbidden(4),
        ]
    }

    #[test]
    fn a_search_names_the_candidates_that_it_could_not_measure_by_reason() {
        let report = Report::from_run(
            None,
            RunRecord {
                cases: cases(),
                ..example_run()
            },
        );
        let lines = [
            "1 of 5 candidates failed: write: No space left on device (28):\n  write",
            "3 of 5 candidates are unsupported: io_uring_setup: Operation not permitted (1):\n  io_uring,size=1MiB,depth=1\n  \
             and 2 more",
        ];
        assert_eq!(
            report.conclusions[report.conclusions.len() - 2..],
            lines,
            "{:?}",
            report.conclusions
        );
        let page = crate::formats::html::render(std::slice::from_ref(&report));
        assert!(
            page.contains("3 of 5 candidates are unsupported"),
            "the page"
        );
        let document: serde_json::Value =
            serde_json::from_str(&crate::formats::json::render(&report)).unwrap();
        let failures = &document["failures"];
        assert_eq!(
            (&failures[0]["outcome"], &failures[0]["cases"]),
            (&"failed".into(), &serde_json::json!(["write"]))
        );
        assert_eq!(
            failures[1]["reason"],
            "io_uring_setup: Operation not permitted (1)"
        );
        assert_eq!(failures[1]["cases"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn a_run_of_goals_names_them_too() {
        let mut cases = cases();
        cases
            .iter_mut()
            .for_each(|case| case.origin = section_of(CaseOrigin::GOALS, "a goal"));
        let report = Report::from_run(
            None,
            RunRecord {
                cases,
                ..example_run()
            },
        );
        let warned = |start: &str| report.warnings.iter().any(|line| line.starts_with(start));
        assert!(
            warned("2 of 6 candidates failed: write: No space"),
            "{:?}",
            report.warnings
        );
        assert!(
            warned("3 of 6 candidates are unsupported: io_uring"),
            "{:?}",
            report.warnings
        );
    }
}
