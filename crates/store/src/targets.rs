//! Where a run wrote to.

use rusqlite::{Connection, params};
use writebench_model::{Limit, MissingTarget, Properties, TargetRecord};

use crate::read::{json, optional_json};
use crate::write::json as to_json;
use crate::{Store, StoreError};

impl Store {
    /// Records what the hardware of a run's target could do at most.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_limits(&self, run: i64, target: usize, limits: &[Limit]) -> Result<(), StoreError> {
        self.check_in_place()?;
        let set = |limits: String| {
            let update = "UPDATE targets SET limits = ?3 WHERE run = ?1 AND position = ?2";
            self.connection.execute(update, params![run, target, limits])
        };
        to_json(&limits).and_then(set).map(|_| ()).map_err(self.failed("record the limits"))
    }

    /// Records what the filesystem of a run's target does with files.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn set_properties(&self, run: i64, target: usize, properties: &Properties) -> Result<(), StoreError> {
        self.check_in_place()?;
        let set = |properties: String| {
            let update = "UPDATE targets SET properties = ?3 WHERE run = ?1 AND position = ?2";
            self.connection.execute(update, params![run, target, properties])
        };
        to_json(properties).and_then(set).map(|_| ()).map_err(self.failed("record the filesystem's properties"))
    }
}

/// Those that are there first, so that a target's place among them is its position.
pub(crate) fn insert(
    connection: &Connection,
    run: i64,
    targets: &[TargetRecord],
    missing: &[MissingTarget],
) -> rusqlite::Result<()> {
    for (position, target) in targets.iter().enumerate() {
        connection.execute(
            "INSERT INTO targets (run, position, name, path, environment, limits, making, properties)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                run,
                position,
                target.name,
                target.path,
                to_json(&target.environment)?,
                to_json(&target.limits)?,
                target.making.as_ref().map(to_json).transpose()?,
                target.properties.as_ref().map(to_json).transpose()?,
            ],
        )?;
    }
    for (position, target) in (targets.len()..).zip(missing) {
        connection.execute(
            "INSERT INTO targets (run, position, name, missing) VALUES (?1, ?2, ?3, ?4)",
            params![run, position, target.name, target.why],
        )?;
    }
    Ok(())
}

/// Those that are there and those that are not, in order.
pub(crate) fn read(
    connection: &Connection,
    run: i64,
) -> rusqlite::Result<(Vec<TargetRecord>, Vec<MissingTarget>)> {
    let mut statement = connection.prepare(
        "SELECT name, missing, path, environment, limits, making, properties FROM targets
         WHERE run = ?1 ORDER BY position",
    )?;
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let name = row.get(0)?;
        match row.get(1)? {
            Some(why) => missing.push(MissingTarget { name, why }),
            None => targets.push(TargetRecord {
                name,
                path: row.get(2)?,
                environment: json(row, 3)?,
                limits: optional_json(row, 4)?.unwrap_or_default(),
                making: optional_json(row, 5)?,
                properties: optional_json(row, 6)?,
            }),
        }
    }
    Ok((targets, missing))
}
