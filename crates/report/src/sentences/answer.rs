use writebench_model::{Bytes, Contract, GOALS, RunRecord, RunStatus, TargetRecord};
use writebench_stats::{FEWEST_FOR_INTERVAL, Interval, Verdict, as_f64, grouped};

use crate::numbers::{
    CaseReport, Decided, Estimate, by_contract, decided, distinct, is_baseline, obstacle, usable,
};
use crate::sentences::finding::{Finding, compared, goal, promised};
use crate::sentences::latency::latency;
use crate::sentences::metric::Metric;
use crate::sentences::number::{NOTHING, TIMES, or_nothing, share};
use crate::sentences::question::question;
use crate::sentences::recommended::simpler;
use crate::sentences::warning::case_sentence;
use crate::sentences::words::{NAMED, capitalised, counted, counted_range, list};

#[derive(Debug, Clone, PartialEq)]
pub struct ContractAnswer {
    pub contract: Contract,
    /// A line on the first screen.
    pub finding: Finding,
    pub sentence: String,
    /// Verdicts on other cases. Empty without an answer.
    pub certainty: String,
}

/// More targets would not fit on a screen.
pub(crate) fn are_for_each_target(run: &RunRecord, cases: &[CaseReport]) -> bool {
    let is_of_goals = cases.iter().all(|case| case.record.origin.suite() == GOALS);
    is_of_goals && run.targets.len() == 2 && run.missing.is_empty()
}

/// For each contract, and each of two targets. Contracts without a sample are left out, unless all are.
pub(crate) fn answers(run: &RunRecord, cases: &[CaseReport]) -> Vec<ContractAnswer> {
    let mut contracts = by_contract(cases);
    let is_measured =
        |cases: &[&CaseReport]| cases.iter().any(|case| !case.record.samples.is_empty());
    if contracts.iter().any(|(_, cases)| is_measured(cases)) {
        contracts.retain(|(_, cases)| is_measured(cases));
    }
    // Files of records are smaller than files of other goals, which needs no words.
    let kind = |contract: &Contract| contract.durable_every_bytes.is_some();
    let differs = |a: &Contract, b: &Contract| kind(a) == kind(b) && a.bytes != b.bytes;
    let several_sizes = contracts
        .iter()
        .any(|(a, _)| contracts.iter().any(|(b, _)| differs(a, b)));
    let of_each_target = are_for_each_target(run, cases);
    if of_each_target {
        let by_target = |(contract, cases): (_, Vec<_>)| {
            let by_target = grouped(cases, |case: &&CaseReport| case.record.target.clone());
            by_target
                .into_iter()
                .map(move |(_, cases)| (contract, cases))
        };
        contracts = contracts.into_iter().flat_map(by_target).collect();
    }
    let compares_targets = run.is_side_by_side() && !of_each_target;
    let answer = |(contract, cases): (&Contract, Vec<&CaseReport>)| {
        let mut answer = ContractAnswer::for_contract(contract, run, cases, compares_targets);
        // A set's goal has the number and the size of its files.
        if several_sizes && contract.files <= 1 {
            answer.finding.goal += &format!(", {}", Bytes(contract.bytes).in_words());
        }
        answer
    };
    contracts.into_iter().map(answer).collect()
}

impl ContractAnswer {
    fn for_contract(
        contract: &Contract,
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
            .find(|target| target.name == cases[0].record.target);
        let target = target.filter(|_| !compares_targets);
        let mut ranked: Vec<&CaseReport> = cases
            .iter()
            .copied()
            .filter(|case| case.is_ranked())
            .collect();
        let is_of_goal = cases.iter().all(|case| case.record.origin.suite() == GOALS);
        let decision = if is_of_goal {
            decided(run, &cases)
        } else {
            None
        };
        if let Some(decision) = decision {
            // The sort is stable.
            ranked.sort_by_key(|case| !std::ptr::eq(*case, decision.case));
        }
        let first = run.targets.first().filter(|_| compares_targets);
        let (mut finding, sentence, certainty) = match ranked.as_slice() {
            [] => unranked_answer(&cases),
            _ if is_of_goal && decision.is_none() => no_answer_yet(run, &cases),
            [best, others @ ..] => ranked_answer(best, others, cases.len(), first, decision),
        };
        let promised = match target {
            Some(target) => promised([target]),
            None => promised(&run.targets),
        };
        finding.goal = goal(contract, target, promised);
        if let Some(target) = target.filter(|_| run.is_side_by_side()) {
            finding.target = Some(target.name.clone());
        }
        let sentence = format!("{}: {sentence}", question(contract, target, promised));
        Self {
            contract: contract.clone(),
            finding,
            sentence,
            certainty,
        }
    }

    pub fn text(&self) -> String {
        format!("{} {}", self.sentence, self.certainty)
            .trim_end()
            .to_owned()
    }
}

/// Finding, sentence and certainty. `first`: the target of comparison.
fn ranked_answer(
    best: &CaseReport,
    others: &[&CaseReport],
    cases: usize,
    first: Option<&TargetRecord>,
    decision: Option<Decided<'_>>,
) -> (Finding, String, String) {
    let Some(estimate) = &best.estimate else {
        return Default::default();
    };
    // Another target is another question.
    let mut beside = others
        .iter()
        .copied()
        .filter(|case| case.record.target == best.record.target)
        .peekable();
    let is_plain = is_baseline(best);
    let is_baseline_of_others = is_plain && beside.peek().is_some();
    let baseline = beside.find(|case| is_baseline(case)).filter(|_| !is_plain);
    let times_baseline = baseline.and_then(|baseline| baseline.ratio_to(best));
    let in_words = match (first, &times_baseline) {
        (Some(first), _) => beside_first(best, others, &first.name),
        (None, Some(ratio)) => compared(ratio),
        (None, None) if is_plain => decision.map_or_else(
            || first_of(best, others),
            |decision| plain_beside(best, others, &decision),
        ),
        (None, None) => NOTHING.to_owned(),
    };
    let target = first.map(|_| best.record.target.clone());
    let is_baseline = is_plain && first.is_none() && best.record.origin.suite() == GOALS;
    let finding = Finding {
        target,
        is_baseline,
        ..Finding::for_case(best, estimate, in_words)
    };
    let worth = worth(best, estimate, is_baseline_of_others, times_baseline);
    let certainty = match cases {
        1 => "No other case for comparison.".to_owned(),
        _ if others.is_empty() => "No other ranked case for comparison.".to_owned(),
        _ if best.record.origin.suite() == GOALS => steps(best, others),
        _ => certainty(best, others),
    };
    let bound = decision.as_ref().and_then(Decided::bound_in_words);
    let certainty = bound.map_or(certainty.clone(), |bound| {
        format!("{}. {certainty}", capitalised(&bound))
    });
    let latency = latency(best, "It").map_or(String::new(), |latency| format!(" {latency}"));
    (
        finding,
        format!("{}{worth}.{latency}", figure_of(best, estimate)),
        certainty,
    )
}

/// A value without a rank, or a reason.
fn unranked_answer(cases: &[&CaseReport]) -> (Finding, String, String) {
    let first = cases[0];
    let Some(estimate) = &first.estimate else {
        let why = case_sentence(first);
        let more = match cases.len() - 1 {
            0 => String::new(),
            more => format!(", and {} without a result", counted(more, "more case")),
        };
        // It stands in the column of the fastest methods.
        let finding = Finding::none(&format!("no result: {why}"));
        return (finding, format!("no answer. {why}{more}."), String::new());
    };
    let why = why_unranked(first, estimate);
    let finding = match &first.not_durable {
        Some(why) => Finding::none(&not_durable_here(why)),
        None => Finding {
            case: None,
            ..Finding::for_case(first, estimate, format!("no rank: {why}"))
        },
    };
    let sentence = format!("{}, without a rank.", figure_of(first, estimate));
    (finding, sentence, format!("Not ranked, because {why}."))
}

/// Contributions of the recommended case's choices, by the cases that lack one.
fn steps(best: &CaseReport, others: &[&CaseReport]) -> String {
    let baseline = others
        .iter()
        .copied()
        .find(|other| is_baseline(other))
        .unwrap_or(best);
    let step = |other: &CaseReport| {
        let ratio = best.ratio_to(other).filter(Interval::is_sure)?;
        let ends = TIMES.between(ratio.low, ratio.high);
        Some(format!(
            "{} × the speed ({ends}) with {}",
            TIMES.text(ratio.estimate),
            other.record.case
        ))
    };
    let steps: Vec<String> = simpler(best, baseline, others)
        .into_iter()
        .filter_map(step)
        .collect();
    if steps.is_empty() {
        // The bound is about all others together, and needs fewer rounds than the interval of a ratio.
        let is_sure =
            |other: &&CaseReport| other.ratio_to(best).is_some_and(|ratio| ratio.is_sure());
        return match others.iter().any(is_sure) {
            true => certainty(best, others),
            false => format!(
                "No single ratio has an interval: {}, 95 % needs 6.",
                rounds(best, others)
            ),
        };
    }
    let is_faster = |other: &&&CaseReport| other.verdict_to(best) == Verdict::Faster;
    let faster = others
        .iter()
        .find(is_faster)
        .and_then(|faster| Some((faster, best.ratio_to(faster)?)));
    let faster = faster.map_or(String::new(), |(faster, ratio)| {
        format!(
            "{} is {} times as fast, with more effort. ",
            faster.record.case,
            TIMES.text(ratio.estimate)
        )
    });
    format!(
        "{faster}With one choice less, you get {}.",
        list(&steps, steps.len())
    )
}

fn worth(
    best: &CaseReport,
    estimate: &Estimate,
    is_baseline: bool,
    times_baseline: Option<Interval>,
) -> String {
    let plain = plain(best);
    let mut text = if is_baseline {
        format!(", {plain}")
    } else {
        String::new()
    };
    if let Some(ratio) = &times_baseline {
        let (factor, ends) = (
            TIMES.text(ratio.estimate),
            TIMES.between(ratio.low, ratio.high),
        );
        text += &match ratio.verdict() {
            Verdict::Faster | Verdict::Slower => format!(", {factor} × {plain} ({ends})"),
            Verdict::Same => format!(", the same as {plain} ({factor} ×, {ends})"),
            Verdict::Inconclusive if ratio.is_sure() => {
                format!(", vs. {plain} inconclusive ({factor} ×, {ends})")
            }
            Verdict::Inconclusive => {
                format!(
                    ", vs. {plain} inconclusive after {}",
                    counted(ratio.count, "round")
                )
            }
        };
    }
    text + &estimate.limit.map_or(String::new(), |limit| {
        format!(", {} of the limit", share(limit.share))
    })
}

pub(crate) fn plain(case: &CaseReport) -> &'static str {
    match case.record.case.known() {
        Some(known) if known.method().copies() => "plain read and write",
        _ => "plain write",
    }
}

/// `write,size=1MiB at 4.70 GB/s (4.51 – 4.83)`.
fn figure_of(case: &CaseReport, estimate: &Estimate) -> String {
    let metric = Metric::for_case(&case.record, estimate);
    let at = if metric.unit == "ms" { "in" } else { "at" };
    let (value, interval) = (metric.value(estimate), metric.interval_or_samples(estimate));
    format!("{} {at} {value} {} ({interval})", case.name, metric.unit)
}

/// Plain write is the fastest.
fn first_of(best: &CaseReport, others: &[&CaseReport]) -> String {
    let ratios: Vec<Interval> = others
        .iter()
        .filter_map(|other| other.ratio_to(best))
        .collect();
    // Without a common round the verdict is inconclusive.
    let verdicts: Vec<Verdict> = others.iter().map(|other| other.verdict_to(best)).collect();
    match ratios.iter().map(|ratio| ratio.count).max().unwrap_or(0) {
        _ if others.is_empty() => plain(best).to_owned(),
        _ if verdicts.contains(&Verdict::Faster) => "plain, none 3 % faster".to_owned(),
        most if !ratios.iter().any(Interval::is_sure) => {
            format!("plain, only {}", counted(most, "round"))
        }
        _ if verdicts.iter().all(|verdict| verdict.is_difference()) => {
            "plain is fastest".to_owned()
        }
        _ if verdicts.contains(&Verdict::Inconclusive) => "plain, inconclusive".to_owned(),
        _ => "plain, none faster".to_owned(),
    }
}

/// Plain write is the answer to a goal.
fn plain_beside(best: &CaseReport, others: &[&CaseReport], decision: &Decided<'_>) -> String {
    let verdicts: Vec<Verdict> = others.iter().map(|other| other.verdict_to(best)).collect();
    match decision.bound_percent().as_str() {
        _ if others.is_empty() => plain(best).to_owned(),
        _ if verdicts.iter().all(|verdict| *verdict == Verdict::Slower) => {
            "plain is fastest".to_owned()
        }
        percent => format!("plain, others ≤ {percent} % faster"),
    }
}

/// The samples do not suffice: those of plain write, or those of all others.
fn no_answer_yet(run: &RunRecord, cases: &[&CaseReport]) -> (Finding, String, String) {
    let baseline = cases
        .iter()
        .copied()
        .find(|case| is_baseline(case) && !case.is_out());
    let most = cases.iter().map(|case| usable(case)).max().unwrap_or(0);
    let (whose, count) = baseline.map_or(("any method", most), |case| (plain(case), usable(case)));
    let finding = Finding::none(&format!(
        "{NO_ANSWER_YET}: {count} of {FEWEST_FOR_INTERVAL} usable samples"
    ));
    let needed = baseline.map_or_else(|| cases.to_vec(), |baseline| vec![baseline]);
    let why =
        obstacle(run, &needed).map_or(String::new(), |obstacle| format!(" {}", obstacle.text()));
    let sentence = format!(
        "{NO_ANSWER_YET}: an answer needs {FEWEST_FOR_INTERVAL} usable samples of {whose}, and has {count}.{why}"
    );
    (finding, sentence, String::new())
}

pub(crate) const NO_ANSWER_YET: &str = "no answer yet";

/// The reason for missing answers, with what helps.
pub(crate) fn without_answer(
    run: &RunRecord,
    cases: &[CaseReport],
    answers: &[ContractAnswer],
) -> Option<String> {
    let is_missing =
        |answer: &&ContractAnswer| answer.finding.description.starts_with(NO_ANSWER_YET);
    let missing: Vec<&Contract> = answers
        .iter()
        .filter(is_missing)
        .map(|answer| &answer.contract)
        .collect();
    let is_needed =
        |case: &&CaseReport| missing.contains(&&case.record.contract) && is_baseline(case);
    let needed: Vec<&CaseReport> = cases.iter().filter(is_needed).collect();
    let reason = obstacle(run, &needed)
        .filter(|_| !missing.is_empty())?
        .text();
    Some(format!(
        "No answer yet for {}. {reason}",
        counted(missing.len(), "goal")
    ))
}

/// The goals that the limits left out, and the limit that would do.
pub(crate) fn left_out(run: &RunRecord, cases: &[CaseReport]) -> Option<String> {
    let is_of_goals = cases.iter().all(|case| case.record.origin.suite() == GOALS);
    let contracts = by_contract(cases);
    let is_measured = |(_, cases): &&(&Contract, Vec<&CaseReport>)| {
        cases.iter().any(|case| !case.record.samples.is_empty())
    };
    let (measured, left): (Vec<_>, Vec<_>) = contracts.iter().partition(is_measured);
    if !is_of_goals
        || measured.is_empty()
        || left.is_empty()
        || run.status == RunStatus::Interrupted
    {
        return None;
    }
    let names: Vec<String> = left
        .iter()
        .map(|(contract, _)| goal(contract, None, promised(&run.targets)))
        .collect();
    let (goals, names) = (counted(left.len(), "goal"), names.join("; "));
    let factor = as_f64(contracts.len() as u64) / as_f64(measured.len() as u64);
    let needed_bytes = as_f64(run.written_bytes.unwrap_or(0)) * factor;
    if run
        .settings
        .max_bytes
        .is_some_and(|most| needed_bytes > as_f64(most))
    {
        let gibibytes = (needed_bytes / as_f64(1 << 30)).ceil();
        return Some(format!(
            "The limit on bytes left out {goals}: {names}. To measure all, use --max-bytes {gibibytes:.0}GiB."
        ));
    }
    let budget = run.settings.budget_ns.map_or(String::new(), |budget_ns| {
        let seconds = as_f64(budget_ns) / 1e9 * factor;
        format!(
            " To measure all, use --budget {:.0}s.",
            (seconds / 5.0).ceil() * 5.0
        )
    });
    Some(format!(
        "The limits left no time for {goals}: {names}.{budget}"
    ))
}

/// The same case on the first target.
fn beside_first(best: &CaseReport, others: &[&CaseReport], first: &str) -> String {
    let same = |other: &&&CaseReport| {
        other.record.target == first && other.record.case == best.record.case
    };
    let same = others
        .iter()
        .find(same)
        .filter(|_| best.record.target != first);
    let ratio = same.and_then(|same| same.ratio_to(best));
    or_nothing(ratio, |ratio| compared(&ratio))
}

pub(crate) fn not_durable_here(why: &str) -> String {
    format!("not durable here: {why}")
}

fn why_unranked(case: &CaseReport, estimate: &Estimate) -> String {
    if let Some(why) = &case.not_durable {
        return format!("it is {}", not_durable_here(why));
    }
    match &case.reason {
        Some(reason) => format!("it {} later: {reason}", case.outcome_name()),
        None if estimate.bytes == 0 => "the budget ended before its first record".to_owned(),
        None => "every sample was disturbed".to_owned(),
    }
}

/// At 95 % for each comparison.
fn certainty(best: &CaseReport, others: &[&CaseReport]) -> String {
    let is_sure = |case: &CaseReport| case.ratio_to(best).is_some_and(|ratio| ratio.is_sure());
    let (sure, few): (Vec<&CaseReport>, Vec<&CaseReport>) =
        others.iter().copied().partition(|case| is_sure(case));
    let with = |wanted: &[Verdict]| -> Vec<&CaseReport> {
        sure.iter()
            .copied()
            .filter(|case| wanted.contains(&case.verdict_to(best)))
            .collect()
    };
    let named = |what: &str, cases: &[&CaseReport]| {
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        (!cases.is_empty()).then(|| format!("{what} {}", list(&names, NAMED)))
    };
    if sure.is_empty() {
        let other = if let [one] = few.as_slice() {
            &one.name
        } else {
            "any other"
        };
        return format!(
            "Inconclusive vs. {other}: {}, 95 % needs 6.",
            rounds(best, &few)
        );
    }
    let same = named("same within 5 %:", &with(&[Verdict::Same]));
    let mut parts: Vec<String> = same.into_iter().collect();
    parts.extend(named("inconclusive:", &with(&[Verdict::Inconclusive])));
    let slower = with(&[Verdict::Slower, Verdict::Faster]);
    if let Some(next) = slower.first() {
        let than = match slower.as_slice() {
            [one] => one.name.clone(),
            all if all.len() == others.len() => "all other cases".to_owned(),
            many => format!("the other {}", many.len()),
        };
        let by = if parts.is_empty() {
            distance(best, next, slower.len())
        } else {
            String::new()
        };
        parts.push(format!("faster than {than}{by}"));
    }
    parts.extend(named("too few rounds for", &few));
    parts
        .iter()
        .map(|part| capitalised(part) + ".")
        .collect::<Vec<_>>()
        .join(" ")
}

/// `: the next, B, takes 1.21 times as long (1.15 – 1.30) in 6 rounds`.
fn distance(best: &CaseReport, next: &CaseReport, cases: usize) -> String {
    let Some(ratio) = next.ratio_to(best) else {
        return String::new();
    };
    let next_one = if cases == 1 {
        ", which".to_owned()
    } else {
        format!(": the next, {},", next.name)
    };
    let (factor, ends) = (
        TIMES.text(ratio.estimate),
        TIMES.between(ratio.low, ratio.high),
    );
    format!(
        "{next_one} takes {factor} times as long ({ends}) in {}",
        rounds(best, &[next])
    )
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
