//! `cargo xtask validate noise`: alternates runs of a build and of one that is deliberately 5 % slower, and
//! counts how often `writebench compare` distinguishes them.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use super::turns::{Compared, Ratio, Verdict, Work, compare};
use crate::program;
use crate::target::{described, memory_and_disk};

/// The targets, the case and the numbers of samples and runs.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `noise` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// The case
    #[arg(long, default_value = "write,size=4MiB")]
    case: String,
    /// Samples in each run
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(4..))]
    samples: u32,
    /// Runs of each build
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(8..))]
    runs: u32,
}

/// The runs on each side: the fewest that allow 95 %.
const SEVERAL: usize = 4;

/// Takes the runs and prints how often they are distinguished; returns whether every comparison was possible.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let targets = memory_and_disk(&options.targets, "noise")?;
    let delayed = program::build_delayed()?;
    let normal = program::build()?;
    let Options { runs, case, samples, .. } = options;
    println!(
        "noise: {runs} runs of a build and of one that is 5 % slower, in turns; {case}, {samples} samples in each run"
    );
    for target in &targets {
        let start = Instant::now();
        let scratch = tempfile::tempdir().context("a folder for exports")?;
        let work = Work { target, cases: std::slice::from_ref(case), samples: *samples };
        let (mut normals, mut delayeds) = (Vec::new(), Vec::new());
        for number in 0..*runs {
            let export = |name: &str| scratch.path().join(format!("{name}-{number}.json"));
            normals.push(work.run(&normal, &export("normal"))?);
            delayeds.push(work.run(&delayed, &export("delayed"))?);
        }
        println!("\n{}, {:.0} s", described(target), start.elapsed().as_secs_f64());
        println!("{:<36} {:>11} {:>7} {:>7} {:>9}", "", "comparisons", "faster", "slower", "B / A");
        for (what, pairs) in pairs(&normals, &delayeds) {
            let compared =
                pairs.iter().map(|(a, b)| compare(&normal, a, b)).collect::<Result<Vec<_>>>()?.concat();
            println!("{}", line(what, &compared)?);
        }
    }
    Ok(true)
}

/// The exports of both sides of a comparison, as arguments of `compare`.
type Pair = (String, String);

/// There is no difference among the runs of one build.
fn pairs(normal: &[String], delayed: &[String]) -> [(&'static str, Vec<Pair>); 4] {
    let in_turns = |runs: &[String]| {
        let side = |first: usize| runs.iter().skip(first).step_by(2).cloned().collect::<Vec<_>>().join(",");
        (side(0), side(1))
    };
    let same = |count: usize| normal.chunks_exact(count).map(in_turns).collect();
    let slower = |count: usize| {
        let chunks = normal.chunks_exact(count).zip(delayed.chunks_exact(count));
        chunks.map(|(a, b)| (a.join(","), b.join(","))).collect()
    };
    [
        ("the same, four runs each in turns", same(2 * SEVERAL)),
        ("the same, all runs in turns", same(normal.len())),
        ("5 % slower, four runs each in turns", slower(SEVERAL)),
        ("5 % slower, all runs", slower(normal.len())),
    ]
}

fn line(what: &str, compared: &[Compared]) -> Result<String> {
    let count = |verdict| compared.iter().filter(|it| it.verdict == verdict).count();
    let (faster, slower) = (count(Verdict::Faster), count(Verdict::Slower));
    let ratios: Vec<f64> = compared.iter().map(|it| it.speed_ratio.estimate).collect();
    let ratio = writebench_stats::median(&ratios).context("nothing was compared")?;
    let interval = match compared {
        [Compared { speed_ratio: Ratio { low, high, .. }, .. }] => format!("  ({low:.3} – {high:.3})"),
        _ => String::new(),
    };
    Ok(format!("{what:<36} {:>11} {faster:>7} {slower:>7} {ratio:>9.3}{interval}", compared.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[test]
    fn the_runs_of_both_sides_are_taken_in_turns() {
        let names = |name: &str| (0..8).map(|number| format!("{name}{number}")).collect::<Vec<_>>();
        let pairs = pairs(&names("n"), &names("d"));
        let counts: Vec<usize> = pairs.iter().map(|(_, pairs)| pairs.len()).collect();
        assert_eq!(counts, [1, 1, 2, 1]);
        assert_eq!(pairs[0].1[0], ("n0,n2,n4,n6".to_owned(), "n1,n3,n5,n7".to_owned()));
        assert_eq!(pairs[2].1[1], ("n4,n5,n6,n7".to_owned(), "d4,d5,d6,d7".to_owned()));
    }

    #[test]
    fn verdicts_are_counted_and_one_that_is_none_is_no_result() {
        let compared = |verdict: &str, ratio: f64| {
            let ratio = json!({"estimate": ratio, "low": 0.8, "high": 1.1});
            Compared::deserialize(json!({"id": "write", "verdict": verdict, "speed_ratio": ratio}))
        };
        let all = [("slower", 0.9), ("same", 1.0), ("slower", 0.95)];
        let all = all.map(|(verdict, ratio)| compared(verdict, ratio).unwrap());
        let line = line("5 % slower", &all).unwrap();
        assert!(line.ends_with("3       0       2     0.950"), "{line}");
        assert!(compared("too-few", 1.0).is_err());
    }
}
