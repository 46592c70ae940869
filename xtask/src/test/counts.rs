use std::fmt;
use std::io::{BufRead, Write};

use anyhow::Result;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Copies all lines. Returns the failures, which are printed again at the end.
pub(super) fn pass_on(
    mut from: impl BufRead,
    to: &mut impl Write,
    has_tests: bool,
    counts: &mut Counts,
) -> Result<String> {
    // Rust lists failures between `failures:` and the result, Node at the end.
    let mut failures = String::new();
    let mut in_failures = false;
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        let text = String::from_utf8_lossy(&line);
        match text.trim_end() {
            "failures:" | "✖ failing tests:" => in_failures = true,
            result if result.starts_with("test result: ") => in_failures = false,
            _ if in_failures => failures.push_str(&text),
            _ => {}
        }
        if has_tests {
            counts.add(libtest(&text).or_else(|| node(&text)).unwrap_or_default());
        }
        line.clear();
    }
    Ok(failures)
}

/// A line is `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn libtest(line: &str) -> Option<Counts> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = rest
        .split("; ")
        .map_while(|part| part.split(' ').next()?.parse().ok());
    Some(Counts {
        passed: numbers.next()?,
        failed: numbers.next()?,
        skipped: numbers.next()?,
    })
}

/// A line is `ℹ pass 12`, or `# pass 12` in TAP.
fn node(line: &str) -> Option<Counts> {
    let rest = line.trim_end();
    let (kind, count) = rest
        .strip_prefix("ℹ ")
        .or_else(|| rest.strip_prefix("# "))?
        .split_once(' ')?;
    let mut counts = Counts::default();
    let counter = match kind {
        "pass" => &mut counts.passed,
        // A time limit or the failure of an enclosing test cancels a test.
        "fail" | "cancelled" => &mut counts.failed,
        // Node ignores failures of these.
        "skipped" | "todo" => &mut counts.skipped,
        _ => return None,
    };
    *counter = count.parse().ok()?;
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(output: &[u8]) -> String {
        let (mut copy, mut counts) = (Vec::new(), Counts::default());
        pass_on(output, &mut copy, true, &mut counts).unwrap();
        assert_eq!(copy, output, "the output passes unchanged");
        counts.to_string()
    }

    #[test]
    fn the_results_of_all_test_programs_add_up() {
        let output = b"running 2 tests\ntest a ... ok\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            \xff not text\n\
            test result: FAILED. 10 passed; 3 failed; 4 ignored; 0 measured; 0 filtered out\nend";
        assert_eq!(counted(output), "12 passed, 3 failed, 5 skipped");
    }

    #[test]
    fn the_failures_are_kept() {
        let output = "test a ... FAILED\n\nfailures:\n\n---- a ----\nwhy\n\nfailures:\n    a\n\n\
            test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\
            test b ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let mut counts = Counts::default();
        let failures = |output: &str, counts: &mut Counts| {
            pass_on(output.as_bytes(), &mut Vec::new(), true, counts)
        };
        assert_eq!(
            failures(output, &mut counts).unwrap(),
            "\n---- a ----\nwhy\n\n    a\n\n"
        );
        assert_eq!(counts.to_string(), "1 passed, 1 failed, 0 skipped");
        let output = "ℹ fail 1\nℹ duration_ms 5\n\n✖ failing tests:\n\n✖ a (1ms)\n  why\n";
        assert_eq!(
            failures(output, &mut counts).unwrap(),
            "\n✖ a (1ms)\n  why\n"
        );
    }

    #[test]
    fn lines_may_end_as_on_windows() {
        let line =
            b"test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\r\n";
        assert_eq!(counted(line), "2 passed, 0 failed, 1 skipped");
        assert_eq!(
            counted("ℹ pass 2\r\n".as_bytes()),
            "2 passed, 0 failed, 0 skipped"
        );
    }

    #[test]
    fn without_a_result_nothing_is_counted() {
        assert_eq!(
            counted(b"error: could not compile\n"),
            "0 passed, 0 failed, 0 skipped"
        );
        assert_eq!(
            libtest("  test result: ok. 2 passed; 0 failed; 1 ignored"),
            None
        );
    }

    #[test]
    fn results_of_node_are_counted_in_both_formats() {
        let output = "✔ a (1ms)\nℹ tests 9\nℹ suites 0\nℹ pass 4\nℹ fail 2\nℹ cancelled 1\nℹ skipped 1\n\
            ℹ todo 1\nℹ duration_ms 54.5\n";
        assert_eq!(counted(output.as_bytes()), "4 passed, 3 failed, 2 skipped");
        assert_eq!(
            counted(output.replace('ℹ', "#").as_bytes()),
            "4 passed, 3 failed, 2 skipped"
        );
    }

    #[test]
    fn the_output_of_a_node_test_is_not_a_result() {
        for line in [
            "pass 4",
            "ℹ pass the salt",
            "ℹ pass 4 times",
            "    # pass 4",
            "# Subtest: pass 4",
        ] {
            assert_eq!(node(line), None, "{line}");
        }
    }
}
