//! JUnit XML: forges show each case as a test, and each requirement. Only `--fail-if-slower` makes a slower case fail.

use std::collections::HashMap;

use writebench_stats::{GateVerdict, LimitVerdict, distinct};

use crate::numbers::{CaseReport, Comparison, Required};
use crate::sentences::comparison::verdict;
use crate::sentences::{Report, gated, percent, ratio_interval, visible};

/// A test, as forges show it.
pub struct JunitTest {
    pub group: String,
    pub name: String,
    pub seconds: f64,
    /// An element, such as `failure`, and its message, unless the test passed.
    pub problem: Option<(&'static str, String)>,
}

pub(super) fn render(report: &Report) -> String {
    let sentences = gated::verdicts(&report.run, &report.gated);
    let slower: HashMap<&str, &String> = report
        .gated
        .iter()
        .zip(&sentences)
        .filter(|(gated, _)| gated.verdict == GateVerdict::Slower)
        .map(|(gated, sentence)| (gated.name.as_str(), sentence))
        .collect();
    let cases = report.cases.iter().filter(|case| !case.is_screening());
    let mut tests: Vec<JunitTest> = report
        .required
        .iter()
        .zip(&report.requirements)
        .filter(|(required, _)| !required.is_recommended)
        .map(|(required, sentence)| requirement_test(required, sentence))
        .collect();
    let cases = distinct(cases, |case| (&case.record.target, &case.record.case));
    let case_tests = cases
        .into_iter()
        .map(|case| test(case, slower.get(case.name.as_str()).copied()));
    tests.extend(case_tests);
    junit_document(tests)
}

/// The test of a requirement. Without a verdict it is skipped, because nothing is known.
fn requirement_test(required: &Required, sentence: &str) -> JunitTest {
    let problem = match required.judged.verdict {
        LimitVerdict::Met => None,
        LimitVerdict::Missed => Some("failure"),
        LimitVerdict::Undecided => Some("skipped"),
    };
    JunitTest {
        group: required.target.clone(),
        name: format!("{}: {}", required.requirement, required.name),
        seconds: 0.0,
        problem: problem.map(|element| (element, sentence.to_owned())),
    }
}

/// The test of a case. `slower` says that it was slower than its baseline by more than the limit.
fn test(case: &CaseReport, slower: Option<&String>) -> JunitTest {
    let is_fault = case.outcome().is_some_and(|outcome| outcome.is_fault());
    let element = if is_fault { "error" } else { "skipped" };
    let problem = match case.cause() {
        Some(cause) => Some((element, cause)),
        None => slower.map(|sentence| ("failure", sentence.clone())),
    };
    let seconds = case.estimate.as_ref().map_or(0.0, |_| case.time_ns() / 1e9);
    JunitTest {
        group: case.record.target.clone(),
        name: test_name(case),
        seconds,
        problem,
    }
}

/// The case's name as for `--case`, or the command line as for `--command`. The target is the test's class.
fn test_name(case: &CaseReport) -> String {
    case.record
        .program()
        .map_or_else(|| case.record.case.to_string(), str::to_owned)
}

pub(super) fn comparison(comparison: &Comparison) -> String {
    let group = format!("{} vs. {}", comparison.b.name, comparison.a.name);
    let slower = comparison.slower();
    let limit = percent(comparison.limit_ppm.unwrap_or_default());
    let mut tests = Vec::new();
    for case in &comparison.cases {
        let problem = if !case.speed_ratio.is_sure() {
            Some(("skipped", verdict(case, comparison)))
        } else if slower.contains(&case) {
            let interval = ratio_interval(&case.speed_ratio);
            Some((
                "failure",
                format!("slower by more than {limit}: {interval}"),
            ))
        } else {
            None
        };
        tests.push(JunitTest {
            group: group.clone(),
            name: case.case.to_string(),
            seconds: 0.0,
            problem,
        });
    }
    for case in &comparison.only_in_a {
        tests.push(JunitTest {
            group: group.clone(),
            name: case.to_string(),
            seconds: 0.0,
            problem: Some(("skipped", "not in B".to_owned())),
        });
    }
    junit_document(tests)
}

/// A document of these tests.
pub fn junit_document(tests: Vec<JunitTest>) -> String {
    let failures = count(&tests, "failure");
    let errors = count(&tests, "error");
    let skipped = count(&tests, "skipped");
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"writebench\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n",
        tests.len()
    );
    for JunitTest {
        group,
        name,
        seconds,
        problem,
    } in &tests
    {
        let group = escape(group);
        let name = escape(name);
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

fn count(tests: &[JunitTest], element: &str) -> usize {
    tests
        .iter()
        .filter_map(|test| test.problem.as_ref())
        .filter(|(own, _)| *own == element)
        .count()
}

/// The text as an attribute. XML has no control characters, not even escaped.
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
