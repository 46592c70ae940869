//! The Node package: built and tested as its users would.

use std::path::Path;
use std::process::Command;

use super::counts;
use super::need::Need;
use super::step::{Step, Tests, Work};
use crate::command::{program, root};

const FOLDER: &str = "bindings/node";

pub(super) fn package_exists() -> bool {
    root().join(FOLDER).join("package.json").is_file()
}

/// Its tests also run the program, so that it is built before.
pub(super) fn step(target_directory: &Path) -> Step {
    let writebench = target_directory.join("release/writebench");
    let mut tests = npm(FOLDER, &["test"]);
    tests.env("WRITEBENCH", &writebench);
    let before = vec![npm(FOLDER, &CLEAN_INSTALL), npm(FOLDER, &["run", "build"])];
    Step {
        needs: vec![
            Need::Program("node"),
            Need::Program("npm"),
            Need::File { path: writebench, made_by: "release-build" },
        ],
        ..Step::new("node", Work::Tests(Tests { before, ..Tests::of(tests, counts::node) }))
    }
}

/// What the lock file names, and nothing else.
pub(super) const CLEAN_INSTALL: [&str; 3] = ["ci", "--no-audit", "--no-fund"];

pub(super) fn npm(folder: &str, arguments: &[&str]) -> Command {
    let mut command = program("npm");
    command.args(["--prefix", folder, "--no-update-notifier"]).args(arguments).env("NO_COLOR", "1");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_comes_from_the_release_build() {
        let step = step(Path::new("/w/target"));
        assert!(step.work.to_string().contains("WRITEBENCH='/w/target/release/writebench' "));
        assert!(step.needs.iter().any(|need| matches!(need, Need::File { made_by: "release-build", .. })));
    }
}
