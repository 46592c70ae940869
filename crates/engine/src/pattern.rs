//! Data that no layer can compress or deduplicate, and that a reader can check at any offset.
//!
//! The eight bytes at index i are output i of the SplitMix64 generator (Steele, Lea, Flood, *Fast splittable
//! pseudorandom number generators*, OOPSLA 2014) started at the seed, little endian.

use writebench_model::Data;
use writebench_model::protocol::SampleRequest;

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
const WORD_BYTES: usize = 8;

/// Output `index` of the generator started at `seed`.
#[inline]
pub(crate) fn word(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed that differs for each case and round.
pub(crate) fn sample_seed(request: &SampleRequest) -> u64 {
    let seed = word(request.data_seed, u64::from(request.round));
    request
        .case
        .to_string()
        .bytes()
        .fold(seed, |seed, byte| word(seed, u64::from(byte)))
}

/// Fills `bytes` with the random data at an offset.
pub(crate) fn fill(seed: u64, offset: u64, bytes: &mut [u8]) {
    let into_word = usize::try_from(offset % WORD_BYTES as u64).unwrap_or(0);
    let mut index = offset / WORD_BYTES as u64;
    let head = if into_word == 0 {
        0
    } else {
        (WORD_BYTES - into_word).min(bytes.len())
    };
    let (first, rest) = bytes.split_at_mut(head);
    if !first.is_empty() {
        first.copy_from_slice(&word(seed, index).to_le_bytes()[into_word..into_word + head]);
        index += 1;
    }
    let (words, last) = rest.as_chunks_mut::<WORD_BYTES>();
    let count = words.len() as u64;
    for (number, bytes) in (0u64..).zip(words) {
        *bytes = word(seed, index + number).to_le_bytes();
    }
    let tail = last.len();
    last.copy_from_slice(&word(seed, index + count).to_le_bytes()[..tail]);
}

/// Fills `bytes` with the case's kind of data at an offset.
pub(crate) fn fill_with(data: Data, seed: u64, offset: u64, bytes: &mut [u8]) {
    let zero_bytes = Data::BLOCK_BYTES * usize::from(data.zero_percent()) / 100;
    match data {
        // Untouched memory is one shared page.
        Data::Zero => return bytes.fill(0),
        Data::Random | Data::Compressible(_) => fill(seed, offset, bytes),
    }
    if zero_bytes == 0 {
        return;
    }
    let mut into_block = usize::try_from(offset % Data::BLOCK_BYTES as u64).unwrap_or(0);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (block, others) = rest.split_at_mut((Data::BLOCK_BYTES - into_block).min(rest.len()));
        let random_bytes = (Data::BLOCK_BYTES - zero_bytes)
            .saturating_sub(into_block)
            .min(block.len());
        block[random_bytes..].fill(0);
        rest = others;
        into_block = 0;
    }
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

        #[test]
        fn any_range_of_compressible_data_is_the_same_as_in_the_whole(
            seed: u64,
            percent in 1u8..=99,
            from in 0usize..9000,
            length in 0usize..9000,
        ) {
            let data = Data::Compressible(percent);
            let mut whole = vec![0; 20_000];
            fill_with(data, seed, 0, &mut whole);
            let mut part = vec![1; length];
            fill_with(data, seed, from as u64, &mut part);
            prop_assert_eq!(&part, &whole[from..from + length]);
        }
    }

    #[test]
    fn the_words_are_splitmix64() {
        // The reference implementation's first output for seed 0.
        let mut bytes = [0; 8];
        fill(0, 0, &mut bytes);
        assert_eq!(u64::from_le_bytes(bytes), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_block_of_compressible_data_ends_with_its_percentage_of_zeros() {
        let mut data = vec![1; 2 * Data::BLOCK_BYTES];
        fill_with(Data::Compressible(75), 1, 0, &mut data);
        for block in data.chunks(Data::BLOCK_BYTES) {
            let (random, zeros) = block.split_at(Data::BLOCK_BYTES / 4);
            assert!(zeros.iter().all(|&byte| byte == 0));
            // A random byte is zero once in 256.
            assert!(random.iter().filter(|&&byte| byte == 0).count() < random.len() / 16);
        }
    }

    #[test]
    fn every_block_differs() {
        let mut data = vec![0; 1 << 20];
        fill(1, 0, &mut data);
        let blocks: std::collections::HashSet<&[u8]> = data.chunks(4096).collect();
        assert_eq!(blocks.len(), 256);
    }
}
