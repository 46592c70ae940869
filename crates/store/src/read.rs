//! Reading runs.

use std::collections::HashMap;

use rusqlite::OptionalExtension;
use writebench_model::{
    CaseOrigin, CaseRecord, FoldedRun, RecordedCase, RunRecord, RunStatus, TargetRecord, TooMuch,
};

use crate::{Store, StoreError, json, targets};

/// A run in the list of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    pub number: i64,
    pub label: Option<String>,
    pub started: String,
    pub status: String,
    /// The directories or the device, separated by commas.
    pub target: String,
    /// The suites in the order of their first cases, separated by spaces.
    pub suites: String,
    /// The number of different cases.
    pub cases: i64,
    /// The number of samples.
    pub samples: i64,
    pub is_search: bool,
}

/// The condition in SQL under which the run in a row of `runs` is a search.
pub(crate) fn is_search_in_sql() -> String {
    let suite = CaseOrigin::SEARCH;
    format!(
        "(run ->> '$.settings.search_bytes' IS NOT NULL
            OR EXISTS (SELECT 1 FROM cases WHERE run = number AND suite = '{suite}'))"
    )
}

impl Store {
    /// All runs, the newest last.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let select = format!(
            "SELECT number, started, status,
                (SELECT group_concat(name, ', ') FROM (
                    SELECT name FROM targets WHERE run = number ORDER BY position)),
                (SELECT group_concat(suite, ' ') FROM (
                    SELECT suite FROM cases WHERE run = number GROUP BY suite ORDER BY min(position))),
                (SELECT count(*) FROM (SELECT DISTINCT target, name FROM cases WHERE run = number)),
                (SELECT count(*) FROM samples WHERE run = number), label, {}
             FROM runs ORDER BY number",
            is_search_in_sql()
        );
        let mut runs = self.list("list runs", &select, [], |row| {
            Ok(RunSummary {
                number: row.get(0)?,
                started: row.get(1)?,
                status: row.get(2)?,
                target: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                suites: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
                cases: row.get(5)?,
                samples: row.get(6)?,
                label: row.get(7)?,
                is_search: row.get(8)?,
            })
        })?;
        for run in &mut runs {
            // A newer version's status is shown unchanged.
            if let Some(recorded) = RunStatus::from_name(&run.status) {
                self.status_now(run.number, recorded)?
                    .name()
                    .clone_into(&mut run.status);
            }
        }
        Ok(runs)
    }

    /// Whether there is a run with this id, which is unique across machines.
    pub fn has_run(&self, id: &str) -> Result<bool, StoreError> {
        self.value(
            "look for a run",
            "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)",
            [id],
        )
    }

    /// The number of the newest run.
    pub fn newest_run(&self) -> Result<Option<i64>, StoreError> {
        self.value("look for a run", "SELECT max(number) FROM runs", [])
    }

    /// Incomplete runs. Those that can be resumed unless they are in progress come first, and of those the newest first.
    /// Runs that never can be resumed are left out: searches, imported runs and runs whose filesystems are gone. A run
    /// without cases ended before its first sample.
    pub fn unfinished_runs(&self) -> Result<Vec<i64>, StoreError> {
        let select = format!(
            "SELECT number FROM runs
             WHERE status <> ?1 AND NOT imported AND NOT {}
                AND NOT EXISTS (SELECT 1 FROM targets WHERE run = number AND target ->> '$.made_filesystem' IS NOT NULL)
             ORDER BY EXISTS (SELECT 1 FROM cases WHERE run = number) DESC, number DESC",
            is_search_in_sql()
        );
        self.list(
            "look for an unfinished run",
            &select,
            [RunStatus::Complete.name()],
            |row| row.get(0),
        )
    }

    /// The numbers of the runs with a label, the newest last.
    pub fn runs_labelled(&self, label: &str) -> Result<Vec<i64>, StoreError> {
        let select = "SELECT number FROM runs WHERE label = ?1 ORDER BY number";
        self.list("look for a label", select, [label], |row| row.get(0))
    }

    /// A run with its targets, cases and samples.
    pub fn run(&self, number: i64) -> Result<RunRecord, StoreError> {
        let mut run = self
            .connection
            .query_row(
                "SELECT run, status FROM runs WHERE number = ?1",
                [number],
                run_from_row,
            )
            .optional()
            .map_err(self.failed("read the run"))?
            .ok_or_else(|| self.no_run(number))?;
        run.status = self.status_now(number, run.status)?;
        self.check_counts(number)?;
        (run.targets, run.missing) = targets::read(&self.connection, number)
            .map_err(self.failed("read the run's targets"))?;
        if run.targets.is_empty() {
            return Err(self.content(format!("run {number} has no target")));
        }
        run.cases = self.read_cases(number, &run.targets)?;
        run.check_size()
            .map_err(|too_much| self.content(format!("run {number}: {too_much}")))?;
        let mut run = FoldedRun::new(run);
        self.read_samples(number, &mut run)
            .map_err(self.failed("read the run's samples"))?;
        Ok(run.finish())
    }

    /// A database from elsewhere must not exhaust the memory.
    fn check_counts(&self, run: i64) -> Result<(), StoreError> {
        const COUNTING: &str = "count what the run has";
        let targets = "SELECT count(*) FROM targets WHERE run = ?1";
        let cases = "SELECT count(*) FROM cases WHERE run = ?1";
        let targets = self.value(COUNTING, targets, [run])?;
        let cases = self.value(COUNTING, cases, [run])?;
        TooMuch::check_counts(targets, cases)
            .map_err(|too_much| self.content(format!("run {run}: {too_much}")))
    }

    fn read_cases(
        &self,
        run: i64,
        targets: &[TargetRecord],
    ) -> Result<Vec<CaseRecord>, StoreError> {
        let select = "SELECT record, target FROM cases WHERE run = ?1 ORDER BY position";
        self.list("read the run's cases", select, [run], |row| {
            let mut record: CaseRecord = json::from_column(row, 0)?;
            record.case.resolve();
            let position: usize = row.get(1)?;
            let target = targets.get(position).ok_or_else(|| no_target(position))?;
            record.target.clone_from(&target.name);
            Ok(record)
        })
    }

    fn read_samples(&self, number: i64, run: &mut FoldedRun) -> rusqlite::Result<()> {
        // Both queries see the same state while a run adds to it.
        let transaction = self.connection.unchecked_transaction()?;
        // The index of the samples covers this query.
        let select = "SELECT count(*), coalesce(min(id), 0), coalesce(max(id), 0) FROM samples WHERE run = ?1";
        let (count, first, last): (i64, i64, i64) =
            transaction.query_row(select, [number], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        // Table order reads each page once. The index and a sort are faster for few samples among those of
        // other runs.
        let rows = if last.saturating_sub(first) / 4 > count {
            "WHERE run = ?1 AND +id BETWEEN ?2 AND ?3"
        } else {
            "NOT INDEXED WHERE run = ?1 AND id BETWEEN ?2 AND ?3"
        };
        let mut statement = transaction.prepare(&format!(
            "SELECT name, target, sample FROM samples {rows} ORDER BY id"
        ))?;
        let mut rows = statement.query([number, first, last])?;
        let RunRecord { cases, targets, .. } = run.so_far();
        let cases: HashMap<String, RecordedCase> = cases
            .iter()
            .map(|row| (row.case.name().to_owned(), row.case.clone()))
            .collect();
        let target_count = targets.len();
        while let Some(row) = rows.next()? {
            let target = row.get(1)?;
            let sample = json::from_column(row, 2)?;
            if target >= target_count {
                return Err(no_target(target));
            }
            if let Some(case) = cases.get(row.get_ref(0)?.as_str()?) {
                run.add_sample(target, case, sample);
            }
        }
        Ok(())
    }
}

fn no_target(position: usize) -> rusqlite::Error {
    json::unknown(1, format!("no target {position}"))
}

fn run_from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRecord> {
    let status = row.get_ref(1)?.as_str()?;
    let status = RunStatus::from_name(status)
        .ok_or_else(|| json::unknown(1, format!("unknown status '{status}'")))?;
    Ok(RunRecord {
        status,
        ..json::from_column(row, 0)?
    })
}
