use crate::value::named_values;

named_values! {
    /// A part of a sample. No result includes `settle`, `verify` and `clean`.
    Phase {
        /// Source data, old content, write-back and warm memory are made ready before the clock starts.
        Settle = "settle",
        /// The file is opened by `open`, then `fdopen` or `mmap`.
        Open = "open",
        /// The file gets its length and blocks.
        Prepare = "prepare",
        Write = "write",
        Sync = "sync",
        /// The file is closed by `close`, with `fclose` or `munmap`.
        Close = "close",
        /// The file's size and content are checked after the clock has stopped.
        Verify = "verify",
        /// The file is removed after the clock has stopped.
        Clean = "clean",
    }
}

impl Phase {
    /// The phase whose number is `phase as u8`, as in a worker's progress record.
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}
