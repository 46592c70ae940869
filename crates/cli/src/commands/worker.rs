use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Parser;
use rustix::fs::{Mode, OFlags};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};
use writebench_engine::{Engine, RankBarrier};
use writebench_model::Phase;
use writebench_model::protocol::WorkerRequest;
use writebench_runner::{BarrierClient, ProgressRecord, RunnerError, respond, serve_requests};

use crate::exit::Exit;
use crate::sampling::{OpenTarget, numbered, open_directories, run_rank_sample, run_sample};
use crate::signals::obey_supervisor_only;

#[derive(Parser)]
struct WorkerArguments {
    /// In the order of the run's targets.
    #[arg(long, requires = "identity")]
    directory: Vec<OsString>,
    /// Device and inode of each directory, to detect a replaced one.
    #[arg(long, num_args = 2)]
    identity: Vec<u64>,
    /// An exclusive descriptor of the device.
    #[arg(long, conflicts_with = "directory")]
    device: Option<u32>,
    #[arg(long, requires = "copy_identity")]
    copy_from: Option<OsString>,
    #[arg(long, num_args = 2)]
    copy_identity: Vec<u64>,
    /// The descriptor for waiting on other ranks.
    #[arg(long)]
    barrier: Option<u32>,
    /// The descriptor of the progress record.
    progress: u32,
}

pub(super) fn work(words: &mut dyn Iterator<Item = OsString>) -> Result<Exit> {
    let name = std::iter::once(OsString::from("writebench worker"));
    let arguments = WorkerArguments::try_parse_from(name.chain(words))?;
    // A panic is one sample's outcome: a line, then the end, even if other threads wait.
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string().replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::abort();
    }));
    obey_supervisor_only()?;
    // When memory runs out, the kernel must kill this process rather than a database. A sandbox may have no /proc.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let targets = match arguments.device {
        Some(device) => vec![OpenTarget::Device(inherited(device)?)],
        None => open_directories(&arguments.directory, &arguments.identity)?,
    };
    let copy_from = match (&arguments.copy_from, arguments.copy_identity.as_slice()) {
        (Some(name), &[device, inode]) => {
            Some(writebench_runner::open_source(Path::new(name), [device, inode])?.into())
        }
        _ => None,
    };
    let progress = ProgressRecord::inherited(arguments.progress).context("open the progress record")?;
    let mut barrier = arguments.barrier.map(inherited_barrier).transpose()?;
    // Before threads start, which inherit the capabilities.
    drop_privileges().context("capset, to drop root's capabilities")?;
    let enter = |phase| progress.enter(phase);
    let available = || writebench_probe::available_memory_bytes().map_err(|error| error.to_string());
    let mut engine = Engine::new(copy_from, available, &enter);
    serve_requests(|request| match request {
        WorkerRequest::SampleRequest(request) => respond(request, |request| {
            Ok(run_sample(&mut engine, numbered(&targets, request.target)?, &request, &enter))
        }),
        WorkerRequest::RankSampleRequest(request) => respond(request, |request| {
            let barrier =
                barrier.as_mut().ok_or_else(|| RunnerError::Protocol("there are no ranks".to_owned()))?;
            Ok(run_rank_sample(
                &mut engine,
                numbered(&targets, request.sample.target)?,
                &request,
                barrier,
                &enter,
            ))
        }),
        WorkerRequest::LimitRequest(request) => respond(request, |request| {
            enter(Phase::Settle);
            Ok(engine.limits(numbered(&targets, request.target)?, &request))
        }),
    })?;
    Ok(Exit::Ok)
}

struct SocketBarrier(BarrierClient);

impl RankBarrier for SocketBarrier {
    fn wait(&mut self, has_succeeded: bool, is_last: bool) -> std::io::Result<bool> {
        self.0.wait(has_succeeded, is_last)
    }
}

fn inherited_barrier(number: u32) -> Result<SocketBarrier> {
    let number = i32::try_from(number).context("the descriptor of the other ranks")?;
    BarrierClient::inherited(number).map(SocketBarrier).context("wait for the other ranks")
}

/// Reopens an inherited descriptor, for an open file description that other processes do not share.
fn inherited(number: u32) -> Result<OwnedFd> {
    let path = format!("/proc/self/fd/{number}");
    rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .with_context(|| format!("open {path}"))
}

/// `CAP_DAC_OVERRIDE` for filesystems that show the worker's files as another user's, and `CAP_IPC_LOCK`, without which
/// `ulimit -l` limits registered buffers.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::IPC_LOCK);

/// Drops all other capabilities, for this thread and those that it starts, and `PR_SET_NO_NEW_PRIVS` makes that final.
/// Without `CAP_SYS_RESOURCE`, quotas also apply to root's samples.
fn drop_privileges() -> rustix::io::Result<()> {
    let had = capabilities(None)?;
    let kept = KEPT & had.permitted;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    // A sandbox may forbid the call, which an ordinary user does not need.
    if sets != had {
        set_capabilities(None, sets)?;
    }
    set_no_new_privs(true)
}
