//! An agent: the same program with a hidden subcommand, which makes calls on targets for the supervisor. Requests and
//! responses are JSON lines over pipes.
//!
//! An agent and the processes that it starts are one process group. The group is killed when the agent has died, has
//! missed a deadline, or is no longer needed.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::Serialize;
use serde::de::DeserializeOwned;
use writebench_model::{Outcome, Phase, nanoseconds};

use crate::barrier::{BarrierServer, WaitRequest};
use crate::error::RunnerError;
use crate::pipe::parse_response;
use crate::stall_tracker::StallTracker;

/// The descriptor number of the progress record is appended.
#[derive(Debug, Clone)]
pub struct AgentCommand {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Whether the agent waits for other ranks. The number of its socket precedes that of the progress
    /// record.
    pub has_barrier: bool,
}

/// A byte with the agent's current phase in an anonymous shared file, still readable when the agent no
/// longer answers.
pub struct ProgressRecord(OwnedFd);

impl ProgressRecord {
    pub fn inherited(number: u32) -> io::Result<Self> {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{number}"))?;
        Ok(Self(file.into()))
    }

    pub fn enter(&self, phase: Phase) {
        // A failure only costs an error's text its phase.
        let _ = rustix::io::pwrite(&self.0, &[phase as u8], 0);
    }

    fn phase(&self) -> Phase {
        let mut byte = [0];
        let read = rustix::io::pread(&self.0, &mut byte, 0);
        read.ok()
            .and_then(|_| Phase::from_index(byte[0]))
            .unwrap_or(Phase::Settle)
    }
}

/// How long to wait until a killed process has ended. Together with [`crate::target_agent::GRACE`], an interrupted run
/// ends within five seconds.
const KILL_WAIT: Duration = Duration::from_secs(3);

pub(crate) struct Agent {
    child: Child,
    // Where requests are written. None after the agent was killed.
    requests: Option<ChildStdin>,
    replies: Receiver<String>,
    last_words: Option<JoinHandle<String>>,
    progress: ProgressRecord,
    barrier: Option<BarrierServer>,
    /// The delays since the last request.
    pub(crate) stalls: StallTracker,
    // Whether the process was waited for.
    has_ended: bool,
}

#[derive(Clone, Copy)]
pub struct Deadline<'s> {
    pub limit: Duration,
    /// Set when the run is stopped.
    pub stop: &'s AtomicBool,
    /// The remaining wait after a stop.
    pub(crate) grace: Duration,
}

impl<'s> Deadline<'s> {
    pub fn until(limit: Duration, stop: &'s AtomicBool) -> Self {
        Self {
            limit,
            stop,
            grace: Duration::ZERO,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestOutcome<R> {
    Response(R),
    Lost(Outcome),
    Stopped,
}

impl<R> RequestOutcome<R> {
    pub(crate) fn map<T>(self, convert: impl FnOnce(R) -> T) -> RequestOutcome<T> {
        match self {
            Self::Response(response) => RequestOutcome::Response(convert(response)),
            Self::Lost(outcome) => RequestOutcome::Lost(outcome),
            Self::Stopped => RequestOutcome::Stopped,
        }
    }
}

pub(crate) type OnWait<'m> = dyn FnMut(WaitRequest) -> bool + 'm;

impl Agent {
    pub(crate) fn start(command: &AgentCommand) -> Result<Self, RunnerError> {
        let progress = memfd_create("writebench-progress", MemfdFlags::CLOEXEC)
            .map_err(failed("memfd_create"))?;
        let barrier = command
            .has_barrier
            .then(BarrierServer::new)
            .transpose()
            .map_err(failed("socketpair"))?;
        let (barrier, inherited) = barrier.unzip();
        let argument = inherited
            .as_ref()
            .map(|socket| format!("--barrier={}", socket.as_raw_fd()));
        // Only this agent inherits it.
        fcntl_setfd(&progress, FdFlags::empty()).map_err(failed("fcntl(F_SETFD)"))?;
        let spawned = Command::new(&command.program)
            .args(&command.arguments)
            .args(argument)
            .arg(progress.as_raw_fd().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A separate group protects the agent from the terminal's interrupt, and makes it possible to
            // kill all of its processes.
            .process_group(0)
            .spawn();
        let kept = fcntl_setfd(&progress, FdFlags::CLOEXEC);
        let mut child = spawned.map_err(failed("start"))?;
        drop(inherited);
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let (sender, replies) = channel();
        let requests = child.stdin.take();
        let nonblocking = requests.as_ref().map_or(Ok(()), never_wait);
        // From here on, an early return kills the agent.
        let stalls = StallTracker::for_process(child.id());
        let progress = ProgressRecord(progress);
        let mut agent = Self {
            child,
            requests,
            replies,
            last_words: None,
            progress,
            barrier,
            stalls,
            has_ended: false,
        };
        kept.map_err(failed("fcntl(F_SETFD)"))?;
        nonblocking.map_err(failed("fcntl(F_SETFL)"))?;
        let listen = move || lines(stdout).try_for_each(|line| sender.send(line));
        let last_words = move || lines(stderr).last().unwrap_or_default();
        Builder::new()
            .spawn(listen)
            .map_err(failed("start a thread for its output"))?;
        let last_words = Builder::new().spawn(last_words);
        agent.last_words = Some(last_words.map_err(failed("start a thread for its output"))?);
        Ok(agent)
    }

    /// The deadline is suspended while the agent waits for other ranks.
    pub(crate) fn ask<R: DeserializeOwned>(
        &mut self,
        request: &impl Serialize,
        wait: Deadline<'_>,
        mut on_wait: Option<&mut OnWait<'_>>,
    ) -> Result<RequestOutcome<R>, RunnerError> {
        let line = serde_json::to_string(request)
            .map_err(|error| RunnerError::Protocol(error.to_string()))?
            + "\n";
        self.stalls.begin();
        let start = Instant::now();
        let mut unsent = line.as_bytes();
        let mut limit = wait.limit;
        let mut is_stopped = false;
        loop {
            limit += self.stalls.beat();
            if !is_stopped && wait.stop.load(Ordering::Relaxed) {
                is_stopped = true;
                if wait.grace.is_zero() {
                    self.kill();
                    return Ok(RequestOutcome::Stopped);
                }
                limit = limit.min(start.elapsed() + wait.grace);
            }
            if start.elapsed() >= limit {
                return Ok(RequestOutcome::Lost(self.time_out(wait.limit)));
            }
            if !unsent.is_empty() {
                unsent = self.send(unsent);
                continue;
            }
            if let Some(waited) = self.wait_at_barrier(&mut on_wait) {
                limit += waited;
                continue;
            }
            // An agent at barriers answers after the last of them, unless it dies.
            let patience = if on_wait.is_some() {
                Duration::ZERO
            } else {
                StallTracker::BEAT
            };
            match self.replies.recv_timeout(patience) {
                Ok(reply) => {
                    self.stalls.inspect();
                    return parse_response(&reply).map(RequestOutcome::Response);
                }
                // Children may hold the output open. They are killed once the agent is dead.
                Err(RecvTimeoutError::Timeout) => _ = self.try_reap(),
                Err(RecvTimeoutError::Disconnected) if self.try_reap() => return self.died(),
                // The agent has closed its output. Its end can take longer if files close slowly.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    fn time_out(&mut self, limit: Duration) -> Outcome {
        let phase = self.progress.phase();
        self.kill();
        let limit_ns = nanoseconds(limit);
        Outcome::TimedOut { phase, limit_ns }
    }

    /// Lets an agent that has reached a barrier wait for the other ranks. Returns the time of that wait, which is not the
    /// agent's. After the last barrier, `on_wait` becomes none.
    fn wait_at_barrier(&mut self, on_wait: &mut Option<&mut OnWait<'_>>) -> Option<Duration> {
        let wait_for_others = on_wait.as_mut()?;
        let barrier = self.barrier.as_mut()?;
        let request = barrier.request(StallTracker::BEAT)?;
        let arrived = Instant::now();
        let all = wait_for_others(request);
        let waited = arrived.elapsed();
        self.stalls.reset();
        barrier.answer(all);
        if request.is_last || !all {
            *on_wait = None;
        }
        Some(waited)
    }

    /// Waits at most a beat, because an agent that hangs reads nothing, and a pipe takes 64 KiB without a reader.
    /// Returns the rest.
    fn send<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let Some(requests) = &mut self.requests else {
            return &[];
        };
        let beat = Timespec::try_from(StallTracker::BEAT).ok();
        let mut has_room = [PollFd::new(requests, PollFlags::OUT)];
        if !matches!(poll(&mut has_room, beat.as_ref()), Ok(1..)) {
            return line;
        }
        match requests.write(line) {
            Ok(written) => &line[written..],
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                line
            }
            // A dead agent is detected by its missing answer.
            Err(_) => &[],
        }
    }

    fn died<R>(&mut self) -> Result<RequestOutcome<R>, RunnerError> {
        let phase = self.progress.phase();
        let status = self.child.wait().map_err(failed("wait"))?;
        let last_words = self
            .last_words
            .take()
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default();
        let code = status
            .code()
            .map(|code| format!(" with exit code {code}"))
            .unwrap_or_default();
        let colon = if last_words.is_empty() { "" } else { ": " };
        let signal = status.signal();
        let detail = format!("{code}{colon}{last_words}");
        Ok(RequestOutcome::Lost(Outcome::WorkerDied {
            phase,
            signal,
            detail,
        }))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Reaps the process if it has ended. Returns whether it and its children have ended: a program's guard
    /// keeps the agent's error output open until the program's processes are dead.
    pub(crate) fn try_reap(&mut self) -> bool {
        if !self.has_ended {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            if matches!(
                waitid(WaitId::Pid(Pid::from_child(&self.child)), ended),
                Ok(None)
            ) {
                return false;
            }
            // The group's number can be reused only after the wait.
            self.kill_group();
            let _ = self.child.wait();
            self.has_ended = true;
        }
        self.last_words.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn kill_group(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    fn kill(&mut self) {
        if self.requests.take().is_none() {
            return;
        }
        if !self.has_ended {
            self.kill_group();
        }
        // An agent that hangs in the kernel ends when the kernel permits.
        let start = Instant::now();
        while start.elapsed() < KILL_WAIT && !self.try_reap() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if !self.try_reap() {
            self.kill();
        }
    }
}

/// This end of the pipe only: the agent's reads still wait.
fn never_wait(pipe: &ChildStdin) -> rustix::io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    fcntl_setfl(pipe, flags | OFlags::NONBLOCK)
}

fn failed<E: Into<io::Error>>(doing: &'static str) -> impl Fn(E) -> RunnerError {
    move |error| RunnerError::Agent {
        doing,
        error: error.into(),
    }
}

fn lines(pipe: Option<impl Read>) -> impl Iterator<Item = String> {
    pipe.into_iter()
        .flat_map(|pipe| BufReader::new(pipe).lines())
        .map_while(Result::ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(script: &str) -> Agent {
        let arguments = ["-c", script].map(OsString::from).to_vec();
        Agent::start(&AgentCommand {
            program: "sh".into(),
            arguments,
            has_barrier: false,
        })
        .unwrap()
    }

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn outcome(script: &str, limit: Duration, request_bytes: usize) -> RequestOutcome<u64> {
        let request = "x".repeat(request_bytes);
        agent(script)
            .ask(&request, Deadline::until(limit, &NEVER), None)
            .unwrap()
    }

    #[test]
    fn a_request_larger_than_a_pipe_reaches_the_agent() {
        let counts = r#"read -r line; echo "{\"Ok\":${#line}}""#;
        let with_quotes = RequestOutcome::Response(1_000_002);
        assert_eq!(
            outcome(counts, Duration::from_secs(600), 1_000_000),
            with_quotes
        );
    }

    #[test]
    fn an_agent_that_reads_nothing_ends_at_its_deadline_however_large_the_request_is() {
        let limit = Duration::from_millis(50);
        for script in ["sleep 1000", "kill -STOP $$; sleep 1000"] {
            for bytes in [10, 1_000_000] {
                let outcome = outcome(script, limit, bytes);
                assert!(
                    matches!(outcome, RequestOutcome::Lost(Outcome::TimedOut { .. })),
                    "{outcome:?}"
                );
            }
        }
    }

    #[test]
    fn a_dead_agent_is_noticed_however_large_the_request_is() {
        for bytes in [10, 1_000_000] {
            let outcome = outcome("exit 3", Duration::from_secs(600), bytes);
            assert!(
                matches!(outcome, RequestOutcome::Lost(Outcome::WorkerDied { .. })),
                "{outcome:?}"
            );
        }
    }
}
