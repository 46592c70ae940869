use serde::Serialize;
use writebench_model::{
    CaseRecord, Content, DataSource, Durability, Keeper, Start, TargetRecord, Visibility, Workload,
};
use writebench_stats::{Interval, Verdict};

use crate::numbers::{CaseReport, Estimate, distinct};
use crate::sentences::metric::Metric;
use crate::sentences::number::{NOTHING, TIMES, or_nothing, share};
use crate::sentences::words::counted;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Finding {
    /// `durable new file`.
    pub goal: String,
    /// In a programmer's words, or the reason for a missing answer.
    pub description: String,
    pub case: Option<String>,
    /// With several targets.
    pub target: Option<String>,
    /// Empty if there is none.
    pub value: String,
    pub unit: &'static str,
    /// 95% interval, or the range of fewer than six samples.
    pub interval: String,
    /// Undisturbed samples behind the value.
    pub samples: usize,
    /// Vs. plain write, or with several targets vs. the same case on the first.
    pub speed_ratio: String,
    /// Share of the hardware's limit.
    pub limit_share: String,
    /// Plain write is recommended.
    #[serde(skip)]
    pub(crate) is_baseline: bool,
}

impl Finding {
    pub(crate) fn none(why: &str) -> Self {
        Self {
            description: why.to_owned(),
            speed_ratio: NOTHING.to_owned(),
            ..Self::default()
        }
    }

    /// Without a goal and target.
    pub(crate) fn for_case(case: &CaseReport, estimate: &Estimate, speed_ratio: String) -> Self {
        let metric = Metric::for_case(&case.record, estimate);
        Self {
            description: words(&case.record),
            case: Some(case.record.case.to_string()),
            value: metric.value(estimate),
            unit: metric.unit,
            interval: metric.interval(estimate),
            samples: estimate.samples,
            speed_ratio,
            limit_share: or_nothing(estimate.limit, |limit| share(limit.share)),
            ..Self::default()
        }
    }
}

/// The name of a later version's case, or the command line of a user's program.
pub(crate) fn words(case: &CaseRecord) -> String {
    if let Some(command) = case.program() {
        return format!("your program: {command}");
    }
    case.case
        .known()
        .map_or_else(|| case.case.to_string(), writebench_model::Case::words)
}

/// Too few rounds have no number.
pub(crate) fn compared(ratio: &Interval) -> String {
    if !ratio.is_sure() {
        return format!("inconclusive ({})", counted(ratio.count, "round"));
    }
    let factor = TIMES.text(ratio.estimate);
    match ratio.verdict() {
        Verdict::Faster | Verdict::Slower => {
            format!("{factor} × ({})", TIMES.between(ratio.low, ratio.high))
        }
        Verdict::Same => format!("{factor} × (same)"),
        Verdict::Inconclusive => format!("{factor} × (inconclusive)"),
    }
}

pub(crate) const IN_PAGE_CACHE: &str = ", page cache";

/// Who promises that durable data is kept: the disks of the targets, or others.
pub(crate) fn promised<'t>(targets: impl IntoIterator<Item = &'t TargetRecord>) -> &'static str {
    let keepers = targets
        .into_iter()
        .filter(|target| target.loses_data().is_none())
        .map(TargetRecord::keeper);
    match distinct(keepers, |keeper| *keeper).as_slice() {
        [] => Keeper::Disk.words(),
        [keeper] => keeper.words(),
        _ => "as each target promises",
    }
}

/// `promised`: of the targets whose answer it is.
pub(crate) fn goal(workload: &Workload, target: Option<&TargetRecord>, promised: &str) -> String {
    let is_device = target.is_some_and(|target| target.environment.filesystem.is_block_device());
    let is_durable =
        workload.durability == Durability::Durable && workload.durable_every_bytes.is_none();
    let durable = if is_durable { "durable " } else { "" };
    let start = match (workload.start, workload.visibility) {
        (Start::Existing, Visibility::Complete) => "replaced",
        (Start::New, Visibility::Complete) => "complete new",
        (start, Visibility::Partial) => start.name(),
    };
    let size = workload.file_size.filter(|_| workload.files > 1);
    let size = size.map_or(String::new(), |size| format!(" of {}", size.in_words()));
    let file = match workload.files {
        _ if is_device => format!("{durable}device"),
        1 => format!("{durable}{start} file"),
        files => format!("{files} {durable}{start} files{size}"),
    };
    let content = match workload.content {
        Content::Random => &workload.zeros_in_words(),
        Content::Zero => " of zeros",
        Content::Copy => " by copying",
        Content::SharedCopy => " by sharing blocks",
        Content::Sparse => " with holes",
        Content::Reserved => ", blocks only",
        Content::Hole => ", length only",
        Content::Nothing => ", no data",
    };
    let source = match workload.source {
        DataSource::Memory | DataSource::WarmFile => "",
        DataSource::Chunk => " from one buffer",
        DataSource::ColdFile => " a cold one",
    };
    let memory = workload
        .memory
        .words()
        .map_or(String::new(), |words| format!(" {words}"));
    let kept = match (workload.durability, workload.durable_every_bytes) {
        (Durability::Cached, _) if workload.content.has_own_bytes() => IN_PAGE_CACHE.to_owned(),
        (Durability::Cached, _) => String::new(),
        (Durability::Durable, None) => format!(", {promised}"),
        (Durability::Device, _) => ", on the device".to_owned(),
        (Durability::Durable, Some(_)) if promised == Keeper::Disk.words() => {
            format!(", {}", workload.durability_in_words())
        }
        (Durability::Durable, Some(_)) => {
            format!(", {} {promised}", workload.durability_in_words())
        }
    };
    let checksums = workload
        .checksums
        .words()
        .map_or(String::new(), |words| format!(" {words}"));
    format!("{file}{content}{source}{memory}{checksums}{kept}")
}
