use std::path::Path;

use writebench_model::{Axis, Case, CaseRecord, Outcome, RecordedCase, RunRecord, Sample};
use writebench_snippets::fio::job;
use writebench_testkit::{example_case, example_pairs, example_run, example_target};

use super::{README, RenderedFiles, files};
use crate::Report;

fn case(name: &str) -> CaseRecord {
    let samples = (0..6).map(|round| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        (sample.phases_ns.write, sample.phases_ns.open, sample.bytes) =
            (1_000_000, 20_000, 1 << 20);
        sample
    });
    let mut record = example_case("A section", name, samples.collect());
    record.workload.bytes = 1 << 20;
    if record.case.known().is_none() {
        let (method, axes) = name.split_once(',').unwrap_or((name, ""));
        let axes = axes.split(',').filter_map(|axis| axis.split_once('='));
        let axes = axes
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .collect();
        record.case = RecordedCase::unknown(name.to_owned(), method.to_owned(), axes);
    }
    record
}

struct Made {
    jobs: Vec<(String, String)>,
    readme: String,
    note: Option<String>,
}

fn made(report: &Report) -> Made {
    let RenderedFiles {
        files: mut jobs,
        note,
    } = files(report, Path::new("jobs"));
    let (name, readme) = jobs.pop().unwrap();
    assert_eq!(name, README);
    Made { jobs, readme, note }
}

fn without(cases: &str) -> Option<String> {
    Some(format!("No fio job for {cases}: see jobs/README."))
}

fn jobs(cases: &[&str]) -> Made {
    let cases = cases.iter().map(|name| case(name)).collect();
    made(&Report::from_run(
        Some(3),
        RunRecord {
            cases,
            ..example_run()
        },
    ))
}

fn options(name: &str, section: &str) -> String {
    let files = jobs(&[name]);
    assert_eq!(files.note, None, "{}", files.readme);
    let (_, rest) = files.jobs[0]
        .1
        .split_once(&format!("\n[{section}]\n"))
        .unwrap();
    rest.split("\n[")
        .next()
        .unwrap()
        .trim_end()
        .replace('\n', " ")
}

fn why(name: &str) -> String {
    let files = jobs(&[name]);
    assert_eq!(
        (files.jobs.len(), files.note),
        (0, without("1 of 1 case")),
        "{}",
        files.readme
    );
    files
        .readme
        .lines()
        .last()
        .unwrap()
        .split_once(": ")
        .unwrap()
        .1
        .to_owned()
}

#[test]
fn a_job_names_its_case_and_its_sections() {
    let files = jobs(&[
        "pwrite,size=1MiB,chunk=64KiB,threads=3,prepare=overwrite,cache=direct,sync=fdatasync/4,memory=page-aligned",
        "fwrite,size=1MiB",
    ]);
    insta::assert_snapshot!(format!("{}\n{}", files.jobs[0].1, files.readme));
}

#[test]
fn each_method_has_the_engine_that_makes_its_calls() {
    for (name, engine) in [
        ("write,size=1MiB", "ioengine=sync zero_buffers=0"),
        ("pwrite,size=1MiB", "ioengine=psync zero_buffers=0"),
        (
            "pwritev,size=1MiB,vector=1",
            "ioengine=pvsync zero_buffers=0",
        ),
        (
            "writev,size=1MiB,chunk=4KiB",
            "ioengine=vsync iodepth=128 iodepth_batch_submit=128",
        ),
        (
            "io_uring,size=1MiB,chunk=4KiB,depth=8,registered=files",
            "fixedbufs=0 registerfiles=1",
        ),
        (
            "mmap,size=1MiB,prepare=set-len,sync=msync",
            "ioengine=mmap end_fsync=1",
        ),
    ] {
        let options = options(name, "writes-0");
        assert!(options.contains(engine), "{name}: {options}");
    }
}

/// Each value of an axis changes the job, or is refused.
#[test]
fn no_value_is_left_out_silently() {
    // fio's mappings begin at offset 0: one thread per file.
    for &axis in Axis::ALL.iter().filter(|axis| **axis != Axis::Map) {
        for value in axis.examples() {
            let mut pairs = example_pairs(axis, value);
            pairs.retain(|(usual, _)| job(usual).is_ok());
            let is_said = |(usual, case): &(Case, Case)| {
                case.card(axis).fio.is_err() || job(usual) != job(case)
            };
            assert!(
                pairs.is_empty() || pairs.iter().any(is_said),
                "{axis}={value}"
            );
        }
    }
}

#[test]
fn each_state_of_the_file_is_made_before_the_clock() {
    for (prepare, fallocate) in [
        ("create", "none"),
        ("set-len", "truncate"),
        ("fallocate", "native"),
        ("posix-fallocate", "posix"),
        ("fallocate-keep-size", "keep"),
    ] {
        let options = options(&format!("write,size=1MiB,prepare={prepare}"), "writes-0");
        assert!(
            options.contains(&format!("fallocate={fallocate} ")) && !options.contains("stonewall"),
            "{options}"
        );
    }
    // fio would fill the file for a mapping.
    let sparse = options("mmap,size=1MiB,prepare=set-len", "before-0");
    assert!(
        sparse.contains("fallocate=truncate") && sparse.contains("create_only=1"),
        "{sparse}"
    );
    let zeros = options("write,size=1MiB,prepare=zero-fill", "before-0");
    assert!(zeros.ends_with("zero_buffers=1 end_fsync=1"), "{zeros}");
    let old = options("write,size=1MiB,prepare=overwrite,data=zero", "before-0");
    assert!(old.ends_with("zero_buffers=0 end_fsync=1"), "{old}");
}

#[test]
fn threads_write_their_own_ranges_or_files() {
    let shared = "pwrite,size=1MiB,chunk=256KiB,threads=3";
    for (section, range) in [
        ("writes-0", "offset=0 size=262144"),
        ("writes-1", "offset=262144 size=262144"),
        ("writes-2", "offset=524288 size=524288"),
    ] {
        let options = options(shared, section);
        assert!(
            options.contains(range) && options.contains("unlink=0"),
            "{options}"
        );
    }
    assert!(options(shared, "remove").contains("filename=writebench-sample "));
    let own = options("write,size=1MiB,threads=2,files=per-thread", "writes-1");
    assert!(
        own.contains("filename=writebench-sample-1 offset=0 size=524288 bs=524288"),
        "{own}"
    );
    assert!(own.contains("unlink=1"), "{own}");
}

#[test]
fn jobs_sync_by_the_same_call_as_often() {
    for (sync, options_of_it) in [
        ("fsync", "ioengine=sync end_fsync=1"),
        ("fsync/4", "ioengine=sync fsync=4 end_fsync=1"),
        ("fdatasync/1", "ioengine=sync fdatasync=1 end_fsync=1"),
        ("o-dsync", "ioengine=sync sync=dsync"),
        ("o-sync", "ioengine=sync sync=sync"),
    ] {
        let options = options(&format!("write,size=1MiB,sync={sync}"), "writes-0");
        assert!(options.contains(options_of_it), "{options}");
    }
}

#[test]
fn cases_without_a_job_have_a_reason() {
    for (name, reason) in [
        ("write,size=0", "at least a byte"),
        (
            "write,size=1000,chunk=300",
            "leaves out the rest: 1000 bytes in chunks of 300",
        ),
        ("write,size=8GiB,chunk=whole", "2 GiB"),
        ("write,size=1MiB,prepare=truncate", "empties none"),
        (
            "write,size=1MiB,prepare=fallocate-zero-range",
            "FALLOC_FL_ZERO_RANGE",
        ),
        (
            "write,size=1MiB,prepare=write-zeroes",
            "FALLOC_FL_WRITE_ZEROES",
        ),
        (
            "write,size=1001,chunk=whole,prepare=overwrite",
            "1001 bytes",
        ),
        ("write,size=1MiB,sync=fdatasync", "no fdatasync at the end"),
        (
            "pwrite,size=1MiB,threads=2,sync=fsync",
            "each thread of fio would sync",
        ),
        (
            "pwrite,size=1MiB,cache=direct",
            "copies nothing to aligned memory",
        ),
        ("pwrite,size=4MiB,memory=huge-pages", "a reserved pool"),
        ("pwritev,size=1MiB,vector=4", "one element"),
        ("pwritev,size=1MiB,vector=1,sync=rwf-dsync", "RWF_DSYNC"),
        (
            "pwritev,size=1MiB,vector=1,cache=dontcache",
            "RWF_DONTCACHE",
        ),
        ("writev,size=1MiB,sync=fsync/128", "by itself"),
        ("io_uring,size=1MiB,sync=fsync/1", "by itself"),
        ("mmap,size=1MiB,prepare=set-len,sync=fsync", "with msync"),
        (
            "mmap,size=1MiB,prepare=set-len,sync=msync/1",
            "all of the mapping",
        ),
        ("mmap,size=2GiB,prepare=set-len", "1 GiB"),
        (
            "mmap,size=1MiB,threads=2,prepare=set-len",
            "whatever the offset",
        ),
        ("fwrite,size=1MiB", "C library"),
        ("allocate,size=1MiB", "nothing is written"),
        ("splice,size=1MiB", "copies no files"),
        (
            "teleport,size=1MiB",
            "method teleport or one of its values is unknown",
        ),
        ("write,size=1MiB,colour=red", "colour is unknown here"),
    ] {
        assert!(why(name).contains(reason), "{name}: {}", why(name));
    }
}

#[test]
fn foreign_text_becomes_no_option() {
    let hostile =
        "/a b/$HOME:${x}%\n[evil]\nexec_prerun=touch /x\u{7}#;é".to_owned() + &"é".repeat(4000);
    let mut targets = vec![example_target(&hostile), example_target("/other")];
    targets[1].environment.filesystem.kind = "block device".to_owned();
    let on = |target: &str, name: &str| CaseRecord {
        target: target.to_owned(),
        ..case(name)
    };
    let mut strange = on(&hostile, "write,size=1MiB");
    let (method, axes) = (
        strange.case.method().to_owned(),
        strange.case.axes().clone(),
    );
    strange.case = RecordedCase::unknown("../../write\n[evil]".to_owned(), method, axes);
    let known = ["write,size=1MiB", "pwrite,size=1MiB"].map(|name| on(&hostile, name));
    let cases = [&known[..], &[strange, on("/other", "write,size=1MiB")]].concat();
    let files = made(&Report::from_run(
        None,
        RunRecord {
            cases,
            targets,
            ..example_run()
        },
    ));
    assert_eq!(
        (files.jobs.len(), files.note),
        (2, without("2 of 4 cases")),
        "{}",
        files.readme
    );
    assert!(
        files.readme.lines().all(|line| !line.starts_with('[')),
        "{}",
        files.readme
    );
    assert!(
        files.readme.contains("overwrite the device without asking"),
        "{}",
        files.readme
    );
    for (name, text) in &files.jobs {
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(headings, ["[global]", "[writes-0]"], "{}", text);
        assert!(
            text.lines()
                .all(|line| line.len() < 4000 && !line.contains('\u{7}')),
            "{}",
            text
        );
        assert!(
            text.lines()
                .all(|line| line.starts_with('#') || !line.contains('$')),
            "{}",
            text
        );
        assert!(
            name.chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "=,@-_.".contains(letter)),
            "{}",
            name
        );
        assert!(
            !name.starts_with(['.', '-']) && name.len() < 255,
            "{}",
            name
        );
    }
}

#[test]
fn every_case_has_one_job_file() {
    let on = |target: &str| CaseRecord {
        target: target.to_owned(),
        ..case("write,size=1MiB,sync=fsync/1")
    };
    let cases = ["/a b", "/a-b", "/a b"].map(on).to_vec();
    let targets = ["/a b", "/a-b"].map(example_target).to_vec();
    let files = made(&Report::from_run(
        None,
        RunRecord {
            cases,
            targets,
            ..example_run()
        },
    ));
    let names: Vec<&str> = files.jobs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "write,size=1MiB,sync=fsync-1@-a-b.fio",
            "write,size=1MiB,sync=fsync-1@-a-b-2.fio"
        ]
    );
}

#[test]
fn a_case_without_a_result_has_a_reason() {
    let cases = vec![CaseRecord {
        samples: Vec::new(),
        ..case("write,size=1MiB")
    }];
    let files = made(&Report::from_run(
        None,
        RunRecord {
            cases,
            ..example_run()
        },
    ));
    assert!(
        files.jobs[0]
            .1
            .contains("# no result: not-run: not measured"),
        "{}",
        files.jobs[0].1
    );
}
