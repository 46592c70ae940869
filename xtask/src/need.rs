use std::fs;
use std::path::PathBuf;
use std::process::Command;

use writebench_testkit::command::{printed, root, target_directory};
use writebench_testkit::{has_program, python_with};

/// A need is a program, a path, `rust:TARGET` for a standard library, `python:MODULE`, or `pip:PROGRAM`.
pub(crate) fn is_met(need: &str) -> bool {
    match need.split_once(':') {
        Some(("rust", target)) => has_target(target),
        Some(("python", module)) => python_with(module).is_some(),
        Some(("pip", program)) => python_program(program).is_some(),
        _ if need.contains('/') => root().join(need).exists(),
        _ => has_program(need),
    }
}

/// `cargo xtask setup` installs programs of Python into cargo's target directory.
pub(crate) fn python_program(name: &str) -> Option<PathBuf> {
    if has_program(name) {
        return Some(name.into());
    }
    let installed = target_directory().ok()?.join("python/bin").join(name);
    installed.is_file().then_some(installed)
}

fn has_target(target: &str) -> bool {
    let folder =
        printed(Command::new("rustc").args(["--print", "target-libdir", "--target", target]));
    let Ok(entries) = folder.and_then(|folder| Ok(fs::read_dir(folder.trim_end())?)) else {
        return false;
    };
    entries
        .filter_map(Result::ok)
        .any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_the_path_and_a_file_by_its_path() {
        for (need, wanted) in [
            ("sh", true),
            ("/etc", true),
            ("no-such-program-here", false),
            ("pip:sh", true),
            ("pip:no-such-program-here", false),
            ("/no/such/file", false),
        ] {
            assert_eq!(is_met(need), wanted, "{need}");
        }
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
