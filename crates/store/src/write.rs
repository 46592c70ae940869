//! What a run puts into the database.

use rusqlite::params;
use writebench_model::{CaseRecord, Outcome, ReadFrom, RunRecord, Sample};

use crate::{Store, StoreError, targets};

impl Store {
    /// Records a run and its cases before the first sample. Returns the run's number. The run is under way, for all
    /// who look, until this store is closed.
    ///
    /// # Errors
    /// The run is too large, or the database cannot be written.
    pub fn begin_run(&mut self, run: &RunRecord) -> Result<i64, StoreError> {
        run.check_size().map_err(|source| StoreError::TooLarge { source })?;
        let failed = self.failed("record the run");
        let transaction = self.connection.unchecked_transaction().map_err(&failed)?;
        let number = insert_rows(&transaction, run, false).map_err(&failed)?;
        // Before anybody sees it: there is no moment at which it seems to have ended.
        self.hold_run(number)?;
        transaction.commit().map_err(&failed)?;
        self.check_in_place()?;
        Ok(number)
    }

    /// Commits a sample of the case with that name on the run's target of that place.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn add_sample(&self, run: i64, target: usize, name: &str, sample: &Sample) -> Result<(), StoreError> {
        self.check_in_place()?;
        insert_sample(&self.connection, run, target, name, sample).map_err(self.failed("record a sample"))
    }

    /// Adds rows to the tables of a run.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn add_cases(&self, run: i64, cases: &[CaseRecord]) -> Result<(), StoreError> {
        self.check_in_place()?;
        let added = append_cases(&self.connection, run, cases);
        added.map_err(self.failed("record cases"))
    }
}

/// A run with its targets and the rows of its tables, without samples.
pub(crate) fn insert_rows(
    connection: &rusqlite::Connection,
    run: &RunRecord,
    imported: bool,
) -> rusqlite::Result<i64> {
    connection.execute(
        "INSERT INTO runs (id, status, started, version, arguments, settings, label, imported)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            run.id,
            run.status.name(),
            run.started,
            run.version,
            json(&run.arguments)?,
            json(&run.settings)?,
            run.label,
            imported,
        ],
    )?;
    let number = connection.last_insert_rowid();
    targets::insert(connection, number, &run.targets, &run.missing)?;
    for (position, case) in (0i64..).zip(&run.cases) {
        insert_case(connection, number, position, case)?;
    }
    Ok(number)
}

fn append_cases(connection: &rusqlite::Connection, run: i64, cases: &[CaseRecord]) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    let next = "SELECT coalesce(max(position), -1) + 1 FROM cases WHERE run = ?1";
    let first: i64 = transaction.query_row(next, [run], |row| row.get(0))?;
    for (position, case) in (first..).zip(cases) {
        insert_case(&transaction, run, position, case)?;
    }
    transaction.commit()
}

fn insert_case(
    connection: &rusqlite::Connection,
    run: i64,
    position: i64,
    case: &CaseRecord,
) -> rusqlite::Result<()> {
    let axes = json(&case.axes)?;
    let contract = json(&case.contract)?;
    connection.execute(
        "INSERT INTO cases (run, position, suite, section, label, name, method, axes, contract, target)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
            (SELECT position FROM targets WHERE run = ?1 AND name = ?10))",
        params![
            run,
            position,
            case.suite,
            case.section,
            case.label,
            case.case,
            case.method,
            axes,
            contract,
            case.target
        ],
    )?;
    Ok(())
}

pub(crate) fn insert_sample(
    connection: &rusqlite::Connection,
    run: i64,
    target: usize,
    name: &str,
    sample: &Sample,
) -> rusqlite::Result<()> {
    let cause = match &sample.outcome {
        Outcome::Ok => None,
        cause => Some(json(cause)?),
    };
    let phases = &sample.phases_ns;
    connection
        .prepare_cached(
            "INSERT INTO samples (run, name, round, outcome, cause, prepare_ns, open_ns, write_ns, sync_ns,
                close_ns, bytes, user_cpu_ns, system_cpu_ns, page_faults, context_switches, device_bytes,
                probe_before_ns, probe_after_ns, steal_ns, settle_ns, disturbed, latency,
                watch, timeline, target, read_back, read_back_bytes, read_back_from)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
                ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)",
        )?
        .execute(params![
            run,
            name,
            sample.round,
            sample.outcome.name(),
            cause,
            integer(phases.prepare),
            integer(phases.open),
            integer(phases.write),
            integer(phases.sync),
            integer(phases.close),
            integer(sample.bytes),
            integer(sample.user_cpu_ns),
            integer(sample.system_cpu_ns),
            integer(sample.page_faults),
            integer(sample.context_switches),
            sample.device_bytes.map(integer),
            integer(sample.probe_ns[0]),
            integer(sample.probe_ns[1]),
            integer(sample.steal_ns),
            integer(sample.settle_ns),
            sample.disturbed,
            sample.latency.as_ref().map(json).transpose()?,
            json(&sample.watch)?,
            sample.timeline.as_ref().map(json).transpose()?,
            target,
            sample.read_back.map(|it| it.extent.name()),
            sample.read_back.map(|it| integer(it.bytes)),
            sample.read_back.and_then(|it| it.from).map(ReadFrom::name),
        ])?;
    Ok(())
}

/// SQLite's integers are signed; 292 years of nanoseconds fit.
fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
