//! Replays contests on the grids: the rules are those of `writebench run`, and the samples are drawn.
//!
//! A grid says how long each case takes in its environment. So the truth is known, and the portfolio can be another one,
//! for example one that was chosen without the environment. An installed program has only its own.

mod machine;

use std::ops::RangeFrom;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use writebench_model::{Bytes, Experience, Goal, Space};

use self::machine::{Answer, Entrant, Entrants, Machine, Rules};
use super::choice::{Gains, gain};
use super::document::{Column, is_trusted_in};
use super::rates::{Alternative, Claim, Knowledge, LOW_BOUND, NEAR, Rates, SAME, are_alike};
use super::stages::short_name;
use super::{Folder, Grid, Grids, goal};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only these goals. May be repeated [default: those of a run]
    #[arg(long = "goal", value_parser = goal)]
    goals: Vec<Goal>,
    /// Answer each goal alone, as `writebench advise` does
    #[arg(long)]
    search: bool,
    /// Answer without a search, among the portfolio only
    #[arg(long, conflicts_with = "search")]
    portfolio_only: bool,
    /// Time for each goal in seconds [default: 9, or 60 for a search]
    #[arg(long)]
    seconds: Option<u32>,
    /// Answers to each goal in each environment
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    answers: u32,
    /// Robust standard deviation of a sample's logarithm
    #[arg(long, default_value_t = NOISE)]
    noise: f64,
    /// Time of the work around a sample in milliseconds, as measured with 64 MiB on ext4 and two CPUs
    #[arg(long, default_value_t = 100)]
    around_ms: u64,
    #[command(flatten)]
    folder: Folder,
}

/// That of recorded samples, see `docs/explanation/answers.md`.
const NOISE: f64 = 0.075;
/// The time of plain write, as for 64 MiB in the page cache.
const PLAIN_S: f64 = 0.06;
/// The time of each goal of a run.
const SECONDS: u32 = 9;
const SECONDS_OF_SEARCH: u32 = 60;
/// Fewer cases need no search.
const FEWEST_SEARCHED: usize = 30;
/// A first answer never has smaller files.
const LEAST_SIZE: Bytes = Bytes(16 << 20);

/// Prints the rates for known and for left-out environments.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let grids = options.folder.read()?;
    for (knowledge, title) in [
        (Knowledge::Known, "Known environments"),
        (Knowledge::LeftOut, "Left-out environments"),
    ] {
        let start = Instant::now();
        let rates = options.rates(&grids, knowledge)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("\n{title} ({seconds:.0} s)\n\n{}", rates.table(knowledge));
    }
    Ok(true)
}

impl Options {
    fn goals(&self) -> &[Goal] {
        if self.goals.is_empty() {
            Goal::USUAL
        } else {
            &self.goals
        }
    }

    fn rules(&self) -> Rules {
        match (self.search, self.portfolio_only) {
            (true, _) => Rules::Search,
            (false, true) => Rules::PortfolioOnly,
            (false, false) => Rules::Run,
        }
    }

    fn time_of_goal(&self) -> Duration {
        let usual = if self.search {
            SECONDS_OF_SEARCH
        } else {
            SECONDS
        };
        Duration::from_secs(u64::from(self.seconds.unwrap_or(usual)))
    }

    fn rates(&self, grids: &Grids, knowledge: Knowledge) -> Result<Rates> {
        let mut rates = Rates::default();
        let mut seeds = 0..;
        for (name, _) in grids.iter().filter(|(_, grid)| is_of_large_files(grid)) {
            let mut goals = Vec::new();
            for &goal in self.goals() {
                goals.extend(self.entrants(grids, name, goal, knowledge)?);
            }
            // A run has all its goals at once, and a search has one.
            let at_once = if self.search { 1 } else { goals.len().max(1) };
            for goals in goals.chunks(at_once) {
                self.replay(name, goals, &mut seeds, &mut rates);
            }
        }
        ensure!(seeds.start > 0, "no environment has these goals");
        Ok(rates)
    }

    /// The entrants of a goal. None if the environment has too few cases for it.
    fn entrants(
        &self,
        grids: &Grids,
        environment: &str,
        goal: Goal,
        knowledge: Knowledge,
    ) -> Result<Option<Entrants>> {
        let fewest = if self.search { FEWEST_SEARCHED } else { 1 };
        let column = Column::new(grids, goal);
        let gains = column.gains_in(environment);
        let Some(gains) = gains.filter(|gains| gains.len() >= fewest) else {
            return Ok(None);
        };
        let grid = &grids[environment];
        let is_known = |other: &str| {
            let other = grids.get(other);
            knowledge == Knowledge::Known || other.is_none_or(|other| !is_same_place(other, grid))
        };
        let mut portfolio = column.portfolio(is_known);
        // A run leaves them out.
        portfolio.retain(|name| is_trusted_in(grid, name));
        let mut entrants = entrants(goal, gains, &portfolio)?;
        entrants
            .experience
            .environments
            .retain(|other, _| is_known(other));
        Ok(Some(entrants))
    }

    /// Each machine has its own seed.
    fn replay(
        &self,
        environment: &str,
        goals: &[Entrants],
        seeds: &mut RangeFrom<u64>,
        rates: &mut Rates,
    ) {
        let mut answers: Vec<Vec<Option<Answer>>> = vec![Vec::new(); goals.len()];
        for seed in seeds.by_ref().take(self.answers as usize) {
            let around = Duration::from_millis(self.around_ms);
            let mut machine = Machine::new(goals, self.noise, around, seed);
            let budget = self.time_of_goal() * u32::try_from(goals.len()).unwrap_or(u32::MAX);
            for (goal, answer) in machine
                .answers(budget, self.rules())
                .into_iter()
                .enumerate()
            {
                answers[goal].push(answer);
            }
        }
        for (entrants, answers) in goals.iter().zip(&answers) {
            println!("{environment}, {}", line(entrants, answers));
            judge(entrants, answers, rates);
        }
    }
}

/// The answers to one goal in one environment. No answer is neither near nor has it a low bound.
fn judge(entrants: &Entrants, answers: &[Option<Answer>], rates: &mut Rates) {
    let is = |holds: fn(&Answer) -> bool| {
        answers
            .iter()
            .map(move |answer| answer.as_ref().is_some_and(holds))
    };
    rates.add(Claim::Near, is(|answer| answer.loss <= NEAR));
    rates.add(Claim::Alike, [all_alike(answers)]);
    rates.add(Claim::LowBound, is(|answer| answer.bound <= LOW_BOUND));
    let given = || answers.iter().flatten();
    rates.add(
        Claim::TrueBound,
        given().map(|answer| answer.loss_of_compared <= answer.bound),
    );
    rates.add(
        Claim::Minimal,
        given().filter_map(|answer| {
            let simpler = entrants.simpler_seconds(&answer.case)?;
            let least = answer.seconds * (1.0 + SAME);
            Some(simpler.iter().all(|seconds| *seconds >= least))
        }),
    );
}

fn line(entrants: &Entrants, answers: &[Option<Answer>]) -> String {
    let losses: Vec<String> = answers
        .iter()
        .map(|answer| match answer {
            Some(answer) => format!("{:.1} %", answer.loss * 100.0),
            None => "no answer".to_owned(),
        })
        .collect();
    format!(
        "{}: {} of {} cases measured first, loss {}",
        entrants.goal,
        entrants.portfolio.len(),
        entrants.entrants.len() - 1,
        losses.join(", ")
    )
}

fn all_alike(answers: &[Option<Answer>]) -> bool {
    let names: Vec<String> = answers
        .iter()
        .flatten()
        .map(|answer| answer.case.to_string())
        .collect();
    let given = answers.iter().flatten().zip(&names);
    let alternatives: Vec<Alternative<'_>> = given
        .map(|(answer, case)| Alternative {
            case,
            time: answer.seconds,
            as_good: &answer.as_good,
        })
        .collect();
    alternatives.len() == answers.len() && are_alike(&alternatives)
}

/// The goal's cases of this version that the grid has, with their times there, and the portfolio.
fn entrants(goal: Goal, gains: &Gains, portfolio: &[String]) -> Result<Entrants> {
    let space = Space::for_goal(goal, &[])?;
    let mut entrants = vec![Entrant {
        case: space.baseline,
        seconds: PLAIN_S,
    }];
    let mut places = Vec::new();
    for case in space.others {
        let name = short_name(goal, &case);
        let is_first = portfolio.contains(&name);
        if !is_first && !gains.contains_key(&name) {
            continue;
        }
        if is_first {
            places.push(entrants.len());
        }
        entrants.push(Entrant {
            case,
            seconds: PLAIN_S / gain(gains, &name),
        });
    }
    Ok(Entrants {
        goal,
        entrants,
        portfolio: places,
        experience: Experience::of_goal(goal),
    })
}

fn is_of_large_files(grid: &Grid<Gains>) -> bool {
    let size = grid.environment.get("size");
    size.and_then(|size| size.parse().ok())
        .is_some_and(|size: Bytes| size >= LEAST_SIZE)
}

/// Whether two grids are of the same filesystem on the same machine, perhaps with files of another size.
fn is_same_place(one: &Grid<Gains>, other: &Grid<Gains>) -> bool {
    [
        "cpu",
        "cpus",
        "filesystem",
        "made",
        "mount-options",
        "device",
    ]
    .iter()
    .all(|fact| one.environment.get(*fact) == other.environment.get(*fact))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(facts: &str, gains: &str) -> Grid<Gains> {
        toml::from_str(&format!("[environment]\n{facts}\n[goals.stream]\n{gains}")).unwrap()
    }

    fn options(arguments: &[&str]) -> Options {
        #[derive(clap::Parser)]
        struct Study {
            #[command(flatten)]
            options: Options,
        }
        let words = std::iter::once(&"replay").chain(arguments);
        <Study as clap::Parser>::parse_from(words).options
    }

    /// One environment has its own best case, and the other ones share theirs.
    fn grids() -> Grids {
        let facts = |filesystem| format!("size = '64MiB'\nfilesystem = '{filesystem}'");
        let usual = "pwrite = 1.5\n'mmap,threads=2' = 1.1";
        [
            ("ext4", grid(&facts("ext4"), usual)),
            ("xfs", grid(&facts("xfs"), usual)),
            (
                "btrfs",
                grid(&facts("btrfs"), "pwrite = 1.2\n'mmap,threads=2' = 2.0"),
            ),
            // It is the same place as the one above, so it is left out with it.
            (
                "btrfs-4mib",
                grid(
                    "size = '4MiB'\nfilesystem = 'btrfs'",
                    "'mmap,threads=2' = 2.0",
                ),
            ),
        ]
        .map(|(name, grid)| (name.to_owned(), grid))
        .into()
    }

    #[test]
    fn a_left_out_environment_is_answered_with_the_best_cases_of_the_others() {
        let options = options(&[
            "--goal",
            "stream",
            "--answers",
            "2",
            "--seconds",
            "20",
            "--portfolio-only",
        ]);
        let near = |knowledge| {
            let rates = options.rates(&grids(), knowledge).unwrap();
            let share = rates.share(Claim::Near).unwrap();
            (share.held, share.claims, share.clusters)
        };
        assert_eq!(near(Knowledge::Known), (6, 6, 3));
        assert_eq!(near(Knowledge::LeftOut), (4, 6, 3));
    }

    #[test]
    fn first_answers_where_the_portfolio_knows_the_environment_are_near_the_best() {
        let grids = Folder { path: None }.read().unwrap();
        let options = options(&["--answers", "1"]);
        let rates = options.rates(&grids, Knowledge::Known).unwrap();
        for claim in [Claim::Near, Claim::TrueBound] {
            let share = rates.share(claim).unwrap();
            assert!(share.value() >= 0.9, "{claim:?}: {share:?}");
        }
    }

    #[test]
    fn an_unknown_goal_is_an_error_and_a_search_needs_many_cases() {
        for arguments in [
            &["--goal", "records"][..],
            &["--goal", "stream", "--search"],
        ] {
            assert!(
                options(arguments)
                    .rates(&grids(), Knowledge::Known)
                    .is_err()
            );
        }
    }

    #[test]
    fn without_an_answer_it_is_not_near_and_not_alike() {
        let entrants = entrants(Goal::Stream, &Gains::new(), &[]).unwrap();
        let answer = Answer {
            case: entrants.baseline().case.clone(),
            as_good: Vec::new(),
            seconds: 1.0,
            loss: 0.0,
            loss_of_compared: 0.02,
            bound: 0.01,
        };
        let mut rates = Rates::default();
        judge(
            &entrants,
            &[Some(answer.clone()), None, Some(answer)],
            &mut rates,
        );
        let held = [
            Claim::Near,
            Claim::Alike,
            Claim::TrueBound,
            Claim::LowBound,
            Claim::Minimal,
        ]
        .map(|claim| rates.share(claim).map(|share| (share.held, share.claims)));
        assert_eq!(
            held,
            [Some((2, 3)), Some((0, 1)), Some((0, 2)), Some((2, 3)), None]
        );
    }
}
