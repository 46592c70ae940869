//! A database with hostile values, and its report.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use tempfile::TempDir;
use writebench_report::formats::terminal::Detail;
use writebench_report::{Report, formats};
use writebench_store::Store;

/// A column's new value, in one row or in all.
#[derive(Debug, Arbitrary)]
struct Edit {
    column: u8,
    row: Option<u8>,
    value: Anything,
}

#[derive(Debug, Arbitrary)]
enum Anything {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// In memory: thousands are written in a second.
struct Original {
    folder: TempDir,
    columns: Vec<(String, String)>,
}

impl Original {
    fn make() -> Self {
        let folder = TempDir::new_in("/dev/shm").unwrap();
        let path = folder.path().join("original");
        let exported =
            writebench_report::run_of_export(include_str!("../seeds/run.json")).unwrap();
        Store::open(&path)
            .unwrap()
            .import_runs(&[exported.run])
            .unwrap();
        let connection = Connection::open(&path).unwrap();
        // This removes the separate log.
        connection
            .pragma_update(None, "journal_mode", "delete")
            .unwrap();
        let query = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'";
        let mut statement = connection.prepare(query).unwrap();
        let columns = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        let columns = columns.map(Result::unwrap).collect();
        Self { folder, columns }
    }

    fn copy(&self) -> PathBuf {
        let path = self.folder.path().join("edited");
        for suffix in ["", "-wal", "-shm", "-journal", "-runs"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
        std::fs::copy(self.folder.path().join("original"), &path).unwrap();
        path
    }
}

static ORIGINAL: LazyLock<Original> = LazyLock::new(Original::make);

fn edit(connection: &Connection, edit: Edit) {
    let (table, column) = &ORIGINAL.columns[usize::from(edit.column) % ORIGINAL.columns.len()];
    let value = match edit.value {
        Anything::Null => Value::Null,
        Anything::Integer(number) => Value::Integer(number),
        Anything::Real(number) => Value::Real(number),
        Anything::Text(text) => Value::Text(text),
        Anything::Blob(bytes) => Value::Blob(bytes),
    };
    let rows = match edit.row {
        None => String::new(),
        Some(row) => {
            format!(" WHERE rowid IN (SELECT rowid FROM {table} LIMIT 1 OFFSET {row} % 16)")
        }
    };
    // The schema may refuse a value.
    let _ = connection.execute(
        &format!("UPDATE {table} SET {column} = ?1{rows}"),
        params![value],
    );
}

fuzz_target!(|edits: Vec<Edit>| {
    let path = ORIGINAL.copy();
    let connection = Connection::open(&path).unwrap();
    // An attacker can ignore the table's conditions.
    connection
        .pragma_update(None, "ignore_check_constraints", true)
        .unwrap();
    for it in edits {
        edit(&connection, it);
    }
    drop(connection);
    let Ok(store) = Store::open_to_read(&path) else {
        return;
    };
    let Ok(runs) = store.runs() else { return };
    let _ = store.workspaces();
    for summary in runs {
        if let Ok(run) = store.run(summary.number) {
            assert_eq!(run.check_size(), Ok(()), "what is larger is refused");
            let report = Report::from_run(Some(summary.number), run);
            for detail in [Detail::Usual, Detail::All] {
                let _ = formats::terminal::report(&report, detail, Some(80));
            }
        }
    }
});
