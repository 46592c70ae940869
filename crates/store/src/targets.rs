//! The targets of a run.

use rusqlite::{Connection, params};
use writebench_model::{Limit, MissingTarget, RunRecord, TargetRecord};

use crate::{Store, StoreError, json};

impl Store {
    /// Records the hardware's limits of a run's target.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_limits(&self, run: i64, target: usize, limits: &[Limit]) -> Result<(), StoreError> {
        const DOING: &str = "record the limits";
        const UPDATE: &str = "UPDATE targets SET target = json_set(target, '$.limits', json(?3)) WHERE run = ?1 AND position = ?2";
        let text = json::to_text(&limits).map_err(self.failed(DOING))?;
        self.change(DOING, UPDATE, params![run, target, text])
    }
}

pub(crate) fn insert(connection: &Connection, number: i64, run: &RunRecord) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare("INSERT INTO targets (run, position, name, target, missing) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (position, target) in run.targets.iter().enumerate() {
        statement.execute(params![number, position, target.name, json::to_text(target)?, None::<String>])?;
    }
    for (position, target) in (run.targets.len()..).zip(&run.missing) {
        statement.execute(params![number, position, target.name, None::<String>, target.why])?;
    }
    Ok(())
}

/// The measured targets and the missing ones, in order.
pub(crate) fn read(
    connection: &Connection,
    run: i64,
) -> rusqlite::Result<(Vec<TargetRecord>, Vec<MissingTarget>)> {
    let mut statement =
        connection.prepare("SELECT name, missing, target FROM targets WHERE run = ?1 ORDER BY position")?;
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let name = row.get(0)?;
        match row.get(1)? {
            Some(why) => missing.push(MissingTarget { name, why }),
            None => targets.push(TargetRecord { name, ..json::from_column(row, 2)? }),
        }
    }
    Ok((targets, missing))
}
