use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use writebench_testkit::extended;

/// A pseudoterminal: the controlling terminal of its program.
pub(crate) struct Terminal {
    master: File,
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Needs `setsid`.
    pub(crate) fn start(command: &Command, columns: u16) -> Result<Self> {
        let master =
            rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        rustix::pty::grantpt(&master)?;
        rustix::pty::unlockpt(&master)?;
        set_columns(&master, columns)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let slave = File::options()
            .read(true)
            .write(true)
            .open(name.to_str()?)?;
        let mut setsid = Command::new("setsid");
        setsid.args(["--ctty", "--wait"]);
        let mut setsid = extended(setsid, command);
        setsid.env("TERM", "xterm").env_remove("NO_COLOR");
        setsid
            .stdin(slave.try_clone()?)
            .stdout(slave.try_clone()?)
            .stderr(slave);
        let child = setsid.spawn().context("setsid")?;
        // `setsid` holds the program's side of the terminal open.
        drop(setsid);
        let (mut from, shown) = (
            File::from(master.try_clone()?),
            Arc::<Mutex<Vec<u8>>>::default(),
        );
        let copy = shown.clone();
        let reader = std::thread::spawn(move || {
            let mut block = [0; 4096];
            // EIO when the last program has closed its side.
            while let Ok(read @ 1..) = from.read(&mut block) {
                lock(&copy).extend_from_slice(&block[..read]);
            }
        });
        Ok(Self {
            master: master.into(),
            child,
            shown,
            reader: Some(reader),
        })
    }

    /// The kernel sends SIGWINCH.
    pub(crate) fn resize(&self, columns: u16) -> Result<()> {
        set_columns(&self.master, columns)
    }

    /// `\x03` is Ctrl-C.
    pub(crate) fn press(&mut self, keys: &str) -> Result<()> {
        Ok(self.master.write_all(keys.as_bytes())?)
    }

    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&lock(&self.shown)).into_owned()
    }

    pub(crate) fn end(mut self) -> Result<(ExitStatus, String)> {
        let status = self.child.wait()?;
        let _ = self.reader.take().map(JoinHandle::join);
        Ok((status, self.shown()))
    }
}

fn set_columns(terminal: &impl AsFd, columns: u16) -> Result<()> {
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    Ok(rustix::termios::tcsetwinsize(terminal, size)?)
}

fn lock(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
