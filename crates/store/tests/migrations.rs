use std::path::Path;

use writebench_model::{
    CaseOrigin, CaseRecord, FilesystemSpec, Outcome, RunEvent, RunRecord, Sample, Stage,
};
use writebench_store::{Store, StoreError};
use writebench_testkit::{example_case, example_run};

fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(path)
}

#[test]
fn a_search_of_schema_7_has_its_baseline_in_the_schema_of_today() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let of_search = |name: &str, is_baseline| {
        let origin = CaseOrigin::of_search(Stage::Final, is_baseline);
        CaseRecord {
            origin,
            ..example_case("", name, Vec::new())
        }
    };
    let run = RunRecord {
        cases: vec![of_search("write", true), of_search("mmap", false)],
        ..example_run()
    };
    let number = open(&path).unwrap().begin_run(&run).unwrap();
    let old = rusqlite::Connection::open(&path).unwrap();
    let renamed = old
        .execute(
            "UPDATE cases SET record = replace(record, 'is_baseline', 'is_naive')",
            [],
        )
        .unwrap();
    old.pragma_update(None, "user_version", 7).unwrap();
    drop(old);
    let read = open(&path).unwrap().run(number).unwrap();
    assert_eq!((renamed, &read.cases), (2, &run.cases));
}

#[test]
fn cases_of_schema_8_get_names_with_their_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let sample = || Sample {
        disturbed: Some("noise".to_owned()),
        ..Sample::without_figures(0, Outcome::Ok)
    };
    let case = |name| example_case("one", name, Vec::new());
    let cases = [
        "write",
        "pwrite,cache=direct",
        "write,sync=fsync",
        "io_uring,memory=huge-pages",
        "fwrite",
        "read-write",
    ];
    let mut run = RunRecord {
        cases: cases.map(case).into(),
        ..example_run()
    };
    run.settings.copy_from = Some("/source".to_owned());
    run.targets[0].made_filesystem = Some(FilesystemSpec {
        kind: "ext4".to_owned(),
        images: Vec::new(),
        commands: Vec::new(),
        mkfs_options: Vec::new(),
        mount_options: None,
    });
    let origin = CaseOrigin::of_search(Stage::Final, false);
    run.cases[1] = CaseRecord {
        origin,
        label: Some("pwrite,size=1GiB,cache=direct".to_owned()),
        ..run.cases[1].clone()
    };
    let mut store = open(&path).unwrap();
    let number = store.begin_run(&run).unwrap();
    let case = run.cases[1].case.clone();
    store
        .record(
            number,
            &RunEvent::Sample {
                target: 0,
                case,
                sample: sample().into(),
            },
        )
        .unwrap();
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(
        "UPDATE cases SET record = json_remove(record, '$.contract.memory');
         UPDATE cases SET record = replace(replace(record, '\"name\":', '\"id\":'), 'initial_state', 'start');
         UPDATE samples SET sample = replace(replace(sample, 'system_state', 'watch'), 'disturbed_by', 'disturbed');
         UPDATE cases SET record = json_set(record, '$.axes.memory', 'plain', '$.axes.alignment', 'page')
         WHERE record ->> '$.axes.memory' = 'any';
         UPDATE cases SET record = json_set(record, '$.axes.alignment', 'off-by-one',
             '$.id', 'write,sync=fsync,alignment=off-by-one'), name = 'write,sync=fsync,alignment=off-by-one'
         WHERE position = 2;
         UPDATE cases SET record = json_remove(record, '$.axes.memory', '$.axes.alignment') WHERE position IN (4, 5);
         UPDATE targets SET target = json_set(replace(target, 'made_filesystem', 'making'),
             '$.properties', json_object('direct_io', json_array()));
         UPDATE runs SET run = replace(run, '\"from\":', '\"copy_from\":');
         PRAGMA user_version = 8",
    )
    .unwrap();
    drop(old);
    let RunRecord {
        cases: read,
        targets,
        settings,
        ..
    } = open(&path).unwrap().run(number).unwrap();
    assert_eq!(settings.copy_from.as_deref(), Some("/source"));
    assert_eq!(
        targets, run.targets,
        "properties of filesystems are no longer read"
    );
    let expected = [
        "write,memory=page-aligned",
        "pwrite,cache=direct,memory=page-aligned",
        "write,sync=fsync",
        "io_uring,memory=huge-pages",
        "fwrite,memory=page-aligned",
        "read-write",
    ];
    assert_eq!(
        read.iter().map(|case| case.case.name()).collect::<Vec<_>>(),
        expected
    );
    for case in &read {
        assert_eq!(
            case.case.known().unwrap().workload().memory,
            case.workload.memory,
            "{}",
            case.case
        );
    }
    assert_eq!(
        read[1].label.as_deref(),
        Some("pwrite,size=1GiB,cache=direct,memory=page-aligned")
    );
    assert_eq!(read[1].samples, [sample()]);
}

#[test]
fn cases_of_schema_9_have_the_names_of_today_and_their_samples() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let cases = [
        "write",
        "io_uring,size=1MiB,depth=4",
        "io_uring-copy,size=1MiB",
        "io_uring-files",
    ];
    let run = RunRecord {
        cases: cases
            .map(|name| example_case("one", name, Vec::new()))
            .into(),
        ..example_run()
    };
    let mut store = open(&path).unwrap();
    let number = store.begin_run(&run).unwrap();
    let event = |row: &CaseRecord| RunEvent::Sample {
        target: 0,
        case: row.case.clone(),
        sample: Sample::without_figures(0, Outcome::Ok).into(),
    };
    for row in &run.cases {
        store.record(number, &event(row)).unwrap();
    }
    drop(store);
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(
        "UPDATE cases SET name = replace(name, 'io_uring', 'uring'), record = replace(record, 'io_uring', 'uring');
         UPDATE samples SET name = replace(name, 'io_uring', 'uring');
         PRAGMA user_version = 9",
    )
    .unwrap();
    drop(old);
    let store = open(&path).unwrap();
    let read = store.run(number).unwrap();
    for (row, name) in read.cases.iter().zip(cases) {
        assert_eq!((row.case.name(), row.samples.len()), (name, 1));
        assert!(row.case.known().is_some(), "{name}");
    }
    let found = store.newest_run_with(&cases, |case, name| *case == name);
    assert_eq!(found.unwrap(), Some(number));
}

#[test]
fn a_database_of_another_schema_is_refused_and_not_touched() {
    for (schema, told) in [(6, "the older writebench"), (11, "a newer writebench")] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        let old = rusqlite::Connection::open(&path).unwrap();
        old.pragma_update(None, "application_id", 0x7772_6274)
            .unwrap();
        old.pragma_update(None, "user_version", schema).unwrap();
        old.execute_batch("CREATE TABLE runs (number INTEGER PRIMARY KEY)")
            .unwrap();
        drop(old);
        let error = open(&path).err().unwrap().to_string();
        assert!(
            error.contains(&format!(
                "has schema {schema}, this writebench knows 10. Use {told}"
            )),
            "{error}"
        );
        let tables: i64 = rusqlite::Connection::open(&path)
            .unwrap()
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1);
    }
}
