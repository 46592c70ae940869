//! The names of cases in earlier runs, from the newest run on. No sample is read, and no run before the one that is
//! looked for.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Params, Row};
use writebench_model::Stage;

use crate::read::is_search_in_sql;
use crate::{Store, StoreError};

/// A case of the last stage of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finalist {
    pub name: String,
    /// Whether the search compared the others with this case.
    pub is_baseline: bool,
    /// The number of its samples.
    pub samples: u64,
}

impl Store {
    /// The newest run that has all of these cases on one target. `has_name` compares one of them with a name.
    pub fn newest_run_with<C>(
        &self,
        cases: &[C],
        has_name: impl Fn(&C, &str) -> bool,
    ) -> Result<Option<i64>, StoreError> {
        // The rows come in the order of the primary key, so those of older runs are not read.
        let select = "SELECT run, target, name FROM cases ORDER BY run DESC, position DESC";
        let mut current_run = None;
        // The indices of the current run's cases among those that are looked for, by target.
        let mut found: HashMap<i64, HashSet<usize>> = HashMap::new();
        self.first("look for cases", select, [], |row| {
            let run: i64 = row.get(0)?;
            let name = row.get_ref(2)?.as_str()?;
            if current_run.replace(run) != Some(run) {
                found.clear();
            }
            let on_target = found.entry(row.get(1)?).or_default();
            for (index, case) in cases.iter().enumerate() {
                if has_name(case, name) {
                    on_target.insert(index);
                }
            }
            Ok((on_target.len() == cases.len()).then_some(run))
        })
    }

    /// The newest search of this database's owner on a target whose finalists are accepted.
    pub fn newest_search_on(
        &self,
        target: &str,
        mut accepts: impl FnMut(&[Finalist]) -> bool,
    ) -> Result<Option<(i64, Vec<Finalist>)>, StoreError> {
        let select = format!(
            "SELECT number FROM runs
             WHERE NOT imported AND EXISTS (SELECT 1 FROM targets WHERE run = number AND name = ?1) AND {}
             ORDER BY number DESC",
            is_search_in_sql()
        );
        self.first("look for a search", &select, [target], |row| {
            let number = row.get(0)?;
            let finalists = finalists(&self.connection, number)?;
            Ok(accepts(&finalists).then_some((number, finalists)))
        })
    }

    /// The first value that `take` makes of a row.
    fn first<T>(
        &self,
        doing: &'static str,
        select: &str,
        parameters: impl Params,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<Option<T>>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self
            .connection
            .prepare(select)
            .map_err(self.failed(doing))?;
        let mut rows = statement.query(parameters).map_err(self.failed(doing))?;
        while let Some(row) = rows.next().map_err(self.failed(doing))? {
            if let Some(found) = take(row).map_err(self.failed(doing))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

fn finalists(connection: &Connection, run: i64) -> rusqlite::Result<Vec<Finalist>> {
    let select = "SELECT name, record ->> '$.is_baseline',
            (SELECT count(*) FROM samples WHERE samples.run = cases.run AND samples.name = cases.name)
         FROM cases WHERE run = ?1 AND record ->> '$.stage' = ?2 ORDER BY position";
    let mut statement = connection.prepare(select)?;
    let rows = statement.query_map((run, Stage::Final.name()), |row| {
        let samples = row.get::<_, i64>(2)?.unsigned_abs();
        Ok(Finalist {
            name: row.get(0)?,
            is_baseline: row.get::<_, Option<bool>>(1)? == Some(true),
            samples,
        })
    })?;
    rows.collect()
}
