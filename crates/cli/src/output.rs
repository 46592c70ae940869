//! Where the program prints: results on stdout, all else on stderr.

use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;
use clap::ColorChoice;

/// The program's two outputs.
pub struct Output {
    choice: anstream::ColorChoice,
    quiet: bool,
    // Where standard output is somebody's file.
    results_on_stderr: bool,
}

impl Output {
    /// By the options of the command line.
    pub fn new(color: ColorChoice, quiet: bool) -> Self {
        let choice = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self { choice, quiet, results_on_stderr: false }
    }

    /// The same, with results on standard error, because standard output is written to by somebody else.
    pub fn with_results_on_stderr(&self) -> Self {
        Self { results_on_stderr: true, ..*self }
    }

    /// Prints results. That nobody reads on (`| head -1`) is no error.
    pub fn results(&self, styled: &str) -> io::Result<()> {
        let styled = &styles_only(styled);
        let written = if self.results_on_stderr {
            AutoStream::new(io::stderr(), self.choice).write_all(styled.as_bytes())
        } else {
            let mut stdout = AutoStream::new(io::stdout(), self.choice);
            stdout.write_all(styled.as_bytes()).and_then(|()| stdout.flush())
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    /// Prints a note for the person at the terminal.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{}", plain(text));
        }
    }

    /// Prints what went wrong, in one line.
    pub fn error(&self, error: &anyhow::Error) {
        // Where not even this can be said, the exit code still says it.
        let _ = writeln!(io::stderr(), "writebench: {}", plain(&format!("{error:#}")));
    }

    /// Whether a progress bar has a place.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// The width that results should fit in; none if they go to a file or another program.
    pub fn width(&self) -> Option<usize> {
        let size = if self.results_on_stderr {
            terminal_size::terminal_size_of(io::stderr())
        } else {
            terminal_size::terminal_size_of(io::stdout())
        };
        size.map(|(width, _)| usize::from(width.0))
    }
}

/// Without what a terminal would obey, but for styles and the ends of lines: runs of strangers are shown, too.
fn styles_only(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\t')) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let style =
            rest.strip_prefix("\u{1b}[").map(|it| it.trim_start_matches(|it: char| "0123456789;".contains(it)));
        let length = match style.and_then(|it| it.strip_prefix('m')) {
            Some(after) => rest.len() - after.len(),
            None => rest.chars().next().map_or(0, char::len_utf8),
        };
        kept.push_str(if style.is_some_and(|it| it.starts_with('m')) { &rest[..length] } else { "?" });
        rest = &rest[length..];
    }
    kept + rest
}

/// In one line, and without what a terminal would obey: paths and documents have names that others gave.
fn plain(text: &str) -> String {
    let plain = |character: char| match character {
        '\n' | '\t' => ' ',
        other if other.is_control() => '?',
        other => other,
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_reach_a_terminal() {
        assert_eq!(styles_only("\u{1b}[1;31mred\u{1b}[0m\n"), "\u{1b}[1;31mred\u{1b}[0m\n");
        assert_eq!(styles_only("a\u{1b}[2Jb\u{1b}]0;title\u{7}c\u{9b}d\u{1b}"), "a?[2Jb?]0;title?c?d?");
        assert_eq!(plain("a\nb\u{1b}[1mc"), "a b?[1mc");
    }
}
