//! JUnit XML: forges show each case as a test. Only `--fail-if-slower` makes a slower case fail.

use writebench_stats::{GateVerdict, distinct};

use crate::numbers::{CaseOn, CaseReport, Comparison};
use crate::sentences::comparison::verdict;
use crate::sentences::{Report, gated, percent, ratio_interval, visible};

struct Test {
    group: String,
    name: String,
    seconds: f64,
    /// An element and its message, unless the test passed.
    problem: Option<(&'static str, String)>,
}

pub(super) fn render(report: &Report) -> String {
    let sentences = gated::sentences(&report.run, &report.gated);
    let slower = |name: &str| {
        let mut judged = report.gated.iter().zip(&sentences);
        let (_, sentence) =
            judged.find(|(gated, _)| gated.name == name && gated.verdict == GateVerdict::Slower)?;
        Some(("failure", sentence.clone()))
    };
    let cases = report.cases.iter().filter(|case| !case.is_screening());
    let tests = distinct(cases, |case| (&case.record.target, &case.record.case))
        .into_iter()
        .map(|case| {
            let is_fault = case.outcome().is_some_and(|outcome| outcome.is_fault());
            let element = if is_fault { "error" } else { "skipped" };
            let problem = case
                .cause()
                .map(|cause| (element, cause))
                .or_else(|| slower(&case.name));
            let seconds = case.estimate.as_ref().map_or(0.0, |_| case.time_ns() / 1e9);
            Test {
                group: case.record.target.clone(),
                name: test_name(case),
                seconds,
                problem,
            }
        });
    document(tests.collect())
}

/// As for `--case` or `--command`: its target is the test's class.
fn test_name(case: &CaseReport) -> String {
    case.record
        .program()
        .map_or_else(|| case.record.case.to_string(), str::to_owned)
}

pub(super) fn comparison(comparison: &Comparison) -> String {
    let group = || format!("{} vs. {}", comparison.b.name, comparison.a.name);
    let slower = comparison.slower();
    let compared = comparison.cases.iter().map(|case| {
        let ratio = &case.speed_ratio;
        let limit = percent(comparison.limit_ppm.unwrap_or_default());
        let message = || format!("slower by more than {limit}: {}", ratio_interval(ratio));
        let problem = match ratio.is_sure() {
            false => Some(("skipped", verdict(case, comparison))),
            true => slower.contains(&case).then(|| ("failure", message())),
        };
        Test {
            group: group(),
            name: case.case.to_string(),
            seconds: 0.0,
            problem,
        }
    });
    let missing = |case: &CaseOn| {
        let problem = Some(("skipped", "not in B".to_owned()));
        Test {
            group: group(),
            name: case.to_string(),
            seconds: 0.0,
            problem,
        }
    };
    document(
        compared
            .chain(comparison.only_in_a.iter().map(missing))
            .collect(),
    )
}

fn document(tests: Vec<Test>) -> String {
    let count = |element: &str| tests.iter().filter(|test| is(test, element)).count();
    let [failures, errors, skipped] = ["failure", "error", "skipped"].map(count);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"writebench\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n",
        tests.len()
    );
    for Test {
        group,
        name,
        seconds,
        problem,
    } in &tests
    {
        let (group, name) = (escape(group), escape(name));
        let problem = problem
            .as_ref()
            .map_or(String::new(), |(element, message)| {
                format!("<{element} message=\"{}\"/>", escape(message))
            });
        text += &format!(
            "<testcase classname=\"{group}\" name=\"{name}\" time=\"{seconds:.6}\">{problem}</testcase>\n"
        );
    }
    text + "</testsuite>\n</testsuites>\n"
}

fn is(test: &Test, element: &str) -> bool {
    test.problem
        .as_ref()
        .is_some_and(|(own, _)| *own == element)
}

/// XML has no control characters, not even escaped.
fn escape(text: &str) -> String {
    askama::filters::escape(visible(text), askama::filters::Html)
        .map_or(String::new(), |safe| safe.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{CaseRecord, RunRecord};
    use writebench_testkit::{example_case, example_run};

    #[test]
    fn a_test_is_named_as_on_the_command_line() {
        let program = CaseRecord {
            label: Some("./head {source} {file}".to_owned()),
            ..example_case("test", "program,size=1MiB", Vec::new())
        };
        let run = RunRecord {
            cases: vec![program, example_case("test", "write", Vec::new())],
            ..example_run()
        };
        let text = render(&Report::from_run(None, run));
        assert!(
            text.contains("name=\"./head {source} {file}\"") && text.contains("name=\"write\""),
            "{text}"
        );
    }
}
