//! The targets of a run.

use rusqlite::{Connection, params};
use serde::Serialize;
use writebench_model::{Limit, MissingTarget, Properties, RunRecord, TargetRecord};

use crate::{Store, StoreError, json};

impl Store {
    /// Records the hardware's limits of a run's target.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_limits(&self, run: i64, target: usize, limits: &[Limit]) -> Result<(), StoreError> {
        self.set("record the limits", run, target, ("limits", &limits))
    }

    /// Records the properties of the filesystem of a run's target.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_properties(&self, run: i64, target: usize, properties: &Properties) -> Result<(), StoreError> {
        self.set("record the filesystem's properties", run, target, ("properties", properties))
    }

    /// Sets a field that becomes known after the target was recorded.
    fn set(
        &self,
        doing: &'static str,
        run: i64,
        target: usize,
        (field, value): (&str, &impl Serialize),
    ) -> Result<(), StoreError> {
        const UPDATE: &str = "UPDATE targets SET target = json_set(target, '$.' || ?3, json(?4)) WHERE run = ?1 AND position = ?2";
        let text = json::to_text(value).map_err(self.failed(doing))?;
        self.change(doing, UPDATE, params![run, target, field, text])
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
