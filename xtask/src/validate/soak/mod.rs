//! `cargo xtask validate soak`: all commands with all kinds of trouble, and a search for leftovers.

mod call;
mod traces;
mod trouble;
mod work;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Bindfs, Chance, Faulty, Program, SmallTmpfs};

use self::call::{Call, Ended, Held};
use self::traces::Traces;
use self::trouble::{Kind, Trouble};
use self::work::Work;
use crate::program;
use crate::target::memory_and_disk;

/// The targets, the duration and the seed.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `soak` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// Duration in minutes
    #[arg(long, default_value_t = 20)]
    minutes: u64,
    /// Seed of all choices [default: a new one, which is printed]
    #[arg(long)]
    seed: Option<u64>,
}

/// Space for small files, but not for all of them.
const SMALL_BYTES: u64 = 48 << 20;

/// Runs the soak; returns whether every program ended as expected, without leftovers.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let program = program::build()?;
    let program = Program::new(program.to_str().context("a path in UTF-8")?)?;
    let seed = options.seed.unwrap_or_else(Chance::any_seed);
    println!("soak: {} minutes, seed {seed}", options.minutes);
    // Orphans become children of this process, so that they are counted.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let parents = memory_and_disk(&options.targets, "soak")?;
    let watched: Vec<PathBuf> = parents.iter().cloned().chain([std::env::temp_dir()]).collect();
    let before = Traces::now(&watched);
    println!("before: {before}");

    let mut soak = Soak::new(program, &parents, Chance::new(seed))?;
    // Ensures that there are runs to show.
    soak.plain_runs()?;
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    while Instant::now() < end {
        soak.round()?;
    }
    soak.plain_runs()?;
    let left = soak.left();
    let record = std::mem::take(&mut soak.record);
    record.print();
    drop(soak);

    let after = Traces::settled(&watched, &before);
    println!("after:  {after}");
    let beyond = [left, after.beyond(&before)].concat();
    for line in &beyond {
        println!("left behind: {line}");
    }
    for line in &record.complaints {
        println!("wrong: {line}");
    }
    println!("{} left behind, {} wrong (seed {seed})", beyond.len(), record.complaints.len());
    Ok(beyond.is_empty() && record.complaints.is_empty())
}

struct Soak {
    program: Program,
    chance: Chance,
    // The last one is small: cases may fail there for lack of space.
    places: Vec<PathBuf>,
    record: Record,
    // Unmounted after all programs in them have ended.
    _guards: (Vec<tempfile::TempDir>, SmallTmpfs),
}

/// The results.
#[derive(Default)]
struct Record {
    rounds: usize,
    // The number of times for each command, trouble and ending.
    tally: BTreeMap<(Work, String, String), usize>,
    complaints: Vec<String>,
    // The resources of each program, and the program.
    held: Vec<(Held, String)>,
}

impl Soak {
    fn new(program: Program, parents: &[PathBuf], chance: Chance) -> Result<Self> {
        let make = |parent: &PathBuf| {
            let made = tempfile::Builder::new().prefix("writebench-soak-").tempdir_in(parent);
            made.with_context(|| format!("a folder in {}", parent.display()))
        };
        let folders = parents.iter().map(make).collect::<Result<Vec<_>>>()?;
        let small = SmallTmpfs::mount(SMALL_BYTES)?;
        std::fs::write(program.home().join(work::COPIED), vec![7; 1 << 20]).context("a file to copy")?;
        let places = folders.iter().map(|it| it.path()).chain([small.path()]).map(Path::to_owned).collect();
        Ok(Self { program, chance, places, record: Record::default(), _guards: (folders, small) })
    }

    /// Runs one program, or two at once on one target and one database, with one kind of trouble.
    fn round(&mut self) -> Result<()> {
        let Self { program, chance, places, record, .. } = self;
        record.rounds += 1;
        let trouble = Trouble::choose(chance);
        let small = places.len() - 1;
        let index = if let Kind::Fill = trouble.kind { small } else { chance.below(places.len()) };
        let other = (index + 1 + chance.below(small)) % places.len();
        let removed = tempfile::Builder::new().prefix("removed-").tempdir_in(&places[index])?;
        let (faulty, bindfs) = match &trouble.kind {
            Kind::Faults(caching, script) | Kind::Hang(caching, script) => {
                let mounted = Faulty::mount("sample", *caching)?;
                mounted.follow(script);
                (Some(mounted), None)
            }
            Kind::Silence | Kind::KeptFiles => (None, Some(Bindfs::mount()?)),
            _ => (None, None),
        };
        let target = match (&faulty, &bindfs, &trouble.kind) {
            (Some(faulty), ..) => faulty.path(),
            (_, Some(bindfs), _) => bindfs.path(),
            (.., Kind::Removal) => removed.path(),
            _ => &places[index],
        };
        let hangs = matches!(trouble.kind, Kind::Hang(..) | Kind::Silence);
        let programs = if chance.below(4) == 0 && !hangs { 2 } else { 1 };
        let call = |_| {
            // Only a run has an option for the wait for a filesystem.
            let work = if hangs { Work::Run } else { Work::choose(chance) };
            let mut arguments = work.arguments(chance, target, &places[other], program.home());
            if hangs {
                arguments.extend(["--timeout", "2s"].map(str::to_owned));
            }
            Call { program, work, arguments, trouble: &trouble, target, server: bindfs.as_ref() }
        };
        let calls: Vec<Call<'_>> = (0..programs).map(call).collect();
        let ended: Vec<Result<Ended>> = std::thread::scope(|scope| {
            let started: Vec<_> = calls.iter().map(|call| scope.spawn(|| call.perform())).collect();
            started
                .into_iter()
                .map(|it| it.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a panic"))))
                .collect()
        });
        for (call, ended) in calls.iter().zip(ended) {
            match ended {
                Ok(ended) => record.judge(call, ended, [index, other].contains(&small)),
                Err(error) => record.complain(format!("{call}: {error:#}")),
            }
        }
        // Otherwise this program would wait, too.
        bindfs.as_ref().map_or(Ok(()), Bindfs::go_on)?;
        // A copy that stays is intended.
        let _ = std::fs::remove_file(target.join("copy"));
        if let Kind::Fill = trouble.kind {
            let _ = std::fs::remove_file(target.join(call::OTHERS));
        }
        let listed = program.call(&["runs"])?;
        if listed.code != Some(0) {
            record.complain(format!("{}: runs: {listed:?}", calls[0]));
        }
        Ok(())
    }

    /// Runs without trouble in all places, which remove the leftovers of killed runs there.
    fn plain_runs(&self) -> Result<()> {
        for place in &self.places {
            let target = place.to_str().context("a path in UTF-8")?;
            let words = ["run", target, "--case", "write,size=64KiB", "--samples", "1", "--no-limits"];
            let ended = self.program.call(&words)?;
            ensure!(ended.code == Some(0), "{words:?}: {ended:?}");
        }
        Ok(())
    }

    /// The files left in the places.
    fn left(&self) -> Vec<String> {
        let entries = self.places.iter().flat_map(|place| writebench_testkit::entries(place));
        entries.map(|path| format!("files: {}", path.display())).collect()
    }
}

impl Record {
    fn complain(&mut self, of: String) {
        let line = format!("round {}: {of}", self.rounds);
        println!("wrong: {line}");
        self.complaints.push(line);
    }

    fn judge(&mut self, call: &Call<'_>, Ended { status, said, held }: Ended, is_small: bool) {
        let code = status.code();
        let is_usual = code.is_some_and(|code| call.work.codes(is_small).contains(&code));
        let is_allowed = is_usual || call.trouble.allows(call.work, code, status.signal());
        if !is_allowed || said.contains("panicked") {
            self.complain(format!("{call}: {status}: {}", said.trim_end()));
        }
        self.held.push((held, call.to_string()));
        *self.tally.entry((call.work, call.trouble.name(), status.to_string())).or_default() += 1;
    }

    fn print(&self) {
        println!("\n{} rounds; work, what went wrong, how it ended, how often:", self.rounds);
        for ((work, trouble, status), count) in &self.tally {
            println!("{:<12} {trouble:<24} {status:<24} {count:>4}", format!("{work:?}"));
        }
        let most = |figure: fn(&Held) -> u64| self.held.iter().max_by_key(|(held, _)| figure(held));
        if let Some((held, of)) = most(|held| held.descriptors) {
            println!("most descriptors: {}, of {of}", held.descriptors);
        }
        if let Some((held, of)) = most(|held| held.memory_bytes) {
            println!("most memory: {} MiB, of {of}", held.memory_bytes >> 20);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_works_alone_ends_well_and_one_in_trouble_says_so() {
        let trouble = |kind| Trouble { kind, after: None };
        let nothing = trouble(Kind::Nothing);
        assert!(Work::Run.codes(false) == [0] && !nothing.allows(Work::Run, Some(4), None));
        let killed = trouble(Kind::Signal(rustix::process::Signal::KILL));
        assert!(killed.allows(Work::Run, None, Some(9)) && !killed.allows(Work::Run, None, Some(11)));
        assert!(!killed.allows(Work::Run, Some(101), None), "a panic is never the way");
    }
}
