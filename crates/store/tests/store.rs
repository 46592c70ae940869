//! What goes into the database comes out of it.

use std::path::PathBuf;

use writebench_model::{
    CaseRecord, Extent, Failure, Latency, Learnt, Limit, LimitKind, Making, MissingTarget, Outcome, Phase,
    PhasesNs, Properties, ReadBack, ReadFrom, RunRecord, RunStatus, Sample, Timeline, Watch,
};
use writebench_store::{Store, StoreError, WorkspaceRecord};
use writebench_testkit::{example_case, example_run, example_target};

fn run() -> RunRecord {
    let case = |section, name| example_case(section, name, Vec::new());
    let labelled = CaseRecord { label: Some("its name".to_owned()), ..case("two", "write,chunk=4KiB") };
    RunRecord {
        status: RunStatus::Running,
        label: Some("nightly".to_owned()),
        arguments: vec!["a \"quoted\"\nword".to_owned()],
        cases: vec![case("one", "write"), labelled, case("two", "write")],
        ..example_run()
    }
}

fn samples() -> Vec<Sample> {
    let good = Sample {
        round: 0,
        outcome: Outcome::Ok,
        phases_ns: PhasesNs { prepare: 1, open: 2, write: 3, sync: 4, close: 5 },
        bytes: 6,
        user_cpu_ns: 7,
        system_cpu_ns: 8,
        page_faults: 9,
        context_switches: 10,
        device_bytes: Some(11),
        read_back: Some(ReadBack { extent: Extent::Part, bytes: 5, from: Some(ReadFrom::Device) }),
        probe_ns: [12, 13],
        steal_ns: 14,
        settle_ns: 15,
        disturbed: Some("why".to_owned()),
        latency: Some(
            Latency {
                count: 18,
                p50_ns: 19,
                p90_ns: 20,
                p99_ns: 21,
                p99_9_ns: 22,
                max_ns: 23,
                histogram: "aGlzdG9ncmFt".to_owned(),
            }
            .into(),
        ),
        watch: Watch {
            available_memory_bytes: Some(24),
            dirty_bytes: Some(25),
            writeback_bytes: None,
            throttled_ns: Some(26),
            thermal_throttles: None,
        },
        timeline: Some(Timeline { interval_ns: 27, bytes: vec![28, 29] }.into()),
    };
    let failure = Failure {
        phase: Phase::Write,
        call: "write".to_owned(),
        path: Some("sample".to_owned()),
        offset: Some(17),
        errno: Some(5),
        message: "Input/output error".to_owned(),
    };
    let outcomes = [
        Outcome::Failed(failure.clone().into()),
        Outcome::Unsupported(failure.into()),
        Outcome::TimedOut { phase: Phase::Sync, limit_ns: 9 },
        Outcome::WorkerDied { phase: Phase::Write, signal: Some(7), detail: String::new() },
    ];
    std::iter::once(good).chain(outcomes.map(|outcome| Sample::without_figures(1, outcome))).collect()
}

#[test]
fn a_run_is_read_as_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut expected = run();
    let number = {
        let mut store = Store::open(&path).unwrap();
        let number = store.begin_run(&expected).unwrap();
        for sample in samples() {
            store.add_sample(number, 0, "write", &sample).unwrap();
        }
        store.set_status(number, RunStatus::Complete).unwrap();
        let limit = Limit {
            kind: LimitKind::MemoryCopy,
            threads: 2,
            bytes_per_s: Some(18_000_000_000),
            how: "16 MiB".to_owned(),
        };
        expected.targets[0].limits = vec![limit];
        store.set_limits(number, 0, &expected.targets[0].limits).unwrap();
        let later = example_case("later", "pwrite", Vec::new());
        store.add_cases(number, std::slice::from_ref(&later)).unwrap();
        expected.cases.push(later);
        number
    };
    expected.status = RunStatus::Complete;
    // A case that stands in two tables has its samples in both.
    expected.cases[0].samples = samples();
    expected.cases[2].samples = samples();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.run(number).unwrap(), expected);
    let summary = &store.runs().unwrap()[0];
    assert_eq!((summary.cases, summary.samples, summary.status.as_str()), (3, 5, "complete"));
}

#[test]
fn a_case_has_its_own_samples_on_every_target_and_a_target_that_is_missing_stays_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let on =
        |target: &str| CaseRecord { target: target.to_owned(), ..example_case("one", "write", Vec::new()) };
    let mut expected = RunRecord {
        targets: vec![example_target("ext4"), example_target("xfs")],
        missing: vec![MissingTarget { name: "jfs".to_owned(), why: "no mkfs.jfs".to_owned() }],
        cases: vec![on("ext4"), on("xfs")],
        ..run()
    };
    expected.targets[0].making = Some(Making {
        kind: "ext4".to_owned(),
        images: Vec::new(),
        commands: vec!["mkfs.ext4 /dev/loop0".to_owned()],
        mkfs_options: vec!["-b".to_owned(), "1024".to_owned()],
        mount_options: None,
    });
    let mut store = Store::open(&path).unwrap();
    let number = store.begin_run(&expected).unwrap();
    store.add_sample(number, 1, "write", &samples()[0]).unwrap();
    store.add_sample(number, 0, "write", &samples()[1]).unwrap();
    store.add_cases(number, &[CaseRecord { case: "pwrite".to_owned(), ..on("xfs") }]).unwrap();
    expected.cases[0].samples = vec![samples()[1].clone()];
    expected.cases[1].samples = vec![samples()[0].clone()];
    expected.cases.push(CaseRecord { case: "pwrite".to_owned(), ..on("xfs") });
    let properties = Properties {
        block_size_bytes: Learnt::Known(4096),
        file_size_bytes: 7,
        prepared: Vec::new(),
        direct_io: Vec::new(),
    };
    store.set_properties(number, 1, &properties).unwrap();
    expected.targets[1].properties = Some(properties);
    assert_eq!(store.run(number).unwrap(), expected);
    let summary = &store.runs().unwrap()[0];
    assert_eq!((summary.target.as_str(), summary.cases), ("ext4, xfs, jfs", 3));
    let nowhere = store.add_cases(number, &[on("btrfs")]).unwrap_err().to_string();
    assert!(nowhere.contains("record cases"), "a target that the run does not have: {nowhere}");
}

#[test]
fn runs_from_elsewhere_are_taken_in_whole_and_together_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let mut from = Store::open(&directory.path().join("from")).unwrap();
    let number = from.begin_run(&run()).unwrap();
    for sample in samples() {
        from.add_sample(number, 0, "write", &sample).unwrap();
    }
    from.set_status(number, RunStatus::Limited).unwrap();
    let there = from.run(number).unwrap();
    let other = RunRecord { id: "other".to_owned(), ..there.clone() };
    let mut to = Store::open(&directory.path().join("to")).unwrap();
    assert_eq!(to.import_runs(&[other.clone(), there.clone()]).unwrap(), [1, 2]);
    assert_eq!((to.run(1).unwrap(), to.run(2).unwrap()), (other.clone(), there.clone()));
    assert!(to.is_imported(1).unwrap() && to.runs().unwrap()[1].imported, "and is known by it");
    assert!(!from.is_imported(number).unwrap());
    assert!(to.has_run("other").unwrap() && !to.has_run("third").unwrap());
    let third = RunRecord { id: "third".to_owned(), ..there };
    assert!(to.import_runs(&[third, other]).is_err(), "the second is there already");
    assert_eq!(to.runs().unwrap().len(), 2, "and the first of the two did not come");
}

#[test]
fn another_connection_sees_a_sample_as_soon_as_it_is_added() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut writer = Store::open(&path).unwrap();
    let reader = Store::open(&path).unwrap();
    let number = writer.begin_run(&run()).unwrap();
    for count in 1..=3 {
        writer.add_sample(number, 0, "write", &samples()[0]).unwrap();
        assert_eq!(reader.run(number).unwrap().cases[0].samples.len(), count);
    }
}

#[test]
fn a_run_is_running_only_while_somebody_holds_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path).unwrap();
    let other = Store::open(&path).unwrap();
    let first = store.begin_run(&run()).unwrap();
    let second = store.begin_run(&RunRecord { id: "other".to_owned(), ..run() }).unwrap();
    let status = |store: &Store, number| {
        let listed = store.runs().unwrap().into_iter().find(|run| run.number == number).unwrap().status;
        let status = store.run(number).unwrap().status;
        assert_eq!(listed, status.name());
        status
    };
    for looks in [&store, &other] {
        assert_eq!([status(looks, first), status(looks, second)], [RunStatus::Running; 2]);
    }
    assert!(other.is_under_way_elsewhere(first).unwrap() && !store.is_under_way_elsewhere(first).unwrap());
    assert!(!other.hold_run(second).unwrap(), "it is under way");
    store.set_status(second, RunStatus::Limited).unwrap();
    drop(store);
    assert_eq!(status(&other, first), RunStatus::Interrupted);
    assert_eq!(status(&other, second), RunStatus::Limited);
    assert!(other.hold_run(first).unwrap() && other.hold_run(first).unwrap());
    assert_eq!(status(&other, first), RunStatus::Running);
    // As a stranger's database may have it.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute("UPDATE runs SET number = -1, status = 'running' WHERE number = ?1", [second]).unwrap();
    assert_eq!(other.runs().unwrap()[0].status, "interrupted");
}

#[test]
fn what_is_written_to_a_database_that_is_not_in_its_place_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path).unwrap();
    let number = store.begin_run(&run()).unwrap();
    store.add_sample(number, 0, "write", &samples()[0]).unwrap();
    store.check_in_place().unwrap();
    std::fs::rename(&path, directory.path().join("moved")).unwrap();
    let gone = |it: Result<(), StoreError>| assert!(matches!(it, Err(StoreError::Gone { .. })), "{it:?}");
    gone(store.check_in_place());
    gone(store.add_sample(number, 0, "write", &samples()[0]));
    gone(store.add_cases(number, &[]));
    gone(store.set_limits(number, 0, &[]));
    gone(store.set_status(number, RunStatus::Complete));
    assert_eq!(store.run(number).unwrap().cases[0].samples.len(), 1, "what was written is read");
    std::fs::rename(directory.path().join("moved"), &path).unwrap();
    store.add_sample(number, 0, "write", &samples()[0]).unwrap();
}

#[test]
fn a_lock_of_another_program_is_told_from_all_other_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = Store::open(&path).unwrap();
    let number = store.begin_run(&run()).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let add = || store.add_sample(number, 0, "write", &samples()[0]);
    assert!(store.without_waiting(add).unwrap_err().is_busy());
    assert_eq!(store.run(number).unwrap().cases[0].samples, [], "it can be read");
    other.execute_batch("ROLLBACK").unwrap();
    store.without_waiting(add).unwrap();
    assert!(!store.run(99).unwrap_err().is_busy());
}

#[test]
fn a_run_that_no_database_could_give_back_is_not_begun() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("db")).unwrap();
    let large = [
        RunRecord { label: Some("x".repeat(4097)), ..run() },
        RunRecord { targets: (0..1001).map(|number| example_target(&number.to_string())).collect(), ..run() },
        RunRecord { cases: vec![run().cases[0].clone(); 100_001], ..run() },
    ];
    for run in large {
        assert!(matches!(store.begin_run(&run), Err(StoreError::TooLarge { .. })));
        assert!(matches!(store.import_runs(&[run]), Err(StoreError::TooLarge { .. })));
    }
    // Each of them a character of a path that no terminal could show.
    let path = "\u{fffd}".repeat(4096);
    store.begin_run(&RunRecord { label: Some(path), ..run() }).unwrap();
}

#[test]
fn the_newest_run_is_found_and_the_newest_unfinished_one() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("db")).unwrap();
    assert_eq!(store.newest_run(false).unwrap(), None);
    let first = store.begin_run(&run()).unwrap();
    let second = store.begin_run(&RunRecord { id: "other".to_owned(), ..run() }).unwrap();
    store.set_status(second, RunStatus::Complete).unwrap();
    assert_eq!(store.newest_run(false).unwrap(), Some(second));
    assert_eq!(store.newest_run(true).unwrap(), Some(first));
    assert!(matches!(store.run(99), Err(StoreError::Content { .. })));
}

#[test]
fn runs_are_found_by_their_label_and_listed_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("db")).unwrap();
    let labels = [Some("before"), None, Some("after"), Some("before")];
    for (number, label) in (1..).zip(labels) {
        let (id, label): (i32, _) = (number, label.map(str::to_owned));
        store.begin_run(&RunRecord { id: id.to_string(), label, ..run() }).unwrap();
    }
    assert_eq!(store.runs_labelled("before").unwrap(), [1, 4]);
    assert!(store.runs_labelled("").unwrap().is_empty());
    let listed: Vec<Option<String>> = store.runs().unwrap().into_iter().map(|run| run.label).collect();
    assert_eq!(listed.iter().map(Option::as_deref).collect::<Vec<_>>(), labels);
}

#[test]
fn workspaces_are_remembered_until_they_are_forgotten() {
    use std::os::unix::ffi::OsStringExt;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("db")).unwrap();
    // No UTF-8.
    let path = PathBuf::from(std::ffi::OsString::from_vec(b"/t/\xff".to_vec()));
    let record = WorkspaceRecord { path: path.clone(), run: 3 };
    store.add_workspace(&record).unwrap();
    assert_eq!(store.workspaces().unwrap(), [record]);
    store.forget_workspace(&path).unwrap();
    assert!(store.workspaces().unwrap().is_empty());
}

#[test]
fn a_database_of_another_program_is_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("theirs");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = Store::open(&path).err().unwrap().to_string();
    assert!(error.contains("another program"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn two_programs_may_open_a_new_database_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Store::open(&path).unwrap().runs().unwrap());
        }
    });
}

/// A database that an earlier writebench made is brought up to date, with what is in it.
#[test]
fn a_database_of_each_earlier_schema_is_read_and_written_on() {
    for schema in 1..=4 {
        read_and_written_on(schema);
    }
}

#[expect(clippy::unwrap_used, reason = "a part of tests")]
fn read_and_written_on(schema: usize) {
    const MIGRATIONS: [&str; 4] = [
        include_str!("../migrations/001.sql"),
        include_str!("../migrations/002.sql"),
        include_str!("../migrations/003.sql"),
        include_str!("../migrations/004.sql"),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let expected = run();
    let without = |mut value: serde_json::Value, fields: &[&str]| {
        for field in fields {
            value.as_object_mut().unwrap().remove(*field).unwrap();
        }
        value.to_string()
    };
    let settings =
        without(serde_json::to_value(&expected.settings).unwrap(), &["copy_from", "copy_to", "precision_ppm"]);
    let contract =
        without(serde_json::to_value(&expected.cases[0].contract).unwrap(), &["durable_every_bytes"]);
    let environment = serde_json::to_string(&expected.targets[0].environment).unwrap();
    let old = rusqlite::Connection::open(&path).unwrap();
    old.pragma_update(None, "application_id", 0x7772_6274).unwrap();
    // The rows below are in the form of schemas 1 to 3.
    let (before, after) = MIGRATIONS[..schema].split_at(schema.min(3));
    before.iter().for_each(|migration| old.execute_batch(migration).unwrap());
    old.execute(
        "INSERT INTO runs (number, id, status, started, version, arguments, target, settings, environment)
            VALUES (1, '0f0e', 'limited', '2026', '0.1.0', '[]', '/old', ?1, ?2)",
        [settings, environment],
    )
    .unwrap();
    old.execute(
        "INSERT INTO cases (id, run, position, suite, section, name, method, axes, contract)
            VALUES (1, 1, 0, 'write', 'one', 'write', 'write', '{}', ?1)",
        [contract],
    )
    .unwrap();
    if schema >= 3 {
        old.execute_batch("UPDATE runs SET label = 'then'").unwrap();
    }
    old.execute_batch(
        "INSERT INTO samples (run, name, round, outcome, prepare_ns, open_ns, write_ns, sync_ns, close_ns, bytes,
            user_cpu_ns, system_cpu_ns, page_faults, context_switches, probe_before_ns, probe_after_ns, steal_ns,
            settle_ns, verified) VALUES (1, 'write', 0, 'ok', 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1),
            (1, 'write', 1, 'ok', 0, 0, 8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, NULL)",
    )
    .unwrap();
    after.iter().for_each(|migration| old.execute_batch(migration).unwrap());
    old.pragma_update(None, "user_version", schema).unwrap();
    drop(old);
    let store = Store::open(&path).unwrap();
    store.add_sample(1, 0, "write", &samples()[0]).unwrap();
    let found = store.run(1).unwrap();
    assert_eq!(found.label.as_deref(), (schema >= 3).then_some("then"));
    assert_eq!((found.settings, found.cases[0].label.clone()), (expected.settings, None));
    assert_eq!(found.cases[0].contract, expected.cases[0].contract);
    let target = &found.targets[0];
    assert_eq!((target.name.as_str(), target.path.as_str(), found.targets.len()), ("/old", "/old", 1));
    assert_eq!((&target.environment, &found.cases[0].target), (&expected.targets[0].environment, &target.name));
    let written: Vec<u64> = found.cases[0].samples.iter().map(|sample| sample.phases_ns.write).collect();
    assert_eq!(written, [9, 8, 3]);
    assert_eq!(found.cases[0].samples[0].latency, None);
    assert_eq!(found.cases[0].samples[2].latency, samples()[0].latency);
    let read_back: Vec<_> = found.cases[0].samples.iter().map(|sample| sample.read_back).collect();
    let verified = ReadBack { extent: Extent::Whole, bytes: 1, from: None };
    assert_eq!(read_back, [Some(verified), None, samples()[0].read_back]);
}

/// Until schema 5, nobody knew any more which runs were imported.
#[test]
fn a_run_of_schema_4_that_copies_a_file_counts_as_imported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let (mut copies, other) = (run(), RunRecord { id: "other".to_owned(), ..run() });
    copies.settings.copy_from = Some("/etc/shadow".to_owned());
    let mut store = Store::open(&path).unwrap();
    let numbers = [copies, other].map(|run| store.begin_run(&run).unwrap());
    assert!(numbers.iter().all(|number| !store.is_imported(*number).unwrap()));
    drop(store);
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(
        "ALTER TABLE runs DROP COLUMN imported;
         ALTER TABLE samples DROP COLUMN read_back;
         ALTER TABLE samples DROP COLUMN read_back_bytes;
         ALTER TABLE samples DROP COLUMN read_back_from;
         ALTER TABLE samples ADD COLUMN verified INTEGER;
         PRAGMA user_version = 4",
    )
    .unwrap();
    drop(old);
    let store = Store::open(&path).unwrap();
    assert_eq!(numbers.map(|number| store.is_imported(number).unwrap()), [true, false]);
}
