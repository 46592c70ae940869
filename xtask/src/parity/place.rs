//! The files that another program reads and writes, in a folder of their own, which goes with them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::command::shown;

/// A folder on the target.
pub(super) struct Place {
    folder: TempDir,
}

impl Place {
    pub(super) fn new(target: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("parity-tools-").tempdir_in(target);
        Ok(Self { folder: folder.with_context(|| format!("a folder in {}", target.display()))? })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file that is copied.
    pub(super) fn source(&self) -> PathBuf {
        self.folder().join("source")
    }

    /// The file that is written.
    pub(super) fn written(&self) -> PathBuf {
        self.folder().join("written")
    }

    /// Removes what was written.
    pub(super) fn clear(&self) -> Result<()> {
        match fs::remove_file(self.written()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).context("removing a copy"),
            _ => Ok(()),
        }
    }

    /// Makes the file that is copied; incompressible, synced.
    pub(super) fn make_source(&self, bytes: u64) -> Result<()> {
        let random = File::open("/dev/urandom").context("opening /dev/urandom")?;
        let mut source = File::create_new(self.source()).context("making the source")?;
        io::copy(&mut random.take(bytes), &mut source).context("filling the source")?;
        source.sync_all().context("syncing the source")
    }

    /// Reads the file that is copied once, so that it is in the page cache. (`io::copy` to `io::sink` would have the
    /// kernel not even read.)
    pub(super) fn read_source(&self) -> Result<()> {
        let mut source = File::open(self.source()).context("opening the source")?;
        let mut block = vec![0; 1 << 20];
        while source.read(&mut block).context("reading the source")? > 0 {}
        Ok(())
    }
}

/// From before the program is started until it has ended.
pub(super) fn wall_time(command: &mut Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    let elapsed = start.elapsed();
    ensure!(status.success(), "{} ended with {status}", shown(command));
    Ok(elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_takes_everything_with_it() {
        let target = tempfile::tempdir().unwrap();
        let place = Place::new(target.path()).unwrap();
        place.make_source(3_000_001).unwrap();
        place.read_source().unwrap();
        fs::write(place.written(), "something").unwrap();
        assert_eq!(fs::metadata(place.source()).unwrap().len(), 3_000_001);
        place.clear().unwrap();
        place.clear().unwrap();
        assert!(!place.written().exists());
        drop(place);
        assert_eq!(target.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_program_that_fails_has_no_time() {
        assert!(wall_time(&mut Command::new("true")).is_ok());
        assert!(wall_time(&mut Command::new("false")).unwrap_err().to_string().contains("false"));
        assert!(wall_time(&mut Command::new("/no/such/program")).is_err());
    }
}
