//! Results are printed on stdout, all else on stderr.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, RawFd};
use std::time::{Duration, Instant};

use anstream::AutoStream;
use anyhow::{Result, anyhow};
use clap::ColorChoice;
use writebench_model::Failure;
use writebench_report::formats::folded;
use writebench_report::formats::terminal::STYLES;
use writebench_report::{visible, visible_lines};

use crate::closed_output;
use crate::exit::Exit;

pub(crate) struct Output {
    choice: anstream::ColorChoice,
    quiet: bool,
    // Set if standard output is the destination of a copy.
    results_on_stderr: Cell<bool>,
    // Set if a launcher reads and prints both outputs.
    is_relayed: bool,
}

impl Output {
    pub(crate) fn new(color: ColorChoice, quiet: bool, is_relayed: bool) -> Self {
        let choice = match color {
            // A launcher's terminal is not the reader's, and ends in a log.
            ColorChoice::Auto if is_relayed => anstream::ColorChoice::Never,
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self {
            choice,
            quiet,
            results_on_stderr: Cell::new(false),
            is_relayed,
        }
    }

    pub(crate) fn print_results_on_stderr(&self) {
        self.results_on_stderr.set(true);
    }

    /// Prints results with their styles, as the end of a command. Foreign text in them must be [`visible`].
    pub(crate) fn results(&self, styled: &str) -> Result<Exit> {
        let styled = &own_styles_only(styled);
        if self.results_on_stderr.get() {
            self.print(AutoStream::new(io::stderr(), self.choice), styled)?;
        } else {
            self.print(AutoStream::new(io::stdout(), self.choice), styled)?;
            if self.is_relayed {
                wait_until_read(io::stdout());
            }
        }
        Ok(Exit::Ok)
    }

    /// Prints the bytes of an export. A terminal gets escape sequences as text.
    pub(crate) fn export(&self, text: &str) -> Result<()> {
        self.print(self.exporter(), text)
    }

    /// A writer of exports to standard output. Each write must hold whole characters.
    pub(crate) fn exporter(&self) -> Box<dyn Write> {
        if closed_output::check(self.results_number()).is_err() {
            return Box::new(ClosedWriter(self.results_number()));
        }
        if self.results_on_stderr.get() {
            exporter(io::stderr())
        } else {
            exporter(io::stdout())
        }
    }

    fn results_number(&self) -> RawFd {
        if self.results_on_stderr.get() {
            closed_output::STDERR
        } else {
            closed_output::STDOUT
        }
    }

    fn print(&self, mut to: impl Write, text: &str) -> Result<()> {
        let stream = if self.results_on_stderr.get() {
            "standard error"
        } else {
            "standard output"
        };
        let is_open = closed_output::check(self.results_number());
        printed(
            is_open
                .and_then(|()| to.write_all(text.as_bytes()))
                .and_then(|()| to.flush()),
            stream,
        )
    }

    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    /// Notes that a real run would be refused.
    pub(crate) fn note_refusal(&self, checked: Result<()>) {
        if let Err(error) = checked {
            self.note(&format!("The run would be refused: {error:#}"));
        }
    }

    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && !self.is_relayed && io::stderr().is_terminal()
    }

    /// The columns that the results may have. None if there is no limit.
    pub(crate) fn width(&self) -> Option<usize> {
        let columns = self.terminal_width().or_else(columns_of_variable);
        Some(columns.unwrap_or(USUAL_COLUMNS)).filter(|&columns| columns > 0)
    }

    /// Whether a person reads the results as they appear.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal_width().is_some()
    }

    fn terminal_width(&self) -> Option<usize> {
        if self.is_relayed {
            return None;
        }
        let stdout = io::stdout();
        let stderr = io::stderr();
        let to = if self.results_on_stderr.get() {
            stderr.as_fd()
        } else {
            stdout.as_fd()
        };
        terminal_size::terminal_size_of(to).map(|(width, _)| usize::from(width.0))
    }
}

/// Those of a usual terminal. Logs of CI and pull requests are read by people, too.
const USUAL_COLUMNS: usize = 80;

/// The columns of help texts. Without a limit, these have the columns that clap takes for unknown terminals. clap would take 0
/// as it is, and print a word per line.
pub(crate) fn help_columns() -> usize {
    const UNKNOWN_TERMINAL: usize = 100;
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let columns = terminal.or_else(columns_of_variable);
    columns
        .filter(|&columns| columns > 0)
        .unwrap_or(UNKNOWN_TERMINAL)
}

/// As in GNU ls, 0 stands for no limit.
fn columns_of_variable() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Returns the last error, and prints those before it.
pub(crate) fn all_ok(results: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut errors = results
        .into_iter()
        .filter_map(Result::err)
        .collect::<Vec<_>>();
    let last = errors.pop();
    errors.iter().for_each(print_error);
    last.map_or(Ok(()), Err)
}

/// If work and tidying both failed, the error of tidying is printed.
pub(crate) fn after_tidying<T>(result: Result<T>, tidied: Result<()>) -> Result<T> {
    match result {
        Ok(value) => tidied.map(|()| value),
        Err(error) => {
            tidied.err().iter().for_each(print_error);
            Err(error)
        }
    }
}

pub(crate) fn print_error(error: &anyhow::Error) {
    to_stderr(&format!("writebench: {error:#}"));
}

/// Prints a line, which a terminal would break inside words. If that fails, the exit code still shows an error.
fn to_stderr(line: &str) {
    let columns = terminal_size::terminal_size_of(io::stderr())
        .map_or(usize::MAX, |(width, _)| width.0.into());
    let _ = write!(io::stderr(), "{}", folded(&visible(line), columns, 0));
}

/// Waits until a pipe is empty. A launcher reads both outputs in blocks, and would print a note inside a row.
fn wait_until_read(pipe: impl AsFd) {
    const MOST: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_millis(20);
    let start = Instant::now();
    while rustix::io::ioctl_fionread(&pipe).is_ok_and(|left| left > 0) && start.elapsed() < MOST {
        std::thread::sleep(PAUSE);
    }
    // Time for the launcher to print the last block.
    std::thread::sleep(PAUSE);
}

/// Ignores a closed pipe (`| head -1`).
pub(crate) fn printed(result: io::Result<()>, stream: &str) -> Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(anyhow!(
            "cannot write to {stream}: write: {}. Redirect it to another file",
            Failure::io_message(&error)
        )),
        _ => Ok(()),
    }
}

fn exporter(to: impl Write + IsTerminal + 'static) -> Box<dyn Write> {
    if to.is_terminal() {
        Box::new(EscapingWriter(to))
    } else {
        Box::new(to)
    }
}

/// Fails, because the program was started without this output.
struct ClosedWriter(RawFd);

impl Write for ClosedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        closed_output::check(self.0).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shows escape sequences, where the terminal would obey them.
struct EscapingWriter<W>(W);

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .write_all(visible_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Makes all control characters visible, except line ends and the program's own styles. A second barrier: foreign text
/// should be visible already.
fn own_styles_only(text: &str) -> String {
    let own: Vec<String> = STYLES
        .iter()
        .flat_map(|style| [format!("{style}"), format!("{style:#}")])
        .collect();
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let style = own
            .iter()
            .find(|style| rest[at..].starts_with(style.as_str()));
        let foreign = if style.is_some() { at } else { at + 1 };
        kept += &visible_lines(&rest[..foreign]);
        kept += style.map_or("", String::as_str);
        rest = &rest[foreign + style.map_or(0, String::len)..];
    }
    kept + &visible_lines(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_styles_reach_a_terminal() {
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
    fn waiting_ends_when_the_pipe_is_empty() {
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
        EscapingWriter(&mut shown)
            .write_all(b"a,\"b\x1b[2J\"\r\nc\n")
            .unwrap();
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "a,\"b\\u{1b}[2J\"\\r\nc\n"
        );
    }
}
