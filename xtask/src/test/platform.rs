//! direct-io on other systems: linted for all of them, and tested where an emulator runs here.

use std::path::Path;

use super::counts::libtest;
use super::need::Need;
use super::step::Step;
use crate::command::quoted;
use crate::toolchain::target;

const LINTED: &[(&str, &str)] = &[
    ("lints-windows", target::WINDOWS),
    ("lints-macos-x86_64", target::MACOS_X86_64),
    ("lints-macos-aarch64", target::MACOS_AARCH64),
    ("lints-freebsd", target::FREEBSD),
    ("lints-linux-aarch64", target::LINUX_AARCH64),
];

pub(super) fn lints() -> impl Iterator<Item = Step> {
    const PACKAGES: &str = "-p direct-io -p direct-io-node";
    LINTED.iter().map(|&(name, target)| {
        // The tests for Linux are linted on this machine, and built by `tests-aarch64`.
        let targets = if target == target::LINUX_AARCH64 { "" } else { "--all-targets " };
        let command = format!("cargo clippy --locked {PACKAGES} {targets}--target {target} -- -D warnings");
        Step::new(name, command).needing([Need::Target(target)])
    })
}

/// The tests learn which emulator runs them, as it is incomplete.
fn tests(target: &str, stand_in: &str, settings: &str) -> String {
    let settings = format!("DIRECT_IO_UNDER='{stand_in}' {settings}");
    format!("{settings} cargo test --locked --no-fail-fast -p direct-io --target {target}")
}

/// Tests on Windows by Wine, whose files stay in the target directory.
pub(super) fn windows(target_directory: &Path) -> Step {
    const LINKER: &str = "x86_64-w64-mingw32-gcc";
    let prefix = quoted(target_directory.join("wine").as_os_str());
    // Without this, Wine would offer downloads for .NET and web pages.
    let wine = format!("WINEPREFIX={prefix} WINEDEBUG=-all DISPLAY= WINEDLLOVERRIDES=mscoree,mshtml=");
    let prng = format!("{prefix}/drive_c/windows/system32/bcryptprimitives.dll");
    let settings = format!("{wine} CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine");
    let command = format!(
        "{wine} wineboot --init && {LINKER} -O2 -shared -o {prng} xtask/src/test/process_prng.c -ladvapi32 && {}",
        tests(target::WINDOWS, "wine", &settings)
    );
    let needs = [Need::Target(target::WINDOWS), Need::Program(LINKER), Need::Program("wine")];
    let after = Some(format!("{wine} wineserver --kill"));
    Step { after, ..Step::tests("tests-windows", command, libtest).needing(needs) }
}

/// Tests on aarch64 by qemu, with this machine's kernel.
pub(super) fn aarch64() -> Step {
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    let variable = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU";
    let settings =
        format!("{variable}_LINKER={LINKER} {variable}_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu'");
    let needs = [Need::Target(target::LINUX_AARCH64), Need::Program(LINKER), Need::Program("qemu-aarch64")];
    Step::tests("tests-aarch64", tests(target::LINUX_AARCH64, "qemu", &settings), libtest).needing(needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_installed_target_is_linted() {
        let linted: Vec<_> = LINTED.iter().map(|(_, target)| *target).collect();
        assert_eq!(linted, target::ALL);
    }

    #[test]
    fn the_tests_are_told_what_they_run_under() {
        for (step, word) in [(windows(Path::new("/w/target")), "wine"), (aarch64(), "qemu")] {
            assert!(step.command.contains(&format!("DIRECT_IO_UNDER='{word}' ")), "{}", step.command);
        }
    }
}
