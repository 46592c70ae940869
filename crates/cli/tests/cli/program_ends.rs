//! Processes of a user's program end with its sample, worker or run.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    Kind, Need, Trials, children, directory_on, kill_run, send, wait_for, worker,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a writer left behind by a program is killed, and disturbs the sample",
        &tmpfs,
        || in_each_way(leaves_behind),
    );
    trials.add(
        "a program and its children die with the worker",
        &tmpfs,
        || in_each_way(|writer| dies_with(writer, |run| worker(run).context("a worker"))),
    );
    trials.add(
        "a program and its children die with the guard",
        &tmpfs,
        || in_each_way(|writer| dies_with(writer, guard)),
    );
    trials.add(
        "a program and its children die with the supervisor",
        &tmpfs,
        || in_each_way(dies_with_the_supervisor),
    );
    trials.add(
        "a program inherits only the promised descriptors",
        &tmpfs,
        descriptors,
    );
}

/// A child, a new session, and an orphan, each of which writes to `"$0"`.
const WAYS: [&str; 3] = ["$WRITER &", "setsid $WRITER &", "(setsid $WRITER &)"];

struct Writer {
    start: &'static str,
    directory: tempfile::TempDir,
}

impl Writer {
    fn file(&self) -> std::path::PathBuf {
        self.directory.path().join("written")
    }

    /// Starts the writer, then runs the given command.
    fn command(&self, then: &str) -> Result<String> {
        let script = self.directory.path().join("script");
        let file = self.file();
        let file = file.to_str().context("UTF-8")?;
        let writer = format!("sh -c 'while :; do echo on >>{file}; sleep 0.01; done'");
        let start = self.start.replace("$WRITER", &writer);
        let wait = format!("while ! test -s {file}; do sleep 0.01; done");
        // A case continues after one dead worker.
        let once = format!("test -e {file} && exit 3");
        std::fs::write(
            &script,
            format!("{once}\n{start}\n{wait}\ncat \"$1\" >\"$2\"\n{then}\n"),
        )?;
        Ok(format!("sh '{}' {{source}} {{file}}", script.display()))
    }

    fn has_written(&self) -> Option<()> {
        std::fs::metadata(self.file())
            .is_ok_and(|metadata| metadata.len() > 0)
            .then_some(())
    }

    /// No command line contains the file's name.
    fn is_gone(&self) -> Option<()> {
        let file = self.file();
        let has_it = |process: &Path| {
            std::fs::read(process.join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&*file.to_string_lossy()))
        };
        let mut processes = std::fs::read_dir("/proc").ok()?.flatten();
        (!processes.any(|process| has_it(&process.path()))).then_some(())
    }
}

fn in_each_way(test: impl Fn(&Writer) -> Result<()>) -> Result<()> {
    WAYS.into_iter().try_for_each(|start| {
        test(&Writer {
            start,
            directory: tempfile::tempdir()?,
        })
        .with_context(|| start.to_owned())
    })
}

const FEW: [&str; 5] = ["--no-limits", "--samples", "1", "--bytes", "64KiB"];

fn leaves_behind(writer: &Writer) -> Result<()> {
    let on = directory_on(Kind::Tmpfs);
    let document = program()?.run(
        on.path(),
        &[&FEW[..], &["--command", &writer.command("")?]].concat(),
        4,
    )?;
    let sample = &document["cases"][0]["samples"][0];
    let disturbed = sample["disturbed_by"].as_str().unwrap_or_default();
    ensure!(
        sample["outcome"] == "ok" && disturbed.contains("which were killed"),
        "{sample:#}"
    );
    writer.is_gone().context("the writer is still there")
}

fn dies_with(writer: &Writer, victim: impl Fn(u32) -> Result<u32>) -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let path = on.path().to_str().context("UTF-8")?;
    let command = writer.command("sleep 1000")?;
    let words = [
        &["--quiet", "run", path][..],
        &FEW,
        &["--command", &command, "--command", "cp {source} {file}"],
    ]
    .concat();
    let run = program.start(&words)?;
    wait_for("the writer", || writer.has_written())?;
    send(victim(run.id())?, Signal::KILL)?;
    let output = run.wait_with_output()?;
    ensure!(output.status.code() == Some(4), "{output:?}");
    writer.is_gone().context("the writer is still there")?;
    let document: Value =
        serde_json::from_str(&program.call(&["show", "--export", "json=-"])?.stdout)?;
    let outcome = |case: usize| document["cases"][case]["outcome"].clone();
    ensure!(outcome(0) != "ok" && outcome(1) == "ok", "{document:#}");
    Ok(())
}

fn guard(run: u32) -> Result<u32> {
    let all = children(worker(run).context("a worker")?);
    ensure!(all.len() == 1, "{all:?}");
    Ok(all[0])
}

fn dies_with_the_supervisor(writer: &Writer) -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let path = on.path().to_str().context("UTF-8")?;
    let command = writer.command("sleep 1000")?;
    let run = program.start(
        &[
            &["--quiet", "run", path][..],
            &FEW,
            &["--command", &command],
        ]
        .concat(),
    )?;
    wait_for("the writer", || writer.has_written())?;
    kill_run(run)?;
    wait_for("the end of the writer", || writer.is_gone())
}

fn descriptors() -> Result<()> {
    let on = directory_on(Kind::Tmpfs);
    let list = on.path().join("list");
    let lists =
        "exec >\"$3\"; ls -l /proc/$$/fd; echo phases $WRITEBENCH_PHASES_FD; cat \"$1\" >\"$2\"";
    let command = format!("sh -c '{lists}' - {{source}} {{file}} {}", list.display());
    program()?.run(on.path(), &[&FEW[..], &["--command", &command]].concat(), 0)?;
    let list = std::fs::read_to_string(list)?;
    let mut numbers: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split_once(" -> ")?.0.rsplit(' ').next())
        .filter(|number| !["0", "1", "2"].contains(number))
        .collect();
    let phases = list
        .lines()
        .find_map(|line| line.strip_prefix("phases "))
        .context("the phases")?;
    numbers.retain(|&number| number != phases);
    ensure!(numbers.is_empty(), "{list}");
    Ok(())
}
