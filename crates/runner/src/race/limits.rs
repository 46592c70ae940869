use std::time::Duration;

use super::{FINALISTS, LEAST_FINALISTS, PLANNED_ROUNDS};

#[derive(Debug, Clone, Default)]
pub struct RaceLimits {
    pub budget: Duration,
    pub max_bytes: u64,
    /// The bytes of one sample on each level of the screening, ascending.
    pub screening_bytes: Vec<u64>,
    /// The possible bytes of one sample of the final: the requested size first, then smaller ones.
    pub final_bytes: Vec<u64>,
    /// The most bytes of a sample, in multiples of its file's size, with zeros written before.
    pub times_written: u64,
}

impl RaceLimits {
    /// The bytes of a final with the most finalists.
    pub fn finals_bytes(file_bytes: u64, times_written: u64) -> u64 {
        Self::rounds_bytes(FINALISTS, file_bytes, times_written)
    }

    /// The least limit on bytes for such a final: the share left by the screening pays for the rounds of
    /// two finalists and the baseline.
    pub fn least_bytes(file_bytes: u64, times_written: u64) -> u64 {
        let finals = Self::rounds_bytes(LEAST_FINALISTS, file_bytes, times_written);
        finals.saturating_add(finals / 3)
    }

    fn rounds_bytes(finalists: usize, file_bytes: u64, times_written: u64) -> u64 {
        let files = (finalists as u64)
            .saturating_mul(times_written)
            .saturating_add(1);
        file_bytes
            .saturating_mul(PLANNED_ROUNDS as u64)
            .saturating_mul(files)
    }

    /// The bytes reserved for the final, at most three quarters of the total.
    pub(super) fn set_aside_bytes(&self) -> u64 {
        let largest = self.final_bytes.first().copied().unwrap_or_default();
        Self::finals_bytes(largest, self.times_written).min(self.max_bytes / 4 * 3)
    }
}
