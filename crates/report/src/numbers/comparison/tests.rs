use writebench_model::{Durability, Outcome, Sample};
use writebench_testkit::{example_case, example_run, example_target};

use super::*;
use crate::formats::terminal::Detail;

fn case(name: &str, write_ns: &[u64]) -> CaseRecord {
    let samples = (0u32..).zip(write_ns).map(|(round, &write_ns)| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        sample.bytes = 1 << 30;
        sample.phases_ns.write = write_ns * 1_000_000;
        sample
    });
    example_case("test", name, samples.collect())
}

fn run(number: u32, cases: Vec<CaseRecord>) -> ComparedRun {
    let run = RunRecord {
        id: number.to_string(),
        cases,
        ..example_run()
    };
    ComparedRun {
        name: format!("run {number}"),
        run,
    }
}

fn side(name: &str, runs: Vec<ComparedRun>) -> Side {
    Side {
        name: name.to_owned(),
        runs,
    }
}

const FAST: [u64; 6] = [100, 102, 98, 101, 99, 103];
const SLOW: [u64; 6] = [200, 204, 196, 202, 198, 206];

fn two(a: Vec<CaseRecord>, b: Vec<CaseRecord>) -> Result<Comparison, CompareError> {
    Comparison::from_sides(side("A", vec![run(1, a)]), side("B", vec![run(2, b)]))
}

fn slower(comparison: &Comparison, limit_ppm: u32) -> usize {
    Comparison {
        limit_ppm: Some(limit_ppm),
        ..comparison.clone()
    }
    .slower()
    .len()
}

fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    comparison.cases.iter().map(|case| case.verdict).collect()
}

fn four(first: u32, cases: &[CaseRecord]) -> Vec<ComparedRun> {
    (first..first + 4)
        .map(|number| run(number, cases.to_vec()))
        .collect()
}

fn four_each(a: &[CaseRecord], b: &[CaseRecord]) -> Comparison {
    Comparison::from_sides(side("A", four(1, a)), side("B", four(11, b))).unwrap()
}

#[test]
fn a_side_that_takes_twice_as_long_has_half_the_speed() {
    let (fast, slow) = ([case("write", &FAST)], [case("write", &SLOW)]);
    let compared = four_each(&fast, &slow);
    assert!(
        (compared.cases[0].speed_ratio.estimate - 0.5).abs() < 1e-9,
        "{:?}",
        compared.cases
    );
    assert_eq!(
        (compared.unit, verdicts(&compared)),
        (ObservationUnit::Run, vec![Verdict::Slower])
    );
    assert_eq!(
        (slower(&compared, 450_000), slower(&compared, 550_000)),
        (1, 0)
    );
    let turned = four_each(&slow, &fast);
    assert_eq!(
        (verdicts(&turned), slower(&turned, 0)),
        (vec![Verdict::Faster], 0)
    );
    assert_eq!(verdicts(&four_each(&fast, &fast)), [Verdict::Same]);
}

#[test]
fn one_run_per_side_is_inconclusive_however_far_apart_they_are() {
    let compared = two(vec![case("write", &FAST)], vec![case("write", &SLOW)]).unwrap();
    assert_eq!(
        (compared.unit, verdicts(&compared)),
        (ObservationUnit::Run, vec![Verdict::Inconclusive])
    );
    assert!(compared.is_of_single_runs() && slower(&compared, 50_000) == 0);
    let text = crate::formats::tests::plain(&terminal(&compared, Some(80)));
    assert!(
        text.contains("0.500") && text.contains("inconclusive: one run per side"),
        "{text}"
    );
    assert!(text.contains("Take four runs of each"), "{text}");
}

#[test]
fn two_targets_of_one_run_are_compared_in_its_rounds() {
    let on = |target: &str, times: &[u64]| {
        let cases = vec![CaseRecord {
            target: target.to_owned(),
            ..case("write", times)
        }];
        let run = RunRecord {
            targets: vec![example_target(target)],
            cases,
            ..example_run()
        };
        side(
            target,
            vec![ComparedRun {
                name: target.to_owned(),
                run,
            }],
        )
    };
    let compared = Comparison::from_sides(on("ext4", &FAST), on("xfs", &SLOW)).unwrap();
    assert_eq!(
        (compared.unit, verdicts(&compared)),
        (ObservationUnit::Round, vec![Verdict::Slower])
    );
    assert!(!compared.is_of_single_runs());
    let of_it = &compared.cases[0];
    assert!(
        (of_it.b_bytes_per_s / of_it.a_bytes_per_s - of_it.speed_ratio.estimate).abs() < 1e-9,
        "{of_it:?}"
    );
}

/// A thousand samples do not replace runs.
#[test]
fn several_runs_make_the_run_the_unit() {
    let runs = |first: u32, times: &[u64]| -> Vec<ComparedRun> {
        (first..)
            .zip(times)
            .map(|(number, &time)| run(number, vec![case("write", &[time; 50])]))
            .collect()
    };
    let compare = |a: &[u64], b: &[u64]| {
        Comparison::from_sides(side("A", runs(1, a)), side("B", runs(11, b))).unwrap()
    };
    let apart = compare(&[100, 101], &[120, 121]);
    assert_eq!(
        (apart.unit, verdicts(&apart)),
        (ObservationUnit::Run, vec![Verdict::Inconclusive])
    );
    let enough = compare(&[100, 101, 102, 103], &[120, 121, 122, 123]);
    assert_eq!(
        (enough.cases[0].a_count, verdicts(&enough)),
        (4, vec![Verdict::Slower])
    );
    let mixed = compare(&[100, 121, 102, 123], &[120, 101, 122, 103]);
    assert_eq!(verdicts(&mixed), [Verdict::Inconclusive]);
    // A fifth is within the margin of a quarter.
    assert_eq!(verdicts(&mixed.with_margin(0.25)), [Verdict::Same]);
}

#[test]
fn other_work_of_the_same_name_is_refused_with_the_difference() {
    let mut durable = case("write", &FAST);
    durable.workload.durability = Durability::Durable;
    durable.workload.bytes = 5;
    let error = two(vec![case("write", &FAST)], vec![durable])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "case write is different work in run 1 and run 2 (bytes: 1073741824 → 5, durability: cached → durable): \
         unequal work is not compared"
    );
}

#[test]
fn a_run_cannot_be_compared_with_itself_nor_counted_twice() {
    let one = || run(1, vec![case("write", &FAST)]);
    let twice = Comparison::from_sides(side("A", vec![one()]), side("B", vec![one()])).unwrap_err();
    assert!(
        twice
            .to_string()
            .contains("run 1 and run 1 are the same run"),
        "{twice}"
    );
    let other = run(2, vec![case("write", &FAST)]);
    assert!(Comparison::from_sides(side("A", vec![one(), one()]), side("B", vec![other])).is_err());
}

#[test]
fn cases_of_one_side_are_listed_and_missing_values_have_a_reason() {
    let mut disturbed = case("disturbed", &FAST);
    disturbed
        .samples
        .iter_mut()
        .for_each(|sample| sample.disturbed = Some("slow memory".to_owned()));
    let both = || [case("disturbed", &FAST), case("missing", &FAST)];
    let a = [&both()[..], &[case("old", &FAST)]].concat();
    let b = vec![disturbed, case("missing", &[]), case("new", &FAST)];
    let compared = two(a, b).unwrap();
    assert_eq!(compared.undecided_cases(), 3, "all that A has");
    let names = |cases: &[CaseOn]| cases.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (names(&compared.only_in_a), names(&compared.only_in_b)),
        (vec!["old".to_owned()], vec!["new".to_owned()])
    );
    assert!(compared.cases.is_empty());
    let text = crate::formats::tests::plain(&terminal(&compared, Some(200)));
    assert!(
        text.contains("run 2: 6 of 6 samples were disturbed: slow memory. Remove this cause"),
        "{text}"
    );
    let why: Vec<&str> = compared
        .excluded
        .iter()
        .map(|excluded| excluded.reason.as_str())
        .collect();
    assert_eq!(
        why,
        [
            "every sample was disturbed",
            "not measured: the run ended before its turn"
        ]
    );
    let nothing = two(vec![case("old", &FAST)], vec![case("new", &FAST)]).unwrap_err();
    assert_eq!(
        nothing,
        CompareError::NothingInCommon {
            a: "A".to_owned(),
            b: "B".to_owned()
        }
    );
}

#[test]
fn other_changes_are_listed_old_and_new() {
    let mut new = run(2, vec![case("write", &FAST)]);
    new.run.targets[0].environment.system.kernel = "Linux 7.0".to_owned();
    new.run.targets[0].environment.filesystem.mount_options = "rw,noatime".to_owned();
    new.run.targets[0].environment.device = None;
    new.run.targets[0]
        .environment
        .tunables
        .insert("proc/sys/vm/dirty_ratio".to_owned(), "40".to_owned());
    // No effect on speed.
    new.run.settings.seed = 43;
    new.run.settings.samples = 60;
    let old = run(1, vec![case("write", &FAST)]);
    let compared = Comparison::from_sides(side("A", vec![old]), side("B", vec![new])).unwrap();
    let changes = compared.changes();
    let what: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(
        what,
        [
            "kernel",
            "mount options",
            "device",
            "/proc/sys/vm/dirty_ratio"
        ]
    );
    assert_eq!(changes[1].a, ["rw,relatime"]);
    assert_eq!(changes[1].b, ["rw,noatime"]);
    assert_eq!(changes[3].a, ["unknown"]);
}

#[test]
fn differences_within_a_side_are_listed() {
    let mut second = run(2, vec![case("write", &FAST)]);
    second.run.version = "0.2.0".to_owned();
    let a = side("A", vec![run(1, vec![case("write", &FAST)]), second]);
    let compared =
        Comparison::from_sides(a, side("B", vec![run(3, vec![case("write", &FAST)])])).unwrap();
    let changes = compared.changes();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].a, ["0.1.0", "0.2.0"]);
}

fn shown() -> Comparison {
    let mut new = run(
        2,
        vec![
            case("write", &SLOW),
            case("pwrite,chunk=64KiB", &FAST),
            case("new", &FAST),
        ],
    );
    new.run.targets[0].environment.system.kernel = "Linux 7.0".to_owned();
    new.run.targets[0].environment.device = None;
    let cases = vec![
        case("write", &FAST),
        case("pwrite,chunk=64KiB", &FAST),
        case("mmap", &FAST),
    ];
    new.run.cases.push(case("mmap", &[]));
    Comparison::from_sides(
        side("before", vec![run(1, cases)]),
        side("run 2", vec![new]),
    )
    .unwrap()
}

#[test]
fn eighty_columns_are_enough() {
    let text = terminal(&shown(), Some(80));
    let plain = crate::formats::tests::plain(&text);
    assert!(
        plain.lines().all(|line| line.chars().count() <= 80),
        "{plain}"
    );
    insta::assert_snapshot!(plain);
}

#[test]
fn a_name_as_wide_as_the_terminal_is_above_its_values() {
    let name = "pwrite,size=64KiB,chunk=1GiB,threads=2,files=per-thread,prepare=fallocate";
    let compared = two(vec![case(name, &FAST)], vec![case(name, &SLOW)]).unwrap();
    let text = crate::formats::tests::plain(&terminal(&compared, Some(80)));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != name)
        .take(2)
        .collect();
    assert!(
        lines[1].contains("0.500") && lines[1].ends_with("1 / 1"),
        "{text}"
    );
}

#[test]
fn cases_excluded_for_one_reason_share_a_line() {
    let cases = |samples: &[u64]| {
        vec![
            case("write", &FAST),
            case("mmap", samples),
            case("pwrite", samples),
        ]
    };
    let compared = two(cases(&[]), cases(&[])).unwrap();
    let text = terminal(&compared, None);
    let line =
        "Excluded from run 1, run 2: mmap, pwrite: not measured: the run ended before its turn";
    assert!(
        text.contains(line) && text.matches("Excluded").count() == 1,
        "{text}"
    );
}

#[test]
fn a_long_table_has_only_differences_unless_all_is_given() {
    let names: Vec<String> = (0..24)
        .map(|number| format!("write,size={number}KiB"))
        .collect();
    let side = |slow: usize| {
        names
            .iter()
            .enumerate()
            .map(move |(n, name)| case(name, if n == slow { &SLOW } else { &FAST }))
    };
    let compared = four_each(&side(3).collect::<Vec<_>>(), &side(7).collect::<Vec<_>>());
    let rows = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("write,"))
            .count()
    };
    let usual = terminal(&compared, None);
    assert!(
        rows(&usual) == 2 && usual.contains("`compare --all` has all rows"),
        "{usual}"
    );
    let all = crate::formats::comparison::terminal(&compared, Detail::All, Some(120));
    assert!(rows(&all) == 24 && !all.contains("--all"), "{all}");
}

fn terminal(comparison: &Comparison, width: Option<usize>) -> String {
    crate::formats::comparison::terminal(comparison, Detail::Usual, width)
}

#[test]
fn json_has_the_same_comparison() {
    let text = crate::formats::comparison::json(&shown());
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&document["comparison"], &document["observation_unit"]),
        (&4.into(), &"run".into())
    );
    assert_eq!(document["cases"][0]["verdict"], "inconclusive");
    let estimate = document["cases"][0]["speed_ratio"]["value"]
        .as_f64()
        .unwrap();
    assert!((estimate - 0.5).abs() < 1e-9, "{estimate}");
    assert_eq!(document["changes"][0]["name"], "kernel");
    assert_eq!(
        document["excluded"][0]["reason"],
        "not measured: the run ended before its turn"
    );
    assert_eq!(document["only_in_b"][0], "new");
    let summary = serde_json::json!({"faster": 0, "slower": 0, "same": 0, "inconclusive": 2});
    assert_eq!(document["summary"], summary);
}

/// The values in a printed row of [`figures_agree`]: A, B, B / A and the interval's ends.
fn printed(comparison: &Comparison) -> [f64; 5] {
    let text = crate::formats::tests::plain(&terminal(comparison, None));
    let row = text
        .lines()
        .find(|line| line.starts_with("write "))
        .expect("a row");
    let numbers: Vec<f64> = row
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    [numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]]
}

/// The example of a user: the row had 0.497, 0.417 and 0.717.
#[test]
fn the_ratio_of_four_runs_is_that_of_the_values_beside_it() {
    let side_of = |name: &str, first: u32, speeds: [f64; 4]| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "milliseconds of a GiB"
        )]
        let time = |speed: f64| (1_073.741_824 / speed).round() as u64;
        let runs = (first..)
            .zip(speeds)
            .map(|(number, speed)| run(number, vec![case("write", &[time(speed); 6])]));
        side(name, runs.collect())
    };
    let a = side_of("A", 1, [0.228, 0.466, 0.529, 0.599]);
    let b = side_of("B", 11, [0.245, 0.256, 0.579, 0.666]);
    let [a, b, ratio, low, high] = printed(&Comparison::from_sides(a, b).unwrap());
    assert!((ratio - b / a).abs() < 0.002, "{ratio} is not {b} / {a}");
    assert!(low <= ratio && ratio <= high, "{low} {ratio} {high}");
}

proptest::proptest! {
    #[test]
    fn figures_agree(
        of_a in proptest::collection::vec(1u64..1_000_000, 1..10),
        of_b in proptest::collection::vec(1u64..1_000_000, 1..10),
        minimizes_p99 in proptest::bool::ANY,
    ) {
        let runs = |first: u32, times: &[u64]| -> Vec<ComparedRun> {
            let of_run = |(number, &time): (u32, &u64)| {
                let mut of_run = run(number, vec![case("write", &[time, time + 1 + time / 3])]);
                let objective = if minimizes_p99 { Objective::P99 } else { Objective::Time };
                of_run.run.settings.objective = objective;
                of_run
            };
            (first..).zip(times).map(of_run).collect()
        };
        let compared = Comparison::from_sides(side("A", runs(1, &of_a)), side("B", runs(101, &of_b))).unwrap();
        let ComparedCase { a_bytes_per_s, b_bytes_per_s, speed_ratio, .. } = &compared.cases[0];
        let quotient = b_bytes_per_s / a_bytes_per_s;
        proptest::prop_assert!((speed_ratio.estimate / quotient - 1.0).abs() < 1e-9, "{:?}", compared.cases);
        proptest::prop_assert!(speed_ratio.low <= quotient * (1.0 + 1e-9));
        proptest::prop_assert!(speed_ratio.high >= quotient * (1.0 - 1e-9));
    }
}
