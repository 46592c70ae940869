//! What power losses leave of printed code, on more filesystems and with more disks than in the tests.

use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use writebench_claims::{Claim, Expected, Filesystem, Outcome, Scene, TRIES, claims};
use writebench_testkit::Need;
use writebench_testkit::command::{printed, root};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The most disks of each recording. Each program is recorded twice on each filesystem
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_states: usize,
    /// Programs at once
    #[arg(long, value_name = "N", default_value = "2")]
    jobs: NonZeroUsize,
    /// Only the claims whose title or program has this text
    #[arg(long = "only", value_name = "TEXT")]
    only: Vec<String>,
    /// Also write the table into docs/explanation/power-loss.md
    #[arg(long, conflicts_with = "only")]
    document: bool,
}

const DOCUMENT: &str = "docs/explanation/power-loss.md";

/// The lines around the table.
const BEFORE_TABLE: &str = "<!-- Written by `cargo studies powerloss --document`. -->\n";
const AFTER_TABLE: &str = "<!-- End of what it wrote. -->\n";

pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut claims = claims()?;
    claims.retain(|claim| options.names(claim));
    let tried = options.try_all(&claims);
    let text = format!("{}\n{}\n", table(&claims, &tried), options.facts()?);
    print!("\n{text}");
    if options.document {
        let path = root().join(DOCUMENT);
        let page = fs::read_to_string(&path).context(DOCUMENT)?;
        fs::write(&path, with_table(&page, &text)?).context(DOCUMENT)?;
    }
    Ok(tried.iter().all(Tried::is_expected))
}

/// A program on a filesystem.
struct Tried<'c> {
    claim: &'c Claim,
    filesystem: Filesystem,
    /// The power losses that were tried, or why none could be.
    outcome: Result<Outcome, String>,
}

impl Options {
    fn names(&self, claim: &Claim) -> bool {
        let program = claim.program();
        let has = |text: &String| claim.title.contains(text) || program.contains(text);
        self.only.is_empty() || self.only.iter().any(has)
    }

    /// Tries all claims, some at once, and prints each as soon as it is known.
    fn try_all<'c>(&self, claims: &'c [Claim]) -> Vec<Tried<'c>> {
        let waiting = Mutex::new(claims.iter());
        let tried = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.get() {
                scope.spawn(|| {
                    while let Some(claim) = locked(&waiting).next() {
                        self.try_claim(claim, &tried);
                    }
                });
            }
        });
        tried.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_claim<'c>(&self, claim: &'c Claim, all: &Mutex<Vec<Tried<'c>>>) {
        let scene = claim.scene();
        for filesystem in Filesystem::ALL {
            let missing = claim.needs(filesystem).into_iter().find_map(Need::missing);
            let outcome = match (missing, &scene) {
                (Some(missing), _) => Err(missing),
                (None, Err(error)) => Err(format!("{error:#}")),
                (None, Ok(scene)) => self
                    .play(claim, scene, filesystem)
                    .map_err(|error| format!("{error:#}")),
            };
            let tried = Tried {
                claim,
                filesystem,
                outcome,
            };
            println!("{tried}");
            locked(all).push(tried);
        }
    }

    /// A mistake may not show in each recording.
    fn play(&self, claim: &Claim, scene: &Scene, filesystem: Filesystem) -> Result<Outcome> {
        let must_be_caught =
            claim.expected == Expected::IsBroken && claim.tested_on.contains(&filesystem);
        let tries = if must_be_caught { TRIES } else { 1 };
        let mut all = Outcome::default();
        for _ in 0..tries {
            let outcome = scene.play(filesystem, self.max_states)?;
            all.checked += outcome.checked;
            all.broken.extend(outcome.broken);
            if !all.broken.is_empty() {
                break;
            }
        }
        Ok(all)
    }

    /// What the table is about, and how to make it again.
    fn facts(&self) -> Result<String> {
        let cpus = fs::read_to_string("/proc/cpuinfo").context("/proc/cpuinfo")?;
        let model = cpus.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == "model name").then(|| value.trim())
        });
        let kernel = rustix::system::uname();
        let date = printed(Command::new("date").args(["--utc", "+%-d %B %Y"]))?;
        Ok(format!(
            "{}, Linux {}, {}. The command is `cargo studies powerloss --max-states {} --jobs {} --document`.",
            model.unwrap_or("unknown CPU"),
            kernel.release().to_string_lossy(),
            date.trim(),
            self.max_states,
            self.jobs,
        ))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tried<'_> {
    fn is_expected(&self) -> bool {
        let Ok(outcome) = &self.outcome else {
            return false;
        };
        let is_broken = !outcome.broken.is_empty();
        match self.claim.expected {
            Expected::Holds => outcome.checked > 0 && !is_broken,
            Expected::IsBroken => is_broken || !self.claim.tested_on.contains(&self.filesystem),
        }
    }
}

impl fmt::Display for Tried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The broken disks that are shown.
        const SHOWN: usize = 3;
        let verdict = if self.is_expected() {
            ""
        } else {
            "NOT AS EXPECTED "
        };
        let (name, title) = (self.filesystem.name(), self.claim.title);
        write!(f, "{verdict}{name}: {title}: {}: ", self.claim.program())?;
        match &self.outcome {
            Err(reason) => f.write_str(reason),
            Ok(Outcome { checked, broken }) => {
                write!(f, "{} of {checked} broken", broken.len())?;
                for reason in broken.iter().take(SHOWN) {
                    write!(f, "\n  {reason}")?;
                }
                Ok(())
            }
        }
    }
}

/// A row for each title, with the states that were checked and those in which the claim is broken.
fn table(claims: &[Claim], tried: &[Tried<'_>]) -> String {
    let names: Vec<&str> = Filesystem::ALL.map(Filesystem::name).to_vec();
    let mut text = format!(
        "| claim | programs | {} | demanded by the tests |\n|---|--:|{}---|\n",
        names.join(" | "),
        "--:|".repeat(names.len())
    );
    for (title, programs, tests) in rows(claims) {
        let mut cells = Vec::new();
        for filesystem in Filesystem::ALL {
            let of_cell = tried
                .iter()
                .filter(|tried| row_of(tried.claim) == title && tried.filesystem == filesystem);
            cells.push(cell(of_cell.collect(), programs));
        }
        text += &format!(
            "| {title} | {programs} | {} | {tests} |\n",
            cells.join(" | ")
        );
    }
    text
}

fn cell(tried: Vec<&Tried<'_>>, programs: usize) -> String {
    let outcomes = tried.iter().filter_map(|tried| tried.outcome.as_ref().ok());
    let (mut count, mut checked, mut broken) = (0, 0, 0);
    for outcome in outcomes {
        count += 1;
        checked += outcome.checked;
        broken += outcome.broken.len();
    }
    match count {
        0 => "–".to_owned(),
        _ if count < programs => format!("{checked} / {broken} ({count} programs)"),
        _ => format!("{checked} / {broken}"),
    }
}

fn row_of(claim: &Claim) -> String {
    match claim.expected {
        Expected::Holds => claim.title.to_owned(),
        Expected::IsBroken => format!("mutant: {}", claim.title),
    }
}

/// The rows in their order, with the number of their programs, and where the tests demand them.
fn rows(claims: &[Claim]) -> Vec<(String, usize, String)> {
    let mut rows: Vec<(String, usize, Vec<&str>)> = Vec::new();
    for claim in claims {
        let row = row_of(claim);
        let known = rows.iter().position(|(title, ..)| *title == row);
        let place = known.unwrap_or_else(|| {
            rows.push((row, 0, Vec::new()));
            rows.len() - 1
        });
        let (_, programs, tests) = &mut rows[place];
        *programs += 1;
        for filesystem in claim.tested_on {
            if !tests.contains(&filesystem.name()) {
                tests.push(filesystem.name());
            }
        }
    }
    let demanded = |tests: Vec<&str>| match tests.is_empty() {
        true => "–".to_owned(),
        false => tests.join("; "),
    };
    rows.into_iter()
        .map(|(title, programs, tests)| (title, programs, demanded(tests)))
        .collect()
}

fn with_table(page: &str, table: &str) -> Result<String> {
    let parts = page.split_once(BEFORE_TABLE).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(AFTER_TABLE)?;
        Some((before, after))
    });
    let (before, after) = parts.context("power-loss.md has no place for the table")?;
    Ok(format!(
        "{before}{BEFORE_TABLE}\n{table}\n{AFTER_TABLE}{after}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_claims_as_they_are_declared() {
        let page = fs::read_to_string(root().join(DOCUMENT)).unwrap();
        let claims = claims().unwrap();
        for (title, programs, tests) in rows(&claims) {
            let begin = format!("| {title} | {programs} | ");
            let end = format!(" | {tests} |");
            assert!(
                page.lines()
                    .any(|line| line.starts_with(&begin) && line.ends_with(&end)),
                "no row {begin}…{end}: `cargo studies powerloss --document` writes it"
            );
        }
        assert!(with_table(&page, "").is_ok());
    }
}
