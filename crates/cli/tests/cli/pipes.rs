//! Pipes, a full device and a terminal as outputs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Kind, Need, Program, Trials, call, directory_on, entries, wait_for};

use crate::program;
use crate::terminal::Terminal;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "pipes: a pipe gets the same as a file, under each name",
        &tmpfs,
        named_pipes,
    );
    trials.add(
        "pipes: redirected files are appended to",
        &tmpfs,
        redirected,
    );
    for signal in ["INT", "TERM"] {
        trials.add(
            format!("pipes: SIG{signal} ends a program that waits for a reader"),
            &tmpfs,
            move || no_reader(signal),
        );
    }
    trials.add(
        "pipes: an idle reader does not block the end of a run",
        &tmpfs,
        idle_reader,
    );
    trials.add(
        "a full standard output costs neither the run nor its exports",
        &tmpfs,
        full,
    );
    trials.add(
        "a closed standard output is an error of each command",
        &tmpfs,
        closed,
    );
    trials.add(
        "an export to standard output equals that to a file",
        &tmpfs,
        bytes,
    );
    let terminal = [Need::Filesystem(Kind::Tmpfs), Need::Program("setsid")];
    trials.add(
        "imported runs send no escape sequences to a terminal",
        &terminal,
        foreign_text,
    );
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

const CASE: [&str; 5] = [
    "--case",
    "write,size=64KiB",
    "--samples",
    "2",
    "--no-limits",
];

fn measured() -> Result<Program> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    program.run(target.path(), &CASE, 0)?;
    Ok(program)
}

fn fifo(program: &Program) -> Result<PathBuf> {
    let fifo = program.home().join("fifo");
    call(Command::new("mkfifo").arg(&fifo))?;
    Ok(fifo)
}

/// The script gets the program as `$0`.
fn script(program: &Program, script: &str) -> Result<String> {
    let mut command = Command::new("bash");
    command
        .args(["-ec", script])
        .arg(program.binary())
        .stdin(Stdio::null());
    command
        .env("HOME", program.home())
        .env("XDG_DATA_HOME", program.home())
        .current_dir(program.home());
    let output = command.output()?;
    ensure!(output.status.success(), "{script}: {output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

fn named_pipes() -> Result<()> {
    let program = measured()?;
    fifo(&program)?;
    let expected = script(
        &program,
        "$0 show --export json=file 2>/dev/null >&2; cat file",
    )?;
    for it in [
        "cat fifo & $0 show --export json=fifo >/dev/null; wait",
        "$0 show --export json=/dev/stdout --export jsonl=lines | python3 -c 'import sys; t = sys.stdin.read(); print(t[t.index(\"{\"):t.rindex(\"}\") + 1])'",
        "$0 show --export json=/dev/fd/7 7>&1 >/dev/null | cat",
        "$0 show --export json=>(cat >got) >/dev/null; wait $!; cat got",
        "cat fifo > page & $0 report -q -o fifo; wait; $0 report -o - | cmp - page; cat file",
    ] {
        let found = script(&program, it)?;
        let (found, expected): (Value, Value) = (
            serde_json::from_str(&found)?,
            serde_json::from_str(&expected)?,
        );
        ensure!(found == expected, "{it}: {found}");
    }
    ensure!(
        entries(program.home())
            .iter()
            .all(|path| !text(path).unwrap_or_default().ends_with(".part"))
    );
    Ok(())
}

fn redirected() -> Result<()> {
    let program = measured()?;
    let found = script(
        &program,
        "echo first >log; $0 show --export csv=/dev/stdout -q >>log; cat log",
    )?;
    ensure!(found.starts_with("first\nrun_id,target,"), "{found}");
    let found = script(
        &program,
        "exec 9>log; echo first >&9; $0 show --export csv=/dev/fd/9 >/dev/null; cat log",
    )?;
    ensure!(
        found.starts_with("first\nrun_id,target,") && found.lines().count() > 2,
        "{found}"
    );
    let refused = "if $0 show --export json=/dev/fd/9 9<>writebench/writebench.db; then exit 1; else echo $?; fi";
    ensure!(script(&program, refused)? == "3\n");
    Ok(())
}

fn signal(child: &Child, signal: &str) -> Result<()> {
    call(Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]))
}

/// Standard error, and the exit code, none after a signal.
fn ended_within(mut child: Child, most: Duration) -> Result<(Option<i32>, String)> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > most {
            child.kill()?;
            child.wait()?;
            anyhow::bail!("still there after {most:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output()?;
    Ok((
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

/// Longer than any of the programs takes.
const MOST: Duration = Duration::from_secs(60);

fn no_reader(name: &str) -> Result<()> {
    let (program, target) = (measured()?, directory_on(Kind::Tmpfs));
    let fifo = fifo(&program)?;
    let (json, lines) = (
        format!("json={}", fifo.display()),
        format!("jsonl={}", fifo.display()),
    );
    let run = |export| {
        [
            &["run", text(target.path()).unwrap_or_default()],
            &CASE[..],
            &["--export", export],
        ]
        .concat()
    };
    for (words, code) in [
        (run(&lines), Some(130)),
        // The pipe is written after the run.
        (run(&json), Some(1)),
        (vec!["show", "--export", &json], None),
        (vec!["report", "-o", text(&fifo)?], None),
    ] {
        let said = program.home().join("said");
        let child = program
            .command(&words)
            .stdout(Stdio::null())
            .stderr(File::create(&said)?)
            .spawn()?;
        wait_for("it to wait for a reader", || {
            std::fs::read_to_string(&said)
                .ok()
                .filter(|said| said.contains("Waiting for a reader of"))
                .map(|_| ())
        })?;
        signal(&child, name)?;
        let (ended, _) = ended_within(child, MOST)?;
        ensure!(
            ended == code,
            "{words:?}: {ended:?}: {}",
            std::fs::read_to_string(&said)?
        );
    }
    ensure!(entries(target.path()).is_empty());
    let runs = program.call(&["runs"])?.stdout;
    ensure!(
        runs.contains("interrupted") && runs.contains("complete") && !runs.contains("running"),
        "{runs}"
    );
    Ok(())
}

fn idle_reader() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let fifo = fifo(&program)?;
    let lines = format!("jsonl={}", fifo.display());
    let words = [
        "run",
        text(target.path())?,
        "--case",
        "write,size=4KiB",
        "--yes",
        "--samples",
        "100000",
        "--no-limits",
    ];
    let child = program.start(&[&words[..], &["--export", &lines]].concat())?;
    // The reader does not read, and the small pipe fills up.
    let reader = File::open(&fifo)?;
    rustix::pipe::fcntl_setpipe_size(&reader, 8192)?;
    let (mut seen, mut since) = (0, Instant::now());
    wait_for("the pipe to be full", || {
        let bytes = rustix::io::ioctl_fionread(&reader).ok()?;
        if bytes != seen {
            (seen, since) = (bytes, Instant::now());
        }
        (bytes > 0 && since.elapsed() > Duration::from_secs(2)).then_some(())
    })?;
    signal(&child, "INT")?;
    let (code, said) = ended_within(child, MOST)?;
    ensure!(code == Some(130), "{code:?}: {said}");
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn full() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let file = program.home().join("x.json");
    let export = format!("json={}", file.display());
    let words = [
        &["run", text(target.path())?],
        &CASE[..],
        &["--export", &export],
    ]
    .concat();
    let mut command = program.command(&words);
    let output = command
        .stdout(File::options().write(true).open("/dev/full")?)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(
        said.contains(
            "writebench: cannot write to standard output: write: No space left on device (28)"
        ),
        "{said}"
    );
    let document: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    ensure!(
        document["run"]["status"] == "complete",
        "{}",
        document["run"]
    );
    ensure!(program.call(&["show"])?.stdout.contains("write,size=64KiB"));
    Ok(())
}

/// Rust opens /dev/null in its place, and a program of Python does the same on purpose.
fn closed() -> Result<()> {
    let program = measured()?;
    let run = format!(
        "run {} --case write,size=64KiB --samples 1 --no-limits",
        program.home().display()
    );
    let jsonl = format!("{run} --export jsonl=-");
    for words in [
        "show 1 --export json=-",
        "show 1 --export json=/dev/stdout",
        "show 1",
        "runs",
        "list methods",
        "code write --lang c",
        "--help",
        &run,
        &jsonl,
    ] {
        let called = |redirection: &str| {
            let script = format!("{} {words} {redirection}", program.binary().display());
            let mut command = Command::new("sh");
            command
                .args(["-c", &script])
                .env("XDG_DATA_HOME", program.home())
                .env_remove("WRITEBENCH_DB");
            command.stdin(Stdio::null()).output()
        };
        let output = called(">&-")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(1) && said.contains("Bad file descriptor (9)"),
            "{words}: {output:?}"
        );
        for discarded in [">/dev/null", "1<>/dev/null"] {
            let output = called(discarded)?;
            ensure!(
                output.status.code() == Some(0),
                "{words} {discarded}: {output:?}"
            );
        }
    }
    Ok(())
}

/// Names with escape sequences, as a document may have them.
const FOREIGN: &str =
    "x\u{1b}[8m\u{1b}]0;title\u{7}\u{9b}2J\r\n\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}\u{7f}y";
const ESCAPED: &str = "x\\u{1b}[8m\\u{1b}]0;title\\u{7}\\u{9b}2J\\r \\u{202e}\\u{2066}\\u{200f}\\u{61c}\\u{200b}\\u{7f}y";

fn with_foreign_run() -> Result<(Program, PathBuf)> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mut document = program.run(target.path(), &CASE, 0)?;
    document["run"]["id"] = "another".into();
    document["run"]["label"] = FOREIGN.into();
    document["targets"][0]["environment"]["filesystem"]["source"] = FOREIGN.into();
    document["targets"][0]["environment"]["filesystem"]["mount_options"] = FOREIGN.into();
    document["cases"][0]["section"] = FOREIGN.into();
    document["cases"][0]["label"] = FOREIGN.into();
    document["cases"][0]["samples"][0]["disturbed_by"] = FOREIGN.into();
    let file = program.home().join("their\u{202e}s.json");
    std::fs::write(&file, document.to_string())?;
    let ended = program.call(&["import", text(&file)?])?;
    ensure!(
        ended.code == Some(0) && ended.stdout.contains("their\\u{202e}s.json is run 2"),
        "{ended:#?}"
    );
    Ok((program, file))
}

fn bytes() -> Result<()> {
    let (program, _) = with_foreign_run()?;
    let file = program.home().join("file");
    for format in ["json", "jsonl", "csv", "markdown", "html"] {
        let to_file = format!("{format}={}", file.display());
        let ended = program.call(&["show", "2", "--export", &to_file])?;
        ensure!(ended.code == Some(0), "{ended:#?}");
        let printed = program
            .call(&["show", "2", "--export", &format!("{format}=-")])?
            .stdout;
        ensure!(printed == std::fs::read_to_string(&file)?, "{format}");
    }
    let csv = program.call(&["show", "2", "--export", "csv=-"])?.stdout;
    ensure!(csv.contains(FOREIGN), "{csv:?}");
    Ok(())
}

fn foreign_text() -> Result<()> {
    let (program, file) = with_foreign_run()?;
    let missing = format!("{}/{FOREIGN}", program.home().display());
    for (words, has_escaped) in [
        (vec!["show", "2"], true),
        (vec!["runs"], true),
        (vec!["compare", "1", "2"], true),
        (vec!["compare", "1", text(&file)?], false),
        (vec!["show", "2", "--export", "csv=-"], false),
        (vec!["show", "2", "--export", "jsonl=-"], false),
        (vec!["show", FOREIGN, "--export", "markdown=-"], false),
        (vec!["show", &format!("{FOREIGN}z")], true),
        (vec!["run", &missing], true),
        (vec!["run", "--case", FOREIGN], false),
        (vec!["run", "--export", &format!("{FOREIGN}=x")], false),
        (vec!["run", FOREIGN, "--case", "write", "--dry-run"], true),
        (vec![FOREIGN], false),
    ] {
        let terminal = Terminal::start(&program.command(&words), 4000)?;
        let (_, shown) = terminal.end()?;
        // The terminal driver adds carriage returns.
        let lines = shown.replace("\r\n", "\n");
        let without_ours = ["0", "1", "2", "31", "33"]
            .iter()
            .fold(lines, |text, style| {
                text.replace(&format!("\u{1b}[{style}m"), "")
            });
        let obeyed: Vec<char> = without_ours
            .chars()
            .filter(|c| {
                (c.is_control() && *c != '\n')
                    || "\u{202e}\u{2066}\u{200f}\u{61c}\u{200b}".contains(*c)
            })
            .collect();
        ensure!(obeyed.is_empty(), "{words:?}: {obeyed:?} in {shown:?}");
        ensure!(
            !has_escaped || without_ours.contains(ESCAPED),
            "{words:?}: {shown:?}"
        );
    }
    Ok(())
}
