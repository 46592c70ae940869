//! `cargo xtask validate frontier`: for each contract, the best of the five programs' ways beside the best of ours, in
//! the same rounds.
//!
//! The bests are chosen in one run, and measured again in another, so that the luck of the choice is not in the
//! figure.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use writebench_model::Bytes;
use writebench_stats::Interval;
use writebench_testkit::ControlGroup;

use crate::case_name::{of_size, without_size};
use crate::export::{Clock, Measured, measured};
use crate::program;
use crate::target::{Targets, filesystem, is_memory};

/// The targets, the size and the numbers of samples.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    targets: Targets,
    /// Size of the files
    #[arg(long, default_value = "1GiB")]
    size: Bytes,
    /// Samples of each case for the choice
    #[arg(long, default_value_t = 5)]
    samples: u32,
    /// Rounds of the comparison
    #[arg(long, default_value_t = 15)]
    rounds: u32,
    /// Only contracts with this text in their title
    #[arg(long = "only", value_name = "TEXT")]
    only: Vec<String>,
    /// Also write the tables to this file; it keeps those of other machines and filesystems
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl Options {
    /// The beginning of the document.
    fn head(&self) -> String {
        let Self { samples, rounds, .. } = self;
        let size = self.size.approximate();
        format!(
            "# The frontier: the best of five programs, and the best here\n
Written by `cargo xtask validate frontier`; no figure is by hand. For each contract the cases of
`xtask/src/validate/frontier.toml` were measured, {samples} samples each; the fastest of the five
programs' ways and the fastest of all were then measured again in {rounds} common rounds, with files
of {size} (of four times the memory where they are larger than it). *Times as fast* is the median of
the ratios of the times in a round, with its 95 % interval. *Of limit* is the share of the
hardware's limit that our way reached: a copy of memory by as many threads, or large direct writes
to the device. The writers of one buffered file queue on its inode lock, so that threads which copy
gain little more than their reading. xfs and btrfs are in images whose blocks were written before,
behind loop devices that bypass the page cache below.

In the page cache, where less is reached than is wanted, no way comes near the limit on ext4 (a
quarter to two thirds of a copy of memory) and btrfs (less than a tenth); on xfs, plain `write`, and
`read` with `write`, come to half of it and more by themselves. [Filesystems](filesystems.md) has a
profile of the time that ext4 takes.\n"
        )
    }
}

/// `frontier.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contracts {
    contract: Vec<Contract>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    title: String,
    /// The most memory that the run may use; its files are four times as large.
    memory_bytes: Option<u64>,
    programs: Vec<String>,
    #[serde(default)]
    cp: Vec<String>,
    ours: Vec<String>,
    /// Whether a copy may share its blocks with the source, which is another contract than to copy the bytes.
    #[serde(default)]
    may_share_blocks: bool,
    /// The ratio that is wanted, by kind of filesystem.
    wanted: BTreeMap<String, f64>,
    #[serde(default)]
    wanted_of_cp: BTreeMap<String, f64>,
}

impl Contract {
    fn is_durable(&self) -> bool {
        self.programs.iter().all(|case| case.contains("sync="))
    }
}

/// Compares; returns whether every wanted ratio was reached.
pub(crate) fn run(options: &Options) -> Result<bool> {
    /// Room for a copy and its source, and for the filesystem's own.
    const IMAGE_SIZES: u64 = 5;
    let contracts: Contracts = toml::from_str(include_str!("frontier.toml")).context("frontier.toml")?;
    let program = program::build()?;
    let image_size = Bytes(options.size.0.saturating_mul(IMAGE_SIZES));
    options.targets.each("frontier", image_size, |target| {
        let frontier = Frontier { program: &program, target, options };
        let (section, is_reached) = frontier.compare(&contracts.contract)?;
        if let Some(file) = &options.markdown {
            let before = std::fs::read_to_string(file).unwrap_or_default();
            let text = with_section(&options.head(), &before, &section);
            std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
        }
        Ok(is_reached)
    })
}

struct Frontier<'f> {
    program: &'f Path,
    target: &'f Path,
    options: &'f Options,
}

/// The winner of a group of cases.
struct Best<'m> {
    case: &'m Measured,
    gigabytes_per_s: f64,
}

impl Frontier<'_> {
    fn compare(&self, contracts: &[Contract]) -> Result<(String, bool)> {
        let kind = filesystem(self.target);
        let (mut rows, mut facts, mut good) = (String::new(), String::new(), true);
        let in_memory = is_memory(self.target)?;
        let wanted = |contract: &&Contract| {
            let only = &self.options.only;
            // A filesystem in memory keeps nothing, and holds no file that is larger than memory.
            let is_possible = !in_memory || !contract.is_durable() && contract.memory_bytes.is_none();
            is_possible && (only.is_empty() || only.iter().any(|text| contract.title.contains(text.as_str())))
        };
        for contract in contracts.iter().filter(wanted) {
            let size = contract.memory_bytes.map_or(self.options.size, |memory| Bytes(memory * 4));
            let groups = [&contract.programs, &contract.cp, &contract.ours];
            let all: Vec<String> = groups.into_iter().flatten().map(|case| of_size(case, size)).collect();
            let chosen = self.measure(contract, &all, self.options.samples)?;
            for case in &all {
                let is_there = chosen["cases"]
                    .as_array()
                    .is_some_and(|cases| cases.iter().any(|other| other["id"] == **case));
                anyhow::ensure!(is_there, "{case} has another name in the run");
            }
            let cases = measured(&chosen)?;
            let kept = |case: &&Measured| contract.may_share_blocks || !case.shares_blocks;
            let best = |groups: &[&[String]]| {
                let names: Vec<String> = groups.concat().iter().map(|case| of_size(case, size)).collect();
                let of_groups = cases.iter().filter(|case| names.contains(&case.id)).filter(kept);
                of_groups.min_by(|a, b| a.value_ns.total_cmp(&b.value_ns)).map(|case| case.id.clone())
            };
            // The programs' ways are ours, too, where ours are possible at all.
            let (Some(theirs), Some(_), Some(ours)) = (
                best(&[&contract.programs]),
                best(&[&contract.ours]),
                best(&[&contract.programs, &contract.ours]),
            ) else {
                continue;
            };
            let cp = best(&[&contract.cp]);
            let mut finals: Vec<String> =
                [Some(theirs.clone()), Some(ours.clone()), cp.clone()].into_iter().flatten().collect();
            finals.sort_unstable();
            finals.dedup();
            let export = self.measure(contract, &finals, self.options.rounds)?;
            if facts.is_empty() {
                facts = facts_of(&export);
            }
            let cases = measured(&export)?;
            let found = |id: &str| -> Result<Best<'_>> {
                let case =
                    cases.iter().find(|case| case.id == id).with_context(|| format!("{id} has no figure"))?;
                Ok(Best { case, gigabytes_per_s: rate(size.0, case.value_ns) })
            };
            let (theirs, ours) = (found(&theirs)?, found(&ours)?);
            let share = share_of_limit(&export, &ours.case.id);
            for (what, other, wanted) in [
                (contract.title.clone(), Some(theirs), contract.wanted.get(&kind)),
                (
                    format!("{}, beside cp", contract.title),
                    cp.as_deref().map(&found).transpose()?,
                    contract.wanted_of_cp.get(&kind),
                ),
            ] {
                let Some(other) = other else { continue };
                // A ratio of times: the other's over ours.
                let ratio = other.case.ratio(ours.case, Clock::Total).context("no rounds in common")?;
                good &= wanted.is_none_or(|&wanted| ratio.estimate >= wanted) && ratio.high >= 1.0;
                let row = row(&what, &other, &ours, &ratio, share.as_deref(), wanted);
                print!("{kind}: {row}");
                rows += &row;
            }
        }
        let head = format!(
            "\n### {kind}, {facts}\n\n| contract | the programs' best | GB/s | the best here | GB/s | times as fast | of limit | wanted |\n|---|---|---|---|---|---|---|---|\n"
        );
        Ok((head + &rows, good))
    }

    fn measure(&self, contract: &Contract, cases: &[String], samples: u32) -> Result<Value> {
        let mut command = Command::new(self.program);
        command.arg("run").arg(self.target).args(["--yes", "--samples", &samples.to_string()]);
        for case in cases {
            command.args(["--case", case]);
        }
        let Some(memory_bytes) = contract.memory_bytes else { return program::exported(command) };
        let group = ControlGroup::with_memory(memory_bytes)?;
        program::exported(group.with(&command))
    }
}

fn row(
    what: &str,
    other: &Best<'_>,
    ours: &Best<'_>,
    ratio: &Interval,
    share: Option<&str>,
    wanted: Option<&f64>,
) -> String {
    let Interval { estimate, low, high, .. } = ratio;
    let wanted = wanted.map_or("–".to_owned(), |&wanted| {
        format!("{wanted}{}", if *estimate >= wanted { "" } else { " (not reached)" })
    });
    let mut text = String::new();
    let _ = writeln!(
        text,
        "| {what} | `{}` | {:.2} | `{}` | {:.2} | {estimate:.2} [{low:.2}, {high:.2}] | {} | {wanted} |",
        without_size(&other.case.id),
        other.gigabytes_per_s,
        without_size(&ours.case.id),
        ours.gigabytes_per_s,
        share.unwrap_or("–"),
    );
    text
}

#[expect(clippy::cast_precision_loss, reason = "a size of a file")]
fn rate(bytes: u64, median_ns: f64) -> f64 {
    bytes as f64 / median_ns
}

/// The document with that section, which takes the place of one with the same title. Sections that were measured in
/// another manner, which the head tells, go.
fn with_section(head: &str, document: &str, section: &str) -> String {
    const MARK: &str = "\n### ";
    let title = |section: &str| section.trim_start().lines().next().map(str::to_owned);
    let kept = document.strip_prefix(head).unwrap_or_default();
    let mut sections: Vec<String> = kept.split(MARK).skip(1).map(|text| format!("{MARK}{text}")).collect();
    match sections.iter_mut().find(|old| title(old) == title(section)) {
        Some(old) => section.clone_into(old),
        None => sections.push(section.to_owned()),
    }
    head.to_owned() + &sections.concat()
}

/// The machine, as the export has it: its CPU for the title, and the rest.
fn facts_of(export: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    let system = &export["targets"][0]["environment"];
    let (cpu, memory) = (&system["cpu"], system["memory"]["total_bytes"].as_u64().map(Bytes));
    format!(
        "{}\n\n{} CPUs, {} of memory, {}.",
        text(&cpu["model"]),
        cpu["available"],
        memory.map_or("unknown".to_owned(), Bytes::approximate),
        text(&system["system"]["kernel"]),
    )
}

/// The share of the hardware's limit that a case reached.
fn share_of_limit(export: &Value, id: &str) -> Option<String> {
    let case = export["cases"].as_array()?.iter().find(|case| case["id"] == id)?;
    case["estimate"]["limit"]["share"].as_f64().map(|share| format!("{:.0} %", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Axis;

    #[test]
    fn every_contract_has_cases_on_both_sides_and_none_twice() {
        let contracts: Contracts = toml::from_str(include_str!("frontier.toml")).unwrap();
        for contract in &contracts.contract {
            assert!(!contract.programs.is_empty() && !contract.ours.is_empty(), "{}", contract.title);
            let all = contract.programs.iter().chain(&contract.cp).chain(&contract.ours);
            let mut seen = std::collections::HashSet::new();
            assert!(all.clone().all(|case| seen.insert(case)), "{} has a case twice", contract.title);
            for case in all {
                let place = |part: &str| {
                    Axis::ALL
                        .iter()
                        .position(|axis| part.split_once('=').is_some_and(|(name, _)| axis.name() == name))
                };
                let places: Vec<Option<usize>> = case.split(',').skip(1).map(place).collect();
                assert!(!places.contains(&None), "{case} has an unknown axis");
                assert!(places.is_sorted(), "{case} is not found by its name, whose axes have an order");
            }
        }
    }

    #[test]
    fn a_section_takes_the_place_of_its_forerunner() {
        let document = "head\n\n### ext4, A\n\nold\n\n### xfs, A\n\nkept\n";
        let new = "\n### ext4, A\n\nnew\n";
        assert_eq!(with_section("head\n", document, new), "head\n\n### ext4, A\n\nnew\n\n### xfs, A\n\nkept\n");
        let other = "\n### ext4, B\n\nnew\n";
        assert_eq!(with_section("head\n", document, other), format!("{document}{other}"));
        assert_eq!(with_section("other sizes\n", document, new), format!("other sizes\n{new}"));
    }
}
