use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use writebench_testkit::command::{metadata, output, root, shown};

use super::release::{Release, TARGETS};
use super::tools;

const CLI: &str = "crates/cli/Cargo.toml";
/// cargo-cyclonedx adds the extension.
const WRITTEN: &str = "bill-of-materials";

pub(super) fn third_party(release: &Release) -> Result<PathBuf> {
    let mut about = tools::cargo("about")?;
    about.args([
        "generate",
        "--locked",
        "--fail",
        "--manifest-path",
        CLI,
        "xtask/about.hbs",
    ]);
    about.args(["--config", "xtask/about.toml"]);
    println!("{}", shown(&about));
    let text = output(&mut about)?.stdout;
    let file = release.folder.with_file_name("THIRD-PARTY.md");
    fs::write(&file, text)?;
    Ok(file)
}

/// CycloneDX lists all crates with versions, sums and licences.
pub(super) fn bill_of_materials(release: &Release) -> Result<PathBuf> {
    let mut cyclonedx = tools::cargo("cyclonedx")?;
    cyclonedx.args([
        "--manifest-path",
        CLI,
        "--format",
        "json",
        "--target",
        TARGETS[0].name,
    ]);
    cyclonedx
        .args(["--override-filename", WRITTEN])
        .env("SOURCE_DATE_EPOCH", &release.epoch_s);
    println!("{}", shown(&cyclonedx));
    output(&mut cyclonedx)?;
    let file = release
        .folder
        .join(format!("writebench-{}.cdx.json", release.version));
    let text = fs::read_to_string(
        root()
            .join(CLI)
            .with_file_name(WRITTEN)
            .with_extension("json"),
    )?;
    fs::write(
        &file,
        text.replace(&*root().to_string_lossy(), "/writebench"),
    )?;
    // cargo-cyclonedx writes a file next to each manifest.
    for package in metadata()?.packages {
        let _ = fs::remove_file(
            package
                .manifest_path
                .with_file_name(WRITTEN)
                .with_extension("json"),
        );
    }
    Ok(file)
}
