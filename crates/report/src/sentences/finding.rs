use serde::Serialize;
use writebench_model::{
    CaseRecord, Content, DataSource, Durability, Goal, Keeper, KernelShare, Start, TargetRecord,
    Visibility, Workload,
};
use writebench_stats::{Interval, Verdict};

use crate::numbers::{CaseReport, Estimate, Figure, LimitShare, distinct};
use crate::sentences::metric::Metric;
use crate::sentences::number::{TIMES, or_nothing, range, share, verdict_mark};
use crate::sentences::recommended::bound_percent;
use crate::sentences::words::counted;

/// A line of the first screen in numbers, and the words for its goal and case. Exports have the numbers, and the other
/// formats make its texts from them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finding {
    /// `durable new file`.
    pub goal: String,
    /// The name of the goal that the run answers, for `code --for`. A line of a suite or of a search has none.
    pub goal_name: Option<Goal>,
    /// The case in a programmer's words, or the reason for a missing answer.
    pub description: String,
    /// The same for a column of the first screen, or empty without an answer.
    pub(crate) short: String,
    /// What the contest of an answer compared. None without another case.
    pub(crate) bound: Option<Bound>,
    pub case: Option<String>,
    /// The case's target, if the run has several.
    pub target: Option<String>,
    /// Undisturbed samples behind the value.
    pub samples: usize,
    pub(crate) measured: Option<Measured>,
    /// The comparison with other cases. None if there are no others.
    pub(crate) comparison: Option<Comparison>,
    /// Why there is no answer.
    pub(crate) unanswered: Option<Unanswered>,
    /// Plain write is recommended.
    pub(crate) is_baseline: bool,
    /// What else to know about the case.
    pub notes: Vec<String>,
}

/// How much faster another case could be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    /// No other compared case is faster by more than this ratio, at 95 %.
    pub ratio: f64,
    /// The number of compared cases, with the answer.
    pub compared: u32,
}

/// The quantity that counts for a case. A run can have ten thousand findings, so they have no other values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub metric: &'static Metric,
    pub figure: Option<Figure>,
    pub limit: Option<LimitShare>,
    /// The value with its marks, which are about other samples and bytes.
    value: String,
}

impl Measured {
    fn of(metric: &'static Metric, estimate: &Estimate) -> Self {
        Self {
            metric,
            figure: (metric.figure)(estimate).copied(),
            limit: estimate.limit,
            value: metric.value(estimate),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Comparison {
    /// The ratio to plain write, to the step before, or on several targets to the same case on the first.
    Ratio(RatioToOther),
    /// All others compared with plain write, which is the answer.
    OfPlainWrite { plain: &'static str, others: Others },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RatioToOther {
    pub case: String,
    pub target: String,
    /// The speed over the other case's.
    pub ratio: Interval,
    /// What the number is a multiple of, such as ` the line above`. Empty if a heading says it.
    pub of: &'static str,
}

/// How the others compare with plain write, which is the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "others", rename_all = "kebab-case")]
pub(crate) enum Others {
    None,
    Slower,
    /// Some are faster, but none by 3 %.
    LittleFaster,
    NotFaster,
    Inconclusive,
    TooFewRounds {
        rounds: usize,
    },
    /// No other case is faster by more than this ratio, at 95 %.
    Bounded {
        bound: f64,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Unanswered {
    /// No sample is good.
    NoResult {
        name: String,
        outcome: &'static str,
        reason: Option<String>,
        #[serde(skip)]
        sentence: String,
    },
    NotDurable {
        reason: String,
    },
    /// Plain write, or every other method, has too few of them.
    TooFewSamples {
        usable_samples: usize,
        needed_samples: usize,
    },
    /// A later sample was not good. The value is that of the samples before.
    EndedLater {
        outcome: &'static str,
        reason: String,
    },
    /// The budget ended before the first record.
    NoRecord,
    AllDisturbed,
}

impl Unanswered {
    /// Instead of a case, or as the reason why the case has no rank.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::NoResult { sentence, .. } => format!("no result: {sentence}"),
            Self::NotDurable { reason } => format!("not durable here: {reason}"),
            Self::TooFewSamples {
                usable_samples,
                needed_samples,
            } => format!("{NO_ANSWER_YET}: {usable_samples} of {needed_samples} usable samples"),
            Self::EndedLater { outcome, reason } => format!("it {outcome} later: {reason}"),
            Self::NoRecord => "the budget ended before its first record".to_owned(),
            Self::AllDisturbed => "every sample was disturbed".to_owned(),
        }
    }
}

pub(crate) const NO_ANSWER_YET: &str = "no answer yet";

impl Finding {
    pub(crate) fn none(why: Unanswered) -> Self {
        Self {
            description: why.text(),
            unanswered: Some(why),
            ..Self::default()
        }
    }

    /// A finding about the case that names no goal and no target.
    pub(crate) fn for_case(
        case: &CaseReport,
        estimate: &Estimate,
        comparison: Option<Comparison>,
    ) -> Self {
        Self {
            description: words(&case.record),
            short: short_words(&case.record),
            case: Some(case.record.case.to_string()),
            samples: estimate.samples,
            measured: Some(Measured::of(
                Metric::for_case(&case.record, estimate),
                estimate,
            )),
            comparison,
            ..Self::default()
        }
    }

    /// `durable-stream: durable new file`.
    pub fn heading(&self) -> String {
        let name = self.goal_name.map(|name| format!("{name}: "));
        name.unwrap_or_default() + &self.goal
    }

    /// Empty if there is none.
    pub(crate) fn value(&self) -> String {
        self.text(|measured| measured.value.clone())
    }

    pub(crate) fn unit(&self) -> &'static str {
        self.measured
            .as_ref()
            .map_or("", |measured| measured.metric.unit)
    }

    /// 95% interval, or the range of fewer than six samples.
    pub(crate) fn interval(&self) -> String {
        self.text(|measured| {
            or_nothing(measured.figure.as_ref(), |figure| {
                range(figure, measured.metric.text)
            })
        })
    }

    /// The quantity that counts, and its values.
    pub(crate) fn measured_figure(&self) -> Option<(&'static Metric, &Figure)> {
        let measured = self.measured.as_ref()?;
        Some((measured.metric, measured.figure.as_ref()?))
    }

    /// Share of the hardware's limit.
    pub(crate) fn limit_share(&self) -> String {
        self.text(|measured| or_nothing(measured.limit, |limit| share(limit.share)))
    }

    fn text(&self, text: impl Fn(&Measured) -> String) -> String {
        self.measured.as_ref().map_or(String::new(), text)
    }

    /// Vs. plain write, or with several targets vs. the same case on the first.
    pub(crate) fn speed_ratio(&self) -> String {
        match &self.unanswered {
            Some(why) if self.measured.is_some() => format!("no rank: {}", why.text()),
            _ => or_nothing(self.comparison.as_ref(), Comparison::text),
        }
    }
}

impl Finding {
    /// How many times as fast as plain write an answer is proven to be at least.
    pub(crate) fn gain(&self) -> Option<f64> {
        match &self.comparison {
            Some(Comparison::Ratio(to)) if self.case.is_some() && to.ratio.is_sure() => {
                Some(to.ratio.low)
            }
            _ => None,
        }
    }

    /// Whether no other case has a rank.
    pub(crate) fn is_alone(&self) -> bool {
        let others = match &self.comparison {
            Some(Comparison::OfPlainWrite { others, .. }) => Some(others),
            _ => None,
        };
        others == Some(&Others::None)
    }

    /// The ratio to plain write for a small cell, with the mark of an unproven one. Empty for plain write.
    pub(crate) fn short_ratio(&self) -> String {
        match &self.comparison {
            Some(Comparison::Ratio(to)) if to.ratio.is_sure() => {
                let mark = verdict_mark(to.ratio.verdict());
                format!("{mark}{}x", TIMES.text(to.ratio.estimate))
            }
            Some(Comparison::Ratio(_)) => "?".to_owned(),
            Some(Comparison::OfPlainWrite { .. }) | None => String::new(),
        }
    }
}

impl Comparison {
    pub(crate) fn with(other: &CaseReport, case: &CaseReport, of: &'static str) -> Option<Self> {
        Some(Self::Ratio(RatioToOther {
            case: other.record.case.to_string(),
            target: other.record.target.clone(),
            ratio: other.ratio_to(case)?,
            of,
        }))
    }

    fn text(&self) -> String {
        match self {
            Self::Ratio(to) => compared(&to.ratio, to.of),
            Self::OfPlainWrite { plain, others } => match others {
                Others::None => (*plain).to_owned(),
                Others::Slower => "plain is fastest".to_owned(),
                Others::LittleFaster => "none is 3 % faster".to_owned(),
                Others::NotFaster => "none is faster".to_owned(),
                Others::Inconclusive => "none proven faster".to_owned(),
                Others::TooFewRounds { rounds } => {
                    format!("too few rounds ({rounds})")
                }
                Others::Bounded { bound } => {
                    format!("others ≤ {} % faster", bound_percent(*bound))
                }
            },
        }
    }
}

/// The name of a later version's case, or the command line of a user's program.
pub(crate) fn words(case: &CaseRecord) -> String {
    if let Some(command) = case.program() {
        return format!("your program: {command}");
    }
    let proven = if is_in_kernel_threads(case) {
        " in kernel threads (io-wq)"
    } else {
        ""
    };
    case.case
        .known()
        .map_or_else(|| case.case.to_string(), |known| known.words_with(proven))
}

fn short_words(case: &CaseRecord) -> String {
    let proven = if is_in_kernel_threads(case) {
        " in kernel threads"
    } else {
        ""
    };
    match case.case.known() {
        Some(known) if case.program().is_none() => known.short_words_with(proven),
        _ => words(case),
    }
}

/// Whether the kernel passed most of the work of io_uring to its own threads, where it blocks.
pub(crate) fn is_in_kernel_threads(case: &CaseRecord) -> bool {
    case.kernel_share().is_some_and(KernelShare::is_most)
}

/// `1.33x (1.25 – 1.41)`, with `of` after the number. Too few rounds have no number.
fn compared(ratio: &Interval, of: &str) -> String {
    if !ratio.is_sure() {
        return format!("inconclusive ({})", counted(ratio.count, "round"));
    }
    let factor = format!("{}x{of}", TIMES.text(ratio.estimate));
    match ratio.verdict() {
        Verdict::Faster | Verdict::Slower => {
            format!("{factor} ({})", TIMES.between(ratio.low, ratio.high))
        }
        Verdict::Same => format!("{factor} (same)"),
        Verdict::Inconclusive => format!("{factor} (inconclusive)"),
    }
}

const IN_PAGE_CACHE: &str = ", page cache";

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
        Content::Sparse if workload.source.is_file() => " by copying, with holes",
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
        (Durability::Cached, _) if workload.can_lose_old_content() => workload.danger().to_owned(),
        (Durability::Cached, _) if workload.content.has_own_bytes() => IN_PAGE_CACHE.to_owned(),
        (Durability::Cached, _) => String::new(),
        (Durability::Durable, None) => format!(", {promised}"),
        (Durability::Device, _) => ", on the device".to_owned() + workload.danger(),
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
    let pages = workload.pages_in_words();
    format!("{file}{content}{source}{memory}{checksums}{pages}{kept}")
}
