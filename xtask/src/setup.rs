//! `cargo xtask setup`: installs what only the tests need.
//!
//! A tool that cannot be installed is said and then done without: the tests that need it are skipped,
//! and counted as skipped.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use writebench_testkit::has_program;

use crate::command::{attempt, shown};
use crate::{python, toolchain};

/// A Debian package that a test needs; a program, or the path of a file, that proves that it is there; and for what it is.
type Need = (&'static str, &'static str, &'static str);

const NEEDS: &[Need] = &[
    ("strace", "strace", "which system calls a case makes"),
    ("xfsprogs", "mkfs.xfs", "tests on xfs"),
    ("prometheus", "promtool", "tests that metrics can be read"),
    ("btrfs-progs", "mkfs.btrfs", "tests on btrfs"),
    ("e2fsprogs", "mkfs.ext4", "tests on ext4"),
    ("mount", "losetup", "loop-mounted filesystems"),
    ("dmsetup", "dmsetup", "devices that stand on others"),
    ("bindfs", "bindfs", "tests on FUSE, and on a server of it that stops"),
    ("faketime", "faketime", "tests with a clock that is set back"),
    ("gcc", "cc", "the reference programs of `cargo xtask parity`"),
    ("libc6-dev", "/usr/include/stdio.h", "the same"),
    ("liburing-dev", "/usr/include/liburing.h", "the same, for io_uring"),
    ("fio", "fio", "`cargo xtask parity --fio`, and tests of exported jobs"),
    ("wine", "wine", "direct-io's tests on Windows"),
    ("gcc-mingw-w64-x86-64", "x86_64-w64-mingw32-gcc", "linking them"),
    ("qemu-user", "qemu-aarch64", "direct-io's tests on aarch64"),
    ("gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc", "linking them"),
    ("libc6-dev-arm64-cross", "/usr/aarch64-linux-gnu/lib/libc.so", "the C library that they run with"),
    ("chromium", "chromium", "the page of `writebench report`"),
    ("nodejs", "node", "the Node package, and the page"),
    // Every node but Debian's brings its own npm, and would be replaced by Debian's.
    ("npm", "node", "the Node package"),
];

/// Installs what is missing. Never fails for a tool that cannot be had.
pub(crate) fn run() -> Result<()> {
    toolchain::install();
    python::install_modules();
    let missing = missing(is_there);
    if missing.is_empty() {
        println!("setup: all packages that the tests need are installed");
        return Ok(());
    }
    for (package, proof, purpose) in &missing {
        println!("setup: missing {package} ({proof}), for {purpose}");
    }
    let packages: Vec<_> = missing.iter().map(|(package, ..)| *package).collect();
    if !has_program("apt-get") {
        println!("setup: no apt-get here; install the above by hand, or the tests that need it are skipped");
    } else if rustix::process::geteuid().is_root() {
        install(&packages);
    } else {
        println!("setup: not root; the tests that need these are skipped until you run");
        println!("  sudo {}", shown(&install_command(&packages)));
    }
    Ok(())
}

fn missing(is_there: impl Fn(&str) -> bool) -> Vec<Need> {
    NEEDS.iter().filter(|(_, proof, _)| !is_there(proof)).copied().collect()
}

fn is_there(proof: &str) -> bool {
    if proof.starts_with('/') { Path::new(proof).exists() } else { has_program(proof) }
}

fn install_command(packages: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(["install", "-y", "--no-install-recommends"]).args(packages);
    command
}

fn install(packages: &[&str]) {
    let all = packages.join(", ");
    if attempt(Command::new("apt-get").args(["update", "-q"]), &all)
        && !attempt(&mut install_command(packages), "some of them")
    {
        // One that cannot be had keeps apt-get from installing the others.
        for package in packages {
            attempt(&mut install_command(&[package]), package);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_installed() {
        let absent = missing(|proof| proof != "mkfs.xfs" && proof != "/usr/include/stdio.h");
        let packages: Vec<_> = absent.iter().map(|(package, ..)| *package).collect();
        assert_eq!(
            shown(&install_command(&packages)),
            "apt-get install -y --no-install-recommends xfsprogs libc6-dev"
        );
    }

    #[test]
    fn npm_is_installed_only_with_node() {
        let absent = |there: &'static str| missing(move |proof| proof == there);
        let has_npm = |needs: Vec<Need>| needs.iter().any(|(package, ..)| *package == "npm");
        assert!(has_npm(absent("npm")));
        assert!(!has_npm(absent("node")));
    }

    #[test]
    fn a_program_is_looked_for_in_the_path_and_a_file_where_it_says() {
        assert!(is_there("sh"));
        assert!(is_there("/etc"));
        assert!(!is_there("no-such-program-here"));
        assert!(!is_there("/no/such/file"));
    }
}
