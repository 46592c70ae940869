use proptest::prelude::*;

use writebench_model::{
    Axis, Cache, Case, DataMemory, Goal, Method, Source, Space, built_in_suites,
};

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(Method::ALL)
}

fn assignment() -> impl Strategy<Value = (Axis, String)> {
    prop::sample::select(Axis::ALL).prop_flat_map(|axis| {
        let value = match axis {
            Axis::Size => (0u64..1 << 50).prop_map(|bytes| bytes.to_string()).boxed(),
            Axis::Chunk => (1u64..1 << 32).prop_map(|bytes| bytes.to_string()).boxed(),
            Axis::Sync => {
                "(none|o-dsync|rwf-dsync|(fsync|fdatasync|msync)(/[1-9][0-9]{0,3})?)".boxed()
            }
            Axis::Vector | Axis::Threads | Axis::Depth => {
                (1u32..=64).prop_map(|count| count.to_string()).boxed()
            }
            _ => prop::sample::select(axis.examples())
                .prop_map(str::to_owned)
                .boxed(),
        };
        (Just(axis), value)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_case_parses_back_from_its_name(method in method(), values in prop::collection::vec(assignment(), 0..6)) {
        let assignments: Vec<(Axis, &str)> = values.iter().map(|(axis, value)| (*axis, value.as_str())).collect();
        if let Ok(case) = Case::new(method, &assignments) {
            let name = case.to_string();
            let parsed = Case::parse(&name);
            prop_assert_eq!(parsed.as_ref(), Ok(&case), "{}", name);
            prop_assert_eq!(parsed.unwrap().to_string(), name);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(write|mmap|allocate)?[a-z0-9=,.-]{0,40}") {
        let _ = Case::parse(&text);
    }

    #[test]
    fn a_value_given_in_any_order_makes_the_same_case(
        method in method(),
        values in prop::collection::hash_map(prop::sample::select(vec!["size=4MiB", "prepare=overwrite", "sync=fsync"]), Just(()), 0..3),
    ) {
        let forwards: Vec<&str> = values.keys().copied().collect();
        let backwards: Vec<&str> = forwards.iter().rev().copied().collect();
        let parse = |parts: &[&str]| Case::parse(&[&[method.name()], parts].concat().join(","));
        prop_assert_eq!(parse(&forwards).ok(), parse(&backwards).ok());
    }
}

#[test]
fn names_leave_out_the_defaults() {
    for (given, name) in [
        ("write,chunk=1MiB,size=1GiB", "write"),
        (
            "write,sync=none,chunk=4k,size=5M",
            "write,size=5MiB,chunk=4KiB",
        ),
        ("mmap,prepare=set-len", "mmap"),
        ("pwrite,prepare=create,threads=4", "pwrite,threads=4"),
        ("allocate,call=posix-fallocate", "allocate"),
    ] {
        assert_eq!(Case::parse(given).unwrap().to_string(), name);
    }
}

#[test]
fn effort_grows_with_the_number_of_choices() {
    let order = [
        "write,chunk=64KiB,prepare=create",
        "write,chunk=16MiB,prepare=create",
        "write,chunk=16MiB,prepare=fallocate",
        "writev,chunk=64KiB,prepare=fallocate",
        "mmap,chunk=64KiB,prepare=set-len",
        "pwrite,chunk=64KiB,prepare=create,threads=4",
        "io_uring,chunk=64KiB,prepare=create",
        "io_uring,chunk=64KiB,prepare=create,cache=direct,registered=buffers",
    ];
    let of = |name: &str| Case::parse(name).unwrap().effort();
    assert!(
        order.is_sorted_by(|a, b| of(a) < of(b)),
        "{:?}",
        order.map(of)
    );
}

#[test]
fn every_card_has_an_example_and_a_unique_name() {
    for &method in Method::ALL {
        let example = Case::example(method, &[(Axis::Size, "64KiB")]).unwrap();
        assert_eq!(
            example.method().name(),
            method.name(),
            "another card has that name"
        );
        assert_eq!(Case::parse(&example.to_string()), Ok(example));
    }
}

#[test]
fn cases_with_different_results_have_different_workloads() {
    let workload = |name: &str| Case::parse(name).unwrap().workload();
    assert_eq!(workload("write"), workload("mmap,threads=4"));
    assert_eq!(
        workload("write"),
        workload("pwritev,prepare=fallocate,chunk=4k")
    );
    assert_eq!(
        workload("write,prepare=truncate"),
        workload("mmap,prepare=overwrite")
    );
    assert_eq!(workload("write,sync=fsync"), workload("mmap,sync=msync"));
    for other in [
        "write,sync=fsync",
        "write,size=2GiB",
        "write,data=zero",
        "write,data=compressible:50",
        "write,source=chunk",
        "write,prepare=overwrite",
        "pwrite,threads=2,files=per-thread",
    ] {
        assert_ne!(workload("write"), workload(other), "{other}");
    }
    assert_ne!(
        workload("allocate,call=ftruncate"),
        workload("allocate,call=fallocate")
    );
}

#[test]
fn the_alternate_name_has_the_shorter_size_of_the_same_case() {
    for (size, shorter) in [
        ("1TB", "1TB"),
        ("976562500KiB", "1TB"),
        ("64MiB", "64MiB"),
        ("1000", "1000"),
    ] {
        let case = Case::parse(&format!("write,size={size},chunk=64KiB")).unwrap();
        let name = format!("{case:#}");
        assert_eq!(name, format!("write,size={shorter},chunk=64KiB"));
        assert_eq!(Case::parse(&name), Ok(case));
    }
}

#[test]
fn built_in_suites_have_their_declared_number_of_cases() {
    for suite in built_in_suites() {
        let rows = suite.rows(&[], 4096).unwrap().rows;
        assert_eq!(Some(rows.len()), suite.cases, "{}", suite.name);
    }
}

#[test]
fn overrides_replace_values_of_methods_with_the_axis() {
    let suite = writebench_model::suite_named("write").unwrap();
    let overrides = [
        (Axis::Chunk, vec!["4KiB".to_owned(), "4k".to_owned()]),
        (Axis::Sync, vec!["fsync".to_owned()]),
        (Axis::Vector, vec!["4".to_owned()]),
    ];
    let rows = suite.rows(&overrides, 4096).unwrap().rows;
    // 2 methods × 3 states. The repeated chunk counts once, and neither method has vectors.
    assert_eq!(rows.len(), 6);
    assert_eq!(
        rows[0].case.to_string(),
        "fwrite,chunk=4KiB,prepare=truncate,sync=fsync"
    );
}

#[test]
fn a_label_keeps_its_numbers_and_an_impossible_row_is_reported() {
    let rows = |suite: &str, axis: Axis, value: &str| {
        let overrides = [(axis, vec![value.to_owned()])];
        writebench_model::suite_named(suite)
            .unwrap()
            .rows(&overrides, 1024)
            .unwrap()
    };
    let name = |rows: &writebench_model::Selection, label: &str| {
        let row = rows
            .rows
            .iter()
            .find(|row| row.label.as_deref() == Some(label));
        row.map(|row| row.case.to_string())
    };
    let odd = rows("durable", Axis::Chunk, "1000");
    assert_eq!(
        name(&odd, "append").unwrap(),
        "write,size=5MiB,chunk=1000,sync=fsync/1"
    );
    assert_eq!(
        name(&odd, "one big write + fsync").unwrap(),
        "write,size=5MiB,chunk=whole,sync=fsync"
    );
    let left_out = [
        "Left out 'overwrite, O_DIRECT + O_DSYNC': ",
        "Left out 'overwrite, O_DIRECT + O_DSYNC, 8 in flight': ",
    ];
    assert_eq!(odd.notes.len(), left_out.len());
    for (note, beginning) in odd.notes.iter().zip(left_out) {
        assert!(
            note.starts_with(beginning) && note.contains("multiples of a sector"),
            "{note}"
        );
    }
    // The chunks are blocks of the target's filesystem.
    let copies = rows("copy", Axis::Chunk, "8KiB");
    assert_eq!(
        name(&copies, "read+write 16bs").unwrap(),
        "read-write,size=256MiB,chunk=16KiB"
    );
    // Another state of the file drops labels about the state.
    let states = rows("durable", Axis::Prepare, "overwrite");
    assert_eq!(name(&states, "zero-filled + overwrite"), None);
    assert_eq!(name(&states, "append"), None);
    assert!(
        name(&states, "one big write + fsync")
            .unwrap()
            .contains("prepare=overwrite")
    );
}

#[test]
fn every_case_of_a_goal_satisfies_the_workload_of_plain_write() {
    for &goal in Goal::ALL {
        let expected = match goal {
            Goal::Stream => 500..1000,
            Goal::DurableStream => 600..1200,
            Goal::Overwrite => 200..500,
            Goal::DurableOverwrite => 200..600,
            Goal::Records => 60..200,
            Goal::Pages => 40..100,
            Goal::UntornPages => 25..60,
            Goal::Copy => 500..1000,
            Goal::DurableCopy => 500..1000,
            Goal::LargerThanMemory => 400..1000,
            Goal::Files => 15..40,
            Goal::DurableFiles => 60..150,
            Goal::Replace => 5..20,
            Goal::DurableReplace => 20..50,
        };
        let space = Space::for_goal(goal, &[]).unwrap();
        let count = space.cases().count();
        assert!(expected.contains(&count), "{goal}: {count}");
        let wanted = space.baseline.workload();
        for case in space.cases() {
            assert!(case.answers(&wanted).is_ok(), "{case}");
            assert_eq!(case.given().size_bytes, space.baseline.given().size_bytes);
        }
        assert!(!space.others.contains(&space.baseline));
    }
}

/// `--for` takes the first goal with the word, so another goal of that word could not be named.
#[test]
fn a_word_means_one_goal() {
    let mut goals = std::collections::HashMap::new();
    for &goal in Goal::ALL {
        for &word in std::iter::once(&goal.name()).chain(goal.aliases()) {
            let other = goals.insert(word, goal);
            assert_eq!(other, None, "{word} also means {goal}");
        }
    }
}

#[test]
fn a_goal_is_known_by_its_workload() {
    for &goal in Goal::ALL {
        let workload = Space::for_goal(goal, &[]).unwrap().baseline.workload();
        let known = if goal == Goal::LargerThanMemory {
            Goal::Stream
        } else {
            goal
        };
        assert_eq!(Goal::of_workload(&workload), Some(known));
    }
    assert_eq!(
        Goal::of_workload(&Case::parse("allocate").unwrap().workload()),
        None
    );
}

#[test]
fn pages_are_refused_with_what_to_set() {
    let pages = "pwrite,size=64MiB,chunk=8KiB,access=uniform,prepare=overwrite,sync=fdatasync/16";
    assert!(Case::parse(pages).is_ok());
    for (changed, why) in [
        ("prepare=fallocate", "Set prepare=overwrite"),
        ("sync=fdatasync", "Set sync=fdatasync/16"),
        ("size=10000", "the file has whole pages"),
        ("chunk=whole", "Set chunk=8KiB"),
        ("threads=2", "one thread commits"),
        ("source=chunk", "Set source=file"),
        ("rate=100", "Set access=sequential"),
        ("protect=rwf-atomic", "Set cache=direct"),
        ("access=sequential,order=sorted", "Set access=uniform"),
        (
            "access=sequential,protect=double-write",
            "Set access=uniform",
        ),
        (
            "access=sequential,sync=o-dsync/16",
            "vector=16,sync=o-dsync",
        ),
    ] {
        let axes: Vec<&str> = changed
            .split(',')
            .filter_map(|axis| axis.split('=').next())
            .collect();
        let kept: Vec<&str> = pages
            .split(',')
            .filter(|part| !axes.contains(&part.split('=').next().unwrap_or_default()))
            .collect();
        let name = format!("{},{changed}", kept.join(","));
        let refusal = Case::parse(&name).unwrap_err().to_string();
        assert!(refusal.contains(why), "{name}: {refusal}");
    }
}

#[test]
fn only_equal_commits_of_equally_safe_pages_are_compared() {
    let case = |values: &str| {
        let name = format!("pwrite,size=64MiB,chunk=8KiB,prepare=overwrite,{values}");
        Case::parse(&name).unwrap()
    };
    let plain = case("access=uniform,sync=fdatasync/16");
    let twice = case("access=uniform,protect=double-write,sync=fdatasync/16");
    let answers = |case: &Case, wanted: &Case| case.answers(&wanted.workload());
    assert!(answers(&case("access=uniform,sync=o-dsync/16"), &plain).is_ok());
    for (own, wanted, why) in [
        (
            &case("access=zipf,sync=fdatasync/16"),
            &plain,
            "other places",
        ),
        (
            &case("access=uniform,sync=fdatasync/8"),
            &plain,
            "another number of pages",
        ),
        (&plain, &twice, "can tear a page"),
        (&twice, &plain, "lets a power loss tear"),
    ] {
        let unfit = answers(own, wanted).unwrap_err().to_string();
        assert!(unfit.contains(why), "{own}: {unfit}");
    }
    assert_eq!(plain.commit_pages(), Some(16));
    assert_eq!(twice.journal_bytes(), 4096 + 16 * 8192);
    assert_eq!(twice.bytes_written(), 3 * (64 << 20));
}

/// `--case` takes both.
#[test]
fn no_goal_has_the_name_of_a_method() {
    for &goal in Goal::ALL {
        assert_eq!(Method::from_name(goal.name()), None);
    }
}

#[test]
fn a_case_is_simplified_by_one_choice_at_a_time() {
    let simpler = |case: &str, baseline: &str| -> Vec<String> {
        let [case, baseline] = [case, baseline].map(|name| Case::parse(name).unwrap());
        case.simplifications(&baseline)
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(
        simpler("pwrite,chunk=4MiB,threads=2,prepare=fallocate", "write"),
        [
            "pwrite,threads=2,prepare=fallocate",
            "pwrite,chunk=4MiB,prepare=fallocate",
            "pwrite,chunk=4MiB,threads=2",
            "write,chunk=4MiB,prepare=fallocate"
        ]
    );
    // A simplification keeps the workload.
    let durable = simpler(
        "pwrite,cache=direct,sync=fdatasync,prepare=overwrite",
        "write,sync=fsync,prepare=overwrite",
    );
    assert!(
        durable
            .iter()
            .all(|case| case.contains("sync=") && case.contains("overwrite")),
        "{durable:?}"
    );
    let shared = simpler("pwrite,threads=2,descriptor=per-thread", "write");
    assert_eq!(shared, ["pwrite", "pwrite,threads=2"]);
    // A mapping's own default is not a choice.
    assert!(simpler("mmap,chunk=256KiB", "write").contains(&"write,chunk=256KiB".to_owned()));
    assert!(simpler("write", "write").is_empty());
    // A workload stronger than requested depends on one choice, and is dropped with it only.
    let direct = simpler("pwrite,chunk=4MiB,cache=direct", "write");
    assert_eq!(direct, ["pwrite,cache=direct", "pwrite,chunk=4MiB"]);
}

#[test]
fn the_difference_of_two_cases_has_words() {
    let beyond = |case: &str, other: &str| {
        Case::parse(case)
            .unwrap()
            .words_beyond(&Case::parse(other).unwrap())
    };
    assert_eq!(
        beyond("write,chunk=8MiB,prepare=fallocate", "write"),
        "in 8 MiB chunks, fallocate(2) first"
    );
    assert_eq!(
        beyond("pwrite,threads=2,cache=direct", "pwrite,cache=direct"),
        "2 threads"
    );
    assert_eq!(
        beyond("pwrite,sync=fdatasync", "write,sync=fsync"),
        "pwrite(2) instead of write(2), then fdatasync(2)"
    );
    assert_eq!(beyond("write", "write,threads=1"), "");
}

#[test]
fn a_portfolio_has_few_cases_and_each_belongs_to_its_goal() {
    let table: std::collections::BTreeMap<String, Vec<String>> =
        toml::from_str(include_str!("../portfolio.toml")).unwrap();
    for &goal in Goal::ALL {
        let space = Space::for_goal(goal, &[]).unwrap();
        assert_eq!(
            space.portfolio.len(),
            table[goal.name()].len(),
            "{goal}: one is no case of the goal"
        );
        assert!(space.portfolio.len() <= 8, "{goal}");
        assert!(
            space
                .portfolio
                .iter()
                .all(|case| space.others.contains(case)),
            "{goal}"
        );
    }
    assert_eq!(table.len(), Goal::ALL.len());
}

#[test]
fn all_cases_of_a_search_use_the_requested_memory() {
    for (&goal, &memory) in Goal::ALL
        .iter()
        .flat_map(|goal| DataMemory::ALL.iter().map(move |memory| (goal, memory)))
    {
        let space = Space::for_goal(goal, &[(Axis::Memory, vec![memory.to_string()])]);
        let is_small = matches!(
            goal,
            Goal::LargerThanMemory | Goal::Replace | Goal::DurableReplace
        );
        if is_small && memory == DataMemory::HugePages {
            assert!(
                space
                    .unwrap_err()
                    .to_string()
                    .contains("smaller than a huge page")
            );
            continue;
        }
        let space = space.unwrap();
        for case in space.cases() {
            let is_own = case.method().copies() || case.given().source == Source::Chunk;
            let from_memory = if is_own { DataMemory::Any } else { memory };
            assert_eq!(case.workload().memory, from_memory, "{case}");
            let is_direct = case.choices().cache == Cache::Direct && !case.method().copies();
            assert_eq!(
                case.staged_bytes() > 0,
                is_direct && memory == DataMemory::Any,
                "{case}"
            );
        }
    }
}

#[test]
fn records_smaller_than_a_sector_exclude_direct_io_and_deep_queues() {
    let fixed = [
        (Axis::Size, vec!["10kB".to_owned()]),
        (Axis::Chunk, vec!["100".to_owned()]),
    ];
    let space = Space::for_goal(Goal::Records, &fixed).unwrap();
    assert_eq!(
        space.baseline.to_string(),
        "write,size=10000,chunk=100,sync=fsync/1"
    );
    assert!(
        space.others.len() > 30
            && space
                .cases()
                .all(|case| !case.to_string().contains("direct"))
    );
    let deep = Case::parse("io_uring,size=10000,chunk=100,depth=4,sync=fsync/1").unwrap();
    assert!(
        deep.answers(&space.baseline.workload()).is_err(),
        "four are in flight"
    );
    let less = Case::parse("write,size=10000,chunk=100,sync=fsync").unwrap();
    assert!(
        less.answers(&space.baseline.workload()).is_err()
            && space.baseline.workload().check(&less.workload()).is_ok()
    );
}

#[test]
fn the_words_of_a_case_are_a_programmers() {
    for (name, words) in [
        ("write,size=64MiB", "write(2)"),
        (
            "write,chunk=4KiB,sync=fdatasync",
            "write(2) in 4 KiB chunks, then fdatasync(2)",
        ),
        ("write,prepare=fallocate", "fallocate(2), then write(2)"),
        ("write,prepare=overwrite", "write(2) in place"),
        (
            "write,chunk=4KiB,sync=fsync/1",
            "write(2) in 4 KiB chunks, fsync(2) after each chunk",
        ),
        (
            "mmap,threads=2,prepare=fallocate",
            "fallocate(2), then memory copies into mmap(2), 2 threads",
        ),
        (
            "pwrite,threads=2,files=per-thread,cache=direct",
            "pwrite(2) with O_DIRECT, 2 threads, a file each",
        ),
        (
            "write-files,size=1MiB,threads=2,directory=per-thread",
            "open(2), write(2), close(2), 2 threads, a directory each",
        ),
        (
            "write-files,size=1MiB,naming=rename,sync-files=syncfs,prepare=overwrite",
            "open(2), write(2), close(2) under a temporary name, then one syncfs(2), rename(2) of each file, \
             fsync(2) of the directory",
        ),
        (
            "write-files,size=1MiB,chunk=4KiB,threads=2,directory=per-thread,naming=rename,sync-files=each",
            "open(2), write(2), fsync(2), close(2) in 4 KiB chunks under a temporary name, rename(2), 2 threads, \
             a directory each, then fsync(2) of each directory",
        ),
        (
            "write-files,size=1MiB,naming=tmpfile,sync-files=writeback",
            "open(2), write(2), sync_file_range(2), linkat(2), close(2) in an O_TMPFILE, then fsync(2) of each file, \
             rename(2) of each file, fsync(2) of the directory",
        ),
        (
            "write-files,file-size=whole,naming=exchange,sync-files=batch,prepare=overwrite",
            "open(2), write(2), close(2) under a temporary name, then fsync(2), RENAME_EXCHANGE and unlink(2), \
             fsync(2) of the directory",
        ),
        (
            "io_uring-files,size=1MiB,depth=4,naming=rename,sync-files=each",
            "linked io_uring(7) open, write, fsync, close under a temporary name, rename, 4 in flight, then fsync(2) \
             of the directory",
        ),
        ("allocate", "posix_fallocate(3)"),
        ("allocate,call=ftruncate", "ftruncate(2)"),
        (
            "io_uring,chunk=4KiB,depth=4,registered=both,sync=rwf-dsync",
            "io_uring(7) writes in 4 KiB chunks with RWF_DSYNC, 4 in flight, registered buffers and file",
        ),
        (
            "mmap-write,chunk=whole,advice=sequential",
            "fadvise(2) on the source, then mmap(2) of the source, write(2) in one call",
        ),
    ] {
        assert_eq!(Case::parse(name).unwrap().words(), words, "{name}");
    }
}

#[test]
fn the_short_words_of_a_case_leave_out_its_work() {
    for (name, words) in [
        ("write,sync=fsync", "write, then fsync"),
        (
            "io_uring,prepare=fallocate,cache=direct,depth=2,sync=fdatasync",
            "fallocate, then io_uring writes with O_DIRECT, 2 in flight, then fdatasync",
        ),
        (
            "write,chunk=4KiB,prepare=zero-fill,sync=fdatasync/1",
            "zero-fill, then write, fdatasync after each record",
        ),
        (
            "pwrite,prepare=overwrite,chunk=4MiB",
            "pwrite in 4 MiB chunks",
        ),
        (
            "read-write,prepare=fallocate",
            "fallocate, then read and write",
        ),
        (
            "write-files,size=1MiB,sync-files=syncfs,threads=2,directory=per-thread",
            "write all, then one syncfs, 2 threads, a directory each",
        ),
        (
            "write-files,size=1MiB,naming=rename,sync-files=each,prepare=overwrite",
            "write and fsync each, rename",
        ),
        (
            "io_uring-files,size=1MiB,depth=4,sync-files=batch",
            "io_uring: write all, then fsync each, 4 in flight",
        ),
        (
            "write-files,file-size=whole,naming=exchange-background,sync-files=each,prepare=overwrite",
            "write and fsync each, RENAME_EXCHANGE and unlink by a second thread",
        ),
    ] {
        assert_eq!(Case::parse(name).unwrap().short_words(), words, "{name}");
    }
}

#[test]
fn words_distinguish_all_cases_of_a_search() {
    for &goal in Goal::ALL {
        let space = Space::for_goal(goal, &[]).unwrap();
        let mut by_words = std::collections::HashMap::new();
        for case in space.cases() {
            let other = by_words.insert(case.words(), case);
            assert!(
                other.is_none(),
                "{} is {case}, and {}",
                case.words(),
                other.unwrap()
            );
        }
    }
}
