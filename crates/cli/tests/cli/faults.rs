//! A fault at any operation has no result, names its place and cause, and does not end the run.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use writebench_model::{Axis, Case, Copying, Cursor, Method, SyncCall};
use writebench_testkit::{
    Caching, Call, Errno, Fault, Faulty, Need, Operation, Program, Trials, What, When, entries,
};

use crate::{outcomes, program};

pub(crate) fn add(trials: &mut Trials) {
    let fuse = [Need::Fuse];
    trials.add(
        "faults: EIO fails each operation of each method without page cache",
        &fuse,
        || at_each_operation(Caching::None, |_| Errno::IO),
    );
    trials.add(
        "faults: each errno fails each operation through the page cache",
        &fuse,
        || {
            at_each_operation(Caching::WriteThrough, |number| {
                ERRNOS[number % ERRNOS.len()]
            })
        },
    );
}

/// This case has other file names than the scripts.
pub(crate) const AFTER: &str = "write,size=8KiB,threads=2,files=per-thread";

pub(crate) const WRITE: &str = "write,size=12KiB,chunk=4KiB";

pub(crate) struct FaultyTarget {
    pub program: Program,
    pub faulty: Faulty,
}

impl FaultyTarget {
    pub(crate) fn new(caching: Caching, script: &[(When, What)]) -> Result<Self> {
        Self::about("sample", caching, script)
    }

    pub(crate) fn about(name: &str, caching: Caching, script: &[(When, What)]) -> Result<Self> {
        let faulty = Faulty::mount(name, caching)?;
        let script: Vec<Fault> = script
            .iter()
            .map(|&(when, what)| Fault { when, what })
            .collect();
        faulty.follow(&script);
        Ok(Self {
            program: program()?,
            faulty,
        })
    }

    pub(crate) fn run(&self, cases: &[&str], more: &[&str], code: i32) -> Result<Value> {
        let cases = cases.iter().flat_map(|case| ["--case", case]);
        let arguments: Vec<&str> = cases
            .chain(["--case", AFTER, "--no-limits"])
            .chain(more.iter().copied())
            .collect();
        let document = self.program.run(self.faulty.path(), &arguments, code)?;
        ensure!(
            outcomes::case(&document, AFTER)?["outcome"] == "ok",
            "{document}"
        );
        Ok(document)
    }
}

const ERRNOS: [Errno; 7] = [
    Errno::NOSPC,
    Errno::DQUOT,
    Errno::INTR,
    Errno::OPNOTSUPP,
    Errno::ROFS,
    Errno::STALE,
    Errno::IO,
];

fn cases() -> Result<Vec<Case>> {
    let case = |method: Method| {
        let values = [
            (Axis::Size, "12KiB"),
            (Axis::Chunk, "4KiB"),
            (Axis::Vector, "2"),
            (Axis::Call, "fallocate"),
            (Axis::Sync, "fsync"),
            (
                Axis::Prepare,
                if method.name() == "write" {
                    "set-len"
                } else {
                    method.card().prepares[0].name()
                },
            ),
        ];
        let is_synced = method.card().syncs.contains(&SyncCall::Fsync);
        let fits =
            |(axis, _): &(Axis, _)| method.has_axis(*axis) && (*axis != Axis::Sync || is_synced);
        let values: Vec<_> = values.into_iter().filter(fits).collect();
        Case::example(method, &values)
    };
    // FUSE cannot share blocks, and MPI needs mpirun.
    // Scripts have the faults of sets.
    let is_possible = |method: &Method| {
        method.card().copying != Some(Copying::Blocks)
            && method.is_complete()
            && !method.writes_set()
    };
    let methods = Method::ALL.iter().copied().filter(is_possible);
    Ok(methods.map(case).collect::<Result<_, _>>()?)
}

/// The call that writes data, and the one that closes the file, which is mostly the card's last.
fn calls(method: Method) -> (&'static str, &'static str) {
    match method.name() {
        "fwrite" => ("fwrite", "fclose"),
        "pwrite" => ("pwrite", "close"),
        "io_uring" | "io_uring-copy" => ("io_uring write", "close"),
        _ => (
            method.card().calls.rsplit(", ").next().unwrap_or_default(),
            "close",
        ),
    }
}

/// Faults every operation by number, up to the last.
fn at_each_operation(caching: Caching, errno: fn(usize) -> Errno) -> Result<()> {
    for number in 1.. {
        let measured = Measured::take(
            caching,
            &[fault(When::Operation(number), What::Fail(errno(number)))],
        )?;
        let hits = measured
            .judge()
            .with_context(|| format!("{:?} at operation {number}", errno(number)))?;
        if hits == 0 {
            ensure!(number > 8, "every case has more operations than {number}");
            return Ok(());
        }
    }
    Ok(())
}

fn fault(when: When, what: What) -> Fault {
    Fault { when, what }
}

/// One case of each method, and an unaffected one.
struct Measured {
    program: Program,
    samples: Vec<Value>,
    document: Value,
    operations: Vec<Operation>,
    left: Vec<PathBuf>,
    code: Option<i32>,
}

impl Measured {
    fn take(caching: Caching, script: &[Fault]) -> Result<Self> {
        let (program, faulty) = (program()?, Faulty::mount("sample", caching)?);
        faulty.follow(script);
        let [json, lines] = ["json", "jsonl"].map(|name| program.home().join(name));
        let mut command =
            program.command(&["run", "--samples", "1", "--seed", "3", "--case", AFTER]);
        command.arg(faulty.path());
        for case in cases()? {
            command.args(["--case", &case.to_string()]);
        }
        command.arg(format!("--export=json={}", json.display()));
        command.arg(format!("--export=jsonl={}", lines.display()));
        let output = command.arg("--no-limits").output()?;
        let parse = |text: &str| serde_json::from_str::<Value>(text);
        let lines = std::fs::read_to_string(lines).with_context(|| format!("{output:?}"))?;
        let lines = lines.lines().map(parse).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            samples: lines
                .into_iter()
                .filter_map(|line| line.get("sample").cloned())
                .collect(),
            document: parse(
                &std::fs::read_to_string(json).with_context(|| format!("{output:?}"))?,
            )?,
            operations: faulty.operations(),
            left: entries(faulty.path()),
            code: output.status.code(),
            program,
        })
    }

    /// Returns the number of files with a fault.
    fn judge(&self) -> Result<usize> {
        let cases = cases()?;
        let watched = self.samples.iter().filter(|sample| sample["case"] != AFTER);
        let (mut hits, mut faults) = (0, 0);
        for (file, sample) in watched.enumerate() {
            let name = sample["case"].as_str().context("a case")?;
            let case = cases
                .iter()
                .find(|case| case.to_string() == name)
                .context("one of ours")?;
            let method = case.method();
            let operations: Vec<Operation> = self
                .operations
                .iter()
                .filter(|operation| operation.file == file)
                .copied()
                .collect();
            hits += usize::from(operations.iter().any(|operation| operation.fault.is_some()));
            faults += usize::from(!matches!(
                sample["outcome"].as_str(),
                Some("ok" | "unsupported")
            ));
            judge(method, &operations, sample)
                .with_context(|| format!("{sample:#} {operations:#?}"))?;
            let case = outcomes::case(&self.document, name)?;
            // A disturbed sample is repeated.
            let own = || self.samples.iter().filter(|sample| sample["case"] == name);
            let last = own()
                .next_back()
                .is_some_and(|last| std::ptr::eq(last, sample));
            ensure!(!last || case["outcome"] == sample["outcome"], "{case}");
            let has_figure = own().any(|sample| sample["outcome"] == "ok");
            ensure!(case["estimate"].is_object() == has_figure, "{case}");
        }
        let had_a_turn = |case: &Case| {
            self.samples
                .iter()
                .any(|sample| sample["case"] == case.to_string())
        };
        ensure!(
            cases.iter().all(had_a_turn),
            "each case had its turn: {:?}",
            self.samples
        );
        ensure!(
            outcomes::case(&self.document, AFTER)?["outcome"] == "ok",
            "{}",
            self.document
        );
        ensure!(self.left.is_empty(), "{:?} stays", self.left);
        ensure!(
            self.code == Some(if faults > 0 { 4 } else { 0 }),
            "{:?} after {faults} faults",
            self.code
        );
        let shown = self.program.call(&["show", "--export", "json=-"])?;
        let stored: Value = serde_json::from_str(&shown.stdout)?;
        ensure!(
            stored["cases"] == self.document["cases"],
            "the database has what the run said"
        );
        Ok(hits)
    }
}

fn judge(method: Method, operations: &[Operation], sample: &Value) -> Result<()> {
    let Some(hit) = operations
        .iter()
        .position(|operation| operation.fault.is_some())
    else {
        ensure!(
            sample["outcome"] == "ok" && sample["reason"].is_null(),
            "nothing went wrong"
        );
        return Ok(());
    };
    let (before, hit) = (&operations[..hit], operations[hit]);
    let Some(What::Fail(errno)) = hit.fault else {
        return Ok(());
    };
    let expected = Expected::for_fault(method, before, hit, errno);
    let reason = sample["reason"].as_str().unwrap_or_default();
    let found = match sample["cause"].clone() {
        Value::Null => Found::Ok,
        cause => Found::Cause(cause),
    };
    match (expected, found) {
        (Expected::Ok | Expected::OkOr(..) | Expected::OkOrDied, Found::Ok) => {}
        (Expected::OkOrDied, Found::Cause(cause)) => {
            ensure!(
                sample["outcome"] == "worker-died" && reason.contains("SIGBUS (7)"),
                "{cause}"
            );
        }
        (
            Expected::At(phase, call, offset) | Expected::OkOr(phase, call, offset),
            Found::Cause(cause),
        ) => {
            let word = if errno == Errno::OPNOTSUPP {
                "unsupported"
            } else {
                "failed"
            };
            ensure!(sample["outcome"] == word, "expected {word}");
            let inner = &cause;
            // The C library buffers writes.
            let call = if call == "fwrite" && inner["call"] == "fflush" {
                "fflush"
            } else {
                call
            };
            let failure = json!({
                "phase": phase, "call": call, "offset": offset, "errno": errno.raw_os_error(),
            });
            for key in ["phase", "call", "offset", "errno"] {
                ensure!(
                    inner[key] == failure[key],
                    "expected {failure} and found {cause}"
                );
            }
            ensure!(
                reason.starts_with(call) && !reason.contains('\n'),
                "{reason}"
            );
        }
        (expected, _) => anyhow::bail!("expected {expected:?}"),
    }
    Ok(())
}

/// After the clock, the file of a copy is opened once more to look for holes. Without that, the content decides.
fn looks_for_holes(before: &[Operation], call: Call) -> bool {
    let count = |call: Call| {
        before
            .iter()
            .filter(|operation| operation.call == call)
            .count()
    };
    count(Call::Open) == usize::from(call == Call::Attributes) && count(Call::Flush) == 1
}

enum Found {
    Ok,
    Cause(Value),
}

#[derive(Debug)]
enum Expected {
    Ok,
    At(&'static str, &'static str, Option<u64>),
    /// The kernel retries readahead.
    OkOr(&'static str, &'static str, Option<u64>),
    /// Like `OkOr`, for a store into a page: SIGBUS.
    OkOrDied,
}

impl Expected {
    fn for_fault(method: Method, before: &[Operation], hit: Operation, errno: Errno) -> Self {
        let (write, close) = calls(method);
        let is_closed = before.iter().any(|operation| operation.call == Call::Flush);
        let by_name = matches!(
            hit.call,
            Call::Create | Call::Open | Call::Lookup | Call::Unlink
        ) || (hit.call == Call::Attributes && is_closed);
        // The kernel repeats interrupted calls and lookups of stale names.
        // The C library has dropped its buffer, and a failed fsync is final.
        let is_final = hit.call == Call::Fsync || (write == "fwrite" && hit.call == Call::Write);
        if (errno == Errno::INTR && !is_final) || (errno == Errno::STALE && by_name) {
            return Self::Ok;
        }
        let is_mapped = method.card().cursor == Cursor::Mapping;
        match (hit.call, is_closed) {
            (Call::Create, _) => Self::At("open", "open", None),
            (Call::Truncate, _) => Self::At("prepare", "ftruncate", None),
            (Call::Fallocate, _) => Self::At("write", "fallocate", None),
            (Call::Read, false) => Self::OkOrDied,
            // Stores are written by the sync.
            (Call::Write, _) if is_mapped => Self::At("sync", "fsync", None),
            (Call::Write, _) => Self::At("write", write, hit.offset),
            (Call::Fsync, _) => Self::At("sync", "fsync", None),
            (Call::Flush, false) => Self::At("close", close, None),
            (Call::Flush, true) | (Call::Release, _) => Self::Ok,
            (Call::Read, true) => Self::OkOr("verify", "pread", hit.offset),
            (Call::Open | Call::Attributes, true)
                if method.copies() && looks_for_holes(before, hit.call) =>
            {
                Self::OkOr(
                    "verify",
                    if hit.call == Call::Open {
                        "open"
                    } else {
                        "stat"
                    },
                    None,
                )
            }
            (Call::Open, _) => Self::At("verify", "open", None),
            (Call::Attributes | Call::Lookup, _) => Self::At("verify", "stat", None),
            (Call::Unlink, _) => Self::At("clean", "unlink", None),
        }
    }
}
