//! `cargo xtask setup`: installs what only the tests need.
//!
//! A tool that cannot be installed is said and then done without: the tests that need it are skipped,
//! and counted as skipped.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::command::{find_program, metadata, shown, succeed};

/// A Debian package that a test needs.
struct Need {
    package: &'static str,
    /// A program, or the path of a file, that proves that it is there.
    proof: &'static str,
    purpose: &'static str,
}

const NEEDS: &[Need] = &[
    Need { package: "strace", proof: "strace", purpose: "which system calls a case makes" },
    Need { package: "xfsprogs", proof: "mkfs.xfs", purpose: "tests on xfs" },
    Need { package: "btrfs-progs", proof: "mkfs.btrfs", purpose: "tests on btrfs" },
    Need { package: "e2fsprogs", proof: "mkfs.ext4", purpose: "tests on ext4" },
    Need { package: "mount", proof: "losetup", purpose: "loop-mounted filesystems" },
    Need { package: "dmsetup", proof: "dmsetup", purpose: "devices that stand on others" },
    Need { package: "gcc", proof: "cc", purpose: "the reference programs of `cargo xtask parity`" },
    Need { package: "libc6-dev", proof: "/usr/include/stdio.h", purpose: "the same" },
    Need { package: "liburing-dev", proof: "/usr/include/liburing.h", purpose: "the same, for io_uring" },
    Need { package: "fio", proof: "fio", purpose: "`cargo xtask parity --tools`" },
];

/// Parts of the Rust toolchain that `cargo xtask test` runs: (rustup component, program).
const COMPONENTS: &[(&str, &str)] = &[("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")];

/// Installs what is missing. Never fails for a tool that cannot be had.
pub(crate) fn run() -> Result<()> {
    install_components();
    install_python_modules();
    let missing = missing(NEEDS, is_there);
    if missing.is_empty() {
        println!("setup: all that the tests need is installed");
        return Ok(());
    }
    for need in &missing {
        println!("setup: missing {} ({}), for {}", need.package, need.proof, need.purpose);
    }
    let packages: Vec<_> = missing.iter().map(|need| need.package).collect();
    if find_program("apt-get").is_none() {
        println!("setup: no apt-get here; install the above by hand, or the tests that need it are skipped");
    } else if rustix::process::geteuid().is_root() {
        install(&packages);
    } else {
        println!("setup: not root; the tests that need these are skipped until you run");
        println!("  sudo {}", shown(&install_command(&packages)));
    }
    Ok(())
}

fn missing(needs: &'static [Need], is_there: impl Fn(&str) -> bool) -> Vec<&'static Need> {
    needs.iter().filter(|need| !is_there(need.proof)).collect()
}

fn is_there(proof: &str) -> bool {
    if proof.starts_with('/') { Path::new(proof).exists() } else { find_program(proof).is_some() }
}

fn install_command(packages: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(["install", "-y", "--no-install-recommends"]).args(packages);
    command
}

fn install(packages: &[&str]) {
    let mut update = Command::new("apt-get");
    update.args(["update", "-q"]);
    for mut command in [update, install_command(packages)] {
        println!("setup: {}", shown(&command));
        command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        if let Err(error) = succeed(&mut command) {
            println!("setup: {error:#}; going on without {}", packages.join(", "));
            return;
        }
    }
}

/// What reference figures are made with, in an environment of its own; the tests find it in cargo's target directory.
fn install_python_modules() {
    const MODULE: &str = "scipy";
    let Ok(metadata) = metadata() else { return };
    let folder = metadata.target_directory.into_std_path_buf().join("python");
    let python = folder.join("bin/python3");
    let imports = |python: &Path| {
        let output = Command::new(python).args(["-c", &format!("import {MODULE}")]).output();
        output.is_ok_and(|output| output.status.success())
    };
    if imports(&python) || imports(Path::new("python3")) {
        return;
    }
    println!("setup: missing {MODULE}, for the reference figures of crates/stats");
    let Some(system) = find_program("python3") else {
        println!("setup: no python3 here; install it, or the tests that need it are skipped");
        return;
    };
    let mut environment = Command::new(system);
    environment.args(["-m", "venv"]).arg(&folder);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--retries", "1", MODULE]);
    for mut command in [environment, install] {
        println!("setup: {}", shown(&command));
        if let Err(error) = succeed(command.stdin(Stdio::null())) {
            println!("setup: {error:#}; going on without {MODULE}");
            return;
        }
    }
}

fn install_components() {
    let missing: Vec<_> =
        COMPONENTS.iter().filter(|(_, program)| !is_there(program)).map(|&(component, _)| component).collect();
    if missing.is_empty() {
        return;
    }
    let mut command = Command::new("rustup");
    command.args(["component", "add"]).args(&missing).stdin(Stdio::null());
    println!("setup: {}", shown(&command));
    if let Err(error) = succeed(&mut command) {
        println!("setup: {error:#}; going on without {}", missing.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_installed() {
        let absent = missing(NEEDS, |proof| proof != "mkfs.xfs" && proof != "/usr/include/stdio.h");
        let packages: Vec<_> = absent.iter().map(|need| need.package).collect();
        assert_eq!(
            shown(&install_command(&packages)),
            "apt-get install -y --no-install-recommends xfsprogs libc6-dev"
        );
    }

    #[test]
    fn a_program_is_looked_for_in_the_path_and_a_file_where_it_says() {
        assert!(is_there("sh"));
        assert!(is_there("/etc"));
        assert!(!is_there("no-such-program-here"));
        assert!(!is_there("/no/such/file"));
    }
}
