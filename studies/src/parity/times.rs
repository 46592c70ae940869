//! Another program reports these times of itself.

#[derive(Debug, Default, PartialEq)]
pub(super) struct Times {
    pub(super) write_ns: u64,
    pub(super) sync_ns: u64,
    /// The rest of the total counts as closing.
    pub(super) close_ns: u64,
    pub(super) bytes: u64,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive"
)]
pub(super) fn rounded(time_ns: f64) -> u64 {
    time_ns as u64
}
