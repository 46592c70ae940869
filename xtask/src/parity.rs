//! `cargo xtask parity`: writebench beside plain C programs that do the same work.
//!
//! What a benchmark shows must be the kernel's figure, not the benchmark's own overhead. Each program of
//! `parity/` is the loop that a good C programmer would write; the two run in pairs, in random order, and
//! are compared by the ratio of their medians.

mod case;
mod comparison;
mod reading;
mod reference;
mod table;
mod writebench;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use model::Bytes;

use crate::command::metadata;
use case::{Case, Sizes};
use comparison::Pairing;
use reference::Reference;
use table::Table;
use writebench::Writebench;

/// What to compare, where and how often.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `parity` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// Size of the files, where a case has no size of its own
    #[arg(long, default_value = "256MiB")]
    size: Bytes,
    /// Pairs of each case
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only the cases of this method
    #[arg(long = "method", value_name = "NAME")]
    methods: Vec<String>,
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
        let cases = chosen(options, Sizes::small())?;
        // A build of its own: another check may be running the programs at the same time.
        let scratch = tempfile::tempdir_in(&folder).context("a folder for the programs")?;
        return check(&Reference::build(scratch.path())?, &targets, &cases);
    }
    let cases = chosen(options, Sizes::of(options.size))?;
    let reference = Reference::build(&folder)?;
    let writebench = Writebench::build(&target_directory)?;
    compare(options, &targets, &cases, Pairing::new(&reference, &writebench))
}

fn compare(options: &Options, targets: &[PathBuf], cases: &[Case], mut pairing: Pairing<'_>) -> Result<bool> {
    let mut table = Table::new(options.rounds, options.seed);
    println!("{}", table.heading());
    let mut seed = options.seed;
    for target in targets {
        println!("{}", table.start_target(target));
        for case in cases {
            seed = seed.wrapping_add(1);
            let result = pairing.compare(case, target, options.rounds, seed);
            println!("{}", table.add(case, result));
        }
    }
    println!("\n{}", table.summary());
    if let Some(file) = &options.markdown {
        fs::write(file, table.markdown()).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(table.is_complete())
}

fn check(reference: &Reference, targets: &[PathBuf], cases: &[Case]) -> Result<bool> {
    for target in targets {
        for case in cases {
            reference.check(case, target).with_context(|| format!("{case} on {}", target.display()))?;
            println!("{case} on {}: as it should be", target.display());
        }
    }
    Ok(true)
}

fn chosen(options: &Options, sizes: Sizes) -> Result<Vec<Case>> {
    let mut cases = case::all(sizes);
    for method in &options.methods {
        if !cases.iter().any(|case| case.method == method) {
            bail!("no case of method '{method}' has a reference program");
        }
    }
    if !options.methods.is_empty() {
        cases.retain(|case| options.methods.iter().any(|method| case.method == method));
    }
    Ok(cases)
}
