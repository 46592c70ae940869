//! Cases have one canonical form if they make the same calls. The tests compare the forms with the calls, which they
//! make here one by one.

use proptest::prelude::*;
use writebench_model::{
    Axis, Case, Choices, Descriptor, Drop, Files, Goal, Prepare, Space, Stride,
};

/// What one thread does with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    Open,
    /// A write has an offset and the lengths of its elements.
    Write(u64, Vec<u64>),
    /// A sync covers the thread's bytes up to this one.
    Sync(u64),
    Reserve(u64),
    /// A queue holds so many writes in flight.
    Queue(u64),
    WriteBack(u64, u64),
    Drop(u64, u64),
}

/// The calls that the engine makes for `write`, `pwrite`, `writev`, `pwritev` and `io_uring`. The first thread syncs a
/// shared descriptor at the end.
fn calls(case: &Case) -> Vec<Vec<Call>> {
    let ranges = case.ranges();
    (0..ranges.len())
        .map(|thread| calls_of_thread(case, thread))
        .collect()
}

fn calls_of_thread(case: &Case, thread: usize) -> Vec<Call> {
    let choices = case.choices();
    let range = case.ranges()[thread];
    let mut calls = Vec::new();
    let is_own = choices.files == Files::PerThread || choices.descriptor == Descriptor::PerThread;
    if thread == 0 || is_own {
        calls.push(Call::Open);
    }
    let base = if choices.files == Files::PerThread {
        0
    } else {
        range.offset
    };
    if case.method().has_axis(Axis::Depth) {
        calls.push(Call::Queue(
            range
                .length
                .div_ceil(choices.chunk_size_bytes)
                .min(choices.depth.into()),
        ));
    }
    let room = if case.method().has_axis(Axis::Vector) {
        u64::from(choices.vector)
    } else {
        1
    };
    let mut written = Written {
        case,
        done: 0,
        synced: 0,
        chunks: 0,
        started: 0,
        ended: 0,
        reserved: 0,
    };
    let mut at = 0;
    while at < range.length {
        let (offset, mut elements) = (base + distance(case.stride(), at), Vec::new());
        while (elements.len() as u64) < room && at < range.length {
            let length = choices.chunk_size_bytes.min(range.length - at);
            elements.push(length);
            at += length;
        }
        written.before(at, &mut calls);
        let chunks = elements.len() as u64;
        calls.push(Call::Write(offset, elements));
        written.after(at, chunks, &mut calls);
    }
    written.end(&mut calls);
    // The cut after syncs on the way is synced again.
    if choices.prepare == Prepare::FallocateAhead && choices.sync.every.is_some() {
        calls.push(Call::Sync(range.length));
    }
    let syncs_at_end =
        choices.sync.is_at_end() && (thread == 0 || choices.files == Files::PerThread);
    if syncs_at_end {
        calls.push(Call::Sync(range.length));
    }
    calls
}

fn distance(stride: Option<Stride>, at: u64) -> u64 {
    stride.map_or(at, |stride| stride.distance(at))
}

struct Written<'c> {
    case: &'c Case,
    done: u64,
    synced: u64,
    chunks: u64,
    started: u64,
    ended: u64,
    reserved: u64,
}

impl Written<'_> {
    fn before(&mut self, until: u64, calls: &mut Vec<Call>) {
        if self.case.choices().prepare == Prepare::FallocateAhead && until > self.reserved {
            calls.push(Call::Reserve(self.reserved));
            self.reserved = until.next_multiple_of(Prepare::AHEAD_BYTES);
        }
    }

    fn after(&mut self, until: u64, chunks: u64, calls: &mut Vec<Call>) {
        let choices = self.case.choices();
        self.done = until;
        self.chunks += chunks;
        if choices
            .sync
            .every
            .is_some_and(|every| self.chunks >= u64::from(every))
        {
            self.end(calls);
        }
        let Some(distance) = choices
            .writeback_bytes
            .filter(|distance| until - self.started >= *distance)
        else {
            return;
        };
        assert!(distance > 0);
        calls.push(Call::WriteBack(self.started, until));
        if self.ended < self.started {
            calls.push(Call::WriteBack(self.ended, self.started));
            if choices.drop == Drop::Yes {
                calls.push(Call::Drop(self.ended, self.started));
            }
        }
        (self.ended, self.started) = (self.started, until);
    }

    fn end(&mut self, calls: &mut Vec<Call>) {
        if self.case.choices().sync.every.is_some() && self.done > self.synced {
            calls.push(Call::Sync(self.done));
            (self.synced, self.chunks) = (self.done, 0);
        }
    }
}

fn value(axis: Axis) -> BoxedStrategy<(Axis, &'static str)> {
    let values: &[&str] = match axis {
        Axis::Chunk => &[
            "4KiB", "8KiB", "12KiB", "16KiB", "48KiB", "1MiB", "4MiB", "whole",
        ],
        Axis::Threads => &["1", "2", "3"],
        Axis::Vector => &["1", "2", "4", "128", "512"],
        Axis::Depth => &["1", "2", "4", "32", "64"],
        Axis::Descriptor | Axis::Files => &["shared", "per-thread"],
        Axis::Layout => &["segmented", "strided"],
        Axis::Block => &["16KiB", "48KiB", "1MiB"],
        Axis::Sync => &[
            "none",
            "fsync",
            "fsync/1",
            "fsync/2",
            "fsync/4",
            "fsync/128",
            "o-dsync",
        ],
        Axis::Writeback => &["none", "4KiB", "8KiB", "16KiB", "32KiB", "1MiB"],
        Axis::Drop => &["no", "yes"],
        Axis::Prepare => &["create", "fallocate-ahead"],
        _ => &["16KiB", "20KiB", "48KiB", "50000", "3MiB"],
    };
    prop::sample::select(values)
        .prop_map(move |value| (axis, value))
        .boxed()
}

const VARIED: &[Axis] = &[
    Axis::Chunk,
    Axis::Threads,
    Axis::Vector,
    Axis::Depth,
    Axis::Descriptor,
    Axis::Files,
    Axis::Layout,
    Axis::Block,
    Axis::Sync,
    Axis::Writeback,
    Axis::Drop,
    Axis::Prepare,
];

/// Two cases of a method and a size that differ on a few axes.
fn pair() -> impl Strategy<Value = (Case, Case)> {
    let method = prop::sample::select(vec!["write", "pwrite", "writev", "pwritev", "io_uring"]);
    let values = || prop::collection::vec(prop::sample::select(VARIED).prop_flat_map(value), 0..4);
    (method, value(Axis::Size), values(), values(), values()).prop_filter_map(
        "a possible pair",
        |(method, size, common, own, other)| {
            let case = |own: &[(Axis, &str)]| {
                let mut values = vec![size];
                for &(axis, value) in own.iter().chain(&common) {
                    if values.iter().all(|(earlier, _)| *earlier != axis) {
                        values.push((axis, value));
                    }
                }
                // A ring links a sync to its write.
                let is_linked =
                    |(axis, value): &(Axis, &str)| *axis == Axis::Sync && value.contains('/');
                if method == "io_uring" && values.iter().any(is_linked) {
                    return None;
                }
                let name: String = values
                    .iter()
                    .map(|(axis, value)| format!(",{axis}={value}"))
                    .collect();
                Case::parse(&format!("{method}{name}")).ok()
            };
            Some((case(&own)?, case(&other)?))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn one_form_means_the_same_calls((one, other) in pair()) {
        let is_same = calls(&one) == calls(&other) && one.workload() == other.workload();
        // With several ranges, distances that have one effect keep their names.
        let keeps_name = one.choices().writeback_bytes.is_some() && one.thread_count() > 1;
        prop_assert_eq!(
            one.is_same_work(&other) || keeps_name && is_same, is_same,
            "{} is {}, and {} is {}", &one, one.canonical(), &other, other.canonical()
        );
    }

    #[test]
    fn the_form_is_its_own_and_no_longer_name((case, _) in pair()) {
        let form = case.canonical();
        prop_assert_eq!(&form.canonical(), &form, "{}", &case);
        prop_assert_eq!(calls(&form), calls(&case), "{} is {}", &case, &form);
        prop_assert_eq!(form.workload(), case.workload());
        prop_assert!(form.complexity() <= case.complexity(), "{} is {}", &case, &form);
    }
}

#[test]
fn values_without_effect_are_the_defaults() {
    for (name, form) in [
        ("write,size=64KiB,chunk=64KiB", "write,size=64KiB"),
        ("write,size=64KiB,chunk=whole", "write,size=64KiB"),
        ("write,size=4MiB,chunk=1GiB", "write,size=4MiB,chunk=whole"),
        ("write,size=4MiB,chunk=2MiB", "write,size=4MiB,chunk=2MiB"),
        (
            "pwrite,size=4MiB,chunk=2MiB,threads=4",
            "pwrite,size=4MiB,threads=4",
        ),
        (
            "write,size=64KiB,chunk=256KiB,source=chunk",
            "write,size=64KiB,source=chunk",
        ),
        (
            "write,size=4MiB,chunk=8MiB,source=chunk",
            "write,size=4MiB,chunk=4MiB,source=chunk",
        ),
        (
            "writev,size=64KiB,chunk=4KiB,vector=512",
            "writev,size=64KiB,chunk=4KiB",
        ),
        (
            "writev,size=64KiB,chunk=4KiB,vector=15",
            "writev,size=64KiB,chunk=4KiB,vector=15",
        ),
        (
            "io_uring,size=64KiB,chunk=4KiB,depth=64",
            "io_uring,size=64KiB,chunk=4KiB",
        ),
        (
            "io_uring,size=64KiB,chunk=64KiB,depth=1,sync=fsync/1",
            "io_uring,size=64KiB,sync=fsync/1",
        ),
        (
            "write,size=64KiB,chunk=4KiB,sync=fsync/16",
            "write,size=64KiB,chunk=4KiB,sync=fsync",
        ),
        (
            "write,size=64KiB,chunk=4KiB,sync=fsync/15",
            "write,size=64KiB,chunk=4KiB,sync=fsync/15",
        ),
        ("write,size=1MiB,writeback=8MiB,drop=yes", "write,size=1MiB"),
        (
            "mmap,size=1MiB,descriptor=per-thread,map=per-thread",
            "mmap,size=1MiB",
        ),
        (
            "mmap,size=1MiB,chunk=4KiB,populate=window",
            "mmap,size=1MiB,chunk=4KiB,populate=all",
        ),
        (
            "mmap,size=8MiB,populate=window,window=4MiB",
            "mmap,size=8MiB,populate=window,window=4MiB",
        ),
        ("pwrite,size=4MiB,layout=strided", "pwrite,size=4MiB"),
        (
            "splice,size=64KiB,chunk=256KiB",
            "splice,size=64KiB,chunk=256KiB",
        ),
        ("splice,size=64KiB,chunk=16MiB", "splice,size=64KiB"),
        (
            "write-files,size=1MiB,file-size=16KiB,chunk=64KiB",
            "write-files,size=1MiB",
        ),
        (
            "write-files,size=1MiB,file-size=4KiB..64KiB,chunk=16KiB",
            "write-files,size=1MiB,file-size=4KiB..64KiB,chunk=16KiB",
        ),
        (
            "io_uring-files,size=64KiB,depth=4",
            "io_uring-files,size=64KiB",
        ),
        (
            "pipeline,size=1MiB,chunk=256KiB,depth=8",
            "pipeline,size=1MiB,chunk=256KiB",
        ),
    ] {
        let [case, form] = [name, form].map(|name| Case::parse(name).unwrap());
        assert_eq!(case.canonical(), form, "{name} is {}", case.canonical());
    }
}

#[test]
fn a_search_has_no_two_cases_of_the_same_calls() {
    for &goal in Goal::ALL {
        for size in ["4KiB", "64KiB", "100KiB", "1MiB", "4MiB", "16MiB", "256MiB"] {
            let Ok(space) = Space::for_goal(goal, &[(Axis::Size, vec![size.to_owned()])]) else {
                continue;
            };
            let forms: std::collections::HashSet<Case> =
                space.cases().map(Case::canonical).collect();
            assert_eq!(forms.len(), space.cases().count(), "{goal} with {size}");
            assert!(
                space
                    .portfolio
                    .iter()
                    .all(|case| space.others.contains(case)),
                "{goal} with {size}"
            );
            for case in &space.others {
                let choices = case.choices();
                let is_possible = choices.chunk_size_bytes <= case.given().size_bytes.max(1 << 20);
                assert!(
                    is_possible || choices.chunk_size_bytes == Choices::WHOLE,
                    "{case}"
                );
            }
        }
    }
}

/// After O_TRUNC, a power loss finds neither the old content nor the new.
#[test]
fn an_overwrite_in_place_never_empties_the_file() {
    for goal in [Goal::Overwrite, Goal::DurableOverwrite] {
        let space = Space::for_goal(goal, &[]).unwrap();
        for case in space.cases().chain(&space.portfolio) {
            assert_eq!(case.choices().prepare, Prepare::Overwrite, "{goal}: {case}");
        }
    }
}

/// `writev,vector=1` makes the calls of `write`, and is not a simpler form of another case either.
#[test]
fn no_candidate_has_vectors_of_one_chunk_without_a_flag() {
    for &goal in Goal::ALL {
        for size in ["4KiB", "64KiB", "1MiB", "64MiB"] {
            let size = [(Axis::Size, vec![size.to_owned()])];
            let Ok(mut space) = Space::for_goal(goal, &size) else {
                continue;
            };
            if goal.has_records() {
                space.group(1).unwrap();
            }
            let simpler = space
                .cases()
                .flat_map(|case| case.simplifications(&space.baseline));
            let needless = space.cases().cloned().chain(simpler);
            let needless: Vec<String> = needless
                .filter(|case| case.method().has_axis(Axis::Vector) && case.has_needless_vector())
                .map(|case| case.to_string())
                .collect();
            assert!(needless.is_empty(), "{goal}: {needless:?}");
        }
    }
    let needless = |name: &str| Case::parse(name).unwrap().has_needless_vector();
    assert!(needless("writev,size=1MiB,chunk=4KiB,vector=1"));
    assert!(needless("pwritev,size=64KiB,chunk=64KiB,vector=16"));
    assert!(!needless("pwritev,size=64KiB,chunk=4KiB,vector=16"));
    assert!(!needless(
        "pwritev,size=64KiB,chunk=4KiB,vector=1,sync=rwf-dsync"
    ));
    assert!(!needless("pwritev,size=64KiB,cache=dontcache"));
    assert!(!needless("write,size=64KiB"));
}

#[test]
fn a_small_file_has_fewer_candidates() {
    let count = |goal, size: &str| {
        Space::for_goal(goal, &[(Axis::Size, vec![size.to_owned()])])
            .unwrap()
            .cases()
            .count()
    };
    // Without canonical forms there would be several equal plain writes.
    assert_eq!(count(Goal::Stream, "64KiB"), 140);
    assert_eq!(count(Goal::DurableReplace, "100KiB"), 34);
}

/// The engine makes the same directories: see `file_tree::directories`.
#[test]
fn few_files_have_one_directory_for_each_thread() {
    let canonical = |name: &str| Case::parse(name).unwrap().canonical().to_string();
    for (name, expected) in [
        (
            "write-files,size=4MiB,directory=fan-out",
            "write-files,size=4MiB,directory=per-thread",
        ),
        (
            "write-files,size=8MiB,threads=2,directory=fan-out",
            "write-files,size=8MiB,threads=2,directory=per-thread",
        ),
        (
            "write-files,size=8MiB,directory=fan-out",
            "write-files,size=8MiB,directory=fan-out",
        ),
    ] {
        assert_eq!(canonical(name), expected);
    }
}
