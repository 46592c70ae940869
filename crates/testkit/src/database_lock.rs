use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A lock on a database that another process holds until the drop.
pub struct DatabaseLock(Child);

impl DatabaseLock {
    /// Locks a database by Python, whose library includes SQLite.
    pub fn on(database: &Path) -> Result<Self> {
        let script = "import sqlite3, sys\n\
            c = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)\n\
            c.execute('begin immediate')\nprint('locked', flush=True)\nsys.stdin.read()";
        let mut command = Command::new("python3");
        command
            .args(["-c", script])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let mut said = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut said)?;
        if said != "locked\n" {
            bail!(
                "not locked: {}",
                String::from_utf8_lossy(&child.wait_with_output()?.stderr)
            );
        }
        Ok(Self(child))
    }
}

impl Drop for DatabaseLock {
    fn drop(&mut self) {
        let _ = self.0.stdin.take().map(|mut stdin| stdin.flush());
        let _ = self.0.wait();
    }
}
