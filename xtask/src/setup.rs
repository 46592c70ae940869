//! `cargo xtask setup`: installs what only the tests need.
//!
//! A tool that cannot be installed is said and then done without: the tests that need it are skipped,
//! and counted as skipped.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::command::{attempt, find_program, shown};
use crate::{python, toolchain};

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
    Need { package: "prometheus", proof: "promtool", purpose: "tests that metrics can be read" },
    Need { package: "btrfs-progs", proof: "mkfs.btrfs", purpose: "tests on btrfs" },
    Need { package: "e2fsprogs", proof: "mkfs.ext4", purpose: "tests on ext4" },
    Need { package: "mount", proof: "losetup", purpose: "loop-mounted filesystems" },
    Need { package: "dmsetup", proof: "dmsetup", purpose: "devices that stand on others" },
    Need { package: "bindfs", proof: "bindfs", purpose: "tests on FUSE, and on a server of it that stops" },
    Need { package: "faketime", proof: "faketime", purpose: "tests with a clock that is set back" },
    Need { package: "gcc", proof: "cc", purpose: "the reference programs of `cargo xtask parity`" },
    Need { package: "libc6-dev", proof: "/usr/include/stdio.h", purpose: "the same" },
    Need { package: "liburing-dev", proof: "/usr/include/liburing.h", purpose: "the same, for io_uring" },
    Need { package: "fio", proof: "fio", purpose: "`cargo xtask parity --fio`, and tests of exported jobs" },
    Need { package: "wine", proof: "wine", purpose: "direct-io's tests on Windows" },
    Need { package: "gcc-mingw-w64-x86-64", proof: "x86_64-w64-mingw32-gcc", purpose: "linking them" },
    Need { package: "qemu-user", proof: "qemu-aarch64", purpose: "direct-io's tests on aarch64" },
    Need { package: "gcc-aarch64-linux-gnu", proof: "aarch64-linux-gnu-gcc", purpose: "linking them" },
    Need {
        package: "libc6-dev-arm64-cross",
        proof: "/usr/aarch64-linux-gnu/lib/libc.so",
        purpose: "the C library that they run with",
    },
    Need { package: "chromium", proof: "chromium", purpose: "the page of `writebench report`" },
    Need { package: "nodejs", proof: "node", purpose: "the Node package, and the page" },
    // Every node but Debian's brings its own npm, and would be replaced by Debian's.
    Need { package: "npm", proof: "node", purpose: "the Node package" },
];

/// Installs what is missing. Never fails for a tool that cannot be had.
pub(crate) fn run() -> Result<()> {
    toolchain::install();
    python::install_modules();
    let missing = missing(NEEDS, is_there);
    if missing.is_empty() {
        println!("setup: all packages that the tests need are installed");
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
        let absent = missing(NEEDS, |proof| proof != "mkfs.xfs" && proof != "/usr/include/stdio.h");
        let packages: Vec<_> = absent.iter().map(|need| need.package).collect();
        assert_eq!(
            shown(&install_command(&packages)),
            "apt-get install -y --no-install-recommends xfsprogs libc6-dev"
        );
    }

    #[test]
    fn npm_is_installed_only_with_node() {
        let absent = |there: &'static str| missing(NEEDS, move |proof| proof == there);
        let has_npm = |needs: Vec<&Need>| needs.iter().any(|need| need.package == "npm");
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
