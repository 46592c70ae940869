//! The answer of a search: the simplest method whose loss against the fastest one tried is probably small.

use std::collections::HashMap;

use serde::Serialize;
use writebench_model::{
    Bytes, Case, Content, DataMemory, Durability, RunRecord, Settings, Source, Stage,
};
use writebench_stats::{CLOSE, Interval, Verdict};

use crate::numbers::{CaseReport, Decided, decided, obstacle};
use crate::sentences::answer::plain;
use crate::sentences::code;
use crate::sentences::finding::{Finding, compared};
use crate::sentences::latency::latency;
use crate::sentences::metric::{Metric, RECORDS, THROUGHPUT};
use crate::sentences::number::{MILLISECONDS, TIMES, or_nothing};
use crate::sentences::recommended::{has_rounds, simpler};
use crate::sentences::words::{NAMED, capitalised, counted, list, quoted};

/// Common rounds for an interval.
const ROUNDS: usize = writebench_stats::FEWEST_FOR_INTERVAL as usize;

const COPIED: &str = "Your data may be anywhere in memory: the time includes its copy to aligned memory, which O_DIRECT needs.";

/// None of fewer than six rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpeedRatio {
    pub value: f64,
    /// Of the 95% interval.
    pub low: f64,
    pub high: f64,
    pub rounds: usize,
    /// Of the case.
    pub verdict: Verdict,
}

impl SpeedRatio {
    fn over(baseline: &CaseReport, case: &CaseReport) -> Option<Self> {
        let ratio = baseline.ratio_to(case).filter(Interval::is_sure)?;
        let Interval {
            estimate: value,
            low,
            high,
            count: rounds,
            ..
        } = ratio;
        Some(Self {
            value,
            low,
            high,
            rounds,
            verdict: ratio.inverse().verdict(),
        })
    }
}

/// Names of cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The simplest method that is probably within 3 % of the fastest.
    pub recommended: String,
    /// No other method compared is faster than the recommended one by more than this ratio, at 95 %.
    pub bound: f64,
    /// None for the baseline, or if it failed.
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
    /// With a sample.
    pub candidates: usize,
    /// Or unsupported.
    pub failed_candidates: usize,
}

impl Advice {
    /// None for a case of a later version.
    pub(crate) fn recommended_case<'c>(&self, cases: &'c [CaseReport]) -> Option<&'c Case> {
        cases
            .iter()
            .find(|case| case.record.case.name() == self.recommended)?
            .record
            .case
            .known()
    }
}

pub(crate) struct Search<'c> {
    pub advice: Advice,
    finals: Vec<&'c CaseReport>,
    baseline: Option<&'c CaseReport>,
    decision: Decided<'c>,
    recommended: &'c CaseReport,
    fastest: &'c CaseReport,
    clone: Option<&'c CaseReport>,
}

impl<'c> Search<'c> {
    /// None for other runs, or with fewer than two cases in the finals.
    pub(crate) fn from_cases(run: &RunRecord, cases: &'c [CaseReport]) -> Option<Self> {
        let cases: Vec<&CaseReport> = cases
            .iter()
            .filter(|case| case.record.origin.is_search())
            .collect();
        let finals: Vec<&CaseReport> = cases
            .iter()
            .copied()
            .filter(|case| case.record.origin.is_stage(Stage::Final))
            .collect();
        let is_baseline = |case: &CaseReport| case.record.origin.is_baseline();
        let (baselines, others): (Vec<&CaseReport>, Vec<&CaseReport>) =
            finals.iter().copied().partition(|case| is_baseline(case));
        let baseline = baselines.first().copied();
        let measured = baseline.filter(|case| case.is_ranked());
        let (clones, ways) = others
            .into_iter()
            .partition(|case| case.record.contract.content == Content::SharedCopy);
        let (ways, clone) = (ranked(ways), ranked(clones).first().copied());
        // A finalist without a rival has not won.
        let fastest = *ways
            .first()
            .filter(|_| ways.len() + usize::from(measured.is_some()) > 1)?;
        let speed_ratio = |case: &CaseReport| SpeedRatio::over(measured?, case);
        let ranked: Vec<&CaseReport> = ways.iter().copied().chain(measured).collect();
        let contenders: Vec<&CaseReport> = finals
            .iter()
            .copied()
            .filter(|case| case.record.contract.content != Content::SharedCopy)
            .collect();
        let decision = decided(run, &contenders)?;
        let recommended = decision.case;
        let near = ranked.into_iter().filter(|case| is_near(case, recommended));
        let name = |case: &CaseReport| case.record.case.to_string();
        // Files have several sizes, a candidate has one label.
        let mut tried: HashMap<&str, bool> = HashMap::new();
        for case in cases.iter().filter(|case| !case.record.samples.is_empty()) {
            let name = case
                .record
                .label
                .as_deref()
                .unwrap_or(case.record.case.name());
            *tried.entry(name).or_default() |= !case.is_ok();
        }
        let advice = Advice {
            recommended: name(recommended),
            bound: decision.bound,
            speed_ratio: speed_ratio(recommended).filter(|_| !is_baseline(recommended)),
            baseline: baseline.map(name).unwrap_or_default(),
            fastest: name(fastest),
            fastest_speed_ratio: speed_ratio(fastest),
            same_or_inconclusive: near.map(name).collect(),
            shared_copy: clone.map(name),
            shared_copy_speed_ratio: clone.and_then(speed_ratio),
            candidates: tried.len(),
            failed_candidates: tried.values().filter(|failed| **failed).count(),
        };
        Some(Self {
            advice,
            finals,
            baseline,
            decision,
            recommended,
            fastest,
            clone,
        })
    }

    /// Steps from plain write to the recommended method, the fastest, and the recommended method with one
    /// choice less. Only measured cases have a line.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let known = |case: &'c CaseReport| case.record.case.known();
        let plain = self.baseline.filter(|case| case.is_ranked());
        // Starts with the fastest, whose missing choice contributes least.
        let simpler = |case: &CaseReport| {
            let simpler = self
                .baseline
                .map_or(Vec::new(), |plain| simpler(case, plain, &self.finals));
            ranked(
                simpler
                    .into_iter()
                    .filter(|case| has_rounds(case))
                    .collect(),
            )
        };
        let line = |goal: &str,
                    way: Option<String>,
                    case: &CaseReport,
                    other: Option<&CaseReport>,
                    how: &str| {
            let ratio = other.and_then(|other| other.ratio_to(case));
            let compared = or_nothing(ratio, |ratio| compared(&ratio).replacen(" ×", how, 1));
            let finding = Finding::for_case(case, case.estimate.as_ref()?, compared);
            Some(Finding {
                goal: goal.to_owned(),
                description: way.unwrap_or(finding.description),
                ..finding
            })
        };
        let beyond = |case, other| {
            known(case)
                .zip(known(other))
                .map_or(String::new(), |(case, other)| case.words_beyond(other))
        };
        let plus = |case, other| Some(format!("+ {}", beyond(case, other)));
        let mut chain: Vec<&CaseReport> = vec![self.recommended];
        while let Some(next) = chain.last().and_then(|last| simpler(last).first().copied()) {
            chain.push(next);
        }
        chain.extend(plain.filter(|plain| !std::ptr::eq(*plain, self.recommended)));
        chain.reverse();
        let mut lines: Vec<Option<Finding>> = Vec::new();
        lines.extend(
            self.clone
                .map(|clone| line("shared blocks", None, clone, plain, " ×")),
        );
        for (index, &case) in chain.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| chain[before]);
            let goal = match before {
                _ if std::ptr::eq(case, self.recommended) => "recommended",
                None => "plain write",
                Some(_) => "step",
            };
            let way = before.and_then(|before| plus(case, before));
            lines.push(line(
                goal,
                way,
                case,
                before,
                if index > 1 { " × more" } else { " ×" },
            ));
        }
        let recommended = Some(self.recommended);
        let is_fastest = |other: &CaseReport| self.fastest.time_ns() < other.time_ns();
        if is_fastest(self.recommended) && plain.is_none_or(is_fastest) {
            let is_step = |(fastest, case): (&Case, &Case)| case.is_part_of(fastest);
            let is_step = known(self.fastest)
                .zip(known(self.recommended))
                .is_some_and(is_step);
            let way = plus(self.fastest, self.recommended).filter(|_| is_step);
            lines.push(line("fastest", way, self.fastest, recommended, " × more"));
        }
        for case in simpler(self.recommended) {
            if !chain.iter().any(|step| std::ptr::eq(*step, case)) {
                let way = format!("− {}", beyond(self.recommended, case));
                lines.push(line("", Some(way), case, recommended, " × of it"));
            }
        }
        lines.into_iter().flatten().collect()
    }

    fn is_another_way(&self) -> bool {
        self.advice.recommended != self.advice.baseline
    }

    /// The recommendation first.
    pub(crate) fn sentences(&self, run: &RunRecord) -> Vec<String> {
        let Advice {
            recommended,
            baseline,
            fastest,
            same_or_inconclusive,
            ..
        } = &self.advice;
        let mut sentences: Vec<String> = self.sharing().into_iter().collect();
        sentences.push(self.recommendation(run.settings.objective.words()));
        sentences.extend(
            self.decision
                .bound_in_words()
                .map(|bound| format!("{}.", capitalised(&bound))),
        );
        if self.is_another_way() && !same_or_inconclusive.is_empty() {
            sentences.push(format!(
                "Same or inconclusive: {}.",
                list(same_or_inconclusive, NAMED)
            ));
        }
        sentences.extend(latency(self.recommended, "The recommended method"));
        sentences.extend(
            self.baseline
                .filter(|_| self.is_another_way())
                .and_then(|plain| latency(plain, "Plain write")),
        );
        sentences.extend(self.needs());
        sentences.extend(self.smaller(&run.settings));
        let target = run.targets.first().map_or(".", |target| &target.path);
        let from = run
            .settings
            .copy_from
            .as_deref()
            .map(|from| format!(" --from {}", quoted(from)));
        let mut check = format!(
            "writebench run {}{} --case {recommended}",
            quoted(target),
            from.unwrap_or_default()
        );
        // The comparison's other case, or the one with the nearest value.
        let other = if self.is_another_way() {
            baseline
        } else {
            fastest
        };
        if !other.is_empty() {
            check += &format!(" --case {other}");
        }
        sentences.push(format!("To check: {check}"));
        let constraints: Vec<String> = run
            .settings
            .constraints
            .iter()
            .map(ToString::to_string)
            .collect();
        if !constraints.is_empty() {
            sentences.push(format!("Constraints: {}.", constraints.join(" ")));
        }
        let language = run.settings.language();
        sentences.extend(
            self.recommended
                .record
                .case
                .known()
                .and_then(|case| code::sentence(case, language)),
        );
        sentences
    }

    /// Requirements on the memory of the data.
    fn needs(&self) -> Option<String> {
        let case = self.recommended.record.case.known()?;
        let needs = match (case.axes().memory, case.staged_bytes() > 0) {
            (DataMemory::PageAligned, _) if case.axes().source == Source::Chunk => {
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

    /// For files of the finals smaller than requested.
    fn smaller(&self, settings: &Settings) -> Option<String> {
        let bytes = self.fastest.record.contract.bytes;
        let asked_bytes = settings.search_bytes.filter(|&asked| asked > bytes)?;
        let times = asked_bytes.div_ceil(bytes.max(1));
        let budget = settings.budget_ns.map(|ns| ns / 1_000_000_000 * times);
        let budget = budget.map_or(String::new(), |seconds| {
            format!(" of about {} min", seconds.div_ceil(60))
        });
        let [of_finals, asked] = [bytes, asked_bytes].map(|bytes| Bytes(bytes).approximate());
        Some(format!(
            "The limits allowed six rounds with {of_finals}, not with {asked}. Use a --budget{budget}, or a larger \
             --max-bytes."
        ))
    }

    /// With its time, because it moves no bytes.
    fn sharing(&self) -> Option<String> {
        let clone = self.clone?;
        let time = MILLISECONDS.text(clone.estimate.as_ref()?.total_ns.value);
        let ratio = self.advice.shared_copy_speed_ratio;
        let gain = ratio.map(|ratio| format!(", {} times as fast", TIMES.text(ratio.value)));
        Some(format!(
            "Copy with shared blocks, as by cp: {}, {time} ms{}. Copy of the bytes:",
            clone.record.case,
            gain.unwrap_or_default()
        ))
    }

    fn recommendation(&self, [fast, faster]: [&str; 2]) -> String {
        let Advice {
            recommended,
            baseline,
            fastest,
            candidates,
            failed_candidates: failed,
            ..
        } = &self.advice;
        let plain = self.baseline.map_or("plain write", plain);
        let interval = |gain: &SpeedRatio| TIMES.between(gain.low, gain.high);
        let (way, why) = match (self.advice.speed_ratio, self.advice.fastest_speed_ratio) {
            (Some(gain), _) if self.is_another_way() => {
                let (times, rounds) = (TIMES.text(gain.value), counted(gain.rounds, "round"));
                let why = format!(
                    "{times} times as {fast} as {plain} ({baseline}), 95% CI {}, {rounds}",
                    interval(&gain)
                );
                (recommended.clone(), format!(", {why}"))
            }
            (None, _) if self.is_another_way() => {
                let why = match self.baseline.filter(|case| case.is_ranked()) {
                    Some(_) => {
                        format!("in fewer than {ROUNDS} common rounds with {plain} ({baseline})")
                    }
                    None => format!("without a result of {plain} ({baseline}) for comparison"),
                };
                (
                    recommended.clone(),
                    format!(", the simplest of the fastest, {why}"),
                )
            }
            (_, gain) => {
                let why = match gain {
                    None => format!(
                        "No method is known to be {faster}: 95 % needs {ROUNDS} common rounds"
                    ),
                    Some(gain) if gain.verdict == Verdict::Faster => {
                        format!("No method was so much {faster} that it pays for its effort")
                    }
                    Some(_) => format!("No method was measurably {faster} here"),
                };
                let failed = if *failed == 0 {
                    String::new()
                } else {
                    format!(", {failed} failed or unsupported")
                };
                let gain = gain.map_or(String::new(), |gain| {
                    let (times, rounds) = (TIMES.text(gain.value), counted(gain.rounds, "round"));
                    format!(", {times} × ({}) in {rounds}", interval(&gain))
                });
                let candidates = counted(*candidates, "candidate");
                let why = format!(". {why} (tried {candidates}{failed}, fastest: {fastest}{gain})");
                (format!("{plain}, {baseline}"), why)
            }
        };
        let is_cached = self.recommended.record.contract.durability == Durability::Cached;
        let place = if is_cached { " in the page cache" } else { "" };
        format!(
            "Recommended: {way}, at {}{place}{why}.",
            self.figure().unwrap_or_default()
        )
    }

    /// Records per second for records, otherwise throughput, or the quantity to minimize.
    fn figure(&self) -> Option<String> {
        // Some cases make records durable without a request.
        let is_about_records = self
            .finals
            .iter()
            .all(|case| case.record.contract.durable_every_bytes.is_some());
        let estimate = self.recommended.estimate.as_ref()?;
        let metric = Metric::for_case(&self.recommended.record, estimate);
        let metric = if metric.unit == RECORDS.unit && !is_about_records {
            &THROUGHPUT
        } else {
            metric
        };
        Some(format!(
            "{} {}",
            metric.text.text((metric.figure)(estimate)?.value),
            metric.unit
        ))
    }
}

/// Another case within 3 %, or not distinguishable.
fn is_near(case: &CaseReport, other: &CaseReport) -> bool {
    let is_close = |ratio: Interval| {
        (ratio.estimate - 1.0).abs() <= CLOSE - 1.0 || !ratio.verdict().is_difference()
    };
    case.record.case != other.record.case && case.ratio_to(other).is_some_and(is_close)
}

/// With the obstacle: more time or bytes help only against their limits.
pub(crate) fn without_advice(run: &RunRecord, cases: &[CaseReport]) -> String {
    let looked_at: Vec<&CaseReport> = cases
        .iter()
        .filter(|case| !case.record.samples.is_empty())
        .collect();
    let is_final = |case: &&CaseReport| case.record.origin.is_stage(Stage::Final);
    let finals: Vec<&CaseReport> = looked_at.iter().copied().filter(is_final).collect();
    // The only finalist may have its rounds, and no rival.
    let found = obstacle(run, &finals).or_else(|| obstacle(run, &looked_at));
    match found.map(|obstacle| (obstacle.is_too_few_rounds(), obstacle)) {
        Some((true, obstacle)) => {
            format!(
                "The search ended too early for advice: {}. {}",
                obstacle.cause(),
                obstacle.remedy()
            )
        }
        Some((false, obstacle)) => {
            format!("No advice: {}. {}", obstacle.cause(), obstacle.remedy())
        }
        None => "The search ended too early for advice.".to_owned(),
    }
}

/// The fastest first. Cases of few rounds are left out if any case has enough, because only chance makes them as
/// fast.
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
