//! Error rates on a real machine's noise. `tests/noise/README.md` describes the recordings. Seeded draws make
//! the counts exact. `docs/explanation/statistics.md` has them.

use std::sync::LazyLock;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use writebench_model::{CaseRecord, RunRecord, Sample};
use writebench_testkit::{example_case, example_run};

use crate::numbers::case::CaseReport;
use crate::numbers::cases::cases;
use writebench_stats::Verdict;

use crate::numbers::comparison::{ComparedRun, Comparison, Side};

/// Parsed once for thousands of experiments.
static CASE: LazyLock<CaseRecord> = LazyLock::new(|| example_case("noise", "write", Vec::new()));

const EXPERIMENTS: u64 = 200;

/// The 99.9 % quantile of the binomial distribution with probability 5 %: a correct rule exceeds it in one of
/// a thousand tests.
const MOST_FALSE: usize = 21;

const RECORDED: [(&str, &str); 3] = [
    ("tmpfs", include_str!("../../../tests/noise/tmpfs.csv")),
    ("ext4", include_str!("../../../tests/noise/ext4.csv")),
    (
        "ext4-fdatasync",
        include_str!("../../../tests/noise/ext4-fdatasync.csv"),
    ),
];

/// Undisturbed, in order.
fn times(csv: &str) -> Vec<u64> {
    let rows = csv
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap());
    rows.filter(|(_, disturbed)| *disturbed == "0")
        .map(|(time, _)| time.parse().unwrap())
        .collect()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "nanoseconds"
)]
fn slowed(time: u64, factor: f64) -> u64 {
    (time as f64 * factor) as u64
}

fn case(times: &[u64]) -> writebench_model::CaseRecord {
    let samples = (0u32..).zip(times).map(|(round, &time)| {
        let mut sample = Sample::without_figures(round, writebench_model::Outcome::Ok);
        sample.bytes = 1 << 30;
        sample.phases_ns.write = time;
        sample
    });
    CaseRecord {
        samples: samples.collect(),
        ..CASE.clone()
    }
}

/// Two cases in random order within rounds, as in the runner. The second is slower by `factor`.
fn told_apart_in_rounds(recorded: &[u64], rounds: usize, factor: f64) -> usize {
    let told_apart = |experiment: &u64| {
        let mut random = Pcg64Mcg::seed_from_u64(*experiment);
        let first = random.random_range(0..=recorded.len() - 2 * rounds);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for pair in recorded[first..first + 2 * rounds].chunks(2) {
            let a_first = random.random_range(0..2) == 0;
            let (of_a, of_b) = if a_first {
                (pair[0], pair[1])
            } else {
                (pair[1], pair[0])
            };
            a.push(of_a);
            b.push(slowed(of_b, factor));
        }
        CaseReport::from_record(case(&a))
            .verdict_to(&CaseReport::from_record(case(&b)))
            .is_difference()
    };
    (0..EXPERIMENTS).filter(told_apart).count()
}

fn compare(a: &[Vec<u64>], b: &[Vec<u64>]) -> Comparison {
    let side = |name: &str, runs: &[Vec<u64>]| Side {
        name: name.to_owned(),
        runs: (0..)
            .zip(runs)
            .map(|(number, times): (u32, _)| ComparedRun {
                name: name.to_owned(),
                run: RunRecord {
                    id: format!("{name}{number}"),
                    cases: vec![case(times)],
                    ..example_run()
                },
            })
            .collect(),
    };
    Comparison::from_sides(side("A", a), side("B", b)).unwrap()
}

type Outcome = fn(&Comparison) -> bool;

const SLOWER: Outcome = |comparison| comparison.cases[0].verdict == Verdict::Slower;
const DIFFERENT: Outcome = |comparison| comparison.cases[0].verdict.is_difference();
const FAILS_A_BUILD: Outcome = |comparison| {
    let limit_ppm = Some(50_000);
    !Comparison {
        limit_ppm,
        ..comparison.clone()
    }
    .slower()
    .is_empty()
};

/// Runs of the sides alternate.
fn outcomes_in_turns(
    recorded: &[u64],
    runs: usize,
    samples: usize,
    factor: f64,
    outcome: Outcome,
) -> usize {
    let length = 2 * runs * samples;
    let has_outcome = |experiment: &u64| {
        let mut random = Pcg64Mcg::seed_from_u64(*experiment);
        let first = random.random_range(0..=recorded.len() - length);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for (index, block) in recorded[first..first + length].chunks(samples).enumerate() {
            match index % 2 {
                0 => a.push(block.to_vec()),
                _ => b.push(block.iter().map(|&time| slowed(time, factor)).collect()),
            }
        }
        outcome(&compare(&a, &b))
    };
    (0..EXPERIMENTS).filter(has_outcome).count()
}

/// How often one of nine equal cases was told from the fastest, in all experiments together.
fn told_from_the_fastest(recorded: &[u64], rounds: usize) -> usize {
    const CASES: usize = 10;
    let told = |experiment: u64| {
        let mut random = Pcg64Mcg::seed_from_u64(experiment);
        let first = random.random_range(0..=recorded.len() - CASES * rounds);
        let mut times = vec![Vec::new(); CASES];
        for round in recorded[first..first + CASES * rounds].chunks(CASES) {
            let mut order: Vec<usize> = (0..CASES).collect();
            for place in (1..CASES).rev() {
                order.swap(place, random.random_range(0..=place));
            }
            order
                .iter()
                .zip(round)
                .for_each(|(&case, &time)| times[case].push(time));
        }
        let named = |(number, times): (usize, &Vec<u64>)| CaseRecord {
            case: example_case("noise", &format!("write,size={number}"), Vec::new()).case,
            ..case(times)
        };
        let records = times.iter().enumerate().map(named).collect();
        let mut cases = cases(&mut RunRecord {
            cases: records,
            ..example_run()
        });
        cases.sort_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
        cases[1..]
            .iter()
            .filter(|other| other.verdict_to(&cases[0]).is_difference())
            .count()
    };
    (0..EXPERIMENTS).map(told).sum()
}

/// Rounded up.
fn in_percent(count: usize) -> usize {
    count.div_ceil(2)
}

fn of_each(count: impl Fn(&[u64]) -> usize) -> [usize; 3] {
    RECORDED.map(|(_, csv)| count(&times(csv)))
}

#[test]
fn the_bound_on_false_alarms_is_that_of_the_binomial_distribution() {
    let (mut term, mut below) = (0.95f64.powi(200), 0.0);
    for wrong in 0..=MOST_FALSE {
        below += term;
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let ratio = (200 - wrong) as f64 / (wrong + 1) as f64;
        term *= ratio * 0.05 / 0.95;
    }
    assert!(1.0 - below < 1e-3, "{below}");
}

/// Random order guarantees the error rate for any noise if there are at least 20 rounds. With fewer it is that of a
/// symmetric distribution.
#[test]
fn a_case_differs_from_itself_no_more_often_than_promised() {
    for rounds in [6, 8, 12, 20, 40] {
        let told = of_each(|recorded| told_apart_in_rounds(recorded, rounds, 1.0));
        assert!(
            told.iter().all(|&told| told <= MOST_FALSE),
            "{rounds} rounds: {told:?} of {EXPERIMENTS}"
        );
    }
}

/// The tables of `docs/explanation/statistics.md`, in percent, for `tmpfs`, `ext4` and `ext4-fdatasync`.
#[test]
fn five_percent_are_found_in_rounds_as_often_as_documented() {
    let found = [6, 8, 20, 40].map(|rounds| {
        of_each(|recorded| told_apart_in_rounds(recorded, rounds, 1.05)).map(in_percent)
    });
    assert_eq!(found, [[3, 54, 10], [2, 62, 7], [19, 93, 10], [36, 99, 18]]);
}

#[test]
fn several_runs_in_turns_withstand_drift_as_documented() {
    let wrong = [4, 8].map(|runs| {
        of_each(|recorded| outcomes_in_turns(recorded, runs, 20, 1.0, DIFFERENT)).map(in_percent)
    });
    assert_eq!(wrong, [[0, 0, 0], [0, 0, 0]]);
    let found = [4, 8].map(|runs| {
        of_each(|recorded| outcomes_in_turns(recorded, runs, 20, 1.05, SLOWER)).map(in_percent)
    });
    assert_eq!(found, [[0, 79, 0], [0, 97, 0]]);
}

/// The fastest case is partly so by chance: false "slower" verdicts per thousand comparisons with nine equal
/// cases.
#[test]
fn the_fastest_of_equal_cases_differs_from_at_most_9_percent() {
    let told = [6, 20].map(|rounds| {
        of_each(|recorded| told_from_the_fastest(recorded, rounds)).map(|told| told * 1000 / 1800)
    });
    assert_eq!(told, [[36, 35, 83], [48, 7, 63]]);
}

#[test]
fn a_build_that_is_the_same_does_not_fail_with_several_runs() {
    let fails = |runs| {
        of_each(|recorded| outcomes_in_turns(recorded, runs, 20, 1.0, FAILS_A_BUILD))
            .map(in_percent)
    };
    assert_eq!([fails(4), fails(8)], [[0; 3]; 2]);
}
