//! What a run left in the database.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};
use writebench_model::{
    CaseRecord, Extent, Outcome, PhasesNs, ReadBack, ReadFrom, RunRecord, RunStatus, Sample, TargetRecord,
    TooMuch,
};

use crate::{Store, StoreError, targets};

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// The number that people give.
    pub number: i64,
    /// What people call it.
    pub label: Option<String>,
    /// When it began.
    pub started: String,
    /// How it stands.
    pub status: String,
    /// The directories or the device written to.
    pub target: String,
    /// Its suites, in order.
    pub suites: String,
    /// How many different cases it has.
    pub cases: i64,
    /// How many samples.
    pub samples: i64,
    /// Whether it came from a document.
    pub imported: bool,
}

impl Store {
    /// All runs, the newest last.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let mut runs = self.read_runs().map_err(self.failed("list runs"))?;
        for run in &mut runs {
            // A word that this version does not know is shown as it is.
            if let Some(recorded) = RunStatus::from_name(&run.status) {
                self.status_now(run.number, recorded)?.name().clone_into(&mut run.status);
            }
        }
        Ok(runs)
    }

    fn read_runs(&self) -> rusqlite::Result<Vec<RunSummary>> {
        let mut statement = self.connection.prepare(
            "SELECT number, started, status,
                (SELECT group_concat(name, ', ') FROM (
                    SELECT name FROM targets WHERE run = number ORDER BY position)),
                (SELECT group_concat(suite, ' ') FROM (
                    SELECT suite FROM cases WHERE run = number GROUP BY suite ORDER BY min(position))),
                (SELECT count(*) FROM (SELECT DISTINCT target, name FROM cases WHERE run = number)),
                (SELECT count(*) FROM samples WHERE run = number), label, imported
             FROM runs ORDER BY number",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(RunSummary {
                number: row.get(0)?,
                started: row.get(1)?,
                status: row.get(2)?,
                target: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                suites: row.get::<_, Option<String>>(4)?.unwrap_or_default(),
                cases: row.get(5)?,
                samples: row.get(6)?,
                label: row.get(7)?,
                imported: row.get(8)?,
            })
        })?;
        rows.collect()
    }

    /// The number of the newest run, or of the newest that is not complete.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn newest_run(&self, unfinished: bool) -> Result<Option<i64>, StoreError> {
        let complete = RunStatus::Complete.name();
        self.connection
            .query_row(
                "SELECT number FROM runs WHERE NOT ?1 OR status <> ?2 ORDER BY number DESC LIMIT 1",
                params![unfinished, complete],
                |row| row.get(0),
            )
            .optional()
            .map_err(self.failed("look for a run"))
    }

    /// The numbers of all runs with that label, the newest last.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn runs_labelled(&self, label: &str) -> Result<Vec<i64>, StoreError> {
        self.read_labelled(label).map_err(self.failed("look for a label"))
    }

    fn read_labelled(&self, label: &str) -> rusqlite::Result<Vec<i64>> {
        let mut statement =
            self.connection.prepare("SELECT number FROM runs WHERE label = ?1 ORDER BY number")?;
        let rows = statement.query_map([label], |row| row.get(0))?;
        rows.collect()
    }

    /// The run with that number, with everything in it.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn run(&self, number: i64) -> Result<RunRecord, StoreError> {
        let mut run = self
            .connection
            .query_row(
                "SELECT id, status, started, version, arguments, settings, label
                 FROM runs WHERE number = ?1",
                [number],
                run_from_row,
            )
            .optional()
            .map_err(self.failed("read the run"))?
            .ok_or_else(|| {
                self.content(format!("has no run {number}; `writebench list runs` shows what there is"))
            })?;
        run.status = self.status_now(number, run.status)?;
        self.check_counts(number)?;
        (run.targets, run.missing) =
            targets::read(&self.connection, number).map_err(self.failed("read the run's targets"))?;
        if run.targets.is_empty() {
            return Err(self.content(format!("run {number} has no target")));
        }
        run.cases = self.read_cases(number, &run.targets).map_err(self.failed("read the run's cases"))?;
        run.check_size().map_err(|too_much| self.content(format!("run {number}: {too_much}")))?;
        let mut samples =
            self.read_samples(number, &run.targets).map_err(self.failed("read the run's samples"))?;
        let mut left = HashMap::<Key, usize>::new();
        for case in &run.cases {
            *left.entry(key(case)).or_default() += 1;
        }
        for case in &mut run.cases {
            let key = key(case);
            let left = left.entry(key.clone()).or_default();
            *left -= 1;
            // The last row of a name takes the samples, earlier ones a copy.
            case.samples = match *left {
                0 => samples.remove(&key).unwrap_or_default(),
                _ => samples.get(&key).cloned().unwrap_or_default(),
            };
        }
        Ok(run)
    }

    /// Before any of it is read: what a stranger's database holds must not take all memory.
    fn check_counts(&self, run: i64) -> Result<(), StoreError> {
        let select =
            "SELECT (SELECT count(*) FROM targets WHERE run = ?1), (SELECT count(*) FROM cases WHERE run = ?1)";
        let counts = self.connection.query_row(select, [run], |row| Ok((row.get(0)?, row.get(1)?)));
        let (targets, rows) = counts.map_err(self.failed("count what the run has"))?;
        let checked = TooMuch::check_counts(targets, rows);
        checked.map_err(|too_much| self.content(format!("run {run}: {too_much}")))
    }

    fn read_cases(&self, run: i64, targets: &[TargetRecord]) -> rusqlite::Result<Vec<CaseRecord>> {
        let mut statement = self.connection.prepare(
            "SELECT suite, section, name, method, axes, contract, label, target FROM cases
             WHERE run = ?1 ORDER BY position",
        )?;
        let rows = statement.query_map([run], |row| {
            Ok(CaseRecord {
                target: target_name(row, 7, targets)?,
                suite: row.get(0)?,
                section: row.get(1)?,
                case: row.get(2)?,
                method: row.get(3)?,
                axes: json(row, 4)?,
                contract: json(row, 5)?,
                label: row.get(6)?,
                samples: Vec::new(),
            })
        })?;
        rows.collect()
    }

    fn read_samples(&self, run: i64, targets: &[TargetRecord]) -> rusqlite::Result<HashMap<Key, Vec<Sample>>> {
        // One state of the database for both questions, while a run adds to it.
        let transaction = self.connection.unchecked_transaction()?;
        let mut taken = Taken::of(&transaction, run, targets.len())?;
        let mut statement = transaction.prepare(&format!(
            "SELECT name, round, cause, prepare_ns, open_ns, write_ns, sync_ns, close_ns, bytes, user_cpu_ns,
                system_cpu_ns, page_faults, context_switches, device_bytes, probe_before_ns,
                probe_after_ns, steal_ns, settle_ns, disturbed, latency, watch, timeline, target,
                read_back, read_back_bytes, read_back_from
             FROM samples {} ORDER BY id",
            taken.rows(),
        ))?;
        /// The column that says which target a sample is of.
        const TARGET: usize = 22;
        let mut rows = statement.query([run, taken.first, taken.last])?;
        while let Some(row) = rows.next()? {
            let of_case = taken.cases.get_mut(row.get_ref(0)?.as_str()?);
            let position: usize = row.get(TARGET)?;
            let of_target = of_case.and_then(|of_case| of_case.get_mut(position));
            of_target.ok_or_else(|| no_target(TARGET, position))?.push(sample_from_row(row)?);
        }
        let mut samples = HashMap::new();
        for (name, of_case) in taken.cases {
            for (target, mut of_target) in targets.iter().zip(of_case) {
                // Ten thousand cases of a few samples each would hold half as much again.
                of_target.shrink_to_fit();
                samples.insert((target.name.clone(), name.clone()), of_target);
            }
        }
        Ok(samples)
    }
}

/// Room for the samples of a run, and where they stand.
struct Taken {
    /// Of each case by its name: those on each target.
    cases: HashMap<String, Vec<Vec<Sample>>>,
    count: i64,
    first: i64,
    last: i64,
}

impl Taken {
    /// All of that is in the index of the samples.
    fn of(connection: &Connection, run: i64, targets: usize) -> rusqlite::Result<Self> {
        let mut statement = connection
            .prepare("SELECT name, count(*), min(id), max(id) FROM samples WHERE run = ?1 GROUP BY name")?;
        let mut rows = statement.query([run])?;
        let mut taken = Self { cases: HashMap::new(), count: 0, first: i64::MAX, last: i64::MIN };
        while let Some(row) = rows.next()? {
            let (count, first, last): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let room = usize::try_from(count).unwrap_or(0) / targets.max(1);
            let of_targets = (0..targets).map(|_| Vec::with_capacity(room)).collect();
            taken.cases.insert(row.get(0)?, of_targets);
            taken.count = taken.count.saturating_add(count);
            (taken.first, taken.last) = (taken.first.min(first), taken.last.max(last));
        }
        Ok(taken)
    }

    /// Which rows those are: in the order of the table, each page of which is then read once, unless they are few
    /// among those of others. There the index finds them, and they are sorted.
    fn rows(&self) -> &'static str {
        let span = self.last.saturating_sub(self.first);
        if span / 4 > self.count {
            "WHERE run = ?1 AND +id BETWEEN ?2 AND ?3"
        } else {
            "NOT INDEXED WHERE run = ?1 AND id BETWEEN ?2 AND ?3"
        }
    }
}

/// What samples belong to: a target's name, and a case's.
type Key = (String, String);

fn key(case: &CaseRecord) -> Key {
    (case.target.clone(), case.case.clone())
}

fn target_name(row: &Row<'_>, column: usize, targets: &[TargetRecord]) -> rusqlite::Result<String> {
    let position: usize = row.get(column)?;
    let target = targets.get(position).ok_or_else(|| no_target(column, position))?;
    Ok(target.name.clone())
}

fn no_target(column: usize, position: usize) -> rusqlite::Error {
    unknown(column, format!("no target {position}"))
}

fn run_from_row(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let status: String = row.get(1)?;
    Ok(RunRecord {
        id: row.get(0)?,
        status: RunStatus::from_name(&status)
            .ok_or_else(|| unknown(1, format!("unknown status '{status}'")))?,
        started: row.get(2)?,
        version: row.get(3)?,
        arguments: json(row, 4)?,
        settings: json(row, 5)?,
        label: row.get(6)?,
        targets: Vec::new(),
        missing: Vec::new(),
        cases: Vec::new(),
    })
}

fn sample_from_row(row: &Row<'_>) -> rusqlite::Result<Sample> {
    let outcome = match row.get_ref(2)? {
        rusqlite::types::ValueRef::Null => Outcome::Ok,
        _ => json(row, 2)?,
    };
    Ok(Sample {
        round: row.get(1)?,
        outcome,
        phases_ns: PhasesNs {
            prepare: row.get(3)?,
            open: row.get(4)?,
            write: row.get(5)?,
            sync: row.get(6)?,
            close: row.get(7)?,
        },
        bytes: row.get(8)?,
        user_cpu_ns: row.get(9)?,
        system_cpu_ns: row.get(10)?,
        page_faults: row.get(11)?,
        context_switches: row.get(12)?,
        device_bytes: row.get(13)?,
        read_back: read_back(row, 23)?,
        probe_ns: [row.get(14)?, row.get(15)?],
        steal_ns: row.get(16)?,
        settle_ns: row.get(17)?,
        disturbed: row.get(18)?,
        latency: optional_json(row, 19)?,
        watch: optional_json(row, 20)?.unwrap_or_default(),
        timeline: optional_json(row, 21)?,
    })
}

/// From three columns, the first at that index.
fn read_back(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ReadBack>> {
    let Some(extent) = named(row, column, Extent::from_name)? else { return Ok(None) };
    let from = named(row, column + 2, ReadFrom::from_name)?;
    Ok(Some(ReadBack { extent, bytes: row.get(column + 1)?, from }))
}

/// A value that is stored by its name.
fn named<T>(row: &Row<'_>, column: usize, value: fn(&str) -> Option<T>) -> rusqlite::Result<Option<T>> {
    let name = row.get_ref(column)?.as_str_or_null()?;
    name.map(|name| value(name).ok_or_else(|| unknown(column, format!("unknown value '{name}'")))).transpose()
}

pub(crate) fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| unknown(column, error.to_string()))
}

pub(crate) fn optional_json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => json(row, column).map(Some),
    }
}

fn unknown(column: usize, what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, what.into())
}
