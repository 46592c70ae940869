//! `--from X --to Y`, or `<X >Y`: the file that is copied, and the copy that stays.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use rustix::fs::OFlags;
use rustix::io::Errno;
use writebench_model::{Bytes, Failure, Settings, path_from_text, path_text};
use writebench_runner::{CopyDestination, CopySource, Deadline, Existing, RunnerError, TargetHelper};

use crate::exit::{refused, usage};
use crate::output_file::ProtectedPaths;
use crate::{processes, signals};

#[derive(Args, Default)]
pub(crate) struct CopyArguments {
    /// File to copy, with suite copy; give it again with --resume [default: one is made in the target]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,
    /// Measure beside FILE, and leave it as a copy of --from; give it again with --resume
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "target")]
    to: Option<PathBuf>,
}

/// A file to copy that was given, and where its copy goes, if that was given, too.
pub(crate) struct FileCopy {
    pub source: CopySource,
    to: Option<CopyDestination>,
    // Descriptors without CLOEXEC, for the processes that open the files behind them.
    _redirections: Vec<OwnedFd>,
}

impl CopyArguments {
    /// The named files; none if no file is named.
    pub(crate) fn find(&self, limit: Option<Duration>) -> Result<Option<FileCopy>> {
        match (&self.from, &self.to) {
            (Some(from), to) => FileCopy::open(from, to.as_deref(), None, limit).map(Some),
            (None, Some(_)) => Err(usage!("--to needs --from: which file is copied?")),
            (None, None) => Ok(None),
        }
    }

    /// The files of a run that is resumed. The source and the copy that stays must be named again, as the database may be
    /// a stranger's. A file that has come to be in the copy's place meanwhile stays.
    pub(crate) fn find_again(&self, settings: &Settings, limit: Option<Duration>) -> Result<Option<FileCopy>> {
        let refuse = |option: &str, path: &Path, why: &str| Err(usage!("{option} {}: {why}", path.display()));
        let add = |files: &str| Err(usage!("the run copies a file that was given: if it shall, add {files}"));
        let recorded = (&settings.copy_from, &settings.copy_to);
        match (recorded, (self.from.as_deref(), self.to.as_deref())) {
            ((None, _), (None, None)) => Ok(None),
            ((None, _), (Some(from), _)) => refuse("--from", from, "the run copies no file that was given"),
            ((None, _), (None, Some(to))) | ((_, None), (Some(_), Some(to))) => {
                refuse("--to", to, "the run leaves no copy")
            }
            ((Some(source), None), (None, _)) => add(&format!("--from {source}")),
            ((Some(source), Some(copy)), (None, _) | (_, None)) => add(&format!("--from {source} --to {copy}")),
            ((Some(source), copy), (Some(from), to)) => {
                let copied = FileCopy::open(from, to, copy.as_deref().map(path_from_text).as_deref(), limit)?;
                if copied.source.path != path_from_text(source) {
                    return refuse("--from", from, &format!("the run copies {source}"));
                }
                Ok(Some(copied))
            }
        }
    }
}

impl FileCopy {
    /// `recorded` is the path of the copy of a run that goes on.
    fn open(from: &Path, to: Option<&Path>, recorded: Option<&Path>, limit: Option<Duration>) -> Result<Self> {
        let deadline = Deadline::without_stop(limit);
        let source = writebench_runner::inspect_source(&processes::target_helper()?, from, deadline)
            .map_err(|error| option_error("--from", from, error))?;
        let copied = Self::new(source, None, Vec::new())?;
        let to = to.map(|to| copy_destination(to, &copied.source, recorded, deadline)).transpose()?;
        Ok(Self { to, ..copied })
    }

    /// Standard input and output, if both are regular files: `<X >Y`. An output that has content,
    /// or is appended to, is a log and no place for a copy.
    pub(crate) fn redirected(limit: Option<Duration>) -> Result<Option<Self>> {
        let deadline = Deadline::without_stop(limit);
        // A closed descriptor is no file.
        let (stdin, stdout) = (rustix::io::dup(io::stdin().as_fd()), rustix::io::dup(io::stdout().as_fd()));
        let (Ok(stdin), Ok(stdout)) = (stdin, stdout) else { return Ok(None) };
        let name = |descriptor: &OwnedFd| PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()));
        let command = processes::target_helper()?;
        let source = writebench_runner::inspect_source(&command, &name(&stdin), deadline);
        let Ok(source) = source else { return Ok(None) };
        let destination = writebench_runner::inspect_copy_destination(&command, &name(&stdout), deadline)?;
        let Existing::Descriptor { identity, size_bytes, .. } = destination.existing else {
            return Ok(None);
        };
        if !source.is_regular {
            return Ok(None);
        }
        let appends = rustix::fs::fcntl_getfl(&stdout).is_ok_and(|flags| flags.contains(OFlags::APPEND));
        if size_bytes > 0 || appends {
            return Err(usage!(
                "standard input and output are files, so the one would be copied to the other, but the output \
                 is not empty: use --from and --to, or redirect them elsewhere (</dev/null)"
            ));
        }
        if identity == source.identity {
            return Err(usage!("standard input and output are the same file"));
        }
        Self::new(source, Some(destination), vec![stdin, stdout]).map(Some)
    }

    fn new(source: CopySource, to: Option<CopyDestination>, redirections: Vec<OwnedFd>) -> Result<Self> {
        let refuse = |why: &str| usage!("{}: {why}", source.path.display());
        if !source.is_regular {
            return Err(refuse("not a regular file; only those can be copied"));
        }
        if source.size_bytes == 0 {
            return Err(refuse("empty; there is nothing to copy"));
        }
        Ok(Self { source, to, _redirections: redirections })
    }

    /// Keeps both files from outputs, if the copy replaces no file that is protected. They were looked at when they were
    /// named, and are not looked at again.
    pub(crate) fn protect(&self, protected: ProtectedPaths) -> Result<ProtectedPaths> {
        let CopySource { path, identity, .. } = &self.source;
        self.to.iter().try_for_each(|to| protected.check_copy(to))?;
        let protected = protected.and_found("the file that is copied", path, Some((*identity).into()));
        let Some(to) = &self.to else { return Ok(protected) };
        Ok(protected.and_found("the copy", &to.path, to.identity().map(Into::into)))
    }

    /// Both paths, for the record.
    pub(crate) fn record(&self, settings: &mut Settings) {
        settings.copy_from = Some(path_text(&self.source.path));
        settings.copy_to = self.to.as_ref().map(|to| path_text(&to.path));
    }

    /// Whether standard output is taken by the copy, so that results go elsewhere.
    pub(crate) fn takes_stdout(&self) -> bool {
        self.to.as_ref().is_some_and(|to| matches!(to.existing, Existing::Descriptor { .. }))
    }

    /// The directory that the copy goes to, and so the one to measure in.
    pub(crate) fn target(&self) -> Option<&Path> {
        self.to.as_ref()?.path.parent()
    }

    /// Space that the copy which stays will take.
    pub(crate) fn copy_bytes(&self) -> u64 {
        if self.to.is_some() { self.source.size_bytes } else { 0 }
    }

    /// Checks that the source has so many bytes, or exactly as many for a copy that stays.
    pub(crate) fn check_size(&self, size: Bytes) -> Result<()> {
        let length = Bytes(self.source.size_bytes);
        if size.0 > length.0 {
            let from = self.source.path.display();
            return Err(usage!("{from} has {length}, and --size {size} asks for more"));
        }
        if size.0 != length.0 && self.to.is_some() {
            return Err(usage!("--to is a copy of all of it, {length}: leave --size out"));
        }
        Ok(())
    }

    /// Has the target helper copy, and compare byte by byte, unless a signal comes. Returns the path
    /// of the copy; none if no copy was asked for.
    pub(crate) fn finish(&self, helper: &mut TargetHelper) -> Result<Option<PathBuf>> {
        let Some(to) = &self.to else { return Ok(None) };
        // A minute, and time to write the copy and to read both at 4 MiB/s.
        let limit = Duration::from_secs(60 + self.source.size_bytes / (4 << 20) * 3);
        let deadline = Deadline::until(limit, signals::stop());
        let copied = helper.copy(&self.source, to, deadline);
        if matches!(copied, Err(RunnerError::Interrupted { .. } | RunnerError::Silent { .. })) {
            // The target helper was killed in the middle, and half a copy looks like a whole one.
            helper.empty(to)?;
        }
        copied
            .with_context(|| format!("copy {} to {}", self.source.path.display(), to.path.display()))
            .map(|()| Some(to.path.clone()))
    }
}

/// The file that `--to` names; it is looked at and not touched. A run that goes on copies to the path that was
/// `recorded`, and not over a file that has come to be there since.
fn copy_destination(
    named: &Path,
    source: &CopySource,
    recorded: Option<&Path>,
    deadline: Deadline<'_>,
) -> Result<CopyDestination> {
    let refuse = |why: &str| usage!("--to {}: {why}", named.display());
    let destination =
        writebench_runner::inspect_copy_destination(&processes::target_helper()?, named, deadline)
            .map_err(|error| option_error("--to", named, error))?;
    if let Some(recorded) = recorded.filter(|&recorded| recorded != destination.path) {
        return Err(refuse(&format!("the run copies to {}", recorded.display())));
    }
    match &destination.existing {
        Existing::Nothing => {}
        Existing::Link { to } => {
            let (named, to) = (named.display(), to.display());
            return Err(refused!(
                "--to {named} is a symbolic link to {to}, which somebody else may have made; name that file"
            ));
        }
        Existing::Descriptor { .. } | Existing::Other => {
            return Err(refuse("not a regular file"));
        }
        Existing::File { identity, .. } if *identity == source.identity => {
            return Err(refuse("the same file as --from"));
        }
        Existing::File { size_bytes, .. } if recorded.is_some() && *size_bytes > 0 => {
            return Err(refuse("holds something now, and a run that is resumed copies into no such file"));
        }
        Existing::File { is_writable: false, .. } => {
            return Err(refuse(&Failure::io_message(&Errno::ACCESS.into())));
        }
        Existing::File { .. } => {}
    }
    Ok(destination)
}

fn option_error(option: &str, path: &Path, error: RunnerError) -> anyhow::Error {
    match error {
        RunnerError::Target { error, .. } => {
            usage!("{option} {}: {}", path.display(), Failure::io_message(&error))
        }
        error => error.into(),
    }
}
