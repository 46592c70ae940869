//! `cargo xtask parity --snippets`: the printed code of cases beside the cases themselves.
//!
//! Each program is a case of the same run, by `--command`: in the same rounds, verified and reported by its own
//! phases. So the same code measures and compares both.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use writebench_model::{Axis, Bytes, Case, Durability};
use writebench_snippets::{Frame, Language, code};
use writebench_stats::Interval;
use writebench_testkit::Compiled;

use crate::export::{Measured, measured};
use crate::program;
use crate::target::{described, is_memory};

/// The cases: each family, with what advice often names.
const CASES: &[&str] = &[
    "write",
    "write,chunk=4KiB",
    "pwrite,chunk=16MiB,prepare=fallocate",
    "pwrite,threads=2,prepare=fallocate",
    "write,prepare=posix-fallocate,sync=fdatasync",
    "write,writeback=8MiB,sync=fdatasync",
    "pwrite,chunk=8MiB,cache=direct,prepare=fallocate,sync=fdatasync",
    "pwritev,chunk=64KiB,vector=16",
    "mmap",
    "mmap,threads=2,populate=window,store=nontemporal,prepare=fallocate",
    "uring,chunk=4MiB,depth=4,cache=direct,prepare=fallocate,sync=fdatasync",
    "read-write,chunk=256KiB",
    "read-write,chunk=256KiB,threads=2,descriptor=per-thread,prepare=fallocate",
    "mmap-write,populate=window,prepare=fallocate",
    "mmap-mmap,populate=window",
    "sendfile,chunk=whole,prepare=set-len",
    "splice",
    "copy-file-range,chunk=whole",
    "pipeline,depth=4",
];
/// Records are made durable one by one.
const RECORDS: &[(&str, Bytes)] = &[("write,chunk=4KiB,prepare=overwrite,sync=fdatasync/1", Bytes(1 << 20))];

/// Below this ratio, printed code has an overhead that its language does not ask for.
const LEAST_RATIO: f64 = 0.97;
/// Languages without a run time of their own: their code is judged.
const JUDGED: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

/// How the programs are compared.
pub(super) struct Comparison<'o> {
    pub targets: &'o [PathBuf],
    pub size: Bytes,
    pub rounds: u32,
    pub only: &'o [String],
}

/// A case's row: its own speed, and each language's.
struct Row {
    case: String,
    bytes_per_s: f64,
    // How many times as fast as the case; none if the language cannot say it.
    ratios: Vec<Option<Interval>>,
}

impl Comparison<'_> {
    /// The tables, and whether all judged code is as fast as its case.
    pub(super) fn run(&self, cpu: &str) -> Result<(String, bool)> {
        let writebench = program::build()?;
        let mut text = self.head(cpu);
        let mut is_good = true;
        print!("{text}");
        for &target in &self.targets.iter().collect::<Vec<_>>() {
            let mut table = format!("\n## {}\n\n| case | GB/s |", described(target));
            Language::ALL.iter().for_each(|language| table += &format!(" {} |", language.title()));
            table += &format!("\n|---|--:|{}\n", "--:|".repeat(Language::ALL.len()));
            print!("{table}");
            text += &table;
            for (case, size) in self.cases(target)? {
                let row = self.row(&writebench, target, &case, size)?;
                is_good &= !row.is_surely_slower();
                let line = row.text();
                print!("{line}");
                text += &line;
            }
        }
        Ok((text, is_good))
    }

    fn head(&self, cpu: &str) -> String {
        let (rounds, size) = (self.rounds, self.size.approximate());
        format!(
            "# What your language costs\n
Written by `cargo xtask parity --snippets`; no figure is by hand. `writebench code CASE --lang LANGUAGE
--main` printed each program; it was a case of the same run as the case itself, by `--command`:
{rounds} rounds, files of {size}, on {cpu}, with what it reports of its own time: starting the program
and reading its data are not in it. A cell says how many times as fast as the case's own loop the
function was, over all phases: the median of the ratios in a round. `–`: the language cannot say the
case without a foreign function. `!` marks a ratio whose whole 95 % interval is below 0.97, `?` one
below 0.97 that is not certain.
"
        )
    }

    fn cases(&self, target: &Path) -> Result<Vec<(String, Bytes)>> {
        let in_memory = is_memory(target)?;
        let usual = CASES.iter().map(|&case| (case, self.size));
        let wanted = |case: &str| self.only.is_empty() || self.only.iter().any(|text| case.contains(text));
        let possible = |case: &str| !in_memory || !case.contains("cache=direct") && !case.contains("writeback");
        Ok(usual
            .chain(RECORDS.iter().copied())
            .filter(|(case, _)| wanted(case) && possible(case))
            .map(|(case, size)| (case.to_owned(), size))
            .collect())
    }

    fn row(&self, writebench: &Path, target: &Path, name: &str, size: Bytes) -> Result<Row> {
        let methods = writebench_engine::method_infos();
        let case = Case::parse(name, &methods)?.with(Axis::Size, &size.to_string())?;
        let frame = Frame { is_program: true, is_atomic: false };
        let scratch = tempfile::tempdir().context("a folder for the programs")?;
        let mut command = Command::new(writebench);
        command.arg("run").arg(target).args(["--yes", "--no-limits", "--verify", "first"]);
        command.args(["--samples", &self.rounds.to_string(), "--case", &case.to_string()]);
        let contract = case.contract();
        command.args((contract.durability == Durability::Durable).then_some("--durable"));
        command.args(case.method().copies().then_some("--copies"));
        // Each language's number on axis `program`.
        let mut numbers = Vec::new();
        let mut programs = 0;
        for &language in Language::ALL {
            let Ok(text) = code(&case, language, frame, &methods) else {
                numbers.push(None);
                continue;
            };
            let directory = scratch.path().join(language.name());
            std::fs::create_dir(&directory)?;
            let compiled = Compiled::of(&text, language, &directory)?;
            let words = shlex::try_join(compiled.words.iter().map(String::as_str))?;
            command.args(["--command", &format!("{words} {{source}} {{file}}")]);
            programs += 1;
            numbers.push(Some(programs));
        }
        let export = program::exported(command)?;
        let cases = measured(&export)?;
        let own = cases.iter().find(|it| it.id == case.to_string());
        let own = own.with_context(|| format!("{case} has no figure"))?;
        let of = |number: u32| -> Result<Option<Interval>> {
            let is_it = |it: &&Measured| it.program() == Some(number);
            let found = cases.iter().find(is_it).with_context(|| format!("{case}: program {number} failed"))?;
            Ok(own.ratio(found))
        };
        let ratios = numbers.into_iter().map(|number| number.map_or(Ok(None), of)).collect::<Result<_>>()?;
        let bytes_per_s = writebench_stats::as_f64(size.0) * 1e9 / own.median_ns;
        Ok(Row { case: name.to_owned(), bytes_per_s, ratios })
    }
}

impl Row {
    fn is_surely_slower(&self) -> bool {
        let of = Language::ALL.iter().zip(&self.ratios);
        of.filter(|(language, _)| JUDGED.contains(language))
            .any(|(_, ratio)| ratio.as_ref().is_some_and(|it| it.high < LEAST_RATIO))
    }

    fn text(&self) -> String {
        let mut text = format!("| `{}` | {:.3} |", self.case, self.bytes_per_s / 1e9);
        for ratio in &self.ratios {
            let mark = |it: &Interval| match () {
                () if it.high < LEAST_RATIO => " !",
                () if it.estimate < LEAST_RATIO => " ?",
                () => "",
            };
            match ratio {
                Some(it) => write!(text, " {:.2}{} |", it.estimate, mark(it)),
                None => write!(text, " – |"),
            }
            .expect("a string takes it");
        }
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(estimate: f64, high: f64) -> Row {
        let ratio = Interval { estimate, low: 0.5, high, confidence: 0.95 };
        let mut ratios: Vec<_> = Language::ALL.iter().map(|_| None).collect();
        ratios[0] = Some(ratio);
        Row { case: "write".to_owned(), bytes_per_s: 2e9, ratios }
    }

    #[test]
    fn slower_code_is_marked_and_a_missing_language_has_a_dash() {
        assert_eq!(row(1.0, 1.1).text(), "| `write` | 2.000 | 1.00 | – | – | – | – | – | – |\n");
        assert!(row(0.9, 1.1).text().contains(" 0.90 ? |") && !row(0.9, 1.1).is_surely_slower());
        assert!(row(0.9, 0.95).text().contains(" 0.90 ! |") && row(0.9, 0.95).is_surely_slower());
    }

    #[test]
    fn every_case_exists_and_has_code_in_c() {
        let methods = writebench_engine::method_infos();
        for name in CASES.iter().chain(RECORDS.iter().map(|(name, _)| name)) {
            let case = Case::parse(name, &methods).unwrap();
            assert!(code(&case, Language::C, Frame::default(), &methods).is_ok(), "{name}");
        }
    }
}
