//! `writebench fs`: kinds → filesystems → the same cases on all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};
use writebench_filesystems::{Filesystems, Wish};
use writebench_model::{Bytes, Case, MissingTarget, Reserve, Row, TargetRecord, Verify};
use writebench_report::visible;
use writebench_runner::Hardware;

use crate::arguments::FsCommand;
use crate::commands::kinds::wishes;
use crate::commands::run::{check_limits, largest_block, new_run, settings};
use crate::database;
use crate::exit::{self, Exit};
use crate::export::Export;
use crate::output::Output;
use crate::output_file::Kept;
use crate::selection::{self, Selected};
use crate::session::dry_run::DryRun;
use crate::session::measure::{self, Job};
use crate::session::place::{Claimed, Place, different_directories};

/// What a filesystem's block is taken for before it is made: suites may count in blocks.
const USUAL_BLOCK_BYTES: u64 = 4096;

/// A first look at many filesystems has as much time for each as one at a directory has, but needs six rounds for a
/// comparison.
const FIRST_LOOK_SIZE: Bytes = Bytes(32 << 20);

/// Makes filesystems, measures, and unmakes them.
pub fn fs(command: &FsCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    // Found before the namespace is another one, so that their places are what they were.
    let exports = command.measuring.exports.find(Kept::database(db))?;
    let wishes = wishes(command)?;
    let places = different_directories(&command.target, None, command.measuring.timeout)?;
    let selected = rows(command, USUAL_BLOCK_BYTES)?;
    for note in &selected.notes {
        output.note(note);
    }
    let plan = Images::of(command, &wishes, &selected.rows)?;
    if command.measuring.dry_run {
        return plan.dry_run(command, &wishes, &places, &selected, output);
    }
    plan.check(command)?;
    // Opened before the namespace is another one, so that its path is what it was.
    let store = database::open(db)?;
    let stop = measure::stop_on_signals()?;
    let needed = needed_paths(command, store.path(), &places)?;
    let needed: Vec<&Path> = needed.iter().map(PathBuf::as_path).collect();
    let mut filesystems = Filesystems::begin(&command.images, &needed)?.with_reserve(command.measuring.reserve);
    let made = make_all(&mut filesystems, &wishes, plan.content_bytes, &stop, output);
    let written = filesystems.bytes_written();
    let result = made.and_then(|made| match made {
        Some(made) => measure_on((command, &exports), store, places, made, written, output, &stop),
        None => Ok(Exit::Interrupted),
    });
    match (result, filesystems.remove()) {
        (Err(error), Err(left)) => {
            output.error(&left.into());
            Err(error)
        }
        (result, Ok(())) => result,
        (Ok(_), Err(left)) => Err(left.into()),
    }
}

fn rows(command: &FsCommand, block_bytes: u64) -> Result<Selected> {
    let mut selection = command.selection.clone();
    if selection.is_empty() && selection.size.is_empty() {
        selection.size.push(FIRST_LOOK_SIZE);
    }
    selection::rows(&selection, false, &writebench_engine::method_infos(), None, block_bytes)
}

/// How large images become, all of them together.
struct Images {
    content_bytes: u64,
    image_bytes: u64,
    memory_bytes: u64,
}

impl Images {
    fn of(command: &FsCommand, wishes: &[Wish], rows: &[Row]) -> Result<Self> {
        // A file that is copied stands beside the copy.
        let bytes =
            |case: &Case| case.axes().size_bytes.saturating_mul(if case.method().copies() { 2 } else { 1 });
        let content_bytes = rows.iter().map(|row| bytes(&row.case)).max().unwrap_or(0);
        let image_bytes =
            wishes.iter().map(|wish| wish.kind.image_bytes(content_bytes)).fold(0, u64::saturating_add);
        let in_memory = wishes.iter().filter(|wish| wish.kind.is_in_memory()).count() as u64;
        let below = writebench_probe::environment(&command.images)
            .map_err(|error| exit::usage(format!("--images {}: {error}", command.images.display())))?
            .filesystem;
        let images_in_memory = if below.is_in_memory() { image_bytes } else { 0 };
        let memory_bytes = in_memory.saturating_mul(content_bytes).saturating_add(images_in_memory);
        Ok(Self { content_bytes, image_bytes, memory_bytes })
    }

    /// Whether there is memory for all of them at the same time, and for the data.
    fn check(&self, command: &FsCommand) -> Result<()> {
        let available_bytes = writebench_probe::available_memory_bytes()?;
        if self.memory_bytes.saturating_add(self.content_bytes) > available_bytes / 10 * 9 {
            return Err(exit::refused(format!(
                "not enough memory: images and files in it take {}, {} are available; use --images on a disk, a \
                 smaller --size, or fewer kinds",
                Bytes(self.memory_bytes).approximate(),
                Bytes(available_bytes).approximate()
            )));
        }
        match command.measuring.max_bytes {
            Some(most) if self.image_bytes >= most.0 => Err(exit::usage(format!(
                "--max-bytes {most}: the images alone are {}, which are written once",
                Bytes(self.image_bytes).approximate()
            ))),
            _ => Ok(()),
        }
    }

    /// What would be made and run.
    fn dry_run(
        &self,
        command: &FsCommand,
        wishes: &[Wish],
        places: &[Place],
        selected: &Selected,
        output: &Output,
    ) -> Result<Exit> {
        let mut text = String::new();
        for place in places {
            text += &format!("{}\n", visible(&place.path().to_string_lossy()));
        }
        for wish in wishes {
            let bytes = wish.kind.image_bytes(self.content_bytes);
            text += &match bytes {
                0 => format!("{}, in memory\n", wish.kind),
                bytes => format!(
                    "{}, in {} of {}\n",
                    wish.kind,
                    Bytes(bytes).approximate(),
                    visible(&command.images.to_string_lossy())
                ),
            };
        }
        let cases = selection::different(selected.rows.iter().map(|row| row.case.clone()));
        let measuring = &command.measuring;
        let mut targets: Vec<String> = places.iter().map(|place| place.path().display().to_string()).collect();
        targets.extend(wishes.iter().map(|wish| wish.kind.to_string()));
        // Before they are made they are as good as any directory.
        let spaces = vec![Some(writebench_probe::space(&command.images)?); targets.len()];
        let settings = settings(measuring, 0, selected.samples);
        let for_limits = Hardware::of(&cases, &settings, &spaces)?.bytes();
        let dry_run = DryRun {
            cases: &cases,
            copied: false,
            copy_bytes: 0,
            samples: settings.samples,
            targets,
            image_bytes: self.image_bytes,
            limit_bytes: if measuring.no_limits { 0 } else { for_limits },
            properties: !measuring.no_properties,
            is_read_back: settings.verify != Verify::Never,
        };
        text += &dry_run.text();
        output.results(&text)?;
        if let Err(error) = self.check(command) {
            output.note(&format!("It would be refused: {error}"));
        }
        Ok(Exit::Ok)
    }
}

/// Paths that must mean in the private namespace what they mean outside.
fn needed_paths(command: &FsCommand, database: &Path, places: &[Place]) -> Result<Vec<PathBuf>> {
    let mut paths = vec![std::env::current_dir().context("find the current directory")?];
    for path in [database, command.images.as_path()] {
        paths.push(std::path::absolute(path)?);
        // Also where a link leads.
        paths.extend(path.canonicalize());
        paths.extend(path.parent().and_then(|parent| parent.canonicalize().ok()));
    }
    paths.extend(places.iter().map(|place| place.path().to_path_buf()));
    Ok(paths)
}

/// What became of the wishes.
struct AllMade {
    targets: Vec<(TargetRecord, Place)>,
    missing: Vec<MissingTarget>,
}

/// Makes what this machine can; none if it was told to stop.
fn make_all(
    filesystems: &mut Filesystems,
    wishes: &[Wish],
    content_bytes: u64,
    stop: &Arc<AtomicBool>,
    output: &Output,
) -> Result<Option<AllMade>> {
    let mut all = AllMade { targets: Vec::new(), missing: Vec::new() };
    let is_stopped = || stop.load(Ordering::Relaxed);
    for wish in wishes {
        let name = wish.kind.to_string();
        if is_stopped() {
            return Ok(None);
        }
        match filesystems.make(wish, content_bytes, &is_stopped) {
            Ok(made) => {
                output.note(&format!("Made {name}: {}", made.making.commands.join(" && ")));
                let place = Place::find_own_filesystem(&made.path)?;
                let record = TargetRecord { name, making: Some(made.making), ..place.record() };
                all.targets.push((record, place));
            }
            Err(writebench_filesystems::Error::Interrupted) => return Ok(None),
            Err(error) => {
                let why = error.to_string();
                output.note(&format!("No {name}: {why}"));
                all.missing.push(MissingTarget { name, why });
            }
        }
    }
    Ok(Some(all))
}

/// What turned out too small for the cases, as the kind or its options will have it, is as good as not made.
fn leave_out_small(made: &mut AllMade, command: &FsCommand, output: &Output) -> Result<()> {
    if made.targets.is_empty() {
        return Ok(());
    }
    let rows = rows(command, largest_block(made.targets.iter().map(|(target, _)| target)))?.rows;
    let cases: Vec<Case> = rows.into_iter().map(|row| row.case).collect();
    for (target, place) in std::mem::take(&mut made.targets) {
        match check_limits(&place, &target.environment, &cases, (None, Reserve::NONE), &[]) {
            Ok(()) => made.targets.push((target, place)),
            Err(error) => {
                let (name, why) = (target.name, error.to_string());
                output.note(&format!("No {name}: {why}"));
                made.missing.push(MissingTarget { name, why });
            }
        }
    }
    Ok(())
}

/// Each once, with the names of all that it kept from being made.
fn reasons(missing: &[MissingTarget]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for it in missing {
        match reasons.iter_mut().find(|(why, _)| *why == it.why) {
            Some((_, names)) => names.push(&it.name),
            None => reasons.push((&it.why, vec![&it.name])),
        }
    }
    let texts = reasons.iter().map(|(why, names)| format!("{}: {why}", names.join(", ")));
    texts.collect::<Vec<_>>().join("; ")
}

fn measure_on(
    (command, exports): (&FsCommand, &[Export]),
    mut store: writebench_store::Store,
    places: Vec<Place>,
    mut made: AllMade,
    bytes_before: u64,
    output: &Output,
    stop: &Arc<AtomicBool>,
) -> Result<Exit> {
    leave_out_small(&mut made, command, output)?;
    let mut targets: Vec<TargetRecord> = places.iter().map(Place::record).collect();
    if made.targets.is_empty() {
        return Err(anyhow!("none of the filesystems could be made: {}", reasons(&made.missing)));
    }
    let (made_targets, made_places): (Vec<TargetRecord>, Vec<Place>) = made.targets.into_iter().unzip();
    targets.extend(made_targets);
    let selected = rows(command, largest_block(&targets))?;
    let looks = if command.selection.is_empty() { targets.len() as u64 } else { 0 };
    let settings = settings(&command.measuring, looks, selected.samples);
    let mut run = new_run(&command.measuring, settings, &selected.rows, targets);
    run.missing = made.missing;
    let cases = selection::different_cases(&run.cases)?;
    for (place, target) in places.iter().zip(&run.targets) {
        let others: Vec<&Place> = places.iter().filter(|other| other.path() != place.path()).collect();
        check_limits(place, &target.environment, &cases, (None, command.measuring.reserve), &others)?;
    }
    let all = places.into_iter().chain(made_places);
    let claimed = all.map(|place| place.claim(false, output)).collect::<Result<Vec<Claimed>>>()?;
    let number = store.begin_run(&run)?;
    let job = Job {
        limits_for: if command.measuring.no_limits { Vec::new() } else { cases.clone() },
        properties: !command.measuring.no_properties,
        bytes_before,
        patience: command.measuring.timeout,
        ..Job::new(&store, number, run, (claimed, command.measuring.reserve), cases)
    };
    measure::measure(job, exports, output, stop)
}
