//! Faults of each kind, one at a time: what is continued, what is tried again, and what never is.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_model::{Copying, Cursor, Method};
use writebench_testkit::{
    Caching, Call, Errno, Fault, Faulty, Need, Operation, Program, Trials, What, When, entries, send, wait_for,
};

use crate::faults::AFTER;
use crate::outcomes::case;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let fuse = [Need::Fuse];
    trials.add("faults: a short write is continued, and the content is whole", &fuse, short);
    trials.add("faults: an interrupted call is made again, but for fsync and stdio", &fuse, interrupted);
    trials.add("faults: a delay is measured, and no fault", &fuse, delay);
    trials.add("faults: a hang in the kernel costs one case, and keeps nobody", &fuse, hang);
    trials.add("faults: the file of a sample that hung is removed once its call has ended", &fuse, hung_file);
    trials.add("faults: a file cut behind a mapping costs one case (SIGBUS)", &fuse, cut);
    trials.add("faults: a file that lies about its size fails", &fuse, lie);
    trials.add("faults: a failed fsync is not tried again", &fuse, fsync_once);
    trials.add(
        "faults: what the filesystem has no room for is said where it was asked for",
        &fuse,
        full_filesystem,
    );
    trials.add("faults: an error of a later write-back comes out at fsync or close", &fuse, written_back);
    trials.add("faults: data that is lost at write-back is said, with the error", &fuse, lost_at_write_back);
}

const WRITE: &str = "write,size=12KiB,chunk=4KiB";
const DURABLE: &str = "write,size=12KiB,chunk=4KiB,sync=fsync";

/// A filesystem with a script, and runs on it.
pub(crate) struct FaultyTarget {
    pub program: Program,
    pub faulty: Faulty,
}

impl FaultyTarget {
    pub(crate) fn new(caching: Caching, script: &[(When, What)]) -> Result<Self> {
        Self::about("sample", caching, script)
    }

    /// With a script for files of another name.
    pub(crate) fn about(name: &str, caching: Caching, script: &[(When, What)]) -> Result<Self> {
        let faulty = Faulty::mount(name, caching)?;
        let script: Vec<Fault> = script.iter().map(|&(when, what)| Fault { when, what }).collect();
        faulty.follow(&script);
        Ok(Self { program: program()?, faulty })
    }

    pub(crate) fn run(&self, cases: &[&str], more: &[&str], code: i32) -> Result<Value> {
        let cases = cases.iter().flat_map(|case| ["--case", case]);
        let arguments: Vec<&str> =
            cases.chain(["--case", AFTER, "--no-limits"]).chain(more.iter().copied()).collect();
        let document = self.program.run(self.faulty.path(), &arguments, code)?;
        ensure!(case(&document, AFTER)?["outcome"] == "ok", "{document}");
        Ok(document)
    }

    /// A case with one sample, which must have that outcome and reason.
    pub(crate) fn expect(&self, name: &str, outcome: &str, reason: Option<&str>) -> Result<Vec<Operation>> {
        let code = if outcome == "ok" || outcome == "unsupported" { 0 } else { 4 };
        let document = self.run(&[name], &["--samples", "1"], code)?;
        let found = case(&document, name)?;
        ensure!(found["outcome"] == outcome && found["reason"].as_str() == reason, "{reason:?}: {found:#}");
        ensure!(found["estimate"].is_object() == (outcome == "ok"), "{found:#}");
        Ok(self.faulty.operations().into_iter().filter(|operation| operation.file == 0).collect())
    }
}

pub(crate) fn count(operations: &[Operation], call: Call) -> usize {
    operations.iter().filter(|operation| operation.call == call).count()
}

fn short() -> Result<()> {
    for caching in [Caching::None, Caching::WriteThrough] {
        // A mapping is written by the kernel, and `allocate` writes nothing.
        // FUSE shares no blocks, and MPI's methods work under mpirun only.
        let writes = |method: &Method| {
            let is_call =
                method.writes_data() && method.card().cursor != Cursor::Mapping && method.is_complete();
            is_call && method.card().copying != Some(Copying::Blocks)
        };
        for method in Method::ALL.iter().copied().filter(writes) {
            let target = FaultyTarget::new(caching, &[(When::At(Call::Write, 4096), What::Short)])?;
            let operations = target.expect(&format!("{},size=12KiB,chunk=4KiB", method.name()), "ok", None)?;
            ensure!(
                operations.iter().any(|operation| operation.fault.is_some()),
                "{}: {operations:?}",
                method.name()
            );
        }
    }
    Ok(())
}

const CALLS: [Call; 8] = [
    Call::Create,
    Call::Truncate,
    Call::Write,
    Call::Flush,
    Call::Attributes,
    Call::Open,
    Call::Read,
    Call::Unlink,
];

fn interrupted() -> Result<()> {
    let interrupt = |call| (When::Call(call), What::Fail(Errno::INTR));
    for name in ["write,size=12KiB,chunk=4KiB,prepare=set-len", "uring,size=12KiB,chunk=4KiB,prepare=set-len"] {
        let target = FaultyTarget::new(Caching::None, &CALLS.map(interrupt))?;
        let operations = target.expect(name, "ok", None)?;
        let faults = operations.iter().filter(|operation| operation.fault.is_some()).count();
        ensure!(faults >= CALLS.len() - 1, "{operations:?}");
    }
    let target = FaultyTarget::new(Caching::None, &[interrupt(Call::Fsync)])?;
    let operations = target.expect(DURABLE, "failed", Some("fsync: Interrupted system call (4)"))?;
    ensure!(count(&operations, Call::Fsync) == 1, "{operations:?}");
    let target = FaultyTarget::new(Caching::None, &[(When::At(Call::Write, 4096), What::Fail(Errno::INTR))])?;
    let reason = "fwrite: Interrupted system call (4) at offset 4096";
    target.expect("fwrite,size=64KiB,chunk=4KiB", "failed", Some(reason))?;
    Ok(())
}

fn delay() -> Result<()> {
    let time = Duration::from_millis(300);
    let target = FaultyTarget::new(Caching::None, &[(When::Call(Call::Fsync), What::Delay(time))])?;
    let document = target.run(&[DURABLE], &["--samples", "1"], 0)?;
    let sample = &case(&document, DURABLE)?["samples"][0];
    let sync_ns = sample["phases_ns"]["sync"].as_u64().context("a number")?;
    ensure!(sample["outcome"] == "ok" && u128::from(sync_ns) >= time.as_nanos(), "{sample}");
    Ok(())
}

/// The request has been taken and is never answered: not even SIGKILL ends the wait.
fn hang() -> Result<()> {
    // With two threads, so that only one thread is left when the process is killed.
    let name = "pwrite,size=32KiB,chunk=4KiB,threads=2";
    let target = FaultyTarget::new(Caching::None, &[(When::At(Call::Write, 4096), What::Hang)])?;
    let document = target.run(&[name], &["--samples", "2", "--timeout", "2s"], 4)?;
    let found = case(&document, name)?;
    let reason = found["reason"].as_str().context("a reason")?;
    ensure!(found["outcome"] == "timed-out" && reason.contains("last seen in phase write"), "{found}");
    ensure!(found["estimate"].is_null(), "{found}");
    let after = case(&document, AFTER)?["samples"].as_array().context("samples")?.len();
    ensure!(after >= 2, "one of them after the hang");
    ensure!(entries(target.faulty.path()).len() == 1, "nobody touches what it waits for");
    target.faulty.follow(&[]);
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let mut next = target.program.start(&["run", path, "--case", AFTER, "--samples", "1", "--no-limits"])?;
    let ended = wait_for("the end of the next run", || next.try_wait().ok().flatten());
    ensure!(entries(target.faulty.path()).len() == 1, "nor does the next run");
    target.faulty.abort();
    ensure!(ended?.code() == Some(0), "{next:?}");
    let said = String::from_utf8(next.wait_with_output()?.stderr)?;
    let process = said.split_once("stays: process ").and_then(|(_, rest)| rest.split_once(" has it open"));
    let process = format!("/proc/{}", process.with_context(|| format!("it waits in the kernel: {said}"))?.0);
    wait_for("its end", || (!Path::new(&process).exists()).then_some(()))
}

/// While the call hangs, nobody may touch its file. Once it has ended, the next sample removes it, and not the run's end.
fn hung_file() -> Result<()> {
    let target = FaultyTarget::new(Caching::None, &[(When::InFile(0, Call::Write, 2), What::Hang)])?;
    let path = target.faulty.path().to_str().context("UTF-8")?;
    let lines = target.program.home().join("lines");
    let export = format!("--export=jsonl={}", lines.display());
    let more = ["--samples", "1000000", "--timeout", "2s", "--no-limits", "--yes", &export];
    let words = [&["run", path, "--case", WRITE, "--case", AFTER][..], &more].concat();
    let mut child = target.program.start(&words)?;
    let is_given_up = || std::fs::read_to_string(&lines).is_ok_and(|lines| lines.contains("timed-out"));
    wait_for("the end of the supervisor's deadline", || is_given_up().then_some(()))?;
    let is_removed = || {
        target.faulty.operations().iter().any(|operation| operation.file == 0 && operation.call == Call::Unlink)
    };
    ensure!(!is_removed(), "its file is still in use");
    target.faulty.release();
    wait_for("the removal of its file", || is_removed().then_some(()))?;
    ensure!(child.try_wait()?.is_none(), "the run goes on");
    send(child.id(), Signal::INT)?;
    ensure!(child.wait()?.code() == Some(130), "{child:?}");
    ensure!(entries(target.faulty.path()).is_empty(), "{:?}", entries(target.faulty.path()));
    Ok(())
}

fn cut() -> Result<()> {
    let name = "mmap,size=12KiB,chunk=4KiB";
    let target = FaultyTarget::new(Caching::WriteThrough, &[(When::Call(Call::Read), What::Cut)])?;
    let document = target.run(&[name], &["--samples", "1"], 4)?;
    let found = case(&document, name)?;
    ensure!(found["outcome"] == "worker-died" && found["estimate"].is_null(), "{found}");
    ensure!(found["reason"].as_str().is_some_and(|reason| reason.contains("SIGBUS (7)")), "{found}");
    ensure!(found["samples"][0]["cause"]["phase"] == "write", "{found}");
    Ok(())
}

fn lie() -> Result<()> {
    let target = FaultyTarget::new(Caching::None, &[(When::Call(Call::Attributes), What::Size(8192))])?;
    let reason = "verify: the file has 8192 bytes and should have 12288";
    target.expect(WRITE, "failed", Some(reason))?;
    Ok(())
}

fn fsync_once() -> Result<()> {
    for name in [DURABLE, "uring,size=12KiB,chunk=4KiB,sync=fsync", "mmap,size=12KiB,chunk=4KiB,sync=fsync"] {
        let target =
            FaultyTarget::new(Caching::WriteThrough, &[(When::Call(Call::Fsync), What::Fail(Errno::IO))])?;
        let operations = target.expect(name, "failed", Some("fsync: Input/output error (5)"))?;
        ensure!(count(&operations, Call::Fsync) == 1, "{operations:?}");
    }
    Ok(())
}

fn full_filesystem() -> Result<()> {
    let fallocate = "write,size=12KiB,chunk=4KiB,prepare=fallocate";
    let at_write = When::At(Call::Write, 4096);
    for (name, when, errno, outcome, reason) in [
        (
            fallocate,
            When::Call(Call::Fallocate),
            Errno::NOSPC,
            "failed",
            "fallocate: No space left on device (28)",
        ),
        (
            fallocate,
            When::Call(Call::Fallocate),
            Errno::OPNOTSUPP,
            "unsupported",
            "fallocate: Operation not supported (95)",
        ),
        (WRITE, When::Call(Call::Create), Errno::ROFS, "failed", "open: Read-only file system (30)"),
        (WRITE, at_write, Errno::DQUOT, "failed", "write: Disk quota exceeded (122) at offset 4096"),
        (WRITE, at_write, Errno::NOSPC, "failed", "write: No space left on device (28) at offset 4096"),
        (WRITE, at_write, Errno::STALE, "failed", "write: Stale file handle (116) at offset 4096"),
        (WRITE, When::Call(Call::Flush), Errno::DQUOT, "failed", "close: Disk quota exceeded (122)"),
    ] {
        FaultyTarget::new(Caching::None, &[(when, What::Fail(errno))])?.expect(name, outcome, Some(reason))?;
    }
    Ok(())
}

/// A program that looks at no error of a close reports none.
fn lost_at_write_back() -> Result<()> {
    let fault = (When::Each(Call::Write), What::Fail(Errno::IO));
    let FaultyTarget { program, faulty } = FaultyTarget::new(Caching::WriteBack, &[fault])?;
    let careless = "sh -c 'exec 3>\"$2\"; cat \"$1\" >&3 2>/dev/null; exit 0' - {source} {file}";
    let few = ["--no-limits", "--samples", "1", "--verify", "never", "--bytes", "64KiB"];
    let document = program.run(faulty.path(), &[&few[..], &["--command", careless]].concat(), 0)?;
    for sample in document["cases"][0]["samples"].as_array().context("samples")? {
        let found = &sample["write_back"];
        ensure!((&found["errno"], &found["phase"]) == (&5.into(), &"clean".into()), "{sample:#}");
        ensure!(sample["outcome"] == "ok", "{sample:#}");
        ensure!(sample["disturbed"].as_str().is_some_and(|why| why.contains("(5)")), "{sample:#}");
    }
    let shown = program.call(&["show"])?.stdout;
    ensure!(shown.contains("lost at write-back") && shown.contains("Input/output error (5)"), "{shown}");
    Ok(())
}

fn written_back() -> Result<()> {
    for (name, reason) in [(DURABLE, "fsync: Input/output error (5)"), (WRITE, "close: Input/output error (5)")]
    {
        let target =
            FaultyTarget::new(Caching::WriteBack, &[(When::Call(Call::Write), What::Fail(Errno::IO))])?;
        target.expect(name, "failed", Some(reason))?;
    }
    Ok(())
}
