//! `cargo xtask parity`: compares writebench with plain C programs that do the same work, or with common
//! tools.
//!
//! A benchmark must show the kernel's figure, not its own overhead. Each program of `parity/` is the loop
//! that a good C programmer would write; the two run in pairs, in random order, and are compared by the ratio
//! of their medians.

mod case;
mod comparison;
mod copying;
mod fio;
mod ior;
mod reading;
mod reference;
mod rival;
mod rivals;
mod snippets;
mod table;
mod twin;
mod writebench;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use writebench_model::Bytes;

use crate::program;
use crate::target::{folder_for, is_memory, memory_and_disk};
use comparison::Pairing;
use reference::Reference;
use rival::{Bench, Other, Rival};
use table::Table;

/// The cases, the targets and the number of pairs.
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
    /// Compare with this IOR instead, under mpirun
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["check", "tools", "fio"])]
    ior: Option<PathBuf>,
    /// Compare the code that `writebench code` prints, in every language, with the cases themselves
    #[arg(long, conflicts_with_all = ["check", "tools", "fio", "ior", "methods"])]
    snippets: bool,
    /// Size of the files of cases without a size of their own
    #[arg(long, default_value = "256MiB")]
    size: Bytes,
    /// Pairs of each case
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only the cases of this method
    #[arg(long = "method", value_name = "NAME")]
    methods: Vec<String>,
    /// Only the cases (or tools) with this text in their name
    #[arg(long = "only", value_name = "TEXT")]
    only: Vec<String>,
    /// Also write the table to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Seed of the order inside the pairs and of the intervals
    #[arg(long, default_value_t = 20_240_229)]
    seed: u64,
    /// Only make each C program write a small file and read it back, on each target
    #[arg(long)]
    check: bool,
}

/// Compares, or only checks the C programs. Returns whether all cases could be compared and, with fio,
/// whether none is slower.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let targets = memory_and_disk(&options.targets, "parity")?;
    if options.snippets {
        return compare_snippets(options, &targets);
    }
    let folder = folder_for("parity")?;
    if options.check {
        // A separate build, because another check may be running the programs at the same time.
        let scratch = tempfile::tempdir_in(&folder).context("a folder for the programs")?;
        let mut programs = options.chosen(None)?;
        programs.extend(copying::equals(Bytes((5 << 20) + 1)).into_iter().filter(|tool| options.wants(tool)));
        return check(&Reference::build(scratch.path())?, &targets, &programs);
    }
    // A choice without a case is an error before the build.
    let by_programs = !options.tools && !options.fio && options.ior.is_none();
    let twins = if by_programs { options.chosen(Some(options.size))? } else { Vec::new() };
    let reference = Reference::build(&folder)?;
    let writebench = if options.ior.is_some() { program::build_for_ranks()? } else { program::build()? };
    let bench = Bench { reference, writebench, ior: options.ior.clone(), pairing: Pairing::default() };
    let table = compare(options, bench, &targets, &twins)?;
    if let Some(file) = &options.markdown {
        fs::write(file, &table.text).with_context(|| format!("writing {}", file.display()))?;
    }
    let is_judged = options.fio || options.ior.is_some();
    Ok(table.is_complete() && !(is_judged && table.is_surely_below()))
}

/// Printed code beside its cases, in every language.
fn compare_snippets(options: &Options, targets: &[PathBuf]) -> Result<bool> {
    let Options { size, rounds, only, .. } = options;
    let comparison = snippets::Comparison { targets, size: *size, rounds: *rounds, only };
    let (text, is_good) = comparison.run(&cpu())?;
    if let Some(file) = &options.markdown {
        fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(is_good)
}

/// The CPU's name in the kernel's words.
fn cpu() -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "an unknown CPU".to_owned(), |(_, name)| name.trim().to_owned())
}

fn compare(options: &Options, mut bench: Bench, targets: &[PathBuf], twins: &[Rival]) -> Result<Table> {
    let against = match (options.tools, options.fio) {
        (true, _) => &table::TOOLS,
        (_, true) => &table::FIO,
        _ if options.ior.is_some() => &table::IOR,
        _ => &table::PROGRAMS,
    };
    let mut table = Table::new(against, options.rounds, options.seed);
    if options.tools {
        let start_ms = copying::process_start_ms()?;
        table.say(&format!("\nStarting a program that does nothing takes {start_ms:.3} ms (`true`, median)."));
    }
    let mut seed = options.seed;
    for target in targets {
        table.start_target(target);
        for rival in options.rivals(&bench.writebench, target, twins)? {
            let mut compare = || {
                seed = seed.wrapping_add(1);
                bench.compare(&rival, target, options.rounds, seed)
            };
            let (mut result, mut remark) = (compare(), rival.remark.to_owned());
            // With fio and IOR, a case below the goal is repeated, and the second result counts.
            if (options.fio || options.ior.is_some())
                && !rival.is_explained
                && let Ok(first) = &result
                && against.is_below(first)
            {
                remark = format!("taken twice, first {:.3}", against.judged_ratio(first).interval.estimate);
                result = compare();
            }
            if result.is_err()
                && let Some(reason) = bench.refusal(&rival, target)?
            {
                table.leave_out(&rival.names(), &reason);
                continue;
            }
            table.add(&rival.names(), &remark, rival.is_explained, result);
        }
    }
    table.say(&format!("\n{}.", table.summary()));
    Ok(table)
}

fn check(reference: &Reference, targets: &[PathBuf], twins: &[Rival]) -> Result<bool> {
    for target in targets {
        for rival in possible(twins, target)? {
            let Other::Program(program) = &rival.other else { continue };
            let what = format!("{} on {}", rival.names().join(": "), target.display());
            match reference.measure(program, &rival.case, target, true) {
                Ok(_) => println!("{what}: as it should be"),
                Err(error) => match reference.refusal(program, target)? {
                    Some(reason) => println!("{what}: not possible here: {reason}"),
                    None => return Err(error.context(what)),
                },
            }
        }
    }
    Ok(true)
}

/// The cases that are possible on the target: memory has no direct I/O.
fn possible<'t>(twins: &'t [Rival], target: &Path) -> Result<impl Iterator<Item = &'t Rival>> {
    let is_memory = is_memory(target)?;
    Ok(twins.iter().filter(move |twin| !(is_memory && twin.case.is_direct())))
}

impl Options {
    /// The rows of a target.
    fn rivals(&self, writebench: &Path, target: &Path, twins: &[Rival]) -> Result<Vec<Rival>> {
        let mut rivals = match (self.tools, self.fio) {
            (true, _) => rivals::tools(writebench, target, self.size)?,
            (_, true) => rivals::fio(self.size, is_memory(target)?),
            _ if self.ior.is_some() => rivals::ior(self.size),
            _ => possible(twins, target)?.cloned().collect(),
        };
        rivals.retain(|rival| self.wants(rival));
        Ok(rivals)
    }

    fn chosen(&self, usual: Option<Bytes>) -> Result<Vec<Rival>> {
        let mut twins = twin::all(usual);
        for method in &self.methods {
            if !twins.iter().any(|twin| twin.case.method() == method) {
                bail!("no case of method '{method}' has a reference program");
            }
        }
        twins.retain(|twin| self.wants(twin));
        if twins.is_empty() {
            bail!("no case that has a reference program has '{}' in its name", self.only.join("' or '"));
        }
        Ok(twins)
    }

    fn wants(&self, rival: &Rival) -> bool {
        let (method, name) = (rival.case.method(), rival.names().join(" "));
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
        let twins = line.options.chosen(Some(Bytes(256 << 20)))?;
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
