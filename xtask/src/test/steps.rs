//! What is checked, in which order, and by which commands.

use std::path::Path;

use super::counts::libtest;
use super::load;
use super::need::Need;
use super::node;
use super::page;
use super::platform;
use super::step::{Step, Tests, Work};
use crate::command::{cargo, program};

/// From the quickest to the slowest, as far as they do not build on each other.
pub(super) fn steps(target_directory: &Path) -> Vec<Step> {
    let mut steps = vec![
        Step::new("setup", Work::Setup),
        step("format", &["fmt", "--all", "--check"]),
        step("lints", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    ];
    steps.push(fuzz_targets(target_directory));
    steps.extend(platform::lints());
    steps.extend([Step::new("tidy", Work::Tidy), dependencies(), documentation(), package(), tests()]);
    steps.extend([platform::windows(target_directory), platform::aarch64(), miri()]);
    steps.push(step("release-build", &["build", "--release", "--locked"]));
    steps.push(load::step(target_directory));
    if node::package_exists() {
        steps.push(node::step(target_directory));
    }
    steps.push(page::step(target_directory));
    steps
}

fn step(name: &'static str, arguments: &[&str]) -> Step {
    let mut command = cargo();
    command.args(arguments);
    Step::new(name, Work::Command(command))
}

/// They are a workspace of their own, which nothing else here builds.
fn fuzz_targets(target_directory: &Path) -> Step {
    let mut command = cargo();
    command.args(["clippy", "--manifest-path", "fuzz/Cargo.toml", "--all-targets", "--locked"]);
    // Most of what they import has been built already.
    command.arg("--target-dir").arg(target_directory).args(["--", "-D", "warnings"]);
    Step::new("fuzz-targets", Work::Command(command))
}

/// What they may be: `deny.toml`. Advisories are on the network, and not for every run.
fn dependencies() -> Step {
    let needs = vec![Need::Subcommand("cargo-deny")];
    Step { needs, ..step("dependencies", &["deny", "--locked", "check", "licenses", "bans", "sources"]) }
}

fn documentation() -> Step {
    let mut command = cargo();
    command.args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings");
    Step::new("documentation", Work::Command(command))
}

/// What crates.io would get must build by itself.
fn package() -> Step {
    step("package", &["package", "-p", "direct-io", "--locked", "--allow-dirty"])
}

fn tests() -> Step {
    let mut command = cargo();
    command.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
    Step::new("tests", Work::Tests(Tests::of(command, libtest)))
}

/// Whether the memory of direct-io's buffers is used, and given back, as it was asked for.
fn miri() -> Step {
    // The cargo that runs us belongs to one toolchain and takes no other's name.
    let mut command = program("cargo");
    command.args(["+nightly", "miri", "test", "--locked", "-p", "direct-io", "--lib", "buffer::"]);
    Step { needs: vec![Need::Miri], ..Step::new("miri", Work::Tests(Tests::of(command, libtest))) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::command::output;

    fn all() -> Vec<Step> {
        steps(Path::new("/w/target"))
    }

    #[test]
    fn every_step_can_be_repeated_by_hand() {
        for step in all() {
            let text = step.work.to_string();
            // A shell understands it, without doing it.
            output(Command::new("sh").args(["-n", "-c", &text])).unwrap();
            let programs = ["cargo ", "npm "];
            assert!(programs.iter().any(|program| text.contains(program)), "{}: {text}", step.name);
        }
    }

    #[test]
    fn a_step_has_a_name_of_its_own_that_is_easily_typed() {
        let names: Vec<_> = all().iter().map(|step| step.name).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(
                name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c)),
                "{name}"
            );
            assert!(!names[..index].contains(name), "{name}");
        }
    }
}
