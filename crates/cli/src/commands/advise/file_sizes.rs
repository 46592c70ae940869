use writebench_model::{Goal, Space};

/// The screening writes a 64th and an eighth of the file.
const SCREENING_SHARES: [u64; 2] = [64, 8];
/// The least file of a screening. In smaller samples, opening the file takes most of the time.
const LEAST_SCREENING_BYTES: u64 = 4 << 20;
/// An answer for smaller files is another answer.
const LEAST_FINAL_BYTES: u64 = 16 << 20;
/// Records, or files of a set.
const LEAST_UNITS: u64 = 64;

/// Sizes for the screening, from small to large, and for the finals: the requested size, then halves of it. All have whole
/// records or files. Files that fit into memory do not predict larger ones.
pub(super) fn file_sizes(goal: Goal, space: &Space) -> (Vec<u64>, Vec<u64>) {
    let size_bytes = space.baseline.given().size_bytes;
    if goal == Goal::LargerThanMemory {
        let screening_bytes = size_bytes.checked_sub(1 << 20).into_iter().collect();
        return (screening_bytes, vec![size_bytes]);
    }
    let unit = space.baseline.unit_bytes();
    let (unit, least_screening, least_final) = match unit {
        Some(unit) => {
            let least = unit.saturating_mul(LEAST_UNITS);
            (unit.max(1), least, least)
        }
        None => (1 << 20, LEAST_SCREENING_BYTES, LEAST_FINAL_BYTES),
    };
    let whole = |bytes: u64| {
        if bytes >= unit {
            bytes / unit * unit
        } else {
            bytes
        }
    };
    let part = |share: &u64| {
        whole(
            (size_bytes / share)
                .max(least_screening)
                .min(size_bytes / 2),
        )
    };
    let mut screening_bytes: Vec<u64> = SCREENING_SHARES
        .iter()
        .map(part)
        .filter(|&bytes| bytes > 0)
        .collect();
    screening_bytes.dedup();
    let halves = std::iter::successors(Some(size_bytes / 2), |bytes| Some(bytes / 2));
    let smaller = halves
        .map(whole)
        .take_while(|&bytes| bytes >= least_final.max(1));
    // A case has one stage.
    let smaller = smaller.filter(|bytes| !screening_bytes.contains(bytes));
    let final_bytes = std::iter::once(size_bytes).chain(smaller).collect();
    (screening_bytes, final_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Axis;

    fn sizes(goal: Goal, size: &str, record: Option<&str>) -> (Vec<u64>, Vec<u64>) {
        let values = [(Axis::Size, Some(size)), (Axis::Chunk, record)];
        let fixed = values
            .into_iter()
            .filter_map(|(axis, value)| Some((axis, vec![value?.to_owned()])));
        file_sizes(
            goal,
            &Space::for_goal(goal, &fixed.collect::<Vec<_>>()).unwrap(),
        )
    }

    fn mebibytes(sizes: &[u64]) -> Vec<u64> {
        sizes.iter().map(|size| size << 20).collect()
    }

    #[test]
    fn the_screening_writes_parts_of_the_file_and_the_finals_halves() {
        let sizes_of = |size| sizes(Goal::Stream, size, None);
        assert_eq!(
            sizes_of("1GiB"),
            (mebibytes(&[16, 128]), mebibytes(&[1024, 512, 256, 64, 32]))
        );
        assert_eq!(
            sizes_of("64MiB"),
            (mebibytes(&[4, 8]), mebibytes(&[64, 32, 16]))
        );
        assert_eq!(sizes_of("5MiB"), (mebibytes(&[2]), mebibytes(&[5])));
        assert_eq!(sizes_of("4KiB"), (vec![2048], vec![4096]));
        assert_eq!(sizes_of("1"), (vec![], vec![1]));
    }

    #[test]
    fn files_of_records_have_whole_records_and_64_at_least() {
        let sizes_of = |size, record| sizes(Goal::Records, size, record);
        assert_eq!(
            sizes_of("4MiB", None),
            (vec![256 << 10, 512 << 10], vec![4 << 20, 2 << 20, 1 << 20])
        );
        assert_eq!(
            sizes_of("100kB", Some("100")),
            (vec![6400, 12_500], vec![100_000, 50_000, 25_000])
        );
        assert_eq!(sizes_of("400", Some("100")), (vec![200], vec![400]));
    }
}
