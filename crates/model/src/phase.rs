use crate::value::named_values;

named_values! {
    /// No result includes `settle`, `verify` and `clean`.
    Phase {
        /// Before the clock: source data, old content, write-back, warm memory.
        Settle = "settle",
        /// `open`, then `fdopen` or `mmap`.
        Open = "open",
        /// Giving the file its length and blocks.
        Prepare = "prepare",
        Write = "write",
        Sync = "sync",
        /// `close`, with `fclose` or `munmap`.
        Close = "close",
        /// After the clock.
        Verify = "verify",
        /// After the clock.
        Clean = "clean",
    }
}

impl Phase {
    /// The inverse of `phase as u8`, as in a worker's progress record.
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}
