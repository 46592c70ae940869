use writebench_model::{
    Bytes, Case, Goal, Outcome, RunRecord, RunStatus, Sample, TargetRecord, Workload,
};
use writebench_stats::{FEWEST_FOR_INTERVAL, Interval, Verdict, as_f64, grouped};

use crate::numbers::{
    CaseReport, Decided, Estimate, by_workload, decided, distinct, is_baseline, obstacle, usable,
};
use crate::sentences::finding::{
    Bound, Comparison, Finding, NO_ANSWER_YET, Others, Unanswered, goal, promised,
};
use crate::sentences::goal_word::word;
use crate::sentences::kernel;
use crate::sentences::latency::latency;
use crate::sentences::metric::Metric;
use crate::sentences::number::{TIMES, share};
use crate::sentences::question::question;
use crate::sentences::recommended::simpler;
use crate::sentences::warning::case_sentence;
use crate::sentences::words::{NAMED, capitalised, counted, counted_range, listed};

/// What a run says about a workload: its best case, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadAnswer {
    pub workload: Workload,
    /// A line on the first screen.
    pub finding: Finding,
    pub sentence: String,
    /// Verdicts on other cases. They are empty without an answer.
    pub certainty: String,
}

/// An answer before it has its question.
#[derive(Default)]
struct Answer {
    finding: Finding,
    sentence: String,
    certainty: String,
}

type CasesOfWorkload<'c> = (&'c Workload, Vec<&'c CaseReport>);

/// Whether each target has answers of its own.
pub(crate) fn are_for_each_target(run: &RunRecord, cases: &[CaseReport]) -> bool {
    is_of_goals(cases) && run.is_side_by_side()
}

fn is_of_goals(cases: &[CaseReport]) -> bool {
    cases.iter().all(|case| case.record.origin.is_of_goal())
}

/// An answer for each workload, or, for two targets, for each workload on each target. Workloads without a sample are
/// left out, unless all are.
pub(crate) fn answers(run: &RunRecord, cases: &[CaseReport]) -> Vec<WorkloadAnswer> {
    answers_by(run, cases, are_for_each_target(run, cases))
}

/// An answer for each workload on each target, however many targets there are.
pub(crate) fn answers_on_each_target(run: &RunRecord, cases: &[CaseReport]) -> Vec<WorkloadAnswer> {
    answers_by(run, cases, true)
}

fn answers_by(
    run: &RunRecord,
    cases: &[CaseReport],
    is_for_each_target: bool,
) -> Vec<WorkloadAnswer> {
    let mut workloads = by_workload(cases);
    if workloads.iter().any(|(_, cases)| is_measured(cases)) {
        workloads.retain(|(_, cases)| is_measured(cases));
    }
    let has_several_sizes = have_several_sizes(&workloads);
    if is_for_each_target {
        workloads = workloads.into_iter().flat_map(by_target).collect();
        if workloads.iter().any(|(_, cases)| is_measured(cases)) {
            workloads.retain(|(_, cases)| is_measured(cases));
        }
    }
    let compares_targets = run.is_side_by_side() && !is_for_each_target;
    let mut answers = Vec::new();
    for (workload, cases) in workloads {
        let mut answer = WorkloadAnswer::for_workload(workload, run, cases, compares_targets);
        // A set's goal has the number and the size of its files.
        if has_several_sizes && workload.files <= 1 {
            answer.finding.goal += &format!(", {}", Bytes(workload.bytes).in_words());
        }
        answers.push(answer);
    }
    answers
}

fn is_measured(cases: &[&CaseReport]) -> bool {
    cases.iter().any(|case| !case.record.samples.is_empty())
}

/// Whether files of the same kind have different sizes. Files of records are smaller than those of other goals, which
/// needs no words, and pages have a file of their own.
fn have_several_sizes(workloads: &[CasesOfWorkload<'_>]) -> bool {
    let (of_records, others): (Vec<&Workload>, Vec<&Workload>) = workloads
        .iter()
        .map(|(workload, _)| *workload)
        .filter(|workload| workload.pages.is_none())
        .partition(|workload| workload.durable_every_bytes.is_some());
    [of_records, others].iter().any(|workloads| {
        workloads
            .windows(2)
            .any(|pair| pair[0].bytes != pair[1].bytes)
    })
}

fn by_target((workload, cases): CasesOfWorkload<'_>) -> Vec<CasesOfWorkload<'_>> {
    grouped(cases, |case| case.record.target.clone())
        .into_iter()
        .map(|(_, cases)| (workload, cases))
        .collect()
}

impl WorkloadAnswer {
    fn for_workload(
        workload: &Workload,
        run: &RunRecord,
        cases: Vec<&CaseReport>,
        compares_targets: bool,
    ) -> Self {
        // A case may be in several tables. Cases without a value are last.
        let mut cases: Vec<&CaseReport> = distinct(cases, |case| &case.name);
        cases.sort_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
        let target = run
            .targets
            .iter()
            .find(|target| target.name == cases[0].record.target)
            .filter(|_| !compares_targets);
        let first_target = run.targets.first().filter(|_| compares_targets);
        let Answer {
            mut finding,
            sentence,
            certainty,
        } = Answer::for_cases(run, &cases, first_target);
        let promised = match target {
            Some(target) => promised([target]),
            None => promised(&run.targets),
        };
        finding.goal = goal(workload, target, promised);
        finding.goal_name = run.goal_of(&cases[0].record);
        if let Some(target) = target.filter(|_| run.is_side_by_side()) {
            finding.target = Some(target.name.clone());
        }
        let sentence = format!("{}: {sentence}", question(workload, target, promised));
        Self {
            workload: workload.clone(),
            finding,
            sentence,
            certainty,
        }
    }

    /// The sentence and its certainty, after the name of the goal, if it has one.
    pub fn text(&self) -> String {
        let name = self.finding.goal_name;
        let name = name.map_or(String::new(), |name| format!("{name}: "));
        format!("{name}{} {}", self.sentence, self.certainty)
            .trim_end()
            .to_owned()
    }
}

impl Answer {
    /// The answer from the cases of a workload, by time. The best case is compared with the same case on
    /// `first_target`, if there is one.
    fn for_cases(
        run: &RunRecord,
        cases: &[&CaseReport],
        first_target: Option<&TargetRecord>,
    ) -> Self {
        let mut ranked: Vec<&CaseReport> = cases
            .iter()
            .copied()
            .filter(|case| case.is_ranked() && !case.is_screening())
            .collect();
        let is_of_goal = cases.iter().all(|case| case.record.origin.is_of_goal());
        let decision = if is_of_goal {
            decided(run, cases)
        } else {
            None
        };
        if let Some(decision) = decision {
            // The sort is stable.
            ranked.sort_by_key(|case| !std::ptr::eq(*case, decision.case));
        }
        match ranked.as_slice() {
            [] => Self::without_rank(cases),
            _ if is_of_goal && decision.is_none() => Self::not_yet(run, cases),
            [best, others @ ..] => {
                let ranked = Self::with_rank(best, others, cases.len(), first_target, decision);
                ranked.with_notes(kernel::notes(run, best))
            }
        }
    }

    /// `cases` is the number of cases with and without a rank.
    fn with_rank(
        best: &CaseReport,
        others: &[&CaseReport],
        cases: usize,
        first_target: Option<&TargetRecord>,
        decision: Option<Decided<'_>>,
    ) -> Self {
        let Some(estimate) = &best.estimate else {
            return Self::default();
        };
        let is_plain = is_baseline(best);
        // Another target is another question.
        let same_target: Vec<&CaseReport> = others
            .iter()
            .copied()
            .filter(|case| case.record.target == best.record.target)
            .collect();
        let is_baseline_of_others = is_plain && !same_target.is_empty();
        let baseline = same_target
            .into_iter()
            .find(|case| is_baseline(case) && !is_plain);
        let ratio_to_baseline = baseline.and_then(|baseline| baseline.ratio_to(best));
        let comparison = match (first_target, baseline) {
            (Some(first), _) => with_target(best, others, &first.name),
            (None, Some(baseline)) => Comparison::with(baseline, best, ""),
            (None, None) => is_plain.then(|| Comparison::OfPlainWrite {
                plain: plain(best),
                others: match &decision {
                    Some(decision) => others_than_answer(best, others, decision),
                    None => others_than_fastest(best, others),
                },
            }),
        };
        let bound = decision.as_ref().filter(|decision| decision.compared > 1);
        let finding = Finding {
            bound: bound.map(|decision| Bound {
                ratio: decision.bound,
                compared: decision.compared,
            }),
            target: first_target.map(|_| best.record.target.clone()),
            is_baseline: is_plain && first_target.is_none() && best.record.origin.is_of_goal(),
            ..Finding::for_case(best, estimate, comparison)
        };
        let worth = worth(best, estimate, is_baseline_of_others, ratio_to_baseline);
        let latency = latency(best, "It").map_or(String::new(), |latency| format!(" {latency}"));
        Self {
            finding,
            sentence: format!("{}{worth}.{latency}", value_in_words(best, estimate)),
            certainty: certainty_with_bound(best, others, cases, decision),
        }
    }

    fn with_notes(mut self, notes: Vec<String>) -> Self {
        for note in &notes {
            self.sentence += &format!(" {note}");
        }
        self.finding.notes = notes;
        self
    }

    /// A value without a rank, or the reason why there is none.
    fn without_rank(cases: &[&CaseReport]) -> Self {
        let first = cases[0];
        let Some(estimate) = &first.estimate else {
            let why = case_sentence(first);
            let more = match cases.len() - 1 {
                0 => String::new(),
                more => format!(", and {} without a result", counted(more, "more case")),
            };
            return Self {
                // It stands in the column of the fastest methods.
                finding: Finding::none(Unanswered::NoResult {
                    name: first.record.case.to_string(),
                    outcome: first.outcome_name(),
                    reason: first.reason.clone(),
                    sentence: why.clone(),
                }),
                sentence: format!("no answer. {why}{more}."),
                certainty: String::new(),
            };
        };
        let why = why_unranked(first, estimate);
        let text = why.text();
        let (it_is, finding) = match why {
            Unanswered::NotDurable { .. } => ("it is ", Finding::none(why)),
            _ => (
                "",
                Finding {
                    case: None,
                    unanswered: Some(why),
                    ..Finding::for_case(first, estimate, None)
                },
            ),
        };
        Self {
            finding,
            sentence: format!("{}, without a rank.", value_in_words(first, estimate)),
            certainty: format!("Not ranked, because {it_is}{text}."),
        }
    }

    /// The samples do not suffice: those of plain write, or those of all others.
    fn not_yet(run: &RunRecord, cases: &[&CaseReport]) -> Self {
        let baseline = cases
            .iter()
            .copied()
            .find(|case| is_baseline(case) && !case.is_out());
        let (whose, count, lacking) = match baseline {
            Some(baseline) => (plain(baseline), usable(baseline), vec![baseline]),
            None => {
                let most = cases.iter().map(|case| usable(case)).max();
                ("any method", most.unwrap_or(0), cases.to_vec())
            }
        };
        let why = obstacle(run, &lacking)
            .map_or(String::new(), |obstacle| format!(" {}", obstacle.text()));
        Self {
            finding: Finding::none(Unanswered::TooFewSamples {
                usable_samples: count,
                needed_samples: FEWEST_FOR_INTERVAL as usize,
            }),
            sentence: format!(
                "{NO_ANSWER_YET}: an answer needs {FEWEST_FOR_INTERVAL} usable samples of {whose}, and has {count}.{why}"
            ),
            certainty: String::new(),
        }
    }
}

/// Verdicts on the other cases, after the bound on their speed if a contest decided.
fn certainty_with_bound(
    best: &CaseReport,
    others: &[&CaseReport],
    cases: usize,
    decision: Option<Decided<'_>>,
) -> String {
    let certainty = match cases {
        1 => "No other case for comparison.".to_owned(),
        _ if others.is_empty() => "No other ranked case for comparison.".to_owned(),
        _ if best.record.origin.is_of_goal() => gains_of_choices(best, others),
        _ => certainty(best, others),
    };
    match decision
        .as_ref()
        .and_then(|decided| decided.bound_in_words("faster"))
    {
        Some(bound) => format!("{}. {certainty}", capitalised(&bound)),
        None => certainty,
    }
}

/// What each choice of the recommended case contributes, from the cases that lack one.
fn gains_of_choices(best: &CaseReport, others: &[&CaseReport]) -> String {
    let baseline = others
        .iter()
        .copied()
        .find(|other| is_baseline(other))
        .unwrap_or(best);
    let losses: Vec<String> = simpler(best, baseline, others)
        .into_iter()
        .filter_map(|other| loss(best, other))
        .collect();
    if !losses.is_empty() {
        return format!(
            "{}With one choice less, you get:{}",
            faster_with_effort(best, others),
            listed(&losses, losses.len())
        );
    }
    // The bound is about all others together, and needs fewer rounds than the interval of a ratio.
    if others.iter().any(|other| is_sure(best, other)) {
        certainty(best, others)
    } else {
        format!(
            "Too few rounds for the interval of a single ratio: {}, and 6 are needed.",
            rounds(best, others)
        )
    }
}

/// `0.80 × the speed (0.78 – 0.83) with write,size=1MiB`.
fn loss(best: &CaseReport, other: &CaseReport) -> Option<String> {
    let ratio = best.ratio_to(other).filter(Interval::is_sure)?;
    let ends = TIMES.between(ratio.low, ratio.high);
    Some(format!(
        "{} × the speed ({ends}) with {}",
        TIMES.text(ratio.estimate),
        other.record.case
    ))
}

/// The first of the other cases that is proven to be faster, as a sentence and a space.
fn faster_with_effort(best: &CaseReport, others: &[&CaseReport]) -> String {
    let faster = others
        .iter()
        .find(|other| other.verdict_to(best) == Verdict::Faster)
        .and_then(|faster| Some((faster, best.ratio_to(faster)?)));
    faster.map_or(String::new(), |(faster, ratio)| {
        format!(
            "{} is {} times as fast, with more effort. ",
            faster.record.case,
            TIMES.text(ratio.estimate)
        )
    })
}

/// What the best case's value is worth: its ratio to the baseline, and its share of the limit.
fn worth(
    best: &CaseReport,
    estimate: &Estimate,
    is_baseline_of_others: bool,
    ratio_to_baseline: Option<Interval>,
) -> String {
    let plain = plain(best);
    let mut text = if is_baseline_of_others {
        format!(", {plain}")
    } else {
        String::new()
    };
    if let Some(ratio) = &ratio_to_baseline {
        let factor = TIMES.text(ratio.estimate);
        let ends = TIMES.between(ratio.low, ratio.high);
        text += &match ratio.verdict() {
            Verdict::Faster | Verdict::Slower => format!(", {factor} × {plain} ({ends})"),
            Verdict::Same => format!(", the same as {plain} ({factor} ×, {ends})"),
            Verdict::Inconclusive if ratio.is_sure() => {
                format!(", vs. {plain} inconclusive ({factor} ×, {ends})")
            }
            Verdict::Inconclusive => {
                let rounds = counted(ratio.count, "round");
                format!(", vs. {plain} inconclusive after {rounds}")
            }
        };
    }
    if let Some(limit) = estimate.limit {
        text += &format!(", {} of the limit", share(limit.share));
    }
    text
}

/// The words for the baseline of a case.
pub(crate) fn plain(case: &CaseReport) -> &'static str {
    match case.record.case.known() {
        Some(known) if known.method().copies() => "plain read and write",
        _ => "plain write",
    }
}

/// `write,size=1MiB at 4.70 GB/s (4.51 – 4.83)`.
fn value_in_words(case: &CaseReport, estimate: &Estimate) -> String {
    let metric = Metric::for_case(&case.record, estimate);
    let at = if metric.unit == "ms" { "in" } else { "at" };
    let value = metric.value(estimate);
    let interval = metric.interval_or_samples(estimate);
    format!("{} {at} {value} {} ({interval})", case.name, metric.unit)
}

/// The others than plain write, if it is the fastest.
fn others_than_fastest(best: &CaseReport, others: &[&CaseReport]) -> Others {
    let ratios: Vec<Interval> = others
        .iter()
        .filter_map(|other| other.ratio_to(best))
        .collect();
    // A case without a common round has no ratio, and its verdict is inconclusive.
    let verdicts: Vec<Verdict> = others.iter().map(|other| other.verdict_to(best)).collect();
    match ratios.iter().map(|ratio| ratio.count).max().unwrap_or(0) {
        _ if others.is_empty() => Others::None,
        _ if verdicts.contains(&Verdict::Faster) => Others::LittleFaster,
        rounds if !ratios.iter().any(Interval::is_sure) => Others::TooFewRounds { rounds },
        _ if verdicts.iter().all(|verdict| verdict.is_difference()) => Others::Slower,
        _ if verdicts.contains(&Verdict::Inconclusive) => Others::Inconclusive,
        _ => Others::NotFaster,
    }
}

/// The others than plain write, if it is the answer to a goal.
fn others_than_answer(best: &CaseReport, others: &[&CaseReport], decision: &Decided<'_>) -> Others {
    if others.is_empty() {
        return Others::None;
    }
    let are_all_slower = others
        .iter()
        .all(|other| other.verdict_to(best) == Verdict::Slower);
    if are_all_slower {
        Others::Slower
    } else {
        Others::Bounded {
            bound: decision.bound,
        }
    }
}

/// The reason for missing answers, with what helps.
pub(crate) fn without_answer(
    run: &RunRecord,
    cases: &[CaseReport],
    answers: &[WorkloadAnswer],
) -> Option<String> {
    let missing: Vec<&Workload> = answers
        .iter()
        .filter(|answer| {
            matches!(
                answer.finding.unanswered,
                Some(Unanswered::TooFewSamples { .. })
            )
        })
        .map(|answer| &answer.workload)
        .collect();
    if missing.is_empty() {
        return None;
    }
    let needed: Vec<&CaseReport> = cases
        .iter()
        .filter(|case| missing.contains(&&case.record.workload) && is_baseline(case))
        .collect();
    let budget = budget_of_answers(run, cases, LEAST_INCREASE);
    let reason = obstacle(run, &needed)?.text_with_budget(budget.as_deref());
    Some(format!(
        "No answer yet for {}. {reason}",
        counted(missing.len(), "goal")
    ))
}

/// A budget is suggested only if it is so many times as large, so that all sentences of a run suggest the same one.
const LEAST_INCREASE: f64 = 2.0;

/// The budget that pays for answers to all goals, at the rate of the samples so far, and at least so many times the budget
/// of the run.
fn budget_of_answers(run: &RunRecord, cases: &[CaseReport], times: f64) -> Option<String> {
    let budget = as_f64(run.settings.budget_ns?) / 1e9;
    let measured = distinct(cases.iter(), |case| &case.name);
    let samples = measured.iter().flat_map(|case| &case.record.samples);
    let count = samples.clone().count();
    // A sample that does not end holds up the run beyond its budget.
    let of_samples: f64 = samples.map(known_seconds).sum();
    let rate = budget.max(of_samples) / as_f64(count.max(1) as u64);
    let contests = by_workload(cases).len() * run.targets.len().max(1);
    let needed = rate * as_f64(Goal::LEAST_SAMPLES * contests as u64);
    Some(budget_text(needed.max(budget * times)))
}

/// The recorded time of a sample.
fn known_seconds(sample: &Sample) -> f64 {
    let timed_ns = match sample.outcome {
        Outcome::TimedOut { limit_ns, .. } => limit_ns,
        _ => sample.phases_ns.total(),
    };
    as_f64(timed_ns.saturating_add(sample.settle_ns)) / 1e9
}

/// `45s` or `20m`, rounded up.
pub(crate) fn budget_text(seconds: f64) -> String {
    const LONG_S: f64 = 300.0;
    if seconds > LONG_S {
        format!("{:.0}m", (seconds / 60.0).ceil())
    } else {
        format!("{:.0}s", (seconds / 5.0).ceil() * 5.0)
    }
}

/// The goals that the limits left out, and the limit that would do.
pub(crate) fn left_out(run: &RunRecord, cases: &[CaseReport]) -> Option<String> {
    let workloads = by_workload(cases);
    let (measured, left): (Vec<_>, Vec<_>) =
        workloads.iter().partition(|(_, cases)| is_measured(cases));
    if !is_of_goals(cases)
        || measured.is_empty()
        || left.is_empty()
        || run.status == RunStatus::Interrupted
    {
        return None;
    }
    let names: Vec<String> = left
        .iter()
        .map(|(workload, _)| match Goal::of_workload(workload) {
            Some(goal) => word(goal).to_owned(),
            None => goal(workload, None, promised(&run.targets)),
        })
        .collect();
    let names = distinct(names, Clone::clone).join(", ");
    let goals = counted(left.len(), "goal");
    let factor = as_f64(workloads.len() as u64) / as_f64(measured.len() as u64);
    let needed_bytes = as_f64(run.written_bytes.unwrap_or(0)) * factor;
    // A goal does not begin if the rest pays for few samples only.
    let least_bytes = left
        .iter()
        .map(|(_, cases)| least_bytes(cases))
        .sum::<u64>();
    let least_bytes = as_f64(run.written_bytes.unwrap_or(0)) + as_f64(least_bytes);
    let needed_bytes = needed_bytes.max(least_bytes);
    let max_bytes = run.settings.max_bytes;
    if max_bytes.is_some_and(|most| needed_bytes > as_f64(most)) {
        let gibibytes = (needed_bytes / as_f64(1 << 30)).ceil();
        return Some(format!(
            "The limit on bytes left out {goals}: {names}. To measure all, use --max-bytes {gibibytes:.0}GiB."
        ));
    }
    let budget = budget_of_answers(run, cases, factor.max(LEAST_INCREASE))
        .map_or(String::new(), |budget| {
            format!(" To measure all, use --budget {budget}.")
        });
    Some(format!(
        "The limits left no time for {goals}: {names}.{budget}"
    ))
}

/// The bytes of the samples without which a goal does not begin.
fn least_bytes(cases: &[&CaseReport]) -> u64 {
    let bytes = |case: &&CaseReport| {
        let case = Case::parse(&case.record.case.to_string()).ok()?;
        Some(case.bytes_written())
    };
    let largest = cases.iter().filter_map(bytes).max().unwrap_or(0);
    largest.saturating_mul(Goal::LEAST_SAMPLES)
}

/// The best case with the same case on the first target.
fn with_target(best: &CaseReport, others: &[&CaseReport], first: &str) -> Option<Comparison> {
    let same = others
        .iter()
        .find(|other| other.record.target == first && other.record.case == best.record.case)
        .filter(|_| best.record.target != first)?;
    Comparison::with(same, best, "")
}

fn why_unranked(case: &CaseReport, estimate: &Estimate) -> Unanswered {
    match (&case.not_durable, &case.reason) {
        (Some(reason), _) => Unanswered::NotDurable {
            reason: reason.clone(),
        },
        (None, Some(reason)) => Unanswered::EndedLater {
            outcome: case.outcome_name(),
            reason: reason.clone(),
        },
        (None, None) if estimate.bytes == 0 => Unanswered::NoRecord,
        (None, None) => Unanswered::AllDisturbed,
    }
}

/// Whether the ratio of the two cases has an interval at 95 %.
fn is_sure(best: &CaseReport, other: &CaseReport) -> bool {
    other.ratio_to(best).is_some_and(|ratio| ratio.is_sure())
}

/// How the others compare with the best case, at 95 % for each comparison.
fn certainty(best: &CaseReport, others: &[&CaseReport]) -> String {
    let (sure, few): (Vec<&CaseReport>, Vec<&CaseReport>) = others
        .iter()
        .copied()
        .partition(|other| is_sure(best, other));
    if sure.is_empty() {
        let other = match few.as_slice() {
            [one] => &one.name,
            _ => "any other",
        };
        return format!(
            "Too few rounds to compare it with {other}: {}, and 6 are needed.",
            rounds(best, &few)
        );
    }
    let same = with_verdict(best, &sure, &[Verdict::Same]);
    let inconclusive = with_verdict(best, &sure, &[Verdict::Inconclusive]);
    let slower = with_verdict(best, &sure, &[Verdict::Slower, Verdict::Faster]);
    let mut parts: Vec<String> = Vec::new();
    if let Some(next) = slower.first() {
        let than = match slower.as_slice() {
            [one] => one.name.clone(),
            all if all.len() == others.len() => "all other cases".to_owned(),
            many => format!("the other {}", many.len()),
        };
        let by = if same.is_empty() && inconclusive.is_empty() {
            distance(best, next, slower.len())
        } else {
            String::new()
        };
        parts.push(format!("It is faster than {than}{by}."));
    }
    parts.extend(named("Same within 5 %:", &same));
    parts.extend(named("Inconclusive:", &inconclusive));
    parts.extend(named("Too few rounds for:", &few));
    parts.join("\n")
}

fn with_verdict<'c>(
    best: &CaseReport,
    others: &[&'c CaseReport],
    wanted: &[Verdict],
) -> Vec<&'c CaseReport> {
    others
        .iter()
        .copied()
        .filter(|other| wanted.contains(&other.verdict_to(best)))
        .collect()
}

fn named(what: &str, cases: &[&CaseReport]) -> Option<String> {
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    (!cases.is_empty()).then(|| format!("{what}{}", listed(&names, NAMED)))
}

/// `. The next, B, takes 1.21 times as long (1.15 – 1.30, 6 rounds)`.
fn distance(best: &CaseReport, next: &CaseReport, cases: usize) -> String {
    let Some(ratio) = next.ratio_to(best) else {
        return String::new();
    };
    let next_one = if cases == 1 {
        ", which".to_owned()
    } else {
        format!(". The next, {},", next.name)
    };
    let factor = TIMES.text(ratio.estimate);
    let ends = TIMES.between(ratio.low, ratio.high);
    let rounds = rounds(best, &[next]);
    format!("{next_one} takes {factor} times as long ({ends}, {rounds})")
}

/// `6 rounds`, `5 to 6 rounds`.
fn rounds(best: &CaseReport, others: &[&CaseReport]) -> String {
    let counts = others
        .iter()
        .map(|other| other.ratio_to(best).map_or(0, |ratio| ratio.count));
    counted_range(counts, "round").unwrap_or_default()
}

#[cfg(test)]
mod tests;
