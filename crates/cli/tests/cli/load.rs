//! Ten thousand cases and a million samples: what the program takes for them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use model::{CaseRecord, Outcome, RunRecord, RunStatus, Sample};
use store::Store;
use testkit::{Trials, example_case, example_run};

use crate::program;

pub fn add(trials: &mut Trials) {
    trials.add("a million samples in a database: show and compare take less than 2 s", &[], million_samples);
    trials.add("ten thousand cases in a run: show and compare take less than 2 s", &[], many_cases);
}

/// What the issue allows.
const MOST_TIME: Duration = Duration::from_secs(2);

fn sample(case: u64, round: u32) -> Sample {
    let mut sample = Sample::without_figures(round, Outcome::Ok);
    let noise = (case * 7919 + u64::from(round) * 104_729) % 1009;
    (sample.bytes, sample.probe_ns) = (1 << 20, [1000, 1001]);
    sample.phases_ns.write = 1_000_000 + case * 100 + noise * 100;
    sample
}

fn run(number: u32, cases: u64, samples: u32) -> RunRecord {
    let record = |case: u64| {
        // Odd, so that the name is written as the program writes it.
        let name = format!("write,size=1MiB,chunk={}", 2 * case + 1);
        let mut record: CaseRecord =
            example_case("Cases by name", &name, (0..samples).map(|round| sample(case, round)).collect());
        "case".clone_into(&mut record.suite);
        record.axes = BTreeMap::from([("chunk".to_owned(), case.to_string())]);
        record.contract.bytes = 1 << 20;
        record
    };
    let cases = (1..=cases).map(record).collect();
    RunRecord { id: format!("load-{number}"), status: RunStatus::Complete, cases, ..example_run() }
}

fn database(path: &Path, runs: u32, cases: u64, samples: u32) -> Result<()> {
    let mut store = Store::open(path)?;
    for number in 0..runs {
        store.import_runs(&[run(number, cases, samples)])?;
    }
    Ok(())
}

/// How long a call takes.
fn taken(binary: &Path, database: &Path, arguments: &[&str]) -> Result<Duration> {
    let start = Instant::now();
    let output = Command::new(binary).arg("--db").arg(database).args(arguments).output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(start.elapsed())
}

fn million_samples() -> Result<()> {
    let program = program()?;
    let path = program.home().join("million.db");
    database(&path, 100, 1000, 10)?;
    let shown = program.call(&["--db", path.to_str().context("UTF-8")?, "list", "runs"])?;
    ensure!(shown.stdout.lines().filter(|line| line.contains("10000")).count() == 100, "{shown:?}");
    in_time(program.binary(), &path)
}

fn many_cases() -> Result<()> {
    let program = program()?;
    let path = program.home().join("cases.db");
    database(&path, 2, 10_000, 6)?;
    in_time(program.binary(), &path)
}

fn in_time(binary: &Path, database: &Path) -> Result<()> {
    for arguments in [&["show", "1"][..], &["compare", "1", "2"]] {
        let calls = (0..3).map(|_| taken(binary, database, arguments)).collect::<Result<Vec<_>>>()?;
        let time = calls.into_iter().min().context("a call")?;
        // The limit is for the program as it is released; tests have it unoptimised, several times slower.
        let most_time = if cfg!(debug_assertions) { MOST_TIME * 8 } else { MOST_TIME };
        ensure!(time < most_time, "{arguments:?} took {time:?}");
    }
    Ok(())
}
