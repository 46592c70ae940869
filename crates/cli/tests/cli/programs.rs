use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Kind, Need, Program, Trials, directory_on};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let ext4 = [Need::Filesystem(Kind::Ext4)];
    trials.add(
        "a program is measured in the rounds of cases, and read back",
        &ext4,
        beside,
    );
    trials.add(
        "wrong content or size of a program is reported",
        &ext4,
        wrong,
    );
    trials.add(
        "a program with its own data is checked for size only",
        &ext4,
        of_its_own,
    );
    trials.add(
        "a program's own phases replace the time from its start to its end",
        &ext4,
        phases,
    );
    trials.add(
        "a failing program costs its case, and its last output is shown",
        &ext4,
        failing,
    );
    trials.add(
        "a program that hangs is killed at the deadline, and leaves no process",
        &ext4,
        hanging,
    );
    trials.add(
        "a program has the workload of its options: durable, or a copy",
        &ext4,
        workloads,
    );
    trials.add(
        "a program that promises a durable file and never syncs it has failed",
        &ext4,
        unsynced,
    );
    trials.add(
        "a run with programs is resumed only with the same programs",
        &ext4,
        resumed,
    );
    trials.add(
        "--setup and --cleanup run around each sample, outside its time",
        &ext4,
        around,
    );
    trials.add(
        "a failing --setup or --cleanup costs its case, with its phase and exit status",
        &ext4,
        failing_around,
    );
    trials.add("impossible command lines are refused", &[], refused);
    let needs = [Need::Filesystem(Kind::Ext4), Need::Program("cc")];
    trials.add(
        "printed code is a program that reports its phases",
        &needs,
        of_code,
    );
}

const COPY: &str = "sh -c 'cat \"$1\" >\"$2\"' - {source} {file}";

const SYNCED_COPY: &str = "dd if={source} of={file} bs=64K conv=fsync status=none";

fn run(program: &Program, on: &Path, words: &[&str], code: i32) -> Result<Value> {
    program.run(
        on,
        &[
            &["--no-limits", "--samples", "2", "--bytes", "64KiB"],
            words,
        ]
        .concat(),
        code,
    )
}

fn case(document: &Value, index: usize) -> &Value {
    &document["cases"][index]
}

fn samples(case: &Value) -> Result<&Vec<Value>> {
    case["samples"].as_array().context("samples")
}

fn beside() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let place = on.path().join("a place");
    std::fs::create_dir(&place)?;
    let words = [
        "--case",
        "write,size=64KiB",
        "--verify",
        "every",
        "--command",
        COPY,
    ];
    let document = run(&program()?, &place, &words, 0)?;
    let (own, theirs) = (case(&document, 0), case(&document, 1));
    ensure!(own["contract"] == theirs["contract"], "{own:#}\n{theirs:#}");
    ensure!(
        theirs["label"] == COPY && theirs["name"] == "program,size=64KiB",
        "{theirs:#}"
    );
    for sample in samples(theirs)? {
        ensure!(
            sample["read_back"]["extent"] == "whole" && sample["bytes"] == 65536,
            "{sample:#}"
        );
        let (startup, total) = (sample["startup_ns"].as_u64(), sample["total_ns"].as_u64());
        ensure!(
            startup.is_some_and(|startup| startup > 0) && total > Some(0),
            "{sample:#}"
        );
    }
    // Disturbed samples are repeated.
    let is_in = |case: &Value, round: u64| -> Result<bool> {
        Ok(samples(case)?.iter().any(|sample| sample["round"] == round))
    };
    for round in [0, 1] {
        ensure!(
            is_in(own, round)? && is_in(theirs, round)?,
            "round {round}: {document:#}"
        );
    }
    ensure!(std::fs::read_dir(&place)?.count() == 0, "a file is left");
    Ok(())
}

fn wrong() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let content = "sh -c 'cat \"$1\" >\"$2\"; printf x | dd of=\"$2\" conv=notrunc status=none' - {source} {file}";
    let words = [
        "--verify",
        "every",
        "--command",
        content,
        "--command",
        "cp /dev/null {file}",
    ];
    let document = run(&program()?, on.path(), &words, 4)?;
    for (index, reason) in [
        (0, "the content differs"),
        (1, "0 bytes and should have 65536"),
    ] {
        let found = case(&document, index);
        ensure!(found["outcome"] == "failed", "{found:#}");
        ensure!(
            found["reason"]
                .as_str()
                .is_some_and(|why| why.contains(reason)),
            "{found:#}"
        );
    }
    Ok(())
}

fn of_its_own() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let zeros = "dd if=/dev/zero of={file} bs=64K count=1 status=none";
    let document = run(
        &program()?,
        on.path(),
        &["--verify", "every", "--command", zeros],
        0,
    )?;
    ensure!(
        samples(case(&document, 0))?
            .iter()
            .all(|sample| sample["read_back"].is_null()),
        "{document:#}"
    );
    Ok(())
}

fn phases() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let reports = |text: &str| {
        format!(
            "sh -c 'cp \"$1\" \"$2\"; eval \"echo {text} >&$WRITEBENCH_PHASES_FD\"' - {{source}} {{file}}"
        )
    };
    let (told, lies, muddle) = (
        reports("open 5 write 70 sync 9"),
        reports("write 99000000000"),
        reports("wrote 5"),
    );
    let words = ["--command", &told, "--command", &lies, "--command", &muddle];
    let document = run(&program()?, on.path(), &words, 4)?;
    let phases = &samples(case(&document, 0))?[0]["phases_ns"];
    ensure!(
        (&phases["open"], &phases["write"], &phases["sync"]) == (&5.into(), &70.into(), &9.into()),
        "{phases}"
    );
    for (index, reason) in [
        (1, "99000000000 ns, but ran for"),
        (2, "'wrote' is not a phase"),
    ] {
        let why = case(&document, index)["reason"]
            .as_str()
            .unwrap_or_default();
        ensure!(why.contains(reason), "{why}");
    }
    Ok(())
}

fn failing() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let fails = "sh -c 'echo the tape is torn >&2; exit 7' - {file}";
    let words = [
        "--command",
        fails,
        "--command",
        "no-such-program {file}",
        "--command",
        COPY,
    ];
    let document = run(&program()?, on.path(), &words, 4)?;
    for (index, reason) in [
        (0, "exit status: 7: the tape is torn"),
        (1, "no-such-program: No such file"),
    ] {
        let why = case(&document, index)["reason"]
            .as_str()
            .unwrap_or_default();
        ensure!(why.contains(reason), "{why}");
    }
    ensure!(case(&document, 2)["outcome"] == "ok", "{document:#}");
    Ok(())
}

fn hanging() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let began = Instant::now();
    let words = [
        "--timeout",
        "1s",
        "--command",
        "sh -c 'sleep 301; :' - {file}",
        "--command",
        COPY,
    ];
    let document = run(&program()?, on.path(), &words, 4)?;
    ensure!(case(&document, 0)["outcome"] == "timed-out", "{document:#}");
    ensure!(case(&document, 1)["outcome"] == "ok", "{document:#}");
    ensure!(
        began.elapsed() < Duration::from_secs(300),
        "it was waited for"
    );
    ensure!(!sleeps(301), "it is still there");
    Ok(())
}

/// The test chooses a unique number of seconds.
fn sleeps(seconds: u32) -> bool {
    let wanted = format!("sleep\0{seconds}\0");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    processes.flatten().any(|process| {
        std::fs::read(process.path().join("cmdline"))
            .is_ok_and(|line| line.starts_with(wanted.as_bytes()))
    })
}

fn workloads() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let durable = [
        "--case",
        "write,size=64KiB,sync=fsync",
        "--command",
        SYNCED_COPY,
        "--durable",
    ];
    let document = run(&program()?, on.path(), &durable, 0)?;
    ensure!(
        case(&document, 0)["contract"] == case(&document, 1)["contract"],
        "{document:#}"
    );
    let over = "sh -c 'test -s \"$2\" && cat \"$1\" 1<>\"$2\"' - {source} {file}";
    let existing = [
        "--case",
        "write,size=64KiB,prepare=overwrite",
        "--verify",
        "every",
        "--command",
        over,
        "--existing",
    ];
    let document = run(&program()?, on.path(), &existing, 0)?;
    ensure!(
        case(&document, 0)["contract"] == case(&document, 1)["contract"],
        "{document:#}"
    );
    let copies = [
        "--case",
        "read-write,size=64KiB",
        "--command",
        "cp {source} {file}",
        "--copies",
    ];
    let document = run(&program()?, on.path(), &copies, 0)?;
    ensure!(
        case(&document, 0)["contract"] == case(&document, 1)["contract"],
        "{document:#}"
    );
    ensure!(
        case(&document, 1)["name"] == "copy-program,size=64KiB",
        "{document:#}"
    );
    Ok(())
}

/// Dirty pages are the evidence. Data in the page cache is none, since it is also there after a sync, and O_DIRECT leaves
/// none.
fn unsynced() -> Result<()> {
    let on = directory_on(Kind::Ext4);
    let program = program()?;
    let durable = [
        "--durable",
        "--case",
        "write,size=64KiB,sync=fsync",
        "--command",
    ];
    for honest in [
        SYNCED_COPY,
        "dd if={source} of={file} bs=64K oflag=dsync status=none",
        "dd if={source} of={file} bs=64K oflag=direct conv=fdatasync status=none",
        "sh -c 'cat \"$1\" >\"$2.tmp\" && sync \"$2.tmp\" && mv \"$2.tmp\" \"$2\"' - {source} {file}",
    ] {
        let document = run(&program, on.path(), &[&durable[..], &[honest]].concat(), 0)?;
        ensure!(
            case(&document, 1)["outcome"] == "ok",
            "{honest}: {document:#}"
        );
    }
    const CACHESTAT_SINCE: [u64; 2] = [6, 5];
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let version: Vec<u64> = release
        .split(['.', '-'])
        .take(2)
        .flat_map(str::parse)
        .collect();
    if version < CACHESTAT_SINCE.to_vec() {
        return Ok(());
    }
    let document = run(&program, on.path(), &[&durable[..], &[COPY]].concat(), 4)?;
    let broken = case(&document, 1);
    // The file of its first samples is durable if another test syncs the filesystem at the right moment.
    let is_synced_by_others = broken["samples"][0]["outcome"] == "ok";
    ensure!(
        broken["outcome"] == "failed" && (broken["estimate"].is_null() || is_synced_by_others),
        "{broken:#}"
    );
    let reason = broken["reason"].as_str().context("a reason")?;
    ensure!(
        reason.starts_with("durable: 64 KiB of 64 KiB were only in the page cache"),
        "{reason}"
    );
    ensure!(case(&document, 0)["outcome"] == "ok", "{document:#}");
    let gated = [
        "--durable",
        "--fail-if-slower",
        "99%",
        "--command",
        SYNCED_COPY,
        "--command",
        COPY,
    ];
    run(&program, on.path(), &gated, 4)?;
    Ok(())
}

fn resumed() -> Result<()> {
    let (on, program) = (directory_on(Kind::Ext4), program()?);
    let target = on.path().to_str().context("UTF-8")?;
    let start = [
        "run",
        target,
        "--no-limits",
        "--bytes",
        "64KiB",
        "--command",
        COPY,
        "--max-bytes",
        "300KiB",
    ];
    let ended = program.call(&start)?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let ended = program.call(&["run", "--resume"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("pass its programs again: --command"),
        "{ended:?}"
    );
    let ended = program.call(&["run", "--resume", "--command", "cp {source} {file}"])?;
    ensure!(ended.code == Some(2), "{ended:?}");
    let other = ["run", "--resume", "--command", COPY, "--setup", "rm -r /"];
    ensure!(program.call(&other)?.code == Some(2), "another setup");
    let ended = program.call(&["run", "--resume", "--command", COPY, "--max-bytes", "1GiB"])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    Ok(())
}

fn around() -> Result<()> {
    let (on, program) = (directory_on(Kind::Ext4), program()?);
    let log = program.home().join("log");
    let logs = |word: &str| {
        format!(
            "sh -c 'echo {word} $(basename $1) $(stat -c %s $2) >>{}' - {{file}} {{source}}",
            log.display()
        )
    };
    let slow = logs("setup").replace("sh -c '", "sh -c 'sleep 0.2; ");
    let cleanup = logs("cleanup").replace("$(stat -c %s $2)", "$(stat -c %s $1)");
    let words = [
        "--setup",
        &slow,
        "--cleanup",
        &cleanup,
        "--command",
        COPY,
        "--case",
        "write,size=64KiB",
    ];
    let document = run(&program, on.path(), &words, 0)?;
    let taken = samples(case(&document, 1))?;
    let log = std::fs::read_to_string(log)?;
    let expected = |word| format!("{word} sample 65536");
    ensure!(
        log.lines().count() == 2 * taken.len(),
        "only around programs: {log}"
    );
    for pair in log.lines().collect::<Vec<_>>().chunks(2) {
        ensure!(pair == [expected("setup"), expected("cleanup")], "{log}");
    }
    let settings = &document["run"]["settings"];
    ensure!(
        settings["setup"][0] == "sh" && settings["cleanup"][0] == "sh",
        "{settings}"
    );
    // The program's time cannot hold the setup's, and is a millisecond.
    let times = taken
        .iter()
        .filter_map(|sample| sample["total_ns"].as_u64());
    ensure!(
        times.min().is_some_and(|least| least < 200_000_000),
        "{taken:?}"
    );
    Ok(())
}

fn failing_around() -> Result<()> {
    let (on, program) = (directory_on(Kind::Ext4), program()?);
    let mark = program.home().join("cleaned");
    let (fails, marks) = (
        "sh -c 'echo no tape >&2; exit 3'",
        format!("touch {}", mark.display()),
    );
    let never = format!(
        "sh -c 'touch {}.run; cat \"$1\" >\"$2\"' - {{source}} {{file}}",
        mark.display()
    );
    let document = run(
        &program,
        on.path(),
        &["--setup", fails, "--cleanup", &marks, "--command", &never],
        4,
    )?;
    let sample = &samples(case(&document, 0))?[0];
    let why = sample["reason"].as_str().unwrap_or_default();
    ensure!(
        sample["cause"]["phase"] == "settle"
            && why.contains("setup: sh ended with exit status: 3: no tape"),
        "{sample:#}"
    );
    ensure!(
        mark.exists() && !mark.with_extension("run").exists(),
        "cleaned up, and not run"
    );
    let document = run(
        &program,
        on.path(),
        &["--cleanup", fails, "--command", COPY],
        4,
    )?;
    let sample = &samples(case(&document, 0))?[0];
    let why = sample["reason"].as_str().unwrap_or_default();
    ensure!(
        sample["cause"]["phase"] == "clean"
            && why.contains("cleanup: sh ended with exit status: 3: no tape"),
        "{sample:#}"
    );
    Ok(())
}

fn refused() -> Result<()> {
    let program = program()?;
    for (words, why) in [
        (&["--command", "cp x y"][..], "Write {file} in its place"),
        (&["--command", "cp 'x {file}"], "Is a quote open?"),
        (
            &["--command", "cp x {file}", "--copies"],
            "Write {source} in its place",
        ),
        (&["--case", "program"], "--command 'PROGRAM {file}'"),
        (&["--bytes", "1MiB"], "--command"),
        (&["--setup", "sync"], "--command"),
        (
            &["--command", "cp {source} {file}", "--cleanup", "'"],
            "--cleanup ''' cannot be split",
        ),
        (
            &["--command", "cat {source} > {file}"],
            "has '>', which only a shell understands",
        ),
        (
            &["--command", "cp {source} {file}", "--setup", "true && true"],
            "has '&&', which only a shell",
        ),
    ] {
        let ended = program.call(&[&["run"], words].concat())?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains(why),
            "{words:?}: {}",
            ended.stderr
        );
    }
    Ok(())
}

fn of_code() -> Result<()> {
    let (on, program) = (directory_on(Kind::Ext4), program()?);
    let name = "pwrite,size=64KiB,chunk=4KiB,prepare=fallocate";
    let code = program
        .call(&["code", name, "--lang", "c", "--main"])?
        .stdout;
    let source = program.home().join("p.c");
    std::fs::write(&source, code)?;
    let binary = program.home().join("p");
    writebench_testkit::call(
        std::process::Command::new("cc")
            .arg("-O2")
            .arg(&source)
            .arg("-o")
            .arg(&binary),
    )?;
    let command = format!("'{}' {{source}} {{file}}", binary.display());
    let words = ["--case", name, "--verify", "every", "--command", &command];
    let document = run(&program, on.path(), &words, 0)?;
    for sample in samples(case(&document, 1))? {
        ensure!(sample["read_back"]["extent"] == "whole", "{sample:#}");
    }
    Ok(())
}
