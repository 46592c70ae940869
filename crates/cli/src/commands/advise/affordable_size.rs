//! What a search's limit on bytes pays for. How long the search needs is unknown before its first sample, and is said at
//! its end, from measured rates.

use writebench_model::{Bytes, Case};
use writebench_runner::RaceLimits;

/// `With 4 GiB the finals write 214 GiB: for that, use --max-bytes 214GiB.` None if the limit suffices. The cases are plain
/// write at the requested size, then at smaller ones.
pub(super) fn sentence(cases: &[&Case], limits: &RaceLimits) -> Option<String> {
    let asked = cases.first()?;
    let bytes =
        |case: &Case| RaceLimits::least_bytes(case.given().size_bytes, limits.times_written);
    if bytes(asked) <= limits.max_bytes {
        return None;
    }
    let size = |case: &Case| Bytes(case.given().size_bytes).approximate();
    let paid = cases
        .iter()
        .find(|case| bytes(case) <= limits.max_bytes)
        .or(cases.last())?;
    let needed = Bytes(bytes(asked).next_multiple_of(1 << 30));
    Some(format!(
        "The limit of {} pays for finals with {}. For {}, use --max-bytes {needed}.",
        Bytes(limits.max_bytes).approximate(),
        size(paid),
        size(asked),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sizes: &[&str], max_bytes: u64) -> Option<String> {
        let case = |size: &&str| Case::parse(&format!("write,size={size}")).unwrap();
        let cases: Vec<Case> = sizes.iter().map(case).collect();
        let limits = RaceLimits {
            max_bytes,
            times_written: 2,
            ..RaceLimits::default()
        };
        sentence(&cases.iter().collect::<Vec<_>>(), &limits)
    }

    #[test]
    fn the_note_names_the_affordable_size_and_the_limit_for_the_requested_one() {
        let large = ["4GiB", "2GiB", "1GiB", "256MiB"];
        assert_eq!(said(&large, 1 << 40), None);
        assert_eq!(
            said(&large, 64 << 30).unwrap(),
            "The limit of 64 GiB pays for finals with 1 GiB. For 4 GiB, use --max-bytes 214GiB."
        );
    }
}
