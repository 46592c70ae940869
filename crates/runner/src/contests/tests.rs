use std::cell::Cell;

use writebench_model::{Case, Experience};
use writebench_stats::Rounds;

use super::*;
use crate::contest::Rule;

fn times(taken: &[Vec<SampleSummary>]) -> Vec<Vec<(u32, f64)>> {
    let time = |sample: &SampleSummary| (sample.round, as_f64(sample.total_ns));
    taken
        .iter()
        .map(|samples| samples.iter().map(time).collect())
        .collect()
}

/// A run of contests whose samples take `seconds`, plus a tenth of a second around them.
struct World {
    plan: Vec<Case>,
    taken: Vec<Vec<SampleSummary>>,
    elapsed: Duration,
    decisions: Vec<Decision>,
}

impl World {
    fn samples(&self, name: &str) -> usize {
        let place = self.plan.iter().position(|case| case.to_string() == name);
        place.map_or(0, |place| self.taken[place].len())
    }
}

fn run(goals: &[&[&str]], budget_s: Option<u64>, milliseconds: impl Fn(&Case) -> u64) -> World {
    run_searching(goals, &[], budget_s, milliseconds)
}

fn run_searching(
    goals: &[&[&str]],
    candidates: &[Case],
    budget_s: Option<u64>,
    milliseconds: impl Fn(&Case) -> u64,
) -> World {
    run_limited(goals, candidates, (budget_s, None), milliseconds)
}

/// All goals have the same further candidates.
fn run_limited(
    goals: &[&[&str]],
    candidates: &[Case],
    (budget_s, max_bytes): (Option<u64>, Option<u64>),
    milliseconds: impl Fn(&Case) -> u64,
) -> World {
    let names = goals.concat();
    let mut plan: Vec<Case> = names
        .iter()
        .map(|name| Case::parse(name).unwrap())
        .collect();
    let mut first = 0;
    let mut contest = |goal: &&[&str]| {
        let cases = (first..)
            .zip(plan[first..first + goal.len()].iter().cloned())
            .collect();
        first += goal.len();
        let contest = Contest::new(0, cases, Rule::default());
        vec![contest.searching(candidates.to_vec(), &Experience::default())]
    };
    let contests = goals.iter().map(&mut contest).collect();
    let budget = budget_s.map(Duration::from_secs);
    let budget_ns = budget.map(writebench_model::nanoseconds);
    let settings = Settings {
        samples: 6,
        budget_ns,
        max_bytes,
        ..writebench_testkit::example_run().settings
    };
    let mut schedule = Contests::new(contests, &settings);
    let mut taken: Vec<Vec<SampleSummary>> = vec![Vec::new(); plan.len()];
    let mut elapsed = Duration::ZERO;
    let mut bytes = 0;
    'run: for round in 0..2000 {
        let spent = |elapsed, bytes| Spent {
            elapsed,
            bytes,
            left_bytes: max_bytes.map(|most| most - bytes),
        };
        let wanted = schedule.wanted(&taken, spent(elapsed, bytes)).to_vec();
        plan.extend(schedule.added().into_iter().map(|planned| planned.case));
        taken.resize(plan.len(), Vec::new());
        for index in (0..wanted.len()).filter(|&index| wanted[index] > 0) {
            let after = bytes + plan[index].bytes_written();
            // The supervisor ends the run, too.
            if max_bytes.is_some_and(|most| after > most) {
                break 'run;
            }
            if budget.is_none_or(|budget| elapsed < budget) {
                schedule.wanted(&taken, spent(elapsed, bytes));
                let time = milliseconds(&plan[index]);
                bytes = after;
                elapsed += Duration::from_millis(100 + time);
                taken[index].push(SampleSummary::good(round, 1_000_000 * time));
            }
        }
    }
    let target = PlannedTarget {
        name: "/data".to_owned(),
        ..PlannedTarget::default()
    };
    World {
        decisions: schedule.decisions(&taken, &[target]),
        plan,
        taken,
        elapsed,
    }
}

fn has(case: &Case, part: &str) -> bool {
    case.to_string().split(',').any(|own| own == part)
}

/// 95 to 105 % of the time, differently at each call.
fn noisy(turn: &Cell<u64>, milliseconds: u64) -> u64 {
    noisier(turn, milliseconds, 5)
}

/// Up to so many percent more or less, by a linear congruential generator.
fn noisier(turn: &Cell<u64>, milliseconds: u64, percent: u64) -> u64 {
    turn.set(
        turn.get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1),
    );
    milliseconds * (100 - percent + (turn.get() >> 33) % (2 * percent + 1)) / 100
}

#[test]
fn a_slow_case_is_dropped_after_three_samples_and_the_slow_baseline_after_six() {
    let turn = Cell::new(1);
    let time = |case: &Case| noisy(&turn, if has(case, "chunk=4MiB") { 1000 } else { 3000 });
    let world = run(&[&["write", "write,chunk=4MiB", "pwrite"]], None, time);
    assert_eq!(world.samples("pwrite"), 3);
    assert_eq!(world.samples("write"), 6);
    assert!(world.samples("write,chunk=4MiB") >= 6);
}

#[test]
fn a_goal_of_small_files_uses_the_time_when_the_bytes_of_the_others_are_spent() {
    let turn = Cell::new(1);
    let time = |_: &Case| noisier(&turn, 100, 80);
    let goals: &[&[&str]] = &[
        &["write,size=64MiB", "pwrite,size=64MiB", "writev,size=64MiB"],
        &["write,size=1MiB", "pwrite,size=1MiB", "writev,size=1MiB"],
    ];
    let samples = |max_bytes| {
        let world = run_limited(goals, &[], (Some(60), max_bytes), time);
        ["write,size=64MiB", "write,size=1MiB"].map(|name| world.samples(name))
    };
    let [large, small] = samples(Some(3100 << 20));
    let [unlimited, _] = samples(None);
    assert!(large < unlimited, "{large}, {unlimited}");
    assert!(small > 2 * large, "{small}, {large}");
}

#[test]
fn each_contest_with_samples_has_a_decision() {
    let turn = Cell::new(1);
    let time = |case: &Case| noisy(&turn, if has(case, "chunk=4MiB") { 1000 } else { 2000 });
    let goals: &[&[&str]] = &[
        &["write", "write,chunk=4MiB", "pwrite"],
        &["write,sync=fsync", "pwrite,sync=fsync"],
    ];
    let world = run(goals, None, time);
    let [buffered, durable] = world.decisions.as_slice() else {
        panic!("{:?}", world.decisions)
    };
    let answer = buffered.answer.as_ref().unwrap();
    assert_eq!(answer.case, "write,chunk=4MiB");
    assert!(answer.bound() <= 1.02, "{answer:?}");
    assert_eq!((buffered.target.as_str(), buffered.compared), ("/data", 3));
    assert_eq!(
        durable.workload,
        Case::parse("write,sync=fsync").unwrap().workload()
    );
    assert!(run(goals, Some(0), time).decisions.is_empty());
}

#[test]
fn a_decision_of_disturbed_samples_says_that_they_count() {
    let plan = ["write", "pwrite"].map(|name| Case::parse(name).unwrap());
    let contest = Contest::new(0, plan.into_iter().enumerate().collect(), Rule::default());
    let targets = [PlannedTarget::default()];
    let disturbed = |samples: u32, time_ns| -> Vec<SampleSummary> {
        let sample = |round| SampleSummary {
            is_disturbed: true,
            ..SampleSummary::good(round, time_ns)
        };
        (0..samples).map(sample).collect()
    };
    let few = contest
        .decision(&[disturbed(5, 1000), disturbed(5, 900)], &targets)
        .unwrap();
    assert_eq!((few.answer, few.counts_disturbed), (None, false));
    let enough = contest
        .decision(&[disturbed(6, 1000), disturbed(6, 900)], &targets)
        .unwrap();
    assert!(enough.counts_disturbed && enough.answer.is_some());
}

#[test]
fn useless_choices_are_taken_from_the_answer() {
    let turn = Cell::new(1);
    let time = |case: &Case| {
        noisy(
            &turn,
            if has(case, "prepare=fallocate") {
                1000
            } else {
                2000
            },
        )
    };
    let world = run(
        &[&["write", "pwrite,chunk=4MiB,threads=2,prepare=fallocate"]],
        None,
        time,
    );
    let simple =
        ["write,prepare=fallocate", "pwrite,prepare=fallocate"].map(|name| world.samples(name));
    assert!(simple.iter().any(|&samples| samples >= 6), "{simple:?}");
    assert!(world.taken.iter().all(|samples| !samples.is_empty()));
}

#[test]
fn an_answer_that_joins_late_is_compared_with_the_baseline() {
    let turn = Cell::new(1);
    // The finalist is beaten by its own simpler form, which then has no other case in its rounds.
    let time = |case: &Case| match case.to_string().as_str() {
        "write" => noisy(&turn, 3000),
        "pwrite" => noisy(&turn, 1000),
        _ => noisy(&turn, 2000),
    };
    let world = run(&[&["write", "pwrite,threads=2"]], None, time);
    let samples = &world.taken;
    let rounds = Rounds::fit(&times(samples));
    let is_candidate = |place: &usize| samples[*place].len() >= 6;
    let answer = (1..world.plan.len())
        .filter(is_candidate)
        .min_by_key(|&place| world.plan[place].complexity())
        .unwrap();
    let ratio = rounds.ratio(answer, (&rounds, 0)).unwrap();
    assert!(
        ratio.confidence >= 0.95,
        "{}: {ratio:?}",
        world.plan[answer]
    );
}

#[test]
fn a_case_returns_if_the_first_samples_of_the_leader_were_lucky() {
    let turn = Cell::new(1);
    let samples = Cell::new(0);
    // As fast as plain write, except for its first three samples.
    let time = |case: &Case| {
        if has(case, "chunk=4MiB") {
            samples.set(samples.get() + 1);
        }
        let is_lucky = has(case, "chunk=4MiB") && samples.get() <= 3;
        noisy(&turn, if is_lucky { 700 } else { 1000 })
    };
    let world = run(&[&["write", "write,chunk=4MiB", "pwrite"]], None, time);
    let [lucky, other] = ["write,chunk=4MiB", "pwrite"].map(|name| world.samples(name));
    assert!(other >= lucky / 2, "{other} of {lucky}");
}

#[test]
fn a_contest_continues_while_noise_may_hide_a_gain() {
    let turn = Cell::new(1);
    let time = |case: &Case| noisier(&turn, 1000, if has(case, "threads=2") { 40 } else { 1 });
    let world = run(&[&["write", "pwrite,threads=2"]], None, time);
    assert!(
        world.samples("pwrite,threads=2") >= 60,
        "{:?}",
        world.samples("pwrite,threads=2")
    );
}

#[test]
fn a_decided_contest_leaves_its_time_to_the_others() {
    let turn = Cell::new(1);
    // The first goal is clear, and the two cases of the second are alike.
    let time = |case: &Case| match case.to_string().as_str() {
        "write" => 400,
        "pwrite" => 100,
        "write,sync=fsync" => noisier(&turn, 300, 30),
        _ => noisier(&turn, 300, 30),
    };
    let world = run(
        &[
            &["write", "pwrite"],
            &["write,sync=fsync", "pwrite,sync=fsync"],
        ],
        Some(40),
        time,
    );
    let samples = ["write", "write,sync=fsync"].map(|name| world.samples(name));
    assert!(samples[1] > 3 * samples[0], "{samples:?}");
    assert!(world.elapsed.as_secs_f64() > 36.0, "{:?}", world.elapsed);
}

#[test]
fn the_last_goals_are_left_out_if_the_time_does_not_pay_for_all() {
    let goals: &[&[&str]] = &[
        &["write", "pwrite"],
        &["write,sync=fsync", "pwrite,sync=fsync"],
        &["write,prepare=overwrite", "pwrite,prepare=overwrite"],
    ];
    let turn = Cell::new(1);
    let world = run(goals, Some(58), |_| noisy(&turn, 500));
    assert!(world.samples("write") >= 6 && world.samples("write,sync=fsync") >= 6);
    assert_eq!(world.samples("write,prepare=overwrite"), 0);
    // 45 samples of each take 81 seconds, but the first goals need only some of theirs.
    let world = run(goals, Some(65), |_| noisy(&turn, 500));
    assert!(
        world.samples("write,prepare=overwrite") >= 6,
        "{:?}",
        world.plan
    );
}

#[test]
fn a_slow_first_sample_leaves_no_goal_out() {
    let turn = Cell::new(1);
    let first = Cell::new(true);
    let time = |_: &Case| {
        if first.replace(false) {
            8000
        } else {
            noisy(&turn, 100)
        }
    };
    let goals: &[&[&str]] = &[
        &["write", "pwrite"],
        &["write,sync=fsync", "pwrite,sync=fsync"],
    ];
    let world = run(goals, Some(30), time);
    assert!(world.samples("write,sync=fsync") >= 6, "{:?}", world.plan);
}

#[test]
fn each_goal_searches_within_its_share_of_the_time() {
    let chunk = |mib: u64| Case::parse(&format!("pwrite,chunk={mib}MiB,size=1GiB")).unwrap();
    let candidates: Vec<Case> = (2..200).map(chunk).collect();
    let goals: &[&[&str]] = &[
        &["write", "pwrite"],
        &["writev", "pwritev"],
        &["fwrite", "mmap"],
    ];
    let turn = Cell::new(1);
    let world = run_searching(goals, &candidates, Some(90), |_| noisy(&turn, 100));
    // A sample takes 0.2 s, so a third of the time pays for 150.
    let of_goal = |names: &[&str]| -> usize { names.iter().map(|name| world.samples(name)).sum() };
    for names in goals {
        assert!(of_goal(names) >= 12, "{names:?}: {}", of_goal(names));
    }
    assert_eq!(world.decisions.len(), 3);
    for decision in &world.decisions {
        assert!(
            decision.answer.is_some() && decision.candidates >= 200,
            "{decision:?}"
        );
        // 60 % of a third, of which three blocks and a final take a part.
        assert!(decision.compared >= 3, "{decision:?}");
    }
    let tried = world.taken.iter().filter(|taken| !taken.is_empty()).count();
    assert!((60..240).contains(&tried), "{tried} cases");
    assert!(
        world.elapsed >= Duration::from_secs(85),
        "{:?}",
        world.elapsed
    );
}

#[test]
fn an_answer_names_the_cases_that_are_as_good() {
    let turn = Cell::new(1);
    let time = |case: &Case| noisier(&turn, if has(case, "threads=2") { 2000 } else { 1000 }, 3);
    let world = run(&[&["write", "pwrite", "pwrite,threads=2"]], None, time);
    let answer = world.decisions[0].answer.as_ref().unwrap();
    assert_eq!(answer.case, "write");
    assert_eq!(answer.as_good, ["pwrite"]);
}
