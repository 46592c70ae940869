mod built_in;
mod findings;
mod timeline;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueHint};
use indicatif::ProgressBar;
use writebench_filesystems::{DiskKind, PrivateMounts};
use writebench_model::{Bytes, Failure};
use writebench_powerloss::{
    Cut, DiskRequest, Limits, Moment, Recording, Replay, Request, Steps, cuts, record, rehearse,
    run_to_end, uncut,
};
use writebench_stats::distinct;

use self::built_in::{BuiltIn, Tree};
use self::findings::{Findings, FindingsExport, Kept, Unmountable};
use self::timeline::Keeping;
use crate::arguments::{HOW_CAREFUL, WHAT, WHERE, positive_duration};
use crate::exit::{Exit, usage};
use crate::global::Global;
use crate::output::{Output, print_error};
use crate::output_file::ProtectedPaths;
use crate::progress::{self, Numbers};
use crate::signals::{is_stopped, stop_on_signals};

/// Cut the power of a disk at many moments while your program writes, and check what is left
///
/// The program runs on a new filesystem, whose disk records all writes and flushes. From these, disks are made as a
/// power loss could leave them: what was flushed, and any part of what was written later. Each is mounted and checked.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PowerlossCommand {
    /// Run this program, by the shell. {dir} is the root of the filesystem. Each time its data is durable, the program may
    /// print the line `durable`, or write into the file that WRITEBENCH_DURABLE_FILE names
    #[arg(long, value_name = "COMMAND", help_heading = WHAT)]
    command: String,
    /// Run this command before the program. What it leaves is on the disk when the program starts
    #[arg(long, value_name = "COMMAND", help_heading = WHAT)]
    setup: Option<String>,
    /// Run this command on each disk after a power loss. A power loss is safe if its exit code is 0. WRITEBENCH_DURABLE is how
    /// often the program had said that its data is durable [default: each file is as before or as after the program, and as
    /// after it once its data is durable]
    #[arg(long, value_name = "COMMAND", help_heading = WHAT)]
    verify: Option<String>,
    /// Take exit code 0 of the program as its word that the data is durable
    #[arg(long, help_heading = WHAT)]
    durable_at_exit: bool,
    /// Use these filesystems, each on one disk in memory
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "ext4,xfs,btrfs", help_heading = WHERE)]
    on: Vec<String>,
    /// Size of each disk
    #[arg(long, value_name = "SIZE", default_value = "512MiB", help_heading = WHERE)]
    disk_size: Bytes,
    /// Mount all filesystems with these options
    #[arg(long, value_name = "OPTIONS", help_heading = WHERE)]
    mount_options: Option<String>,
    /// Check at most so many power losses on each filesystem
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..),
        help_heading = HOW_CAREFUL)]
    max_states: u32,
    /// Stop after this time, and say how many power losses were checked
    #[arg(long, value_name = "TIME", value_parser = positive_duration, help_heading = HOW_CAREFUL)]
    budget: Option<Duration>,
    /// Kill a command that runs longer
    #[arg(long, value_name = "TIME", value_parser = positive_duration, default_value = "60s", help_heading = HOW_CAREFUL)]
    timeout: Duration,
    /// Choose other power losses
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = HOW_CAREFUL)]
    seed: u64,
    /// Keep the disk of an unsafe power loss for each place that is printed, as an image in this empty directory, and print
    /// how to mount it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = WHERE)]
    keep: Option<PathBuf>,
    /// Also write the results to a file, or to standard output as -: json=FILE or junit=FILE. May be repeated
    #[arg(long, value_name = "FORMAT=FILE", help_heading = "Output")]
    export: Vec<String>,
}

/// What the filesystems before an error have shown is worth its time.
struct Tried {
    all: Vec<Findings>,
    ended: Result<()>,
}

fn expect_checked(kind: &DiskKind, found: Findings) -> Result<Findings> {
    ensure!(
        found.checked > 0,
        "{kind}: --budget ended before a power loss was checked. Use a larger one"
    );
    Ok(found)
}

const EXAMPLES: &str = "Examples:
  writebench powerloss --setup 'echo old > {dir}/f' --command 'echo new > {dir}/f'
  writebench powerloss --setup './save {dir}/config old' --command './save {dir}/config new' --durable-at-exit
  writebench powerloss --command './log {dir}/log' --verify './check-log {dir}/log $WRITEBENCH_DURABLE' --on ext4

Needs root and FUSE. Everything is in memory and in a private namespace, so nothing remains, however it ends. Exit code
5 says that the program is not safe.";

/// The variable with the file whose writes say that the data is durable.
const MARKER_VARIABLE: &str = "WRITEBENCH_DURABLE_FILE";
/// The variable with the number of times that the program has said so.
const COUNT_VARIABLE: &str = "WRITEBENCH_DURABLE";
const DIRECTORY: &str = "{dir}";

impl PowerlossCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let kinds = self.kinds()?;
        let protected = ProtectedPaths::database(global.db.as_deref());
        let exports = findings::exports(&self.export, protected)?;
        let current = std::env::current_dir().context("find the current directory")?;
        let keep = self.keep.as_ref().map(std::path::absolute).transpose()?;
        if let Some(keep) = &keep {
            expect_empty(keep)?;
        }
        stop_on_signals()?;
        let mut needed = vec![current.as_path()];
        needed.extend(keep.as_deref());
        let tried = self.try_all(&kinds, &needed, &global.output);
        // The signal may also be the reason of an error.
        if is_stopped() {
            return Ok(Exit::Interrupted);
        }
        let Tried { all, ended } = tried?;
        for export in &exports {
            export.write(&all, &global.output)?;
        }
        if !exports.iter().any(FindingsExport::is_for_results) {
            let width = global.output.width().unwrap_or(usize::MAX);
            let keeping = self.keep.as_ref().map(|_| Keeping {
                mount_options: self.mount_options.as_deref(),
            });
            let text = timeline::text(&all, keeping.as_ref(), width);
            global.output.results(&text)?;
        }
        let is_safe = all.iter().all(Findings::is_safe);
        match (is_safe, ended) {
            // An unsafe filesystem decides, whatever the next one had shown. Its error is only told.
            (false, Ok(())) => Ok(Exit::Gate),
            (false, Err(error)) => {
                print_error(&error);
                Ok(Exit::Gate)
            }
            (true, ended) => ended.map(|()| Exit::Ok),
        }
    }

    fn kinds(&self) -> Result<Vec<DiskKind>> {
        let mut kinds = Vec::new();
        for word in distinct(&self.on, |word| (*word).clone()) {
            kinds.push(word.parse().map_err(|error| usage!("--on: {error}"))?);
        }
        Ok(kinds)
    }

    fn try_all(
        &self,
        kinds: &[DiskKind],
        needed_paths: &[&Path],
        output: &Output,
    ) -> Result<Tried> {
        let mounts = self
            .rehearse(kinds, needed_paths)
            .context("nothing was tried")?;
        let begin = Instant::now();
        let mut all = Vec::new();
        for kind in kinds {
            let found = self
                .try_on(&mounts, kind, begin, output)
                .and_then(|found| expect_checked(kind, found));
            match found {
                _ if is_stopped() => break,
                Ok(found) => all.push(found),
                Err(error) if all.is_empty() => return Err(error),
                ended => {
                    let ended = ended.map(drop);
                    return Ok(Tried { all, ended });
                }
            }
        }
        Ok(Tried { all, ended: Ok(()) })
    }

    /// Does all that does not need the program, because a later error would waste the work before it.
    fn rehearse(&self, kinds: &[DiskKind], needed_paths: &[&Path]) -> Result<PrivateMounts> {
        let mounts = PrivateMounts::enter(needed_paths)?;
        let disks: Vec<DiskRequest<'_>> = kinds.iter().map(|kind| self.disk(kind)).collect();
        rehearse(&mounts, &disks, self.limits())?;
        Ok(mounts)
    }

    fn disk<'r>(&'r self, kind: &'r DiskKind) -> DiskRequest<'r> {
        DiskRequest {
            kind,
            mkfs_options: &[],
            mount_options: self.mount_options.as_deref(),
            disk_bytes: self.disk_size.0,
        }
    }

    /// Records the program twice on a filesystem: as it is, and with a commit of the journal after each of its calls. The
    /// commits show states that only another program's fsync would bring to the disk, but they hide a missing one.
    fn try_on(
        &self,
        mounts: &PrivateMounts,
        kind: &DiskKind,
        begin: Instant,
        output: &Output,
    ) -> Result<Findings> {
        let mut found = Findings::on(kind);
        for steps in [Steps::Own, Steps::CommitEach] {
            output.note(&format!(
                "{kind}: recording the program{}",
                match steps {
                    Steps::Own => "",
                    Steps::CommitEach => " again, with a commit after each of its calls",
                }
            ));
            let (recording, trees) = self.record(mounts, kind, steps)?;
            if is_stopped() {
                break;
            }
            recording
                .ended
                .expect_success("the program")
                .with_context(|| format!("{kind}, without a power loss"))?;
            let check = self.check(&recording, trees)?;
            expect_whole(mounts, &recording, &check)?;
            found.begin(&recording, steps);
            self.cut(mounts, &recording, &check, (begin, output), &mut found)?;
        }
        Ok(found)
    }

    fn record(
        &self,
        mounts: &PrivateMounts,
        kind: &DiskKind,
        steps: Steps,
    ) -> Result<(Recording, [Tree; 2])> {
        let trees = [Tree::default(), Tree::default()].map(std::cell::RefCell::new);
        let [old, new] = &trees;
        let set_up = |point: &Path| {
            if let Some(setup) = &self.setup {
                let ended = run_to_end(shell(setup, point), self.limits())?;
                ended.expect_success("the setup")?;
            }
            old.replace(Tree::read(point));
            Ok(())
        };
        let finish = |point: &Path| {
            new.replace(Tree::read(point));
        };
        let program = |point: &Path, marker: &Path| {
            let mut command = shell(&self.command, point);
            command.env(MARKER_VARIABLE, marker);
            command
        };
        let request = Request {
            disk: self.disk(kind),
            set_up: &set_up,
            program: &program,
            finish: &finish,
            is_durable_at_exit: self.durable_at_exit,
            steps,
            limits: self.limits(),
        };
        let recording = record(mounts, &request)?;
        Ok((recording, trees.map(std::cell::RefCell::into_inner)))
    }

    fn check(&self, recording: &Recording, [old, new]: [Tree; 2]) -> Result<Check<'_>> {
        if let Some(command) = &self.verify {
            let limits = self.limits();
            return Ok(Check::Verify { command, limits });
        }
        let check = BuiltIn::new(old, new, recording.durable_count());
        if !check.checks_something() {
            return Err(if recording.durable_count() > 0 {
                usage!(
                    "the program said that its data is durable, but it left no regular file, so there is nothing to check. \
                     Use --verify"
                )
            } else {
                usage!(
                    "the program promises nothing that can be checked: it replaces no file, and never says that its data \
                     is durable. Let it print `durable`, or use --durable-at-exit or --verify"
                )
            });
        }
        Ok(Check::BuiltIn(check))
    }

    /// Checks the disks of one recording, which gets half of the power losses.
    fn cut(
        &self,
        mounts: &PrivateMounts,
        recording: &Recording,
        check: &Check<'_>,
        (begin, output): (Instant, &Output),
        found: &mut Findings,
    ) -> Result<()> {
        let chosen = cuts(recording, (self.max_states / 2) as usize, self.seed);
        found.possible += chosen.possible;
        let bar = progress::bar(output, Numbers::Of("power losses"))?;
        bar.set_length(chosen.chosen.len() as u64);
        let mut replay = Replay::of(mounts, recording)?;
        let checked = self.check_all(&mut replay, &chosen.chosen, check, begin, (found, &bar));
        bar.finish_and_clear();
        checked?;
        replay.end()?;
        Ok(())
    }

    fn check_all(
        &self,
        replay: &mut Replay<'_>,
        cuts: &[Cut],
        check: &Check<'_>,
        begin: Instant,
        (found, bar): (&mut Findings, &ProgressBar),
    ) -> Result<()> {
        for cut in cuts {
            bar.set_message(found.progress());
            if self.budget.is_some_and(|budget| begin.elapsed() > budget) {
                break;
            }
            let mut mounted = None;
            let checked = replay.check(cut, &mut |point, moment| {
                mounted = Some(moment);
                check.run(point, moment)
            })?;
            // The signal has also ended the check.
            if is_stopped() {
                break;
            }
            found.checked += 1;
            match (checked, mounted) {
                (Ok(()), _) => {}
                (Err(reason), None) => {
                    let mut unmountable = Unmountable {
                        number: found.checked,
                        reason,
                        kept: Kept::default(),
                    };
                    if found.unmountable.is_empty() {
                        unmountable.kept = self.kept(replay, cut, found.checked);
                    }
                    found.unmountable.push(unmountable);
                }
                (Err(reason), Some(moment)) => {
                    let mut unsafe_cut = found.unsafe_now(moment, reason);
                    if found.begins_window(&unsafe_cut) {
                        unsafe_cut.kept = self.kept(replay, cut, found.checked);
                    }
                    found.unsafe_cuts.push(unsafe_cut);
                }
            }
            bar.inc(1);
        }
        Ok(())
    }

    /// Keeps the disk of a cut if the user wants it.
    fn kept(&self, replay: &mut Replay<'_>, cut: &Cut, number: usize) -> Kept {
        let Some(keep) = &self.keep else {
            return Kept::default();
        };
        let path = keep.join(replay.image_name(number));
        match replay.save(cut, &path) {
            Ok(()) => Kept {
                image: Some(path.to_string_lossy().into_owned()),
                error: None,
            },
            Err(error) => Kept {
                image: None,
                error: Some(error.to_string()),
            },
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            time: self.timeout,
            is_stopped,
        }
    }
}

/// Decides about a disk.
enum Check<'c> {
    BuiltIn(BuiltIn),
    Verify { command: &'c str, limits: Limits },
}

impl Check<'_> {
    /// The error is the reason why the program's promise is broken.
    fn run(&self, point: &Path, moment: Moment) -> Result<(), String> {
        match self {
            Self::BuiltIn(check) => check.check(point, moment.durable),
            Self::Verify { command, limits } => verify(command, *limits, point, moment),
        }
    }
}

fn verify(command: &str, limits: Limits, point: &Path, moment: Moment) -> Result<(), String> {
    let mut command = shell(command, point);
    command.env(COUNT_VARIABLE, moment.durable.to_string());
    let ended = run_to_end(command, limits).map_err(|error| error.to_string())?;
    match ended.said {
        _ if ended.is_success() => Ok(()),
        Some(said) => Err(said),
        None => Err(format!("--verify {}", ended.how())),
    }
}

/// A check that fails on the complete disk says nothing about the others.
fn expect_whole(mounts: &PrivateMounts, recording: &Recording, check: &Check<'_>) -> Result<()> {
    let mut replay = Replay::of(mounts, recording)?;
    let run = &mut |point: &Path, moment: Moment| check.run(point, moment);
    let checked = replay.check(&uncut(recording), run)?;
    replay.end()?;
    match checked {
        Err(reason) if !is_stopped() => bail!(
            "{}: the check already fails after the program, without a power loss: {reason}",
            recording.kind
        ),
        _ => Ok(()),
    }
}

/// An image of another run would have the same name, or be taken for one of this run.
fn expect_empty(keep: &Path) -> Result<()> {
    let path = keep.display();
    let mut entries = keep.read_dir().map_err(|error| {
        let error = Failure::io_message(&error);
        usage!("--keep {path}: readdir: {error}. Make an empty directory first")
    })?;
    ensure!(
        entries.next().is_none(),
        usage!("--keep {path}: it is not empty. Remove what it has, or use another directory")
    );
    Ok(())
}

fn shell(command: &str, directory: &Path) -> Command {
    let mut shell = Command::new("sh");
    let command = command.replace(DIRECTORY, &directory.to_string_lossy());
    shell.arg("-c").arg(command);
    shell
}
