//! A filesystem in memory that does wrong what a script says, to one file after the other.
//!
//! It is served by threads of the test process. Whatever happens, its mount goes and all requests that wait for it end
//! when it is dropped; if the test process dies, the kernel does the same.

mod requests;
mod script;
mod server;
mod tree;

use std::path::Path;

use anyhow::{Context, Result};
use fuser::{BackgroundSession, Config, MountOption, Session};
use rustix::mount::UnmountFlags;
use tempfile::TempDir;

pub use self::script::{Call, Fault, Operation, What, When};
use self::server::{Server, Shared};

/// What the kernel keeps of data before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// Each write goes to the filesystem at once and stays in the page cache, too.
    WriteThrough,
    /// Files of the script have no page cache: each call arrives as it was made.
    None,
    /// Data is written when the kernel finds it time, at the latest for an fsync or when the file closes.
    WriteBack,
}

/// The filesystem, mounted.
pub struct Faulty {
    shared: Shared,
    // Before the mount point's directory.
    _session: BackgroundSession,
    point: TempDir,
}

impl Faulty {
    /// Mounts one in which nothing goes wrong. The script is about the files of that name, from their creation on.
    ///
    /// # Errors
    /// There is no FUSE here, or no right to mount.
    pub fn mount(watched_name: &str, caching: Caching) -> Result<Self> {
        /// One that waits keeps no other.
        const THREADS: usize = 4;
        let point = tempfile::Builder::new().prefix("writebench-faulty-").tempdir()?;
        let shared = Shared::default();
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName("faulty".to_owned()), MountOption::Subtype("faulty".to_owned())];
        config.n_threads = Some(THREADS);
        let server = Server::new(watched_name, caching, shared.clone());
        let session = Session::new(server, point.path(), &config).context("mount a FUSE filesystem")?;
        Ok(Self { shared, _session: session.spawn()?, point })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// What goes wrong with files from now on.
    pub fn follow(&self, script: &[Fault]) {
        self.shared.lock().follow(script);
    }

    /// All operations on files of the script, since the script was given.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.shared.lock().operations()
    }

    /// Ends what hangs, with an error.
    pub fn release(&self) {
        self.shared.lock().release();
    }

    /// Takes the mount away, and has the kernel end all requests that wait for an answer.
    pub fn abort(&self) {
        // FUSE takes the force for the end of the connection; what is busy is detached.
        let _ = rustix::mount::unmount(self.path(), UnmountFlags::FORCE | UnmountFlags::DETACH);
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Why there can be none here; none if there can.
pub(crate) fn missing() -> Option<String> {
    if !Path::new("/dev/fuse").exists() {
        return Some("no /dev/fuse".to_owned());
    }
    (!rustix::process::geteuid().is_root()).then(|| "mounting needs root".to_owned())
}
