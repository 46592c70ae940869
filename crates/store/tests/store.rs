use std::path::{Path, PathBuf};

use writebench_model::{
    CaseOrigin, CaseRecord, Cluster, ContestAnswer, Decision, Extent, Failure, FilesystemSpec,
    FoldedRun, KernelThreads, Latency, Limit, LimitKind, MissingTarget, Node, Outcome, Phase,
    PhasesNs, ReadBack, ReadFrom, RunEvent, RunRecord, RunStatus, Sample, Stage, SystemState,
    Timeline,
};
use writebench_store::{Finalist, Store, StoreError, WorkspaceRecord};
use writebench_testkit::{example_case, example_run, example_target, recorded};

fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(path)
}

fn taken(target: usize, sample: &Sample) -> RunEvent {
    RunEvent::Sample {
        target,
        case: recorded("write"),
        sample: sample.clone().into(),
    }
}

fn run() -> RunRecord {
    let case = |section, name| example_case(section, name, Vec::new());
    let labelled = CaseRecord {
        label: Some("its name".to_owned()),
        ..case("two", "write,chunk=4KiB")
    };
    RunRecord {
        status: RunStatus::Running,
        label: Some("nightly".to_owned()),
        arguments: vec!["a \"quoted\"\nword".to_owned()],
        cases: vec![case("one", "write"), labelled, case("two", "write")],
        ..example_run()
    }
}

fn making() -> FilesystemSpec {
    FilesystemSpec {
        kind: "ext4".to_owned(),
        images: Vec::new(),
        commands: vec!["mkfs.ext4 /dev/loop0".to_owned()],
        mkfs_options: vec!["-b".to_owned(), "1024".to_owned()],
        mount_options: None,
    }
}

fn samples() -> Vec<Sample> {
    let good = Sample {
        startup_ns: None,
        write_back_failure: None,
        shares_blocks: Some(true),
        hole_bytes: Some(4096),
        kernel_threads: Some(Box::new(KernelThreads {
            count: 2,
            cpu_ns: 31,
            all_cpu_ns: 34,
            written_bytes: 32,
            all_written_bytes: 33,
        })),
        round: 0,
        order: Some(30),
        outcome: Outcome::Ok,
        phases_ns: PhasesNs {
            prepare: 1,
            open: 2,
            write: 3,
            sync: 4,
            close: 5,
        },
        bytes: 6,
        user_cpu_ns: 7,
        system_cpu_ns: 8,
        page_faults: 9,
        context_switches: 10,
        device_bytes: Some(11),
        read_back: Some(ReadBack {
            extent: Extent::Part,
            bytes: 5,
            from: Some(ReadFrom::Device),
        }),
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
                max_record: None,
                histogram: "aGlzdG9ncmFt".to_owned(),
            }
            .into(),
        ),
        system_state: SystemState {
            available_memory_bytes: Some(24),
            dirty_bytes: Some(25),
            writeback_bytes: None,
            throttled_ns: Some(26),
            thermal_throttles: None,
            returned_memory_bytes: Some(4096),
        },
        timeline: Some(
            Timeline {
                interval_ns: 27,
                bytes: vec![28, 29],
            }
            .into(),
        ),
        ranks: None,
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
        Outcome::TimedOut {
            phase: Phase::Sync,
            limit_ns: 9,
        },
        Outcome::WorkerDied {
            phase: Phase::Write,
            signal: Some(7),
            detail: String::new(),
        },
    ];
    std::iter::once(good)
        .chain(outcomes.map(|outcome| Sample::without_figures(1, outcome)))
        .collect()
}

#[test]
fn a_run_is_read_as_its_events_made_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let on = |target: &str, name| CaseRecord {
        target: target.to_owned(),
        ..example_case("one", name, Vec::new())
    };
    let mut expected = RunRecord {
        targets: vec![example_target("ext4"), example_target("xfs")],
        missing: vec![MissingTarget {
            name: "jfs".to_owned(),
            reason: "no mkfs.jfs".to_owned(),
        }],
        // A case in two tables has its samples in both.
        cases: vec![on("ext4", "write"), on("xfs", "write"), on("ext4", "write")],
        ..run()
    };
    expected.targets[0].made_filesystem = Some(making());
    let number = open(&path).unwrap().begin_run(&expected).unwrap();
    let mut folded = FoldedRun::new(expected.clone());

    let limit = Limit {
        kind: LimitKind::MemoryCopy,
        threads: 2,
        bytes_per_s: Some(18_000_000_000),
        description: "16 MiB".to_owned(),
    };
    let cluster = Cluster {
        nodes: vec![Node {
            host: "a".to_owned(),
            ranks: 2,
        }],
        mpi: "Open MPI".to_owned(),
        job: None,
        interconnect: None,
        earlier_nodes: Vec::new(),
    };
    expected.targets[0].limits = vec![limit.clone()];
    expected.cases.push(on("xfs", "pwrite"));
    for row in [0, 2] {
        expected.cases[row].samples = samples();
    }
    expected.cases[1].samples = samples()[..1].into();
    expected.cluster = Some(cluster.clone());
    (expected.written_bytes, expected.cpu_wait_ppm) = (Some(u64::MAX), Some(7));
    expected.decisions = vec![Decision {
        target: "ext4".to_owned(),
        workload: expected.cases[0].workload.clone(),
        answer: Some(ContestAnswer::new(
            "write".to_owned(),
            1.02,
            vec!["mmap".to_owned()],
        )),
        compared: 2,
        candidates: 9,
        counts_disturbed: true,
    }];
    expected.status = RunStatus::Complete;

    let before = [
        RunEvent::Limits {
            target: 0,
            limits: Vec::new(),
        },
        RunEvent::Limits {
            target: 0,
            limits: vec![limit],
        },
        RunEvent::Row(on("xfs", "pwrite").into()),
        taken(1, &samples()[0]),
    ];
    let after = [
        RunEvent::Cluster(cluster),
        RunEvent::Decisions(Vec::new()),
        RunEvent::Decisions(expected.decisions.clone()),
        RunEvent::Totals {
            written_bytes: u64::MAX,
            cpu_wait_ppm: Some(7),
        },
        RunEvent::Status(RunStatus::Complete),
    ];
    let store = open(&path).unwrap();
    for event in before
        .into_iter()
        .chain(samples().iter().map(|sample| taken(0, sample)))
        .chain(after)
    {
        store.record(number, &event).unwrap();
        folded.apply(event);
    }
    assert_eq!(store.run(number).unwrap(), expected);
    assert_eq!(folded.finish(), expected);
    let summary = &store.runs().unwrap()[0];
    assert_eq!(
        (summary.target.as_str(), summary.cases, summary.samples),
        ("ext4, xfs, jfs", 3, 6)
    );
    assert_eq!(summary.status, "complete");
    let nowhere = store.record(number, &RunEvent::Row(on("btrfs", "write").into()));
    assert!(
        nowhere.unwrap_err().to_string().contains("record the run"),
        "a target that the run does not have"
    );
}

#[test]
fn a_sample_of_a_case_without_a_row_is_dropped() {
    let mut folded = FoldedRun::new(run());
    folded.apply(RunEvent::Sample {
        target: 0,
        case: recorded("mmap"),
        sample: samples()[0].clone().into(),
    });
    folded.apply(taken(1, &samples()[0]));
    assert_eq!(folded.finish(), run());
}

#[test]
fn an_import_takes_all_runs_whole_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let mut from = open(&directory.path().join("from")).unwrap();
    let number = from.begin_run(&run()).unwrap();
    for sample in samples() {
        from.record(number, &taken(0, &sample)).unwrap();
    }
    from.record(number, &RunEvent::Status(RunStatus::Limited))
        .unwrap();
    let there = from.run(number).unwrap();
    let other = RunRecord {
        id: "other".to_owned(),
        ..there.clone()
    };
    let mut to = open(&directory.path().join("to")).unwrap();
    assert_eq!(
        to.import_runs(&[other.clone(), there.clone()]).unwrap(),
        [1, 2]
    );
    assert_eq!(
        (to.run(1).unwrap(), to.run(2).unwrap()),
        (other.clone(), there.clone())
    );
    assert!(
        to.is_imported(1).unwrap() && to.is_imported(2).unwrap(),
        "and is known by it"
    );
    assert!(!from.is_imported(number).unwrap());
    assert!(to.has_run("other").unwrap() && !to.has_run("third").unwrap());
    let third = RunRecord {
        id: "third".to_owned(),
        ..there
    };
    assert!(
        to.import_runs(&[third, other]).is_err(),
        "the second is there already"
    );
    assert_eq!(
        to.runs().unwrap().len(),
        2,
        "and the first of the two did not come"
    );
}

#[test]
fn another_connection_sees_a_sample_as_soon_as_it_is_added() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut writer = open(&path).unwrap();
    let reader = open(&path).unwrap();
    let number = writer.begin_run(&run()).unwrap();
    for count in 1..=3 {
        writer.record(number, &taken(0, &samples()[0])).unwrap();
        assert_eq!(reader.run(number).unwrap().cases[0].samples.len(), count);
    }
}

#[test]
fn a_run_is_running_only_while_a_store_holds_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = open(&path).unwrap();
    let other = open(&path).unwrap();
    let first = store.begin_run(&run()).unwrap();
    let second = store
        .begin_run(&RunRecord {
            id: "other".to_owned(),
            ..run()
        })
        .unwrap();
    let status = |store: &Store, number| {
        let listed = store
            .runs()
            .unwrap()
            .into_iter()
            .find(|run| run.number == number)
            .unwrap()
            .status;
        let status = store.run(number).unwrap().status;
        assert_eq!(listed, status.name());
        status
    };
    for looks in [&store, &other] {
        assert_eq!(
            [status(looks, first), status(looks, second)],
            [RunStatus::Running; 2]
        );
    }
    assert!(
        other.is_under_way_elsewhere(first).unwrap()
            && !store.is_under_way_elsewhere(first).unwrap()
    );
    assert!(!other.hold_run(second).unwrap(), "it is under way");
    store
        .record(second, &RunEvent::Status(RunStatus::Limited))
        .unwrap();
    drop(store);
    assert_eq!(status(&other, first), RunStatus::Interrupted);
    assert_eq!(status(&other, second), RunStatus::Limited);
    assert!(other.hold_run(first).unwrap() && other.hold_run(first).unwrap());
    assert_eq!(status(&other, first), RunStatus::Running);
    // A database from elsewhere may have this.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "foreign_keys", false)
        .unwrap();
    connection
        .execute(
            "UPDATE runs SET number = -1, status = 'running' WHERE number = ?1",
            [second],
        )
        .unwrap();
    assert_eq!(other.runs().unwrap()[0].status, "interrupted");
}

#[test]
fn a_run_is_locked_again_if_the_file_of_its_lock_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let locks = directory.path().join("db-runs");
    let mut store = open(&path).unwrap();
    let other = open(&path).unwrap();
    let number = store.begin_run(&run()).unwrap();
    std::fs::remove_file(&locks).unwrap();
    store.record(number, &taken(0, &samples()[0])).unwrap();
    assert_eq!(store.runs().unwrap()[0].status, "running");
    assert!(!other.hold_run(number).unwrap(), "it is in progress");
    std::fs::remove_file(&locks).unwrap();
    assert!(
        other.hold_run(number).unwrap(),
        "another program was faster"
    );
    let refused = store.record(number, &taken(0, &samples()[0]));
    assert!(
        matches!(refused, Err(StoreError::UnderWay { .. })),
        "{refused:?}"
    );
    assert_eq!(other.run(number).unwrap().cases[0].samples.len(), 1);
}

#[test]
fn writing_to_a_moved_database_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = open(&path).unwrap();
    let number = store.begin_run(&run()).unwrap();
    store.record(number, &taken(0, &samples()[0])).unwrap();
    store.check_in_place().unwrap();
    std::fs::rename(&path, directory.path().join("moved")).unwrap();
    let gone = |written: Result<(), StoreError>| {
        assert!(
            matches!(written, Err(StoreError::Gone { .. })),
            "{written:?}"
        );
    };
    gone(store.check_in_place());
    gone(store.record(number, &taken(0, &samples()[0])));
    gone(store.record(number, &RunEvent::Row(run().cases[0].clone().into())));
    gone(store.record(
        number,
        &RunEvent::Limits {
            target: 0,
            limits: Vec::new(),
        },
    ));
    gone(store.record(number, &RunEvent::Status(RunStatus::Complete)));
    assert_eq!(
        store.run(number).unwrap().cases[0].samples.len(),
        1,
        "what was written is read"
    );
    std::fs::rename(directory.path().join("moved"), &path).unwrap();
    store.record(number, &taken(0, &samples()[0])).unwrap();
}

#[test]
fn a_lock_of_another_program_is_distinguished_from_other_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = open(&path).unwrap();
    let number = store.begin_run(&run()).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let add = || store.record(number, &taken(0, &samples()[0]));
    assert!(store.without_waiting(add).unwrap_err().is_busy());
    assert_eq!(
        store.run(number).unwrap().cases[0].samples,
        [],
        "it can be read"
    );
    other.execute_batch("ROLLBACK").unwrap();
    store.without_waiting(add).unwrap();
    assert!(!store.run(99).unwrap_err().is_busy());
}

#[test]
fn a_run_too_large_to_read_is_not_begun() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("db")).unwrap();
    let large = [
        RunRecord {
            label: Some("x".repeat(4097)),
            ..run()
        },
        RunRecord {
            targets: (0..1001)
                .map(|number| example_target(&number.to_string()))
                .collect(),
            ..run()
        },
        RunRecord {
            cases: vec![run().cases[0].clone(); 100_001],
            ..run()
        },
    ];
    for run in large {
        assert!(matches!(
            store.begin_run(&run),
            Err(StoreError::TooLarge { .. })
        ));
        assert!(matches!(
            store.import_runs(&[run]),
            Err(StoreError::TooLarge { .. })
        ));
    }
    // No terminal could show any of these characters.
    let path = "\u{fffd}".repeat(4096);
    store
        .begin_run(&RunRecord {
            label: Some(path),
            ..run()
        })
        .unwrap();
}

#[test]
fn the_newest_run_and_the_newest_resumable_run_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("db")).unwrap();
    assert_eq!(
        (
            store.newest_run().unwrap(),
            store.unfinished_runs().unwrap()
        ),
        (None, vec![])
    );
    let with_id = |id: &str| RunRecord {
        id: id.to_owned(),
        ..run()
    };
    let first = store.begin_run(&run()).unwrap();
    let complete = store.begin_run(&with_id("complete")).unwrap();
    store
        .record(complete, &RunEvent::Status(RunStatus::Complete))
        .unwrap();
    store
        .import_runs(&[RunRecord {
            status: RunStatus::Limited,
            ..with_id("imported")
        }])
        .unwrap();
    let mut search = with_id("search");
    search.settings.search_bytes = Some(4096);
    store.begin_run(&search).unwrap();
    let origin = CaseOrigin::of_search(Stage::Final, false);
    let case = CaseRecord {
        origin,
        ..run().cases[0].clone()
    };
    store
        .begin_run(&RunRecord {
            cases: vec![case],
            ..with_id("search of an older version")
        })
        .unwrap();
    let mut made = with_id("made");
    made.targets[0].made_filesystem = Some(making());
    let newest = store.begin_run(&made).unwrap();
    assert_eq!(store.newest_run().unwrap(), Some(newest));
    assert_eq!(store.unfinished_runs().unwrap(), [first]);
    assert!(matches!(
        store.run(99),
        Err(StoreError::NoRun { run: 99, .. })
    ));
}

#[test]
fn a_run_that_is_deleted_leaves_no_row_and_other_runs_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let with_id = |id: &str| RunRecord {
        id: id.to_owned(),
        ..run()
    };
    let numbers = {
        let mut store = open(&path).unwrap();
        let numbers = ["a", "b", "c"].map(|id| store.begin_run(&with_id(id)).unwrap());
        for number in numbers {
            (0..100).for_each(|_| store.record(number, &taken(0, &samples()[0])).unwrap());
        }
        numbers
    };
    let mut store = open(&path).unwrap();
    let workspace = WorkspaceRecord {
        path: PathBuf::from("/t/left"),
        run: numbers[0],
    };
    store.add_workspace(&workspace).unwrap();
    let other = open(&path).unwrap();
    assert!(other.hold_run(numbers[1]).unwrap());
    let under_way = store.delete_runs(&numbers[..2]);
    assert!(
        matches!(under_way, Err(StoreError::UnderWay { run, .. }) if run == numbers[1]),
        "{under_way:?}"
    );
    let missing = store.delete_runs(&[numbers[0], 99]);
    assert!(
        matches!(missing, Err(StoreError::NoRun { run: 99, .. })),
        "{missing:?}"
    );
    assert_eq!(store.runs().unwrap().len(), 3, "all or none");
    drop(other);
    let kept = store.run(numbers[2]).unwrap();
    store.delete_runs(&numbers[..2]).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
    assert_eq!(store.run(numbers[2]).unwrap(), kept);
    assert_eq!(
        store.workspaces().unwrap(),
        [workspace],
        "it is still to be removed"
    );
    let connection = rusqlite::Connection::open(&path).unwrap();
    for table in ["targets", "cases", "samples"] {
        let select = format!("SELECT count(*) FROM {table} WHERE run <> ?1");
        let orphans: i64 = connection
            .query_row(&select, [numbers[2]], |row| row.get(0))
            .unwrap();
        assert_eq!(orphans, 0, "{table}");
    }
    let free: i64 = connection
        .pragma_query_value(None, "freelist_count", |row| row.get(0))
        .unwrap();
    assert_eq!(free, 0, "its space is given back");
}

#[test]
fn an_error_has_sqlites_message_once_and_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    std::fs::write(&path, [b'x'; 4096]).unwrap();
    let error = open(&path).err().unwrap();
    assert!(
        std::error::Error::source(&error).is_none(),
        "its text says it already"
    );
    let text = error.to_string();
    assert!(
        text.contains("not a database") && text.contains("Name another with --db"),
        "{text}"
    );
}

#[test]
fn runs_are_found_by_their_label_and_listed_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("db")).unwrap();
    let labels = [Some("before"), None, Some("after"), Some("before")];
    for (number, label) in (1..).zip(labels) {
        let (id, label): (i32, _) = (number, label.map(str::to_owned));
        store
            .begin_run(&RunRecord {
                id: id.to_string(),
                label,
                ..run()
            })
            .unwrap();
    }
    assert_eq!(store.runs_labelled("before").unwrap(), [1, 4]);
    assert!(store.runs_labelled("").unwrap().is_empty());
    let listed: Vec<Option<String>> = store
        .runs()
        .unwrap()
        .into_iter()
        .map(|run| run.label)
        .collect();
    assert_eq!(
        listed.iter().map(Option::as_deref).collect::<Vec<_>>(),
        labels
    );
}

#[test]
fn workspaces_are_remembered_until_they_are_forgotten() {
    use std::os::unix::ffi::OsStringExt;
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("db")).unwrap();
    // Not UTF-8.
    let path = PathBuf::from(std::ffi::OsString::from_vec(b"/t/\xff".to_vec()));
    let record = WorkspaceRecord {
        path: path.clone(),
        run: 3,
    };
    store.add_workspace(&record).unwrap();
    assert_eq!(store.workspaces().unwrap(), [record]);
    store.forget_workspace(&path).unwrap();
    assert!(store.workspaces().unwrap().is_empty());
}

#[test]
fn a_database_of_another_program_is_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("theirs");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (a)")
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = open(&path).err().unwrap().to_string();
    assert!(error.contains("another program"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn two_programs_may_open_a_new_database_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| open(&path).unwrap().runs().unwrap());
        }
    });
}

#[test]
fn a_case_is_known_by_its_recorded_values_and_otherwise_still_readable() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let case = |name| example_case("one", name, Vec::new());
    let run = RunRecord {
        cases: vec![case("write"), case("pwrite"), case("mmap"), case("writev")],
        ..run()
    };
    let number = open(&path).unwrap().begin_run(&run).unwrap();
    let later = rusqlite::Connection::open(&path).unwrap();
    let set = |position: i64, field: &str, value: &str| {
        let update = "UPDATE cases SET record = json_set(record, ?2, ?3) WHERE position = ?1";
        assert_eq!(
            later
                .execute(update, rusqlite::params![position, field, value])
                .unwrap(),
            1
        );
    };
    set(0, "$.name", "teleport,distance=1m");
    set(0, "$.method", "teleport");
    set(0, "$.axes.distance", "1m");
    set(1, "$.axes.chunk", "2MiB");
    let without =
        "UPDATE cases SET record = json_remove(record, '$.axes.memory') WHERE position = 3";
    assert_eq!(later.execute(without, []).unwrap(), 1);
    let cases = open(&path).unwrap().run(number).unwrap().cases;
    let (lost, other, ours) = (&cases[0].case, &cases[1].case, &cases[2].case);
    assert_eq!(
        (lost.name(), lost.method()),
        ("teleport,distance=1m", "teleport")
    );
    assert_eq!(lost.axes()["distance"], "1m");
    assert_eq!(
        (other.name(), other.known()),
        ("pwrite", None),
        "its default was another"
    );
    assert_eq!(ours, &run.cases[2].case);
    assert!(ours.known().is_some());
    assert_eq!(
        cases[3].case, run.cases[3].case,
        "an axis that came later has its default"
    );
}

/// A search, with samples of its finalists.
fn searched(store: &mut Store, id: &str, target: &str, baseline: &str) -> i64 {
    let case = |name: &str, is_baseline| CaseRecord {
        target: target.to_owned(),
        origin: CaseOrigin::of_search(Stage::Final, is_baseline),
        ..example_case("", name, Vec::new())
    };
    let cases = vec![
        case(baseline, true),
        case("pwrite,size=8MiB,threads=2", false),
    ];
    let run = RunRecord {
        id: id.to_owned(),
        targets: vec![example_target(target)],
        cases,
        ..example_run()
    };
    let number = store.begin_run(&run).expect("a run begins");
    for round in 0..6 {
        for name in [baseline, "pwrite,size=8MiB,threads=2"] {
            let sample = Sample {
                round,
                ..samples()[0].clone()
            };
            let event = RunEvent::Sample {
                target: 0,
                case: recorded(name),
                sample: sample.into(),
            };
            store.record(number, &event).expect("an event is recorded");
        }
    }
    number
}

#[test]
fn names_of_earlier_cases_are_found_without_reading_older_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let mut store = open(&path).unwrap();
    for number in 0..30 {
        searched(
            &mut store,
            &format!("older {number}"),
            "/data",
            "write,size=1MiB",
        );
    }
    let wanted = searched(&mut store, "wanted", "/data", "write,size=8MiB");
    let other = searched(&mut store, "other", "/other", "write,size=8MiB,sync=fsync");
    // What is looked for is in the newest runs, and the older ones can no longer be read.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute(
            "UPDATE cases SET record = 'broken' WHERE run < ?1",
            [wanted],
        )
        .unwrap();
    connection
        .execute("UPDATE samples SET sample = '{}' WHERE run < ?1", [wanted])
        .unwrap();
    assert!(store.run(1).is_err());
    let find = |names: &[&str]| {
        store
            .newest_run_with(names, |wanted: &&str, name| name == *wanted)
            .unwrap()
    };
    assert_eq!(
        find(&["write,size=8MiB", "pwrite,size=8MiB,threads=2"]),
        Some(wanted)
    );
    assert_eq!(find(&["write,size=8MiB,sync=fsync"]), Some(other));
    assert_eq!(
        find(&["write,size=8MiB", "write,size=8MiB,sync=fsync"]),
        None,
        "never in one run"
    );
    let has_baseline = |all: &[_]| {
        all.iter()
            .any(|one: &Finalist| one.is_baseline && one.samples == 6)
    };
    let (number, finalists) = store
        .newest_search_on("/data", has_baseline)
        .unwrap()
        .unwrap();
    assert_eq!(number, wanted);
    let names: Vec<_> = finalists
        .iter()
        .map(|one| (one.name.as_str(), one.is_baseline))
        .collect();
    assert_eq!(
        names,
        [
            ("write,size=8MiB", true),
            ("pwrite,size=8MiB,threads=2", false)
        ]
    );
}
