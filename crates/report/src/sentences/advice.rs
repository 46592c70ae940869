//! The answer of a search: the simplest method whose loss against the fastest one tried is probably small.

use std::collections::HashMap;

use serde::Serialize;
use writebench_model::{
    Bytes, Case, Content, DataMemory, Durability, RunRecord, Settings, Source, Stage,
};
use writebench_stats::{CLOSE, Interval, Verdict};

use crate::numbers::{CaseReport, Decided, before_samples, decided, obstacle, usable};
use crate::sentences::answer::plain;
use crate::sentences::code;
use crate::sentences::finding::{Comparison, Finding};
use crate::sentences::kernel;
use crate::sentences::latency::latency;
use crate::sentences::metric::{Metric, RECORDS, THROUGHPUT};
use crate::sentences::number::{MILLISECONDS, TIMES};
use crate::sentences::recommended::{has_rounds, simpler};
use crate::sentences::words::{NAMED, capitalised, counted, listed, quoted};

/// The least number of common rounds for an interval.
const ROUNDS: usize = writebench_stats::FEWEST_FOR_INTERVAL as usize;

const COPIED: &str = "Your data may be anywhere in memory: the time includes its copy to aligned memory, which O_DIRECT needs.";

/// A case's speed over the baseline's, from at least six common rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpeedRatio {
    pub value: f64,
    /// The lower end of the 95% interval.
    pub low: f64,
    pub high: f64,
    pub rounds: usize,
    /// What the ratio says of the case.
    pub verdict: Verdict,
}

impl SpeedRatio {
    /// The ratio is None without a baseline, and from fewer than six rounds.
    fn over(baseline: Option<&CaseReport>, case: &CaseReport) -> Option<Self> {
        let ratio = baseline?.ratio_to(case).filter(Interval::is_sure)?;
        Some(Self {
            value: ratio.estimate,
            low: ratio.low,
            high: ratio.high,
            rounds: ratio.count,
            verdict: ratio.inverse().verdict(),
        })
    }
}

/// The answer of a search in the names of cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The simplest method that is probably within 3 % of the fastest.
    pub recommended: String,
    /// No other method compared is faster than the recommended one by more than this ratio, at 95 %.
    pub bound: f64,
    /// The recommended case's speed over the baseline's. It is None if the baseline is recommended, or failed.
    pub speed_ratio: Option<SpeedRatio>,
    pub baseline: String,
    /// The largest gain in the finals, without the baseline.
    pub fastest: String,
    pub fastest_speed_ratio: Option<SpeedRatio>,
    /// Finalists that are as fast as the recommended case, or not distinguishable from it.
    pub same_or_inconclusive: Vec<String>,
    /// The fastest copy that shares blocks with the source, as cp's may.
    pub shared_copy: Option<String>,
    pub shared_copy_speed_ratio: Option<SpeedRatio>,
    /// The number of candidates with a sample.
    pub candidates: usize,
    /// The number of candidates that failed or are unsupported.
    pub failed_candidates: usize,
}

impl Advice {
    /// The recommended case, if this version knows its method and values.
    pub(crate) fn recommended_case<'c>(&self, cases: &'c [CaseReport]) -> Option<&'c Case> {
        cases
            .iter()
            .find(|case| case.record.case.name() == self.recommended)?
            .record
            .case
            .known()
    }
}

/// A finished search, with the cases behind its advice.
pub(crate) struct Search<'c> {
    pub advice: Advice,
    finals: Vec<&'c CaseReport>,
    baseline: Option<&'c CaseReport>,
    decision: Decided<'c>,
    recommended: &'c CaseReport,
    fastest: &'c CaseReport,
    shared_copy: Option<&'c CaseReport>,
}

impl<'c> Search<'c> {
    /// The search is None for other runs, and if it had fewer than two cases in its finals.
    pub(crate) fn from_cases(run: &RunRecord, cases: &'c [CaseReport]) -> Option<Self> {
        let finals: Vec<&CaseReport> = cases
            .iter()
            .filter(|case| case.record.origin.is_stage(Stage::Final))
            .collect();
        let baseline = finals.iter().copied().find(|case| is_baseline(case));
        let ranked_baseline = baseline.filter(|case| case.is_ranked());
        let (shared_copies, ways): (Vec<&CaseReport>, Vec<&CaseReport>) = finals
            .iter()
            .copied()
            .filter(|case| !is_baseline(case))
            .partition(|case| is_shared_copy(case));
        let shared_copy = ranked(shared_copies).first().copied();
        let ways = ranked(ways);
        // A finalist without a rival has not won.
        let rivals = ways.len() + usize::from(ranked_baseline.is_some());
        let fastest = *ways.first().filter(|_| rivals > 1)?;
        let contenders: Vec<&CaseReport> = finals
            .iter()
            .copied()
            .filter(|case| !is_shared_copy(case))
            .collect();
        let decision = decided(run, &contenders)?;
        let recommended = decision.case;
        let near = ways
            .into_iter()
            .chain(ranked_baseline)
            .filter(|case| is_near(case, recommended));
        let has_failed = failures_by_candidate(cases);
        let advice = Advice {
            recommended: name(recommended),
            bound: decision.bound,
            speed_ratio: SpeedRatio::over(ranked_baseline, recommended)
                .filter(|_| !is_baseline(recommended)),
            baseline: baseline.map(name).unwrap_or_default(),
            fastest: name(fastest),
            fastest_speed_ratio: SpeedRatio::over(ranked_baseline, fastest),
            same_or_inconclusive: near.map(name).collect(),
            shared_copy: shared_copy.map(name),
            shared_copy_speed_ratio: shared_copy
                .and_then(|copy| SpeedRatio::over(ranked_baseline, copy)),
            candidates: has_failed.len(),
            failed_candidates: has_failed.values().filter(|failed| **failed).count(),
        };
        Some(Self {
            advice,
            finals,
            baseline,
            decision,
            recommended,
            fastest,
            shared_copy,
        })
    }

    fn ranked_baseline(&self) -> Option<&'c CaseReport> {
        self.baseline.filter(|case| case.is_ranked())
    }

    /// Steps from plain write to the recommended method, the fastest, and the recommended method with one
    /// choice less. Only measured cases have a line.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let steps = self.steps();
        let mut findings: Vec<Finding> = Vec::new();
        findings.extend(self.shared_copy_finding());
        for (index, case) in steps.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| steps[before]);
            let of = if index > 1 { " the line above" } else { "" };
            findings.extend(self.step_finding(case, before, of));
        }
        findings.extend(self.fastest_finding());
        for case in self.with_one_choice_less(self.recommended) {
            if !steps.iter().any(|step| std::ptr::eq(*step, case)) {
                let lost = Some(lost_choice(self.recommended, case));
                let recommended = Some(self.recommended);
                findings.extend(finding("", lost, case, recommended, OF_RECOMMENDED));
            }
        }
        findings
    }

    /// The cases from plain write to the recommended method. Each has one choice more than the one before, or several if
    /// the run did not prove what a single one contributes.
    fn steps(&self) -> Vec<&'c CaseReport> {
        let mut proven: Vec<&'c CaseReport> = Vec::new();
        for case in self.all_steps() {
            let is_end = std::ptr::eq(case, self.recommended);
            let is_proven = proven
                .last()
                .is_none_or(|before| case.verdict_to(before).is_difference());
            if is_end || is_proven {
                proven.push(case);
            }
        }
        proven
    }

    fn all_steps(&self) -> Vec<&'c CaseReport> {
        let mut steps = vec![self.recommended];
        let mut last = self.recommended;
        // The fastest is next, because its missing choice contributes least.
        while let Some(next) = self.with_one_choice_less(last).first().copied() {
            steps.push(next);
            last = next;
        }
        let plain = self
            .ranked_baseline()
            .filter(|plain| !std::ptr::eq(*plain, self.recommended));
        steps.extend(plain);
        steps.reverse();
        steps
    }

    /// The measured cases that have one choice less than this one. The fastest is first.
    fn with_one_choice_less(&self, case: &CaseReport) -> Vec<&'c CaseReport> {
        let Some(baseline) = self.baseline else {
            return Vec::new();
        };
        let mut cases = simpler(case, baseline, &self.finals);
        cases.retain(|case| has_rounds(case));
        ranked(cases)
    }

    fn shared_copy_finding(&self) -> Option<Finding> {
        let plain = self.ranked_baseline();
        finding("shared blocks", None, self.shared_copy?, plain, "")
    }

    fn step_finding(
        &self,
        case: &CaseReport,
        before: Option<&CaseReport>,
        of: &'static str,
    ) -> Option<Finding> {
        let goal = match before {
            _ if std::ptr::eq(case, self.recommended) => "recommended",
            _ if is_baseline(case) => "plain write",
            _ => "step",
        };
        let added = before.map(|before| added_choices(case, before));
        finding(goal, added, case, before, of)
    }

    /// The fastest case, if it is faster than the recommended one and plain write.
    fn fastest_finding(&self) -> Option<Finding> {
        let is_fastest = self.is_slower_than_fastest(self.recommended)
            && self
                .ranked_baseline()
                .is_none_or(|plain| self.is_slower_than_fastest(plain));
        if !is_fastest {
            return None;
        }
        let is_step = match (known(self.fastest), known(self.recommended)) {
            (Some(fastest), Some(recommended)) => recommended.is_part_of(fastest),
            _ => false,
        };
        let added = is_step.then(|| added_choices(self.fastest, self.recommended));
        let recommended = Some(self.recommended);
        finding(
            "best measured",
            added,
            self.fastest,
            recommended,
            OF_RECOMMENDED,
        )
    }

    fn is_slower_than_fastest(&self, case: &CaseReport) -> bool {
        self.fastest.time_ns() < case.time_ns()
    }

    fn is_another_way(&self) -> bool {
        self.advice.recommended != self.advice.baseline
    }

    /// The recommendation, what it needs, and how to check it.
    pub(crate) fn sentences(&self, run: &RunRecord) -> Vec<String> {
        let mut sentences: Vec<String> = self.sharing().into_iter().collect();
        let words = run.settings.objective.words();
        sentences.push(self.recommendation(words));
        let [_, better] = words;
        let bound = self.decision.bound_in_words(better);
        sentences.extend(bound.map(|bound| format!("{}.", capitalised(&bound))));
        sentences.extend(self.near());
        sentences.extend(latency(self.recommended, "The recommended method"));
        if self.is_another_way() {
            let plain = self.baseline;
            sentences.extend(plain.and_then(|plain| latency(plain, "Plain write")));
        }
        sentences.extend(kernel::notes(run, self.recommended));
        sentences.extend(self.needs());
        sentences.extend(self.smaller_files(&run.settings));
        sentences.push(self.check(run));
        sentences.extend(constraints(&run.settings));
        let language = run.settings.language();
        sentences.extend(known(self.recommended).and_then(|case| code::sentence(case, language)));
        sentences
    }

    fn near(&self) -> Option<String> {
        let near = &self.advice.same_or_inconclusive;
        (self.is_another_way() && !near.is_empty())
            .then(|| format!("Same or inconclusive:{}", listed(near, NAMED)))
    }

    /// A command that measures the recommended method beside the comparison's other case, or beside the one with the
    /// nearest value.
    fn check(&self, run: &RunRecord) -> String {
        let target = run.targets.first().map_or(".", |target| &target.path);
        let from = run
            .settings
            .copy_from
            .as_deref()
            .map_or(String::new(), |from| format!(" --from {}", quoted(from)));
        let recommended = &self.advice.recommended;
        let other = if self.is_another_way() {
            &self.advice.baseline
        } else {
            &self.advice.fastest
        };
        let other = if other.is_empty() {
            String::new()
        } else {
            format!(" --case {other}")
        };
        format!(
            "To repeat this comparison:\n  writebench run {}{from} --case {recommended}{other}",
            quoted(target)
        )
    }

    /// What the recommended method needs of the memory of the data.
    fn needs(&self) -> Option<String> {
        let case = known(self.recommended)?;
        let needs = match (case.given().memory, case.staged_bytes() > 0) {
            (DataMemory::PageAligned, _) if case.given().source == Source::Chunk => {
                return Some("Your code fills one buffer, which begins at a page.".to_owned());
            }
            (DataMemory::Any, false) => return None,
            (DataMemory::Any, true) => return Some(COPIED.to_owned()),
            (DataMemory::PageAligned, _) => "at the start of a page",
            (DataMemory::HugePages, _) => "in huge pages, by madvise(MADV_HUGEPAGE)",
        };
        Some(format!(
            "It needs your data {needs}: for data from malloc, search again without --data-from."
        ))
    }

    /// What to do if the files were smaller than the goal's own, because the limits did not pay for those.
    fn smaller_files(&self, settings: &Settings) -> Option<String> {
        let bytes = self.fastest.record.workload.bytes;
        let requested_bytes = settings
            .search_bytes
            .filter(|&requested| requested > bytes)?;
        let times = requested_bytes.div_ceil(bytes.max(1));
        let budget_s = settings.budget_ns.map(|ns| ns / 1_000_000_000 * times);
        let budget = budget_s.map_or(String::new(), |seconds| {
            format!(" of about {} min", seconds.div_ceil(60))
        });
        let size = Bytes(bytes).approximate();
        let requested = Bytes(requested_bytes).approximate();
        let argument = Bytes(requested_bytes);
        Some(format!(
            "The limits do not pay for files of {requested}, so this answer is for {size}. For the larger ones, use \
             --size {argument} with a --budget{budget}, or a larger --max-bytes."
        ))
    }

    /// The fastest copy with shared blocks, with its time instead of a throughput, because it moves no bytes.
    fn sharing(&self) -> Option<String> {
        let copy = self.shared_copy?;
        let time = MILLISECONDS.text(copy.estimate.as_ref()?.total_ns.value);
        let ratio = self.advice.shared_copy_speed_ratio;
        let gain = ratio.map(|ratio| format!(", {} times as fast", TIMES.text(ratio.value)));
        Some(format!(
            "Copy with shared blocks, as by cp: {}, {time} ms{}. Copy of the bytes:",
            copy.record.case,
            gain.unwrap_or_default()
        ))
    }

    fn recommendation(&self, [fast, faster]: [&str; 2]) -> String {
        let plain = self.baseline.map_or("plain write", plain);
        let Advice {
            recommended,
            baseline,
            ..
        } = &self.advice;
        let (way, why) = if self.is_another_way() {
            (recommended.clone(), self.why_another_way(plain, fast))
        } else {
            (format!("{plain}, {baseline}"), self.why_plain(faster))
        };
        let workload = &self.recommended.record.workload;
        let is_cached = workload.durability == Durability::Cached;
        let place = if is_cached { " in the page cache" } else { "" };
        let danger = workload.danger();
        format!(
            "Recommended: {way}, at {}{place}{danger}{why}.",
            self.value_with_unit().unwrap_or_default()
        )
    }

    fn why_another_way(&self, plain: &str, fast: &str) -> String {
        let baseline = &self.advice.baseline;
        if let Some(gain) = &self.advice.speed_ratio {
            let times = TIMES.text(gain.value);
            let interval = TIMES.between(gain.low, gain.high);
            let rounds = counted(gain.rounds, "round");
            let doubt = if gain.verdict.is_difference() {
                ""
            } else {
                ", so the gain is not proven"
            };
            return format!(
                ", {times} times as {fast} as {plain} ({baseline}), 95% CI {interval}, {rounds}{doubt}"
            );
        }
        let why = if self.ranked_baseline().is_some() {
            format!("in fewer than {ROUNDS} common rounds with {plain} ({baseline})")
        } else {
            format!("without a result of {plain} ({baseline}) for comparison")
        };
        format!(", the simplest of the fastest, {why}")
    }

    fn why_plain(&self, faster: &str) -> String {
        let Advice {
            fastest,
            fastest_speed_ratio,
            candidates,
            failed_candidates,
            ..
        } = &self.advice;
        let why = match fastest_speed_ratio {
            None => {
                format!("No method is known to be {faster}: 95 % needs {ROUNDS} common rounds")
            }
            Some(gain) if gain.verdict == Verdict::Faster => {
                format!("No method was so much {faster} that it pays for its effort")
            }
            Some(_) => format!("No method was measurably {faster} here"),
        };
        let failed = match failed_candidates {
            0 => String::new(),
            failed => format!(", {failed} failed or unsupported"),
        };
        let gain = fastest_speed_ratio.map_or(String::new(), |gain| {
            let times = TIMES.text(gain.value);
            let interval = TIMES.between(gain.low, gain.high);
            let rounds = counted(gain.rounds, "round");
            format!(", {times} × ({interval}) in {rounds}")
        });
        let candidates = counted(*candidates, "candidate");
        format!(". {why} (tried {candidates}{failed}, fastest: {fastest}{gain})")
    }

    /// The recommended case's value: records per second for records, otherwise throughput, or the quantity to minimize.
    fn value_with_unit(&self) -> Option<String> {
        // Some cases make records durable without a request.
        let is_about_records = self
            .finals
            .iter()
            .all(|case| case.record.workload.durable_every_bytes.is_some());
        let estimate = self.recommended.estimate.as_ref()?;
        let metric = Metric::for_case(&self.recommended.record, estimate);
        let metric = if metric.unit == RECORDS.unit && !is_about_records {
            &THROUGHPUT
        } else {
            metric
        };
        let value = (metric.figure)(estimate)?.value;
        Some(format!("{} {}", metric.text.text(value), metric.unit))
    }
}

fn name(case: &CaseReport) -> String {
    case.record.case.to_string()
}

fn known(case: &CaseReport) -> Option<&Case> {
    case.record.case.known()
}

fn is_baseline(case: &CaseReport) -> bool {
    case.record.origin.is_baseline()
}

fn is_shared_copy(case: &CaseReport) -> bool {
    case.record.workload.content == Content::SharedCopy
}

/// Whether each candidate failed in any of its cases. Files have several sizes, and a candidate has one label for all
/// of them.
fn failures_by_candidate(cases: &[CaseReport]) -> HashMap<&str, bool> {
    let tried = cases
        .iter()
        .filter(|case| case.record.origin.is_search() && !case.record.samples.is_empty());
    let mut has_failed: HashMap<&str, bool> = HashMap::new();
    for case in tried {
        let label = case.record.label.as_deref();
        let candidate = label.unwrap_or(case.record.case.name());
        *has_failed.entry(candidate).or_default() |= !case.is_ok();
    }
    has_failed
}

/// What the last lines of the steps are compared with.
const OF_RECOMMENDED: &str = " the recommended";

/// A line about the case, with its ratio to `other`, which `of` names unless a heading does.
fn finding(
    goal: &str,
    description: Option<String>,
    case: &CaseReport,
    other: Option<&CaseReport>,
    of: &'static str,
) -> Option<Finding> {
    let comparison = other.and_then(|other| Comparison::with(other, case, of));
    let finding = Finding::for_case(case, case.estimate.as_ref()?, comparison);
    Some(Finding {
        goal: goal.to_owned(),
        description: description.unwrap_or(finding.description),
        ..finding
    })
}

/// The choices of the case that the other does not make, in words.
fn choices_beyond(case: &CaseReport, other: &CaseReport) -> String {
    match (known(case), known(other)) {
        (Some(case), Some(other)) => case.words_beyond(other),
        _ => String::new(),
    }
}

/// `+ fallocate(2) first`, or `pwrite(2) instead of write(2)`, which adds nothing.
fn added_choices(case: &CaseReport, before: &CaseReport) -> String {
    let sign = if has_same_method(case, before) {
        "+ "
    } else {
        ""
    };
    format!("{sign}{}", choices_beyond(case, before))
}

/// `− fallocate(2) first`, or `write(2) instead of pwrite(2)`.
fn lost_choice(recommended: &CaseReport, case: &CaseReport) -> String {
    if has_same_method(recommended, case) {
        format!("− {}", choices_beyond(recommended, case))
    } else {
        choices_beyond(case, recommended)
    }
}

fn has_same_method(a: &CaseReport, b: &CaseReport) -> bool {
    known(a).map(Case::method) == known(b).map(Case::method)
}

fn constraints(settings: &Settings) -> Option<String> {
    let constraints: Vec<String> = settings
        .constraints
        .iter()
        .map(ToString::to_string)
        .collect();
    (!constraints.is_empty()).then(|| format!("Constraints: {}.", constraints.join(" ")))
}

/// Whether the other is a different case, and within 3 % or not distinguishable.
fn is_near(case: &CaseReport, other: &CaseReport) -> bool {
    let Some(ratio) = case.ratio_to(other) else {
        return false;
    };
    let is_close = (ratio.estimate - 1.0).abs() <= CLOSE - 1.0;
    case.record.case != other.record.case && (is_close || !ratio.verdict().is_difference())
}

/// Why a search has no advice, with the obstacle, because more time or bytes help only against their limits.
pub(crate) fn without_advice(run: &RunRecord, cases: &[CaseReport]) -> String {
    let measured: Vec<&CaseReport> = cases
        .iter()
        .filter(|case| !case.record.samples.is_empty())
        .collect();
    let finals: Vec<&CaseReport> = measured
        .iter()
        .copied()
        .filter(|case| case.record.origin.is_stage(Stage::Final))
        .collect();
    // The only finalist may have its rounds, and no rival.
    let found = obstacle(run, &needed(&finals))
        .or_else(|| obstacle(run, &finals))
        .or_else(|| obstacle(run, &measured));
    let obstacle = match found {
        Some(obstacle) => obstacle,
        None if measured.is_empty() => before_samples(run),
        None => return "The search ended too early for advice.".to_owned(),
    };
    let beginning = if obstacle.is_too_few_rounds() {
        "The search ended too early for advice"
    } else {
        "No advice"
    };
    format!("{beginning}: {}. {}", obstacle.cause(), obstacle.remedy())
}

/// The cases that an answer lacks least: plain write, and the other with the most usable samples. All cases if none of
/// the others works.
fn needed<'c>(finals: &[&'c CaseReport]) -> Vec<&'c CaseReport> {
    let others = finals
        .iter()
        .copied()
        .filter(|case| !is_baseline(case) && case.is_ok());
    let Some(best) = others.max_by_key(|case| usable(case)) else {
        return finals.to_vec();
    };
    let baselines = finals.iter().copied().filter(|case| is_baseline(case));
    baselines.chain([best]).collect()
}

/// The ranked cases. The fastest is first. Cases of few rounds are left out if any case has enough, because only chance
/// makes them as fast.
fn ranked(mut cases: Vec<&CaseReport>) -> Vec<&CaseReport> {
    let is_any_sure = cases
        .iter()
        .any(|case| case.is_ranked() && has_rounds(case));
    cases.retain(|case| case.is_ranked() && has_rounds(case) >= is_any_sure);
    cases.sort_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
    cases
}

#[cfg(test)]
mod tests;
