use std::os::fd::OwnedFd;

use anyhow::{Context, Result, ensure};
use rustix::fs::{Mode, OFlags};
use writebench_engine::{Engine, RankBarrier, Target};
use writebench_model::protocol::{
    InsufficientSpace, PhaseTimestamps, RankRole, RankSample, SampleRequest,
};
use writebench_model::{Failure, Outcome, Phase, Sample, path_from_text};
use writebench_runner::RunnerError;

pub(crate) fn numbered<'t>(
    targets: &[Target<'t>],
    number: usize,
) -> Result<Target<'t>, RunnerError> {
    let none = || RunnerError::Protocol(format!("there is no target {number}"));
    targets.get(number).copied().ok_or_else(none)
}

/// A sample, or one rank's share of it. The first rank makes room for all ranks before they begin.
pub(crate) fn run_sample(
    engine: &mut Engine<'_>,
    target: Target<'_>,
    request: &SampleRequest,
    role: RankRole,
    mut barrier: Option<&mut dyn RankBarrier>,
    enter: &dyn Fn(Phase),
) -> Result<RankSample, InsufficientSpace> {
    enter(Phase::Settle);
    let room = if role.rank == 0 {
        make_room(target, request)
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
    };
    Ok(match (room?, all) {
        (Err(outcome), _) => failed(outcome, false),
        (Ok(()), Ok(true)) => engine.rank_sample(target, request, role, barrier),
        (Ok(()), _) => {
            let detail = ": another rank has failed".to_owned();
            failed(
                Outcome::WorkerDied {
                    phase: Phase::Settle,
                    signal: None,
                    detail,
                },
                true,
            )
        }
    })
}

/// Removes leftovers of a dead worker, and checks the free space.
fn make_room(
    target: Target<'_>,
    request: &SampleRequest,
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
    let shortage = writebench_runner::shortage_of_sample(directory, &request.case, request.reserve);
    shortage.map_or(Ok(Ok(())), Err)
}

/// Device and inode of each directory detect a replaced one.
pub(crate) fn open_directories(directories: &[(String, [u64; 2])]) -> Result<Vec<OwnedFd>> {
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
