//! The time limit of a step. A step that hangs is killed, and its record says which processes still ran.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use writebench_testkit::{entries, send};

const NAME: &str = "WRITEBENCH_STEP";

const MOST_WAIT: Duration = Duration::from_secs(10);

/// A variable in the environment of a step, which its processes inherit. A process that a test leaves behind has another
/// parent and another process group, but it still has this variable.
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn of(step: &str) -> Self {
        Self(format!("{step}-{}", std::process::id()))
    }

    pub(super) fn put_on<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env(NAME, &self.0)
    }

    fn processes(&self) -> Vec<u32> {
        let variable = format!("{NAME}={}", self.0);
        let mut processes: Vec<u32> = entries(Path::new("/proc"))
            .iter()
            .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
            .filter(|process| has_variable(*process, &variable))
            .collect();
        processes.sort_unstable();
        processes
    }
}

fn has_variable(process: u32, variable: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment
        .split(|&byte| byte == 0)
        .any(|found| found == variable.as_bytes())
}

/// Watches a step from its start until [`Watch::end`].
pub(super) struct Watch {
    ended: Sender<()>,
    watcher: JoinHandle<Option<String>>,
}

impl Watch {
    /// Watches a step, which may run for ever if there is no limit.
    pub(super) fn start(mark: Mark, limit: Option<Duration>) -> Self {
        let (ended, wait) = channel();
        let watcher = std::thread::spawn(move || {
            let has_hung = wait.recv_timeout(limit?) == Err(RecvTimeoutError::Timeout);
            has_hung.then(|| kill_all(&mark))
        });
        Self { ended, watcher }
    }

    /// Returns what still ran, if the limit ended the step.
    pub(super) fn end(self) -> Option<String> {
        // The watcher has ended if the step was killed.
        let _ = self.ended.send(());
        self.watcher.join().unwrap_or_default()
    }
}

/// Kills the processes of a step, until no more come. Returns those that ran at first.
fn kill_all(mark: &Mark) -> String {
    let mut processes = mark.processes();
    let lines: Vec<_> = processes.iter().map(|&process| line(process)).collect();
    // A process that the kernel keeps, such as one that waits for a dead disk, must not keep this one also.
    let start = Instant::now();
    while !processes.is_empty() && start.elapsed() < MOST_WAIT {
        for &process in &processes {
            // It may have ended in between.
            let _ = send(process, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(50));
        processes = mark.processes();
    }
    format!("These processes still ran:\n{}", lines.join("\n"))
}

/// The number of a process, what its first thread waits for in the kernel, and its command.
fn line(process: u32) -> String {
    let read = |name: &str| std::fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
    let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
    let waits = String::from_utf8_lossy(&read("wchan")).into_owned();
    let parent = String::from_utf8_lossy(&read("stat"))
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.split(' ').nth(1).map(str::to_owned))
        .unwrap_or_default();
    let command: String = command.trim_end().chars().take(200).collect();
    format!("{process:>8} (of {parent}, in {waits}) {command}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;
    use writebench_testkit::wait_for;

    #[test]
    fn a_killed_step_leaves_no_process_and_names_those_it_had() {
        let mark = Mark::of("hangs");
        let mut command = Command::new("sh");
        // The second one leaves the session, and its parent ends.
        command.args(["-c", "sleep 6001 & sh -c 'setsid sleep 6002 &'; wait"]);
        let mut child = mark
            .put_on(&mut command)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let sleeping = |mark: &Mark| {
            let lines: Vec<_> = mark.processes().into_iter().map(line).collect();
            (lines
                .iter()
                .filter(|line| line.contains(") sleep 600"))
                .count()
                == 2)
                .then_some(())
        };
        wait_for("both sleeps", || sleeping(&mark)).unwrap();
        let left = kill_all(&mark);
        assert!(
            left.contains(") sleep 6001") && left.contains(") sleep 6002"),
            "{left}"
        );
        assert!(!child.wait().unwrap().success());
        assert_eq!(mark.processes(), [0; 0]);
    }

    #[test]
    fn a_step_that_ends_within_its_limit_is_not_killed() {
        let limit = Some(Duration::from_secs(3600));
        assert_eq!(Watch::start(Mark::of("ends"), limit).end(), None);
        assert_eq!(Watch::start(Mark::of("ends"), None).end(), None);
    }
}
