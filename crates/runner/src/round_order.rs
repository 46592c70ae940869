use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use writebench_model::Case;
use writebench_stats::grouped;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCase {
    pub target: usize,
    pub case: Case,
}

/// Random by the seed, so a run can be resumed or repeated. A case runs on all its targets in a row, again
/// in random order. Drift within the round thus affects the compared targets alike.
pub(crate) fn order(seed: u64, round: u32, planned: &[PlannedCase]) -> Vec<usize> {
    let stream = u128::from(seed) << 64 | u128::from(round) << 1 | 1;
    let mut random = Pcg64Mcg::from_seed(stream.to_le_bytes());
    let cases = grouped(0..planned.len(), |&index| &planned[index].case);
    let mut targets_of_case: Vec<Vec<usize>> =
        cases.into_iter().map(|(_, targets)| targets).collect();
    targets_of_case.shuffle(&mut random);
    for targets in &mut targets_of_case {
        targets.shuffle(&mut random);
    }
    targets_of_case.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(cases: usize, targets: usize) -> Vec<PlannedCase> {
        let case = |size: usize| Case::parse(&format!("write,size={size}")).unwrap();
        (0..cases)
            .flat_map(|size| {
                (0..targets).map(move |target| PlannedCase {
                    target,
                    case: case(size),
                })
            })
            .collect()
    }

    #[test]
    fn rounds_differ_and_seeds_repeat() {
        let twenty = planned(20, 1);
        assert_eq!(order(1, 0, &twenty), order(1, 0, &twenty));
        assert_ne!(order(1, 0, &twenty), order(1, 1, &twenty));
        assert_ne!(order(1, 0, &twenty), order(2, 0, &twenty));
        let mut sorted = order(7, 3, &planned(25, 2));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn every_place_is_about_as_likely() {
        let four = planned(4, 1);
        let first = (0..4000)
            .filter(|&round| order(9, round, &four)[0] == 0)
            .count();
        assert!(
            (850..1150).contains(&first),
            "{first} of 4000, expected about 1000"
        );
    }

    #[test]
    fn a_case_runs_on_all_targets_in_a_row_in_changing_order() {
        let planned = planned(5, 3);
        let mut first = [0; 3];
        for round in 0..3000 {
            for in_a_row in order(4, round, &planned).chunks(3) {
                let cases: Vec<usize> = in_a_row.iter().map(|index| index / 3).collect();
                assert_eq!(cases, [cases[0]; 3]);
                first[in_a_row[0] % 3] += 1;
            }
        }
        assert!(
            first.iter().all(|count| (4700..5300).contains(count)),
            "{first:?} of 15000"
        );
    }
}
