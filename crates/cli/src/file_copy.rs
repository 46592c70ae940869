//! `--from X --to Y`, or `<X >Y`: the source and the final copy.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueHint};
use rustix::fs::OFlags;
use rustix::io::Errno;
use writebench_model::protocol::{CopyDestination, CopySource, Existing};
use writebench_model::{Bytes, Case, Failure, Holes, Settings, path_from_text, path_text};
use writebench_runner::{Deadline, RunnerError, TargetAgent};

use crate::arguments::{WHAT, WHERE};
use crate::exit::{refused, usage};
use crate::output_file::ProtectedPaths;
use crate::{processes, signals};

#[derive(Args, Default)]
pub(crate) struct CopyArguments {
    /// Copy this file. Repeat the option with --resume [default: a file made in the target]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = WHAT)]
    from: Option<PathBuf>,
    /// Measure in the directory of FILE, and leave a copy of --from there. Repeat the option with --resume
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "target", help_heading = WHERE)]
    to: Option<PathBuf>,
}

/// What standard input and output are for a suite of copies.
pub(crate) enum Redirected {
    /// `<X >Y`
    Copy(FileCopy),
    /// `<X` alone, which is no copy.
    Input(PathBuf),
    Neither,
}

/// The user's source, and perhaps a destination.
pub(crate) struct FileCopy {
    pub source: CopySource,
    to: Option<CopyDestination>,
    /// Whether the final copy keeps the holes of its source.
    holes: Holes,
    // Held open without CLOEXEC, because child processes open the files behind them.
    _redirections: Vec<OwnedFd>,
}

impl CopyArguments {
    pub(crate) fn find(&self, limit: Option<Duration>) -> Result<Option<FileCopy>> {
        match (&self.from, &self.to) {
            (Some(from), to) => FileCopy::open(from, to.as_deref(), None, limit).map(Some),
            (None, Some(_)) => Err(usage!("--to has no source. Add --from FILE")),
            (None, None) => Ok(None),
        }
    }

    /// The files of a resumed run. The user names both again, because a stranger's database could name any file. A new
    /// file in the copy's place is kept.
    pub(crate) fn find_again(
        &self,
        settings: &Settings,
        limit: Option<Duration>,
    ) -> Result<Option<FileCopy>> {
        let refuse = |option: &str, path: &Path, why: &str| {
            Err(usage!("{option} {}: {why}", path.display()))
        };
        let add = |files: &str| Err(usage!("to resume this run, pass its files again: {files}"));
        let recorded = (&settings.copy_from, &settings.copy_to);
        match (recorded, (self.from.as_deref(), self.to.as_deref())) {
            ((None, _), (None, None)) => Ok(None),
            ((None, _), (Some(from), _)) => {
                refuse("--from", from, "the run has no --from. Leave it out")
            }
            ((None, _), (None, Some(to))) | ((_, None), (Some(_), Some(to))) => {
                refuse("--to", to, "the run has no --to. Leave it out")
            }
            ((Some(source), None), (None, _)) => add(&format!("--from {source}")),
            ((Some(source), Some(copy)), (None, _) | (_, None)) => {
                add(&format!("--from {source} --to {copy}"))
            }
            ((Some(source), copy), (Some(from), to)) => {
                let copied = FileCopy::open(
                    from,
                    to,
                    copy.as_deref().map(path_from_text).as_deref(),
                    limit,
                )?;
                if copied.source.path != path_from_text(source) {
                    return refuse("--from", from, &format!("the run copies {source}"));
                }
                Ok(Some(copied))
            }
        }
    }
}

impl FileCopy {
    /// `recorded` is the copy's path in a resumed run.
    fn open(
        from: &Path,
        to: Option<&Path>,
        recorded: Option<&Path>,
        limit: Option<Duration>,
    ) -> Result<Self> {
        let deadline = Deadline::without_stop(limit);
        let source = writebench_runner::inspect_source(&processes::target_agent()?, from, deadline)
            .map_err(|error| option_error("--from", from, error))?;
        let copied = Self::new(source, None, Vec::new())?;
        let to = to
            .map(|to| copy_destination(to, &copied.source, recorded, deadline))
            .transpose()?;
        Ok(Self { to, ..copied })
    }

    /// The user's source for samples only. Nothing is copied to a destination.
    pub(crate) fn of_source(from: &Path) -> Result<Self> {
        Self::open(from, None, None, None)
    }

    /// The size in whole pages, for direct I/O.
    pub(crate) fn whole_pages(&self) -> Bytes {
        const PAGE_BYTES: u64 = 4096;
        let size = self.source.size_bytes;
        Bytes(if size > PAGE_BYTES {
            size / PAGE_BYTES * PAGE_BYTES
        } else {
            size
        })
    }

    /// Standard input and output, if both are regular files: `<X >Y`. An output with content, or in append mode, is
    /// taken for a log.
    pub(crate) fn redirected(limit: Option<Duration>) -> Result<Redirected> {
        let deadline = Deadline::without_stop(limit);
        // A descriptor may be closed.
        let stdin = rustix::io::dup(io::stdin().as_fd());
        let stdout = rustix::io::dup(io::stdout().as_fd());
        let (Ok(stdin), Ok(stdout)) = (stdin, stdout) else {
            return Ok(Redirected::Neither);
        };
        let name = |descriptor: &OwnedFd| {
            PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))
        };
        let command = processes::target_agent()?;
        let source = writebench_runner::inspect_source(&command, &name(&stdin), deadline);
        let Some(source) = source.ok().filter(|source| source.is_regular) else {
            return Ok(Redirected::Neither);
        };
        let destination =
            writebench_runner::inspect_copy_destination(&command, &name(&stdout), deadline)?;
        let Existing::Descriptor {
            identity,
            size_bytes,
            ..
        } = destination.existing
        else {
            return Ok(Redirected::Input(source.path));
        };
        let appends =
            rustix::fs::fcntl_getfl(&stdout).is_ok_and(|flags| flags.contains(OFlags::APPEND));
        if size_bytes > 0 || appends {
            return Err(usage!(
                "standard input would be copied to standard output, but that file is not empty. Use --from and --to, or \
                 redirect the input (</dev/null)"
            ));
        }
        if identity == source.identity {
            return Err(usage!(
                "standard input and output are the same file. Redirect the input (</dev/null)"
            ));
        }
        Self::new(source, Some(destination), vec![stdin, stdout]).map(Redirected::Copy)
    }

    fn new(
        source: CopySource,
        to: Option<CopyDestination>,
        redirections: Vec<OwnedFd>,
    ) -> Result<Self> {
        let refuse = |why: &str| usage!("{}: {why}", source.path.display());
        ensure!(source.is_regular, refuse("not a regular file. Name one"));
        ensure!(
            source.ends_at_size,
            refuse(
                "its content does not end at its size, as in /proc and /sys, or it is being written. Copy it to an \
                 ordinary file first, and name that"
            )
        );
        ensure!(
            source.size_bytes > 0,
            refuse("the file is empty. Name one with content")
        );
        Ok(Self {
            source,
            to,
            holes: Holes::Fill,
            _redirections: redirections,
        })
    }

    /// Files that no export may replace: the database, the source of the copy, and the copy. Fails if the copy would
    /// replace another of them.
    pub(crate) fn protected(copied: Option<&Self>, db: Option<&Path>) -> Result<ProtectedPaths> {
        let protected = ProtectedPaths::database(db);
        let Some(Self { source, to, .. }) = copied else {
            return Ok(protected);
        };
        to.iter().try_for_each(|to| protected.check_copy(to))?;
        let identity = Some(source.identity.into());
        let protected = protected.and_found("the source of the copy", &source.path, identity);
        let Some(to) = to else { return Ok(protected) };
        Ok(protected.and_found("the copy", &to.path, to.identity().map(Into::into)))
    }

    pub(crate) fn record(&self, settings: &mut Settings) {
        settings.copy_from = Some(path_text(&self.source.path));
        settings.copy_to = self.to.as_ref().map(|to| path_text(&to.path));
    }

    /// Whether the copy is standard output, so results need another stream.
    pub(crate) fn takes_stdout(&self) -> bool {
        self.to
            .as_ref()
            .is_some_and(|to| matches!(to.existing, Existing::Descriptor { .. }))
    }

    /// The directory of the copy, to measure in.
    pub(crate) fn target(&self) -> Option<&Path> {
        self.to.as_ref()?.path.parent()
    }

    /// A final copy keeps the holes of its source if one of the run's cases does.
    pub(crate) fn for_cases<'c>(mut self, cases: impl IntoIterator<Item = &'c Case>) -> Self {
        let keeps = |case: &Case| case.given().holes == Holes::Keep;
        if cases.into_iter().any(keeps) {
            self.holes = Holes::Keep;
        }
        self
    }

    /// A note on holes in the source.
    pub(crate) fn note_on_holes(&self) -> Option<String> {
        let CopySource {
            path,
            size_bytes,
            data_bytes,
            ..
        } = &self.source;
        let [all, data] = [size_bytes, data_bytes].map(|bytes| Bytes(*bytes).approximate());
        let copies = match (self.holes, self.to.is_some()) {
            (Holes::Fill, false) => {
                format!("Copies fill them and take {all} each. To keep them, add --set holes=keep.")
            }
            (Holes::Fill, true) => format!(
                "Copies, also the final one, fill them and take {all} each. To keep them, add --set holes=keep."
            ),
            (Holes::Keep, false) => "Copies with holes=keep keep them.".to_owned(),
            (Holes::Keep, true) => {
                "Copies with holes=keep keep them, and so does the final copy.".to_owned()
            }
        };
        (data_bytes < size_bytes).then(|| {
            format!(
                "{} has holes: {data} of {all} hold data. {copies}",
                path.display()
            )
        })
    }

    /// The size of the final copy.
    pub(crate) fn copy_bytes(&self) -> u64 {
        if self.to.is_some() {
            self.source.size_bytes
        } else {
            0
        }
    }

    /// Checks that the source has this size at least, or exactly for a final copy.
    pub(crate) fn check_size(&self, size: Bytes) -> Result<()> {
        let length = Bytes(self.source.size_bytes);
        let from = self.source.path.display();
        ensure!(
            size.0 <= length.0,
            usage!(
                "--size {size} is more than {from} has: {length}. Give a smaller one, or leave it out"
            )
        );
        let is_whole = size.0 == length.0 || self.to.is_none();
        ensure!(
            is_whole,
            usage!("--to copies the whole file, {length}. Leave out --size")
        );
        Ok(())
    }

    /// The target's agent copies, and compares byte by byte. Returns the path of the copy, if `--to` asks for one.
    pub(crate) fn finish(&self, agent: &mut TargetAgent) -> Result<Option<PathBuf>> {
        let Some(to) = &self.to else { return Ok(None) };
        // A minute, plus time to write the copy and to read both files at 4 MiB/s.
        let limit = Duration::from_secs(60 + self.source.size_bytes / (4 << 20) * 3);
        let deadline = Deadline::until(limit, signals::stop());
        let copied = agent.copy(&self.source, to, self.holes, deadline);
        if matches!(
            copied,
            Err(RunnerError::Interrupted { .. } | RunnerError::Silent { .. })
        ) {
            // The agent was killed, and half a copy looks like a whole one.
            agent.empty(to)?;
        }
        copied
            .with_context(|| {
                format!(
                    "copy {} to {}",
                    self.source.path.display(),
                    to.path.display()
                )
            })
            .map(|()| Some(to.path.clone()))
    }
}

/// Inspects the file of `--to`. A resumed run copies to its `recorded` path, and not over a new file there.
fn copy_destination(
    named: &Path,
    source: &CopySource,
    recorded: Option<&Path>,
    deadline: Deadline<'_>,
) -> Result<CopyDestination> {
    let refuse = |why: &str| usage!("--to {}: {why}", named.display());
    let destination =
        writebench_runner::inspect_copy_destination(&processes::target_agent()?, named, deadline)
            .map_err(|error| option_error("--to", named, error))?;
    if let Some(recorded) = recorded.filter(|&recorded| recorded != destination.path) {
        return Err(refuse(&format!("the run copies to {}", recorded.display())));
    }
    let why = match &destination.existing {
        Existing::Link { to } => {
            let named = named.display();
            let to = to.display();
            return Err(refused!(
                "--to {named} is a symbolic link to {to}, perhaps another user's. Name that file itself"
            ));
        }
        Existing::Descriptor { .. } | Existing::Other => {
            "not a regular file. Name one, or a new file"
        }
        Existing::File { identity, .. } if *identity == source.identity => {
            "the same file as --from. Name another"
        }
        Existing::File { size_bytes, .. } if recorded.is_some() && *size_bytes > 0 => {
            "the file has content now, which a resumed run does not overwrite. Remove it first"
        }
        Existing::File {
            is_writable: false, ..
        } => &Failure::io_message(&Errno::ACCESS.into()),
        Existing::Nothing | Existing::File { .. } => return Ok(destination),
    };
    Err(refuse(why))
}

fn option_error(option: &str, path: &Path, error: RunnerError) -> anyhow::Error {
    match error {
        RunnerError::Target { error, .. } => {
            usage!(
                "{option} {}: {}",
                path.display(),
                Failure::io_message(&error)
            )
        }
        error => error.into(),
    }
}
