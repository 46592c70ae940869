//! The rows of the first screen, by what a power loss does to their data.

use writebench_model::{Bytes, Content, Durability, Keeper, RunRecord, Workload};

use crate::numbers::distinct;
use crate::sentences::answer::WorkloadAnswer;
use crate::sentences::finding::promised;
use crate::sentences::goal_word::label;
use crate::sentences::words::counted;

/// Goals whose data is equally safe, with their answers on each target.
pub(crate) struct Group<'a> {
    pub heading: String,
    pub rows: Vec<Row<'a>>,
}

/// A goal, or one of its sizes.
pub(crate) struct Row<'a> {
    pub label: String,
    /// One for each target that has the goal.
    pub answers: Vec<&'a WorkloadAnswer>,
}

/// The answers of a run of goals, those in the page cache first.
pub(crate) fn groups<'a>(answers: &'a [WorkloadAnswer], run: &RunRecord) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for kept in [Durability::Cached, Durability::Device, Durability::Durable] {
        let answers: Vec<&WorkloadAnswer> = answers
            .iter()
            .filter(|answer| answer.workload.durability == kept)
            .collect();
        if !answers.is_empty() {
            groups.push(Group {
                heading: heading(kept, run),
                rows: rows(&answers),
            });
        }
    }
    groups
}

/// What a power loss does to the data.
fn heading(kept: Durability, run: &RunRecord) -> String {
    let are_in_memory = run
        .targets
        .iter()
        .all(|target| target.environment.filesystem.is_in_memory());
    match kept {
        Durability::Cached if are_in_memory => "In memory: lost if the power fails".to_owned(),
        Durability::Cached => "In the page cache: lost if the power fails".to_owned(),
        Durability::Device => "On the device, maybe in its write cache".to_owned(),
        Durability::Durable => match promised(&run.targets) {
            disk if disk == Keeper::Disk.words() => "On the disk: survives a power loss".to_owned(),
            keeper => format!("Synced: survives a power loss {keeper}"),
        },
    }
}

fn rows<'a>(answers: &[&'a WorkloadAnswer]) -> Vec<Row<'a>> {
    let workloads = distinct(answers.iter().copied(), |answer| &answer.workload);
    workloads
        .iter()
        .map(|first| {
            let with_same_label: Vec<&Workload> = workloads
                .iter()
                .filter(|other| label_of(other) == label_of(first))
                .map(|other| &other.workload)
                .collect();
            Row {
                label: label_of(first) + &details(&first.workload, &with_same_label),
                answers: answers
                    .iter()
                    .copied()
                    .filter(|answer| answer.workload == first.workload)
                    .collect(),
            }
        })
        .collect()
}

fn label_of(answer: &WorkloadAnswer) -> String {
    let finding = &answer.finding;
    finding
        .goal_name
        .map_or_else(|| finding.goal.clone(), |goal| label(goal).to_owned())
}

/// What distinguishes the workload from others with its label: `, 64 KiB`, ` without checksums`.
fn details(workload: &Workload, others: &[&Workload]) -> String {
    let mut text = String::new();
    if others.len() < 2 {
        return text;
    }
    if workload.file_size.is_none() && workload.files > 1 {
        text += &format!(", {} files", workload.files);
    }
    text += &match workload.content {
        Content::Random => workload.zeros_in_words(),
        Content::Zero => " of zeros".to_owned(),
        Content::SharedCopy => ", shared blocks".to_owned(),
        Content::Sparse => " with holes".to_owned(),
        _ => String::new(),
    };
    for words in [workload.memory.words(), workload.checksums.words()] {
        text += &words.map_or(String::new(), |words| format!(" {words}"));
    }
    if others.iter().any(|other| other.bytes != workload.bytes) {
        text += &format!(", {}", Bytes(workload.bytes).in_words());
    }
    text
}

/// `64 MiB files`, of the goals that write a single file. None if there are only others.
pub(crate) fn file_sizes(answers: &[WorkloadAnswer]) -> Option<String> {
    let sizes = answers
        .iter()
        .map(|answer| &answer.workload)
        .filter(|workload| workload.file_size.is_none() && workload.durable_every_bytes.is_none())
        .map(|workload| workload.bytes);
    let least = sizes.clone().min()?;
    let most = sizes.max()?;
    let least = if least == most {
        String::new()
    } else {
        format!("{} to ", Bytes(least).approximate())
    };
    Some(format!("{least}{} files", Bytes(most).approximate()))
}

/// The sizes of logs and of sets of files, which are smaller: `Log: 1024 records of 4 KiB. Many files: 256 of 16 KiB.`
pub(crate) fn other_sizes(answers: &[WorkloadAnswer]) -> Option<String> {
    let workloads = distinct(answers.iter().map(|answer| &answer.workload), |workload| {
        (
            workload.bytes,
            workload.files,
            workload.durable_every_bytes,
            workload.pages,
        )
    });
    let mut sentences: Vec<String> = Vec::new();
    for workload in workloads {
        if let Some(pages) = workload.pages {
            let each = pages.bytes.max(1);
            let commit = workload.durable_every_bytes.unwrap_or(workload.bytes) / each;
            sentences.push(format!(
                "Pages: {} of {}, {commit} in a commit.",
                workload.bytes / each,
                Bytes(each).in_words()
            ));
        } else if let Some(every) = workload.durable_every_bytes.filter(|&every| every > 0) {
            let records = counted(
                usize::try_from(workload.bytes / every).unwrap_or(usize::MAX),
                "record",
            );
            sentences.push(format!("Log: {records} of {}.", Bytes(every).in_words()));
        } else if let Some(size) = workload.file_size.filter(|_| workload.files > 1) {
            sentences.push(format!(
                "Many files: {} of {}.",
                workload.files,
                size.in_words()
            ));
        } else if workload.file_size.is_some() {
            sentences.push(format!(
                "Replaced file: {}.",
                Bytes(workload.bytes).in_words()
            ));
        }
    }
    let sentences = distinct(sentences, Clone::clone);
    (!sentences.is_empty()).then(|| sentences.join(" "))
}
