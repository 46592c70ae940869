//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice, Parser, Subcommand, ValueHint};
use writebench_filesystems::Kind;
use writebench_model::{Axis, Bytes, Data, Purpose, Reserve, Verify};
use writebench_report::Sort;

use crate::export::{self, Export, ExportArgument};
use crate::output_file::Kept;
use crate::run_name::{Label, RunNames, RunOn};

/// Finds, and proves, the fastest way to write a file on a given storage target.
#[derive(Parser)]
#[command(version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct Arguments {
    /// Database of runs [default: writebench.db in the user's data directory]
    #[arg(long, global = true, value_name = "FILE", env = "WRITEBENCH_DB", hide_env_values = true, value_hint = ValueHint::FilePath)]
    pub db: Option<PathBuf>,
    /// When to use colour; `auto` is on in a terminal unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// No progress and no notes: results and errors only
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 ok, 1 runtime error, 2 usage, 3 refused as unsafe, 4 some cases failed, \
    5 slower than --fail-if-slower allows, 130 interrupted.\nSizes are binary (4k, 1M, 1GiB) unless they say kB, MB or GB; rates are in decimal GB/s.";

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Measure: without a suite or case, a first look that takes less than half a minute
    Run(Box<RunCommand>),
    /// Measure filesystems side by side: makes each in an image of its own, and unmakes it
    Fs(Box<FsCommand>),
    /// Search all ways to write for a purpose, and recommend one
    Advise(Box<AdviseCommand>),
    /// What there is: suites, methods, axes, the cases of a suite, runs
    List(ListCommand),
    /// Show a run again, or export it
    Show(ShowCommand),
    /// Write a page to explore, for any browser: answers, charts and tables of one run or several
    Report(ReportCommand),
    /// Compare runs case by case: is B faster or slower than A?
    Compare(CompareCommand),
    /// Take exported runs into the database, from other machines too
    Import(ImportCommand),
    /// Facts about the machine and a target
    Probe(ProbeCommand),
    /// Completions for a shell, to standard output
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The manual page, to standard output
    Man {
        /// Of that command; of writebench itself if none
        command: Option<String>,
    },
}

/// `writebench run`
#[derive(Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunCommand {
    /// Directory to write to, or with --destroy a block device; of a directory's files only those that writebench
    /// makes are ever written or removed. Several directories are measured side by side, in the same rounds, and
    /// compared with the first
    /// [default: the current directory]
    #[arg(value_name = "TARGET", value_hint = ValueHint::AnyPath)]
    pub target: Vec<PathBuf>,
    #[command(flatten)]
    pub selection: SelectionArguments,
    /// The file that is copied, with suite copy; named again with --resume [default: one is made in the target]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub from: Option<PathBuf>,
    /// Measure beside FILE, and leave it as a copy of --from; named again with --resume
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "target")]
    pub to: Option<PathBuf>,
    /// Evict the file that is copied from the page cache before every sample (axis `origin`)
    #[arg(long)]
    pub cold: bool,
    /// Write over a block device: names it again. Refused if it is in use, or carries data
    #[arg(long, value_name = "DEVICE", value_hint = ValueHint::FilePath)]
    pub destroy: Option<PathBuf>,
    /// Also if it carries a filesystem or a partition table
    #[arg(long, requires = "destroy")]
    pub destroy_data: bool,
    #[command(flatten)]
    pub measuring: MeasuringArguments,
    /// Go on with a run that did not come to its end: the newest, or the one with that number
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "0",
        conflicts_with_all = ["suite", "case", "size", "record", "set", "data", "cold", "samples", "precision", "seed",
            "verify", "label", "dry_run", "no_properties", "target"])]
    pub resume: Option<i64>,
}

const RUN_EXAMPLES: &str = "Examples:
  writebench run /data                                      a first look at /data
  writebench run /data --suite write,parallel --size 4GiB   two suites, with larger files
  writebench run --case write,chunk=64KiB --case mmap       two cases, in the current directory
  writebench run /data /scratch --suite buffer              two places side by side
  writebench run /data --suite mmap --dry-run               how much would be written?
  writebench run --suite copy <X >Y                         twenty ways to copy X to Y
  writebench run /data --suite durable --record 512         the price of durable records
  writebench run /dev/sdX --suite direct --destroy /dev/sdX all that is on sdX is lost";

/// Which cases are run.
#[derive(Args, Clone)]
pub struct SelectionArguments {
    /// Suites to run (`writebench list suites`)
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = suite_names())]
    pub suite: Vec<String>,
    /// A case to run, by its name: METHOD[,AXIS=VALUE...]; may be repeated
    #[arg(long, value_name = "CASE")]
    pub case: Vec<String>,
    /// Size in place of the suites' own; several separated by commas
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    pub size: Vec<Bytes>,
    /// Size of a record: what is handed over in one call, in place of the suites' own (axis `chunk`)
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    pub record: Vec<Bytes>,
    /// Values in place of the suites' own on any axis: AXIS=VALUE[,VALUE...]; may be repeated
    #[arg(long, value_name = "AXIS=VALUES", value_parser = assignment)]
    pub set: Vec<(Axis, Vec<String>)>,
    /// What is written
    #[arg(long, value_parser = names(Data::ALL, Data::name, Data::from_name))]
    pub data: Option<Data>,
}

/// How they are measured, and what is made of it.
#[derive(Args)]
pub struct MeasuringArguments {
    /// Undisturbed samples to take of each case [default: 6, the least with a 95 % interval; 11 for suite copy]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub samples: Option<u32>,
    /// Take more samples of a case until half its interval is no more than that share of its median, such as 2%; up to 20
    /// times --samples, or until --budget
    #[arg(long, value_name = "PERCENT", value_parser = percent_in_ppm)]
    pub precision: Option<u32>,
    /// Stop after that time, and cut loops over durable records to their share of it; what was not reached is said [default: none; 20s for the first look, and for each filesystem of one]
    #[arg(long, value_name = "TIME", value_parser = writebench_model::parse_duration)]
    pub budget: Option<Duration>,
    /// Stop before more than that is written
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<Bytes>,
    /// What stays free of a target, of the place for images, too: a share of its bytes and inodes, or a size
    #[arg(long, value_name = "SHARE|SIZE", default_value_t)]
    pub reserve: Reserve,
    /// Seed of the order and the data [default: random, and shown]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// When to read files back and compare them: sampled (a case's first sample whole, and a part of every later one),
    /// first, every (each sample whole) or never
    #[arg(long, value_name = "WHEN", default_value = "sampled",
        value_parser = names(Verify::ALL, Verify::name, Verify::from_name))]
    pub verify: Verify,
    /// When a sample counts as hanging, and a target as not answering [default: by its size, at least a minute; 30s for a
    /// target]
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub timeout: Option<Duration>,
    /// Name the run: `show`, `compare` and `list runs` know it by it. Several runs may have the same label
    #[arg(long, value_name = "NAME")]
    pub label: Option<Label>,
    /// Do not measure what memory and device can do at most, which takes up to two seconds, for each target with durable or direct cases
    #[arg(long)]
    pub no_limits: bool,
    /// Do not look at what each of several filesystems does with files, which writes up to 128 MiB to each
    #[arg(long)]
    pub no_properties: bool,
    /// Show what would be run and how many bytes written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub exports: ExportArguments,
}

/// Where results are written to.
#[derive(Args)]
pub struct ExportArguments {
    /// Write the results to a file, or - for standard output: json, jsonl (a line for each
    /// sample, while it runs), csv, csv-summary, markdown, openmetrics or html (a page); or to a
    /// directory: svg=DIR (charts), fio=DIR (a job for fio for each case); may be repeated
    #[arg(long, value_name = "FORMAT=FILE")]
    pub export: Vec<ExportArgument>,
    /// Replace files that writebench did not make, too, in the directory of svg=DIR or fio=DIR
    #[arg(long, requires = "export")]
    pub force: bool,
}

impl ExportArguments {
    /// Finds all of their places, none of which may be what is kept.
    pub fn find(&self, kept: Kept) -> anyhow::Result<Vec<Export>> {
        export::find_all(&self.export, self.force, kept)
    }
}

/// `writebench fs`
#[derive(Args)]
#[command(after_help = FS_EXAMPLES)]
pub struct FsCommand {
    /// Directories that are there, to be measured as well; they come first
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    pub target: Vec<PathBuf>,
    /// Kinds to make: ext4, ext4-no-journal, ext3, ext2, xfs, btrfs, btrfs-no-checksums, btrfs-raid0, tmpfs,
    /// tmpfs-huge, overlay:KIND, fuse:KIND (through bindfs), any other that mkfs.KIND makes; overlay and fuse
    /// alone stand on each of the others. All are compared with the first
    /// [default: all of these, with overlay and fuse on ext4]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub on: Vec<String>,
    /// Where the images are made, without names, so that nothing stays of them
    #[arg(long, value_name = "DIR", default_value = "/dev/shm", value_hint = ValueHint::DirPath)]
    pub images: PathBuf,
    /// Words for mkfs, added to ours: KIND=WORDS, such as 'ext4=-b 1024'; may be repeated
    #[arg(long, value_name = "KIND=WORDS", value_parser = of_kind, allow_hyphen_values = true)]
    pub mkfs_options: Vec<(Kind, String)>,
    /// Options for the mount, added to ours: KIND=OPTIONS, such as ext4=noatime,data=writeback; may be repeated
    #[arg(long, value_name = "KIND=OPTIONS", value_parser = of_kind)]
    pub mount_options: Vec<(Kind, String)>,
    #[command(flatten)]
    pub selection: SelectionArguments,
    #[command(flatten)]
    pub measuring: MeasuringArguments,
}

const FS_EXAMPLES: &str = "Examples:
  writebench fs                                             a first look at twelve filesystems, in images in memory: 32 MiB each
  writebench fs --on ext4,xfs,btrfs --suite buffer          elapsed and CPU time by buffer size and filesystem
  writebench fs /data --on ext4 --images /data              what the loop device costs: the same disk, with and without
  writebench fs --on ext4,overlay,fuse --suite write        what stands on top costs
  writebench fs --on ext4 --mount-options ext4=data=journal --case write,sync=fsync

Needs root, and works in a private mount namespace: however it ends, no mount, loop device or image stays.";

/// `writebench advise`
#[derive(Args)]
#[command(after_help = ADVISE_EXAMPLES)]
pub struct AdviseCommand {
    /// Directory to write to; of its files only those that writebench makes are ever written or removed
    /// [default: the current directory]
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    pub target: Option<PathBuf>,
    /// What is to be written: stream (a new file, which may still be in the page cache), durable-stream (a new file that is
    /// durable at the end), durable-records (records, each durable before the next), copy (of a file in the page cache)
    #[arg(long = "for", value_name = "PURPOSE", hide_possible_values = true,
        value_parser = names(Purpose::ALL, Purpose::name, Purpose::from_name))]
    pub purpose: Purpose,
    /// Size of the file [default: 256MiB; 4MiB for durable-records]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Size of a record, for durable-records [default: 4KiB]
    #[arg(long, value_name = "SIZE")]
    pub record: Option<Bytes>,
    /// Time for the search
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = positive_duration)]
    pub budget: Duration,
    /// Most bytes to write, since disks wear [default: 32 times the size]
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<Bytes>,
    /// What stays free of the target: a share of its bytes and inodes, or a size
    #[arg(long, value_name = "SHARE|SIZE", default_value_t)]
    pub reserve: Reserve,
    /// Seed of the order and the data [default: random, and shown]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Show the candidates and how many bytes would be written at most, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub exports: ExportArguments,
}

const ADVISE_EXAMPLES: &str = "Examples:
  writebench advise /data --for stream --size 1GiB               how to write a file of 1 GiB
  writebench advise /data --for durable-records --record 512     how to append to a log
  writebench advise /data --for durable-stream --budget 20s      a quicker look, less sure";

/// `writebench list`
#[derive(Args)]
pub struct ListCommand {
    /// What to list
    #[command(subcommand)]
    pub what: Option<Listed>,
}

/// What can be listed.
#[derive(Subcommand)]
pub enum Listed {
    /// Named lists of cases
    Suites,
    /// The APIs that move the bytes
    Methods,
    /// The properties of a case
    Axes,
    /// The names of a suite's cases, to use with --case
    Cases {
        /// The suite
        #[arg(value_parser = suite_names())]
        suite: String,
    },
    /// What the database holds
    Runs,
}

/// `writebench show`
#[derive(Args)]
pub struct ShowCommand {
    /// Number of the run, or a label: the newest run with it; the newest of all if none. Of a run on several targets
    /// RUN@TARGET is the part on one of them, in full
    pub run: Option<RunOn>,
    /// Sort the rows of each table, those without a figure last; of several targets the first decides. Exports are as
    /// ever [default: the suite's order; throughput with --top]
    #[arg(long, value_name = "BY", value_parser = names(Sort::ALL, Sort::name, Sort::from_name))]
    pub sort: Option<Sort>,
    /// Only the first rows of each table
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub top: Option<u32>,
    #[command(flatten)]
    pub exports: ExportArguments,
}

/// `writebench report`
#[derive(Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportCommand {
    /// Runs by number, by label (all that have it), or exported (FILE.json, or with a `/`); RUN@TARGET is the part of a
    /// run on one of its targets. All others are compared with the first [default: the newest]
    #[arg(value_name = "RUN")]
    pub runs: Vec<RunOn>,
    /// The page: one file that needs nothing else, no network either; - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

const REPORT_EXAMPLES: &str = "Examples:
  writebench report                             the newest run, in report.html
  writebench report 3 4 -o before-after.html    two runs side by side, with ratios
  writebench report here.json there.json        two machines, from their exports (--export json=here.json)
  writebench report 5@ext4 5@xfs                two targets of one run";

/// `writebench import`
#[derive(Args)]
pub struct ImportCommand {
    /// JSON exports (`--export json=FILE`); a run that is there already is refused
    #[arg(value_name = "FILE.json", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// `writebench compare`
#[derive(Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareCommand {
    /// What is compared with: run numbers, labels (all runs with that label) and exported JSON files (FILE.json, or
    /// with a `/`), separated by commas; RUN@TARGET is the part of a run on one of its targets
    #[arg(value_name = "A")]
    pub a: RunNames,
    /// What is compared: the same
    #[arg(value_name = "B")]
    pub b: RunNames,
    /// End with exit code 5 if a case is slower by more than that with the whole of its interval (for 5%: all of it
    /// below 0.95), so that noise does not fail a build; drift between single runs may, so give several of each
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_if_slower: Option<f64>,
    /// Write the comparison to a file, or - for standard output: json; may be repeated
    #[arg(long, value_name = "FORMAT=FILE")]
    pub export: Vec<ExportArgument>,
}

const COMPARE_EXAMPLES: &str = "Examples:
  writebench compare 3 4                      one run with another
  writebench compare before after             all runs labelled 'before' with all labelled 'after'
  writebench compare base.json 7,9,11         an exported run with three of the database
  writebench compare before after --fail-if-slower 5%
  writebench compare 5@ext4 5@xfs             two targets of one run

With one run on each side what drifted between them is in no interval, and looks like a difference. Several runs of each, \
    taken in turns (run --label before, run --label after, and again), take care of it; it takes four of each for an answer.";

/// `writebench probe`
#[derive(Args)]
pub struct ProbeCommand {
    /// Directory that would be written to
    #[arg(default_value = ".", value_name = "TARGET", value_hint = ValueHint::DirPath)]
    pub target: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Measure instead how much the same work varies here, and say which differences can be told
    #[arg(long)]
    pub noise: bool,
    /// For how long
    #[arg(long, value_name = "N", default_value_t = 10, requires = "noise",
        value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
}

fn suite_names() -> PossibleValuesParser {
    PossibleValuesParser::new(writebench_model::built_in_suites().into_iter().map(|suite| suite.name))
}

/// A parser for a closed set of values, so that errors and completions know them.
fn names<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    from_name: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value)))
        .try_map(move |text| from_name(&text).ok_or("no such value"))
}

/// The number in a text such as `5%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').ok_or("expected a percentage, such as 5%")?;
    match number.trim_end().parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a percentage from 0% to below 100%, such as 5%".to_owned()),
    }
}

/// A share such as `2%` or `0.5%`, in millionths.
fn percent_in_ppm(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let ppm = number.map(|percent| (percent * 1e4).round()).filter(|ppm| (100.0..=1e6).contains(ppm));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 100 and a million")]
    ppm.map(|ppm| ppm as u32).ok_or_else(|| "expected a share from 0.01% to 100%, such as 2%".to_owned())
}

fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = writebench_model::parse_duration(text).map_err(|error| error.to_string())?;
    if duration.is_zero() { Err("must be longer than nothing".to_owned()) } else { Ok(duration) }
}

fn of_kind(text: &str) -> Result<(Kind, String), String> {
    let (kind, options) = text.split_once('=').ok_or("expected KIND=OPTIONS, such as ext4=noatime")?;
    Ok((kind.parse().map_err(|error: writebench_filesystems::Error| error.to_string())?, options.to_owned()))
}

fn assignment(text: &str) -> Result<(Axis, Vec<String>), String> {
    let (axis, values) = text.split_once('=').ok_or("expected AXIS=VALUE[,VALUE...]")?;
    let known = || Axis::ALL.iter().map(|axis| axis.name()).collect::<Vec<_>>().join(", ");
    let axis =
        Axis::from_name(axis).ok_or_else(|| format!("unknown axis '{axis}': expected one of {}", known()))?;
    let values: Vec<String> = values.split(',').map(str::to_owned).collect();
    for value in &values {
        // Contradictions show when cases are made; a value that the axis does not have shows here.
        writebench_model::Axes::defaults(writebench_model::Prepare::Create)
            .set(axis, value)
            .map_err(|error| error.to_string())?;
    }
    Ok((axis, values))
}

/// The parser's error in one line: what is wrong and what would fit, without usage and advice.
pub fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.split("\n\nFor more information").next().unwrap_or_default();
    let text = text.replace("\n\n  tip:", "; tip:");
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    format!("{}; see writebench --help", line.strip_prefix("error: ").unwrap_or(&line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
