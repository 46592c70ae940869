//! The targets of a run.

use rusqlite::{Connection, params};
use writebench_model::{MissingTarget, RunRecord, TargetRecord};

use crate::json;

/// Records the measured targets of a run, then the missing ones.
pub(crate) fn insert(
    connection: &Connection,
    number: i64,
    run: &RunRecord,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "INSERT INTO targets (run, position, name, target, missing) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, target) in run.targets.iter().enumerate() {
        let record = Some(json::to_text(target)?);
        let reason: Option<&String> = None;
        statement.execute(params![number, position, target.name, record, reason])?;
    }
    for (index, target) in run.missing.iter().enumerate() {
        let position = run.targets.len() + index;
        let record: Option<String> = None;
        statement.execute(params![
            number,
            position,
            target.name,
            record,
            target.reason
        ])?;
    }
    Ok(())
}

/// The measured targets and the missing ones, each in their order.
pub(crate) fn read(
    connection: &Connection,
    run: i64,
) -> rusqlite::Result<(Vec<TargetRecord>, Vec<MissingTarget>)> {
    let mut statement = connection
        .prepare("SELECT name, missing, target FROM targets WHERE run = ?1 ORDER BY position")?;
    let mut targets = Vec::new();
    let mut missing = Vec::new();
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let name = row.get(0)?;
        match row.get(1)? {
            Some(reason) => missing.push(MissingTarget { name, reason }),
            None => targets.push(TargetRecord {
                name,
                ..json::from_column(row, 2)?
            }),
        }
    }
    Ok((targets, missing))
}
