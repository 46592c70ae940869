//! Where the time of a sample goes, phase by phase, and how much of a first answer is inside timed regions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Axis, Bytes, Case, Goal, Phase, Sample, Space, Verify, nanoseconds};

use crate::program::{Bench, exported};
use crate::target::{Targets, described, is_memory};

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    targets: Targets,
    /// Size of the files
    #[arg(long, default_value = "16MiB")]
    size: Bytes,
    /// Samples of each case
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    samples: u32,
    /// Time limit of the first answer, such as 45s
    #[arg(long, default_value = "45s")]
    budget: String,
}

/// Room for the files, a source and old content.
const IMAGE_SIZE: Bytes = Bytes(4 << 30);

pub(crate) fn run(options: &Options) -> Result<bool> {
    options.targets.each("sample-time", IMAGE_SIZE, |bench| {
        println!(
            "\n{}, {} samples of each case",
            described(bench.target),
            options.samples
        );
        options.print_phases(bench.target)?;
        options.print_first_answer(bench)?;
        Ok(true)
    })
}

impl Options {
    /// The samples are those of plain write and the portfolio, in rounds.
    fn print_phases(&self, target: &Path) -> Result<()> {
        println!("\n| goal | settle | around | timed | verify | clean | all, ms | timed |");
        println!("|---|---:|---:|---:|---:|---:|---:|---:|");
        for &goal in Goal::USUAL {
            if goal.is_durable() && is_memory(target)? {
                continue;
            }
            let mut total = PhaseTimes::default();
            for times in self.sample_times(goal, target)? {
                total.add(&times);
            }
            println!("| {goal} | {total} |");
        }
        Ok(())
    }

    /// The first round makes what later samples use again, and is left out.
    fn sample_times(&self, goal: Goal, target: &Path) -> Result<Vec<PhaseTimes>> {
        let scratch = tempfile::tempdir_in(target).context("a folder in the target")?;
        let directory = File::open(scratch.path())?;
        let recorder = Recorder::default();
        let enter = |phase| recorder.enter(phase);
        let mut engine = Engine::new(None, available_memory_bytes, &enter);
        let cases = self.cases(goal)?;
        let mut times = Vec::new();
        for round in 0..self.samples {
            for case in &cases {
                let request = request(case, round);
                recorder.begin();
                let sample = engine.sample(Target::Directory(directory.as_fd()), &request);
                if round > 0 && sample.outcome.is_ok() {
                    times.push(recorder.end(&sample));
                }
            }
        }
        ensure!(!times.is_empty(), "no case of {goal} has a sample");
        Ok(times)
    }

    fn cases(&self, goal: Goal) -> Result<Vec<Case>> {
        let usual = Space::for_goal(goal, &[])?;
        let size_bytes = self.size.0.min(usual.baseline.given().size_bytes);
        let size = (Axis::Size, vec![Bytes(size_bytes).to_string()]);
        let space = Space::for_goal(goal, &[size])?;
        Ok(std::iter::once(space.baseline)
            .chain(space.portfolio)
            .collect())
    }

    fn print_first_answer(&self, bench: Bench<'_>) -> Result<()> {
        let mut command = Command::new(bench.program);
        command.arg("run").arg(bench.target);
        command.args(["--budget", &self.budget]);
        let start = Instant::now();
        let export = exported(command)?;
        let wall = start.elapsed();
        let (samples, timed) = timed_samples(&export)?;
        ensure!(samples > 0, "the first answer has no samples");
        println!(
            "\nA first answer: {samples} samples in {:.1} s, of which {:.1} s ({:.0} %) are inside timed regions.",
            wall.as_secs_f64(),
            timed.as_secs_f64(),
            100.0 * timed.as_secs_f64() / wall.as_secs_f64()
        );
        Ok(())
    }
}

/// The number of all samples in an export, and the sum of their timed phases.
fn timed_samples(export: &Value) -> Result<(usize, Duration)> {
    let mut count = 0;
    let mut timed_ns = 0;
    for case in export["cases"]
        .as_array()
        .context("an export without cases")?
    {
        let samples: Vec<Sample> = Vec::deserialize(&case["samples"]).context("samples")?;
        count += samples.len();
        timed_ns += samples
            .iter()
            .map(|sample| sample.phases_ns.total())
            .sum::<u64>();
    }
    Ok((count, Duration::from_nanos(timed_ns)))
}

/// The request for a sample, as a run asks for it.
fn request(case: &Case, round: u32) -> SampleRequest {
    SampleRequest {
        round,
        read_back: Verify::Sampled.extent(round == 0),
        settle_limit_ns: nanoseconds(Duration::from_secs(5)),
        warm: true,
        ..SampleRequest::bare(case.clone(), "sample", 1)
    }
}

/// It is the machine's, because a study runs outside of control groups with limits.
fn available_memory_bytes() -> Result<u64, String> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").map_err(|error| error.to_string())?;
    let kib = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kib.ok_or("/proc/meminfo has no MemAvailable")? << 10)
}

/// Notes when each phase begins.
#[derive(Default)]
struct Recorder(RefCell<Vec<(Phase, Instant)>>);

impl Recorder {
    fn begin(&self) {
        let mut phases = self.0.borrow_mut();
        phases.clear();
        phases.push((Phase::Settle, Instant::now()));
    }

    fn enter(&self, phase: Phase) {
        self.0.borrow_mut().push((phase, Instant::now()));
    }

    /// The probes and counters around the clock run between two phases, so the clock's own time is the sample's.
    fn end(&self, sample: &Sample) -> PhaseTimes {
        let phases = self.0.borrow();
        let ends = phases
            .iter()
            .skip(1)
            .map(|(_, begin)| *begin)
            .chain([Instant::now()]);
        let mut times = PhaseTimes {
            samples: 1,
            ..PhaseTimes::default()
        };
        for (&(phase, begin), end) in phases.iter().zip(ends) {
            *times.by_part.entry(Part::of(phase)).or_default() += end - begin;
        }
        let timed = Duration::from_nanos(sample.phases_ns.total());
        let around = times.of(Part::Around).saturating_sub(timed);
        times.by_part.insert(Part::Around, around);
        times.by_part.insert(Part::Timed, timed);
        times
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Settle,
    /// Threads, counters and probes right before and after the clock.
    Around,
    Timed,
    Verify,
    Clean,
}

impl Part {
    const ALL: [Self; 5] = [
        Self::Settle,
        Self::Around,
        Self::Timed,
        Self::Verify,
        Self::Clean,
    ];

    fn of(phase: Phase) -> Self {
        match phase {
            Phase::Settle => Self::Settle,
            Phase::Open | Phase::Prepare | Phase::Write | Phase::Sync | Phase::Close => {
                Self::Around
            }
            Phase::Verify => Self::Verify,
            Phase::Clean => Self::Clean,
        }
    }
}

/// The time of samples, by part.
#[derive(Debug, Default)]
struct PhaseTimes {
    samples: u32,
    by_part: BTreeMap<Part, Duration>,
}

impl PhaseTimes {
    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        for (&part, &time) in &other.by_part {
            *self.by_part.entry(part).or_default() += time;
        }
    }

    fn of(&self, part: Part) -> Duration {
        self.by_part.get(&part).copied().unwrap_or_default()
    }
}

/// The cells of a table: the mean of each part in milliseconds, the sum, and the share of the timed part.
impl std::fmt::Display for PhaseTimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(self.samples);
        for part in Part::ALL {
            write!(f, "{:.1} | ", milliseconds(self.of(part)))?;
        }
        let all: Duration = self.by_part.values().sum();
        let share = self.of(Part::Timed).as_secs_f64() / all.as_secs_f64();
        write!(f, "{:.1} | {:.0} %", milliseconds(all), 100.0 * share)
    }
}
