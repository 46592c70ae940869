//! A fault continues, repeats or ends a sample, whose outcome names the phase, call, file and offset.

use std::io;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_model::{Copying, Cursor, Method};
use writebench_testkit::Call::{
    Attributes, Create, Fallocate, Flush, Fsync, Open, Read, Truncate, Unlink, Write,
};
use writebench_testkit::{Caching, Call, Errno, Need, Trials, What, When, entries};

use crate::faults::{FaultyTarget, WRITE};
use crate::outcomes;

pub(crate) fn add(trials: &mut Trials) {
    for (claim, rows) in claims() {
        trials.add(format!("faults: {claim}"), &[Need::Fuse], move || {
            rows.iter()
                .try_for_each(|row| row.prove().with_context(|| format!("{row:?}")))
        });
    }
}

#[derive(Debug)]
struct Row {
    case: String,
    script: Vec<(When, What)>,
    /// `ok`, or the cause: `PHASE: CALL ERRNO at OFFSET`, `PHASE: CALL: MESSAGE`, or `PHASE: SIGNAL` of the worker.
    ending: &'static str,
    caching: Caching,
    /// The scripted file, and the one in the error.
    file: &'static str,
    named: &'static str,
    /// The least number of faults.
    met: usize,
}

fn row(case: impl Into<String>, script: &[(When, What)], ending: &'static str) -> Row {
    let (case, script, caching) = (case.into(), script.to_vec(), Caching::None);
    Row {
        case,
        script,
        ending,
        caching,
        file: "sample",
        named: "sample",
        met: 1,
    }
}

impl Row {
    fn cached(self, caching: Caching) -> Self {
        Self { caching, ..self }
    }

    fn about(self, file: &'static str) -> Self {
        Self {
            file,
            named: file,
            ..self
        }
    }

    fn meets(self, met: usize) -> Self {
        Self { met, ..self }
    }
}

fn fails(call: Call, errno: Errno) -> (When, What) {
    (When::Call(call), What::Fail(errno))
}

fn fails_each(call: Call, errno: Errno) -> (When, What) {
    (When::Each(call), What::Fail(errno))
}

fn fails_at(call: Call, byte: u64, errno: Errno) -> (When, What) {
    (When::At(call, byte), What::Fail(errno))
}

const DURABLE: &str = "write,size=12KiB,chunk=4KiB,sync=fsync";
const URING: &str = "io_uring,size=12KiB,chunk=4KiB,sync=fsync";
const MAPPED: &str = "mmap,size=12KiB,chunk=4KiB,sync=fsync";
const BUFFERED: &str = "fwrite,size=12KiB,chunk=4KiB,sync=fsync";
const SET_LENGTH: &str = "write,size=12KiB,chunk=4KiB,prepare=set-len";
const FALLOCATE: &str = "write,size=12KiB,chunk=4KiB,prepare=fallocate";
const AHEAD: &str = "pwrite,size=12KiB,chunk=4KiB,prepare=fallocate-ahead";
const OVERWRITE: &str = "write,size=12KiB,chunk=4KiB,prepare=overwrite";
const COPY: &str = "read-write,size=12KiB,chunk=4KiB";
const FILES: &str = "write,size=64KiB,chunk=4KiB,threads=4,files=per-thread,sync=fsync";
const PARTS: &str = "pwrite,size=64KiB,chunk=4KiB,threads=4";

fn claims() -> Vec<(&'static str, Vec<Row>)> {
    let (lost, full, quota) = (Errno::IO, Errno::NOSPC, Errno::DQUOT);
    let at_write = |errno| fails_at(Write, 4096, errno);
    let [fsync, flush, unlink] = [
        fails(Fsync, full),
        fails(Flush, quota),
        fails(Unlink, Errno::STALE),
    ];
    // The kernel retries readahead.
    let unreadable = [fails_at(Read, 8192, lost); 8];
    let cold = |method: &str, ending| {
        let case = format!("{method},size=12KiB,chunk=4KiB,origin=cold");
        row(case, &unreadable, ending).about("copied")
    };
    vec![
        (
            "a short write is continued, and the content is whole",
            short(),
        ),
        (
            "a short write before an error moves its offset",
            short_then_error(),
        ),
        ("a fault in a set of files names its file", sets()),
        (
            "an interrupted call is made again, but for fsync and stdio",
            interrupted(),
        ),
        (
            "a file cut behind a mapping costs one case (SIGBUS)",
            vec![
                row(
                    "mmap,size=12KiB,chunk=4KiB",
                    &[(When::Call(Read), What::Cut)],
                    "write: SIGBUS",
                )
                .cached(Caching::WriteThrough),
            ],
        ),
        (
            "a file that lies about its size fails",
            vec![row(
                WRITE,
                &[(When::Call(Attributes), What::Size(8192))],
                "verify: verify: the file has 8192 bytes and should have 12288",
            )],
        ),
        ("a failed fsync is not tried again", {
            let ending = "sync: fsync 5";
            let row = |case| row(case, &[fails(Fsync, lost)], ending).cached(Caching::WriteThrough);
            [DURABLE, URING, MAPPED].map(row).into()
        }),
        (
            "a full filesystem is reported by the call that needed space",
            vec![
                row(
                    FALLOCATE,
                    &[fails(Fallocate, full)],
                    "prepare: fallocate 28",
                ),
                row(
                    FALLOCATE,
                    &[fails(Fallocate, Errno::OPNOTSUPP)],
                    "prepare: fallocate 95",
                ),
                row(AHEAD, &[fails(Fallocate, full)], "write: fallocate 28 at 0"),
                row(
                    AHEAD,
                    &[fails(Fallocate, Errno::OPNOTSUPP)],
                    "write: fallocate 95 at 0",
                ),
                row(AHEAD, &[fails(Truncate, lost)], "write: ftruncate 5"),
                row(WRITE, &[fails(Create, Errno::ROFS)], "open: open 30"),
                row(WRITE, &[at_write(quota)], "write: write 122 at 4096"),
                row(WRITE, &[at_write(full)], "write: write 28 at 4096"),
                row(WRITE, &[at_write(Errno::STALE)], "write: write 116 at 4096"),
                row(WRITE, &[flush], "close: close 122"),
            ],
        ),
        (
            "a write-back error appears at fsync or close",
            vec![
                row(DURABLE, &[fails(Write, lost)], "sync: fsync 5").cached(Caching::WriteBack),
                row(WRITE, &[fails(Write, lost)], "close: close 5").cached(Caching::WriteBack),
            ],
        ),
        // After an error, the engine only closes and removes.
        (
            "the first of several faults is the outcome",
            vec![
                row(
                    DURABLE,
                    &[at_write(lost), fsync, flush, unlink],
                    "write: write 5 at 4096",
                )
                .meets(2),
                row(DURABLE, &[fsync, flush, unlink], "sync: fsync 28").meets(2),
                row(WRITE, &[flush, unlink], "close: close 122").meets(2),
                row(
                    SET_LENGTH,
                    &[fails(Truncate, full), flush, unlink],
                    "prepare: ftruncate 28",
                )
                .meets(2),
                row(BUFFERED, &[fsync, flush, unlink], "sync: fsync 28").meets(2),
                row(MAPPED, &[fsync, flush, unlink], "sync: fsync 28").meets(2),
                row(
                    URING,
                    &[at_write(lost), flush, unlink],
                    "write: io_uring write 5 at 4096",
                )
                .meets(2),
            ],
        ),
        (
            "an unreadable source is named with its offset",
            vec![
                cold("read-write", "write: read 5 at 8192"),
                cold("splice", "write: splice 5 at 8192"),
                // These calls involve both files.
                Row {
                    named: "sample",
                    ..cold("sendfile", "write: sendfile 5 at 8192")
                },
                Row {
                    named: "sample",
                    ..cold("copy-file-range", "write: copy_file_range 5 at 8192")
                },
                // Warming reads the source before the clock.
                row(COPY, &unreadable, "settle: pread 5 at 0").about("copied"),
                // For write(2), the kernel reports unreadable data as EFAULT.
                Row {
                    named: "sample",
                    script: vec![fails_each(Read, lost)],
                    ..cold("mmap-write", "write: write 14 at 0").cached(Caching::WriteThrough)
                },
            ],
        ),
        (
            "a source that cannot be made costs the cases that copy it",
            vec![
                row(COPY, &[fails_each(Create, full)], "settle: open 28").about("copied"),
                row(COPY, &[fails_each(Write, full)], "settle: write 28 at 0").about("copied"),
                row(COPY, &[fails_each(Fsync, lost)], "settle: fsync 5").about("copied"),
                row(COPY, &[fails_each(Open, Errno::ACCESS)], "settle: open 13").about("copied"),
            ],
        ),
        (
            "old content that cannot be made costs its case",
            old_content(),
        ),
        ("direct I/O says where it failed", direct()),
        (
            "a failed thread is named with its file",
            vec![
                row(FILES, &[fails(Create, lost)], "open: open 5").about("sample-2"),
                row(
                    FILES,
                    &[fails_at(Write, 8192, lost)],
                    "write: write 5 at 8192",
                )
                .about("sample-2"),
                row(FILES, &[fails(Fsync, lost)], "sync: fsync 5").about("sample-2"),
                row(FILES, &[fails(Flush, lost)], "close: close 5").about("sample-2"),
                row(FILES, &[fails(Unlink, lost)], "clean: unlink 5").about("sample-2"),
                row(PARTS, &[fails_at(Write, 0, lost)], "write: pwrite 5 at 0"),
                row(
                    PARTS,
                    &[fails_at(Write, 20480, lost)],
                    "write: pwrite 5 at 20480",
                ),
                row(
                    "io_uring,size=64KiB,chunk=4KiB,threads=4",
                    &[fails_at(Write, 61440, lost)],
                    "write: io_uring write 5 at 61440",
                ),
                // Of several failed writes, the error with the lowest offset is reported.
                row(
                    PARTS,
                    &[fails_at(Write, 61440, lost), fails_at(Write, 20480, lost)],
                    "write: pwrite 5 at 20480",
                ),
            ],
        ),
    ]
}

fn short() -> Vec<Row> {
    // The kernel writes a mapping, and `allocate` writes nothing.
    // FUSE cannot share blocks, and MPI needs mpirun.
    let writes = |method: &Method| {
        let is_call = !method.writes_set()
            && method.writes_data()
            && method.card().cursor != Cursor::Mapping
            && method.is_complete();
        is_call && method.card().copying != Some(Copying::Blocks)
    };
    let methods = Method::ALL.iter().copied().filter(writes);
    let row = |method: Method| {
        let case = format!("{},size=12KiB,chunk=4KiB", method.name());
        let row = || row(case.clone(), &[(When::At(Write, 4096), What::Short)], "ok");
        [row(), row().cached(Caching::WriteThrough)]
    };
    methods.flat_map(row).collect()
}

fn short_then_error() -> Vec<Row> {
    // A partial success hides the error, and the call is repeated.
    let fault = fails_at(Write, 6144, Errno::IO);
    let script = [(When::At(Write, 4096), What::Short), fault, fault];
    let row =
        |(method, ending)| row(format!("{method},size=12KiB,chunk=4KiB"), &script, ending).meets(2);
    let methods = [
        ("write", "write: write 5 at 6144"),
        ("pwrite", "write: pwrite 5 at 6144"),
        ("writev", "write: writev 5 at 6144"),
        ("pwritev", "write: pwritev 5 at 6144"),
        ("read-write", "write: write 5 at 6144"),
        ("splice", "write: splice 5 at 6144"),
        ("sendfile", "write: sendfile 5 at 6144"),
    ];
    methods.map(row).into()
}

fn sets() -> Vec<Row> {
    let set = |more: &str| format!("write-files,size=12KiB,chunk=3KiB,file-size=6KiB{more}");
    let each = || set(",sync-files=each");
    let linked = || "io_uring-files,size=12KiB,file-size=6KiB,sync-files=each".to_owned();
    let rest = "write: io_uring write 5 at 3072";
    let rows = vec![
        row(each(), &[fails(Create, Errno::NOSPC)], "write: open 28"),
        row(
            each(),
            &[fails_at(Write, 3072, Errno::IO)],
            "write: write 5 at 3072",
        ),
        row(each(), &[(When::At(Write, 3072), What::Short)], "ok"),
        row(each(), &[fails(Fsync, Errno::DQUOT)], "write: fsync 122"),
        row(each(), &[fails(Flush, Errno::DQUOT)], "write: close 122"),
        row(
            set(",sync-files=batch"),
            &[fails(Fsync, Errno::IO)],
            "sync: fsync 5",
        ),
        row(
            set(",prepare=overwrite"),
            &[fails(Create, Errno::NOSPC)],
            "settle: open 28",
        ),
        row(
            set(",naming=rename"),
            &[fails(Create, Errno::NOSPC)],
            "write: open 28",
        )
        .about(".writebench0000000.tmp"),
        row(
            linked(),
            &[fails(Create, Errno::NOSPC)],
            "write: io_uring openat 28",
        ),
        row(
            linked(),
            &[fails_at(Write, 0, Errno::IO)],
            "write: io_uring write 5 at 0",
        ),
        row(
            linked(),
            &[
                (When::At(Write, 0), What::Short),
                fails_at(Write, 3072, Errno::IO),
            ],
            rest,
        )
        .meets(2),
        row(linked(), &[(When::At(Write, 0), What::Short)], "ok"),
        row(
            linked(),
            &[fails(Create, Errno::INTR), fails_at(Write, 0, Errno::INTR)],
            "ok",
        )
        .meets(2),
        row(
            linked(),
            &[fails(Fsync, Errno::DQUOT)],
            "write: io_uring fsync 122",
        ),
    ];
    let named = |row: Row| Row {
        named: "writebench0000000",
        ..row
    };
    rows.into_iter()
        .map(|row| {
            if row.file == "sample" {
                row.about("writebench0000000")
            } else {
                named(row)
            }
        })
        .collect()
}

fn interrupted() -> Vec<Row> {
    let all = [
        Create, Truncate, Write, Flush, Attributes, Open, Read, Unlink,
    ]
    .map(|call| fails(call, Errno::INTR));
    vec![
        row(SET_LENGTH, &all, "ok").meets(7),
        row("io_uring,size=12KiB,chunk=4KiB,prepare=set-len", &all, "ok").meets(7),
        row(DURABLE, &[fails(Fsync, Errno::INTR)], "sync: fsync 4"),
        row(
            "fwrite,size=64KiB,chunk=4KiB",
            &[fails_at(Write, 4096, Errno::INTR)],
            "write: fwrite 4 at 4096",
        ),
    ]
}

fn old_content() -> Vec<Row> {
    let mut rows = Vec::new();
    for case in [OVERWRITE, "write,size=12KiB,chunk=4KiB,prepare=truncate"] {
        rows.extend([
            row(case, &[fails(Create, Errno::NOSPC)], "settle: open 28"),
            row(
                case,
                &[fails_at(Write, 8192, Errno::IO)],
                "settle: write 5 at 0",
            ),
            row(case, &[fails(Fsync, Errno::DQUOT)], "settle: fsync 122"),
            row(case, &[fails(Flush, Errno::DQUOT)], "settle: close 122"),
        ]);
    }
    rows.push(row(OVERWRITE, &[fails(Open, Errno::ROFS)], "open: open 30"));
    rows
}

fn direct() -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, ending) in [
        (
            "write,size=12KiB,chunk=4KiB,cache=direct",
            "write: write 5 at 8192",
        ),
        (
            "pwritev,size=12KiB,chunk=4KiB,vector=2,cache=direct",
            "write: pwritev 5 at 8192",
        ),
        (
            "io_uring,size=12KiB,chunk=4KiB,cache=direct",
            "write: io_uring write 5 at 8192",
        ),
    ] {
        rows.extend([
            row(
                case,
                &[fails(Create, Errno::ROFS)],
                "open: open with O_DIRECT 30",
            ),
            row(case, &[fails_at(Write, 8192, Errno::IO)], ending),
            row(case, &[fails(Flush, Errno::IO)], "close: close 5"),
        ]);
    }
    rows
}

impl Row {
    fn prove(&self) -> Result<()> {
        let target = FaultyTarget::about(self.file, self.caching, &self.script)?;
        let code = if self.ending == "ok" || self.ending.contains(" 95") {
            0
        } else {
            4
        };
        let document = target.run(&[&self.case], &["--samples", "1"], code)?;
        let case = outcomes::case(&document, &self.case)?;
        let operations = target.faulty.operations();
        self.judge(case)
            .with_context(|| format!("{case:#} {operations:?}"))?;
        let mut of_sample = operations.iter().filter(|operation| operation.file == 0);
        let met = of_sample
            .clone()
            .filter(|operation| operation.fault.is_some())
            .count();
        ensure!(met >= self.met, "{met} faults: {operations:?}");
        let failed_sync =
            of_sample.position(|operation| operation.call == Fsync && operation.fault.is_some());
        let is_final = failed_sync.is_none() || of_sample.all(|operation| operation.call != Fsync);
        ensure!(is_final, "no fsync follows one that failed: {operations:?}");
        let left = entries(target.faulty.path());
        ensure!(
            left.iter()
                .all(|path| !path.to_string_lossy().contains(".writebench-")),
            "{left:?} stays"
        );
        Ok(())
    }

    fn judge(&self, case: &Value) -> Result<()> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (cause, reason, outcome) = (
            &case["samples"][0]["cause"],
            text(&case["reason"]),
            text(&case["outcome"]),
        );
        let (call, phase) = (text(&cause["call"]), text(&cause["phase"]));
        let errno = cause["errno"].as_i64().map(i32::try_from).transpose()?;
        let offset = cause["offset"].as_u64();
        let (ending, expected) = match errno {
            None if outcome == "ok" => {
                ensure!(case["reason"].is_null(), "a good sample has no reason");
                (outcome.clone(), "ok")
            }
            None if outcome == "worker-died" => {
                ensure!(reason.contains("SIGBUS (7)"), "the signal is named");
                (format!("{phase}: SIGBUS"), "worker-died")
            }
            None => (format!("{phase}: {reason}"), "failed"),
            Some(errno) => {
                let place = offset
                    .map(|offset| format!(" at {offset}"))
                    .unwrap_or_default();
                let message = io::Error::from_raw_os_error(errno)
                    .to_string()
                    .replace("os error ", "");
                let there = offset
                    .filter(|&offset| offset > 0)
                    .map(|offset| format!(" at offset {offset}"));
                ensure!(
                    reason == format!("{call}: {message}{}", there.unwrap_or_default()),
                    "the reason is the cause"
                );
                ensure!(cause["path"] == self.named, "the file is {}", self.named);
                (
                    format!("{phase}: {call} {errno}{place}"),
                    if errno == 95 { "unsupported" } else { "failed" },
                )
            }
        };
        ensure!(
            ending == self.ending && outcome == expected,
            "{outcome}, {ending}"
        );
        ensure!(
            case["estimate"].is_object() == (outcome == "ok"),
            "only a good sample has a figure"
        );
        Ok(())
    }
}
