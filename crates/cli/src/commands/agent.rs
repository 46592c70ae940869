use std::ffi::OsString;
use std::io::Write;

use anyhow::{Context, Result};
use clap::Parser;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs,
};
use writebench_engine::RankBarrier;
use writebench_model::Phase;
use writebench_model::protocol::AgentRequest;
use writebench_runner::{
    BarrierClient, ProgressRecord, RunnerError, TargetState, reply, serve_requests,
};

use crate::exit::Exit;
use crate::processes::WorkerFiles;
use crate::sampling::Sampler;
use crate::signals::obey_supervisor_only;

#[derive(Parser)]
struct AgentArguments {
    /// [`WorkerFiles`], for the agent that takes samples.
    #[arg(long)]
    samples: Option<String>,
    /// The descriptor for waiting on other ranks.
    #[arg(long)]
    barrier: Option<i32>,
    /// The descriptor of the progress record.
    progress: u32,
}

/// Answers the supervisor's requests until their end.
pub(super) fn serve(words: &mut dyn Iterator<Item = OsString>) -> Result<Exit> {
    let name = std::iter::once(OsString::from("writebench agent"));
    let arguments = AgentArguments::try_parse_from(name.chain(words))?;
    abort_on_panic();
    obey_supervisor_only()?;
    let progress =
        ProgressRecord::inherited(arguments.progress).context("open the progress record")?;
    let barrier = arguments.barrier.map(BarrierClient::inherited).transpose();
    let mut barrier = barrier
        .context("wait for the other ranks")?
        .map(SocketBarrier);
    let enter = |phase| progress.enter(phase);
    let mut sampler = match arguments.samples {
        Some(files) => Some(worker(serde_json::from_str(&files)?, &enter)?),
        None => None,
    };
    let mut target = TargetState::default();
    serve_requests(|request| match request {
        AgentRequest::Target(request) => target.answer(request),
        AgentRequest::Sample(request) if request.case.choices().ranks > 1 => {
            reply(of_worker(&mut sampler).and_then(|sampler| {
                let barrier = barrier.as_mut().ok_or_else(no_ranks)?;
                sampler.sample(&request, Some(barrier))
            }))
        }
        AgentRequest::Sample(request) => {
            reply(of_worker(&mut sampler).and_then(|sampler| sampler.sample(&request, None)))
        }
        AgentRequest::Limits(request) => {
            reply(of_worker(&mut sampler).and_then(|sampler| sampler.limits(&request)))
        }
    })?;
    Ok(Exit::Ok)
}

/// Prepares this process for samples, of which each may end it.
fn worker<'p>(files: WorkerFiles, enter: &'p dyn Fn(Phase)) -> Result<Sampler<'p>> {
    // When memory runs out, the kernel must kill this process rather than a database. A sandbox may have no /proc.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let sampler = Sampler::new(files, enter)?;
    // Threads inherit the capabilities, so this comes before they start.
    drop_privileges().context("capset, to drop root's capabilities")?;
    Ok(sampler)
}

fn of_worker<'s, 'p>(
    sampler: &'s mut Option<Sampler<'p>>,
) -> Result<&'s mut Sampler<'p>, RunnerError> {
    let none = || RunnerError::Protocol("this agent takes no samples".to_owned());
    sampler.as_mut().ok_or_else(none)
}

/// A panic is the reason of the agent's end: a line, then the end, even if other threads wait.
fn abort_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string().replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::abort();
    }));
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
