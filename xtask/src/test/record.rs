//! How a step ended, and what it took.

use std::fmt;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Passed,
    /// With the reason, and the tests that failed.
    Failed(String),
    /// With the reason.
    Skipped(String),
}

pub(super) struct Record {
    pub(super) step: &'static str,
    pub(super) ending: Ending,
    pub(super) took: Duration,
}

impl Record {
    pub(super) fn failure(&self) -> Option<(&'static str, &str)> {
        match &self.ending {
            Ending::Failed(why) => Some((self.step, why)),
            Ending::Passed | Ending::Skipped(_) => None,
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, reason) = match &self.ending {
            Ending::Passed => ("passed", String::new()),
            Ending::Failed(_) => ("FAILED", String::new()),
            Ending::Skipped(why) => ("skipped", format!("  {why}")),
        };
        write!(f, "{word:7}  {:20} {:7.1} s{reason}", self.step, self.took.as_secs_f64())
    }
}
