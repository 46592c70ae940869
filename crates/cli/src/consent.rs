use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result, ensure};
use writebench_report::visible;

use crate::exit::usage;

/// Fails unless the user agrees to what `would` announces, on the command line or at the terminal. Without a terminal,
/// the error names the `options` that help. Both are parts of a sentence.
pub(crate) fn ask(agreed: bool, would: &str, options: &str) -> Result<()> {
    if agreed {
        return Ok(());
    }
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    ensure!(can_ask, usage!("{would}. To agree, {options}"));
    write!(io::stderr(), "{}. Go on? [y/N] ", visible(would)).context("ask on the terminal")?;
    let mut answer = String::new();
    io::stdin()
        .read_line(&mut answer)
        .context("read the answer from the terminal")?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(usage!("the answer was no. Nothing was written or removed")),
    }
}
