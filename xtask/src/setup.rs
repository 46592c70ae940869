//! `cargo xtask setup` installs the tools of the tests. Without a tool, its tests are skipped.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use writebench_testkit::has_program;

use crate::command::{attempt, output, shown};
use crate::part::Part;
use crate::{python, toolchain};

/// A Debian package, a program or path that proves its installation, and its purpose.
type Need = [String; 3];

#[derive(Deserialize)]
struct Needs {
    needs: Vec<Need>,
}

/// A failed installation is not an error.
pub(crate) fn run() -> Result<()> {
    let parts = [toolchain::missing(), python::missing()].into_iter().flatten().collect::<Vec<_>>();
    let missing = missing(is_there)?;
    if parts.is_empty() && missing.is_empty() {
        println!("setup: all tools that the tests need are installed");
        return Ok(());
    }
    for Part { name, size, .. } in &parts {
        println!("setup: will install {name}, {size}");
    }
    for [package, proof, purpose] in &missing {
        println!("setup: missing {package} ({proof}), for {purpose}");
    }
    for mut part in parts {
        let _ = part.commands.iter_mut().all(|command| attempt(command, &part.name));
    }
    let packages: Vec<_> = missing.iter().map(|[package, ..]| package.as_str()).collect();
    if !packages.is_empty() {
        install(packages);
    }
    Ok(())
}

fn install(packages: Vec<&str>) {
    if !has_program("apt-get") {
        println!("setup: no apt-get here; install these by hand, or the tests that need them are skipped");
        return;
    }
    if !rustix::process::geteuid().is_root() {
        println!("setup: not root; the tests that need these are skipped until you run");
        println!("  sudo {}", shown(&install_command(&packages)));
        return;
    }
    attempt(Command::new("apt-get").args(["update", "-q"]), "newer lists of packages");
    // apt-get installs nothing if one of the packages is unknown.
    let is_known = |package: &&str| output(install_command(&[package]).arg("--simulate")).is_ok();
    let (known, unknown): (Vec<_>, Vec<_>) = packages.into_iter().partition(is_known);
    if !unknown.is_empty() {
        println!("setup: apt-get does not have {}; going on without", unknown.join(", "));
    }
    if !known.is_empty() {
        attempt(&mut install_command(&known), "these packages");
    }
}

fn missing(is_there: impl Fn(&str) -> bool) -> Result<Vec<Need>> {
    let Needs { mut needs } = toml::from_str(include_str!("needs.toml")).context("needs.toml")?;
    needs.retain(|[_, proof, _]| !is_there(proof));
    Ok(needs)
}

fn is_there(proof: &str) -> bool {
    if proof.starts_with('/') { Path::new(proof).exists() } else { has_program(proof) }
}

fn install_command(packages: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(["install", "-y", "--no-install-recommends"]).args(packages);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_packages_are_installed() {
        let absent = missing(|proof| proof != "mkfs.xfs" && proof != "/usr/include/stdio.h").unwrap();
        let packages: Vec<_> = absent.iter().map(|[package, ..]| package.as_str()).collect();
        assert_eq!(
            shown(&install_command(&packages)),
            "apt-get install -y --no-install-recommends xfsprogs libc6-dev"
        );
    }

    #[test]
    fn npm_is_installed_only_with_node() {
        let absent = |there: &'static str| missing(move |proof| proof == there).unwrap();
        let has_npm = |needs: Vec<Need>| needs.iter().any(|[package, ..]| package == "npm");
        assert!(has_npm(absent("npm")));
        assert!(!has_npm(absent("node")));
    }

    #[test]
    fn a_program_is_found_in_the_path_and_a_file_by_its_path() {
        assert!(is_there("sh"));
        assert!(is_there("/etc"));
        assert!(!is_there("no-such-program-here"));
        assert!(!is_there("/no/such/file"));
    }
}
