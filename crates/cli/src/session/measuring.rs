//! How cases are measured: the options that commands share, and what a run records of them.

use std::time::Duration;

use clap::Args;
use writebench_model::{
    Bytes, Reserve, RunRecord, RunStatus, SelectedCase, Settings, TargetRecord, Verify, nanoseconds,
};

use crate::arguments::{named_values, positive_duration};
use crate::export::ExportArguments;
use crate::run_name::label;
use crate::selection;

/// How they are measured, and what is made of it.
#[derive(Args, Default)]
pub(crate) struct MeasuringArguments {
    /// Undisturbed samples of each case [default: 6, the least with a 95 % interval; 11 for suite copy]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub samples: Option<u32>,
    /// Take more samples of a case until half its interval is no more than that share of its median, such as 2%; up to 20
    /// times --samples, or until --budget
    #[arg(long, value_name = "PERCENT", value_parser = percent_in_ppm)]
    pub precision: Option<u32>,
    /// Stop after this time; loops over durable records are cut to their share of it [default: none; 45s for all goals, with `fs` 20s for each filesystem]
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub budget: Option<Duration>,
    /// Stop before more than this is written
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<Bytes>,
    /// Space to leave free on a target, and where images are made: a share of its bytes and inodes, or a size
    #[arg(long, value_name = "SHARE|SIZE", default_value_t)]
    pub reserve: Reserve,
    /// Seed of the order and the data [default: random, and shown]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// When to read files back and compare them: sampled (a case's first sample whole, and a part of every later one),
    /// first, every (each sample whole) or never
    #[arg(long, value_name = "WHEN", default_value = "sampled", value_parser = named_values(Verify::ALL, Verify::name))]
    pub verify: Verify,
    /// Deadline of a sample, of a target's answer, and beside the time of measuring a limit [default: by the
    /// sample's size, at least a minute; 30s for a target]
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub timeout: Option<Duration>,
    /// Label of the run, for `show`, `compare` and `runs`. Several runs may share one
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub label: Option<String>,
    /// Do not measure the limits of memory and device, which takes up to two seconds for each target with durable or direct cases
    #[arg(long)]
    pub no_limits: bool,
    /// Print the cases and the bytes that they would write, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub exports: ExportArguments,
}

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl MeasuringArguments {
    /// The settings of the command line, with a budget if it names none.
    pub(crate) fn settings(&self, default_budget: Option<Duration>, samples: u32) -> Settings {
        Settings {
            samples: self.samples.unwrap_or(samples),
            precision_ppm: self.precision,
            budget_ns: self.budget.or(default_budget).map(nanoseconds),
            max_bytes: self.max_bytes.map(|bytes| bytes.0),
            seed: seed(self.seed),
            verify: self.verify,
            timeout_ns: self.timeout.map(nanoseconds),
            ..Settings::default()
        }
    }
}

/// The seed that was asked for, or a random one.
pub(crate) fn seed(asked: Option<u64>) -> u64 {
    // Within 53 bits, so that every reader of JSON gets it whole.
    asked.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0 >> 11)
}

/// A run that has not begun.
pub(crate) fn new_run(
    label: Option<String>,
    settings: Settings,
    rows: &[SelectedCase],
    targets: Vec<TargetRecord>,
) -> RunRecord {
    RunRecord {
        id: uuid::Uuid::new_v4().simple().to_string(),
        label,
        status: RunStatus::Running,
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        version: VERSION.to_owned(),
        arguments: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        settings,
        cases: selection::records(rows, &targets),
        targets,
        cluster: None,
        written_bytes: None,
        cpu_wait_ppm: None,
        missing: Vec::new(),
    }
}

/// A share such as `2%` or `0.5%`, in millionths.
fn percent_in_ppm(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let ppm = number.map(|percent| (percent * 1e4).round()).filter(|ppm| (100.0..=1e6).contains(ppm));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 100 and a million")]
    ppm.map(|ppm| ppm as u32).ok_or_else(|| "expected a share from 0.01% to 100%, such as 2%".to_owned())
}
