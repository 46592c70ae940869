//! Shared options for measuring, and the recorded settings.

use std::time::Duration;

use clap::Args;
use writebench_model::{
    Bytes, Reserve, RunRecord, RunStatus, SelectedCase, Settings, TargetRecord, Verify, nanoseconds,
};

use crate::arguments::{
    HOW_CAREFUL, HOW_LONG, OUTPUT, named_values, percent_in_ppm, positive_duration, seed,
};
use crate::export::ExportArguments;
use crate::global::Global;
use crate::run_name::label;
use crate::selection;

#[derive(Args, Clone, Default)]
pub(crate) struct MeasuringArguments {
    /// Take this many undisturbed samples of each case [default: 6, the least for a 95 % interval, and 11 for suite copy]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = HOW_LONG)]
    pub samples: Option<u32>,
    /// Take more samples, up to 20 times --samples, until half the interval is within this share of the median, such as
    /// 2%
    #[arg(long, value_name = "PERCENT", value_parser = percent_in_ppm, help_heading = HOW_LONG)]
    pub precision: Option<u32>,
    /// Stop after this time, and cut loops over durable records to their share of it [default: none, 45s for goals,
    /// or 20s per filesystem of `fs`]
    #[arg(long, value_name = "TIME", value_parser = positive_duration, help_heading = HOW_LONG)]
    pub budget: Option<Duration>,
    /// Stop before more than this is written [default: none, or for goals on a disk a quarter of the free space,
    /// from 1 to 20 GiB]
    #[arg(long, value_name = "BYTES", help_heading = HOW_LONG)]
    pub max_bytes: Option<Bytes>,
    /// Give up on a sample, a limit of the hardware or an answer of the target after this time [default: at least a minute, more for large
    /// samples, and 30s for an answer]
    #[arg(long, value_name = "TIME", value_parser = positive_duration, help_heading = HOW_LONG)]
    pub timeout: Option<Duration>,
    /// Leave this share of a target's bytes and inodes free, or this size. Applies to images as well
    #[arg(long, value_name = "SHARE|SIZE", default_value_t, help_heading = HOW_CAREFUL)]
    pub reserve: Reserve,
    /// Read files back and compare them: sampled (all of a case's first sample and a part of each later one), first, every
    /// (all of each sample) or never
    #[arg(long, value_name = "WHEN", default_value = "sampled", value_parser = named_values(Verify::ALL, Verify::name),
        help_heading = HOW_CAREFUL)]
    pub verify: Verify,
    /// Skip measuring the limits of memory and device, which takes up to two seconds per target. A --budget below 40s
    /// skips it too
    #[arg(long, help_heading = HOW_CAREFUL)]
    pub no_limits: bool,
    /// Derive the order and the data from this seed [default: random, and shown]
    #[arg(long, value_name = "NUMBER", value_parser = seed(), help_heading = HOW_CAREFUL)]
    pub seed: Option<u64>,
    /// Print the cases and the bytes to be written, and write nothing
    #[arg(long, help_heading = HOW_CAREFUL)]
    pub dry_run: bool,
    /// Label the run, for `show`, `compare` and `runs`. Several runs may share a label
    #[arg(long, value_name = "NAME", value_parser = label, help_heading = OUTPUT)]
    pub label: Option<String>,
    #[command(flatten)]
    pub exports: ExportArguments,
}

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Measuring the limits before and after takes about four seconds, a tenth of this budget.
const LEAST_BUDGET_WITH_LIMITS: Duration = Duration::from_secs(40);

impl MeasuringArguments {
    pub(crate) fn measures_limits(&self, budget_ns: Option<u64>) -> bool {
        let is_long = |budget_ns| Duration::from_nanos(budget_ns) >= LEAST_BUDGET_WITH_LIMITS;
        !self.no_limits && budget_ns.is_none_or(is_long)
    }

    /// `samples` is what the selected suites ask for.
    pub(crate) fn settings(
        &self,
        default_budget: Option<Duration>,
        samples: Option<u32>,
    ) -> Settings {
        Settings {
            samples: self.samples.or(samples).unwrap_or(selection::SAMPLES),
            precision_ppm: self.precision,
            budget_ns: self.budget.or(default_budget).map(nanoseconds),
            max_bytes: self.max_bytes.map(|bytes| bytes.0),
            // Below MOST_SEED.
            seed: self
                .seed
                .unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0 >> 11),
            verify: self.verify,
            timeout_ns: self.timeout.map(nanoseconds),
            ..Settings::default()
        }
    }
}

pub(crate) fn new_run(
    global: &Global,
    label: Option<String>,
    settings: Settings,
    rows: &[SelectedCase],
    targets: Vec<TargetRecord>,
) -> RunRecord {
    RunRecord {
        id: uuid::Uuid::new_v4().simple().to_string(),
        label,
        status: RunStatus::Running,
        started: jiff::Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string(),
        version: VERSION.to_owned(),
        arguments: std::env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        settings,
        cases: selection::records(rows, &targets),
        targets,
        cluster: global.cluster(),
        written_bytes: None,
        cpu_wait_ppm: None,
        decisions: Vec::new(),
        missing: Vec::new(),
    }
}
