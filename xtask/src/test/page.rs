//! The page of `writebench report`, in a real browser.

use std::path::Path;

use super::counts;
use super::need::Need;
use super::node::{CLEAN_INSTALL, npm};
use super::step::{Step, Tests, Work};

const FOLDER: &str = "crates/report/page/tests";

/// Pages are made by the program, of runs that it measures.
pub(super) fn step(target_directory: &Path) -> Step {
    let writebench = target_directory.join("release/writebench");
    let mut tests = npm(FOLDER, &["test"]);
    tests.env("WRITEBENCH", &writebench);
    let before = vec![npm(FOLDER, &CLEAN_INSTALL)];
    Step {
        needs: vec![
            Need::Program("node"),
            Need::Program("npm"),
            Need::Program("chromium"),
            Need::File { path: writebench, made_by: "release-build" },
        ],
        ..Step::new("page", Work::Tests(Tests { before, ..Tests::of(tests, counts::node) }))
    }
}
