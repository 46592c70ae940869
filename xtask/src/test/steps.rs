//! The steps of the check, with their order and commands.

use std::path::Path;

use super::counts::{libtest, node};
use super::need::Need;
use super::platform;
use super::step::Step;
use crate::command::{quoted, root};

const NODE_PACKAGE: &str = "bindings/node";
/// The packages for crates.io, in their order; direct-io, which others use, must build by itself.
const PACKAGE: &str = "cargo package -p direct-io --locked --allow-dirty \
    && cargo publish --workspace --dry-run --no-verify --locked --allow-dirty";
/// The packages that steps build together, though some need only one: another choice turns on other features of
/// libraries, and all that use these would be built again. The Node package has features of its own.
const RUST: &str = "--workspace --exclude direct-io-node";
const NODE_LINTS: &str = "cargo clippy -p direct-io-node --locked -- -D warnings";
const PAGE_TESTS: &str = "crates/report/page/tests";

/// The steps from the fastest to the slowest, as far as dependencies allow. Those beside others build in folders of
/// their own, and leave the processors to them.
pub(super) fn steps(target_directory: &Path) -> Vec<Step> {
    let mut steps = vec![
        Step::new("setup", "cargo xtask setup"),
        Step::new("format", "cargo fmt --all --check"),
        Step::new(
            "lints",
            format!("cargo clippy {RUST} --all-targets --locked -- -D warnings && {NODE_LINTS}"),
        ),
        fuzz_targets(target_directory),
        Step::new(
            "lints-mpi",
            format!("cargo clippy {RUST} --features writebench/mpi --all-targets --locked -- -D warnings"),
        )
        .needing([Need::Program("mpicc")]),
    ];
    steps.extend([
        // The Node package, as users build it; printed code of Node.js requires it.
        Step::new(
            "node-package",
            format!("{} && {}", clean_install(NODE_PACKAGE), npm(NODE_PACKAGE, "run build")),
        )
        .needing([Need::Program("node"), Need::Program("npm")])
        .beside(),
        Step::new("tidy", "cargo xtask tidy"),
        // Advisories need the network.
        Step::new("dependencies", "cargo deny --locked check licenses bans sources")
            .needing([Need::Subcommand("cargo-deny")]),
        Step::new("documentation", format!("RUSTDOCFLAGS='-D warnings' cargo doc {RUST} --no-deps --locked")),
        Step::new("package", PACKAGE),
        Step::tests(
            "tests",
            format!("cargo test {RUST} --locked --no-fail-fast -- --skip snippets: --skip load:"),
            libtest,
        ),
        // The program with the feature `mpi`, under a real mpirun.
        Step::tests(
            "mpi",
            format!("cargo test {RUST} --features writebench/mpi --test cli --locked -- mpi:"),
            libtest,
        )
        .needing([Need::Program("mpicc"), Need::Program("mpirun")]),
        // Printed code, compiled and run in every language. It waits for disks, and nothing is measured.
        Step::tests(
            "snippets",
            format!("cargo test {RUST} --test cli --locked -- snippets: --test-threads 4"),
            libtest,
        )
        .needing([Need::Ended("node-package")]),
    ]);
    // Beside the others, in this order.
    steps.extend(platform::lints().map(Step::beside));
    steps.extend([
        platform::aarch64().beside(),
        platform::windows(target_directory).beside(),
        // Miri checks that direct-io's buffers use and free memory correctly.
        Step::tests("miri", "cargo +nightly miri test --locked -p direct-io --lib buffer::", libtest)
            .needing([Need::Miri])
            .beside(),
        Step::new("release-build", "cargo build --release --locked").beside(),
    ]);
    steps.extend(of_released_program(&target_directory.join("release/writebench")));
    steps
}

/// The fuzz targets are a separate workspace, which no other step builds. Clippy links nothing, so libFuzzer need not be
/// compiled.
fn fuzz_targets(target_directory: &Path) -> Step {
    let target_directory = quoted(target_directory.as_os_str());
    let command = "cargo clippy --manifest-path fuzz/Cargo.toml --all-targets --locked --target-dir";
    Step::new(
        "fuzz-targets",
        format!("CUSTOM_LIBFUZZER_PATH=/nowhere/libfuzzer.a {command} {target_directory} -- -D warnings"),
    )
}

fn of_released_program(writebench: &Path) -> Vec<Step> {
    let built = Need::File { path: writebench.to_owned(), made_by: "release-build" };
    let writebench = format!("WRITEBENCH='{}'", writebench.display());
    // Times are compared, of the program that users have: nothing else runs.
    let load = format!("{writebench} cargo test {RUST} --test cli --locked -- load:");
    let addon = root().join(NODE_PACKAGE).join("direct-io.node");
    let node_package = Need::File { path: addon, made_by: "node-package" };
    let node_tests = format!("{writebench} {}", npm(NODE_PACKAGE, "test"));
    // The page of `writebench report` in a real browser; the program makes it from its own runs.
    let page = format!("{} && {writebench} {}", clean_install(PAGE_TESTS), npm(PAGE_TESTS, "test"));
    let (by_node, by_npm, chromium) = (Need::Program("node"), Need::Program("npm"), Need::Program("chromium"));
    vec![
        Step::tests("node", node_tests, node)
            .needing([by_node.clone(), by_npm.clone(), node_package, built.clone()])
            .beside(),
        Step::tests("page", page, node).needing([by_node, by_npm, chromium, built.clone()]).beside(),
        Step::tests("load", load, libtest).needing([built, Need::Ended("page")]),
    ]
}

/// Installs exactly the lock file's packages.
fn clean_install(folder: &str) -> String {
    npm(folder, "ci --no-audit --no-fund")
}

fn npm(folder: &str, arguments: &str) -> String {
    format!("NO_COLOR=1 npm --prefix {folder} --no-update-notifier {arguments}")
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
            // A shell parses the command without running it.
            output(Command::new("sh").args(["-n", "-c", &step.command])).unwrap();
            let programs = ["cargo ", "npm "];
            assert!(
                programs.iter().any(|program| step.command.contains(program)),
                "{}: {}",
                step.name,
                step.command
            );
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

    #[test]
    fn the_program_comes_from_the_release_build() {
        for step in all().iter().filter(|step| ["load", "node", "page"].contains(&step.name)) {
            assert!(step.command.contains("WRITEBENCH='/w/target/release/writebench' "), "{}", step.command);
            assert!(step.needs.iter().any(|need| matches!(need, Need::File { made_by: "release-build", .. })));
        }
    }
}
