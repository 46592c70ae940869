//! The phases of a sample.

use crate::value::named_values;

named_values! {
    /// The phases of a sample. `settle`, `verify` and `clean` are in no figure.
    Phase {
        /// Before the clock: source data, old content, write-back, warm memory.
        Settle = "settle",
        /// `open` and the calls that attach a method to the file: `fdopen`, `mmap`.
        Open = "open",
        /// Giving the file its length and blocks.
        Prepare = "prepare",
        /// Handing over the data.
        Write = "write",
        /// Making it durable.
        Sync = "sync",
        /// `close` and the calls that detach a method: `fclose`, `munmap`.
        Close = "close",
        /// After the clock: size and content compared.
        Verify = "verify",
        /// After the clock: files removed.
        Clean = "clean",
    }
}

impl Phase {
    /// The phase of that byte in the progress record that a worker shares with its runner: `phase as u8`.
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}
