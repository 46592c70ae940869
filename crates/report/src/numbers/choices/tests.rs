use proptest::prelude::*;
use writebench_model::{CaseOrigin, CaseRecord, Outcome, Sample, Stage};
use writebench_testkit::example_case;

use super::*;

fn share_of(groups: &[Vec<f64>]) -> Option<f64> {
    share(groups, squares(&groups.concat()))
}

fn groups() -> impl Strategy<Value = Vec<Vec<f64>>> {
    proptest::collection::vec(proptest::collection::vec(10.0..30.0_f64, 1..20), 2..6)
}

proptest! {
    #[test]
    fn a_share_is_from_0_to_1_and_needs_candidates(groups in groups()) {
        match share_of(&groups) {
            Some(share) => prop_assert!((0.0..=1.0).contains(&share)),
            None => prop_assert!(groups.concat().len() < groups.len() + FEWEST_DEGREES_OF_FREEDOM),
        }
    }

    #[test]
    fn a_share_depends_neither_on_the_unit_nor_on_the_order(groups in groups(), factor in 0.001..1000.0_f64) {
        let mut other: Vec<Vec<f64>> = groups.clone();
        other.reverse();
        other.iter_mut().flatten().for_each(|value| *value += factor.ln());
        let (one, other) = (share_of(&groups).unwrap_or(-1.0), share_of(&other).unwrap_or(-1.0));
        prop_assert!((one - other).abs() < 1e-6, "{one} {other}");
    }

    #[test]
    fn a_choice_that_decides_alone_explains_everything(times in proptest::collection::vec(1.0..9.0_f64, 2..5)) {
        prop_assume!(times.iter().any(|time| (time - times[0]).abs() > 0.1));
        let groups: Vec<Vec<f64>> = times.iter().map(|&time| vec![time; 12]).collect();
        prop_assert!(share_of(&groups).unwrap() > 0.999_999);
    }

    #[test]
    fn candidates_without_the_choice_leave_less_to_explain(groups in groups(), others in 0.0..100.0_f64) {
        let spread = squares(&groups.concat());
        prop_assert!(share(&groups, spread + others) <= share(&groups, spread));
    }
}

#[test]
fn values_drawn_by_chance_explain_nothing_on_average() {
    use rand::{RngExt as _, SeedableRng};
    let mut random = rand_pcg::Pcg64::seed_from_u64(7);
    let mut mean = |adjusted: bool| {
        let total: f64 = (0..500)
            .map(|_| {
                let groups: Vec<Vec<f64>> = (0..8)
                    .map(|_| (0..4).map(|_| random.random::<f64>()).collect())
                    .collect();
                let within: f64 = groups.iter().map(|group| squares(group)).sum();
                let unadjusted = 1.0 - within / squares(&groups.concat());
                if adjusted {
                    share_of(&groups).unwrap()
                } else {
                    unadjusted
                }
            })
            .sum();
        total / 500.0
    };
    assert!(mean(false) > 0.2, "eta squared has eight values to fit");
    assert!(mean(true) < 0.06, "a share below 0 by chance counts as 0");
}

fn candidate(stage: Stage, name: &str, ms: u64) -> CaseRecord {
    let mut sample = Sample::without_figures(0, Outcome::Ok);
    (sample.phases_ns.write, sample.bytes) = (ms * 1_000_000, 1 << 30);
    CaseRecord {
        origin: CaseOrigin::of_search(stage, false),
        ..example_case("", &format!("{name},size=1GiB"), vec![sample])
    }
}

fn choices(records: Vec<CaseRecord>) -> Option<Choices> {
    Choices::of_search(
        &records
            .into_iter()
            .map(CaseReport::from_record)
            .collect::<Vec<_>>(),
    )
}

#[test]
fn the_deciding_choice_comes_first_and_its_values_from_the_fastest() {
    let records = ["write", "pwrite"].into_iter().flat_map(|method| {
        let chunks = ["4KiB", "64KiB", "1MiB"].into_iter().flat_map(|chunk| {
            ["create", "fallocate", "set-len"]
                .map(|prepare| (chunk, prepare, if chunk == "4KiB" { 90 } else { 20 }))
        });
        chunks.map(move |(chunk, prepare, ms)| {
            candidate(
                Stage::Screening,
                &format!("{method},chunk={chunk},prepare={prepare}"),
                ms,
            )
        })
    });
    let found = choices(records.collect()).unwrap();
    assert_eq!((found.bytes, found.times_ns.len()), (1 << 30, 18));
    let named = |choice: &Choice| {
        (
            choice.name.clone(),
            choice.values.len(),
            choice.share.unwrap(),
        )
    };
    let [(chunk, 3, share), (_, _, second), ..] =
        &found.all.iter().map(named).collect::<Vec<_>>()[..]
    else {
        panic!("{}", found.all.len())
    };
    assert_eq!(chunk, "chunk");
    assert!(*share > 0.99 && *second < 0.05, "{share} {second}");
    let slowest = found.all[0].values.last().unwrap();
    assert_eq!(
        (slowest.value.as_str(), slowest.times_ns.len()),
        ("4KiB", 6)
    );
    assert!((slowest.times_ns()[1] - 9e7).abs() < 1.0);
}

#[test]
fn few_candidates_have_values_and_no_share() {
    assert!(choices(Vec::new()).is_none());
    assert!(choices(vec![candidate(Stage::Screening, "write", 20)]).is_none());
    let pair = choices(vec![
        candidate(Stage::Screening, "write", 20),
        candidate(Stage::Final, "write,chunk=4KiB", 40),
    ]);
    let pair = pair.unwrap();
    assert_eq!(
        pair.all
            .iter()
            .map(|choice| (choice.name.as_str(), choice.share))
            .collect::<Vec<_>>(),
        [("chunk", None)]
    );
}

#[test]
fn a_candidate_of_two_stages_counts_once() {
    let both = [Stage::Screening, Stage::Final].map(|stage| candidate(stage, "write", 20));
    let found =
        choices([both.to_vec(), vec![candidate(Stage::Final, "fwrite", 30)]].concat()).unwrap();
    assert_eq!(found.times_ns.len(), 2);
}
