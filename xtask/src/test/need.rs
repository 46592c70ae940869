//! The requirements of steps.

use std::path::PathBuf;

use writebench_testkit::has_program;

use crate::toolchain;

/// A requirement that the machine may lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// A program on the path.
    Program(&'static str),
    /// A cargo subcommand that takes minutes to build, which set-up does not install.
    Subcommand(&'static str),
    /// The standard library of that target.
    Target(&'static str),
    /// A nightly toolchain with Miri.
    Miri,
    /// A file that another step makes.
    File { path: PathBuf, made_by: &'static str },
    /// The end of another step, passed or failed: it makes what some of the tests use.
    Ended(&'static str),
}

impl Need {
    /// The missing requirement and how to install it; none if it is met.
    pub(super) fn missing(&self) -> Option<String> {
        match self {
            Self::Program(name) => (!has_program(name)).then(|| format!("{name} is not installed; {BY_SETUP}")),
            Self::Subcommand(name) => (!has_program(name)).then(|| {
                format!("{name} is not installed; `cargo install --locked {name}` builds it, in minutes")
            }),
            Self::Target(target) => (!toolchain::has_target(target))
                .then(|| format!("Rust's standard library for {target} is not installed; {BY_SETUP}")),
            Self::Miri => (!toolchain::has_miri())
                .then(|| format!("there is no nightly Rust with Miri and rust-src; {BY_SETUP}")),
            Self::Ended(_) => None,
            Self::File { path, made_by } => (!path.is_file())
                .then(|| format!("{} is not there; `cargo xtask test {made_by}` makes it", path.display())),
        }
    }
}

const BY_SETUP: &str = "`cargo xtask setup` installs it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_requirement_is_named_with_its_remedy() {
        assert_eq!(
            Need::Program("no-such-program-here").missing().unwrap(),
            "no-such-program-here is not installed; `cargo xtask setup` installs it"
        );
        assert_eq!(
            Need::Subcommand("cargo-none").missing().unwrap(),
            "cargo-none is not installed; `cargo install --locked cargo-none` builds it, in minutes"
        );
        assert_eq!(
            Need::Target("sparc64-unknown-openbsd").missing().unwrap(),
            "Rust's standard library for sparc64-unknown-openbsd is not installed; `cargo xtask setup` installs it"
        );
        assert_eq!(
            Need::File { path: "/no/such/file".into(), made_by: "release-build" }.missing().unwrap(),
            "/no/such/file is not there; `cargo xtask test release-build` makes it"
        );
    }

    #[test]
    fn a_met_requirement_is_not_missing() {
        assert_eq!(Need::Program("sh").missing(), None);
        assert_eq!(Need::File { path: "/proc/self/status".into(), made_by: "" }.missing(), None);
    }
}
