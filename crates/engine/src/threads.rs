//! One thread per region: they start before the clock and take their steps together.

use std::sync::{Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use rustix::io::Errno;

use crate::call::{Call, CallError, Result};

/// EAGAIN at a limit on threads: pthread_create(3).
pub(crate) const PTHREAD_CREATE: Call = Call {
    name: "pthread_create",
    lacks: &[],
    advice: &[(
        Errno::AGAIN,
        "see pids.max of the control group, and ulimit -u",
    )],
};

/// What each thread does with its state between two barriers.
pub(crate) type Step<S> = fn(&mut S) -> Result<()>;

/// The running threads. For a single region there is none, and the caller does its work.
pub(crate) struct Threads<'env, S> {
    shared: &'env Shared<S>,
}

/// What the threads have in common, and the state of each.
pub(crate) struct Shared<S> {
    states: Vec<Mutex<Slot<S>>>,
    barrier: Barrier,
    step: Mutex<Option<Step<S>>>,
    /// Whether all threads have started. Until this is known no thread waits at the barrier.
    complete: OnceLock<bool>,
}

struct Slot<S> {
    state: S,
    result: Result<()>,
}

impl<S: Send> Shared<S> {
    pub(crate) fn new(states: Vec<S>) -> Self {
        Self {
            barrier: Barrier::new(states.len() + 1),
            states: states
                .into_iter()
                .map(|state| {
                    Mutex::new(Slot {
                        state,
                        result: Ok(()),
                    })
                })
                .collect(),
            step: Mutex::new(None),
            complete: OnceLock::new(),
        }
    }
}

impl<'env, S: Send> Threads<'env, S> {
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'env Shared<S>,
    ) -> Result<Self> {
        if shared.states.len() > 1 {
            let started = shared.states.iter().try_for_each(|slot| {
                start_thread(scope, move || take_steps(shared, slot)).map(|_| ())
            });
            shared.complete.get_or_init(|| started.is_ok());
            started?;
            shared.barrier.wait();
        }
        Ok(Self { shared })
    }

    /// Takes the step for all regions at once, each in its own thread. Returns the first error, by the order of the
    /// regions.
    pub(crate) fn together(&self, step: Step<S>) -> Result<()> {
        if self.shared.states.len() == 1 {
            return self.first(step);
        }
        *lock(&self.shared.step) = Some(step);
        self.shared.barrier.wait();
        self.shared.barrier.wait();
        self.shared
            .states
            .iter()
            .try_for_each(|slot| std::mem::replace(&mut lock(slot).result, Ok(())))
    }

    /// Takes the step for the first region only.
    pub(crate) fn first(&self, step: Step<S>) -> Result<()> {
        step(&mut lock(&self.shared.states[0]).state)
    }

    /// Takes the step for each region, or for the first one if that does the work of all.
    pub(crate) fn together_or_first(&self, each: bool, step: Step<S>) -> Result<()> {
        if each {
            self.together(step)
        } else {
            self.first(step)
        }
    }

    /// Takes the step for one region after the other, in the caller's thread.
    pub(crate) fn in_turn(&self, mut step: impl FnMut(&mut S) -> Result<()>) -> Result<()> {
        self.shared
            .states
            .iter()
            .try_for_each(|slot| step(&mut lock(slot).state))
    }
}

impl<S> Drop for Threads<'_, S> {
    fn drop(&mut self) {
        if self.shared.states.len() > 1 {
            *lock(&self.shared.step) = None;
            self.shared.barrier.wait();
        }
    }
}

/// Starts a thread, which may fail because a control group limits threads.
pub(crate) fn start_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new()
        .spawn_scoped(scope, work)
        .map_err(|error| CallError::from_io(PTHREAD_CREATE, &error))
}

/// The work of a thread: one step after the other, until there is none.
fn take_steps<S>(shared: &Shared<S>, slot: &Mutex<Slot<S>>) {
    if !shared.complete.wait() {
        return;
    }
    shared.barrier.wait();
    loop {
        shared.barrier.wait();
        let Some(step) = *lock(&shared.step) else {
            return;
        };
        {
            let mut slot = lock(slot);
            slot.result = step(&mut slot.state);
        }
        shared.barrier.wait();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::{ThreadId, current};

    #[test]
    fn each_part_keeps_its_own_thread() {
        let shared = Shared::new(vec![Vec::<ThreadId>::new(); 4]);
        std::thread::scope(|scope| {
            let threads = Threads::start(scope, &shared).unwrap();
            for _ in 0..10 {
                threads
                    .together(|seen| {
                        seen.push(current().id());
                        Ok(())
                    })
                    .unwrap();
            }
        });
        let mut ids = Vec::new();
        for state in &shared.states {
            let seen = &lock(state).state;
            assert!(seen.len() == 10 && seen.iter().all(|id| *id == seen[0]));
            assert!(!ids.contains(&seen[0]));
            ids.push(seen[0]);
        }
    }

    #[test]
    fn a_thread_that_cannot_be_started_names_the_limits() {
        let reason = CallError::new(PTHREAD_CREATE, Errno::AGAIN).reason();
        let expected = "pthread_create: Resource temporarily unavailable: see pids.max of the control group, and ulimit \
                        -u (11)";
        assert_eq!(reason, expected);
    }

    #[test]
    fn a_single_part_runs_in_the_callers_thread() {
        let shared = Shared::new(vec![None]);
        std::thread::scope(|scope| {
            let threads = Threads::start(scope, &shared).unwrap();
            threads
                .together(|seen| {
                    *seen = Some(current().id());
                    Ok(())
                })
                .unwrap();
        });
        assert_eq!(lock(&shared.states[0]).state, Some(current().id()));
    }
}
