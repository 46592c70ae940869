//! Studies measure the release build of writebench.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use writebench_model::{Case, Durability, Start};
use writebench_snippets::Language;
use writebench_testkit::Purpose;
use writebench_testkit::command::{cargo, folder_for, shown, succeed, target_directory};

use crate::export::{Measured, measured};

/// A rehearsal names a program that is built already.
pub(crate) fn build() -> Result<PathBuf> {
    match std::env::var_os("WRITEBENCH") {
        Some(program) => std::fs::canonicalize(program).context("the program of WRITEBENCH"),
        None => build_with(&[]),
    }
}

pub(crate) fn build_for_ranks() -> Result<PathBuf> {
    let built = build_with(&["--package", "writebench", "--features", "mpi"])?;
    // A build without MPI would overwrite the program.
    let program = folder_for("mpi")?.join("writebench");
    std::fs::copy(built, &program).context("copying the program")?;
    Ok(program)
}

fn build_with(arguments: &[&str]) -> Result<PathBuf> {
    succeed(
        cargo()
            .args(["build", "--release", "--locked"])
            .args(arguments),
    )?;
    let program = target_directory()?.join("release/writebench");
    ensure!(
        program.is_file(),
        "cargo did not build {}",
        program.display()
    );
    Ok(program)
}

pub(crate) fn mpirun(ranks: u32, program: &Path) -> Command {
    let mut command = Command::new("mpirun");
    command
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--quiet",
            "-n",
            &ranks.to_string(),
        ])
        .arg(program);
    command
}

/// A bench is a program with a directory for its measurements.
#[derive(Clone, Copy)]
pub(crate) struct Bench<'b> {
    pub(crate) program: &'b Path,
    pub(crate) target: &'b Path,
    /// The kind of the filesystem, if a study made it.
    pub(crate) made: Option<&'b str>,
}

impl Bench<'_> {
    pub(crate) fn run(self, cases: &[Case], samples: u32) -> Command {
        self.run_by(Command::new(self.program), cases, samples)
    }

    fn run_by(self, mut start: Command, cases: &[Case], samples: u32) -> Command {
        start
            .arg("run")
            .arg(self.target)
            .args(["--yes", "--samples", &samples.to_string()]);
        start.args(
            cases
                .iter()
                .flat_map(|case| ["--case".to_owned(), case.to_string()]),
        );
        start
    }

    /// Measures a case and other programs in the same rounds. Each program is a command line for `--command`.
    pub(crate) fn compare(
        self,
        start: Command,
        case: &Case,
        rounds: u32,
        programs: &[&String],
        verify: &str,
    ) -> Result<Vec<Measured>> {
        let mut command = self.run_by(start, std::slice::from_ref(case), rounds);
        command.args(["--no-limits", "--verify", verify]);
        let workload = case.workload();
        command.args((workload.start == Start::Existing).then_some("--existing"));
        command.args((workload.durability == Durability::Durable).then_some("--durable"));
        command.args(case.method().copies().then_some("--copies"));
        command.args(
            programs
                .iter()
                .flat_map(|line| ["--command", line.as_str()]),
        );
        measured(&exported(command)?)
    }
}

/// The first sample detects the effect of `O_DIRECT`.
pub(crate) fn compared(mut run: Command) -> Command {
    run.args(["--no-limits", "--verify", "first"]);
    run
}

/// Compiles printed code in a new folder, and returns a command line for `--command`.
pub(crate) fn compiled(text: &str, language: Language, folder: &Path) -> Result<String> {
    std::fs::create_dir(folder)?;
    let words = writebench_testkit::compiled(text, language, folder, Purpose::Measurement)?;
    Ok(format!(
        "{} {{source}} {{file}}",
        shlex::try_join(words.iter().map(String::as_str))?
    ))
}

/// The run gets a new database. One with failed cases ends with an error, but exports.
pub(crate) fn exported(command: Command) -> Result<Value> {
    let scratch = tempfile::tempdir().context("a folder for the database")?;
    exported_from(command, &scratch.path().join("db"))
}

pub(crate) fn exported_from(mut command: Command, db: &Path) -> Result<Value> {
    let scratch = tempfile::tempdir().context("a folder for the export")?;
    let export = scratch.path().join("export.json");
    command.arg("--db").arg(db).arg("--quiet");
    command
        .arg("--export")
        .arg(format!("json={}", export.display()));
    let output = command
        .stdin(Stdio::null())
        .output()
        .context("starting writebench")?;
    let Ok(text) = std::fs::read_to_string(&export) else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} ended with {}: {}",
            shown(&command),
            output.status,
            complaint.trim()
        );
    };
    serde_json::from_str(&text).context("writebench's export is not JSON")
}
