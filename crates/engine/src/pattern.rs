//! Data that no layer can compress or deduplicate, and that any reader can check at any offset.
//!
//! The eight bytes at index i are output i of the SplitMix64 generator (Steele, Lea, Flood, *Fast
//! splittable pseudorandom number generators*, OOPSLA 2014) started at the seed, little endian.

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
const WORD_BYTES: usize = 8;

/// Number `index` of the generator's outputs.
#[inline]
pub(crate) fn word(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills `bytes` with the data that `seed` has from `offset` on.
pub(crate) fn fill(seed: u64, offset: u64, bytes: &mut [u8]) {
    let into_word = usize::try_from(offset % WORD_BYTES as u64).unwrap_or(0);
    let mut index = offset / WORD_BYTES as u64;
    let head = if into_word == 0 { 0 } else { (WORD_BYTES - into_word).min(bytes.len()) };
    let (first, rest) = bytes.split_at_mut(head);
    if !first.is_empty() {
        first.copy_from_slice(&word(seed, index).to_le_bytes()[into_word..into_word + head]);
        index += 1;
    }
    let (words, last) = rest.as_chunks_mut::<WORD_BYTES>();
    let count = words.len() as u64;
    for (place, bytes) in (0u64..).zip(words) {
        *bytes = word(seed, index + place).to_le_bytes();
    }
    let tail = last.len();
    last.copy_from_slice(&word(seed, index + count).to_le_bytes()[..tail]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_range_is_the_same_as_in_the_whole(seed: u64, from in 0usize..200, length in 0usize..200) {
            let mut whole = vec![0; 400];
            fill(seed, 0, &mut whole);
            let mut part = vec![0; length];
            fill(seed, from as u64, &mut part);
            prop_assert_eq!(&part, &whole[from..from + length]);
        }
    }

    #[test]
    fn the_words_are_splitmix64() {
        // The first output for seed 0, as in the reference implementation.
        let mut bytes = [0; 8];
        fill(0, 0, &mut bytes);
        assert_eq!(u64::from_le_bytes(bytes), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn every_block_differs() {
        let mut data = vec![0; 1 << 20];
        fill(1, 0, &mut data);
        let blocks: std::collections::HashSet<&[u8]> = data.chunks(4096).collect();
        assert_eq!(blocks.len(), 256);
    }
}
