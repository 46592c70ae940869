//! A test that cannot run counts as ignored and never as passed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Result;
use libtest_mimic::{Arguments, Trial};

use crate::call::has_program;
use crate::control_group::ControlGroup;
use crate::directory::Kind;
use crate::python::python_with;
use crate::{set_clock, throttle};

/// What a test needs of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// A writable directory on such a filesystem.
    Filesystem(Kind),
    Root,
    /// What the test itself has looked up: the reason why it cannot run, if there is one.
    Own(Option<&'static str>),
    /// Root, with loop devices, and `mkfs.KIND`.
    Image(&'static str),
    /// Root, and a free loop device.
    LoopDevice,
    /// Root, with FUSE.
    Fuse,
    /// Root, with FUSE and bindfs.
    Bindfs,
    /// A limit on the writes to a device.
    Throttle,
    /// A control group with a limit on memory.
    MemoryGroup,
    /// A control group with a limit on processes and threads.
    ProcessGroup,
    /// A control group with a limit on CPU time.
    CpuLimit,
    /// A control group that can be frozen.
    Freezer,
    /// A separate wall clock for a program.
    SetClock,
    /// `dmsetup`, and a kernel with device mapper.
    DeviceMapper,
    /// strace, with permission to trace.
    Strace,
    /// Python with that module.
    Python(&'static str),
    /// A program on the path or in root's directories.
    Program(&'static str),
    /// A variable of the environment, which a step of the complete check sets.
    Variable(&'static str),
    /// `bindings/node`, built.
    NodePackage,
    /// The alignment of direct I/O in statx(2). qemu passes on the call's flag, but not the values.
    DirectIoAlignment,
}

impl Need {
    /// Why the need is not met, or `None` if it is.
    #[must_use]
    pub fn missing(self) -> Option<String> {
        match self {
            Self::Filesystem(kind) => unless(
                kind.parent().is_some(),
                &format!("no writable {} here", kind.name()),
            ),
            Self::Root => unless(rustix::process::geteuid().is_root(), "needs root"),
            Self::Own(missing) => missing.map(str::to_owned),
            Self::Image(kind) => {
                program_missing(&format!("mkfs.{kind}")).or_else(|| Self::LoopDevice.missing())
            }
            Self::LoopDevice => Self::Root
                .missing()
                .or_else(|| unless(succeeds("losetup", &["--find"]), "no loop devices")),
            Self::Fuse => unless(Path::new("/dev/fuse").exists(), "no /dev/fuse")
                .or_else(|| Self::Root.missing()),
            Self::Bindfs => Self::Fuse.missing().or_else(|| program_missing("bindfs")),
            Self::Throttle => unless(throttle::is_possible(), "no root group of blkio, version 1"),
            Self::MemoryGroup => failed("limit on memory", ControlGroup::with_memory(1 << 30)),
            Self::ProcessGroup => failed("limit on processes", ControlGroup::with_processes(100)),
            Self::CpuLimit => failed("limit on CPU time", ControlGroup::with_cpu_limit(50)),
            Self::Freezer => unless(
                !ControlGroup::freezers().is_empty(),
                "no control group that can be frozen",
            ),
            Self::SetClock => unless(
                set_clock::library().is_some(),
                "no libfaketime: run `cargo xtask setup`",
            ),
            Self::DeviceMapper => unless(
                succeeds("dmsetup", &["version"]),
                "no dmsetup or device mapper",
            ),
            Self::Strace => unless(
                succeeds("strace", &["-o", "/dev/null", "true"]),
                "no strace that may trace",
            ),
            Self::Python(module) => unless(
                python_with(module).is_some(),
                &format!("no python3 with {module}: run `cargo xtask setup`"),
            ),
            Self::DirectIoAlignment => {
                let runner = std::env::var("DIRECT_IO_UNDER");
                unless(
                    runner.as_deref() != Ok("qemu"),
                    "qemu leaves the alignment out of statx",
                )
            }
            Self::Program(name) => program_missing(name),
            Self::Variable(name) => unless(
                std::env::var_os(name).is_some(),
                &format!("the variable {name} is not set"),
            ),
            Self::NodePackage => {
                let is_built = node_package().join("direct-io.node").is_file();
                unless(
                    is_built,
                    "bindings/node is not built: `cargo xtask test node-package` does it",
                )
            }
        }
    }
}

fn unless(met: bool, why: &str) -> Option<String> {
    (!met).then(|| why.to_owned())
}

fn program_missing(name: &str) -> Option<String> {
    (!has_program(name)).then(|| format!("{name} is not installed"))
}

fn failed<T>(what: &str, made: Result<T>) -> Option<String> {
    made.err()
        .map(|error| format!("no control group with a {what}: {error:#}"))
}

fn succeeds(program: &str, words: &[&str]) -> bool {
    Command::new(program)
        .args(words)
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The Node package, which printed code of Node.js requires for direct I/O.
pub(crate) fn node_package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/node")
}

/// The tests of a program without a harness.
#[derive(Default)]
pub struct Trials {
    trials: Vec<Trial>,
    /// The answers to needs: most look-ups start a program, and a thousand tests have the same needs.
    looked_up: HashMap<Need, Option<String>>,
}

impl Trials {
    /// A test with an unmet need is ignored, and its name shows the reason.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        needs: &[Need],
        test: impl FnOnce() -> Result<()> + Send + 'static,
    ) {
        let missing = needs.iter().find_map(|&need| self.missing(need));
        let ignored = missing.is_some();
        let mut trial = Trial::test(name, move || {
            test().map_err(|error| format!("{error:#}").into())
        });
        if let Some(missing) = missing {
            trial = trial.with_kind(format!("skipped: {missing}"));
        }
        self.trials.push(trial.with_ignored_flag(ignored));
    }

    fn missing(&mut self, need: Need) -> Option<String> {
        self.looked_up
            .entry(need)
            .or_insert_with(|| need.missing())
            .clone()
    }

    /// Runs the tests, of which at most `threads` run at once because they measure or mount.
    #[must_use]
    pub fn run(self, threads: usize) -> ExitCode {
        let mut arguments = Arguments::from_args();
        arguments.test_threads = Some(arguments.test_threads.unwrap_or(threads).min(threads));
        libtest_mimic::run(&arguments, self.trials).exit_code()
    }
}
