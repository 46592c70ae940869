//! What is checked, in which order, and by which commands.

use std::fmt;
use std::process::Command;

use crate::command::{cargo, shown};

/// One part of the whole check.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) work: Work,
}

pub(super) enum Work {
    Setup,
    Tidy,
    Cargo { arguments: &'static [&'static str], variables: &'static [(&'static str, &'static str)] },
    Tests,
}

const DENY_WARNINGS: &[(&str, &str)] = &[("RUSTDOCFLAGS", "-D warnings")];

const TESTS: &[&str] = &["test", "--workspace", "--locked", "--no-fail-fast"];

/// From the quickest to the slowest, as far as they do not build on each other.
pub(super) const STEPS: &[Step] = &[
    Step { name: "setup", work: Work::Setup },
    Step { name: "format", work: Work::Cargo { arguments: &["fmt", "--all", "--check"], variables: &[] } },
    Step {
        name: "lints",
        work: Work::Cargo {
            arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            variables: &[],
        },
    },
    Step { name: "tidy", work: Work::Tidy },
    Step {
        name: "documentation",
        work: Work::Cargo {
            arguments: &["doc", "--workspace", "--no-deps", "--locked"],
            variables: DENY_WARNINGS,
        },
    },
    Step { name: "tests", work: Work::Tests },
    Step {
        name: "release build",
        work: Work::Cargo { arguments: &["build", "--release", "--locked"], variables: &[] },
    },
];

impl Work {
    pub(super) fn command(&self) -> Command {
        let mut command = cargo();
        match self {
            Self::Setup => command.args(["xtask", "setup"]),
            Self::Tidy => command.args(["xtask", "tidy"]),
            Self::Tests => command.args(TESTS),
            Self::Cargo { arguments, variables } => command.args(*arguments).envs(variables.iter().copied()),
        };
        command
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.command()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_can_be_repeated_by_hand() {
        for step in STEPS {
            assert!(step.work.to_string().starts_with("cargo ") || step.name == "documentation");
        }
    }
}
