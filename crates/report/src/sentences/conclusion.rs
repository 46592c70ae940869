//! What a run comes to, in a sentence per contract.

use std::collections::{HashMap, HashSet};

use writebench_model::{Contract, Sample};

use crate::numbers::estimate::CONFIDENCE;
use crate::sentences::answer::Answer;
use crate::sentences::report::CaseReport;

/// How many cases are named in a list before the rest is counted.
const NAMED: usize = 3;

/// All answers, and what their comparisons mean.
pub(crate) fn conclusions(answers: &[Answer], cases: &[CaseReport]) -> Vec<String> {
    let mut conclusions: Vec<String> = answers.iter().map(Answer::text).collect();
    let compares_many = |answer: &Answer| {
        let of_answer = cases.iter().filter(|case| case.record.contract == answer.contract && is_ranked(case));
        of_answer.map(|case| &case.name).collect::<HashSet<&String>>().len() > 2
    };
    if answers.iter().any(compares_many) {
        // No allowance is made for many comparisons: with six rounds none could be called different any more. "Clear of all
        // others" needs none, since every comparison must come out for it.
        conclusions.push(
            "Each comparison with the fastest is made at 95 %: of cases just as fast, up to one in ten is called \
             slower by chance."
                .to_owned(),
        );
    }
    conclusions
}

/// The different contracts of cases, in order, each with the cases that have it.
pub(crate) fn by_contract(cases: &[CaseReport]) -> Vec<(&Contract, Vec<&CaseReport>)> {
    let mut groups: Vec<(&Contract, Vec<&CaseReport>)> = Vec::new();
    let mut places = HashMap::new();
    for case in cases {
        let contract = &case.record.contract;
        let place = *places.entry(contract).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, group)) => group.push(case),
            None => groups.push((contract, vec![case])),
        }
    }
    groups
}

/// A case that failed on the way, was cut short or has only disturbed samples has figures but no rank.
pub(crate) fn is_ranked(case: &CaseReport) -> bool {
    case.outcome == "ok"
        && case.estimate.as_ref().is_some_and(|estimate| !estimate.only_disturbed && estimate.cut == 0)
}

/// The first few names, and how many more there are.
pub(crate) fn list(names: &[&str]) -> String {
    match names.len() {
        ..=NAMED => names.join(", "),
        many => format!("{} and {} more", names[..NAMED].join(", "), many - NAMED),
    }
}

/// Whether the interval of the in-round ratio excludes 1; none if the rounds in common are too few for
/// an interval of 95 %.
pub(crate) fn differs(best: &CaseReport, other: &CaseReport) -> Option<bool> {
    let ratio = in_round_ratio(other, best)?;
    (ratio.confidence >= CONFIDENCE).then_some(ratio.low > 1.0 || ratio.high < 1.0)
}

/// How many times longer one case takes than the other, in the rounds that they have in common.
pub(crate) fn in_round_ratio(case: &CaseReport, other: &CaseReport) -> Option<writebench_stats::Interval> {
    in_round_ratio_of(case, other, total)
}

/// The same of another figure. Nothing over nothing is the same; something over nothing is beyond all bounds, and so
/// may be the median: only what is in the middle counts.
pub(crate) fn in_round_ratio_of(
    case: &CaseReport,
    other: &CaseReport,
    figure: fn(&Sample) -> f64,
) -> Option<writebench_stats::Interval> {
    writebench_stats::median_interval(&in_round_ratios(case, other, figure), CONFIDENCE)
}

/// One for each round that they have in common.
pub(crate) fn in_round_ratios(case: &CaseReport, other: &CaseReport, figure: fn(&Sample) -> f64) -> Vec<f64> {
    let by_round = |case: &CaseReport| -> HashMap<u32, f64> {
        Sample::usable(&case.record.samples).into_iter().map(|sample| (sample.round, figure(sample))).collect()
    };
    let other = by_round(other);
    by_round(case)
        .into_iter()
        .filter_map(|(round, own)| other.get(&round).map(|&other| if own == other { 1.0 } else { own / other }))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "durations are compared")]
pub(crate) fn total(sample: &Sample) -> f64 {
    sample.phases_ns.total() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{CaseRecord, Durability, Outcome, RunRecord};
    use writebench_testkit::{example_case, example_run};

    fn case(name: &str, durability: Durability, write_ns: &[u64]) -> CaseRecord {
        let samples = (0u32..).zip(write_ns).map(|(round, &write_ns)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            sample.bytes = 1_000_000;
            sample.phases_ns.write = write_ns;
            sample
        });
        let mut record = example_case("test", name, samples.collect());
        record.contract.durability = durability;
        record.contract.bytes = 1_000_000;
        record
    }

    fn conclude(cases: Vec<CaseRecord>) -> Vec<String> {
        crate::Report::of(None, RunRecord { cases, ..example_run() }).conclusions
    }

    #[test]
    fn cases_of_two_contracts_are_never_ranked_together() {
        let fast = [100_000; 8];
        let slow = [900_000; 8];
        let sentences =
            conclude(vec![case("a", Durability::Cached, &fast), case("b", Durability::Durable, &slow)]);
        assert_eq!(
            sentences,
            [
                "To stream 1000000 bytes into a new file on /data/<b>|`x`, in the page cache: a at 10.0 GB/s (10.0 – 10.0). \
                 There is no other case to compare it with.",
                "To stream 1000000 bytes into a new file on /data/<b>|`x`, durable: b at 1.11 GB/s (1.11 – 1.11). There is \
                 no other case to compare it with.",
            ]
        );
    }

    #[test]
    fn what_cannot_be_told_from_the_best_is_said() {
        let a = [100, 104, 98, 103, 99, 101, 97, 102].map(|it| it * 1000);
        let b = [101, 103, 99, 102, 100, 100, 98, 103].map(|it| it * 1000);
        let slow = [900_000; 8];
        let sentences = conclude(vec![
            case("a", Durability::Cached, &a),
            case("b", Durability::Cached, &b),
            case("slow", Durability::Cached, &slow),
        ]);
        assert_eq!(
            sentences,
            [
                "To stream 1000000 bytes into a new file on /data/<b>|`x`, in the page cache: a at 9.95 GB/s (9.62 – 10.3). \
                 No difference to b in 8 rounds, at 95 %; clear of slow.",
                "Each comparison with the fastest is made at 95 %: of cases just as fast, up to one in ten is called \
                 slower by chance.",
            ]
        );
    }

    #[test]
    fn a_clear_winner_is_called_one_and_few_rounds_are_admitted() {
        let (fast, slow) = ([100_000; 8], [900_000; 8]);
        let sentences =
            conclude(vec![case("slow", Durability::Cached, &slow), case("fast", Durability::Cached, &fast)]);
        let clear = " Clear of slow at 95 %, which takes 9.00 times as long (9.00 – 9.00) in 8 rounds.";
        assert!(sentences[0].contains(": fast at 10.0 GB/s") && sentences[0].ends_with(clear), "{sentences:?}");
        assert_eq!(sentences.len(), 1, "one comparison needs no word on many");
        let sentences = conclude(vec![
            case("slow", Durability::Cached, &slow[..3]),
            case("fast", Durability::Cached, &fast[..3]),
        ]);
        let few = " Too few rounds to compare it with slow: 3 rounds, and 95 % takes 6.";
        assert!(sentences[0].ends_with(few), "{sentences:?}");
    }

    #[test]
    fn a_case_with_one_sample_that_was_cut_short_has_no_rank() {
        let (fast, slow) = ([100_000; 8], [900_000; 8]);
        let mut cut = case("cut", Durability::Cached, &fast);
        cut.samples[3].bytes /= 2;
        let others = [case("fast", Durability::Cached, &fast), case("slow", Durability::Cached, &slow)];
        let sentences = conclude([&[cut.clone()], others.as_slice()].concat());
        assert!(
            sentences[0].contains(": fast at 10.0 GB/s") && sentences[0].contains("Clear of slow"),
            "{sentences:?}"
        );
        let sentences = conclude(vec![cut, case("slow", Durability::Cached, &slow)]);
        assert!(sentences[0].contains(": slow at") && sentences[0].ends_with("has a rank to compare it with."));
    }
}
