//! Other programs as cases of the same run, by `--command`: in the same rounds, verified, and by the phases that they
//! report. So the code that measures and compares cases measures and compares these, too.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;
use writebench_model::{Axis, Bytes, Case, Durability, Start};
use writebench_snippets::{EmitOptions, Language, code};
use writebench_stats::{Interval, as_f64};
use writebench_testkit::Compiled;

use super::cases::{self, Sized};
use crate::export::{Measured, measured};
use crate::program;
use crate::target::{described, is_memory};

/// Below this ratio, one side has an overhead that the work does not ask for.
const LEAST_RATIO: f64 = 0.97;
/// Languages without a run time of their own: their code is judged.
const JUDGED: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

/// The programs beside the cases.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// The code that is printed in C: the loop that a good C programmer would write. The case is judged.
    C,
    /// The code that is printed in every language, which is judged.
    Languages,
    /// `cp` and `dd`, which are not judged.
    Tools,
}

/// How the programs are compared.
pub(super) struct Comparison<'o> {
    pub beside: Beside,
    pub targets: &'o [PathBuf],
    pub size: Bytes,
    pub rounds: u32,
    pub wants: &'o dyn Fn(&str) -> bool,
}

/// A program beside a case: none where its language cannot say the case.
type Side = Option<String>;

/// A case's row: its own speed, and each program's ratio.
struct Row {
    case: String,
    bytes_per_s: f64,
    ratios: Vec<Option<Interval>>,
}

impl Beside {
    fn columns(self) -> Vec<&'static str> {
        match self {
            Self::C => vec!["writebench / C"],
            Self::Languages => Language::ALL.iter().map(|language| language.title()).collect(),
            Self::Tools => cases::TOOLS.iter().map(|(name, _)| *name).collect(),
        }
    }

    fn cases(self, size: Bytes) -> Vec<Sized> {
        match self {
            Self::C => cases::with_aligned_data(cases::of_c(size)),
            Self::Languages => cases::with_aligned_data(cases::of_languages(size)),
            Self::Tools => cases::of_tools(size),
        }
    }

    /// The command line of each program, without its files. Programs of our own are built in the directory.
    fn sides(self, case: &Case, directory: &Path) -> Result<Vec<Side>> {
        let languages: &[Language] = match self {
            Self::C => &[Language::C],
            Self::Languages => Language::ALL,
            Self::Tools => {
                return Ok(cases::TOOLS.iter().map(|(_, words)| Some((*words).to_owned())).collect());
            }
        };
        languages.iter().map(|&language| printed(case, language, directory)).collect()
    }

    /// Whether the ratio in that column is judged.
    fn judges(self, column: usize) -> bool {
        match self {
            Self::C => true,
            Self::Languages => JUDGED.contains(&Language::ALL[column]),
            Self::Tools => false,
        }
    }

    fn head(self, rounds: u32, size: Bytes) -> String {
        let (title, option, text) = match self {
            Self::C => ("Parity with plain C", "", C),
            Self::Languages => ("What your language costs", " --snippets", LANGUAGES),
            Self::Tools => ("Beside the tools that people know", " --tools", TOOLS),
        };
        format!(
            "# {title}\n\nWritten by `cargo xtask parity{option}`; no figure is by hand.\n{rounds} rounds; files of {}, but of \
             those cases that have less; {}.\n\n{text}",
            size.approximate(),
            cpu(),
        )
    }
}

const C: &str = "\
Each case stands beside a program, which is a case of the same run (`--command`): the code that
`writebench code CASE --lang c --main` prints. A cell says how many times as fast as the program the
case is, over all phases: the median of the ratios in a round, with its 95 % interval. `!` marks a
ratio whose whole interval is below 0.97, `?` one below 0.97 that is not certain.
";
const LANGUAGES: &str = "\
Each case stands beside programs, which are cases of the same run (`--command`): the code that
`writebench code CASE --lang LANGUAGE --main` prints. Starting a program and reading its data are
not in its time. A cell says how many times as fast as the case's own loop the function is, over all
phases: the median of the ratios in a round. `–`: the language cannot say the case without a foreign
function. `!` marks a ratio whose whole 95 % interval is below 0.97, `?` one below 0.97 that is not
certain.

With calls of 4 KiB, a process of its own is slower than the case, in C, too; the cause was not
found. So the price of a language is its ratio to the column of C.
";
const TOOLS: &str = "\
Each tool is a case of the same run (`--command`). Starting it is in its time. A cell says how many
times as fast as the case the tool is, over all phases: the median of the ratios in a round.
";

/// A program of printed code; none if the language cannot say the case.
fn printed(case: &Case, language: Language, directory: &Path) -> Result<Side> {
    let frame = EmitOptions { is_program: true, ..EmitOptions::default() };
    let Ok(text) = code(case, language, frame) else { return Ok(None) };
    let directory = directory.join(language.name());
    std::fs::create_dir(&directory)?;
    let compiled = Compiled::from_text(&text, language, &directory)?;
    Ok(Some(shlex::try_join(compiled.words.iter().map(String::as_str))?))
}

impl Comparison<'_> {
    /// The tables, and whether everything that is judged is as fast as it should be.
    pub(super) fn run(&self) -> Result<(String, bool)> {
        let writebench = program::build()?;
        let (mut text, mut is_good) = (String::new(), true);
        let mut say = |more: &str| {
            print!("{more}");
            text += more;
        };
        say(&self.beside.head(self.rounds, self.size));
        for target in self.targets {
            let columns = self.beside.columns();
            say(&format!("\n## {}\n\n| case | GB/s | {} |\n", described(target), columns.join(" | ")));
            say(&format!("|---|--:|{}\n", "--:|".repeat(columns.len())));
            let in_memory = is_memory(target)?;
            let possible = |name: &str| !in_memory || !name.contains("cache=direct");
            for (name, size) in self.beside.cases(self.size) {
                if !possible(&name) || !(self.wants)(&name) {
                    continue;
                }
                match self.row(&writebench, target, &name, size) {
                    Ok(row) => {
                        is_good &= !self.is_surely_slower(&row);
                        say(&row.text(columns.len() < 3));
                    }
                    // Not every filesystem shares blocks or drops pages.
                    Err(why) => say(&format!("| `{name}` | – |{} {why:#}\n", " – |".repeat(columns.len()))),
                }
            }
        }
        Ok((text, is_good))
    }

    fn is_surely_slower(&self, row: &Row) -> bool {
        let is_below = |ratio: &Option<Interval>| ratio.as_ref().is_some_and(|it| it.high < LEAST_RATIO);
        row.ratios.iter().enumerate().any(|(column, ratio)| self.beside.judges(column) && is_below(ratio))
    }

    fn row(&self, writebench: &Path, target: &Path, name: &str, size: Bytes) -> Result<Row> {
        let case = Case::parse(name)?.with(Axis::Size, &size.to_string())?;
        let scratch: TempDir = tempfile::tempdir().context("a folder for the programs")?;
        let sides = self.beside.sides(&case, scratch.path())?;
        let mut command = Command::new(writebench);
        command.arg("run").arg(target).args(["--yes", "--no-limits", "--verify", "first"]);
        command.args(["--samples", &self.rounds.to_string(), "--case", &case.to_string()]);
        let is_durable = case.contract().durability == Durability::Durable;
        command.args((case.contract().start == Start::Existing).then_some("--existing"));
        command.args(is_durable.then_some("--durable")).args(case.method().copies().then_some("--copies"));
        for words in sides.iter().flatten() {
            // A tool says itself where its files stand.
            let files = if words.contains("{file}") { "" } else { " {source} {file}" };
            command.args(["--command", &format!("{words}{files}")]);
        }
        let cases = measured(&program::exported(command)?)?;
        let own = cases.iter().find(|it| it.id == case.to_string()).context("the case has no figure here")?;
        let mut numbers = 1..;
        let of = |side: &Side| -> Result<Option<Interval>> {
            let Some(words) = side else { return Ok(None) };
            let number = numbers.next();
            let found = cases.iter().find(|it: &&Measured| it.program() == number);
            let found = found.with_context(|| format!("{words} failed"))?;
            Ok(if self.beside == Beside::C { found.ratio(own) } else { own.ratio(found) })
        };
        let ratios = sides.iter().map(of).collect::<Result<_>>()?;
        Ok(Row { case: name.to_owned(), bytes_per_s: as_f64(size.0) * 1e9 / own.value_ns, ratios })
    }
}

impl Row {
    fn text(&self, with_intervals: bool) -> String {
        let cell = |ratio: &Option<Interval>| {
            let Some(Interval { estimate, low, high, .. }) = ratio else { return " – |".to_owned() };
            let mark = match () {
                () if *high < LEAST_RATIO => " !",
                () if *estimate < LEAST_RATIO => " ?",
                () => "",
            };
            let interval = if with_intervals { format!(" [{low:.2}, {high:.2}]") } else { String::new() };
            format!(" {estimate:.2}{interval}{mark} |")
        };
        let cells: String = self.ratios.iter().map(cell).collect();
        format!("| `{}` | {:.3} |{cells}\n", self.case, self.bytes_per_s / 1e9)
    }
}

/// The CPU's name in the kernel's words.
fn cpu() -> String {
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "an unknown CPU".to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(estimate: f64, high: f64) -> Row {
        let ratio = Interval { estimate, low: 0.5, high, confidence: 0.95, count: 42 };
        let ratios = vec![Some(ratio), None];
        Row { case: "write".to_owned(), bytes_per_s: 2e9, ratios }
    }

    fn comparison(beside: Beside) -> Comparison<'static> {
        Comparison { beside, targets: &[], size: Bytes(1), rounds: 6, wants: &|_| true }
    }

    #[test]
    fn slower_programs_are_marked_and_a_missing_language_has_a_dash() {
        assert_eq!(row(1.0, 1.1).text(false), "| `write` | 2.000 | 1.00 | – |\n");
        assert_eq!(row(1.0, 1.1).text(true), "| `write` | 2.000 | 1.00 [0.50, 1.10] | – |\n");
        assert!(row(0.9, 1.1).text(false).contains(" 0.90 ? |"));
        assert!(row(0.9, 0.95).text(false).contains(" 0.90 ! |"));
    }

    #[test]
    fn only_what_is_judged_can_be_too_slow() {
        assert!(comparison(Beside::C).is_surely_slower(&row(0.9, 0.95)));
        assert!(!comparison(Beside::C).is_surely_slower(&row(0.9, 0.99)));
        assert!(!comparison(Beside::Tools).is_surely_slower(&row(0.9, 0.95)));
        let [last] = [Language::ALL.len() - 1].map(|column| Beside::Languages.judges(column));
        assert!(Beside::Languages.judges(0) && !last);
    }

    #[test]
    fn every_case_exists_and_has_code_in_c_but_once() {
        for beside in [Beside::C, Beside::Languages, Beside::Tools] {
            let all = beside.cases(Bytes(256 << 20));
            for (at, (name, size)) in all.iter().enumerate() {
                let case = Case::parse(name).unwrap().with(Axis::Size, &size.to_string()).unwrap();
                assert!(code(&case, Language::C, EmitOptions::default()).is_ok(), "{name}");
                assert!(all[..at].iter().all(|other| &other.0 != name), "{name} comes twice");
            }
        }
    }
}
