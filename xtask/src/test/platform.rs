//! direct-io on systems other than this one: linted for all of them, run where a program here can stand in for
//! the machine.

use std::path::Path;
use std::process::Command;

use super::counts::libtest;
use super::need::Need;
use super::node;
use super::step::{Step, Tests, Work};
use crate::command::{cargo, program};
use crate::toolchain::target;

/// Tells the tests what stands in for the machine, as it cannot do all that a machine can.
const STAND_IN: &str = "DIRECT_IO_UNDER";

const LINTED: &[(&str, &str)] = &[
    ("lints-windows", target::WINDOWS),
    ("lints-macos-x86_64", target::MACOS_X86_64),
    ("lints-macos-aarch64", target::MACOS_AARCH64),
    ("lints-freebsd", target::FREEBSD),
    ("lints-linux-aarch64", target::LINUX_AARCH64),
];

pub(super) fn lints() -> impl Iterator<Item = Step> {
    LINTED.iter().map(|&(name, target)| {
        let mut command = cargo();
        command.args(["clippy", "--locked", "-p", "direct-io"]);
        if node::package_exists() {
            command.args(["-p", "direct-io-node"]);
        }
        command.args(["--all-targets", "--target", target, "--", "-D", "warnings"]);
        Step { needs: vec![Need::Target(target)], ..Step::new(name, Work::Command(command)) }
    })
}

fn tests(target: &str) -> Command {
    let mut command = cargo();
    command.args(["test", "--locked", "--no-fail-fast", "-p", "direct-io", "--target", target]);
    command
}

/// By Wine, whose files are below the target directory and nowhere else.
pub(super) fn windows(target_directory: &Path) -> Step {
    const LINKER: &str = "x86_64-w64-mingw32-gcc";
    let prefix = target_directory.join("wine");
    let wine = |mut command: Command| {
        command.env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all").env("DISPLAY", "");
        // Wine would offer to download what only programs for .NET and with web pages need.
        command.env("WINEDLLOVERRIDES", "mscoree,mshtml=");
        command
    };
    let mut boot = wine(program("wineboot"));
    boot.arg("--init");
    let mut prng = program(LINKER);
    prng.args(["-O2", "-shared", "-o"]).arg(prefix.join("drive_c/windows/system32/bcryptprimitives.dll"));
    prng.args(["xtask/src/test/process_prng.c", "-ladvapi32"]);
    let mut command = wine(tests(target::WINDOWS));
    command.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "wine").env(STAND_IN, "wine");
    let mut end = wine(program("wineserver"));
    end.arg("--kill");
    let tests = Tests { before: vec![boot, prng], after: vec![end], ..Tests::of(command, libtest) };
    Step {
        needs: vec![Need::Target(target::WINDOWS), Need::Program(LINKER), Need::Program("wine")],
        ..Step::new("tests-windows", Work::Tests(tests))
    }
}

/// By qemu, which runs the program on this machine's kernel.
pub(super) fn aarch64() -> Step {
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    let mut command = tests(target::LINUX_AARCH64);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    command.env(STAND_IN, "qemu");
    Step {
        needs: vec![Need::Target(target::LINUX_AARCH64), Need::Program(LINKER), Need::Program("qemu-aarch64")],
        ..Step::new("tests-aarch64", Work::Tests(Tests::of(command, libtest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_up_is_linted() {
        let linted: Vec<_> = LINTED.iter().map(|(_, target)| *target).collect();
        assert_eq!(linted, target::ALL);
    }

    #[test]
    fn the_tests_are_told_what_they_run_under() {
        for (step, word) in [(windows(Path::new("/w/target")), "wine"), (aarch64(), "qemu")] {
            let text = step.work.to_string();
            assert!(text.contains(&format!("DIRECT_IO_UNDER='{word}' ")), "{text}");
        }
    }
}
