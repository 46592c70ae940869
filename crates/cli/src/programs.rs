//! `--command`: programs of the user's own as cases beside the others.

use anyhow::Result;
use clap::Args;
use writebench_model::{Axis, Bytes, Case, CaseOrigin, SelectedCase, Settings};

use crate::exit::usage;

#[derive(Args, Default)]
pub(crate) struct ProgramArguments {
    /// A program of your own as a case: its command line, with {file} for the path of the file that it writes, and
    /// {source} for a file with the data, in the page cache; may be repeated. It is started for each sample, without a
    /// shell. Its time is that from its start to its end, or what it reports (see docs/how-to/measure-your-program.md)
    #[arg(long, value_name = "COMMAND")]
    command: Vec<String>,
    /// Bytes that each --command writes [default: the size of the first case; 1GiB]
    #[arg(long, value_name = "SIZE", requires = "command")]
    bytes: Option<Bytes>,
    /// Each --command makes its file durable, and is compared with cases that do
    #[arg(long, requires = "command")]
    durable: bool,
    /// Each --command writes over {file}, which exists, and is compared with cases that do
    #[arg(long, requires = "command")]
    existing: bool,
    /// Each --command copies {source} to {file}, and is compared with cases that copy
    #[arg(long, requires = "command")]
    copies: bool,
}

/// The placeholders of a command line.
const FILE: &str = writebench_engine::PROGRAM_FILE;
const SOURCE: &str = writebench_engine::PROGRAM_SOURCE;

impl ProgramArguments {
    pub(crate) fn is_empty(&self) -> bool {
        self.command.is_empty()
    }

    pub(crate) fn words(&self) -> Result<Vec<Vec<String>>> {
        self.command.iter().map(|command| self.words_of(command)).collect()
    }

    fn words_of(&self, command: &str) -> Result<Vec<String>> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words =
            words.ok_or_else(|| usage!("--command '{command}' is no command line: is a quote open?"))?;
        let has = |mark: &str| words.iter().any(|word| word.contains(mark));
        if !has(FILE) {
            return Err(usage!(
                "--command '{command}' does not say where the file goes: put {FILE} in the place of its path"
            ));
        }
        if self.copies && !has(SOURCE) {
            return Err(usage!(
                "--command '{command}' does not say what it copies: put {SOURCE} in the place of its path"
            ));
        }
        Ok(words)
    }

    /// A row for each program, of the size of the other rows.
    pub(crate) fn rows(&self, others: &[SelectedCase], sizes: &[Bytes]) -> Result<Vec<SelectedCase>> {
        let name = if self.copies { "copy-program" } else { "program" };
        let others = others.first().map(|row| Bytes(row.case.axes().size_bytes));
        let size = self.bytes.or(others).or(sizes.first().copied());
        let mut name = size.map_or(name.to_owned(), |size| format!("{name},{}={size}", Axis::Size));
        if self.existing {
            name += &format!(",{}=overwrite", Axis::Prepare);
        }
        if self.durable {
            name += &format!(",{}=fsync", Axis::Sync);
        }
        let row = |(number, command): (usize, &String)| {
            let name = format!("{name},{}={number}", Axis::Program);
            let case = Case::parse(&name)?;
            Ok(SelectedCase { origin: CaseOrigin::Named, label: Some(command.clone()), case })
        };
        (1..).zip(&self.command).map(row).collect()
    }

    /// Refuses to go on with other programs than the run began with. The user names them again, as
    /// the database may be a stranger's.
    pub(crate) fn check_again(&self, settings: &Settings) -> Result<()> {
        if self.words()? == settings.programs {
            return Ok(());
        }
        let options: Vec<String> = settings
            .programs
            .iter()
            .filter_map(|words| shlex::try_join(words.iter().map(String::as_str)).ok())
            .map(|command| format!("--command {}", writebench_report::quoted(&command)))
            .collect();
        Err(match options.as_slice() {
            [] => usage!("--command: the run has no programs"),
            options => usage!("the run starts programs of its own: if it shall, add {}", options.join(" ")),
        })
    }
}
