//! The files that another program reads and writes, in a folder of their own, which goes with them.

use std::fs::{self, File};
use std::io::Write;
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
        self.folder.path().join("source")
    }

    /// The file that is written.
    pub(super) fn written(&self) -> PathBuf {
        self.folder.path().join("written")
    }

    /// Removes what was written.
    pub(super) fn clear(&self) -> Result<()> {
        match fs::remove_file(self.written()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).context("removing a copy"),
            _ => Ok(()),
        }
    }

    /// Makes the file that is copied; incompressible, synced.
    pub(super) fn make_source(&self, bytes: u64) -> Result<()> {
        make(&self.source(), bytes)
    }

    /// Reads the file that is copied once, so that it is in the page cache.
    pub(super) fn read_source(&self) -> Result<()> {
        let mut source = File::open(self.source()).context("opening the source")?;
        std::io::copy(&mut source, &mut Hole).context("reading the source").map(drop)
    }
}

/// Takes all bytes and looks at none. (`io::sink` would have the kernel not even read.)
struct Hole;

impl Write for Hole {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn make(path: &Path, bytes: u64) -> Result<()> {
    const BLOCK_BYTES: usize = 1 << 20;
    let mut file = File::create_new(path).with_context(|| format!("making {}", path.display()))?;
    let mut state: u64 = 1;
    let mut left = bytes;
    while left > 0 {
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        while block.len() < BLOCK_BYTES {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            block.extend_from_slice(&mixed(state).to_le_bytes());
        }
        let length = usize::try_from(left)?.min(BLOCK_BYTES);
        file.write_all(&block[..length]).context("making a file")?;
        left -= length as u64;
    }
    file.sync_all().context("syncing a file")
}

/// `SplitMix64`.
fn mixed(state: u64) -> u64 {
    let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
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
