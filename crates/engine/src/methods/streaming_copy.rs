//! Memory copies with stores that bypass the CPU's caches.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "such stores are separate instructions")
)]

#[derive(Clone, Copy)]
pub(crate) struct StreamingCopy(Copy);

type Copy = unsafe fn(*const u8, *mut u8, usize);

pub(crate) const MISSING: &str = "writebench has non-temporal stores for x86_64 and aarch64 only";

impl StreamingCopy {
    pub(crate) fn for_this_cpu() -> Option<Self> {
        widest().map(Self)
    }

    /// Copies as many bytes as fit both buffers.
    pub(crate) fn copy(self, from: &[u8], to: &mut [u8]) {
        let length = from.len().min(to.len());
        // SAFETY: the buffer has so many bytes, and is borrowed for writing.
        unsafe { self.run(&from[..length], to.as_mut_ptr()) }
    }

    /// Plain stores copy less than a cache line at either end. On return the stores are in order with all later
    /// ones.
    ///
    /// # Safety
    /// As many bytes must be writable at `to`, without another reference to them.
    #[inline]
    pub(crate) unsafe fn run(self, from: &[u8], to: *mut u8) {
        // SAFETY: the slice is readable, and the rest is the caller's promise.
        unsafe { self.0(from.as_ptr(), to, from.len()) }
    }
}

#[cfg(target_arch = "x86_64")]
fn widest() -> Option<Copy> {
    Some(if std::is_x86_feature_detected!("avx512f") {
        x86_64::avx512
    } else if std::is_x86_feature_detected!("avx") {
        x86_64::avx
    } else {
        x86_64::sse2
    })
}

#[cfg(target_arch = "aarch64")]
#[expect(clippy::unnecessary_wraps, reason = "other architectures have none")]
fn widest() -> Option<Copy> {
    Some(aarch64::neon)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn widest() -> Option<Copy> {
    None
}

/// The unit that bypasses the caches. Stores must be aligned to their size, and fill lines.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const LINE: usize = 64;

/// `store` copies a line to an aligned place. The ends are copied as usual.
///
/// # Safety
/// So many bytes must be readable at `from` and writable at `to`, without overlap.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn by_lines(from: *const u8, to: *mut u8, length: usize, store: impl Fn(*const u8, *mut u8)) {
    let head = to.align_offset(LINE).min(length);
    let end = head + (length - head) / LINE * LINE;
    // SAFETY: the head lies in both ranges.
    unsafe { std::ptr::copy_nonoverlapping(from, to, head) };
    for at in (head..end).step_by(LINE) {
        // SAFETY: a line at this offset lies in the first range.
        let from = unsafe { from.add(at) };
        // SAFETY: and in the second.
        store(from, unsafe { to.add(at) });
    }
    // SAFETY: the end of the lines lies in the first range.
    let from = unsafe { from.add(end) };
    // SAFETY: and in the second.
    let to = unsafe { to.add(end) };
    // SAFETY: the rest lies in both ranges.
    unsafe { std::ptr::copy_nonoverlapping(from, to, length - end) };
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128, _mm256_loadu_si256,
        _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    use super::{LINE, by_lines};

    /// The loads need no alignment.
    macro_rules! copy_in_vectors {
        ($name:ident, $feature:literal, $vector:ty, $load:ident, $stream:ident) => {
            #[target_feature(enable = $feature)]
            pub(super) unsafe fn $name(from: *const u8, to: *mut u8, length: usize) {
                let store = |from: *const u8, to: *mut u8| {
                    for index in 0..LINE / size_of::<$vector>() {
                        // SAFETY: a line of the first range has so many vectors.
                        let from = unsafe { from.cast::<$vector>().add(index) };
                        // SAFETY: and a line of the second.
                        let to = unsafe { to.cast::<$vector>().add(index) };
                        // SAFETY: the vector is readable, at any alignment.
                        let vector = unsafe { $load(from) };
                        // SAFETY: the place is writable, and aligned like its line.
                        unsafe { $stream(to, vector) };
                    }
                };
                // SAFETY: the caller's promise.
                unsafe { by_lines(from, to, length, store) };
                // The fence makes these stores visible before all later ones.
                _mm_sfence();
            }
        };
    }

    copy_in_vectors!(sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128);
    copy_in_vectors!(avx, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256);
    copy_in_vectors!(avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512);
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::by_lines;

    /// `stnp` is a hint to the CPU that the data will not be used soon: Arm A64, "Load/store no-allocate pair".
    pub(super) unsafe fn neon(from: *const u8, to: *mut u8, length: usize) {
        let store = |from: *const u8, to: *mut u8| {
            // SAFETY: a line of either range is read and written, and the named registers are clobbered.
            unsafe {
                std::arch::asm!(
                    "ldp q0, q1, [{from}]",
                    "ldp q2, q3, [{from}, #32]",
                    "stnp q0, q1, [{to}]",
                    "stnp q2, q3, [{to}, #32]",
                    from = in(reg) from,
                    to = in(reg) to,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                    options(nostack, preserves_flags)
                );
            }
        };
        // SAFETY: the caller's promise.
        unsafe { by_lines(from, to, length, store) };
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
            copies.extend(std::is_x86_feature_detected!("avx512f").then_some(x86_64::avx512 as Copy));
            copies
        }
        #[cfg(target_arch = "aarch64")]
        vec![aarch64::neon]
    }

    #[test]
    fn every_byte_arrives_wherever_it_begins() {
        let from: Vec<u8> = (0..1000u16).map(|byte| byte.to_le_bytes()[0]).collect();
        for copy in copies() {
            for (source, target, length) in
                [(0, 0, 640), (1, 0, 640), (0, 7, 700), (3, 1, 5), (0, 0, 0), (9, 63, 65), (5, 64, 128)]
            {
                let mut to = [255; 1000];
                // SAFETY: the ranges lie in their buffers.
                unsafe { copy(from[source..].as_ptr(), to[target..].as_mut_ptr(), length) };
                assert_eq!(to[target..target + length], from[source..source + length]);
                assert!(to[..target].iter().chain(&to[target + length..]).all(|&byte| byte == 255));
            }
        }
    }
}
