use std::os::fd::{AsFd, OwnedFd, RawFd};

use anyhow::{Context, Result, ensure};
use rustix::fs::{Mode, OFlags};
use writebench_engine::{Engine, RankBarrier, Target};
use writebench_model::protocol::{
    InsufficientSpace, LimitRequest, MeasuredLimits, PhaseTimestamps, RankSample, SampleRequest,
};
use writebench_model::{Failure, Outcome, Phase, Sample, path_from_text};
use writebench_runner::{RunnerError, shortage_of_sample};

use crate::processes::WorkerFiles;

/// Takes samples in directories, or on a device.
pub(crate) struct Sampler<'p> {
    descriptors: Vec<OwnedFd>,
    is_of_device: bool,
    engine: Engine<'p>,
    progress: &'p dyn Fn(Phase),
}

impl<'p> Sampler<'p> {
    /// `progress` is called before each phase.
    pub(crate) fn new(files: WorkerFiles, progress: &'p dyn Fn(Phase)) -> Result<Self> {
        let descriptors = match files.device {
            Some(device) => vec![inherited(device)?],
            None => open_directories(&files.directories)?,
        };
        let copy_from = match files.copy_from {
            Some((name, identity)) => {
                Some(writebench_runner::open_source(&path_from_text(&name), identity)?.into())
            }
            None => None,
        };
        Ok(Self {
            descriptors,
            is_of_device: files.device.is_some(),
            engine: Engine::new(copy_from, available_memory_bytes, progress),
            progress,
        })
    }

    /// Takes a sample, or a rank's share of it. The first rank makes room for all ranks before they begin.
    pub(crate) fn sample(
        &mut self,
        request: &SampleRequest,
        mut barrier: Option<&mut dyn RankBarrier>,
    ) -> Result<Result<RankSample, InsufficientSpace>, RunnerError> {
        let target = numbered(&self.descriptors, self.is_of_device, request.target)?;
        (self.progress)(Phase::Settle);
        let room = if request.role.rank == 0 {
            make_room(target, request, &mut self.engine)
        } else {
            Ok(Ok(()))
        };
        let all = match &mut barrier {
            Some(barrier) => barrier.wait(matches!(room, Ok(Ok(()))), false),
            None => Ok(true),
        };
        let failed = |outcome, is_abandoned| RankSample {
            sample: Sample::without_figures(request.round, outcome),
            timestamps: PhaseTimestamps::default(),
            is_abandoned,
            found_bytes: 0,
        };
        Ok(match (room, all) {
            (Err(shortage), _) => Err(shortage),
            (Ok(Err(outcome)), _) => Ok(failed(outcome, false)),
            (Ok(Ok(())), Ok(true)) => Ok(self.engine.rank_sample(target, request, barrier)),
            (Ok(Ok(())), _) => {
                let detail = ": another rank has failed".to_owned();
                let outcome = Outcome::WorkerDied {
                    phase: Phase::Settle,
                    signal: None,
                    detail,
                };
                Ok(failed(outcome, true))
            }
        })
    }

    pub(crate) fn limits(&mut self, request: &LimitRequest) -> Result<MeasuredLimits, RunnerError> {
        let target = numbered(&self.descriptors, self.is_of_device, request.target)?;
        (self.progress)(Phase::Settle);
        Ok(self.engine.limits(target, request))
    }
}

fn numbered(
    descriptors: &[OwnedFd],
    is_of_device: bool,
    number: usize,
) -> Result<Target<'_>, RunnerError> {
    let none = || RunnerError::Protocol(format!("there is no target {number}"));
    let descriptor = descriptors.get(number).ok_or_else(none)?.as_fd();
    Ok(if is_of_device {
        Target::Device(descriptor)
    } else {
        Target::Directory(descriptor)
    })
}

fn available_memory_bytes() -> Result<u64, String> {
    writebench_probe::available_memory_bytes().map_err(|error| error.to_string())
}

/// Reopens an inherited descriptor, for an open file description that other processes do not share.
fn inherited(number: RawFd) -> Result<OwnedFd> {
    let path = format!("/proc/self/fd/{number}");
    rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .with_context(|| format!("open {path}"))
}

/// Removes leftovers of a dead worker, and checks the free space. If it is short, the engine's old file also goes.
fn make_room(
    target: Target<'_>,
    request: &SampleRequest,
    engine: &mut Engine<'_>,
) -> Result<Result<(), Outcome>, InsufficientSpace> {
    let Target::Directory(directory) = target else {
        return Ok(Ok(()));
    };
    if request.remove_first
        && let Err(errno) = writebench_runner::remove_samples(directory)
    {
        let call = "unlink".to_owned();
        let errno = errno.raw_os_error();
        let message = Failure::errno_message(errno);
        let failure = Failure {
            phase: Phase::Settle,
            call,
            path: None,
            offset: None,
            errno: Some(errno),
            message,
        };
        return Ok(Err(Outcome::Failed(Box::new(failure))));
    }
    if shortage_of_sample(directory, &request.case, request.reserve).is_none() {
        return Ok(Ok(()));
    }
    if let Err(outcome) = engine.remove_old_file() {
        return Ok(Err(outcome));
    }
    shortage_of_sample(directory, &request.case, request.reserve).map_or(Ok(Ok(())), Err)
}

/// Device and inode of each directory detect a replaced one.
fn open_directories(directories: &[(String, [u64; 2])]) -> Result<Vec<OwnedFd>> {
    let open = |(path, identity): &(String, [u64; 2])| {
        let path = path_from_text(path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())
            .with_context(|| format!("open {}", path.display()))?;
        let stat = rustix::fs::fstat(&directory)?;
        ensure!(
            *identity == [stat.st_dev, stat.st_ino],
            "{} is another directory now",
            path.display()
        );
        Ok(directory)
    };
    directories.iter().map(open).collect()
}
