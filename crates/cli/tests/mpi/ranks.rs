//! Several ranks under a real `mpirun`.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    Gluster, Kind, Need, Program, Trials, descendants, directory_on, entries, is_alive, is_worker,
    send, wait_for,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let mpi = [Need::Program("mpirun"), Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "four ranks measure one run, with shared, separate and strided files",
        &mpi,
        one_run,
    );
    trials.add(
        "suite cluster runs, and --scaling varies the ranks",
        &mpi,
        suite,
    );
    trials.add("advise searches for all ranks", &mpi, advice);
    trials.add(
        "a mistake is reported once, before measuring",
        &mpi,
        mistakes,
    );
    trials.add(
        "an error names a rank without the target",
        &[mpi[0], mpi[1], Need::Root],
        blind,
    );
    let strace = [mpi[0], mpi[1], Need::Strace];
    trials.add(
        "a slow rank is named, and a failed rank fails the sample",
        &strace,
        slow_and_failing,
    );
    trials.add(
        "a killed worker of one rank costs one sample",
        &mpi,
        killed_worker,
    );
    trials.add(
        "a killed rank ends the run, and the next run resumes and cleans up",
        &mpi,
        killed_rank,
    );
    trials.add(
        "a rank killed at any moment leaves an intact database",
        &mpi,
        killed_at_any_moment,
    );
    trials.add("SIGTERM ends a run cleanly", &mpi, terminated);
    let faketime = [mpi[0], mpi[1], Need::Program("faketime")];
    trials.add(
        "a node's clock that is 50 ms ahead changes no result",
        &faketime,
        clocks,
    );
    let gluster = [mpi[0], Need::Image("ext4"), Need::Program("glusterfsd")];
    trials.add(
        "ranks write to GlusterFS, alone and together",
        &gluster,
        on_gluster,
    );
    trials.add("64 ranks on one machine finish", &mpi, many);
}

/// The number of ranks on a node, and the command around them.
pub(crate) struct RankGroup<'p> {
    pub ranks: u32,
    pub node: &'p str,
    pub around: &'p [&'p str],
}

fn mpirun(program: &Program, groups: &[RankGroup<'_>], words: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "--quiet"]);
    for (
        index,
        RankGroup {
            ranks,
            node,
            around,
        },
    ) in groups.iter().enumerate()
    {
        if index > 0 {
            command.arg(":");
        }
        command.args([
            "-n",
            &ranks.to_string(),
            "-x",
            &format!("WRITEBENCH_NODE={node}"),
        ]);
        command.args(*around).arg(program.binary()).args(words);
    }
    command
        .env("HOME", program.home())
        .env("XDG_DATA_HOME", program.home());
    command.env_remove("WRITEBENCH_DB").stdin(Stdio::null());
    command
}

pub(crate) const fn all(ranks: u32) -> RankGroup<'static> {
    RankGroup {
        ranks,
        node: "n1",
        around: &[],
    }
}

pub(crate) fn run(
    program: &Program,
    groups: &[RankGroup<'_>],
    target: &Path,
    words: &[&str],
) -> Result<(Value, Output)> {
    let export = program.home().join("export.json");
    let export_word = format!("--export=json={}", export.display());
    let target = target.to_str().context("UTF-8")?;
    let mut all = vec!["run", target, &export_word];
    all.extend(words);
    let output = mpirun(program, groups, &all).output()?;
    let text = std::fs::read_to_string(&export).with_context(|| format!("{output:?}"))?;
    Ok((serde_json::from_str(&text)?, output))
}

pub(crate) fn case<'d>(document: &'d Value, name: &str) -> Result<&'d Value> {
    let cases = document["cases"].as_array().context("cases")?;
    cases
        .iter()
        .find(|case| case["name"] == name)
        .with_context(|| format!("no {name} in {document}"))
}

pub(crate) fn samples(case: &Value) -> Result<&Vec<Value>> {
    case["samples"].as_array().context("samples")
}

fn one_run() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let cases = [
        "pwrite,size=4MiB,ranks=4,files=per-rank",
        "pwrite,size=4MiB,ranks=4,threads=2,sync=fsync",
        "pwrite,size=4MiB,chunk=64KiB,ranks=4,layout=strided,block=64KiB",
        "mmap,size=4MiB,ranks=4",
        "write,size=4MiB,ranks=4,files=per-rank,prepare=overwrite",
        "write-files,size=4MiB,ranks=4,directory=per-thread",
        "write-files,size=4MiB,ranks=4,threads=2,naming=rename,sync-files=syncfs,prepare=overwrite",
        "write,size=4MiB",
    ];
    let mut words = vec!["--samples", "3"];
    let named: Vec<String> = cases
        .iter()
        .map(|name| match *name {
            "write,size=4MiB" => "write,size=4MiB,ranks=1".to_owned(),
            name => name.replace(",ranks=4", ""),
        })
        .collect();
    words.extend(named.iter().flat_map(|name| ["--case", name.as_str()]));
    let groups = [
        all(2),
        RankGroup {
            ranks: 2,
            node: "n2",
            around: &[],
        },
    ];
    let (document, output) = run(&program, &groups, target.path(), &words)?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(
        document["run"]["cluster"]["nodes"][1]["host"] == "n2",
        "{}",
        document["run"]["cluster"]
    );
    for name in cases {
        let case = case(&document, name)?;
        ensure!(case["outcome"] == "ok", "{case}");
        for sample in samples(case)? {
            ensure!(sample["bytes"] == 4 << 20, "{sample}");
            let write = &sample["ranks"]["phases"][1];
            let least_of_all = sample["phases_ns"]["write"].as_u64().context("a time")?;
            if name.contains("ranks=") {
                let phases = sample["ranks"]["phases"].as_array().context("phases")?;
                let write = phases
                    .iter()
                    .find(|phase| phase["phase"] == "write")
                    .context("write")?;
                ensure!(
                    write["max_ns"].as_u64().context("a time")? <= least_of_all,
                    "{sample}"
                );
            } else {
                ensure!(write.is_null(), "{sample}");
            }
        }
        // The first sample is read back completely, by ranks of the other node.
        ensure!(samples(case)?[0]["read_back"]["bytes"] == 4 << 20, "{case}");
    }
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    let shown = program.call(&["show"])?;
    ensure!(
        shown.stdout.contains("4 ranks on 2 nodes"),
        "{}",
        shown.stdout
    );
    let runs = program.call(&["runs"])?;
    ensure!(
        runs.stdout
            .lines()
            .filter(|line| line.contains("complete"))
            .count()
            == 1,
        "{}",
        runs.stdout
    );
    Ok(())
}

fn suite() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let words = [
        "--suite",
        "cluster",
        "--size",
        "1MiB",
        "--samples",
        "1",
        "--set",
        "chunk=64KiB",
        "--scaling",
    ];
    let (document, output) = run(&program, &[all(4)], target.path(), &words)?;
    ensure!(matches!(output.status.code(), Some(0)), "{output:?}");
    for ranks in ["", ",ranks=2", ",ranks=4"] {
        let name = format!("pwrite,size=1MiB,chunk=64KiB{ranks},files=per-rank,sync=fsync");
        ensure!(case(&document, &name)?["outcome"] == "ok", "{name}");
    }
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

fn advice() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target_text = target.path().to_str().context("UTF-8")?;
    let words = [
        "advise",
        target_text,
        "--for",
        "stream",
        "--size",
        "8MiB",
        "--budget",
        "10s",
        "--export=json=-",
    ];
    let output = mpirun(&program, &[all(2)], &[&words[..], &["--quiet"]].concat()).output()?;
    ensure!(output.status.success(), "{output:?}");
    let document: Value =
        serde_json::from_slice(&output.stdout).with_context(|| format!("{output:?}"))?;
    let recommended = document["advice"]["recommended"]
        .as_str()
        .context("a name")?;
    ensure!(recommended.contains("ranks=2"), "{recommended}");
    Ok(())
}

fn mistakes() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target_text = target.path().to_str().context("UTF-8")?;
    let refused = |words: &[&str], said: &str| {
        let output = mpirun(&program, &[all(3)], words).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(
            !output.status.success() && text.matches(said).count() == 1,
            "{words:?}: {text}"
        );
        ensure!(entries(target.path()).is_empty());
        Ok(())
    };
    refused(
        &["run", target_text, "--sample", "1"],
        "unexpected argument '--sample'",
    )?;
    refused(
        &["run", target_text, "--case", "pwrite,size=1MiB,ranks=8"],
        "mpirun -n 8",
    )?;
    refused(&["run", target_text, "--suite", "nothing"], "'nothing'")?;
    let alone = program.call(&["run", target_text, "--case", "pwrite,size=1MiB,ranks=2"])?;
    ensure!(
        alone.code == Some(2) && alone.stderr.contains("mpirun -n 2"),
        "{alone:?}"
    );
    let device = [
        "run",
        "/dev/vda",
        "--suite",
        "direct",
        "--destroy",
        "/dev/vda",
    ];
    refused(&device, "a device belongs to one node")?;
    let scaling = program.call(&["run", target_text, "--suite", "cluster", "--scaling"])?;
    ensure!(
        scaling.code == Some(2) && scaling.stderr.contains("mpirun -n 4"),
        "{scaling:?}"
    );
    let shown = mpirun(&program, &[all(3)], &["list", "suites"]).output()?;
    let text = String::from_utf8_lossy(&shown.stdout);
    ensure!(
        text.matches("cluster").count() == 1,
        "only the first rank prints: {text}"
    );
    Ok(())
}

fn blind() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    // The second node has another filesystem there.
    let script = format!(
        "mount -t tmpfs none '{}' && exec \"$0\" \"$@\"",
        target.path().display()
    );
    let around = ["unshare", "--mount", "sh", "-c", script.as_str()];
    let groups = [
        all(2),
        RankGroup {
            ranks: 1,
            node: "n2",
            around: &around,
        },
    ];
    let words = [
        "run",
        target.path().to_str().context("UTF-8")?,
        "--case",
        "pwrite,size=1MiB",
    ];
    let output = mpirun(&program, &groups, &words).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success(), "{text}");
    ensure!(
        text.contains("rank 2 on n2: does not see") && text.contains("Is it a shared filesystem?"),
        "{text}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

fn slow_and_failing() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let slow = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=pwrite64",
        "-e",
    ];
    let slow = [&slow[..], &["inject=pwrite64:delay_enter=4000"]].concat();
    let groups = [
        all(3),
        RankGroup {
            ranks: 1,
            node: "n2",
            around: &slow,
        },
    ];
    let words = ["--samples", "6", "--case", "pwrite,size=16MiB,chunk=64KiB"];
    let (document, output) = run(&program, &groups, target.path(), &words)?;
    ensure!(output.status.success(), "{output:?}");
    let taken = case(&document, "pwrite,size=16MiB,chunk=64KiB,ranks=4")?;
    for sample in samples(taken)? {
        let phases = sample["ranks"]["phases"].as_array().context("phases")?;
        let write = phases
            .iter()
            .find(|phase| phase["phase"] == "write")
            .context("write")?;
        ensure!(
            write["slowest"]["rank"] == 3 && write["slowest"]["host"] == "n2",
            "{write}"
        );
    }
    let shown = program.call(&["show", "--all"])?;
    ensure!(
        shown.stdout.contains("Straggler rank 3 on n2: "),
        "{}",
        shown.stdout
    );

    let failing = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fsync",
        "-e",
    ];
    let failing = [&failing[..], &["inject=fsync:error=EIO:when=1+"]].concat();
    let groups = [
        all(3),
        RankGroup {
            ranks: 1,
            node: "n2",
            around: &failing,
        },
    ];
    let words = [
        "--samples",
        "2",
        "--case",
        "pwrite,size=1MiB,sync=fsync",
        "--case",
        "pwrite,size=1MiB",
    ];
    let (document, output) = run(&program, &groups, target.path(), &words)?;
    ensure!(output.status.code() == Some(4), "{output:?}");
    let failed = case(&document, "pwrite,size=1MiB,ranks=4,sync=fsync")?;
    ensure!(
        failed["reason"] == "rank 3 on n2: fsync: Input/output error (5)",
        "{failed}"
    );
    ensure!(failed["estimate"].is_null(), "{failed}");
    ensure!(
        case(&document, "pwrite,size=1MiB,ranks=4")?["outcome"] == "ok",
        "the other cases go on"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

struct Running<'p> {
    program: &'p Program,
    launcher: Child,
}

impl<'p> Running<'p> {
    /// Returns after the first samples.
    fn begin(program: &'p Program, target: &Path) -> Result<Self> {
        let words = [
            "run",
            target.to_str().context("UTF-8")?,
            "--samples",
            "400",
            "--yes",
            "--quiet",
        ];
        let words = [
            &words[..],
            &[
                "--case",
                "pwrite,size=8MiB",
                "--case",
                "write,size=8MiB,files=per-rank",
            ],
        ];
        let mut command = mpirun(program, &[all(3)], &words.concat());
        let launcher = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let run = Self { program, launcher };
        wait_for("samples", || (run.rows() > 4).then_some(()))?;
        Ok(run)
    }

    fn rows(&self) -> usize {
        let csv = self.program.call(&["show", "--export", "csv=-"]).ok();
        csv.filter(|ended| ended.code == Some(0))
            .map_or(0, |ended| ended.stdout.lines().count())
    }

    /// The processes of the ranks, in the order of their start.
    fn ranks(&self) -> Vec<u32> {
        self.processes(|process| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            line.split(|&byte| byte == 0).nth(1) == Some(b"run")
        })
    }

    fn processes(&self, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut all = descendants(self.launcher.id());
        all.sort_unstable();
        all.retain(|&process| is_wanted(process));
        all
    }

    fn status(&self) -> Result<String> {
        let shown = self.program.call(&["runs"])?;
        Ok(shown.stdout)
    }
}

fn killed_worker() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let run = Running::begin(&program, target.path())?;
    let workers = run.processes(is_worker);
    ensure!(workers.len() == 3, "{workers:?}");
    send(workers[2], Signal::KILL)?;
    let before = run.rows();
    wait_for("samples after it", || {
        (run.rows() > before + 6).then_some(())
    })?;
    send(run.launcher.id(), Signal::TERM)?;
    let Running { launcher, .. } = run;
    launcher.wait_with_output()?;
    let csv = program.call(&["show", "--export", "csv=-"])?.stdout;
    let died: Vec<&str> = csv
        .lines()
        .filter(|line| line.contains("worker-died"))
        .collect();
    ensure!(
        died.len() == 1 && died[0].contains(" on n1: SIGKILL (9)"),
        "{died:?}"
    );
    Ok(())
}

/// The launcher may leave processes for a moment.
fn nobody_works_in(target: &Path) -> Result<()> {
    let name = target.display().to_string();
    wait_for("the ranks and workers to end", || {
        let list = Command::new("pgrep").args(["-f", &name]).output();
        list.is_ok_and(|list| list.stdout.is_empty()).then_some(())
    })
}

fn killed_rank() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let run = Running::begin(&program, target.path())?;
    let ranks = run.ranks();
    ensure!(ranks.len() == 3, "{ranks:?}");
    send(ranks[2], Signal::KILL)?;
    let taken = run.rows();
    let Running { launcher, .. } = run;
    let output = launcher.wait_with_output()?;
    ensure!(!output.status.success(), "{output:?}");
    nobody_works_in(target.path())?;
    let fewer = mpirun(&program, &[all(2)], &["run", "--resume"]).output()?;
    let said = String::from_utf8_lossy(&fewer.stderr).into_owned();
    ensure!(
        fewer.status.code() == Some(2) && said.contains("needs 3 ranks, and there are fewer"),
        "{said}"
    );
    // The run resumes with as many ranks, on other nodes.
    let nodes = [
        all(2),
        RankGroup {
            ranks: 1,
            node: "n2",
            around: &[],
        },
    ];
    let output = mpirun(
        &program,
        &nodes,
        &["run", "--resume", "--budget", "2s", "--yes"],
    )
    .output()?;
    ensure!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        said.contains("other nodes: 3 ranks on 2 nodes instead of 3 ranks on 1 node"),
        "{said}"
    );
    let shown = program.call(&["show", "--all"])?.stdout;
    ensure!(
        shown.contains("from other nodes, before the run was resumed: n1: 3."),
        "{shown}"
    );
    let csv = program.call(&["show", "--export", "csv=-"])?.stdout;
    ensure!(csv.lines().count() > taken, "{taken}: {csv}");
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

fn killed_at_any_moment() -> Result<()> {
    const KILLS: u64 = 20;
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target_text = target.path().to_str().context("UTF-8")?;
    let one = [
        "run",
        target_text,
        "--no-limits",
        "--samples",
        "1",
        "--case",
        "pwrite,size=4MiB",
    ];
    ensure!(
        mpirun(&program, &[all(3)], &one).output()?.status.success(),
        "the first run"
    );
    for kill in 0..KILLS {
        let words = ["run", target_text, "--no-limits", "--budget", "20s"];
        let words = [
            &words[..],
            &["--samples", "1000", "--case", "pwrite,size=4MiB,sync=fsync"],
        ]
        .concat();
        let mut command = mpirun(&program, &[all(3)], &words);
        let launcher = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut run = Running {
            program: &program,
            launcher,
        };
        let ranks = wait_for("three ranks", || {
            let ranks = run.ranks();
            (ranks.len() == 3).then_some(ranks)
        })?;
        std::thread::sleep(Duration::from_millis(kill * 37));
        send(ranks[usize::try_from(kill)? % 3], Signal::KILL)?;
        wait_for("the ranks to end", || {
            (!ranks.iter().copied().any(is_alive)).then_some(())
        })?;
        let status = ended(&mut run.launcher)?;
        ensure!(!status.success(), "{status:?}");
        // Ending processes still hold their directory.
        nobody_works_in(target.path())?;
        let runs = program.call(&["runs"])?;
        ensure!(runs.code == Some(0), "{runs:?}");
    }
    let shown = program.call(&["show", "--export", "csv=-"])?;
    ensure!(shown.code == Some(0), "{shown:?}");
    let output = mpirun(&program, &[all(3)], &one).output()?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

/// Kills an mpirun without ranks: Open MPI 4.1.4 can wait forever if a rank dies during MPI_Init.
fn ended(launcher: &mut Child) -> Result<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(10) {
        if let Some(status) = launcher.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    launcher.kill()?;
    Ok(launcher.wait()?)
}

fn terminated() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let run = Running::begin(&program, target.path())?;
    // Slurm signals every rank.
    for rank in run.ranks() {
        send(rank, Signal::TERM)?;
    }
    let status = run.status()?;
    let Running { launcher, .. } = run;
    launcher.wait_with_output().context(status)?;
    let shown = program.call(&["runs"])?.stdout;
    ensure!(shown.contains("interrupted"), "{shown}");
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}

fn clocks() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let words = ["--samples", "6", "--case", "pwrite,size=1MiB,sync=fsync"];
    for ahead in ["+0.05s", "-0.05s"] {
        let around = ["faketime", "-f", ahead];
        let groups = [
            all(1),
            RankGroup {
                ranks: 1,
                node: "n2",
                around: &around,
            },
        ];
        let (document, output) = run(&program, &groups, target.path(), &words)?;
        ensure!(output.status.success(), "{output:?}");
        let taken = samples(case(&document, "pwrite,size=1MiB,ranks=2,sync=fsync")?)?;
        // A busy machine delays some samples, but not all.
        let (mut least_uncertainty, mut least_excess) = (u64::MAX, u64::MAX);
        for sample in taken {
            let uncertainty = sample["ranks"]["clock_uncertainty_ns"]
                .as_u64()
                .context("a time")?;
            ensure!(uncertainty > 0, "{sample}");
            let time = |phase: &str| sample["phases_ns"][phase].as_u64().unwrap_or(0);
            let own = |phase: &str| {
                let phases = sample["ranks"]["phases"].as_array().into_iter().flatten();
                let phases = phases.filter(|found| found["phase"] == phase);
                phases
                    .filter_map(|phase| phase["max_ns"].as_u64())
                    .max()
                    .unwrap_or(0)
            };
            // A rank may sync while another still writes.
            let writing = time("write");
            for (phase, all) in [("write", writing), ("sync", writing + time("sync"))] {
                let own = own(phase);
                ensure!(
                    all + 2 * uncertainty >= own,
                    "{phase}: {all} of all, {own} of one: {sample}"
                );
            }
            least_uncertainty = least_uncertainty.min(uncertainty);
            least_excess = least_excess.min(time("write").saturating_sub(own("write")));
        }
        ensure!(least_uncertainty < 25_000_000, "{least_uncertainty} ns");
        ensure!(
            least_excess < 45_000_000,
            "{ahead}: {least_excess} ns longer than any rank took: {taken:?}"
        );
    }
    Ok(())
}

fn on_gluster() -> Result<()> {
    let (program, volume) = (program()?, Gluster::mount(false, 256 << 20)?);
    let mut words = vec![
        "--no-limits",
        "--samples",
        "2",
        "--verify",
        "every",
        "--seed",
        "7",
    ];
    let cases = [
        "pwrite,size=1MiB,files=per-rank,sync=fsync",
        "pwrite,size=1MiB,chunk=64KiB,layout=strided,block=64KiB,sync=fsync",
        "mmap,size=1MiB,sync=fsync",
        "mpiio,size=1MiB,chunk=64KiB,collective=yes,sync=fsync",
    ];
    words.extend(cases.iter().flat_map(|name| ["--case", name]));
    let (_, output) = run(&program, &[all(3)], volume.path(), &words)?;
    ensure!(output.status.success(), "{output:?}");
    let shown = program.call(&["show"])?.stdout;
    ensure!(
        shown.contains("3 ranks on 1 node") && shown.contains("fuse.glusterfs"),
        "{shown}"
    );
    ensure!(
        !shown.contains("failed") && !shown.contains("unsupported"),
        "{shown}"
    );
    ensure!(
        entries(volume.path()).is_empty(),
        "{:?}",
        entries(volume.path())
    );
    Ok(())
}

fn many() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let words = [
        "--suite",
        "cluster",
        "--size",
        "64MiB",
        "--samples",
        "1",
        "--no-limits",
        "--set",
        "cache=buffered",
    ];
    let (document, output) = run(&program, &[all(64)], target.path(), &words)?;
    ensure!(output.status.success(), "{output:?}");
    let cases = document["cases"].as_array().context("cases")?;
    let bytes: Vec<&Value> = cases
        .iter()
        .map(|case| &case["samples"][0]["bytes"])
        .collect();
    ensure!(
        bytes.len() == 21 && bytes.iter().all(|&bytes| bytes == 64 << 20),
        "{bytes:?}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    Ok(())
}
