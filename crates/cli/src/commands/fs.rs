mod images;
mod requests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueHint};
use writebench_filesystems::{FilesystemKind, Filesystems};
use writebench_model::{Bytes, Case, MissingTarget, Selection, TargetRecord};
use writebench_probe::Space;
use writebench_report::visible;
use writebench_stats::{distinct, grouped};
use writebench_store::Store;

use self::images::Images;
use self::requests::{kind_options, requests, suggestion};
use crate::arguments::{HOW_CAREFUL, WHAT, WHERE};
use crate::database;
use crate::exit::Exit;
use crate::export::Export;
use crate::global::Global;
use crate::output::{self, Output};
use crate::output_file::ProtectedPaths;
use crate::selection::{self, SelectionArguments, USUAL_BLOCK_BYTES};
use crate::session::{
    Cost, MeasuringArguments, Plan, ScheduledCases, Target, check_and_claim, least_free_bytes,
    most_unasked_bytes, new_run, smallest_cases,
};
use crate::signals::{is_stopped, stop, stop_on_signals};

/// Compare filesystems, each made in a new image and removed afterwards
#[derive(Args, Clone)]
#[command(after_help = FS_EXAMPLES)]
pub(crate) struct FsCommand {
    /// Existing directories to measure as well, before the new filesystems
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: Vec<PathBuf>,
    /// Make these filesystems, and compare all with the first: ext4, ext4-no-journal, ext3, ext2, xfs, btrfs,
    /// btrfs-no-checksums, btrfs-raid0, tmpfs, tmpfs-huge, overlay:KIND, fuse:KIND (bindfs), or any with an mkfs.KIND.
    /// `overlay` and `fuse` alone use each of the other kinds [default: all of these, with overlay and fuse on ext4]
    #[arg(long, value_name = "KIND", value_delimiter = ',', help_heading = WHAT)]
    on: Vec<String>,
    /// Make the images in this directory, as files without names, which are always removed
    #[arg(long, value_name = "DIR", default_value = "/dev/shm", value_hint = ValueHint::DirPath, help_heading = WHERE)]
    images: PathBuf,
    /// Add words to mkfs: KIND=WORDS, such as 'ext4=-b 1024'. May be repeated
    #[arg(long, value_name = "KIND=WORDS", value_parser = kind_options, allow_hyphen_values = true,
        help_heading = WHERE)]
    mkfs_options: Vec<(FilesystemKind, String)>,
    /// Add options to the mount: KIND=OPTIONS, such as ext4=noatime,data=writeback. May be repeated
    #[arg(long, value_name = "KIND=OPTIONS", value_parser = kind_options, help_heading = WHERE)]
    mount_options: Vec<(FilesystemKind, String)>,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    measuring: MeasuringArguments,
    /// Write more than 64 GiB, or a quarter of a disk's free space, without asking
    #[arg(long, short, help_heading = HOW_CAREFUL)]
    yes: bool,
}

const FS_EXAMPLES: &str = "Examples:
  writebench fs                                       five goals, all filesystems
  writebench fs --on ext4,xfs,btrfs --suite buffer    time by size of the buffer
  writebench fs /data --on ext4 --images /data        cost of the loop device
  writebench fs --on ext4,overlay,fuse --suite write  cost of overlay and FUSE
  writebench fs --on ext4 --mount-options ext4=data=journal --suite durable

Needs root. Mounts are in a private namespace: however the run ends, no mount, loop device or image remains.";

/// Small enough for six rounds of all goals on all filesystems, which a comparison needs.
const GOALS_SIZE: Bytes = Bytes(32 << 20);
const BUDGET_OF_EACH: Duration = Duration::from_secs(20);

impl FsCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let answered = Self {
            selection: self.selection.with_answers(false, global)?,
            ..self.clone()
        };
        answered.compare(global)
    }

    fn compare(&self, global: &Global) -> Result<Exit> {
        let measuring = &self.measuring;
        let output = &global.output;
        // In the private namespace, the same paths may name other files. So exports and targets are found first.
        let exports = measuring
            .exports
            .find(ProtectedPaths::database(global.db.as_deref()))?;
        let requests = requests(&self.on, &self.mkfs_options, &self.mount_options)?;
        let targets = Target::find_different(&self.target, measuring)?;
        let selected = self.rows(USUAL_BLOCK_BYTES)?;
        selected.notes.iter().for_each(|note| output.note(note));
        let largest = self.largest_size(&selected);
        let cases = distinct(
            selected.rows.iter().map(|row| row.case.clone()),
            Clone::clone,
        );
        let images = Images::plan(&self.images, &requests, &cases)?;
        let space = writebench_probe::space(&self.images)?;
        let settings = measuring.settings(
            self.budget(targets.len() + requests.len()),
            selected.samples,
        );
        let cost = Cost {
            cases: &cases,
            settings: &settings,
            spaces: spaces(&targets, &images, space),
            copy_bytes: None,
            image_bytes: images.bytes,
            may_shrink: largest.is_some(),
            measures_limits: measuring.measures_limits(settings.budget_ns),
            is_in_memory: targets.is_empty() && images.are_in_memory,
            goals: None,
        };
        if measuring.dry_run {
            let paths: String = targets
                .iter()
                .map(|target| format!("{}\n", visible(&shown_path(target))))
                .collect();
            output.results(&(paths + &images.text() + &cost.dry_run()?))?;
            output.note_refusal(images.check(measuring.max_bytes));
            return Ok(Exit::Ok);
        }
        images.check(measuring.max_bytes)?;
        let smallest = largest.map(|largest| smallest_cases(&selected.rows, largest));
        let least = Cost {
            cases: smallest.as_ref().unwrap_or(&cases),
            ..cost.clone()
        };
        least.check_max_bytes(0)?;
        // Images in memory do not wear a disk. Their space is checked as memory.
        let of_images = Some(space).filter(|_| !images.are_in_memory);
        let free = least_free_bytes(targets.iter().map(Target::space).chain([of_images]));
        least.ask(self.yes, free)?;
        self.make_and_measure(&exports, targets, &images, &cost.line()?, (free, global))
    }

    fn make_and_measure(
        &self,
        exports: &[Export],
        targets: Vec<Target>,
        images: &Images<'_>,
        cost: &str,
        (free, global): (Option<u64>, &Global),
    ) -> Result<Exit> {
        // Its path may name another file in the private namespace.
        let store = database::open(global.db.as_deref())?;
        stop_on_signals()?;
        // Otherwise the lock would be noticed when all filesystems are made.
        store.unless_stopped(stop(), || store.check_unlocked())?;
        let needed = self.needed_paths(store.path(), &targets)?;
        let needed: Vec<&Path> = needed.iter().map(PathBuf::as_path).collect();
        let mut filesystems = Filesystems::begin(&self.images, self.measuring.reserve, &needed)?;
        global.output.note(cost);
        let made = make_all(&mut filesystems, images, &global.output);
        let result = made.and_then(|made| match made {
            Some(made) => self.measure(store, exports, targets, made, (free, global)),
            None => Ok(Exit::Interrupted),
        });
        output::after_tidying(result, filesystems.remove().map_err(Into::into))
    }

    fn rows(&self, block_bytes: u64) -> Result<Selection> {
        let mut selection = self.selection.clone();
        if selection.is_empty() && selection.size.is_empty() {
            selection.size.push(GOALS_SIZE);
        }
        selection::rows(&selection, false, None, block_bytes, &[])
    }

    fn budget(&self, filesystems: usize) -> Option<Duration> {
        let filesystems = u32::try_from(filesystems).unwrap_or(u32::MAX);
        self.selection
            .is_empty()
            .then_some(BUDGET_OF_EACH.saturating_mul(filesystems))
    }

    /// The largest size of the files, if the budget may choose a smaller one.
    fn largest_size(&self, selected: &Selection) -> Option<u64> {
        self.measuring
            .budget
            .and_then(|_| self.selection.adaptive_size(&selected.rows))
    }

    /// Paths that must name the same files inside the private namespace and outside.
    fn needed_paths(&self, database: &Path, targets: &[Target]) -> Result<Vec<PathBuf>> {
        let mut paths = vec![std::env::current_dir().context("find the current directory")?];
        for path in [database, self.images.as_path()] {
            paths.push(std::path::absolute(path)?);
            // Also the destination of a link.
            paths.extend(path.canonicalize());
            paths.extend(path.parent().and_then(|parent| parent.canonicalize().ok()));
        }
        paths.extend(targets.iter().map(|target| target.path().to_path_buf()));
        Ok(paths)
    }

    fn measure(
        &self,
        mut store: Store,
        exports: &[Export],
        targets: Vec<Target>,
        mut made: Made,
        (free, global): (Option<u64>, &Global),
    ) -> Result<Exit> {
        let output = &global.output;
        let measuring = &self.measuring;
        let targets = self.with_made_targets(targets, &mut made, output)?;
        let records: Vec<TargetRecord> = targets.iter().map(Target::record).collect();
        let mut selected = self.rows(selection::largest_block(&records))?;
        selection::leave_out_undurable(&mut selected, &records);
        selected.notes.iter().for_each(|note| output.note(note));
        let settings = measuring.settings(self.budget(targets.len()), selected.samples);
        let mut run = new_run(
            global,
            measuring.label.clone(),
            settings,
            &selected.rows,
            records,
        );
        run.missing = made.missing;
        let cases = selection::different_cases(&run.cases, 1)?;
        let targets = check_and_claim(targets, &cases, None, false, output)?;
        // Without --yes, an adaptive size needs no consent.
        let unasked = (!self.yes).then(|| most_unasked_bytes(free));
        let largest = self.largest_size(&selected);
        let scheduled =
            ScheduledCases::for_run(&selected.rows, largest, &mut run, &cases, unasked)?;
        let measures_limits = measuring.measures_limits(run.settings.budget_ns);
        let plan = Plan {
            settings: run.settings.clone(),
            run,
            resumed: None,
            targets,
            scheduled,
            copied: None,
            limits_for: if measures_limits { cases } else { Vec::new() },
            bytes_before: made.bytes_written,
            timeout: measuring.timeout,
            notes: Vec::new(),
        };
        plan.execute(&mut store, exports, global)
    }

    /// Adds the filesystems that were made to the existing targets, except for those with too little space for the cases.
    fn with_made_targets(
        &self,
        mut targets: Vec<Target>,
        made: &mut Made,
        output: &Output,
    ) -> Result<Vec<Target>> {
        let records: Vec<TargetRecord> = made.targets.iter().map(Target::record).collect();
        let rows = if records.is_empty() {
            Vec::new()
        } else {
            self.rows(selection::largest_block(&records))?.rows
        };
        let cases: Vec<Case> = rows.into_iter().map(|row| row.case).collect();
        let there_before = targets.len();
        for target in std::mem::take(&mut made.targets) {
            match target.check(&cases, None, &[]) {
                Ok(()) => targets.push(target),
                // The kind or its options leave too little space for the cases.
                Err(error) => made.add_missing(target.record().name, error.to_string(), output),
            }
        }
        ensure!(
            targets.len() > there_before,
            "none of the filesystems could be made: {}",
            reasons(&made.missing)
        );
        Ok(targets)
    }
}

#[derive(Default)]
struct Made {
    targets: Vec<Target>,
    bytes_written: u64,
    missing: Vec<MissingTarget>,
}

impl Made {
    fn add_missing(&mut self, name: String, reason: String, output: &Output) {
        output.note(&format!("No {name}: {reason}"));
        self.missing.push(MissingTarget { name, reason });
    }
}

/// The name and the space of each target. The filesystems do not exist yet, so they have that of the images' directory.
fn spaces(targets: &[Target], images: &Images<'_>, space: Space) -> Vec<(String, Option<Space>)> {
    let made = images
        .requests
        .iter()
        .map(|request| request.kind.to_string());
    let names = targets.iter().map(shown_path).chain(made);
    names.map(|name| (name, Some(space))).collect()
}

fn shown_path(target: &Target) -> String {
    target.path().display().to_string()
}

/// Makes all supported filesystems. None after a signal.
fn make_all(
    filesystems: &mut Filesystems,
    images: &Images<'_>,
    output: &Output,
) -> Result<Option<Made>> {
    let mut all = Made::default();
    for request in images.requests {
        if is_stopped() {
            return Ok(None);
        }
        let name = request.kind.to_string();
        match filesystems.make(request, images.content_bytes, &is_stopped) {
            Ok(made) => {
                output.note(&format!("Made {name}: {}", made.spec.commands.join(" && ")));
                all.targets
                    .push(Target::find_made(&made.path, name, made.spec)?);
            }
            Err(writebench_filesystems::Error::Interrupted) => return Ok(None),
            Err(error) => {
                let is_unknown = matches!(
                    error,
                    writebench_filesystems::Error::NotInstalled { package: None, .. }
                );
                let suggestion = if is_unknown {
                    suggestion(&name)
                } else {
                    String::new()
                };
                all.add_missing(name, format!("{error}{suggestion}"), output);
            }
        }
    }
    all.bytes_written = filesystems.bytes_written();
    Ok(Some(all))
}

/// Each reason once, with its filesystems.
fn reasons(missing: &[MissingTarget]) -> String {
    let reasons = grouped(missing, |target| target.reason.as_str()).into_iter();
    let texts = reasons.map(|(reason, targets)| {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        format!("{}: {reason}", names.join(", "))
    });
    texts.collect::<Vec<_>>().join(". ")
}
