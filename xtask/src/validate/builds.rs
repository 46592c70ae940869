//! `cargo xtask validate builds A B`: two builds of writebench in turns, such as the one for glibc and the static one.

use std::path::PathBuf;

use anyhow::{Context, Result};
use writebench_model::Bytes;

use super::turns::{Compared, Ratio, Work, compare};
use crate::case_name::{of_size, without_size};
use crate::target::{described, folder_for};

/// The builds, the cases and the numbers of samples and runs.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The program that is compared with
    first: PathBuf,
    /// The program that is judged
    second: PathBuf,
    /// Directory to write to [default: the folder `builds` of cargo's target directory]
    target: Option<PathBuf>,
    /// Cases [default: some of each kind of loop]
    #[arg(long = "case", value_name = "CASE")]
    cases: Vec<String>,
    /// Size of the files
    #[arg(long, default_value = "64MiB")]
    size: Bytes,
    /// Samples of each case in each run
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Runs of each build
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(8..))]
    runs: u32,
}

/// Loops over system calls, copies of memory and queues, with chunks of all sizes.
const CASES: &[&str] = &[
    "write",
    "write,chunk=4KiB",
    "write,chunk=64KiB,source=chunk",
    "fwrite,chunk=4KiB",
    "pwrite,threads=2",
    "pwrite,chunk=8MiB,prepare=fallocate,cache=direct,sync=fdatasync",
    "mmap,prepare=fallocate",
    "mmap,populate=window,store=nontemporal,prepare=fallocate",
    "mmap,huge=advise",
    "uring,chunk=256KiB,depth=4",
    "read-write",
    "mmap-mmap",
];

/// The least speed of the second build, as a part of the first's.
const LEAST: f64 = 0.97;

/// Prints the ratios of the speeds; returns whether no case of the second is proven to be slower than it may be.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let target = options.target.clone().map_or_else(|| folder_for("builds"), Ok)?;
    let given = options.cases.iter().map(String::as_str);
    let usual = CASES.iter().copied().filter(|_| options.cases.is_empty());
    let cases: Vec<String> = given.chain(usual).map(|case| of_size(case, options.size)).collect();
    let work = Work { target: &target, cases: &cases, samples: options.samples };
    let scratch = tempfile::tempdir().context("a folder for exports")?;
    let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
    for number in 0..options.runs {
        let export = |name: &str| scratch.path().join(format!("{name}-{number}.json"));
        firsts.push(work.run(&options.first, &export("first"))?);
        seconds.push(work.run(&options.second, &export("second"))?);
    }
    let compared = compare(&options.first, &firsts.join(","), &seconds.join(","))?;
    let Options { runs, samples, size, .. } = options;
    println!("{}: {runs} runs of each in turns, {samples} samples of {size} in each\n", described(&target));
    println!("| case | speed of the second / first |\n|---|---|");
    for case in &compared {
        let Ratio { estimate, low, high } = case.speed_ratio;
        println!("| `{}` | {estimate:.2} [{low:.2}, {high:.2}] |", without_size(&case.id));
    }
    Ok(compared.len() == cases.len() && compared.iter().all(is_fast_enough))
}

fn is_fast_enough(case: &Compared) -> bool {
    case.speed_ratio.high >= LEAST
}
