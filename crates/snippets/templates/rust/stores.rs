{%- if case.is_nontemporal() %}

/// Stores that bypass the CPU's caches: the data is not read again soon.
fn store(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len());
    #[cfg(target_arch = "x86_64")]
    {
        let (to, from, length) = (to.as_mut_ptr(), from.as_ptr(), from.len());
        // SAFETY: this CPU has the instructions, and both buffers have `length` bytes.
        unsafe {
            if is_x86_feature_detected!("avx512f") {
                streaming::avx512(to, from, length);
            } else if is_x86_feature_detected!("avx") {
                streaming::avx(to, from, length);
            } else {
                streaming::sse2(to, from, length);
            }
        }
    }
    // Ordinary stores on other CPUs.
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

#[cfg(target_arch = "x86_64")]
mod streaming {
    use std::arch::x86_64::*;
    use std::ptr::copy_nonoverlapping as copy;

    macro_rules! streaming_copy {
        ($name:ident, $feature:literal, $vector:ty, $load:ident, $stream:ident) => {
            /// # Safety
            /// `length` bytes are readable and writable there, and do not overlap.
            #[target_feature(enable = $feature)]
            pub unsafe fn $name(to: *mut u8, from: *const u8, length: usize) {
                const LINE: usize = 64;
                let head = to.align_offset(LINE).min(length);
                let end = head + (length - head) / LINE * LINE;
                // SAFETY: all offsets are in both buffers, and the stores begin at whole lines.
                unsafe {
                    copy(from, to, head);
                    for line in (head..end).step_by(LINE) {
                        for at in (line..line + LINE).step_by(size_of::<$vector>()) {
                            $stream(to.add(at).cast(), $load(from.add(at).cast()));
                        }
                    }
                    copy(from.add(end), to.add(end), length - end);
                }
                _mm_sfence(); // in order with all later stores
            }
        };
    }

    streaming_copy!(sse2, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128);
    streaming_copy!(avx, "avx", __m256i, _mm256_loadu_si256, _mm256_stream_si256);
    streaming_copy!(
        avx512,
        "avx512f",
        __m512i,
        _mm512_loadu_si512,
        _mm512_stream_si512
    );
}
{%- endif %}
