use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};

/// Starts this program again if it ignores signals. A shell ignores SIGINT for its background jobs, nohup SIGHUP, and
/// programs inherit that.
pub fn with_default_signals() -> Result<()> {
    const HUP_INT_QUIT_TERM: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .context("no SigIgn")?;
    if u64::from_str_radix(ignored.trim(), 16)? & HUP_INT_QUIT_TERM == 0 {
        return Ok(());
    }
    let mut anew = Command::new("env");
    anew.arg("--default-signal=HUP,INT,QUIT,TERM")
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1));
    Err(anew.exec()).context("env --default-signal")
}
