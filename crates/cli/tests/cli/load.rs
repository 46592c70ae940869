//! Time and memory with ten thousand cases, or a hundred thousand samples.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use writebench_model::{CaseOrigin, CaseRecord, Outcome, RunEvent, RunRecord, RunStatus, Sample};
use writebench_store::Store;
use writebench_testkit::{
    Kind, Need, Program, Trials, directory_on, example_case, example_run, most_memory_bytes,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "load: show and compare take as long with a hundred thousand samples as with twenty thousand",
        &[],
        many_samples,
    );
    trials.add(
        "load: show and compare scale linearly up to three thousand cases",
        &[],
        many_cases,
    );
    trials.add(
        "load: a supervisor of ten thousand cases uses less than 100 MB",
        &tmpfs,
        supervisor,
    );
}

const TURNS: usize = 5;
const MOST_MEMORY_BYTES: u64 = 100_000_000;

fn sample(case: u64, round: u32) -> Sample {
    let mut sample = Sample::without_figures(round, Outcome::Ok);
    let noise = (case * 7919 + u64::from(round) * 104_729) % 1009;
    (sample.bytes, sample.probe_ns) = (1 << 20, [1000, 1001]);
    sample.phases_ns.write = 1_000_000 + case * 100 + noise * 100;
    sample
}

fn run(number: u32, cases: u64, samples: u32) -> RunRecord {
    let record = |case: u64| {
        // An odd size has one spelling.
        let name = format!("write,size=1MiB,chunk={}", 2 * case + 1);
        let mut record: CaseRecord = example_case(
            "Cases by name",
            &name,
            (0..samples).map(|round| sample(case, round)).collect(),
        );
        record.origin = CaseOrigin::named();
        record.workload.bytes = 1 << 20;
        record
    };
    let cases = (1..=cases).map(record).collect();
    RunRecord {
        id: format!("load-{number}"),
        status: RunStatus::Complete,
        cases,
        ..example_run()
    }
}

fn database(path: &Path, runs: u32, cases: u64, samples: u32) -> Result<()> {
    let mut store = Store::open(path)?;
    for number in 0..runs {
        store.import_runs(&[run(number, cases, samples)])?;
    }
    Ok(())
}

fn taken(binary: &Path, database: &Path, arguments: &[&str]) -> Result<Duration> {
    let start = Instant::now();
    let output = Command::new(binary)
        .arg("--db")
        .arg(database)
        .args(arguments)
        .output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(start.elapsed())
}

/// Other runs must not slow down reading.
fn many_samples() -> Result<()> {
    let program = program()?;
    let [few, many] = ["few.db", "many.db"].map(|name| program.home().join(name));
    database(&few, 2, 1000, 10)?;
    database(&many, 10, 1000, 10)?;
    let shown = program.call(&["--db", many.to_str().context("UTF-8")?, "runs"])?;
    ensure!(
        shown
            .stdout
            .lines()
            .filter(|line| line.contains("10000"))
            .count()
            == 10,
        "{shown:?}"
    );
    at_most(2.0, program.binary(), &many, &few)
}

/// Time must grow linearly with cases.
fn many_cases() -> Result<()> {
    let program = program()?;
    let [few, many] = ["few.db", "many.db"].map(|name| program.home().join(name));
    database(&few, 2, 300, 6)?;
    database(&many, 2, 3000, 6)?;
    at_most(20.0, program.binary(), &many, &few)
}

/// Both are measured in turns, so other load slows both.
#[expect(
    clippy::print_stdout,
    reason = "the times themselves are for who reads the log"
)]
fn at_most(most_times: f64, binary: &Path, database: &Path, reference: &Path) -> Result<()> {
    for arguments in [&["show", "1"][..], &["compare", "1", "2"]] {
        let turn = |_| {
            Ok([
                taken(binary, database, arguments)?,
                taken(binary, reference, arguments)?,
            ])
        };
        let turns = (0..TURNS).map(turn).collect::<Result<Vec<_>>>()?;
        let [time, of_reference] =
            [0, 1].map(|which| median(turns.iter().map(|turn| turn[which]).collect()));
        let times = time.as_secs_f64() / of_reference.as_secs_f64();
        let text =
            format!("{arguments:?} took {time:?}, {times:.2} times as long as {of_reference:?}");
        println!("{text}");
        ensure!(times < most_times, "{text}");
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Resumes a run with almost all samples: memory is that of a complete run, which would take half an hour.
fn supervisor() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target = target.path().to_str().context("UTF-8")?;
    let sizes = (1..=10_000)
        .map(|size| size.to_string())
        .collect::<Vec<_>>()
        .join(",");
    let cases = [
        "--case",
        "write",
        "--size",
        &sizes,
        "--samples",
        "2",
        "--verify",
        "never",
        "--no-limits",
    ];
    let begun = program.call(&[&["run", target, "--max-bytes", "11000"], &cases[..]].concat())?;
    ensure!(begun.code == Some(0), "{}", begun.stderr);
    take_all_but(3, &program)?;

    let arguments = ["run", "--resume=2", "--max-bytes", "1GiB", "--reserve", "0"];
    let mut child = program
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdout = child.stdout.take().context("stdout")?;
    // The program waits for a reader while it holds all tables.
    stdout.read_exact(&mut vec![0; 300_000])?;
    let memory_bytes = most_memory_bytes(child.id())?;
    std::io::copy(&mut stdout, &mut std::io::sink())?;
    ensure!(child.wait()?.success(), "the run that went on");
    ensure!(
        memory_bytes < MOST_MEMORY_BYTES,
        "the supervisor held {memory_bytes} bytes"
    );
    let listed = program.call(&["runs"])?;
    ensure!(
        listed.stdout.contains("complete     10000    200"),
        "{listed:?}"
    );
    Ok(())
}

/// Lacks some samples of the last round.
fn take_all_but(left: usize, program: &Program) -> Result<()> {
    let mut store = Store::open(&program.home().join("writebench/writebench.db"))?;
    let mut run = store.run(1)?;
    run.id = "load".to_owned();
    let few = run.cases.len() - left;
    run.cases
        .iter_mut()
        .for_each(|record| record.samples = Vec::new());
    let number = store.begin_run(&run)?;
    for (index, record) in run.cases.iter().enumerate() {
        let rounds = if index < few { 2 } else { 1 };
        for round in 0..rounds {
            // Keeps old probes from judging new samples.
            let sample = Sample {
                probe_ns: [0; 2],
                ..sample(index as u64, round)
            };
            let (case, sample) = (record.case.clone(), sample.into());
            store.record(
                number,
                &RunEvent::Sample {
                    target: 0,
                    case,
                    sample,
                },
            )?;
        }
    }
    Ok(())
}
