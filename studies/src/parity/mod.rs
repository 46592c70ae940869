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

use crate::export::{Measured, result, without_size};
use crate::program::{self, Bench};
use crate::target::{described, is_memory, memory_and_disk};
use beside::{Beside, Column, Document};

/// The ratio below which one side has avoidable overhead.
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
        self.print_head();
        let mut has_results = false;
        let mut is_good = true;
        for target in targets {
            self.print_heading(target);
            for case in self.cases(target)? {
                let row = self.row(target, &case);
                self.print(&case, &row);
                if let Ok(Row { ratios, .. }) = row {
                    has_results = true;
                    is_good &= !self.is_judged_too_slow(&ratios);
                }
            }
        }
        Ok(has_results && is_good)
    }

    fn print_head(&self) {
        let Options { rounds, size, .. } = self.options;
        let Document {
            title,
            option,
            explanation,
            ..
        } = &self.document;
        println!("# {title}\n\n<!-- Written by `cargo studies parity{option}`. -->\n");
        let size = size.approximate();
        println!(
            "{rounds} rounds, files of {size} or the smaller size of a case, {}.\n",
            cpu()
        );
        print!("{explanation}");
    }

    fn print_heading(&self, target: &Path) {
        let columns = &self.document.columns;
        let titles: Vec<_> = columns.iter().map(|column| column.title.as_str()).collect();
        println!("\n## {}\n", described(target));
        println!("| case | GB/s | {} |", titles.join(" | "));
        println!("|---|--:|{}", "--:|".repeat(columns.len()));
    }

    fn print(&self, case: &Case, row: &Result<Row>) {
        let name = without_size(case);
        let columns = self.document.columns.len();
        match row {
            Ok(row) => {
                let ratios = row.ratios.iter();
                let cells: String = ratios
                    .map(|ratio| cell(ratio.as_ref(), columns < 3))
                    .collect();
                println!("| `{name}` | {} |{cells}", row.speed(case));
            }
            // Not every filesystem shares blocks or drops pages.
            Err(why) => println!("| `{name}` | – |{} {why:#} |", " – |".repeat(columns - 1)),
        }
    }

    fn is_judged_too_slow(&self, ratios: &[Option<Interval>]) -> bool {
        let mut columns = self.document.columns.iter().zip(ratios);
        columns.any(|(column, ratio)| column.is_judged && ratio.as_ref().is_some_and(is_too_slow))
    }

    fn cases(&self, target: &Path) -> Result<Vec<Case>> {
        let in_memory = is_memory(target)?;
        let mut cases = self.beside.cases(self.options.size, &self.options.only)?;
        cases.retain(|case| !in_memory || case.choices().cache != Cache::Direct);
        Ok(cases)
    }

    fn row(&self, target: &Path, case: &Case) -> Result<Row> {
        let scratch = tempfile::tempdir().context("a folder for the programs")?;
        let bench = Bench {
            program: &self.writebench,
            target,
            made: None,
        };
        let columns = &self.document.columns;
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
        let mut ratios = Vec::new();
        for (column, line) in columns.iter().zip(&programs) {
            ratios.push(match line {
                Some(line) => self.ratio(column, own, of_line(&cases, &lines, line)?),
                None => None,
            });
        }
        Ok(Row {
            bytes_per_s: as_f64(case.given().size_bytes) * 1e9 / own.value_ns,
            ratios,
        })
    }

    /// Cases without common rounds have no ratio.
    fn ratio(&self, column: &Column, own: &Measured, other: &Measured) -> Option<Interval> {
        let ratio = if self.document.judges_cases {
            other.ratio(own, column.clock)
        } else {
            own.ratio(other, column.clock)
        };
        ratio.ok()
    }
}

/// Programs are numbered from 1.
fn of_line<'m>(cases: &'m [Measured], lines: &[&String], line: &String) -> Result<&'m Measured> {
    let number = (1..)
        .zip(lines)
        .find_map(|(number, other)| (*other == line).then_some(number));
    cases
        .iter()
        .find(|case| case.program() == number)
        .with_context(|| format!("{line} failed"))
}

struct Row {
    bytes_per_s: f64,
    /// A ratio is none where the language does not support the case.
    ratios: Vec<Option<Interval>>,
}

impl Row {
    fn speed(&self, case: &Case) -> String {
        match case.workload().files {
            1 => format!("{:.3}", self.bytes_per_s / 1e9),
            files => {
                let files_per_byte = as_f64(files.into()) / as_f64(case.given().size_bytes);
                format!("{:.0} files/s", self.bytes_per_s * files_per_byte)
            }
        }
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
