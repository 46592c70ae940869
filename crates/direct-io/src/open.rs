use std::fs::File;
use std::path::Path;

#[cfg(unix)]
use crate::AsFile;
use crate::{Error, OpenOptions, sys};

impl OpenOptions {
    /// Opens `path`: `open(2)`, `CreateFileW`.
    ///
    /// # Errors
    ///
    /// The options contradict each other, or the system refuses the call or (macOS) `F_NOCACHE`. A new file is
    /// left if a later step fails.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, Error> {
        self.check()?;
        sys::open(self, path.as_ref()).map_err(|error| error.with_path(path.as_ref()))
    }

    /// Opens `path` relative to an open directory: `openat(2)`. Windows does not have this function.
    ///
    /// # Errors
    ///
    /// The errors are those of [`open`](Self::open).
    #[cfg(unix)]
    pub fn open_at(&self, directory: impl AsFile, path: impl AsRef<Path>) -> Result<File, Error> {
        self.check()?;
        sys::open_at(self, directory.as_fd(), path.as_ref())
            .map_err(|error| error.with_path(path.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_found_before_anything_is_opened() {
        let refused = |options: OpenOptions| {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("file");
            let error = options.open(&path).unwrap_err();
            assert!(matches!(error, Error::Options(_)), "{error}");
            assert!(!path.exists());
        };
        refused(OpenOptions::new());
        refused(OpenOptions::new().direct(true));
        refused(OpenOptions::new().read(true).create(true));
        refused(OpenOptions::new().read(true).truncate(true));
        refused(OpenOptions::new().write(true).create(true).exclusive(true));
    }
}
