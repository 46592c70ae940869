//! The smallest difference that a run could detect.

use writebench_stats::{Verdict, median};

use crate::numbers::{CaseReport, by_contract, by_rank, distinct};

/// The median over all comparisons with the fastest of a contract, with their range; none without a comparison that
/// has the rounds for 95 %.
pub(crate) fn sentence(cases: &[CaseReport]) -> Option<String> {
    let mut all: Vec<f64> = by_contract(cases).into_iter().flat_map(|(_, cases)| differences(cases)).collect();
    all.sort_by(f64::total_cmp);
    let percent = |difference: f64| format!("{:.0} %", difference * 100.0);
    let (least, most) = (percent(*all.first()?), percent(*all.last()?));
    let range = if least == most { String::new() } else { format!(" ({least} to {most}, by case)") };
    Some(format!("Smallest difference this run could detect: {}{range}.", percent(median(&all)?)))
}

/// For each case, the smallest difference from the fastest.
fn differences(cases: Vec<&CaseReport>) -> Vec<f64> {
    let ranked = cases.into_iter().filter(|case| case.is_ranked() && !case.is_screening());
    let mut ranked = distinct(ranked, |case| &case.name);
    ranked.sort_by(|a, b| by_rank(a, b));
    let Some((best, others)) = ranked.split_first() else { return Vec::new() };
    let difference = |case: &&CaseReport| Verdict::smallest_difference(&case.ratio_to(best)?);
    others.iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use writebench_model::{CaseRecord, Outcome, RunRecord, Sample};
    use writebench_testkit::{example_case, example_run};

    fn case(name: &str, write_ns: impl IntoIterator<Item = u64>) -> CaseRecord {
        let samples = (0u32..).zip(write_ns).map(|(round, write_ns)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            sample.bytes = 1_000_000;
            sample.phases_ns.write = write_ns;
            sample
        });
        example_case("a table", name, samples.collect())
    }

    fn sentence_of(cases: Vec<CaseRecord>) -> Option<String> {
        crate::Report::from_run(None, RunRecord { cases, ..example_run() }).smallest_difference
    }

    #[test]
    fn a_quiet_run_detects_one_percent_and_a_noisy_case_more() {
        let drift = [100_000, 120_000, 90_000, 110_000, 150_000, 100_000];
        let (best, slow) = (case("best", drift), case("slow", drift.map(|ns| 2 * ns)));
        // Six rounds: the interval reaches from the least to the largest ratio, which are 2 and 2.42.
        let noisy =
            case("noisy", [200, 242, 200, 242, 200, 242].into_iter().zip(drift).map(|(a, b)| a * b / 100));
        let quiet = sentence_of(vec![best.clone(), slow.clone()]);
        assert_eq!(quiet.unwrap(), "Smallest difference this run could detect: 1 %.", "drift cancels");
        // The root of 2.42 / 2 is 1.1.
        assert_eq!(
            sentence_of(vec![best.clone(), slow, noisy.clone(), noisy]).unwrap(),
            "Smallest difference this run could detect: 6 % (1 % to 11 %, by case)."
        );
    }

    #[test]
    fn five_rounds_or_one_case_detect_nothing() {
        let five = |name| case(name, [100_000; 5]);
        assert_eq!(sentence_of(vec![five("a"), five("b")]), None);
        assert_eq!(sentence_of(vec![case("a", [100_000; 6])]), None);
    }
}
