//! `cargo xtask setup`: installs what only the tests need.
//!
//! If a tool cannot be installed, the tests that need it are skipped, and counted as skipped.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use writebench_testkit::has_program;

use crate::command::{attempt, output, shown};
use crate::part::Part;
use crate::{python, toolchain};

/// A Debian package; the program or the path that proves that it is installed; and its purpose.
type Need = (&'static str, &'static str, &'static str);

const NEEDS: &[Need] = &[
    ("strace", "strace", "which system calls a case makes"),
    ("xfsprogs", "mkfs.xfs", "tests on xfs"),
    ("jq", "jq", "tests of the documented tables"),
    ("btrfs-progs", "mkfs.btrfs", "tests on btrfs"),
    ("e2fsprogs", "mkfs.ext4", "tests on ext4"),
    ("mount", "losetup", "loop-mounted filesystems"),
    ("dmsetup", "dmsetup", "devices that stand on others"),
    ("glusterfs-server", "glusterfsd", "tests on GlusterFS"),
    ("glusterfs-client", "glusterfs", "the same"),
    ("bindfs", "bindfs", "tests on FUSE, and on a server of it that stops"),
    ("faketime", "faketime", "tests with a clock that is set back"),
    ("gcc", "cc", "printed code, and `cargo xtask parity`"),
    ("g++", "c++", "printed code in C++"),
    ("golang-go", "go", "printed code in Go"),
    ("default-jdk-headless", "javac", "printed code in Java"),
    ("python3", "python3", "printed code in Python"),
    ("libc6-dev", "/usr/include/stdio.h", "the same"),
    ("liburing-dev", "/usr/include/liburing.h", "the same, for io_uring"),
    ("fio", "fio", "`cargo xtask parity --fio`, and tests of exported jobs"),
    ("libopenmpi-dev", "mpicc", "the feature `mpi`"),
    ("openmpi-bin", "mpirun", "its tests"),
    ("slurm-wlm", "slurmctld", "the same under Slurm"),
    ("munge", "munged", "the same"),
    ("libclang-dev", "/usr/lib/llvm-14/lib/libclang.so", "its build"),
    ("wine", "wine", "direct-io's tests on Windows"),
    ("gcc-mingw-w64-x86-64", "x86_64-w64-mingw32-gcc", "linking them"),
    ("qemu-user", "qemu-aarch64", "direct-io's tests on aarch64"),
    ("gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc", "linking them"),
    ("libc6-dev-arm64-cross", "/usr/aarch64-linux-gnu/lib/libc.so", "the C library that they run with"),
    ("chromium", "chromium", "the page of `writebench report`"),
    ("nodejs", "node", "the Node package, and the page"),
    // Debian's npm would replace an npm that came with another node.
    ("npm", "node", "the Node package"),
];

/// Announces each missing tool, then installs them; apt-get says their size itself before it begins. A tool that cannot
/// be installed is no error.
pub(crate) fn run() -> Result<()> {
    let parts = [toolchain::missing(), python::missing()].into_iter().flatten().collect::<Vec<_>>();
    let missing = missing(is_there);
    if parts.is_empty() && missing.is_empty() {
        println!("setup: all tools that the tests need are installed");
        return Ok(());
    }
    for Part { name, size, .. } in &parts {
        println!("setup: will install {name}, {size}");
    }
    for (package, proof, purpose) in &missing {
        println!("setup: missing {package} ({proof}), for {purpose}");
    }
    for mut part in parts {
        // `all` stops at the first command that fails.
        let _ = part.commands.iter_mut().all(|command| attempt(command, &part.name));
    }
    let packages: Vec<_> = missing.iter().map(|(package, ..)| *package).collect();
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
    // A single package unknown to apt-get would prevent installing the others.
    let is_known = |package: &&str| output(install_command(&[package]).arg("--simulate")).is_ok();
    let (known, unknown): (Vec<_>, Vec<_>) = packages.into_iter().partition(is_known);
    if !unknown.is_empty() {
        println!("setup: apt-get does not have {}; going on without", unknown.join(", "));
    }
    if !known.is_empty() {
        attempt(&mut install_command(&known), "these packages");
    }
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
