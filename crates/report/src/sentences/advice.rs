//! What a search for the best case comes to.

use std::collections::HashMap;

use serde::Serialize;
use writebench_model::{Case, CaseOrigin, Stage};
use writebench_stats::CONFIDENCE;

use crate::numbers::case::CaseReport;
use crate::numbers::in_rounds::{differs, in_round_ratio};
use crate::sentences::number::{gigabytes_per_s, significant};
use crate::sentences::outcomes::failed;
use crate::sentences::shell::quoted;
use crate::sentences::words::{counted, list};

/// By how much the median of what is recommended may be above the fastest's.
const CLOSE: f64 = 0.03;

/// How many cases are named in a list before the rest is counted.
const NAMED: usize = 3;

/// How much a case asks of whoever writes the program; one of a later version asks more than any.
fn effort(case: &CaseReport) -> u32 {
    case.record.case.known().map_or(u32::MAX, Case::effort)
}

/// The answer of a search. Cases are given by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The fastest at the real size.
    pub fastest: String,
    /// Those that cannot be told from it, without it.
    pub no_difference: Vec<String>,
    /// Those that have too few rounds in common with it for a verdict.
    pub too_few_rounds: Vec<String>,
    /// The simplest of those that cannot be told from it and whose median is within 3 % of its own.
    pub recommended: String,
    /// What a program does without a second thought.
    pub naive: String,
    /// How many times faster than the naive way the recommended one is, and the interval's ends; none if the naive
    /// way failed, or is the recommended one.
    pub times_naive: Option<[f64; 3]>,
    /// The confidence of that interval.
    pub confidence: f64,
    /// Candidates that were looked at.
    pub looked_at: usize,
    /// Of those, the ones that failed or are not supported.
    pub failed: usize,
    /// Bytes of all samples.
    pub bytes_written: u64,
}

impl Advice {
    /// Of the cases of a run; none if it was no search, or none was measured at the real size.
    pub(crate) fn of(cases: &[CaseReport]) -> Option<Self> {
        let cases: Vec<&CaseReport> = cases.iter().filter(|case| case.record.origin.is_search()).collect();
        let in_stage = |stage| cases.iter().copied().filter(move |case| case.record.origin.is_stage(stage));
        let ranked = ranked(in_stage(Stage::Final));
        // One alone has won nothing.
        let (&fastest, others) = ranked.split_first().filter(|(_, others)| !others.is_empty())?;
        let with_verdict = |wanted: Option<bool>| {
            let others = others.iter().copied();
            others.filter(|other| differs(fastest, other) == wanted).collect::<Vec<&CaseReport>>()
        };
        let (same, unclear) = (with_verdict(Some(false)), with_verdict(None));
        // What few rounds cannot tell apart may still be far apart.
        let is_close = |other: &&CaseReport| other.time_ns() <= fastest.time_ns() * (1.0 + CLOSE);
        let close = same.iter().copied().filter(is_close);
        let simplest = std::iter::once(fastest).chain(close).min_by_key(|case| effort(case));
        let recommended = simplest.unwrap_or(fastest);
        let naive = in_stage(Stage::Final)
            .find(|case| matches!(case.record.origin, CaseOrigin::Search { is_naive: true, .. }));
        let ratio = naive
            .filter(|naive| naive.estimate.is_some() && naive.record.case != recommended.record.case)
            .and_then(|naive| in_round_ratio(naive, recommended));
        // A candidate is looked at with files of several sizes; its label is the same for all.
        let looks = in_stage(Stage::Screening).chain(in_stage(Stage::Final));
        let mut looked_at: HashMap<&str, bool> = HashMap::new();
        for case in looks.filter(|case| !case.record.samples.is_empty()) {
            let name = case.record.label.as_deref().unwrap_or(case.record.case.name());
            *looked_at.entry(name).or_default() |= !case.is_ok();
        }
        let samples = cases.iter().flat_map(|case| &case.record.samples);
        let name = |case: &CaseReport| case.record.case.to_string();
        Some(Self {
            fastest: name(fastest),
            no_difference: same.iter().map(|case| name(case)).collect(),
            too_few_rounds: unclear.iter().map(|case| name(case)).collect(),
            recommended: name(recommended),
            naive: naive.map(name).unwrap_or_default(),
            times_naive: ratio.map(|ratio| [ratio.estimate, ratio.low, ratio.high]),
            confidence: ratio.map_or(0.0, |ratio| ratio.confidence),
            looked_at: looked_at.len(),
            failed: looked_at.values().filter(|failed| **failed).count(),
            bytes_written: samples.map(|sample| sample.bytes).sum(),
        })
    }

    /// It in a sentence for each question.
    pub(crate) fn sentences(&self, cases: &[CaseReport], target: &str) -> Vec<String> {
        // Some cases make records durable though nobody asked for it.
        let finals = || cases.iter().filter(|case| case.record.origin.is_stage(Stage::Final));
        let is_about_records = finals().all(|case| case.record.contract.durable_every_bytes.is_some());
        let figure = |name: &str| {
            let case = cases
                .iter()
                .find(|case| case.record.origin.is_stage(Stage::Final) && case.record.case.name() == name);
            case.and_then(|case| figure(case, is_about_records)).unwrap_or_default()
        };
        let left =
            if self.failed > 0 { format!(" ({} failed or unsupported)", self.failed) } else { String::new() };
        let looked_at = format!("{}{left}", counted(self.looked_at, "candidate"));
        let mut verdict = match (self.no_difference.as_slice(), self.too_few_rounds.as_slice()) {
            ([], []) => ", clear of all others".to_owned(),
            ([], _) => String::new(),
            (same, _) => format!("; no difference to {}", list(same, NAMED)),
        };
        if !self.too_few_rounds.is_empty() {
            verdict += &format!("; too few rounds to tell it from {}", list(&self.too_few_rounds, NAMED));
        }
        let mut sentences =
            vec![format!("Fastest of {looked_at}: {} at {}{verdict}.", self.fastest, figure(&self.fastest))];
        // An interval of few rounds promises less.
        let sure = if self.confidence < CONFIDENCE { " as far as few rounds tell" } else { "" };
        sentences.push(match self.times_naive {
            Some([times, low, high]) => format!(
                "Recommended, as the simplest of the fastest: {} at {}, {times:.2} [{low:.2}, {high:.2}] times the naive \
                 way ({}){sure}.",
                self.recommended,
                figure(&self.recommended),
                self.naive
            ),
            None if self.recommended == self.naive => {
                format!("Recommended: the naive way, {}. Nothing is clearly faster.", self.naive)
            }
            None => format!(
                "Recommended, as the simplest of the fastest: {} at {}. The naive way ({}) has no figure.",
                self.recommended,
                figure(&self.recommended),
                self.naive
            ),
        });
        let mut check = format!("writebench run {} --case {}", quoted(target), self.recommended);
        if self.recommended != self.naive && !self.naive.is_empty() {
            check += &format!(" --case {}", self.naive);
        }
        sentences.push(format!(
            "{} were written. To check it: {check}",
            writebench_model::Bytes(self.bytes_written).approximate()
        ));
        sentences
    }
}

/// Why a search has no advice. More time or bytes do not help where no sample came to a figure.
pub(crate) fn without_advice(cases: &[CaseReport]) -> String {
    let is_ok = |case: &&CaseReport| case.record.samples.iter().any(|sample| sample.outcome.is_ok());
    let looked_at: Vec<&CaseReport> = cases.iter().filter(|case| !case.record.samples.is_empty()).collect();
    match failed(&looked_at).filter(|_| !looked_at.iter().any(is_ok)) {
        Some(failed) => format!("No advice, as no sample could be taken: {failed}"),
        None => "The search ended too early for advice: give it more --budget or --max-bytes.".to_owned(),
    }
}

/// The fastest first.
fn ranked<'c>(cases: impl Iterator<Item = &'c CaseReport>) -> Vec<&'c CaseReport> {
    let mut ranked: Vec<&CaseReport> = cases.filter(|case| case.is_ranked()).collect();
    ranked.sort_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
    ranked
}

/// Records per second where those are what is asked about, throughput otherwise.
fn figure(case: &CaseReport, is_about_records: bool) -> Option<String> {
    let estimate = case.estimate.as_ref()?;
    Some(match estimate.records_per_s.as_ref().filter(|_| is_about_records) {
        Some(records_per_s) => format!("{} records/s", significant(records_per_s.median)),
        None => format!("{} GB/s", gigabytes_per_s(estimate.throughput_bytes_per_s.median)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{CaseRecord, Outcome, RunRecord, Sample};
    use writebench_testkit::{example_case, example_run};

    const NAIVE: Option<&str> = Some("naive way");
    use Stage::{Final, Screening};

    fn case(stage: Stage, name: &str, label: Option<&str>, times_ns: &[u64]) -> CaseRecord {
        let sample = |(round, &time_ns): (u32, &u64)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            (sample.phases_ns.write, sample.bytes) = (time_ns, 1 << 30);
            sample
        };
        let record = example_case("", name, (0..).zip(times_ns).map(sample).collect());
        let origin = CaseOrigin::Search { stage, is_naive: label == NAIVE };
        CaseRecord { origin, label: label.map(str::to_owned), ..record }
    }

    fn conclusions(cases: Vec<CaseRecord>) -> Vec<String> {
        crate::Report::of(None, RunRecord { cases, ..example_run() }).conclusions
    }

    const FAST: [u64; 8] = [100, 104, 98, 103, 99, 101, 97, 102];
    const AS_FAST: [u64; 8] = [101, 103, 99, 102, 100, 100, 98, 103];

    fn times(times: [u64; 8], factor: u64) -> Vec<u64> {
        times.iter().map(|time| time * factor * 1_000_000).collect()
    }

    #[test]
    fn the_simplest_of_those_that_cannot_be_told_from_the_fastest_is_recommended() {
        let sentences = conclusions(vec![
            case(Screening, "uring,size=16MiB,depth=4", None, &[1]),
            case(Screening, "write,size=16MiB", None, &[1]),
            case(Final, "uring,depth=4", None, &times(FAST, 1)),
            case(Final, "write,chunk=4MiB", None, &times(AS_FAST, 1)),
            case(Final, "write,chunk=8KiB", NAIVE, &times(FAST, 3)),
        ]);
        assert_eq!(
            sentences,
            [
                "Fastest of 5 candidates: uring,depth=4 at 10.7 GB/s; no difference to write,chunk=4MiB.",
                "Recommended, as the simplest of the fastest: write,chunk=4MiB at 10.7 GB/s, 2.97 [2.97, 3.03] times the \
                 naive way (write,chunk=8KiB).",
                "26 GiB were written. To check it: writebench run '/data/<b>|`x`' --case write,chunk=4MiB --case \
                 write,chunk=8KiB",
            ]
        );
    }

    #[test]
    fn few_rounds_are_admitted() {
        let sentences = conclusions(vec![
            case(Final, "uring,depth=4", None, &times(FAST, 1)[..3]),
            case(Final, "write,chunk=8KiB", NAIVE, &times(FAST, 3)[..3]),
        ]);
        assert!(
            sentences[0].ends_with("GB/s; too few rounds to tell it from write,chunk=8KiB."),
            "{}",
            sentences[0]
        );
        assert!(sentences[1].ends_with("(write,chunk=8KiB) as far as few rounds tell."), "{}", sentences[1]);
    }

    #[test]
    fn where_nothing_is_faster_the_naive_way_stays() {
        let sentences = conclusions(vec![
            case(Final, "uring,depth=4", None, &times(FAST, 1)),
            case(Final, "write,chunk=8KiB", NAIVE, &times(AS_FAST, 1)),
        ]);
        assert_eq!(sentences[1], "Recommended: the naive way, write,chunk=8KiB. Nothing is clearly faster.");
        assert!(sentences[2].ends_with("--case write,chunk=8KiB"), "{}", sentences[2]);
    }

    #[test]
    fn a_search_that_reached_no_finals_recommends_nothing() {
        assert_eq!(conclusions(vec![case(Screening, "write,size=16MiB", None, &[1])]).len(), 1);
        assert!(conclusions(vec![case(Screening, "write,size=16MiB", None, &[1])])[0].contains("too early"));
    }

    #[test]
    fn a_search_without_a_sample_that_is_ok_says_why() {
        let died = |name: &str| {
            let outcome = Outcome::WorkerDied {
                phase: writebench_model::Phase::Settle,
                signal: Some(9),
                detail: String::new(),
            };
            CaseRecord {
                samples: vec![Sample::without_figures(0, outcome)],
                ..case(Screening, name, None, &[])
            }
        };
        let not_run = case(Final, "write", None, &[]);
        let sentences = conclusions(vec![died("write,size=16MiB"), died("pwrite,size=16MiB"), not_run.clone()]);
        let expected = "No advice, as no sample could be taken: 2 of 2 cases failed: write,size=16MiB: worker-died: \
                        SIGKILL (9): killed from outside, as the kernel does when memory runs out, in phase settle, \
                        and 1 more.";
        assert_eq!(sentences, [expected]);
        let sentences =
            conclusions(vec![died("write,size=16MiB"), case(Screening, "pwrite", None, &[1]), not_run]);
        assert!(sentences[0].contains("too early"), "{sentences:?}");
    }
}
