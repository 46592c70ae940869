//! Recording runs, cases and samples.

use rusqlite::{Connection, ToSql, params};
use writebench_model::{CaseRecord, RunEvent, RunRecord, Sample};

use crate::{Store, StoreError, json, targets};

impl Store {
    /// Records a run and its rows before the first sample, and returns its number. The run is in progress
    /// until this store is closed.
    pub fn begin_run(&mut self, run: &RunRecord) -> Result<i64, StoreError> {
        run.check_size()
            .map_err(|error| StoreError::TooLarge { error })?;
        let failed = self.failed("record the run");
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        let number = insert_run(&transaction, run, false).map_err(&failed)?;
        // The lock must come before the commit. Between them a reader would see a run without a lock as ended.
        self.hold_run(number)?;
        transaction.commit().map_err(&failed)?;
        self.check_in_place()?;
        Ok(number)
    }

    /// Records an event of a run, which is committed at once. The run is in progress until this store is closed.
    pub fn record(&self, run: i64, event: &RunEvent) -> Result<(), StoreError> {
        self.check_in_place()?;
        // The lock's file may have been removed, and another program may have claimed the run since.
        if !self.hold_run(run)? {
            return Err(self.under_way(run));
        }
        write(&self.connection, run, event).map_err(self.failed("record the run"))
    }

    /// Imports all of these runs with their samples, or none. Returns their numbers. The runs are marked, because their
    /// information about files and targets is not trusted.
    pub fn import_runs(&mut self, runs: &[RunRecord]) -> Result<Vec<i64>, StoreError> {
        for run in runs {
            run.check_size()
                .map_err(|error| StoreError::TooLarge { error })?;
        }
        import(&self.connection, runs).map_err(self.failed("import runs"))
    }
}

fn import(connection: &Connection, runs: &[RunRecord]) -> rusqlite::Result<Vec<i64>> {
    let transaction = connection.unchecked_transaction()?;
    let mut numbers = Vec::new();
    for run in runs {
        let number = insert_run(&transaction, &run.beginning(), true)?;
        let rows: Vec<&CaseRecord> = run.cases.iter().collect();
        for event in run.events(&rows) {
            write(&transaction, number, &event)?;
        }
        numbers.push(number);
    }
    transaction.commit()?;
    Ok(numbers)
}

/// Inserts a run with its targets and cases, but without samples.
fn insert_run(connection: &Connection, run: &RunRecord, imported: bool) -> rusqlite::Result<i64> {
    let insert = "INSERT INTO runs (status, imported, run) VALUES (?1, ?2, ?3)";
    connection.execute(
        insert,
        params![run.status.name(), imported, json::to_text(run)?],
    )?;
    let number = connection.last_insert_rowid();
    targets::insert(connection, number, run)?;
    for row in &run.cases {
        insert_row(connection, number, row)?;
    }
    Ok(number)
}

fn write(connection: &Connection, run: i64, event: &RunEvent) -> rusqlite::Result<()> {
    match event {
        RunEvent::Row(row) => insert_row(connection, run, row),
        RunEvent::Sample {
            target,
            case,
            sample,
        } => insert_sample(connection, run, *target, case.name(), sample),
        RunEvent::Limits { target, limits } => {
            let update = "UPDATE targets SET target = json_set(target, '$.limits', json(?3))
                 WHERE run = ?1 AND position = ?2";
            execute(
                connection,
                update,
                params![run, target, json::to_text(limits)?],
            )
        }
        RunEvent::Cluster(cluster) => {
            let update =
                "UPDATE runs SET run = json_set(run, '$.cluster', json(?2)) WHERE number = ?1";
            execute(connection, update, params![run, json::to_text(cluster)?])
        }
        RunEvent::Decisions(decisions) => {
            let update =
                "UPDATE runs SET run = json_set(run, '$.decisions', json(?2)) WHERE number = ?1";
            execute(connection, update, params![run, json::to_text(decisions)?])
        }
        RunEvent::Totals {
            written_bytes,
            cpu_wait_ppm,
        } => {
            let update =
                "UPDATE runs SET run = json_set(run, '$.written_bytes', json(?2), '$.cpu_wait_ppm', ?3)
                 WHERE number = ?1";
            execute(
                connection,
                update,
                params![run, written_bytes.to_string(), cpu_wait_ppm],
            )
        }
        RunEvent::Status(status) => execute(
            connection,
            "UPDATE runs SET status = ?2 WHERE number = ?1",
            params![run, status.name()],
        ),
    }
}

fn execute(connection: &Connection, update: &str, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
    connection.execute(update, values)?;
    Ok(())
}

fn insert_row(connection: &Connection, run: i64, row: &CaseRecord) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO cases (run, position, name, suite, record, target)
             VALUES (?1, (SELECT coalesce(max(position), -1) + 1 FROM cases WHERE run = ?1), ?2, ?3, ?4,
                (SELECT position FROM targets WHERE run = ?1 AND name = ?5))",
        )?
        .execute(params![run, row.case.name(), row.origin.suite(), json::to_text(&row.without_samples())?, row.target])?;
    Ok(())
}

fn insert_sample(
    connection: &Connection,
    run: i64,
    target: usize,
    name: &str,
    sample: &Sample,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO samples (run, target, name, sample) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![run, target, name, json::to_text(sample)?])?;
    Ok(())
}
