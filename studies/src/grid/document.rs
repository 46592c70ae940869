use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use writebench_model::{Case, Durability, DurableCall, Goal};
use writebench_stats::median;
use writebench_testkit::command::root;

use super::choice::{Gains, TOLERANCE, choose, gain, left_out, regret};
use super::{Grid, Grids, answer};

const MOST_CASES: usize = 8;

/// A program is expected to have at most these for its files.
const MOST_THREADS: u32 = 4;

/// The lines around the rates in the page of the answers.
const BEFORE_RATES: &str = "<!-- Written by `cargo studies grid --choose`. -->\n";
const AFTER_RATES: &str = "<!-- End of what it wrote. -->\n";

pub(super) fn paths() -> [PathBuf; 3] {
    [
        "crates/model/portfolio.toml",
        "docs/explanation/portfolio.md",
        "docs/explanation/answers.md",
    ]
    .map(|path| root().join(path))
}

/// The present texts of [`paths`].
pub(super) fn read() -> Result<[String; 3]> {
    let mut texts = [const { String::new() }; 3];
    for (text, path) in texts.iter_mut().zip(paths()) {
        *text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    }
    Ok(texts)
}

/// Returns the texts of [`paths`] from the old ones. A goal without results keeps its cases.
pub(super) fn texts(grids: &Grids, old: &[String; 3]) -> Result<[String; 3]> {
    let [old_portfolio, _, page] = old;
    let old_cases: BTreeMap<String, Vec<String>> =
        toml::from_str(old_portfolio).context("portfolio.toml")?;
    let head = old_portfolio
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('#'));
    let mut portfolio: String = head.collect();
    let mut document = head_of(grids);
    for &goal in Goal::ALL {
        let column = Column::new(grids, goal);
        let chosen = match column.gains.is_empty() {
            true => old_cases.get(goal.name()).cloned().unwrap_or_default(),
            false => column.portfolio(|_| true),
        };
        let lines: String = chosen
            .iter()
            .map(|name| format!("    {name:?},\n"))
            .collect();
        let lines = if lines.is_empty() {
            lines
        } else {
            format!("\n{lines}")
        };
        portfolio += &format!("\n{goal} = [{lines}]\n");
        document += &column.section(goal, &chosen);
    }
    let answers = answers(grids);
    document += &answer::summary(&answers);
    let page = with_rates(page, &answer::rates_of_versions(&answers))?;
    Ok([portfolio, document, page])
}

fn with_rates(page: &str, rates: &str) -> Result<String> {
    let parts = page.split_once(BEFORE_RATES).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(AFTER_RATES)?;
        Some((before, after))
    });
    let (before, after) = parts.context("answers.md has no place for the rates")?;
    Ok(format!(
        "{before}{BEFORE_RATES}{rates}\n{AFTER_RATES}{after}"
    ))
}

fn answers(grids: &Grids) -> Vec<(&str, &str, &answer::Answers)> {
    let mut answers = Vec::new();
    for (name, grid) in grids {
        for (goal, answer) in &grid.answers {
            answers.push((name.as_str(), goal.as_str(), answer));
        }
    }
    answers
}

/// What the environments say of one goal.
pub(super) struct Column<'g> {
    names: Vec<&'g str>,
    gains: Vec<Gains>,
    efforts: BTreeMap<String, u32>,
}

/// The case's effort. None unless it is as durable as the baseline, not more often, and has few threads.
fn effort(goal: Goal, name: &str) -> Option<u32> {
    let case = Case::parse(name)
        .ok()
        .filter(|case| case.thread_count() <= MOST_THREADS)?;
    let workload = case.workload();
    let is_of_goal = match workload.durability {
        Durability::Cached => !goal.is_durable(),
        Durability::Device => false,
        Durability::Durable => goal.has_records() || workload.durable_every_bytes.is_none(),
    };
    is_of_goal.then(|| case.effort())
}

/// Whether the case makes its data durable there. The overlays were over ext4, which trusts every sync.
pub(super) fn is_trusted_in(grid: &Grid<Gains>, name: &str) -> bool {
    let kind = grid
        .environment
        .get("filesystem")
        .map_or("", String::as_str);
    let call = Case::parse(name)
        .ok()
        .and_then(|case| DurableCall::of_case(&case));
    call.is_none_or(|call| kind == "overlay" || call.is_trusted_on(kind))
}

impl<'g> Column<'g> {
    pub(super) fn new(grids: &'g Grids, goal: Goal) -> Self {
        let mut names = Vec::new();
        let mut gains = Vec::new();
        let mut efforts = BTreeMap::new();
        for (name, grid) in grids {
            let Some(all) = grid.goals.get(goal.name()) else {
                continue;
            };
            efforts.extend(
                all.keys()
                    .filter_map(|name| Some((name.clone(), effort(goal, name)?))),
            );
            let candidates = all
                .iter()
                .filter(|(name, _)| efforts.contains_key(*name) && is_trusted_in(grid, name));
            gains.push(
                candidates
                    .map(|(name, gain)| (name.clone(), *gain))
                    .collect(),
            );
            names.push(name.as_str());
        }
        Self {
            names,
            gains,
            efforts,
        }
    }

    /// The cases to measure first, chosen from the environments that are known.
    pub(super) fn portfolio(&self, is_known: impl Fn(&str) -> bool) -> Vec<String> {
        let places = self.names.iter().zip(&self.gains);
        let known: Vec<&Gains> = places
            .filter(|(name, _)| is_known(name))
            .map(|(_, gains)| gains)
            .collect();
        choose(&known, &self.efforts, MOST_CASES)
    }

    /// The gains of the cases that the portfolio may have. None if the environment lacks the goal.
    pub(super) fn gains_in(&self, environment: &str) -> Option<&Gains> {
        let place = self.names.iter().position(|name| *name == environment)?;
        Some(&self.gains[place])
    }

    fn references(&self) -> Vec<&Gains> {
        self.gains.iter().collect()
    }

    fn places(&self, figure: impl Fn(&Gains) -> Option<String>) -> String {
        let places = self.names.iter().zip(&self.gains);
        let places = places.filter_map(|(name, gains)| Some(format!("{name} {}", figure(gains)?)));
        let places = places.collect::<Vec<_>>().join(", ");
        if places.is_empty() {
            "–".to_owned()
        } else {
            places
        }
    }

    fn section(&self, goal: Goal, chosen: &[String]) -> String {
        let near = format!(
            "within {:.0} % of the best, with its gain",
            TOLERANCE * 100.0
        );
        let mut text = format!("\n## {goal}\n\n| case | effort | {near} |\n|---|---|---|\n");
        let base = self.places(|gains| is_near(gains, &[]).then(|| "1.00".to_owned()));
        text += &format!("| plain write | 0 | {base} |\n");
        for name in chosen {
            let places = self.places(|gains| {
                is_near(gains, &[name]).then(|| format!("{:.2}", gain(gains, name)))
            });
            let effort =
                effort(goal, name).map_or_else(|| "–".to_owned(), |effort| effort.to_string());
            text += &format!("| `{name}` | {effort} | {places} |\n");
        }
        if self.gains.is_empty() {
            return text
                + "\nNo environment has measured this goal yet. These cases were chosen by hand.\n";
        }
        let far = self.places(|gains| {
            let percent = regret(gains, chosen) * 100.0;
            (percent > TOLERANCE * 100.0).then(|| format!("({percent:.1} % slower)"))
        });
        if far != "–" {
            text += &format!("\nThey leave a regret in {far}.\n");
        }
        let regrets = left_out(&self.references(), &self.efforts, MOST_CASES);
        let worst = self
            .names
            .iter()
            .zip(&regrets)
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let ([_, _, ..], Some(middle), Some((name, most))) =
            (&regrets[..], median(&regrets), worst)
        {
            let [middle, most] = [middle, *most].map(|regret| regret * 100.0);
            text += &format!(
                "\nLeft out: {middle:.1} % in the median, {most:.1} % at worst ({name}).\n"
            );
        }
        text
    }
}

fn is_near(gains: &Gains, cases: &[&str]) -> bool {
    regret(gains, cases) <= TOLERANCE
}

fn head_of(grids: &Grids) -> String {
    let tolerance = TOLERANCE * 100.0;
    let mut text = format!(
        include_str!("document.md"),
        tolerance = tolerance,
        threads = MOST_THREADS
    );
    if grids.is_empty() {
        return text + "None is measured yet.\n";
    }
    text += "| name | machine | filesystem | device | files | version, date |\n|---|---|---|---|---|---|\n";
    for (name, grid) in grids {
        let fact = |name| grid.environment.get(name).map_or("", String::as_str);
        let [cpu, cpus, memory, kernel] = ["cpu", "cpus", "memory", "kernel"].map(fact);
        let [filesystem, options, device] = ["filesystem", "mount-options", "device"].map(fact);
        let [size, small, version, date] = ["size", "small", "version", "date"].map(fact);
        let filesystem = match fact("made") {
            "" => filesystem.to_owned(),
            kind => format!("{filesystem}, made as {kind}"),
        };
        // What cannot be seen from the other facts, such as goals that were measured later.
        let note = match fact("note") {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        text += &format!(
            "| {name} | {cpu}, {cpus} CPUs, {memory}, {kernel} | {filesystem}: `{options}` | {device} \
             | {size}, first {small} | {version}, {date}{note} |\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_lists_the_chosen_cases_and_their_environments() {
        let grid = |gains: &str| {
            toml::from_str(&format!(
                "[environment]\nsize = '64MiB'\ndate = 'today'\nnote = 'one CPU'\n[goals.stream]\n{gains}"
            ))
            .unwrap()
        };
        let grids = Grids::from([
            (
                "one".to_owned(),
                grid("\"mmap,threads=2\" = 2.0\npwrite = 1.1\n'pwrite,threads=9' = 4.0"),
            ),
            ("other".to_owned(), grid("pwrite = 1.5\nunknown = 9.0")),
        ]);
        let old = [
            "# head\n\ncopy = [\"splice\"]\n".to_owned(),
            String::new(),
            format!("a\n{BEFORE_RATES}old\n{AFTER_RATES}z\n"),
        ];
        let [portfolio, document, page] = texts(&grids, &old).unwrap();
        assert_eq!(page, format!("a\n{BEFORE_RATES}\n{AFTER_RATES}z\n"));
        let (stream, rest) = portfolio.split_once("]\n").unwrap();
        assert_eq!(
            stream,
            "# head\n\nstream = [\n    \"mmap,threads=2\",\n    \"pwrite\",\n"
        );
        assert!(
            rest.contains("\ncopy = [\n    \"splice\",\n]\n")
                && rest.contains("\nlarger-than-memory = []\n")
        );
        assert!(document.contains(", today (one CPU) |\n"), "{document}");
        assert!(
            document.contains("| `pwrite` | 0 | other 1.50 |\n"),
            "{document}"
        );
        assert!(
            document.contains("Left out: 65.9 % in the median, 81.8 % at worst (one)."),
            "{document}"
        );
    }
}
