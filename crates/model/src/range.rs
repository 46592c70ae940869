//! Which thread writes which bytes.

/// A run of bytes in the data that a case writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

/// Splits `size_bytes` into one range per thread: contiguous, in order, none empty unless there is
/// less than a byte per thread, and their lengths apart by no more than one granule. The granule is
/// a chunk where every thread gets at least one, else a 4 KiB page, else a byte, so that chunks stay
/// aligned in the file whenever they can.
#[must_use]
pub fn split(size_bytes: u64, threads: u32, chunk_size_bytes: u64) -> Vec<Range> {
    const PAGE_BYTES: u64 = 4096;
    let count = u64::from(threads.max(1));
    let granule = [chunk_size_bytes, PAGE_BYTES]
        .into_iter()
        .find(|&granule| granule > 0 && granule.checked_mul(count).is_some_and(|least| size_bytes >= least))
        .unwrap_or(1);
    let granules = size_bytes.div_ceil(granule);
    let border = |index: u64| {
        let granules = u128::from(granules) * u128::from(index) / u128::from(count);
        u64::try_from(granules * u128::from(granule)).unwrap_or(u64::MAX).min(size_bytes)
    };
    (0..count).map(|index| Range { offset: border(index), length: border(index + 1) - border(index) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_cover_every_byte_once_and_no_thread_is_idle(
            size in 0u64..1 << 40, threads in 1u32..64, chunk in 1u64..1 << 30,
        ) {
            let ranges = split(size, threads, chunk);
            prop_assert_eq!(ranges.len(), threads as usize);
            let mut next = 0;
            for range in &ranges {
                prop_assert_eq!(range.offset, next);
                prop_assert!(range.length > 0 || size < u64::from(threads));
                next += range.length;
            }
            prop_assert_eq!(next, size);
        }
    }

    #[test]
    fn chunks_stay_aligned_when_each_thread_gets_one() {
        let ranges = split(10 * 1024 + 1, 3, 1024);
        assert!(ranges.iter().all(|range| range.offset.is_multiple_of(1024)));
    }
}
