//! Remarks on the answers.

use writebench_model::RunRecord;

use crate::numbers::{CaseReport, distinct};
use crate::sentences::answer::ContractAnswer;
use crate::sentences::{image_share, startup};

/// The meaning of many comparisons for the answers, and the share of images in them.
pub(crate) fn remarks(run: &RunRecord, answers: &[ContractAnswer], cases: &[CaseReport]) -> Vec<String> {
    let compares_many = |answer: &ContractAnswer| {
        let of_answer = cases.iter().filter(|case| case.record.contract == answer.contract && case.is_ranked());
        distinct(of_answer, |case| &case.name).len() > 2
    };
    let mut remarks = Vec::new();
    if answers.iter().any(compares_many) {
        // No allowance is made for many comparisons: with six rounds none could be called different any more. "Faster
        // than all others" needs none, since every comparison must come out for it.
        remarks.push(
            "Each comparison with the fastest is made at 95 %: expect up to 7 % false 'slower' verdicts."
                .to_owned(),
        );
    }
    remarks.extend(startup::sentence(cases));
    remarks.extend(image_share::sentences(run, cases));
    remarks
}

#[cfg(test)]
mod tests {
    use writebench_model::{CaseRecord, Durability, Outcome, RunRecord, Sample};
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
        crate::Report::from_run(None, RunRecord { cases, ..example_run() }).conclusions
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
                "To stream 1000000 bytes into a new file on /data/<b>|`x`, durable: b at 1.11 GB/s (1.11 – 1.12). There is \
                 no other case to compare it with.",
            ]
        );
    }

    #[test]
    fn what_cannot_be_told_from_the_best_is_said() {
        let a = [100, 104, 98, 103, 99, 101, 97, 102].map(|time| time * 1000);
        let b = [101, 103, 99, 102, 100, 100, 98, 103].map(|time| time * 1000);
        let slow = [900_000; 8];
        let sentences = conclude(vec![
            case("a", Durability::Cached, &a),
            case("b", Durability::Cached, &b),
            case("slow", Durability::Cached, &slow),
        ]);
        assert_eq!(
            sentences,
            [
                "To stream 1000000 bytes into a new file on /data/<b>|`x`, in the page cache: a at 10.0 GB/s (9.61 – 10.4). \
                 The same, within 5 %: b; faster than slow.",
                "Each comparison with the fastest is made at 95 %: expect up to 7 % false 'slower' verdicts.",
            ]
        );
    }

    #[test]
    fn a_clear_winner_is_called_one_and_few_rounds_are_admitted() {
        let (fast, slow) = ([100_000; 8], [900_000; 8]);
        let sentences =
            conclude(vec![case("slow", Durability::Cached, &slow), case("fast", Durability::Cached, &fast)]);
        let clear = " Faster than slow, which takes 9.00 times as long (9.00 – 9.00) in 8 rounds.";
        assert!(sentences[0].contains(": fast at 10.0 GB/s") && sentences[0].ends_with(clear), "{sentences:?}");
        assert_eq!(sentences.len(), 1, "one comparison needs no word on many");
        let sentences = conclude(vec![
            case("slow", Durability::Cached, &slow[..3]),
            case("fast", Durability::Cached, &fast[..3]),
        ]);
        let few = " Inconclusive vs. slow: 3 rounds, and 95 % takes 6.";
        assert!(sentences[0].ends_with(few), "{sentences:?}");
    }

    #[test]
    fn a_case_that_was_cut_short_is_compared_by_its_rate() {
        let mut cut = case("cut", Durability::Cached, &[100_000; 8]);
        cut.samples.iter_mut().for_each(|sample| sample.bytes /= 4);
        let sentences = conclude(vec![cut, case("whole", Durability::Cached, &[300_000; 8])]);
        assert!(
            sentences[0].contains(": whole at 3.33 GB/s")
                && sentences[0].contains("cut, which takes 1.33 times"),
            "{sentences:?}"
        );
    }
}
