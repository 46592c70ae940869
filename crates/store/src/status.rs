//! Whether a run is in progress, has ended or was interrupted.

use std::io;

use writebench_model::RunStatus;

use crate::{Store, StoreError, run_locks};

impl Store {
    /// Claims a run until this store is closed. Returns false if the run is in progress elsewhere.
    pub fn hold_run(&self, run: i64) -> Result<bool, StoreError> {
        let mut locks = self.locks.borrow_mut();
        let file = match locks.take() {
            Some(file) if run_locks::is_in_place(&file, &self.real) => file,
            // Other programs do not see the locks of a removed file.
            _ => run_locks::open(&self.real).map_err(self.lock_failed())?,
        };
        run_locks::try_lock(locks.insert(file), run).map_err(self.lock_failed())
    }

    /// Whether a run is in progress in another process or store.
    pub fn is_under_way_elsewhere(&self, run: i64) -> Result<bool, StoreError> {
        match &*self.locks.borrow() {
            Some(file) => run_locks::is_locked(file, run).map_err(self.lock_failed()),
            None => self.is_under_way(run),
        }
    }

    fn is_under_way(&self, run: i64) -> Result<bool, StoreError> {
        match run_locks::open_to_test(&self.real).map_err(self.lock_failed())? {
            Some(file) => run_locks::is_locked(&file, run).map_err(self.lock_failed()),
            None => Ok(false),
        }
    }

    pub(crate) fn lock_failed(&self) -> impl Fn(io::Error) -> StoreError + '_ {
        |error| StoreError::Lock {
            path: self.path.clone(),
            error,
        }
    }

    /// Whether a run was imported. Its information about files and targets is not trusted.
    pub fn is_imported(&self, run: i64) -> Result<bool, StoreError> {
        self.value(
            "look at the run",
            "SELECT imported FROM runs WHERE number = ?1",
            [run],
        )
    }

    /// The status of a run by its record and its lock. Without a lock and a recorded end, a run is interrupted.
    pub(crate) fn status_now(
        &self,
        run: i64,
        recorded: RunStatus,
    ) -> Result<RunStatus, StoreError> {
        if recorded != RunStatus::Running || self.is_under_way(run)? {
            return Ok(recorded);
        }
        // A run releases its lock after recording its status, so it may have ended normally since.
        let status: String = self.value(
            "look at the run",
            "SELECT status FROM runs WHERE number = ?1",
            [run],
        )?;
        let ended = RunStatus::from_name(&status).filter(|status| *status != RunStatus::Running);
        Ok(ended.unwrap_or(RunStatus::Interrupted))
    }
}
