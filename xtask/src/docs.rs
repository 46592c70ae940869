//! `cargo xtask docs` makes a website of the documentation.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use writebench_testkit::command::{announced, cargo, root, target_directory};

use crate::need::python_program;

pub(crate) fn run() -> Result<bool> {
    build(&target_directory()?.join("book")).map(|()| true)
}

/// mdBook itself accepts broken links, so lychee looks for them.
pub(crate) fn build(book: &Path) -> Result<()> {
    let lychee = python_program("lychee").context(
        "lychee is not installed: `cargo xtask setup`, or `cargo install --locked lychee`",
    )?;
    let tools = target_directory()?.join("tools");
    // cargo does nothing if this version is there.
    let words =
        "install mdbook@0.5.4 --locked --quiet --no-default-features --features search --root";
    announced(cargo().args(words.split(' ')).arg(&tools))?;
    announced(
        Command::new(tools.join("bin/mdbook"))
            .arg("build")
            .arg(root())
            .arg("--dest-dir")
            .arg(book),
    )?;
    // lychee reads lychee.toml in its working directory.
    announced(
        Command::new(lychee)
            .current_dir(root())
            .arg("--root-dir")
            .args([book, book]),
    )
}
