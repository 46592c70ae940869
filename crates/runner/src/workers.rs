//! Workers, the agents that take samples: one after the other, and the files of dead ones.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use writebench_model::protocol::AgentRequest;

use crate::agent::{Agent, AgentCommand, Deadline, OnWait, RequestOutcome};
use crate::communicator::Coordinator;
use crate::error::RunnerError;

/// One worker at a time: started for a request, and abandoned if it does not answer.
pub struct Workers<'w> {
    command: &'w AgentCommand,
    stop: &'w AtomicBool,
    pub(crate) lost_workers: &'w mut LostWorkers,
    at_work: Option<Agent>,
    pub(crate) coordinator: Option<&'w mut dyn Coordinator>,
}

impl<'w> Workers<'w> {
    pub fn new(
        command: &'w AgentCommand,
        stop: &'w AtomicBool,
        lost_workers: &'w mut LostWorkers,
    ) -> Self {
        Self {
            command,
            stop,
            lost_workers,
            at_work: None,
            coordinator: None,
        }
    }

    /// The workers of a run whose first rank leads the others through this coordinator.
    pub fn leading(self, coordinator: Option<&'w mut dyn Coordinator>) -> Self {
        Self {
            coordinator,
            ..self
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn cpu_stats(&mut self) -> Result<Vec<String>, RunnerError> {
        Ok(self.at_work()?.stalls.cpu_stats())
    }

    /// The delay of the last sample.
    pub(crate) fn stall_reason(&self) -> Option<String> {
        self.at_work
            .as_ref()
            .and_then(|worker| worker.stalls.reason())
    }

    pub(crate) fn at_work(&mut self) -> Result<&mut Agent, RunnerError> {
        Ok(match &mut self.at_work {
            Some(worker) => worker,
            none => none.insert(Agent::start(self.command)?),
        })
    }

    /// Waits at most `limit`. `on_wait` waits for the other ranks. A hung or dead worker is not an error.
    pub(crate) fn ask<R: DeserializeOwned>(
        &mut self,
        target: usize,
        request: &AgentRequest,
        limit: Duration,
        on_wait: Option<&mut OnWait<'_>>,
    ) -> Result<RequestOutcome<R>, RunnerError> {
        if self.is_stopped() {
            return Ok(RequestOutcome::Stopped);
        }
        let deadline = Deadline::until(limit, self.stop);
        let answer = self.at_work()?.ask(request, deadline, on_wait)?;
        if !matches!(answer, RequestOutcome::Response(_))
            && let Some(worker) = self.at_work.take()
        {
            self.lost_workers.add(target, worker);
        }
        Ok(answer)
    }
}

/// Workers that hang in the kernel with an open file, and targets with leftover files.
#[derive(Default)]
pub struct LostWorkers {
    hung: Vec<(usize, Agent)>,
    /// Other ranks' workers may also have left files there.
    pub(crate) unclean: BTreeSet<usize>,
}

impl LostWorkers {
    fn add(&mut self, target: usize, mut worker: Agent) {
        self.unclean.insert(target);
        if !worker.try_reap() {
            self.hung.push((target, worker));
        }
    }

    /// A new name for files after each hung worker.
    pub(crate) fn file_stem(&self, stem: &str) -> String {
        match self.hung.len() {
            0 => stem.to_owned(),
            hung => format!("{stem}-after-{hung}"),
        }
    }

    /// Whether the next worker must remove files in a target. While a worker hangs there, the files remain,
    /// because removing the one in use would also hang.
    pub(crate) fn has_files_in(&self, target: usize) -> bool {
        self.unclean.contains(&target) && !self.hangs_in(target)
    }

    pub fn reap(&mut self) {
        self.hung.retain_mut(|(_, worker)| !worker.try_reap());
    }

    pub fn hangs_in(&self, target: usize) -> bool {
        self.hung.iter().any(|(of, _)| *of == target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process_group};
    use writebench_model::Outcome;
    use writebench_model::protocol::{LimitRequest, LimitedHardware, MeasuredLimits};

    /// The worker is a shell command. The progress record's number becomes its `$0`.
    fn ask(
        line: &str,
        limit: Duration,
        stop: bool,
    ) -> Result<RequestOutcome<MeasuredLimits>, RunnerError> {
        let command = AgentCommand {
            program: "sh".into(),
            arguments: vec!["-c".into(), line.into()],
            has_barrier: false,
        };
        let request = LimitRequest {
            hardware: LimitedHardware::Memory {
                threads: 1,
                bytes: 1,
            },
            target: 0,
            time_ns: 1,
        };
        let stop = AtomicBool::new(stop);
        let mut lost_workers = LostWorkers::default();
        Workers::new(&command, &stop, &mut lost_workers).ask(
            0,
            &AgentRequest::Limits(request),
            limit,
            None,
        )
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_hung_or_dead_worker_is_an_outcome_with_a_reason() {
        let RequestOutcome::Lost(hung) =
            ask("sleep 60", Duration::from_millis(200), false).unwrap()
        else {
            panic!("it hung")
        };
        assert!(
            hung.reason().unwrap().starts_with("killed after 200ms"),
            "{hung:?}"
        );
        let RequestOutcome::Lost(dead) = ask("read it; kill -9 $$", LONG, false).unwrap() else {
            panic!("it died")
        };
        assert!(
            matches!(
                dead,
                Outcome::WorkerDied {
                    signal: Some(9),
                    ..
                }
            ),
            "{dead:?}"
        );
    }

    #[test]
    fn the_files_of_a_hung_worker_are_removed_after_its_end() {
        let arguments = vec!["-c".into(), "sleep 60".into()];
        let command = AgentCommand {
            program: "sh".into(),
            arguments,
            has_barrier: false,
        };
        let worker = Agent::start(&command).unwrap();
        let process = Pid::from_raw(i32::try_from(worker.id()).unwrap()).unwrap();
        let mut lost_workers = LostWorkers::default();
        lost_workers.add(0, worker);
        assert!(!lost_workers.has_files_in(0) && lost_workers.hangs_in(0));
        kill_process_group(process, Signal::KILL).unwrap();
        while lost_workers.hangs_in(0) {
            std::thread::sleep(Duration::from_millis(1));
            lost_workers.reap();
        }
        assert!(lost_workers.has_files_in(0));
    }

    #[test]
    fn a_dying_worker_takes_its_group_with_it() {
        let line = "sleep 60 & echo $! >&2; read it; kill -9 $$";
        let RequestOutcome::Lost(Outcome::WorkerDied { detail, .. }) =
            ask(line, LONG, false).unwrap()
        else {
            panic!("it died")
        };
        let child = Pid::from_raw(detail.trim_start_matches(": ").parse().unwrap()).unwrap();
        // It dies when it is next scheduled, and its new parent may not have waited for it yet.
        let file = format!("/proc/{}/stat", child.as_raw_nonzero());
        let stat = || std::fs::read_to_string(&file).unwrap_or_default();
        let is_dead = || stat().is_empty() || stat().contains(") Z ");
        let end = std::time::Instant::now() + LONG / 6;
        while !is_dead() && std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(is_dead(), "{}", stat());
    }

    #[test]
    fn a_refusal_is_an_error_but_a_stop_is_not() {
        assert_eq!(
            ask("sleep 60", LONG, true).unwrap(),
            RequestOutcome::Stopped
        );
        let refused = ask(
            r#"read it; echo '{"Err":{"told":"a device"}}'"#,
            LONG,
            false,
        );
        assert_eq!(refused.unwrap_err().to_string(), "a device");
    }
}
