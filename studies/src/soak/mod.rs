//! `cargo studies soak` runs all commands with all kinds of faults, and looks for leftovers.

mod call;
mod fault_injector;
mod resource_snapshot;
mod work;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use writebench_testkit::{Bindfs, Faulty, Mounted, Program, TestRng};

use self::call::{Call, Ended, Usage};
use self::fault_injector::{FaultInjector, Injection};
use self::resource_snapshot::ResourceSnapshot;
use self::work::Work;
use crate::program;
use crate::target::memory_and_disk;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directories to write to [default: /dev/shm and the folder `soak` of cargo's target directory]
    targets: Vec<PathBuf>,
    /// Duration in minutes
    #[arg(long, default_value_t = 20)]
    minutes: u64,
    /// End after this many rounds, if the minutes are not over
    #[arg(long)]
    rounds: Option<usize>,
    /// Seed of all choices [default: a new one, which is printed]
    #[arg(long)]
    seed: Option<u64>,
}

/// Small files fit, but not all.
const SMALL_BYTES: u64 = 48 << 20;

pub(crate) fn run(options: &Options) -> Result<bool> {
    let program = program::build()?;
    let program = Program::new(program.to_str().context("a path in UTF-8")?)?;
    let seed = options.seed.unwrap_or_else(TestRng::any_seed);
    println!("soak: {} minutes, seed {seed}", options.minutes);
    // The count includes orphans, as children of this process.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let parents = memory_and_disk(&options.targets, "soak")?;
    let watched: Vec<PathBuf> = parents
        .iter()
        .cloned()
        .chain([std::env::temp_dir()])
        .collect();
    let before = ResourceSnapshot::now(&watched);
    println!("before: {before}");

    let mut soak = Soak::new(program, &parents, TestRng::new(seed))?;
    // Commands need runs to show.
    soak.plain_runs()?;
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    let most_rounds = options.rounds.unwrap_or(usize::MAX);
    while Instant::now() < end && soak.record.rounds < most_rounds {
        soak.round()?;
    }
    soak.plain_runs()?;
    let left = soak.left();
    let record = std::mem::take(&mut soak.record);
    record.print();
    drop(soak);

    let after = ResourceSnapshot::settled(&watched, &before);
    println!("after:  {after}");
    let leftovers = [left, after.new_since(&before)].concat();
    for line in &leftovers {
        println!("left behind: {line}");
    }
    for line in &record.complaints {
        println!("wrong: {line}");
    }
    println!(
        "{} left behind, {} wrong (seed {seed})",
        leftovers.len(),
        record.complaints.len()
    );
    Ok(leftovers.is_empty() && record.complaints.is_empty())
}

struct Soak {
    program: Program,
    rng: TestRng,
    // The last one is small, so cases may fail for lack of space.
    places: Vec<PathBuf>,
    record: Record,
    // They are unmounted after all programs have ended.
    _guards: (Vec<tempfile::TempDir>, Mounted),
}

#[derive(Default)]
struct Record {
    rounds: usize,
    // The keys are the command, the fault and the ending.
    tally: BTreeMap<(Work, String, String), usize>,
    complaints: Vec<String>,
    peak: Vec<(Usage, String)>,
}

impl Soak {
    fn new(program: Program, parents: &[PathBuf], rng: TestRng) -> Result<Self> {
        let mut folders = Vec::new();
        for parent in parents {
            let made = tempfile::Builder::new()
                .prefix("writebench-soak-")
                .tempdir_in(parent);
            folders.push(made.with_context(|| format!("a folder in {}", parent.display()))?);
        }
        let small = Mounted::tmpfs(SMALL_BYTES)?;
        std::fs::write(program.home().join(work::COPIED), vec![7; 1 << 20])
            .context("a file to copy")?;
        let places = folders
            .iter()
            .map(|folder| folder.path())
            .chain([small.path()])
            .map(Path::to_owned)
            .collect();
        Ok(Self {
            program,
            rng,
            places,
            record: Record::default(),
            _guards: (folders, small),
        })
    }

    /// Runs one or two programs at once, on one target and one database.
    fn round(&mut self) -> Result<()> {
        let Self {
            program,
            rng,
            places,
            record,
            ..
        } = self;
        record.rounds += 1;
        let injector = FaultInjector::choose(rng);
        let small = places.len() - 1;
        let index = if let Injection::Fill = injector.kind {
            small
        } else {
            rng.below(places.len())
        };
        let other = (index + 1 + rng.below(small)) % places.len();
        let stage = Stage::new(&injector.kind, &places[index])?;
        let calls = calls(rng, program, &injector, &stage, &places[other]);
        let is_small = [index, other].contains(&small);
        for (call, ended) in calls.iter().zip(at_once(&calls)) {
            match ended {
                Ok(ended) => record.judge(call, ended, is_small),
                Err(error) => record.complain(format!("{call}: {error:#}")),
            }
        }
        stage.clear(&injector.kind, places)?;
        let listed = program.call(&["runs"])?;
        if listed.code != Some(0) {
            record.complain(format!("{}: runs: {listed:?}", calls[0]));
        }
        Ok(())
    }

    /// A run removes leftovers of killed ones.
    fn plain_runs(&self) -> Result<()> {
        for place in &self.places {
            let target = place.to_str().context("a path in UTF-8")?;
            let rest = "--case write,size=64KiB --samples 1 --no-limits";
            let words: Vec<&str> = ["run", target].into_iter().chain(rest.split(' ')).collect();
            let ended = self.program.call(&words)?;
            ensure!(ended.code == Some(0), "{words:?}: {ended:?}");
        }
        Ok(())
    }

    fn left(&self) -> Vec<String> {
        let entries = self
            .places
            .iter()
            .flat_map(|place| writebench_testkit::entries(place));
        entries
            .map(|path| format!("files: {}", path.display()))
            .collect()
    }
}

/// A round has its own target, with what its fault needs.
struct Stage {
    target: PathBuf,
    bindfs: Option<Bindfs>,
    // Both are removed after all programs have ended.
    _faulty: Option<Faulty>,
    _removed: tempfile::TempDir,
}

impl Stage {
    fn new(injection: &Injection, place: &Path) -> Result<Self> {
        let removed = tempfile::Builder::new()
            .prefix("removed-")
            .tempdir_in(place)?;
        let mut stage = Self {
            target: place.to_owned(),
            bindfs: None,
            _faulty: None,
            _removed: removed,
        };
        match injection {
            Injection::Faults(caching, script) | Injection::Hang(caching, script) => {
                let faulty = Faulty::mount("sample", *caching)?;
                faulty.follow(script);
                faulty.path().clone_into(&mut stage.target);
                stage._faulty = Some(faulty);
            }
            Injection::Silence | Injection::KeptFiles => {
                let bindfs = Bindfs::mount()?;
                bindfs.path().clone_into(&mut stage.target);
                stage.bindfs = Some(bindfs);
            }
            Injection::Removal => stage._removed.path().clone_into(&mut stage.target),
            _ => {}
        }
        Ok(stage)
    }

    /// Removes what programs leave on purpose.
    fn clear(&self, injection: &Injection, places: &[PathBuf]) -> Result<()> {
        // A stopped server would make this process wait, too.
        if let Some(bindfs) = &self.bindfs {
            bindfs.go_on()?;
        }
        // A resumed run may have made a copy in an earlier target.
        for folder in places.iter().chain([&self.target]) {
            work::remove_copies(folder);
        }
        if let Injection::Fill = injection {
            let _ = std::fs::remove_file(self.target.join(call::OTHERS));
        }
        Ok(())
    }
}

fn calls<'c>(
    rng: &mut TestRng,
    program: &'c Program,
    injector: &'c FaultInjector,
    stage: &'c Stage,
    other: &Path,
) -> Vec<Call<'c>> {
    let hangs = matches!(injector.kind, Injection::Hang(..) | Injection::Silence);
    let programs = if rng.below(4) == 0 && !hangs { 2 } else { 1 };
    let mut calls = Vec::new();
    for _ in 0..programs {
        // Only `run` has `--timeout`.
        let work = if hangs { Work::Run } else { Work::choose(rng) };
        let mut arguments = work.arguments(rng, &stage.target, other, program.home());
        if hangs {
            arguments.extend(["--timeout", "2s"].map(str::to_owned));
        }
        calls.push(Call {
            program,
            work,
            arguments,
            injector,
            target: &stage.target,
            server: stage.bindfs.as_ref(),
        });
    }
    calls
}

fn at_once(calls: &[Call<'_>]) -> Vec<Result<Ended>> {
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for call in calls {
            threads.push(scope.spawn(|| call.perform()));
        }
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| bail!("a panic")))
            .collect()
    })
}

impl Record {
    fn complain(&mut self, what: String) {
        let line = format!("round {}: {what}", self.rounds);
        println!("wrong: {line}");
        self.complaints.push(line);
    }

    fn judge(&mut self, call: &Call<'_>, Ended { status, said, peak }: Ended, is_small: bool) {
        let code = status.code();
        let is_usual = code.is_some_and(|code| call.work.codes(is_small).contains(&code));
        let is_allowed = is_usual
            || call
                .injector
                .allows(call.work, code, status.signal(), &said);
        if !is_allowed || said.contains("panicked") {
            self.complain(format!("{call}: {status}: {}", said.trim_end()));
        }
        self.peak.push((peak, call.to_string()));
        *self
            .tally
            .entry((call.work, call.injector.name(), status.to_string()))
            .or_default() += 1;
    }

    fn print(&self) {
        println!("\n{} rounds. Work, fault, ending, count:", self.rounds);
        for ((work, fault, status), count) in &self.tally {
            println!(
                "{:<12} {fault:<24} {status:<24} {count:>4}",
                format!("{work:?}")
            );
        }
        for (index, what) in ["descriptors", "MiB of memory"].iter().enumerate() {
            if let Some((peak, call)) = self.peak.iter().max_by_key(|(peak, _)| peak[index]) {
                println!("at most {} {what}, by {call}", peak[index]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_depend_on_the_fault() {
        let injector = |kind| FaultInjector { kind, after: None };
        let nothing = injector(Injection::Nothing);
        assert!(Work::Run.codes(false) == [0] && !nothing.allows(Work::Run, Some(4), None, ""));
        let killed = injector(Injection::Signal(rustix::process::Signal::KILL));
        assert!(killed.allows(Work::Run, None, Some(9), ""));
        assert!(!killed.allows(Work::Run, None, Some(11), ""));
        assert!(
            !killed.allows(Work::Run, Some(101), None, ""),
            "a panic is never allowed"
        );
        let (locked, said) = (
            injector(Injection::Lock),
            "record the run: database is locked",
        );
        assert!(locked.allows(Work::Filesystems, Some(1), None, said));
        assert!(!locked.allows(Work::Filesystems, Some(1), None, "no such file"));
    }
}
