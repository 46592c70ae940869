//! The Rust toolchain: what of it the checks need, and how rustup adds what is missing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use writebench_testkit::has_program;

use crate::command::{attempt, output};

/// What direct-io is also made for: linted all, and run where this machine can run them.
pub(crate) mod target {
    pub(crate) const WINDOWS: &str = "x86_64-pc-windows-gnu";
    pub(crate) const MACOS_X86_64: &str = "x86_64-apple-darwin";
    pub(crate) const MACOS_AARCH64: &str = "aarch64-apple-darwin";
    pub(crate) const FREEBSD: &str = "x86_64-unknown-freebsd";
    pub(crate) const LINUX_AARCH64: &str = "aarch64-unknown-linux-gnu";

    pub(crate) const ALL: &[&str] = &[WINDOWS, MACOS_X86_64, MACOS_AARCH64, FREEBSD, LINUX_AARCH64];
}

/// Parts that `cargo xtask test` runs: (rustup component, program).
const COMPONENTS: &[(&str, &str)] = &[("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")];

/// Miri builds the standard library itself.
const NIGHTLY: &[&str] =
    &["toolchain", "install", "nightly", "--profile", "minimal", "--component", "miri,rust-src"];

/// Whether the standard library for that target is there.
pub(crate) fn has_target(target: &str) -> bool {
    let folder = printed(Command::new("rustc").args(["--print", "target-libdir", "--target", target]));
    let Some(entries) = folder.and_then(|folder| fs::read_dir(folder).ok()) else { return false };
    entries.filter_map(Result::ok).any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

/// Whether there is a nightly toolchain with Miri and the sources that it needs.
pub(crate) fn has_miri() -> bool {
    // To ask must not install anything.
    let command = &mut Command::new("rustc");
    let root = printed(command.args(["+nightly", "--print", "sysroot"]).env("RUSTUP_AUTO_INSTALL", "0"));
    let has = |part| root.as_ref().is_some_and(|root| root.join(part).exists());
    has("bin/cargo-miri") && has("lib/rustlib/src/rust/library")
}

fn printed(command: &mut Command) -> Option<PathBuf> {
    let text = String::from_utf8(output(command).ok()?.stdout).ok()?;
    Some(PathBuf::from(text.trim_end()))
}

/// Adds what is missing, as far as rustup can.
pub(crate) fn install() {
    for (component, _) in COMPONENTS.iter().filter(|(_, program)| !has_program(program)) {
        attempt(Command::new("rustup").args(["component", "add", component]), component);
    }
    for target in target::ALL.iter().filter(|target| !has_target(target)) {
        attempt(Command::new("rustup").args(["target", "add", target]), target);
    }
    if !has_miri() {
        attempt(Command::new("rustup").args(NIGHTLY), "Miri");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_there_with_its_standard_library_only() {
        let own = printed(Command::new("rustc").args(["--print", "host-tuple"])).unwrap();
        assert!(has_target(own.to_str().unwrap()), "{own:?}");
        // Every rustc knows it, and rustup has no standard library for it.
        assert!(!has_target("sparc64-unknown-openbsd"));
        assert!(!has_target("no-such-target"));
    }
}
