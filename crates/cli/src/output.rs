//! Where the program prints: results on stdout, all else on stderr.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anstream::AutoStream;
use anyhow::{Result, anyhow};
use clap::ColorChoice;
use writebench_model::Failure;
use writebench_report::formats::terminal::STYLES;
use writebench_report::{visible, visible_lines};

pub(crate) struct Output {
    choice: anstream::ColorChoice,
    quiet: bool,
    // Set if standard output is another writer's file.
    results_on_stderr: bool,
    // Set if a launcher reads both outputs, and prints them.
    is_relayed: bool,
}

impl Output {
    pub(crate) fn new(color: ColorChoice, quiet: bool, is_relayed: bool) -> Self {
        let choice = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self { choice, quiet, results_on_stderr: false, is_relayed }
    }

    /// This output with results on standard error, as standard output has another writer.
    pub(crate) fn with_results_on_stderr(&self) -> Self {
        Self { results_on_stderr: true, ..*self }
    }

    /// Prints results in our own styles; foreign text in them must be [`visible`]. A reader that
    /// stops (`| head -1`) is no error.
    pub(crate) fn results(&self, styled: &str) -> Result<()> {
        let styled = &own_styles_only(styled);
        if self.results_on_stderr {
            return self.print(AutoStream::new(io::stderr(), self.choice), styled);
        }
        self.print(AutoStream::new(io::stdout(), self.choice), styled)?;
        if self.is_relayed {
            wait_until_read(io::stdout());
        }
        Ok(())
    }

    /// Prints an export, byte by byte as a file would have it, unless a terminal would obey some of it.
    pub(crate) fn export(&self, text: &str) -> Result<()> {
        self.print(self.exporter(), text)
    }

    /// The writer of exports to standard output; each write must hold whole characters.
    pub(crate) fn exporter(&self) -> Box<dyn Write> {
        if self.results_on_stderr { exporter(io::stderr()) } else { exporter(io::stdout()) }
    }

    fn print(&self, mut to: impl Write, text: &str) -> Result<()> {
        let stream = if self.results_on_stderr { "standard error" } else { "standard output" };
        printed(to.write_all(text.as_bytes()).and_then(|()| to.flush()), stream)
    }

    /// Prints a note for the person at the terminal.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{}", visible(text));
        }
    }

    /// Whether a progress bar has a place.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// The width that results should fit in; none if they go to a file or another program.
    pub(crate) fn width(&self) -> Option<usize> {
        let size = if self.results_on_stderr {
            terminal_size::terminal_size_of(io::stderr())
        } else {
            terminal_size::terminal_size_of(io::stdout())
        };
        size.map(|(width, _)| usize::from(width.0))
    }
}

/// Fails with the last of the errors, and prints the others.
pub(crate) fn all_ok(results: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut errors = results.into_iter().filter_map(Result::err).collect::<Vec<_>>();
    let last = errors.pop();
    errors.iter().for_each(print_error);
    last.map_or(Ok(()), Err)
}

/// The result of work that was followed by tidying up. If both failed, the other error is printed.
pub(crate) fn after_tidying<T>(result: Result<T>, tidied: Result<()>) -> Result<T> {
    match tidied {
        Err(left) if result.is_ok() => return Err(left),
        Err(left) => print_error(&left),
        Ok(()) => {}
    }
    result
}

/// Prints an error in one line.
pub(crate) fn print_error(error: &anyhow::Error) {
    // If even this cannot be printed, the exit code still tells.
    let _ = writeln!(io::stderr(), "writebench: {}", visible(&format!("{error:#}")));
}

/// Waits until all of a pipe was read. A launcher reads both outputs in blocks, and would put a note in the middle of a
/// row.
fn wait_until_read(pipe: impl AsFd) {
    const MOST: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_millis(20);
    let start = Instant::now();
    while rustix::io::ioctl_fionread(&pipe).is_ok_and(|left| left > 0) && start.elapsed() < MOST {
        std::thread::sleep(PAUSE);
    }
    // What was read is not printed yet.
    std::thread::sleep(PAUSE);
}

/// The result of printing; a reader that stops is no error.
pub(crate) fn printed(result: io::Result<()>, stream: &str) -> Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(anyhow!(
            "cannot write to {stream}: write: {}; redirect it to where there is room",
            Failure::io_message(&error)
        )),
        _ => Ok(()),
    }
}

fn exporter(to: impl Write + IsTerminal + 'static) -> Box<dyn Write> {
    if to.is_terminal() { Box::new(EscapingWriter(to)) } else { Box::new(to) }
}

/// Shows text on a terminal that must not obey it.
struct EscapingWriter<W>(W);

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(visible_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The text with line ends and our own styles only. Foreign text is made visible where it enters a
/// sentence or a table; if that was forgotten, only our styles get through.
fn own_styles_only(text: &str) -> String {
    let own: Vec<String> = STYLES.iter().flat_map(|style| [format!("{style}"), format!("{style:#}")]).collect();
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        kept.push_str(&visible_lines(&rest[..at]));
        rest = &rest[at..];
        let length = own.iter().find(|style| rest.starts_with(style.as_str())).map(String::len);
        match length {
            Some(length) => kept.push_str(&rest[..length]),
            None => kept.push_str(&visible(&rest[..1])),
        }
        rest = &rest[length.unwrap_or(1)..];
    }
    kept.push_str(&visible_lines(rest));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_styles_reach_a_terminal() {
        for style in STYLES {
            let ours = format!("{style}ours{style:#}\n\tnext line");
            assert_eq!(own_styles_only(&ours), ours);
        }
        assert_eq!(own_styles_only("a\u{1b}[8mb\rc"), "a\\u{1b}[8mb\\rc");
        assert_eq!(
            own_styles_only("\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\u{1b}"),
            "\\u{1b}]0;t\\u{7}\\u{9b}2J\\u{202e}\\u{1b}"
        );
    }

    #[test]
    fn a_pipe_is_waited_for_until_it_was_read() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"a row\n").unwrap();
        let was_read = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                was_read.store(true, std::sync::atomic::Ordering::SeqCst);
                io::Read::read(&mut reader, &mut [0; 64]).unwrap();
            });
            wait_until_read(&writer);
            assert!(was_read.load(std::sync::atomic::Ordering::SeqCst));
        });
    }

    #[test]
    fn an_export_on_a_terminal_has_its_lines_and_no_escapes() {
        let mut shown = Vec::new();
        EscapingWriter(&mut shown).write_all(b"a,\"b\x1b[2J\"\r\nc\n").unwrap();
        assert_eq!(String::from_utf8(shown).unwrap(), "a,\"b\\u{1b}[2J\"\\r\nc\n");
    }
}
