//! What the released program takes for ten thousand cases and a million samples.

use std::path::Path;

use super::counts;
use super::need::Need;
use super::step::{Step, Tests, Work};
use crate::command::cargo;

/// The limits are those of users; `tests` has the unoptimised program, which is allowed several times as long.
pub(super) fn step(target_directory: &Path) -> Step {
    let writebench = target_directory.join("release/writebench");
    let mut tests = cargo();
    tests.args(["test", "-p", "writebench", "--test", "cli", "--locked", "--", "load:"]);
    tests.env("WRITEBENCH", &writebench);
    Step {
        needs: vec![Need::File { path: writebench, made_by: "release-build" }],
        ..Step::new("load", Work::Tests(Tests::of(tests, counts::libtest)))
    }
}
