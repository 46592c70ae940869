use std::fs;
use std::path::PathBuf;
use std::process::Command;

use writebench_testkit::has_program;

use crate::command::printed;
use crate::part::Part;

/// Other systems of direct-io.
pub(crate) const TARGETS: &[&str] = &[
    "x86_64-pc-windows-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-unknown-freebsd",
    "aarch64-unknown-linux-gnu",
];

/// The component, a program of it, and its size on the disk.
const COMPONENTS: &[(&str, &str, &str)] =
    &[("rustfmt", "cargo-fmt", "10 MB"), ("clippy", "cargo-clippy", "20 MB")];

pub(crate) fn has_target(target: &str) -> bool {
    let folder = printed(Command::new("rustc").args(["--print", "target-libdir", "--target", target]));
    let Ok(entries) = folder.and_then(|folder| Ok(fs::read_dir(folder.trim_end())?)) else { return false };
    entries.filter_map(Result::ok).any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

pub(crate) fn has_miri() -> bool {
    let root = nightly();
    let has = |part| root.as_ref().is_some_and(|root| root.join(part).exists());
    // Miri builds the standard library.
    has("bin/cargo-miri") && has("lib/rustlib/src/rust/library")
}

fn nightly() -> Option<PathBuf> {
    // This must not install a toolchain.
    let mut command = Command::new("rustc");
    let folder = printed(command.args(["+nightly", "--print", "sysroot"]).env("RUSTUP_AUTO_INSTALL", "0"));
    Some(PathBuf::from(folder.ok()?.trim_end()))
}

pub(crate) fn missing() -> Vec<Part> {
    let part = |name: &str, size, arguments: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(arguments);
        Part { name: name.to_owned(), size, commands: vec![command] }
    };
    let components = COMPONENTS.iter().filter(|(_, program, _)| !has_program(program));
    let mut parts: Vec<_> =
        components.map(|&(name, _, size)| part(name, size, &["component", "add", name])).collect();
    for target in TARGETS.iter().filter(|target| !has_target(target)) {
        let name = format!("Rust's standard library for {target}");
        parts.push(part(&name, "130 to 150 MB", &["target", "add", target]));
    }
    if !has_miri() {
        let (size, arguments) = add_miri(nightly().is_some());
        parts.push(part("Miri, on nightly Rust", size, arguments));
    }
    parts
}

/// `toolchain install` would update an installed nightly.
fn add_miri(has_nightly: bool) -> (&'static str, &'static [&'static str]) {
    if has_nightly {
        ("100 MB", &["component", "add", "--toolchain", "nightly", "miri", "rust-src"])
    } else {
        ("700 MB", &["toolchain", "install", "nightly", "--profile", "minimal", "--component", "miri,rust-src"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_nightly_is_not_updated() {
        assert!(add_miri(true).1.starts_with(&["component", "add"]));
        assert!(add_miri(false).1.starts_with(&["toolchain", "install", "nightly"]));
    }

    #[test]
    fn a_target_is_there_with_its_standard_library_only() {
        let own = printed(Command::new("rustc").args(["--print", "host-tuple"])).unwrap();
        assert!(has_target(own.trim_end()), "{own:?}");
        // Every rustc knows this target, but rustup has no standard library for it.
        assert!(!has_target("sparc64-unknown-openbsd"));
        assert!(!has_target("no-such-target"));
    }
}
