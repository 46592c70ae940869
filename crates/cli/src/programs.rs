//! `--command`: the user's programs as cases.

use anyhow::{Result, ensure};
use clap::Args;
use writebench_model::{Axis, Bytes, Case, CaseOrigin, SelectedCase, Settings};

use crate::exit::usage;

#[derive(Args, Default)]
#[command(next_help_heading = "Your own programs")]
pub(crate) struct ProgramArguments {
    /// Measure your program, started without a shell. {file} is the path to write to, {source} is a file with
    /// the data. NAME=COMMAND names it in tables. The program is timed from start to end, or writes its own times to
    /// the descriptor in WRITEBENCH_PHASES_FD. May be repeated
    #[arg(long, value_name = "[NAME=]COMMAND")]
    command: Vec<String>,
    /// Expect this many bytes from each --command [default: the size of the first case, or 1GiB]
    #[arg(long, value_name = "SIZE", requires = "command")]
    bytes: Option<Bytes>,
    /// Expect a durable file from each --command, and compare it with durable cases
    #[arg(long, requires = "command")]
    durable: bool,
    /// Let each --command overwrite an existing {file}, and compare it with cases that overwrite
    #[arg(long, requires = "command")]
    existing: bool,
    /// Let each --command copy {source} to {file}, and compare it with copies
    #[arg(long, requires = "command")]
    copies: bool,
    /// Run this command before each sample of a --command, outside its time. {file} and {source} are those of the sample
    #[arg(long, value_name = "COMMAND", requires = "command")]
    setup: Option<String>,
    /// Run this command after each sample of a --command and its checks, also if it failed
    #[arg(long, value_name = "COMMAND", requires = "command")]
    cleanup: Option<String>,
}

const FILE: &str = writebench_engine::PROGRAM_FILE;
const SOURCE: &str = writebench_engine::PROGRAM_SOURCE;

impl ProgramArguments {
    pub(crate) fn is_empty(&self) -> bool {
        self.command.is_empty()
    }

    pub(crate) fn record(&self, settings: &mut Settings) -> Result<()> {
        settings.programs = self
            .command
            .iter()
            .map(|command| self.words_of(command))
            .collect::<Result<_>>()?;
        let words = |option, command: &Option<String>| {
            command
                .as_ref()
                .map_or(Ok(Vec::new()), |command| split(option, command))
        };
        (settings.setup, settings.cleanup) = (
            words("--setup", &self.setup)?,
            words("--cleanup", &self.cleanup)?,
        );
        Ok(())
    }

    fn words_of(&self, command: &str) -> Result<Vec<String>> {
        let (_, command) = split_name(command);
        let words = split("--command", command)?;
        for (mark, role) in [(FILE, "file"), (SOURCE, "source")]
            .into_iter()
            .take(1 + usize::from(self.copies))
        {
            ensure!(
                words.iter().any(|word| word.contains(mark)),
                usage!(
                    "--command '{command}' lacks the path of its {role}. Write {mark} in its place"
                )
            );
        }
        Ok(words)
    }

    /// A row for each program, of the size of the other rows.
    pub(crate) fn rows(
        &self,
        others: &[SelectedCase],
        sizes: &[Bytes],
    ) -> Result<Vec<SelectedCase>> {
        let name = if self.copies {
            "copy-program"
        } else {
            "program"
        };
        let others = others.first().map(|row| Bytes(row.case.given().size_bytes));
        let size = self.bytes.or(others).or(sizes.first().copied());
        let mut name = size.map_or(name.to_owned(), |size| {
            format!("{name},{}={size}", Axis::Size)
        });
        if self.existing {
            name += &format!(",{}=overwrite", Axis::Prepare);
        }
        if self.durable {
            name += &format!(",{}=fsync", Axis::Sync);
        }
        let names: Vec<&str> = self
            .command
            .iter()
            .filter_map(|command| split_name(command).0)
            .collect();
        let repeated = (1..names.len()).find(|&index| names[..index].contains(&names[index]));
        if let Some(index) = repeated {
            return Err(usage!(
                "two of --command have the name {}. Give each its own",
                names[index]
            ));
        }
        let row = |(number, command): (usize, &String)| {
            let name = format!("{name},{}={number}", Axis::Program);
            let label = Some(split_name(command).0.unwrap_or(command).to_owned());
            Ok(SelectedCase {
                origin: CaseOrigin::named(),
                label,
                case: Case::parse(&name)?,
            })
        };
        (1..).zip(&self.command).map(row).collect()
    }

    /// Refuses to resume with other programs. The user names them again, because a stranger's database could name any.
    pub(crate) fn check_again(&self, settings: &Settings) -> Result<()> {
        let mut again = settings.clone();
        self.record(&mut again)?;
        if again == *settings {
            return Ok(());
        }
        let programs = settings.programs.iter().map(|words| ("--command", words));
        let others = [
            ("--setup", &settings.setup),
            ("--cleanup", &settings.cleanup),
        ];
        let options: Vec<String> = programs
            .chain(others.into_iter().filter(|(_, words)| !words.is_empty()))
            .filter_map(|(option, words)| {
                Some((
                    option,
                    shlex::try_join(words.iter().map(String::as_str)).ok()?,
                ))
            })
            .map(|(option, command)| format!("{option} {}", writebench_report::quoted(&command)))
            .collect();
        Err(match options.as_slice() {
            [] => usage!("the run has no programs. Leave out --command"),
            options => usage!(
                "to resume this run, pass its programs again: {}",
                options.join(" ")
            ),
        })
    }
}

fn split(option: &str, command: &str) -> Result<Vec<String>> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        usage!("{option} '{command}' cannot be split into words. Is a quote open?")
    })?;
    if let Some(word) = for_shell(command, &words) {
        return Err(usage!(
            "{option} '{command}' has '{word}', which only a shell understands, and there is no shell. Start one: \
             sh -c '… \"$1\" … \"$2\"' - {SOURCE} {FILE}. If your program takes it as a word, quote it"
        ));
    }
    Ok(words)
}

/// A word by which a shell would join commands or open files. In quotes, it is the program's.
fn for_shell<'c>(command: &'c str, words: &[String]) -> Option<&'c str> {
    const JOINING: [&str; 5] = ["|", "||", "&", "&&", ";"];
    const OPENING: [&str; 6] = ["<", ">", "1>", "2>", "&>", "|&"];
    let is_for_shell = |word: &&str| {
        JOINING.contains(word) || OPENING.iter().any(|opening| word.starts_with(opening))
    };
    command
        .split_whitespace()
        .filter(is_for_shell)
        .find(|word| words.iter().any(|other| other == word))
}

/// The parts of `NAME=COMMAND`. No shell runs, so a variable cannot be meant.
fn split_name(command: &str) -> (Option<&str>, &str) {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match command.split_once('=') {
        Some((name, command)) if !name.is_empty() && name.chars().all(is_of_name) => {
            (Some(name), command)
        }
        _ => (None, command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_a_shell_is_found_unless_it_is_quoted() {
        for (command, found) in [
            ("cat {source} > {file}", Some(">")),
            ("cat {source} >{file}", Some(">{file}")),
            ("cat {source} 2>/dev/null", Some("2>/dev/null")),
            ("cat < {source}", Some("<")),
            ("cat {source} | tee {file}", Some("|")),
            ("true && ./new {file}", Some("&&")),
            ("sh -c 'cat \"$1\" > \"$2\"' - {source} {file}", None),
            ("./new '>' {file}", None),
            ("./new \\> {file}", None),
            ("./new --size=a>b {file}", None),
        ] {
            assert_eq!(
                for_shell(command, &split_words(command)),
                found,
                "{command}"
            );
        }
    }

    fn split_words(command: &str) -> Vec<String> {
        shlex::split(command).unwrap()
    }

    #[test]
    fn a_name_is_one_word_before_an_equals_sign() {
        assert_eq!(
            split_name("head=./new {file}"),
            (Some("head"), "./new {file}")
        );
        for command in [
            "dd if={source} of={file}",
            "./new --to={file}",
            "=x {file}",
            "/bin/a=b {file}",
        ] {
            assert_eq!(split_name(command), (None, command));
        }
    }
}
