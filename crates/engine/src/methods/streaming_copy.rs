//! Memory copies with stores that bypass the CPU's caches.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "such stores are separate instructions")
)]

/// A copy by the widest such stores that this CPU has.
#[derive(Clone, Copy)]
pub(crate) struct StreamingCopy(Copy);

type Copy = unsafe fn(&[u8], &mut [u8]);

pub(crate) const MISSING: &str = "writebench has non-temporal stores for x86_64 and aarch64 only";

impl StreamingCopy {
    pub(crate) fn for_this_cpu() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        let widest: Option<Copy> = Some(if std::is_x86_feature_detected!("avx512f") {
            x86_64::avx512
        } else if std::is_x86_feature_detected!("avx") {
            x86_64::avx
        } else {
            x86_64::sse2
        });
        #[cfg(target_arch = "aarch64")]
        let widest: Option<Copy> = Some(aarch64::neon);
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let widest = None;
        widest.map(Self)
    }

    /// Plain stores copy less than a cache line at either end. On return the stores are in order with all later
    /// ones. Both slices have one length.
    #[inline]
    pub(crate) fn run(self, from: &[u8], to: &mut [u8]) {
        // SAFETY: this CPU has the instructions.
        unsafe { self.0(from, to) }
    }
}

/// The unit that bypasses the caches. Stores must be aligned to their size, and fill lines.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const LINE: usize = 64;

/// `store` copies a line to an aligned place. The ends are copied as usual.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn by_lines(from: &[u8], to: &mut [u8], store: impl Fn(&[u8; LINE], &mut [u8; LINE])) {
    let head = to.as_ptr().align_offset(LINE).min(to.len());
    let (from_head, from) = from.split_at(head);
    let (from_lines, from_rest) = from.as_chunks();
    let (to_head, to) = to.split_at_mut(head);
    let (to_lines, to_rest) = to.as_chunks_mut();
    to_head.copy_from_slice(from_head);
    for (from, to) in from_lines.iter().zip(to_lines) {
        store(from, to);
    }
    to_rest.copy_from_slice(from_rest);
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128,
        _mm256_loadu_si256, _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    use super::{LINE, by_lines};

    /// The loads need no alignment.
    macro_rules! copy_in_vectors {
        ($name:ident, $feature:literal, $vector:ty, $load:ident, $stream:ident) => {
            #[target_feature(enable = $feature)]
            pub(super) fn $name(from: &[u8], to: &mut [u8]) {
                by_lines(from, to, |from, to| {
                    for index in 0..LINE / size_of::<$vector>() {
                        let from = from.as_ptr().cast::<$vector>().wrapping_add(index);
                        // SAFETY: a line has so many vectors, each readable at any alignment.
                        let vector = unsafe { $load(from) };
                        let to = to.as_mut_ptr().cast::<$vector>().wrapping_add(index);
                        // SAFETY: so has the other line, which is writable and aligned to its size.
                        unsafe { $stream(to, vector) };
                    }
                });
                // The fence makes these stores visible before all later ones.
                _mm_sfence();
            }
        };
    }

    copy_in_vectors!(sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128);
    copy_in_vectors!(avx, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256);
    copy_in_vectors!(
        avx512,
        "avx512f",
        __m512i,
        _mm512_loadu_si512,
        _mm512_stream_si512
    );
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::by_lines;

    /// `stnp` is a hint to the CPU that the data will not be used soon: Arm A64, "Load/store no-allocate pair".
    pub(super) fn neon(from: &[u8], to: &mut [u8]) {
        by_lines(from, to, |from, to| {
            // SAFETY: a line of either range is read and written, and the named registers are clobbered.
            unsafe {
                std::arch::asm!(
                    "ldp q0, q1, [{from}]",
                    "ldp q2, q3, [{from}, #32]",
                    "stnp q0, q1, [{to}]",
                    "stnp q2, q3, [{to}, #32]",
                    from = in(reg) from.as_ptr(),
                    to = in(reg) to.as_mut_ptr(),
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                    options(nostack, preserves_flags)
                );
            }
        });
    }
}

#[cfg(test)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tests {
    use super::*;

    fn copies() -> Vec<Copy> {
        #[cfg(target_arch = "x86_64")]
        {
            let mut copies: Vec<Copy> = vec![x86_64::sse2];
            copies.extend(std::is_x86_feature_detected!("avx").then_some(x86_64::avx as Copy));
            copies
                .extend(std::is_x86_feature_detected!("avx512f").then_some(x86_64::avx512 as Copy));
            copies
        }
        #[cfg(target_arch = "aarch64")]
        vec![aarch64::neon]
    }

    #[test]
    fn every_byte_arrives_wherever_it_begins() {
        let from: Vec<u8> = (0..1000u16).map(|byte| byte.to_le_bytes()[0]).collect();
        for copy in copies() {
            for (source, target, length) in [
                (0, 0, 640),
                (1, 0, 640),
                (0, 7, 700),
                (3, 1, 5),
                (0, 0, 0),
                (9, 63, 65),
                (5, 64, 128),
            ] {
                let mut to = [255; 1000];
                // SAFETY: this CPU has the instructions.
                unsafe {
                    copy(
                        &from[source..source + length],
                        &mut to[target..target + length],
                    );
                };
                assert_eq!(to[target..target + length], from[source..source + length]);
                assert!(
                    to[..target]
                        .iter()
                        .chain(&to[target + length..])
                        .all(|&byte| byte == 255)
                );
            }
        }
    }
}
