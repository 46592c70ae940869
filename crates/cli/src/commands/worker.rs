//! `writebench worker`: takes samples for the supervisor that started it.

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Parser;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};
use writebench_engine::{Engine, Meeting, Target};
use writebench_model::protocol::{Marks, RankSample, RankSampleRequest, Request, SampleRequest, Shortage};
use writebench_model::{Case, Failure, Outcome, Phase, Sample};
use writebench_runner::{MeetingPlace, ProgressRecord, RunnerError, answer_all, answered};

use crate::exit::Exit;
use crate::signals::leave_signals_to_the_supervisor;

/// Arguments from the supervisor to its worker.
#[derive(Parser)]
struct WorkerArguments {
    /// The directories to work in, in the order of the run's targets.
    #[arg(long, requires = "identity")]
    directory: Vec<OsString>,
    /// Device and inode of each, so that nothing else can stand in for it.
    #[arg(long, num_args = 2)]
    identity: Vec<u64>,
    /// The descriptor of the device to work on instead, held exclusively.
    #[arg(long, conflicts_with = "directory")]
    device: Option<u32>,
    /// The file that is copied.
    #[arg(long, requires = "copy_identity")]
    copy_from: Option<OsString>,
    /// Its device and inode.
    #[arg(long, num_args = 2)]
    copy_identity: Vec<u64>,
    /// The descriptor by which it meets the other ranks.
    #[arg(long)]
    meeting: Option<u32>,
    /// The descriptor of the progress record.
    progress: u32,
}

/// Answers requests until there are no more.
pub(super) fn work(words: &mut dyn Iterator<Item = OsString>) -> Result<Exit> {
    let name = std::iter::once(OsString::from("writebench worker"));
    let arguments = WorkerArguments::try_parse_from(name.chain(words))?;
    // A fault is one sample's outcome: one line, and the end, without threads that wait for others.
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string().replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::abort();
    }));
    // SIGBUS and the like are outcomes, too, and no reason to write the source data to a core file.
    let no_core = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(rustix::process::Resource::Core, no_core)?;
    leave_signals_to_the_supervisor()?;
    // No worker may continue to write after its supervisor is gone.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // When memory runs out, this process goes, and not somebody's database. That it cannot be said
    // (a sandbox without /proc) changes nothing else.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let targets = match arguments.device {
        Some(device) => vec![Held::Device(inherited(device)?)],
        None => open_directories(&arguments.directory, &arguments.identity)?,
    };
    let copy_from = match (&arguments.copy_from, arguments.copy_identity.as_slice()) {
        (Some(name), &[device, inode]) => {
            Some(writebench_runner::open_source(Path::new(name), [device, inode])?.into())
        }
        _ => None,
    };
    let progress = ProgressRecord::inherited(arguments.progress).context("open the progress record")?;
    let mut others = arguments.meeting.map(met).transpose()?;
    // Before there are threads, which keep what they were started with.
    drop_privileges().context("capset, to give up root's rights")?;
    let enter = |phase| progress.enter(phase);
    let available = || writebench_probe::available_memory_bytes().map_err(|error| error.to_string());
    let mut engine = Engine::new(copy_from, available, &enter);
    answer_all(|request| match request {
        Request::SampleRequest(request) => {
            answered(request, |it| sample(&mut engine, numbered(&targets, it.target)?, &it, &enter))
        }
        Request::RankSampleRequest(request) => answered(request, |it| {
            let others =
                others.as_mut().ok_or_else(|| RunnerError::Protocol("there are no ranks".to_owned()))?;
            rank_sample(&mut engine, numbered(&targets, it.sample.target)?, &it, others, &enter)
        }),
        Request::LimitRequest(request) => answered(request, |it| {
            enter(Phase::Settle);
            Ok(engine.limits(numbered(&targets, it.target)?, &it))
        }),
        Request::NoiseRequest(request) => answered(request, |it| {
            enter(Phase::Write);
            Ok(writebench_engine::noise(directory(&targets, 0)?, &it))
        }),
        Request::PropertiesRequest(request) => {
            answered(request, |it| Ok(engine.properties(directory(&targets, it.target)?, &it)))
        }
    })?;
    Ok(Exit::Ok)
}

/// The open files of a worker.
enum Held {
    Directory(OwnedFd),
    Device(OwnedFd),
}

fn numbered(targets: &[Held], number: usize) -> Result<Target<'_>, RunnerError> {
    match targets.get(number) {
        Some(Held::Directory(directory)) => Ok(Target::Directory(directory.as_fd())),
        Some(Held::Device(device)) => Ok(Target::Device(device.as_fd())),
        None => Err(RunnerError::Protocol(format!("there is no target {number}"))),
    }
}

fn directory(targets: &[Held], number: usize) -> Result<BorrowedFd<'_>, RunnerError> {
    match numbered(targets, number)? {
        Target::Directory(directory) => Ok(directory),
        Target::Device(_) => Err(RunnerError::Protocol("a device has no files to be made".to_owned())),
    }
}

/// One sample, if there is room for it.
fn sample(
    engine: &mut Engine<'_>,
    target: Target<'_>,
    request: &SampleRequest,
    enter: &dyn Fn(Phase),
) -> Result<Result<Sample, Shortage>, RunnerError> {
    let case = case_of(request)?;
    enter(Phase::Settle);
    Ok(match make_room(target, &case, request) {
        Ok(Ok(())) => Ok(engine.sample(target, &case, request)),
        Ok(Err(outcome)) => Ok(Sample::without_figures(request.round, outcome)),
        Err(shortage) => Err(shortage),
    })
}

/// One rank's share of a sample. The first rank makes room for all, before any of them begins.
fn rank_sample(
    engine: &mut Engine<'_>,
    target: Target<'_>,
    RankSampleRequest { sample: request, place }: &RankSampleRequest,
    others: &mut Others,
    enter: &dyn Fn(Phase),
) -> Result<Result<RankSample, Shortage>, RunnerError> {
    let case = case_of(request)?;
    enter(Phase::Settle);
    let room = if place.rank == 0 { make_room(target, &case, request) } else { Ok(Ok(())) };
    let met = others.meet(matches!(room, Ok(Ok(()))), false);
    let failed = |outcome, is_abandoned| RankSample {
        sample: Sample::without_figures(request.round, outcome),
        marks: Marks::default(),
        is_abandoned,
    };
    Ok(match (room, met) {
        (Err(shortage), _) => Err(shortage),
        (Ok(Err(outcome)), _) => Ok(failed(outcome, false)),
        (Ok(Ok(())), Ok(true)) => Ok(engine.rank_sample(target, &case, request, *place, others)),
        (Ok(Ok(())), _) => {
            let detail = ": another rank has failed".to_owned();
            Ok(failed(Outcome::WorkerDied { phase: Phase::Settle, signal: None, detail }, true))
        }
    })
}

fn case_of(request: &SampleRequest) -> Result<Case, RunnerError> {
    let case = Case::parse(&request.case, &writebench_engine::method_infos());
    case.map_err(|error| RunnerError::Protocol(error.to_string()))
}

/// Removes what a worker left that is no more, and checks that there is room for the case.
fn make_room(
    target: Target<'_>,
    case: &Case,
    request: &SampleRequest,
) -> Result<Result<(), Outcome>, Shortage> {
    let Target::Directory(directory) = target else { return Ok(Ok(())) };
    if request.remove_first
        && let Err(errno) = writebench_runner::remove_samples(directory)
    {
        let failure = Failure {
            phase: Phase::Settle,
            call: "unlink".to_owned(),
            path: None,
            offset: None,
            errno: Some(errno.raw_os_error()),
            message: Failure::errno_message(errno.raw_os_error()),
        };
        return Ok(Err(Outcome::Failed(Box::new(failure))));
    }
    let shortage = writebench_runner::shortage_of_sample(directory, case, request.reserve);
    shortage.map_or(Ok(Ok(())), Err)
}

/// The other ranks, whom this worker meets.
struct Others(MeetingPlace);

impl Meeting for Others {
    fn meet(&mut self, has_succeeded: bool, is_last: bool) -> std::io::Result<bool> {
        self.0.meet(has_succeeded, is_last)
    }
}

fn met(number: u32) -> Result<Others> {
    let number = i32::try_from(number).context("the descriptor of the other ranks")?;
    MeetingPlace::inherited(number).map(Others).context("meet the other ranks")
}

fn open_directories(paths: &[OsString], identities: &[u64]) -> Result<Vec<Held>> {
    let (identities, []) = identities.as_chunks::<2>() else { bail!("an identity has two parts") };
    if paths.is_empty() || paths.len() != identities.len() {
        bail!("{} directories with {} identities", paths.len(), identities.len());
    }
    paths.iter().zip(identities).map(|(path, identity)| open_directory(path, *identity)).collect()
}

fn open_directory(path: &OsString, identity: [u64; 2]) -> Result<Held> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory =
        rustix::fs::open(&**path, flags, Mode::empty()).with_context(|| format!("open {}", path.display()))?;
    let stat = rustix::fs::fstat(&directory)?;
    if identity != [stat.st_dev, stat.st_ino] {
        bail!("{} is not the directory it was", path.display());
    }
    Ok(Held::Directory(directory))
}

/// The file of an inherited descriptor, reopened for this process alone.
fn inherited(number: u32) -> Result<OwnedFd> {
    let path = format!("/proc/self/fd/{number}");
    rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .with_context(|| format!("open {path}"))
}

/// A worker keeps two of root's capabilities: `CAP_DAC_OVERRIDE`, as some filesystems show its own files as somebody
/// else's, and `CAP_IPC_LOCK`, without which registered buffers are limited by `ulimit -l`.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::IPC_LOCK);

/// Gives up the rest, and all ways to more (`PR_SET_NO_NEW_PRIVS`), for this thread and those that it starts: quotas
/// hold for root's samples, too (`CAP_SYS_RESOURCE`), and nothing can be mounted, loaded or made a device.
fn drop_privileges() -> rustix::io::Result<()> {
    let had = capabilities(None)?;
    let kept = KEPT & had.permitted;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    // A sandbox may forbid the call, and an ordinary user has nothing to give up.
    if sets != had {
        set_capabilities(None, sets)?;
    }
    set_no_new_privs(true)
}
