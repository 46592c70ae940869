//! Faults that come together, and faults of files beside the one that is written: the first is the outcome, named by its
//! phase, call, file and offset, and nothing stays.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use writebench_testkit::{Caching, Call, Errno, Need, Operation, Trials, What, When, entries};

use crate::outcomes::case;
use crate::single_faults::FaultyTarget;

pub(crate) fn add(trials: &mut Trials) {
    let fuse = [Need::Fuse];
    trials.add("more faults: of several in a sample the first is its outcome", &fuse, several);
    trials.add("more faults: a short write before an error moves its offset", &fuse, short_then_error);
    trials.add("more faults: a file that cannot be removed is said, and removed by the next run", &fuse, stays);
    trials.add(
        "more faults: the file that is copied is named, with the place that cannot be read",
        &fuse,
        copied,
    );
    trials.add(
        "more faults: a file to be copied that cannot be made costs what copies it",
        &fuse,
        copied_not_made,
    );
    trials.add("more faults: old content that cannot be made costs its case", &fuse, old_content);
    trials.add("more faults: direct I/O says where it failed", &fuse, direct);
    trials.add("more faults: of several threads the one that failed is named, with its file", &fuse, threads);
    trials.add("more faults: no thread writes when the sample is over", &fuse, threads_end);
}

const WRITE: &str = "write,size=12KiB,chunk=4KiB";
const DURABLE: &str = "write,size=12KiB,chunk=4KiB,sync=fsync";

fn fails(call: Call, errno: Errno) -> (When, What) {
    (When::Call(call), What::Fail(errno))
}

fn fails_at(call: Call, byte: u64) -> (When, What) {
    (When::At(call, byte), What::Fail(Errno::IO))
}

/// The case must have failed there, and nothing stays.
fn expect(target: &FaultyTarget, name: &str, failure: &Value) -> Result<Vec<Operation>> {
    let document = target.run(&[name], &["--samples", "1"], 4)?;
    let found = case(&document, name)?;
    let cause = &found["samples"][0]["cause"];
    for (key, expected) in failure.as_object().context("an object")? {
        ensure!(cause[key] == *expected, "{name}: {key} should be {expected}: {found:#}");
    }
    ensure!(found["estimate"].is_null(), "{name}: {found:#}");
    let left = entries(target.faulty.path());
    ensure!(left.iter().all(|path| !path.to_string_lossy().contains(".writebench-")), "{name}: {left:?}");
    Ok(target.faulty.operations())
}

fn several() -> Result<()> {
    let [write, fsync, flush, unlink] = [
        fails_at(Call::Write, 4096),
        fails(Call::Fsync, Errno::NOSPC),
        fails(Call::Flush, Errno::DQUOT),
        fails(Call::Unlink, Errno::STALE),
    ];
    let truncate = fails(Call::Truncate, Errno::NOSPC);
    let failure = |phase, call, errno: Errno, offset: Option<u64>| json!({"phase": phase, "call": call, "errno": errno.raw_os_error(), "offset": offset});
    for (name, script, expected) in [
        (DURABLE, vec![write, fsync, flush, unlink], failure("write", "write", Errno::IO, Some(4096))),
        (DURABLE, vec![fsync, flush, unlink], failure("sync", "fsync", Errno::NOSPC, None)),
        (WRITE, vec![flush, unlink], failure("close", "close", Errno::DQUOT, None)),
        (
            "write,size=12KiB,chunk=4KiB,prepare=set-len",
            vec![truncate, flush, unlink],
            failure("prepare", "ftruncate", Errno::NOSPC, None),
        ),
        (
            "fwrite,size=12KiB,chunk=4KiB,sync=fsync",
            vec![fsync, flush, unlink],
            failure("sync", "fsync", Errno::NOSPC, None),
        ),
        (
            "mmap,size=12KiB,chunk=4KiB,sync=fsync",
            vec![fsync, flush, unlink],
            failure("sync", "fsync", Errno::NOSPC, None),
        ),
        (
            "uring,size=12KiB,chunk=4KiB,sync=fsync",
            vec![write, flush, unlink],
            failure("write", "io_uring write", Errno::IO, Some(4096)),
        ),
    ] {
        let target = FaultyTarget::new(Caching::None, &script)?;
        let operations = expect(&target, name, &expected)?;
        let met =
            operations.iter().filter(|operation| operation.file == 0 && operation.fault.is_some()).count();
        // After an error nothing is tried but closing and removing.
        ensure!(met >= 2, "{name}: {operations:?}");
    }
    Ok(())
}

fn short_then_error() -> Result<()> {
    for method in ["write", "pwrite", "writev", "pwritev", "read-write", "splice", "sendfile"] {
        // A call that has moved something keeps the error to itself, and is made again.
        let fails = fails_at(Call::Write, 6144);
        let script = [(When::At(Call::Write, 4096), What::Short), fails, fails];
        let target = FaultyTarget::new(Caching::None, &script)?;
        let expected =
            json!({"phase": "write", "call": method.replace("read-", ""), "errno": 5, "offset": 6144});
        expect(&target, &format!("{method},size=12KiB,chunk=4KiB"), &expected)?;
    }
    Ok(())
}

fn stays() -> Result<()> {
    let target = FaultyTarget::new(Caching::None, &[(When::Each(Call::Unlink), What::Fail(Errno::IO))])?;
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let run = ["run", path, "--case", WRITE, "--samples", "2", "--no-limits"];
    let ended = target.program.call(&[&["--quiet"], &run[..]].concat())?;
    ensure!(ended.code == Some(1) && ended.stderr.lines().count() == 1, "{ended:?}");
    ensure!(ended.stderr.contains("unlink") && ended.stderr.contains("Input/output error (5)"), "{ended:?}");
    let shown: Value = serde_json::from_str(&target.program.call(&["show", "--export", "json=-"])?.stdout)?;
    let found = case(&shown, WRITE)?;
    let cause = &found["samples"][0]["cause"];
    ensure!(cause["phase"] == "clean" && cause["call"] == "unlink" && cause["path"] == "sample", "{found}");
    ensure!(entries(target.faulty.path()).len() == 1, "or this test shows nothing");
    target.faulty.follow(&[]);
    let next = target.program.call(&run)?;
    ensure!(next.code == Some(0) && next.stderr.contains("left by a run that was killed"), "{next:?}");
    ensure!(entries(target.faulty.path()).is_empty(), "{:?}", entries(target.faulty.path()));
    Ok(())
}

const COPYING: [(&str, &str); 4] = [
    ("read-write", "read"),
    ("splice", "splice"),
    ("sendfile", "sendfile"),
    ("copy-file-range", "copy_file_range"),
];

fn copied() -> Result<()> {
    // Also when the kernel, having read ahead, asks again.
    let unreadable = [fails_at(Call::Read, 8192); 8];
    for (method, call) in COPYING {
        let target = FaultyTarget::about("copied", Caching::None, &unreadable)?;
        let expected = json!({"phase": "write", "call": call, "errno": 5, "offset": 8192});
        expect(&target, &format!("{method},size=12KiB,chunk=4KiB,origin=cold"), &expected)?;
    }
    // A warm source is read before the clock starts, and the fault is met then.
    let target = FaultyTarget::about("copied", Caching::None, &unreadable)?;
    let expected = json!({"phase": "settle", "call": "pread", "errno": 5, "offset": 0, "path": "copied"});
    expect(&target, "read-write,size=12KiB,chunk=4KiB", &expected)?;
    // The kernel says of the data for `write` only that it cannot be read.
    let target = FaultyTarget::about(
        "copied",
        Caching::WriteThrough,
        &[(When::Each(Call::Read), What::Fail(Errno::IO))],
    )?;
    let expected = json!({"phase": "write", "call": "write", "errno": 14, "offset": 0});
    expect(&target, "mmap-write,size=12KiB,chunk=4KiB,origin=cold", &expected)?;
    Ok(())
}

fn copied_not_made() -> Result<()> {
    for (script, call, errno, offset) in [
        ((When::Each(Call::Create), What::Fail(Errno::NOSPC)), "open", 28, None),
        ((When::Each(Call::Write), What::Fail(Errno::NOSPC)), "write", 28, Some(0)),
        ((When::Each(Call::Fsync), What::Fail(Errno::IO)), "fsync", 5, None),
        ((When::Each(Call::Open), What::Fail(Errno::ACCESS)), "open", 13, None),
    ] {
        let target = FaultyTarget::about("copied", Caching::None, &[script])?;
        let expected =
            json!({"phase": "settle", "call": call, "errno": errno, "offset": offset, "path": "copied"});
        expect(&target, "read-write,size=12KiB,chunk=4KiB", &expected)?;
    }
    Ok(())
}

fn old_content() -> Result<()> {
    for prepare in ["overwrite", "truncate"] {
        let name = format!("{WRITE},prepare={prepare}");
        for (script, call, errno, offset) in [
            (fails(Call::Create, Errno::NOSPC), "open", 28, None),
            (fails_at(Call::Write, 8192), "write", 5, Some(0)),
            (fails(Call::Fsync, Errno::DQUOT), "fsync", 122, None),
            (fails(Call::Flush, Errno::DQUOT), "close", 122, None),
        ] {
            let target = FaultyTarget::new(Caching::None, &[script])?;
            let expected =
                json!({"phase": "settle", "call": call, "errno": errno, "offset": offset, "path": "sample"});
            expect(&target, &name, &expected)?;
        }
    }
    // The old content is there, and cannot be written over.
    let target = FaultyTarget::new(Caching::None, &[fails(Call::Open, Errno::ROFS)])?;
    let expected = json!({"phase": "open", "call": "open", "errno": 30, "path": "sample"});
    expect(&target, &format!("{WRITE},prepare=overwrite"), &expected)?;
    Ok(())
}

fn direct() -> Result<()> {
    for (method, call) in [("write", "write"), ("pwritev", "pwritev"), ("uring", "io_uring write")] {
        let vector = if method == "pwritev" { ",vector=2" } else { "" };
        let name = format!("{method},size=12KiB,chunk=4KiB{vector},cache=direct");
        for (script, phase, call, errno, offset) in [
            (fails(Call::Create, Errno::ROFS), "open", "open with O_DIRECT", 30, None),
            (fails_at(Call::Write, 8192), "write", call, 5, Some(8192)),
            (fails(Call::Flush, Errno::IO), "close", "close", 5, None),
        ] {
            let target = FaultyTarget::new(Caching::None, &[script])?;
            let expected = json!({"phase": phase, "call": call, "errno": errno, "offset": offset});
            expect(&target, &name, &expected)?;
        }
    }
    Ok(())
}

/// Files of their own, the third of which is that of the script, or parts of one file.
const OWN_FILES: &str = "write,size=64KiB,chunk=4KiB,threads=4,files=per-thread";

fn threads() -> Result<()> {
    for (script, phase, call, offset) in [
        (fails(Call::Create, Errno::IO), "open", "open", None),
        (fails_at(Call::Write, 8192), "write", "write", Some(8192)),
        (fails(Call::Fsync, Errno::IO), "sync", "fsync", None),
        (fails(Call::Flush, Errno::IO), "close", "close", None),
        (fails(Call::Unlink, Errno::IO), "clean", "unlink", None),
    ] {
        let target = FaultyTarget::about("sample-2", Caching::None, &[script])?;
        let expected = json!({"phase": phase, "call": call, "errno": 5, "offset": offset, "path": "sample-2"});
        expect(&target, &format!("{OWN_FILES},sync=fsync"), &expected)?;
    }
    for (method, byte) in [("pwrite", 0), ("pwrite", 20480), ("uring", 61440)] {
        let target = FaultyTarget::new(Caching::None, &[fails_at(Call::Write, byte)])?;
        let expected = json!({"phase": "write", "errno": 5, "offset": byte, "path": "sample"});
        expect(&target, &format!("{method},size=64KiB,chunk=4KiB,threads=4"), &expected)?;
    }
    // If several writes fail, the error that comes first in the file is told, not the earliest one.
    let script = [fails_at(Call::Write, 61440), fails_at(Call::Write, 20480)];
    let target = FaultyTarget::new(Caching::None, &script)?;
    let expected = json!({"phase": "write", "call": "pwrite", "errno": 5, "offset": 20480});
    expect(&target, "pwrite,size=64KiB,chunk=4KiB,threads=4", &expected)?;
    Ok(())
}

fn threads_end() -> Result<()> {
    let late = (When::At(Call::Write, 61440), What::Delay(Duration::from_millis(300)));
    let target = FaultyTarget::new(Caching::None, &[fails_at(Call::Write, 0), late])?;
    let expected = json!({"phase": "write", "call": "pwrite", "offset": 0});
    let operations = expect(&target, "pwrite,size=64KiB,chunk=4KiB,threads=4", &expected)?;
    let last_write =
        operations.iter().rposition(|operation| operation.file == 0 && operation.call == Call::Write);
    let close = operations.iter().position(|operation| operation.file == 0 && operation.call == Call::Flush);
    ensure!(last_write < close && close.is_some(), "{operations:?}");
    Ok(())
}
