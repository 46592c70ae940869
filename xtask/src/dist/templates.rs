//! PyPI and npm get packages with the program of the tarball. Homebrew and pacman get recipes that load the tarball.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use writebench_testkit::command::{announced, root};

use super::archive::sums;
use super::node::pack;
use super::release::{Release, TARGETS, Target, Words};
use super::tools;

/// Each pair is a file of `templates/` or of the tarball, and its place in the package.
type Files<'f> = &'f [(&'f str, &'f str)];

const WHEEL: Files<'_> = &[
    ("writebench", "writebench-@version@.data/scripts/writebench"),
    (
        "templates/wheel/METADATA",
        "writebench-@version@.dist-info/METADATA",
    ),
    (
        "templates/wheel/WHEEL",
        "writebench-@version@.dist-info/WHEEL",
    ),
    (
        "LICENSE-APACHE",
        "writebench-@version@.dist-info/licenses/LICENSE-APACHE",
    ),
    (
        "LICENSE-MIT",
        "writebench-@version@.dist-info/licenses/LICENSE-MIT",
    ),
    (
        "THIRD-PARTY.md",
        "writebench-@version@.dist-info/licenses/THIRD-PARTY.md",
    ),
];

const NPM_OF_TARGET: Files<'_> = &[
    ("writebench", "writebench"),
    ("templates/npm/platform.json", "package.json"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("THIRD-PARTY.md", "THIRD-PARTY.md"),
];

const NPM: Files<'_> = &[
    ("templates/npm/writebench", "bin/writebench"),
    ("templates/npm/package.json", "package.json"),
    ("templates/npm/README.md", "README.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
];

const RECIPES: Files<'_> = &[
    ("templates/writebench.rb", "writebench.rb"),
    ("templates/PKGBUILD", "PKGBUILD"),
];

pub(super) fn of_target(target: &Target, tree: &Path, release: &Release) -> Result<[PathBuf; 2]> {
    let words = [("processor", target.processor), ("cpu", target.npm)]
        .map(|(name, word)| (name.to_owned(), word.to_owned()));
    let words = [&release.words[..], &words].concat();
    let folders = ["wheel", "npm"].map(|name| tree.with_file_name(name));
    for (folder, files) in folders.iter().zip([WHEEL, NPM_OF_TARGET]) {
        let _ = fs::remove_dir_all(folder);
        lay_out(folder, files, tree, &words)?;
    }
    let mut wheel = tools::installed("wheel")?;
    wheel
        .arg("pack")
        .arg(&folders[0])
        .arg("--dest-dir")
        .arg(&release.folder);
    announced(wheel.env("SOURCE_DATE_EPOCH", &release.epoch_s))?;
    Ok([release.wheel(target), pack(&folders[1], release)?])
}

/// These need the sums of all tarballs, or have no program.
pub(super) fn of_all(release: &Release) -> Result<Vec<PathBuf>> {
    let folder = release.folder.with_file_name("npm");
    let _ = fs::remove_dir_all(&folder);
    lay_out(&folder, NPM, root(), &release.words)?;
    let mut words = release.words.clone();
    for target in TARGETS {
        let sums = sums(&[release.tarball(target)], release)?;
        words.push((
            format!("sum_{}", target.processor),
            sums.split(' ').next().unwrap_or_default().to_owned(),
        ));
    }
    lay_out(&release.folder, RECIPES, root(), &words)?;
    let recipes = RECIPES.iter().map(|(_, name)| release.folder.join(name));
    Ok([pack(&folder, release)?]
        .into_iter()
        .chain(recipes)
        .collect())
}

fn lay_out(folder: &Path, files: Files<'_>, tree: &Path, words: &Words) -> Result<()> {
    for (from, to) in files {
        let to = folder.join(filled(to, words));
        fs::create_dir_all(to.parent().context("a file in a folder")?)?;
        let template = root().join("xtask/src/dist").join(from);
        let is_template = from.starts_with("templates/");
        let from = if is_template {
            template
        } else {
            tree.join(from)
        };
        fs::copy(&from, &to).with_context(|| from.display().to_string())?;
        if is_template {
            fs::write(&to, filled(&fs::read_to_string(from)?, words))?;
        }
    }
    // Packages keep the modes, which depend on the umask.
    announced(
        Command::new("chmod")
            .args(["-R", "u=rwX,go=rX"])
            .arg(folder),
    )
}

fn filled(text: &str, words: &Words) -> String {
    words.iter().fold(text.to_owned(), |text, (name, word)| {
        text.replace(&format!("@{name}@"), word)
    })
}
