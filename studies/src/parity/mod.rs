//! `cargo studies parity` compares writebench with programs that do the same work.
//!
//! They are cases of the same run. So the code that users rely on measures them, in the same rounds and with
//! verification.

pub(crate) mod beside;
mod free_producer;
pub(crate) mod self_timed;
mod self_timed_set;
mod times;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use writebench_model::{Bytes, Cache, Case};
use writebench_stats::{Interval, as_f64};

use crate::export::{result, without_size};
use crate::program::{self, Bench};
use crate::target::{described, is_memory, memory_and_disk};
use beside::{Beside, Column, Document};

/// Below this ratio, one side has avoidable overhead.
const LEAST_RATIO: f64 = 0.97;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `parity` of cargo's target directory]
    targets: Vec<PathBuf>,
    #[command(flatten)]
    others: Others,
    /// Size of the files, except for smaller cases
    #[arg(long, default_value = "256MiB")]
    size: Bytes,
    /// Rounds of each case
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only the cases with this text in their name
    #[arg(long = "only", value_name = "TEXT")]
    only: Vec<String>,
}

/// The compared programs [default: plain C]
#[derive(clap::Args)]
#[group(multiple = false)]
struct Others {
    /// Compare the printed code of every language with the cases
    #[arg(long)]
    snippets: bool,
    /// Compare the printed functions for producers with the cases
    #[arg(long)]
    streams: bool,
    /// Compare cp and dd with the cases
    #[arg(long)]
    tools: bool,
    /// Compare with fio and its exported jobs
    #[arg(long)]
    fio: bool,
    /// Compare with this IOR, under mpirun
    #[arg(long, value_name = "PROGRAM")]
    ior: Option<PathBuf>,
    /// Compare sets of files with this mdtest, and with fs_mark
    #[arg(long, value_name = "PROGRAM")]
    mdtest: Option<PathBuf>,
}

/// Prints a document with a table for each target. Returns whether there are results, and no judged one is
/// slower.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let targets = memory_and_disk(&options.targets, "parity")?;
    let beside = match &options.others {
        Others { snippets: true, .. } => Beside::Languages,
        Others { streams: true, .. } => Beside::Streams,
        Others { tools: true, .. } => Beside::Tools,
        Others { fio: true, .. } => Beside::Fio,
        Others { ior: Some(ior), .. } => Beside::Ior(absolute(ior)?),
        Others {
            mdtest: Some(mdtest),
            ..
        } => Beside::Sets(absolute(mdtest)?),
        _ => Beside::C,
    };
    let writebench = if let Beside::Ior(_) = beside {
        program::build_for_ranks()?
    } else {
        program::build()?
    };
    Comparison {
        document: beside.document()?,
        beside,
        writebench,
        options,
    }
    .run(&targets)
}

fn absolute(program: &Path) -> Result<PathBuf> {
    fs::canonicalize(program).with_context(|| program.display().to_string())
}

struct Comparison<'o> {
    beside: Beside,
    document: Document,
    writebench: PathBuf,
    options: &'o Options,
}

impl Comparison<'_> {
    fn run(&self, targets: &[PathBuf]) -> Result<bool> {
        let (mut has_results, mut is_good) = (false, true);
        let Options { rounds, size, .. } = self.options;
        let Document {
            title,
            option,
            explanation,
            columns,
            ..
        } = &self.document;
        println!("# {title}\n\nWritten by `cargo studies parity{option}`.");
        let size = size.approximate();
        println!(
            "{rounds} rounds, files of {size} or the smaller size of a case, {}.\n",
            cpu()
        );
        print!("{explanation}");
        for target in targets {
            let titles: Vec<_> = columns.iter().map(|column| column.title.as_str()).collect();
            println!(
                "\n## {}\n\n| case | GB/s | {} |",
                described(target),
                titles.join(" | ")
            );
            println!("|---|--:|{}", "--:|".repeat(columns.len()));
            for case in self.cases(target)? {
                let name = without_size(&case);
                match self.row(target, &case) {
                    Ok((bytes_per_s, row)) => {
                        has_results = true;
                        let cells = row
                            .iter()
                            .map(|ratio| cell(ratio.as_ref(), columns.len() < 3));
                        let value = match case.contract().files {
                            1 => format!("{:.3}", bytes_per_s / 1e9),
                            files => format!(
                                "{:.0} files/s",
                                bytes_per_s * as_f64(files.into()) / as_f64(case.axes().size_bytes)
                            ),
                        };
                        println!("| `{name}` | {value} |{}", cells.collect::<String>());
                        let mut judged = columns
                            .iter()
                            .zip(&row)
                            .filter(|(column, _)| column.is_judged);
                        is_good &=
                            !judged.any(|(_, ratio)| ratio.as_ref().is_some_and(is_too_slow));
                    }
                    // Not every filesystem shares blocks or drops pages.
                    Err(why) => println!(
                        "| `{name}` | – |{} {why:#} |",
                        " – |".repeat(columns.len() - 1)
                    ),
                }
            }
        }
        Ok(has_results && is_good)
    }

    fn cases(&self, target: &Path) -> Result<Vec<Case>> {
        let in_memory = is_memory(target)?;
        let mut cases = self.beside.cases(self.options.size, &self.options.only)?;
        cases.retain(|case| !in_memory || case.axes().cache != Cache::Direct);
        Ok(cases)
    }

    /// The case's bytes per second, and its ratios. A ratio is none where the language does not support the
    /// case.
    fn row(&self, target: &Path, case: &Case) -> Result<(f64, Vec<Option<Interval>>)> {
        let scratch = tempfile::tempdir().context("a folder for the programs")?;
        let bench = Bench {
            program: &self.writebench,
            target,
        };
        let Document {
            columns,
            judges_cases,
            ..
        } = &self.document;
        let programs = self.beside.programs(columns, bench, case, scratch.path())?;
        let mut lines: Vec<&String> = programs.iter().flatten().collect();
        // Two columns may judge the same program by different clocks.
        lines.dedup();
        let command = self.beside.start(&self.writebench, case);
        // A free producer has other data than the source.
        let verify = if matches!(self.beside, Beside::Streams) {
            "never"
        } else {
            "first"
        };
        let cases = bench.compare(command, case, self.options.rounds, &lines, verify)?;
        let own = result(&cases, case)?;
        let ratio = |(column, line): (&Column, &Option<String>)| {
            let Some(line) = line else { return Ok(None) };
            let number = (1..)
                .zip(&lines)
                .find_map(|(number, other)| (*other == line).then_some(number));
            let other = cases.iter().find(|other| other.program() == number);
            let other = other.with_context(|| format!("{line} failed"))?;
            let (time, faster) = if *judges_cases {
                (other, own)
            } else {
                (own, other)
            };
            Ok(time.ratio(faster, column.clock).ok())
        };
        let ratios = columns
            .iter()
            .zip(&programs)
            .map(ratio)
            .collect::<Result<_>>()?;
        Ok((as_f64(case.axes().size_bytes) * 1e9 / own.value_ns, ratios))
    }
}

fn is_too_slow(ratio: &Interval) -> bool {
    ratio.high < LEAST_RATIO
}

fn cell(ratio: Option<&Interval>, with_interval: bool) -> String {
    let Some(ratio) = ratio else {
        return " – |".to_owned();
    };
    let Interval {
        estimate,
        low,
        high,
        ..
    } = ratio;
    let mark = match is_too_slow(ratio) {
        true => " !",
        false if *estimate < LEAST_RATIO => " ?",
        false => "",
    };
    let interval = if with_interval {
        format!(" [{low:.2}, {high:.2}]")
    } else {
        String::new()
    };
    format!(" {estimate:.2}{interval}{mark} |")
}

fn cpu() -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = facts
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(
        || "an unknown CPU".to_owned(),
        |(_, name)| name.trim().to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(estimate: f64, high: f64) -> Interval {
        Interval {
            estimate,
            low: 0.5,
            high,
            confidence: 0.95,
            count: 42,
        }
    }

    #[test]
    fn slower_programs_are_marked_and_a_missing_language_has_a_dash() {
        assert_eq!(cell(None, false), " – |");
        assert_eq!(cell(Some(&ratio(1.0, 1.1)), false), " 1.00 |");
        assert_eq!(cell(Some(&ratio(1.0, 1.1)), true), " 1.00 [0.50, 1.10] |");
        assert_eq!(cell(Some(&ratio(0.9, 1.1)), false), " 0.90 ? |");
        assert_eq!(cell(Some(&ratio(0.9, 0.95)), false), " 0.90 ! |");
    }
}
