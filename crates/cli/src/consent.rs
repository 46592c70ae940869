//! Asking before something large or lasting is done.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use writebench_report::visible;

use crate::exit::usage;

/// Ends in an error unless the user wants what `would` says, a sentence without its end: has
/// `agreed` on the command line, or says yes at the terminal. Without a terminal to ask at, the
/// error names the `options` that help.
pub(crate) fn ask(agreed: bool, would: &str, options: &str) -> Result<()> {
    if agreed {
        return Ok(());
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(usage!("{would}: {options}"));
    }
    write!(io::stderr(), "{}. Go on? [y/N] ", visible(would)).context("ask on the terminal")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("read the answer from the terminal")?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(usage!("stopped before anything was written or removed: the answer was no")),
    }
}
