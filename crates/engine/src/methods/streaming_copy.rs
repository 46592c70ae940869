//! Memory copies with stores that bypass the CPU's caches.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "such stores are instructions of their own"))]

/// The reason why this architecture has no such copy, if it has none.
pub(crate) const MISSING: Option<&str> =
    if cfg!(target_arch = "x86_64") { None } else { Some("writebench knows such stores on x86_64 only") };

/// Copies as many bytes as fit both buffers; fewer than 16 bytes at either end are copied as usual.
#[cfg(target_arch = "x86_64")]
pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    const VECTOR: usize = size_of::<__m128i>();
    let length = from.len().min(to.len());
    let head = to.as_ptr().align_offset(VECTOR).min(length);
    to[..head].copy_from_slice(&from[..head]);
    let (from, to) = (&from[head..length], &mut to[head..length]);
    let (pieces, rest) = from.as_chunks::<VECTOR>();
    let vectors = pieces.len() * VECTOR;
    let (streamed, last) = to.split_at_mut(vectors);
    for (piece, place) in pieces.iter().zip(streamed.as_chunks_mut::<VECTOR>().0) {
        // SAFETY: a piece is as long as a vector, and this load needs no alignment. Every x86_64 has SSE2.
        let vector = unsafe { _mm_loadu_si128(piece.as_ptr().cast()) };
        // SAFETY: a place is as long as a vector, and aligned: the first is, and each is as long as its
        // alignment.
        unsafe { _mm_stream_si128(place.as_mut_ptr().cast(), vector) };
    }
    last.copy_from_slice(rest);
    // SAFETY: every x86_64 has SSE. The fence makes these stores visible before all later ones.
    unsafe { _mm_sfence() };
}

/// Never called, since `MISSING` is set.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn copy(_from: &[u8], _to: &mut [u8]) {}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives_wherever_it_begins() {
        let from: Vec<u8> = (0..200u8).collect();
        for (offset, length) in [(0, 160), (1, 160), (7, 150), (3, 5), (0, 0), (9, 16)] {
            let mut to = [255; 200];
            copy(&from[offset..offset + length], &mut to[offset..offset + length]);
            assert_eq!(to[offset..offset + length], from[offset..offset + length]);
            assert!(to[..offset].iter().chain(&to[offset + length..]).all(|&byte| byte == 255));
        }
    }
}
