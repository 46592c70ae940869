//! `cargo xtask parity`: writebench beside plain C programs that do the same work, or beside the tools that
//! people know.
//!
//! What a benchmark shows must be the kernel's figure, not the benchmark's own overhead. Each program of
//! `parity/` is the loop that a good C programmer would write; the two run in pairs, in random order, and
//! are compared by the ratio of their medians.

mod bench;
mod case;
mod comparison;
mod fio;
mod place;
mod reading;
mod reference;
mod table;
mod tools;
mod twin;
mod writebench;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use writebench_model::Bytes;

use crate::command::metadata;
use crate::target::is_memory;
use bench::Bench;
use comparison::Pairing;
use reference::Reference;
use table::{Against, Table};
use twin::{Sizes, Twin};
use writebench::Writebench;

/// What to compare, where and how often.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `parity` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// Compare with cp and dd instead of C programs
    #[arg(long, conflicts_with = "check")]
    tools: bool,
    /// Compare with fio instead, by the jobs that `--export fio=DIR` writes
    #[arg(long, conflicts_with_all = ["check", "tools"])]
    fio: bool,
    /// Size of the files, where a case has no size of its own
    #[arg(long, default_value = "256MiB")]
    size: Bytes,
    /// Pairs of each case
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only the cases of this method
    #[arg(long = "method", value_name = "NAME")]
    methods: Vec<String>,
    /// Only the cases (or tools) whose name has this in it
    #[arg(long = "only", value_name = "TEXT")]
    only: Vec<String>,
    /// Write the table to this file, too
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Seed of the order inside the pairs and of the intervals
    #[arg(long, default_value_t = 20_240_229)]
    seed: u64,
    /// Only have each C program write a small file and read it back, on each target
    #[arg(long)]
    check: bool,
}

/// Compares, or only checks the C programs; whether all cases could be compared.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let target_directory = metadata()?.target_directory.into_std_path_buf();
    let folder = target_directory.join("parity");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let targets = match &options.targets[..] {
        [] => vec![PathBuf::from("/dev/shm"), folder.clone()],
        given => given.to_vec(),
    };
    if let Some(target) = targets.iter().find(|target| !target.is_dir()) {
        bail!("{} is not a directory", target.display());
    }
    if options.check {
        let twins = options.chosen(Sizes::small())?;
        // A build of its own: another check may be running the programs at the same time.
        let scratch = tempfile::tempdir_in(&folder).context("a folder for the programs")?;
        return check(&Reference::build(scratch.path())?, &targets, &twins);
    }
    let others = options.tools || options.fio;
    let twins = if others { Vec::new() } else { options.chosen(Sizes::of(options.size))? };
    let reference = Reference::build(&folder)?;
    let writebench = Writebench::build(&target_directory)?;
    if options.tools {
        compare_with_tools(options, &targets, &reference, &writebench)
    } else if options.fio {
        compare_with_fio(options, &targets, &reference, &writebench)
    } else {
        compare_with_programs(options, &targets, &twins, &reference, &writebench)
    }
}

fn compare_with_programs(
    options: &Options,
    targets: &[PathBuf],
    twins: &[Twin],
    reference: &Reference,
    writebench: &Writebench,
) -> Result<bool> {
    let mut table = Table::new(Against::Programs, options.rounds, options.seed);
    let mut pairing = Pairing::default();
    println!("{}", table.heading());
    let mut seed = options.seed;
    for target in targets {
        println!("{}", table.start_target(target));
        for twin in possible(twins, target)? {
            seed = seed.wrapping_add(1);
            let program = || reference.measure(twin, target).map(Some);
            let ours = || writebench.measure(&twin.case, target);
            let result = pairing.compare(&program, &ours, options.rounds, seed);
            println!("{}", table.add(&[&twin.case.to_string()], "", result));
        }
    }
    finish(options, &table)
}

fn compare_with_tools(
    options: &Options,
    targets: &[PathBuf],
    reference: &Reference,
    writebench: &Writebench,
) -> Result<bool> {
    let mut table = Table::new(Against::Tools, options.rounds, options.seed);
    let mut pairing = Pairing::default();
    println!("{}", table.heading());
    println!(
        "starting a program that does nothing takes {:.3} ms (`true`, median)",
        tools::process_start_ms()?
    );
    let mut seed = options.seed;
    for target in targets {
        let bench = Bench { reference, writebench, target };
        println!("{}", table.start_target(target));
        for rival in tools::rivals(&bench, options.size)? {
            let (tool, case) = (rival.tool(), rival.case.to_string());
            if !options.wants(rival.case.method(), &format!("{tool} {case}")) {
                continue;
            }
            seed = seed.wrapping_add(1);
            let result = rival.compare(&bench, &mut pairing, options.rounds, seed);
            println!("{}", table.add(&[&tool, &case], &rival.remark, result));
        }
    }
    finish(options, &table)
}

/// Whether no case is slower than fio: what is below the goal is taken once more, and the second result counts.
fn compare_with_fio(
    options: &Options,
    targets: &[PathBuf],
    reference: &Reference,
    writebench: &Writebench,
) -> Result<bool> {
    let mut table = Table::new(Against::Fio, options.rounds, options.seed);
    let mut pairing = Pairing::default();
    println!("{}", table.heading());
    let mut seed = options.seed;
    for target in targets {
        let bench = Bench { reference, writebench, target };
        println!("{}", table.start_target(target));
        for rival in fio::rivals(options.size, is_memory(target)?) {
            let case = rival.case.to_string();
            if !options.wants(rival.case.method(), &case) {
                continue;
            }
            let mut compare = || {
                seed = seed.wrapping_add(1);
                rival.compare(&bench, &mut pairing, options.rounds, seed)
            };
            let (mut result, mut remark) = (compare(), String::new());
            if let Some(why) = rival.difference {
                println!("{}", table.add_explained(&[&case], why, result));
                continue;
            }
            if let Ok(first) = &result
                && Against::Fio.is_below(first)
            {
                remark = format!("taken twice, first {:.3}", first.work.interval.estimate);
                result = compare();
            }
            println!("{}", table.add(&[&case], &remark, result));
        }
    }
    let is_as_fast = !table.is_surely_below();
    Ok(finish(options, &table)? && is_as_fast)
}

fn finish(options: &Options, table: &Table) -> Result<bool> {
    println!("\n{}", table.summary());
    if let Some(file) = &options.markdown {
        fs::write(file, table.markdown()).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(table.is_complete())
}

fn check(reference: &Reference, targets: &[PathBuf], twins: &[Twin]) -> Result<bool> {
    for target in targets {
        for twin in possible(twins, target)? {
            let case = &twin.case;
            reference.check(twin, target).with_context(|| format!("{case} on {}", target.display()))?;
            println!("{case} on {}: as it should be", target.display());
        }
    }
    Ok(true)
}

/// What makes sense on the target: memory has nothing behind the page cache.
fn possible<'t>(twins: &'t [Twin], target: &Path) -> Result<impl Iterator<Item = &'t Twin>> {
    let is_memory = is_memory(target)?;
    Ok(twins.iter().filter(move |twin| !(is_memory && twin.case.is_direct())))
}

impl Options {
    fn chosen(&self, sizes: Sizes) -> Result<Vec<Twin>> {
        let mut twins = twin::all(sizes);
        for method in &self.methods {
            if !twins.iter().any(|twin| twin.case.method() == method) {
                bail!("no case of method '{method}' has a reference program");
            }
        }
        twins.retain(|twin| self.wants(twin.case.method(), &twin.case.to_string()));
        if twins.is_empty() {
            bail!("no case that has a reference program has '{}' in its name", self.only.join("' or '"));
        }
        Ok(twins)
    }

    fn wants(&self, method: &str, name: &str) -> bool {
        (self.methods.is_empty() || self.methods.iter().any(|wanted| wanted == method))
            && (self.only.is_empty() || self.only.iter().any(|text| name.contains(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn chosen(arguments: &[&str]) -> Result<Vec<String>> {
        let line = Line::parse_from(std::iter::once("parity").chain(arguments.iter().copied()));
        let twins = line.options.chosen(Sizes::of(Bytes(256 << 20)))?;
        Ok(twins.iter().map(|twin| twin.case.to_string()).collect())
    }

    #[test]
    fn cases_are_chosen_by_method_and_by_a_part_of_their_name() {
        assert!(chosen(&["--method", "splice"]).unwrap().iter().all(|name| name.starts_with("splice,")));
        let direct = chosen(&["--only", "cache=direct", "--method", "uring"]).unwrap();
        assert_eq!(direct.len(), 2, "{direct:?}");
        assert!(chosen(&[]).unwrap().len() > 40);
    }

    #[test]
    fn a_choice_that_has_no_case_is_an_error() {
        assert!(chosen(&["--method", "teleport"]).unwrap_err().to_string().contains("teleport"));
        assert!(chosen(&["--only", "no-such-thing"]).is_err());
    }
}
