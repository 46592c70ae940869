//! What test programs say of themselves, added up.

use std::fmt;
use std::io::{BufRead, Write};

use anyhow::Result;

/// How many tests there were, of each kind.
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
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Copies all lines and adds up those with results; none if there was no such line.
pub(super) fn pass_on(mut from: impl BufRead, to: &mut impl Write) -> Result<Option<Counts>> {
    let mut counts = None;
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        if let Some(result) = result_of(&String::from_utf8_lossy(&line)) {
            counts.get_or_insert_with(Counts::default).add(result);
        }
        line.clear();
    }
    Ok(counts)
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn result_of(line: &str) -> Option<Counts> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        let part = rest.split(';').map(str::trim).find_map(|part| part.strip_suffix(word))?;
        part.trim_end().parse().ok()
    };
    Some(Counts { passed: count("passed")?, failed: count("failed")?, skipped: count("ignored")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &[u8] = b"running 2 tests\ntest a ... ok\n\
        test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
        \xff not text\n\
        test result: FAILED. 10 passed; 3 failed; 4 ignored; 0 measured; 0 filtered out\nend";

    #[test]
    fn results_add_up_and_the_output_passes_unchanged() {
        let mut copy = Vec::new();
        let counts = pass_on(OUTPUT, &mut copy).unwrap().unwrap();
        assert_eq!(counts.to_string(), "12 passed, 3 failed, 5 skipped");
        assert_eq!(copy, OUTPUT);
    }

    #[test]
    fn without_a_result_nothing_is_counted() {
        assert_eq!(pass_on(&b"error: could not compile\n"[..], &mut Vec::new()).unwrap(), None);
        assert_eq!(result_of("  test result: ok. 2 passed; 0 failed; 1 ignored"), None);
    }
}
