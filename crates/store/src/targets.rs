use rusqlite::{Connection, params};
use writebench_model::{MissingTarget, RunRecord, TargetRecord};

use crate::json;

pub(crate) fn insert(
    connection: &Connection,
    number: i64,
    run: &RunRecord,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "INSERT INTO targets (run, position, name, target, missing) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let measured = run
        .targets
        .iter()
        .map(|target| (&target.name, Some(target), None));
    let missing = run
        .missing
        .iter()
        .map(|target| (&target.name, None, Some(&target.reason)));
    for (position, (name, target, reason)) in measured.chain(missing).enumerate() {
        let target = target.map(json::to_text).transpose()?;
        statement.execute(params![number, position, name, target, reason])?;
    }
    Ok(())
}

/// The measured targets and the missing ones, in order.
pub(crate) fn read(
    connection: &Connection,
    run: i64,
) -> rusqlite::Result<(Vec<TargetRecord>, Vec<MissingTarget>)> {
    let mut statement = connection
        .prepare("SELECT name, missing, target FROM targets WHERE run = ?1 ORDER BY position")?;
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
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
