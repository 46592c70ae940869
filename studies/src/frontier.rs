//! Compares the best of the five programs' methods with the best of writebench's, for each workload.
//!
//! One run chooses the best, and another measures them. Otherwise the luck of the choice would be in the ratio.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use writebench_model::{Bytes, Case, CaseError, Environment};
use writebench_stats::{Interval, as_f64};
use writebench_testkit::ControlGroup;

use crate::export::{Clock, Measured, environment, measured, result, without_size};
use crate::program::{Bench, exported};
use crate::target::{Targets, filesystem, is_memory};

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
    /// Only the workloads with this text in their title
    #[arg(long = "only", value_name = "TEXT")]
    only: Vec<String>,
    /// Also write the tables to this file, which keeps those of other machines and filesystems
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workloads {
    workload: Vec<Workload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    title: String,
    /// The run has this limit of memory, and files that are four times as large.
    memory_bytes: Option<u64>,
    programs: Vec<String>,
    #[serde(default)]
    cp: Vec<String>,
    ours: Vec<String>,
    #[serde(default)]
    may_share_blocks: bool,
    /// Each filesystem has its own wanted ratio.
    wanted: BTreeMap<String, f64>,
    #[serde(default)]
    wanted_of_cp: BTreeMap<String, f64>,
}

impl Workload {
    fn cases(&self, size: Bytes) -> Result<Candidates, CaseError> {
        let size = match self.memory_bytes {
            Some(memory) => Bytes(memory * 4),
            None => size,
        };
        Ok(Candidates {
            programs: sized(&self.programs, size)?,
            cp: sized(&self.cp, size)?,
            ours: sized(&self.ours, size)?,
        })
    }

    fn measure(&self, bench: Bench<'_>, cases: &[Case], samples: u32) -> Result<Value> {
        let command = bench.run(cases, samples);
        let Some(memory_bytes) = self.memory_bytes else {
            return exported(command);
        };
        exported(ControlGroup::with_memory(memory_bytes)?.with(&command))
    }

    /// Memory is not durable, and holds no file larger than itself.
    fn is_possible_in_memory(&self) -> bool {
        let is_durable = self.programs.iter().all(|case| case.contains("sync="));
        !is_durable && self.memory_bytes.is_none()
    }
}

struct Candidates {
    programs: Vec<Case>,
    cp: Vec<Case>,
    /// Only writebench has these.
    ours: Vec<Case>,
}

fn sized(names: &[String], size: Bytes) -> Result<Vec<Case>, CaseError> {
    names
        .iter()
        .map(|name| Case::parse(name)?.with_size(size.0))
        .collect()
}

struct Finalists {
    theirs: Case,
    cp: Option<Case>,
    ours: Case,
}

impl Finalists {
    fn cases(&self) -> Vec<Case> {
        let all = [&self.theirs, &self.ours].into_iter().chain(&self.cp);
        let different: HashSet<&Case> = all.collect();
        different.into_iter().cloned().collect()
    }
}

pub(crate) fn run(options: &Options) -> Result<bool> {
    /// A copy needs room for its source and metadata, too.
    const IMAGE_SIZES: u64 = 5;
    let workloads: Workloads =
        toml::from_str(include_str!("frontier.toml")).context("frontier.toml")?;
    let image_size = Bytes(options.size.0.saturating_mul(IMAGE_SIZES));
    options.targets.each("frontier", image_size, |bench| {
        let (section, is_reached) = options.compare(bench, &workloads.workload)?;
        if let Some(file) = &options.markdown {
            let before = std::fs::read_to_string(file).unwrap_or_default();
            let text = with_section(&options.head(), &before, &section);
            std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
        }
        Ok(is_reached)
    })
}

impl Options {
    fn head(&self) -> String {
        let Self {
            samples,
            rounds,
            size,
            ..
        } = self;
        format!(
            include_str!("frontier.md"),
            samples = samples,
            rounds = rounds,
            size = size.approximate()
        )
    }

    fn names(&self, workload: &Workload) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| workload.title.contains(text))
    }

    fn compare(&self, bench: Bench<'_>, workloads: &[Workload]) -> Result<(String, bool)> {
        let in_memory = is_memory(bench.target)?;
        let wanted = workloads.iter().filter(|workload| {
            self.names(workload) && (!in_memory || workload.is_possible_in_memory())
        });
        let mut section = Section::new(filesystem(bench.target));
        for workload in wanted {
            let Some(finalists) = self.finalists(bench, workload)? else {
                continue;
            };
            let export = workload.measure(bench, &finalists.cases(), self.rounds)?;
            section.add(workload, &finalists, &export)?;
        }
        Ok((section.text(), section.is_reached))
    }

    /// The fastest case of each side. None if no case of one side could be measured.
    fn finalists(&self, bench: Bench<'_>, workload: &Workload) -> Result<Option<Finalists>> {
        let Candidates { programs, cp, ours } = workload.cases(self.size)?;
        let all = [&programs[..], &cp, &ours].concat();
        let mut measured = measured(&workload.measure(bench, &all, self.samples)?)?;
        // Sharing blocks is another workload than copying bytes.
        measured.retain(|case| workload.may_share_blocks || !shares_blocks(case));
        let Some(theirs) = fastest(&measured, &programs) else {
            return Ok(None);
        };
        if fastest(&measured, &ours).is_none() {
            return Ok(None);
        }
        // The programs' methods are also writebench's.
        let either = fastest(&measured, &[programs, ours].concat());
        Ok(either.map(|ours| Finalists {
            theirs,
            cp: fastest(&measured, &cp),
            ours,
        }))
    }
}

fn shares_blocks(case: &Measured) -> bool {
    let mut samples = case.samples.iter();
    samples.any(|sample| sample.shares_blocks == Some(true))
}

fn fastest(measured: &[Measured], group: &[Case]) -> Option<Case> {
    let of_group = measured.iter().filter(|case| group.contains(&case.case));
    let fastest = of_group.min_by(|a, b| a.value_ns.total_cmp(&b.value_ns))?;
    Some(fastest.case.clone())
}

/// A section of the document is about one filesystem.
struct Section {
    kind: String,
    /// The facts about the machine and the run. None before the first comparison.
    facts: Option<String>,
    rows: String,
    is_reached: bool,
}

impl Section {
    fn new(kind: String) -> Self {
        Self {
            kind,
            facts: None,
            rows: String::new(),
            is_reached: true,
        }
    }

    fn add(&mut self, workload: &Workload, finalists: &Finalists, export: &Value) -> Result<()> {
        if self.facts.is_none() {
            self.facts = Some(facts_of(export)?);
        }
        let cases = measured(export)?;
        let ours = result(&cases, &finalists.ours)?;
        let theirs = result(&cases, &finalists.theirs)?;
        let wanted = workload.wanted.get(&self.kind);
        self.add_row(&workload.title, theirs, ours, wanted)?;
        if let Some(cp) = &finalists.cp {
            let title = format!("{}, vs. cp", workload.title);
            let wanted = workload.wanted_of_cp.get(&self.kind);
            self.add_row(&title, result(&cases, cp)?, ours, wanted)?;
        }
        Ok(())
    }

    fn add_row(
        &mut self,
        title: &str,
        other: &Measured,
        ours: &Measured,
        wanted: Option<&f64>,
    ) -> Result<()> {
        let ratio = other.ratio(ours, Clock::Total)?;
        // Disks differ, so a lower ratio than wanted is only printed.
        self.is_reached &= ratio.high >= 1.0;
        let row = row(title, other, ours, &ratio, wanted);
        print!("{}: {row}", self.kind);
        self.rows += &row;
        Ok(())
    }

    fn text(&self) -> String {
        let Self {
            kind, facts, rows, ..
        } = self;
        let facts = facts.as_deref().unwrap_or_default();
        format!(
            "\n### {kind}, {facts}\n\n\
             | workload | the programs' best | GB/s | the best here | GB/s | times as fast | of limit | wanted |\n\
             |---|---|---|---|---|---|---|---|\n{rows}"
        )
    }
}

fn row(
    what: &str,
    other: &Measured,
    ours: &Measured,
    ratio: &Interval,
    wanted: Option<&f64>,
) -> String {
    let Interval {
        estimate,
        low,
        high,
        ..
    } = ratio;
    let times = format!("{estimate:.2} [{low:.2}, {high:.2}]");
    let of_limit = match ours.limit_share {
        Some(share) => format!("{:.0} %", share * 100.0),
        None => "–".to_owned(),
    };
    let wanted = match wanted {
        Some(wanted) if estimate < wanted => format!("{wanted} (not reached)"),
        Some(wanted) => wanted.to_string(),
        None => "–".to_owned(),
    };
    format!(
        "| {what} | {} | {} | {times} | {of_limit} | {wanted} |\n",
        name_and_speed(other),
        name_and_speed(ours)
    )
}

fn name_and_speed(Measured { case, value_ns, .. }: &Measured) -> String {
    let gb_per_s = as_f64(case.given().size_bytes) / value_ns;
    format!("`{}` | {gb_per_s:.2}", without_size(case))
}

/// Replaces the section of the same title. Another head means other settings, so it removes all sections.
fn with_section(head: &str, document: &str, section: &str) -> String {
    const MARK: &str = "\n### ";
    let kept = document.strip_prefix(head).unwrap_or_default();
    let mut sections: Vec<String> = kept
        .split(MARK)
        .skip(1)
        .map(|text| format!("{MARK}{text}"))
        .collect();
    match sections.iter_mut().find(|old| title(old) == title(section)) {
        Some(old) => section.clone_into(old),
        None => sections.push(section.to_owned()),
    }
    head.to_owned() + &sections.concat()
}

fn title(section: &str) -> Option<&str> {
    section.trim_start().lines().next()
}

fn facts_of(export: &Value) -> Result<String> {
    let Environment {
        cpu,
        memory,
        system,
        ..
    } = environment(export)?;
    let [version, started] =
        ["version", "started"].map(|key| export["run"][key].as_str().unwrap_or("unknown"));
    Ok(format!(
        "{}\n\n{} CPUs, {} of memory, {}. Version {}, {}.",
        cpu.model.as_deref().unwrap_or("unknown"),
        cpu.available,
        Bytes(memory.total_bytes).approximate(),
        system.kernel,
        version,
        started.split('T').next().unwrap_or(started),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_has_cases_on_both_sides_and_none_twice() {
        let workloads: Workloads = toml::from_str(include_str!("frontier.toml")).unwrap();
        for workload in &workloads.workload {
            let Candidates { programs, cp, ours } = workload.cases(Bytes(1 << 30)).unwrap();
            assert!(
                !programs.is_empty() && !ours.is_empty(),
                "{}",
                workload.title
            );
            let all = [programs, cp, ours].concat();
            let different: HashSet<&Case> = all.iter().collect();
            assert_eq!(
                different.len(),
                all.len(),
                "{} has a case twice",
                workload.title
            );
        }
    }

    #[test]
    fn a_section_replaces_one_of_the_same_title() {
        let document = "head\n\n### ext4, A\n\nold\n\n### xfs, A\n\nkept\n";
        let new = "\n### ext4, A\n\nnew\n";
        assert_eq!(
            with_section("head\n", document, new),
            "head\n\n### ext4, A\n\nnew\n\n### xfs, A\n\nkept\n"
        );
        let other = "\n### ext4, B\n\nnew\n";
        assert_eq!(
            with_section("head\n", document, other),
            format!("{document}{other}")
        );
        assert_eq!(
            with_section("other sizes\n", document, new),
            format!("other sizes\n{new}")
        );
    }
}
