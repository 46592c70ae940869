//! `cargo xtask parity`: compares writebench with other programs that do the same work.
//!
//! A benchmark must show the kernel's figure, not its own overhead. Printed code, in C the loop that a good C
//! programmer would write, and the usual tools are cases of the same run; fio and IOR measure themselves, and run
//! in pairs with a case, in random order.

mod case;
mod cases;
mod comparison;
mod fio;
mod ior;
mod machine;
mod programs;
mod reading;
mod rival;
mod rivals;
mod table;
mod writebench;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use writebench_model::Bytes;

use crate::program;
use crate::target::{is_memory, memory_and_disk};
use comparison::Pairing;
use programs::Beside;
use rival::{Bench, Rival};
use table::Table;

/// The cases, the targets and the number of rounds.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `parity` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// Compare the printed code of every language with the cases
    #[arg(long)]
    snippets: bool,
    /// Compare cp and dd with the cases
    #[arg(long, conflicts_with = "snippets")]
    tools: bool,
    /// Compare with fio, by the jobs that `--export fio=DIR` writes
    #[arg(long, conflicts_with_all = ["snippets", "tools"])]
    fio: bool,
    /// Compare with this IOR, under mpirun
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["snippets", "tools", "fio"])]
    ior: Option<PathBuf>,
    /// Size of the files of cases without a size of their own
    #[arg(long, default_value = "256MiB")]
    size: Bytes,
    /// Rounds of each case
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only the cases with this text in their name
    #[arg(long = "only", value_name = "TEXT")]
    only: Vec<String>,
    /// Also write the table to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Seed of the order inside the pairs and of the intervals, with fio and IOR
    #[arg(long, default_value_t = 20_240_229)]
    seed: u64,
}

/// Compares. Returns whether all cases could be compared, and none that is judged is slower.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let targets = memory_and_disk(&options.targets, "parity")?;
    let (text, is_good) = match (options.fio, &options.ior) {
        (false, None) => options.programs(&targets)?,
        (_, ior) => options.pairs(ior.clone(), &targets)?,
    };
    if let Some(file) = &options.markdown {
        fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(is_good)
}

impl Options {
    /// Programs that are cases of the same run.
    fn programs(&self, targets: &[PathBuf]) -> Result<(String, bool)> {
        let beside = match (self.snippets, self.tools) {
            (true, _) => Beside::Languages,
            (_, true) => Beside::Tools,
            _ => Beside::C,
        };
        let wants = |name: &str| self.wants(name);
        programs::Comparison { beside, targets, size: self.size, rounds: self.rounds, wants: &wants }.run()
    }

    /// fio, or that IOR, in pairs with cases.
    fn pairs(&self, ior: Option<PathBuf>, targets: &[PathBuf]) -> Result<(String, bool)> {
        let writebench = if ior.is_some() { program::build_for_ranks()? } else { program::build()? };
        let mut bench = Bench { writebench, ior, pairing: Pairing::default() };
        let against = if self.fio { &table::FIO } else { &table::IOR };
        let mut table = Table::new(against, self.rounds, self.seed);
        let mut seed = self.seed;
        for target in targets {
            table.start_target(target);
            for rival in self.rivals(target)? {
                let mut compare = || {
                    seed = seed.wrapping_add(1);
                    bench.compare(&rival, target, self.rounds, seed)
                };
                let (mut result, mut remark) = (compare(), rival.remark.to_owned());
                // A case below the goal is repeated, and the second result counts.
                if !rival.is_explained
                    && let Ok(first) = &result
                    && against.is_below(first)
                {
                    remark = format!("taken twice, first {:.3}", against.judged_ratio(first).interval.estimate);
                    result = compare();
                }
                table.add(&rival.case.to_string(), &remark, rival.is_explained, result);
            }
        }
        table.say(&format!("\n{}.", table.summary()));
        let is_good = table.is_complete() && !table.is_surely_below();
        Ok((table.text, is_good))
    }

    /// The rows of a target.
    fn rivals(&self, target: &Path) -> Result<Vec<Rival>> {
        let mut rivals =
            if self.fio { rivals::fio(self.size, is_memory(target)?) } else { rivals::ior(self.size) };
        rivals.retain(|rival| self.wants(&rival.case.to_string()));
        Ok(rivals)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| name.contains(text))
    }
}
