//! `cargo xtask validate soak`: all that writebench does, mixed with all that goes wrong, and what is left in the end.

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
use self::work::{Place, Work};
use crate::program;
use crate::target::memory_and_disk;

/// Where, how long, and which choices.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `soak` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// How long
    #[arg(long, default_value_t = 20)]
    minutes: u64,
    /// The seed of all choices [default: another one each time, which is shown]
    #[arg(long)]
    seed: Option<u64>,
}

/// How often something was done, went wrong so, and ended so.
type Tally = BTreeMap<(Work, String, String), usize>;

/// Room for small files, and not for all of them.
const SMALL_BYTES: u64 = 48 << 20;

/// Mixes it all; whether every program ended as it should, and nothing is left.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let program = program::build()?;
    let program = Program::new(program.to_str().context("a path in UTF-8")?)?;
    let seed = options.seed.unwrap_or_else(Chance::any_seed);
    println!("soak: {} minutes, seed {seed}", options.minutes);
    // Whoever loses the program that started it is ours to count.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let parents = memory_and_disk(&options.targets, "soak")?;
    let watched: Vec<PathBuf> = parents.iter().cloned().chain([std::env::temp_dir()]).collect();
    let before = Traces::now(&watched);
    println!("before: {before}");

    let mut soak = Soak::new(program, &parents, Chance::new(seed))?;
    // So that there is something to look at.
    soak.plain_runs()?;
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    while Instant::now() < end {
        soak.round()?;
    }
    soak.plain_runs()?;
    let left = soak.left();
    soak.print();
    let complaints = std::mem::take(&mut soak.complaints);
    drop(soak);

    let after = Traces::settled(&watched, &before);
    println!("after:  {after}");
    let beyond = [left, after.beyond(&before)].concat();
    for line in &beyond {
        println!("left behind: {line}");
    }
    for line in &complaints {
        println!("wrong: {line}");
    }
    println!("{} left behind, {} wrong (seed {seed})", beyond.len(), complaints.len());
    Ok(beyond.is_empty() && complaints.is_empty())
}

struct Soak {
    program: Program,
    chance: Chance,
    places: Vec<Place>,
    tally: Tally,
    complaints: Vec<String>,
    // The most that any program held, and which one.
    most_descriptors: (usize, String),
    most_memory_kib: (u64, String),
    rounds: usize,
    // Unmounted after all that works in them.
    _guards: (Vec<tempfile::TempDir>, SmallTmpfs),
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
        let mut places: Vec<Place> =
            folders.iter().map(|it| Place { path: it.path().to_owned(), is_small: false }).collect();
        places.push(Place { path: small.path().to_owned(), is_small: true });
        Ok(Self {
            program,
            chance,
            places,
            tally: Tally::new(),
            complaints: Vec::new(),
            most_descriptors: Default::default(),
            most_memory_kib: Default::default(),
            rounds: 0,
            _guards: (folders, small),
        })
    }

    /// One program, or two at once on one target and one database, with one trouble.
    fn round(&mut self) -> Result<()> {
        self.rounds += 1;
        let trouble = Trouble::choose(&mut self.chance);
        let index = match trouble.kind {
            Kind::Fill => self.places.len() - 1,
            _ => self.chance.below(self.places.len()),
        };
        let place = &self.places[index];
        let other = &self.places[(index + 1 + self.chance.below(self.places.len() - 1)) % self.places.len()];
        let is_small = place.is_small || other.is_small;
        let (mut faulty, mut bindfs) = (None, None);
        let removed = tempfile::Builder::new().prefix("removed-").tempdir_in(&place.path)?;
        let target = match &trouble.kind {
            Kind::Faults(caching, script) | Kind::Hang(caching, script) => {
                let mounted = faulty.insert(Faulty::mount("sample", *caching)?);
                mounted.follow(script);
                mounted.path()
            }
            Kind::Silence | Kind::KeptFiles => bindfs.insert(Bindfs::mount()?).path(),
            Kind::Removal => removed.path(),
            _ => &place.path,
        };
        let target = target.to_owned();
        let other = other.path.clone();
        let calls = self.calls(&trouble, (&target, bindfs.as_ref()), &other);
        let program = &self.program;
        let ended: Vec<Result<Ended>> = std::thread::scope(|scope| {
            let started: Vec<_> = calls.iter().map(|call| scope.spawn(|| call.perform(program))).collect();
            started
                .into_iter()
                .map(|it| it.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a panic"))))
                .collect()
        });
        for (call, ended) in calls.iter().zip(ended) {
            match ended {
                Ok(ended) => self.judge(call, &ended, is_small),
                Err(error) => self.complain(format!("{call}: {error:#}")),
            }
        }
        // Or this program waits, too.
        bindfs.as_ref().map_or(Ok(()), Bindfs::go_on)?;
        // A copy that stays is meant to.
        let _ = std::fs::remove_file(target.join("copy"));
        if let Kind::Fill = trouble.kind {
            let _ = std::fs::remove_file(target.join(call::OTHERS));
        }
        let listed = self.program.call(&["list", "runs"])?;
        if listed.code != Some(0) {
            self.complain(format!("{}: list runs: {listed:?}", calls[0]));
        }
        Ok(())
    }

    fn calls(
        &mut self,
        trouble: &Trouble,
        (target, bindfs): (&Path, Option<&Bindfs>),
        other: &Path,
    ) -> Vec<Call> {
        let hangs = matches!(trouble.kind, Kind::Hang(..) | Kind::Silence);
        let programs = if self.chance.below(4) == 0 && !hangs { 2 } else { 1 };
        let home = self.program.home().to_owned();
        let call = |_| {
            // Only a run can be told how long to wait for a filesystem.
            let work = if hangs { Work::Run } else { Work::choose(&mut self.chance) };
            let mut arguments = work.arguments(&mut self.chance, target, other, &home);
            if hangs {
                arguments.extend(["--timeout", "2s"].map(str::to_owned));
            }
            let (server, database) = (bindfs.map(Bindfs::server), home.join("writebench/writebench.db"));
            let (trouble, target) = (trouble.clone(), target.to_owned());
            Call { work, arguments, trouble, target, server, database }
        };
        (0..programs).map(call).collect()
    }

    fn complain(&mut self, of: String) {
        let line = format!("round {}: {of}", self.rounds);
        println!("wrong: {line}");
        self.complaints.push(line);
    }

    fn judge(&mut self, call: &Call, ended: &Ended, is_small: bool) {
        let (code, signal) = (ended.status.code(), ended.status.signal());
        let is_usual = code.is_some_and(|code| call.work.codes(is_small).contains(&code));
        if !(is_usual || call.trouble.allows(call.work, code, signal)) || ended.said.contains("panicked") {
            self.complain(format!("{call}: {}: {}", ended.status, ended.said.trim_end()));
        }
        let Held { descriptors, memory_kib } = ended.held;
        let most = std::mem::take(&mut self.most_descriptors);
        self.most_descriptors = most.max((descriptors, call.to_string()));
        let most = std::mem::take(&mut self.most_memory_kib);
        self.most_memory_kib = most.max((memory_kib, call.to_string()));
        *self.tally.entry((call.work, call.trouble.name(), ended.status.to_string())).or_default() += 1;
    }

    /// In all places, which removes what runs that were killed left there.
    fn plain_runs(&self) -> Result<()> {
        for place in &self.places {
            let target = place.path.to_str().context("a path in UTF-8")?;
            let words = ["run", target, "--case", "write,size=64KiB", "--samples", "1", "--no-limits"];
            let ended = self.program.call(&words)?;
            ensure!(ended.code == Some(0), "{words:?}: {ended:?}");
        }
        Ok(())
    }

    /// What is in the places.
    fn left(&self) -> Vec<String> {
        let entries = self.places.iter().flat_map(|place| writebench_testkit::entries(&place.path));
        entries.map(|path| format!("files: {}", path.display())).collect()
    }

    fn print(&self) {
        println!("\n{} rounds; work, what went wrong, how it ended, how often:", self.rounds);
        for ((work, trouble, status), count) in &self.tally {
            println!("{:<12} {trouble:<24} {status:<24} {count:>4}", format!("{work:?}"));
        }
        let ((descriptors, of), (memory_kib, of_memory)) = (&self.most_descriptors, &self.most_memory_kib);
        println!("most descriptors: {descriptors}, of {of}");
        println!("most memory: {} MiB, of {of_memory}", memory_kib / 1024);
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
