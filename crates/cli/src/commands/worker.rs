use std::ffi::OsString;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd, RawFd};

use anyhow::{Context, Result};
use clap::Parser;
use rustix::fs::{Mode, OFlags};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs,
};
use writebench_engine::{Engine, RankBarrier, Target};
use writebench_model::protocol::{RankRole, RankSampleRequest, WorkerRequest};
use writebench_model::{Phase, path_from_text};
use writebench_runner::{BarrierClient, ProgressRecord, RunnerError, reply, serve_requests};

use crate::exit::Exit;
use crate::processes::WorkerPlan;
use crate::sampling::{numbered, open_directories, run_sample};
use crate::signals::obey_supervisor_only;

#[derive(Parser)]
struct WorkerArguments {
    /// A [`WorkerPlan`].
    plan: String,
    /// The descriptor for waiting on other ranks.
    #[arg(long)]
    barrier: Option<i32>,
    /// The descriptor of the progress record.
    progress: u32,
}

pub(super) fn work(words: &mut dyn Iterator<Item = OsString>) -> Result<Exit> {
    let name = std::iter::once(OsString::from("writebench worker"));
    let arguments = WorkerArguments::try_parse_from(name.chain(words))?;
    abort_on_panic();
    obey_supervisor_only()?;
    // When memory runs out, the kernel must kill this process rather than a database. A sandbox may have no /proc.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let plan: WorkerPlan = serde_json::from_str(&arguments.plan)?;
    let descriptors = match plan.device {
        Some(device) => vec![inherited(device)?],
        None => open_directories(&plan.directories)?,
    };
    let kind = if plan.device.is_some() {
        Target::Device
    } else {
        Target::Directory
    };
    let targets: Vec<Target<'_>> = descriptors
        .iter()
        .map(|descriptor| kind(descriptor.as_fd()))
        .collect();
    let copy_from = match plan.copy_from {
        Some((name, identity)) => {
            Some(writebench_runner::open_source(&path_from_text(&name), identity)?.into())
        }
        None => None,
    };
    let progress =
        ProgressRecord::inherited(arguments.progress).context("open the progress record")?;
    let barrier = arguments.barrier.map(BarrierClient::inherited).transpose();
    let mut barrier = barrier
        .context("wait for the other ranks")?
        .map(SocketBarrier);
    // Threads inherit the capabilities, so this comes before they start.
    drop_privileges().context("capset, to drop root's capabilities")?;
    let enter = |phase| progress.enter(phase);
    let mut engine = Engine::new(copy_from, available_memory_bytes, &enter);
    serve_requests(|request| match request {
        WorkerRequest::Sample(request) => reply(numbered(&targets, request.target).map(|target| {
            let sampled = run_sample(&mut engine, target, &request, RankRole::ALONE, None, &enter);
            sampled.map(|share| share.sample)
        })),
        WorkerRequest::RankSample(RankSampleRequest { sample, role }) => {
            reply(numbered(&targets, sample.target).and_then(|target| {
                let barrier = barrier.as_mut().ok_or_else(no_ranks)?;
                Ok(run_sample(
                    &mut engine,
                    target,
                    &sample,
                    role,
                    Some(barrier),
                    &enter,
                ))
            }))
        }
        WorkerRequest::Limits(request) => {
            enter(Phase::Settle);
            reply(numbered(&targets, request.target).map(|target| engine.limits(target, &request)))
        }
    })?;
    Ok(Exit::Ok)
}

/// A panic is one sample's outcome: a line, then the end, even if other threads wait.
fn abort_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string().replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::abort();
    }));
}

fn available_memory_bytes() -> Result<u64, String> {
    writebench_probe::available_memory_bytes().map_err(|error| error.to_string())
}

fn no_ranks() -> RunnerError {
    RunnerError::Protocol("there are no ranks".to_owned())
}

struct SocketBarrier(BarrierClient);

impl RankBarrier for SocketBarrier {
    fn wait(&mut self, has_succeeded: bool, is_last: bool) -> std::io::Result<bool> {
        self.0.wait(has_succeeded, is_last)
    }
}

/// Reopens an inherited descriptor, for an open file description that other processes do not share.
fn inherited(number: RawFd) -> Result<OwnedFd> {
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
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    // A sandbox may forbid the call, which an ordinary user does not need.
    if sets != had {
        set_capabilities(None, sets)?;
    }
    set_no_new_privs(true)
}
