//! The same writes as jobs of [fio](https://fio.readthedocs.io).

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::Path;

use writebench_model::{Axis, RecordedCase};
use writebench_snippets::fio::{self, Job, WRITES};

use super::{MARK, RenderedFiles};
use crate::numbers::{CaseReport, Figure, PHASES, distinct};
use crate::sentences::{GIGABYTES_PER_S, Report, counted, free_name, milliseconds, range};

/// The file that lists all cases, with reasons for missing jobs.
pub(super) const README: &str = "README";

/// A job for each case and target, and the [`README`].
pub(super) fn files(report: &Report, directory: &Path) -> RenderedFiles {
    let cases = distinct(&report.cases, |case| {
        (&case.record.target, case.record.case.name())
    });
    let mut used_names = HashSet::new();
    let mut files = Vec::new();
    let mut listed = Vec::new();
    let mut left_out = Vec::new();
    for case in &cases {
        match job_on(report, case) {
            Ok(job) => {
                let name = file_name(&case.name, &mut used_names);
                listed.push(format!("{name}: {}", one_line(&case.name)));
                files.push((name.clone(), text(report, case, &name, &job)));
            }
            Err(why) => left_out.push(format!("{}: {}", one_line(&case.name), one_line(&why))),
        }
    }
    files.push((README.to_owned(), readme(report, &listed, &left_out)));
    let note = (!left_out.is_empty()).then(|| {
        format!(
            "No fio job for {} of {}: see {}.",
            left_out.len(),
            counted(cases.len(), "case"),
            directory.join(README).display()
        )
    });
    RenderedFiles { files, note }
}

fn job_on(report: &Report, case: &CaseReport) -> Result<Job, String> {
    if case
        .target(&report.run)
        .is_some_and(|target| target.environment.filesystem.is_block_device())
    {
        return Err("fio would overwrite the device without asking".to_owned());
    }
    let recorded = &case.record.case;
    recorded
        .known()
        .ok_or_else(|| unknown(recorded))
        .and_then(fio::job)
}

fn unknown(case: &RecordedCase) -> String {
    match case
        .axes()
        .keys()
        .find(|axis| Axis::from_name(axis).is_none())
    {
        Some(axis) => format!("axis {axis} is unknown here"),
        None => format!(
            "method {} or one of its values is unknown here",
            case.method()
        ),
    }
}

fn file_name(case: &str, used_names: &mut HashSet<String>) -> String {
    const MOST_LETTERS: usize = 200;
    let stem: String = case
        .replace(" on ", "@")
        .chars()
        .map(plain_letter)
        .take(MOST_LETTERS)
        .collect();
    free_name(stem.trim_matches('-'), used_names) + ".fio"
}

fn plain_letter(letter: char) -> char {
    if letter.is_ascii_alphanumeric() || "=,@-_".contains(letter) {
        letter
    } else {
        '-'
    }
}

fn readme(report: &Report, jobs: &[String], left_out: &[String]) -> String {
    let mut text = format!(
        "Jobs for fio, {MARK} {}, with the writes of a run of {}.\n\
         Run one in directory DIR: fio --directory=DIR FILE.\n",
        report.run.version, report.run.started
    );
    for (heading, lines) in [("Jobs", jobs), ("Cases without a job", left_out)] {
        if !lines.is_empty() {
            text += &format!("\n{heading} ({}):\n\n{}\n", lines.len(), lines.join("\n"));
        }
    }
    text
}

fn text(report: &Report, case: &CaseReport, name: &str, job: &Job) -> String {
    let head = head(report, case, name, job);
    let head: String = head
        .iter()
        .map(|line| format!("# {}\n", one_line(line)))
        .collect();
    head + GLOBAL + &job.sections
}

/// The options of all jobs. Different from fio's defaults, they change nothing in the page cache, and align the memory
/// to pages.
const GLOBAL: &str = "
[global]
rw=write
thread=1
overwrite=0
invalidate=0
fadvise_hint=0
mem_align=4096
randrepeat=1
refill_buffers=0
";

fn head(report: &Report, case: &CaseReport, name: &str, job: &Job) -> Vec<String> {
    let run = &report.run;
    let number = report
        .number
        .map_or(String::new(), |number| format!("run {number}, "));
    let kind = case
        .target(run)
        .map_or("", |target| target.environment.filesystem.kind.as_str());
    let mut lines = vec![
        format!(
            "A job for fio, {MARK} {}, of {number}{}",
            run.version, run.started
        ),
        format!("{} on {} ({kind}):", case.record.case, case.record.target),
    ];
    lines.extend(result_lines(case));
    lines.extend([
        format!("Run it in directory DIR: fio --directory=DIR {name}"),
        format!(
            "Compare fio's results of sections {WRITES}-…. Its clock starts after the file's preparation and stops before close:"
        ),
        "bw= includes open, write and sync, latencies include write and sync.".to_owned(),
        "fio removes the file at the end. After an interruption, remove writebench-sample* first.".to_owned(),
    ]);
    if !job.differences.is_empty() {
        lines.push("Differences:".to_owned());
        lines.extend(
            job.differences
                .iter()
                .map(|difference| format!("- {difference}")),
        );
    }
    lines
}

fn result_lines(case: &CaseReport) -> Vec<String> {
    let Some(estimate) = &case.estimate else {
        let why = case.reason.as_deref().unwrap_or("no good sample");
        return vec![format!("no result: {}: {why}", case.outcome_name())];
    };
    let phases =
        PHASES.map(|(name, ns)| format!("{name} {}", milliseconds(ns(&estimate.phases_ns))));
    let total = gigabytes_per_s(&estimate.throughput_bytes_per_s);
    let write_alone = gigabytes_per_s(&estimate.write_alone_bytes_per_s);
    let samples = counted(estimate.samples, "sample");
    let interval = if estimate.total_ns.low.is_some() {
        "95% CI"
    } else {
        "their range"
    };
    let mut lines = vec![
        format!("total {total}, write alone {write_alone}"),
        format!("values from {samples}, with {interval} (GB = 10^9 bytes)"),
        format!("phases in ms: {}", phases.join(", ")),
    ];
    if estimate.truncated_samples > 0 {
        lines.push(format!(
            "writebench's time was limited: at least {} bytes were written",
            estimate.bytes
        ));
    }
    if estimate.all_disturbed {
        lines.push("all samples were disturbed".to_owned());
    }
    lines
}

/// `4.70 GB/s (4.51 – 4.83)`.
fn gigabytes_per_s(figure: &Figure) -> String {
    format!(
        "{} GB/s ({})",
        GIGABYTES_PER_S.text(figure.value),
        range(figure, &GIGABYTES_PER_S)
    )
}

/// The text as a line that is short enough for fio, which reads at most 4095 bytes as a line, and the rest as the next
/// one.
fn one_line(text: &str) -> String {
    const MOST_LETTERS: usize = 900;
    let line: String = text
        .chars()
        .take(MOST_LETTERS)
        .map(without_control)
        .collect();
    if text.chars().nth(MOST_LETTERS).is_some() {
        line + "…"
    } else {
        line
    }
}

fn without_control(letter: char) -> char {
    if letter.is_control() {
        '\u{fffd}'
    } else {
        letter
    }
}
