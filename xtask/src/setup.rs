//! `cargo xtask setup` installs the tools of the tests. Without a tool, its tests are skipped.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;
use writebench_testkit::command::{output, shown, succeed, target_directory};
use writebench_testkit::has_program;

use crate::need::is_met;

/// The file explains the columns.
#[derive(Deserialize)]
pub(crate) struct Needs {
    packages: Vec<[String; 3]>,
    pub(crate) parts: Vec<[String; 4]>,
}

/// A failed installation is not an error, but the last line names what is still missing.
pub(crate) fn run() -> Result<()> {
    let Needs { packages, parts } = missing(is_met)?;
    for [name, size, ..] in &parts {
        println!("setup: will install {name}, {size}");
    }
    for [package, proof, purpose] in &packages {
        println!("setup: missing {package} ({proof}), for {purpose}");
    }
    let packages: Vec<_> = packages
        .iter()
        .map(|[package, ..]| package.as_str())
        .collect();
    if !packages.is_empty() {
        install(packages);
    }
    // Python may have come with the packages.
    install_parts(&parts, is_met("python3"))?;
    println!(
        "setup: {}",
        lacking(is_met)?.unwrap_or_else(|| "all tools of the tests are installed".to_owned())
    );
    Ok(())
}

/// The sentence is such as `not installed: scipy, ruff. …`. None means that nothing is missing.
pub(crate) fn lacking(is_met: impl Fn(&str) -> bool) -> Result<Option<String>> {
    let Needs { packages, parts } = missing(is_met)?;
    let packages = packages.into_iter().map(|[package, ..]| package);
    let names: Vec<String> = packages
        .chain(parts.into_iter().map(|[name, ..]| name))
        .collect();
    Ok((!names.is_empty()).then(|| {
        format!(
            "not installed: {}. Their tests are skipped",
            names.join(", ")
        )
    }))
}

fn install_parts(parts: &[[String; 4]], has_python: bool) -> Result<()> {
    let python = target_directory()?.join("python").display().to_string();
    let pip = format!(
        "test -x '{python}/bin/python3' || python3 -m venv '{python}' && \
         '{python}/bin/python3' -m pip install --quiet --no-compile --retries 1"
    );
    for [name, .., run] in parts {
        if run.contains("{pip}") && !has_python {
            println!("setup: {name} needs python3, which is missing. Continuing without {name}");
        } else {
            attempt(
                Command::new("sh").args([
                    "-c",
                    &run.replace("{pip}", &pip).replace("{python}", &python),
                ]),
                name,
            );
        }
    }
    Ok(())
}

fn install(packages: Vec<&str>) {
    if !has_program("apt-get") {
        println!("setup: apt-get is missing. Install these by hand, or their tests are skipped");
        return;
    }
    if !rustix::process::geteuid().is_root() {
        println!("setup: not root. The tests of these are skipped until you run");
        println!("  sudo {}", shown(&install_command(&packages)));
        return;
    }
    attempt(
        Command::new("apt-get").args(["update", "-q"]),
        "newer lists of packages",
    );
    // apt-get installs nothing if one of the packages is unknown.
    let (known, unknown): (Vec<_>, Vec<_>) = packages
        .into_iter()
        .partition(|package| is_known_to_apt(package));
    if !unknown.is_empty() {
        println!(
            "setup: apt-get does not have {}, continuing without",
            unknown.join(", ")
        );
    }
    if !known.is_empty() {
        attempt(&mut install_command(&known), "these packages");
    }
}

/// A failure is printed, not returned.
fn attempt(command: &mut Command, without: &str) -> bool {
    println!("setup: {}", shown(command));
    let outcome = succeed(
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null()),
    );
    if let Err(error) = &outcome {
        println!("setup: {error:#}. Continuing without {without}");
    }
    outcome.is_ok()
}

pub(crate) fn missing(is_met: impl Fn(&str) -> bool) -> Result<Needs> {
    let mut needs: Needs = toml::from_str(include_str!("needs.toml")).context("needs.toml")?;
    needs.packages.retain(|[_, proof, _]| !is_met(proof));
    needs.parts.retain(|[.., proof, _]| !is_met(proof));
    Ok(needs)
}

fn is_known_to_apt(package: &str) -> bool {
    output(install_command(&[package]).arg("--simulate")).is_ok()
}

fn install_command(packages: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command
        .args(["install", "-y", "--no-install-recommends"])
        .args(packages);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_packages_are_installed() {
        let Needs { packages, parts } =
            missing(|proof| proof != "mkfs.xfs" && proof != "/usr/include/stdio.h").unwrap();
        let packages: Vec<_> = packages
            .iter()
            .map(|[package, ..]| package.as_str())
            .collect();
        assert_eq!(
            shown(&install_command(&packages)),
            "apt-get install -y --no-install-recommends xfsprogs libc6-dev"
        );
        assert!(parts.is_empty());
    }

    #[test]
    fn what_could_not_be_installed_is_named() {
        let lacks =
            |missing: &'static [&'static str]| lacking(|proof| !missing.contains(&proof)).unwrap();
        assert_eq!(lacks(&[]), None);
        assert_eq!(
            lacks(&["mkfs.xfs", "python:scipy"]).unwrap(),
            "not installed: xfsprogs, scipy. Their tests are skipped"
        );
    }

    #[test]
    fn npm_is_installed_only_with_node() {
        let has_npm = |there: &str| {
            missing(|proof| proof == there)
                .unwrap()
                .packages
                .iter()
                .any(|[package, ..]| package == "npm")
        };
        assert!(has_npm("npm"));
        assert!(!has_npm("node"));
    }
}
