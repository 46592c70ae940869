//! A filesystem in memory with scripted faults for watched files, one after the other.
//!
//! Threads of the test process serve it. Its end removes the mount and ends all waiting requests.

mod requests;
mod script;
mod server;
mod tree;

use std::path::Path;

use anyhow::{Context, Result};
use fuser::{BackgroundSession, Config, MountOption, Session};
use rustix::io::Errno;
use tempfile::TempDir;

pub use self::script::{Call, Fault, Operation, What, When};
use self::server::{Server, Shared};
use crate::mounted::{self, temporary};

/// How the kernel caches files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// The page cache keeps each write.
    WriteThrough,
    /// Watched files have no page cache: each call arrives unchanged.
    None,
    /// No file has a page cache, or can be mapped.
    Unmappable,
    /// The page cache writes back, at the latest at fsync or close.
    WriteBack,
}

/// A mounted filesystem that follows a script.
pub struct Faulty {
    shared: Shared,
    // Dropped before the mount point's directory.
    _session: BackgroundSession,
    point: TempDir,
}

impl Faulty {
    /// The script applies to files with that name, or with the name, a dot and more, from their creation on.
    pub fn mount(watched_name: &str, caching: Caching) -> Result<Self> {
        /// A waiting request does not block the next ones.
        const THREADS: usize = 4;
        let point = temporary("faulty")?;
        let shared = Shared::default();
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("faulty".to_owned()),
            MountOption::Subtype("faulty".to_owned()),
        ];
        config.n_threads = Some(THREADS);
        let server = Server {
            watched_name: watched_name.into(),
            caching,
            shared: shared.clone(),
        };
        let session =
            Session::new(server, point.path(), &config).context("mount a FUSE filesystem")?;
        Ok(Self {
            shared,
            _session: session.spawn()?,
            point,
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// Sets a new script, and forgets the operations so far.
    pub fn follow(&self, script: &[Fault]) {
        self.shared.lock().progress.follow(script);
    }

    /// Makes each fsync of a directory fail from then on.
    pub fn refuse_directory_syncs(&self, errno: Errno) {
        self.shared.lock().directory_sync_error = Some(errno);
    }

    /// The operations on watched files since the script was set.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.shared.lock().progress.operations.clone()
    }

    /// Ends hanging requests with an error.
    pub fn release(&self) {
        self.shared.lock().held.clear();
    }

    /// Ends the mount, and with it the kernel ends all waiting requests.
    pub fn abort(&self) {
        mounted::abort(self.path());
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.abort();
    }
}
