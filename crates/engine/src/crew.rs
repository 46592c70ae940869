//! Threads that wait before the clock starts, one for each part, and take their steps together.

use std::sync::{Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use rustix::io::Errno;

use crate::call::{Call, CallError, Meaning};

/// EAGAIN at a limit on threads: pthread_create(3).
const PTHREAD_CREATE: Call = Call {
    name: "pthread_create",
    meanings: &[(Errno::AGAIN, Meaning::Limited("see pids.max of the control group, and ulimit -u"))],
};

type Step<S> = fn(&mut S) -> Result<(), CallError>;

/// Seats, one for each part, and the threads bound to them. A part's work is always done by its own
/// thread; with one part there is none, and the caller does it.
pub(crate) struct Crew<'env, S> {
    shared: &'env Shared<S>,
}

/// What the threads of a crew share; lives outside the scope of the threads.
pub(crate) struct Shared<S> {
    seats: Vec<Mutex<Place<S>>>,
    border: Barrier,
    step: Mutex<Option<Step<S>>>,
    // Whether all threads could be started; until that is known none goes to the border.
    complete: OnceLock<bool>,
}

struct Place<S> {
    seat: S,
    result: Result<(), CallError>,
}

impl<S: Send> Shared<S> {
    /// Places for these seats.
    pub(crate) fn new(seats: Vec<S>) -> Self {
        Self {
            border: Barrier::new(seats.len() + 1),
            seats: seats.into_iter().map(|seat| Mutex::new(Place { seat, result: Ok(()) })).collect(),
            step: Mutex::new(None),
            complete: OnceLock::new(),
        }
    }
}

impl<'env, S: Send> Crew<'env, S> {
    /// Starts a thread for each seat, where there are several, and waits until all are there.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'env Shared<S>,
    ) -> Result<Self, CallError> {
        if shared.seats.len() > 1 {
            let mut places = shared.seats.iter();
            let started =
                places.try_for_each(|place| start_thread(scope, move || attend(shared, place)).map(|_| ()));
            shared.complete.get_or_init(|| started.is_ok());
            started?;
            shared.border.wait();
        }
        Ok(Self { shared })
    }

    /// One step of all parts, side by side. The first error, by the order of the parts.
    pub(crate) fn together(&self, step: Step<S>) -> Result<(), CallError> {
        if self.shared.seats.len() == 1 {
            return self.first(step);
        }
        *lock(&self.shared.step) = Some(step);
        self.shared.border.wait();
        self.shared.border.wait();
        self.shared.seats.iter().try_for_each(|place| std::mem::replace(&mut lock(place).result, Ok(())))
    }

    /// A step of the first part alone, by the caller.
    pub(crate) fn first(&self, step: Step<S>) -> Result<(), CallError> {
        step(&mut lock(&self.shared.seats[0]).seat)
    }

    /// A step of each part, one after the other, by the caller.
    pub(crate) fn in_turn(
        &self,
        mut step: impl FnMut(&mut S) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        self.shared.seats.iter().try_for_each(|place| step(&mut lock(place).seat))
    }
}

impl<S> Drop for Crew<'_, S> {
    fn drop(&mut self) {
        if self.shared.seats.len() > 1 {
            *lock(&self.shared.step) = None;
            self.shared.border.wait();
        }
    }
}

/// A thread, or the error of the call that could not start it: a control group may have a limit on threads.
pub(crate) fn start_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, CallError> {
    Builder::new().spawn_scoped(scope, work).map_err(|error| CallError::of_io(PTHREAD_CREATE, &error))
}

fn attend<S>(shared: &Shared<S>, place: &Mutex<Place<S>>) {
    if !shared.complete.wait() {
        return;
    }
    shared.border.wait();
    loop {
        shared.border.wait();
        let Some(step) = *lock(&shared.step) else { return };
        {
            let mut place = lock(place);
            place.result = step(&mut place.seat);
        }
        shared.border.wait();
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
            let crew = Crew::start(scope, &shared).unwrap();
            for _ in 0..10 {
                crew.together(|seen| {
                    seen.push(current().id());
                    Ok(())
                })
                .unwrap();
            }
        });
        let mut ids = Vec::new();
        for seat in &shared.seats {
            let seen = &lock(seat).seat;
            assert!(seen.len() == 10 && seen.iter().all(|id| *id == seen[0]));
            assert!(!ids.contains(&seen[0]));
            ids.push(seen[0]);
        }
    }

    #[test]
    fn a_thread_that_cannot_be_started_says_which_limits_there_are() {
        let reason = CallError::new(PTHREAD_CREATE, Errno::AGAIN).reason();
        let expected = "pthread_create: Resource temporarily unavailable: see pids.max of the control group, and ulimit \
                        -u (11)";
        assert_eq!(reason, expected);
    }

    #[test]
    fn one_part_is_the_callers() {
        let shared = Shared::new(vec![None]);
        std::thread::scope(|scope| {
            let crew = Crew::start(scope, &shared).unwrap();
            crew.together(|seen| {
                *seen = Some(current().id());
                Ok(())
            })
            .unwrap();
        });
        assert_eq!(lock(&shared.seats[0]).seat, Some(current().id()));
    }
}
