//! Existing files, protected files, and planted links at the paths of outputs.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use writebench_testkit::{
    Ended, Kind, LoopDevice, Mounted, Need, Program, TestRng, Trials, call, directory_on, entries,
    send, wait_for,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "outputs: a device is refused and unchanged",
        &[Need::Image("ext4")],
        device,
    );
    trials.add(
        "outputs: the database is not overwritten under any name",
        &tmpfs,
        database,
    );
    trials.add("outputs: an input file is not overwritten", &tmpfs, inputs);
    trials.add(
        "outputs: the directory of a run is refused",
        &tmpfs,
        workspace,
    );
    trials.add(
        "outputs: two exports to one file, or to standard output, are refused",
        &tmpfs,
        twice,
    );
    trials.add(
        "outputs: a killed writer leaves the old page or the new one",
        &tmpfs,
        killed,
    );
    trials.add(
        "outputs: a full disk keeps the old file",
        &[Need::Root],
        full,
    );
    trials.add(
        "outputs: the directory of a renamed file is synced",
        &[Need::Strace, tmpfs[0]],
        renamed,
    );
    trials.add(
        "outputs: a file keeps its mode and owner",
        &[Need::Root],
        mode,
    );
    trials.add(
        "outputs: a link is refused with its destination",
        &tmpfs,
        link,
    );
    let planting = [Need::Root, Need::Program("setpriv")];
    trials.add(
        "outputs: a planted pipe is refused",
        &[Need::Root],
        planted_pipe,
    );
    trials.add(
        "outputs: a link planted during a run is not followed",
        &planting,
        planted,
    );
    trials.add(
        "outputs: a directory swapped during a run is not used",
        &planting,
        swapped,
    );
    trials.add(
        "outputs: jsonl replaces an older file, and spares its other names",
        &tmpfs,
        streamed,
    );
    trials.add(
        "outputs: without a terminal, results have 80 columns or those of COLUMNS",
        &tmpfs,
        columns,
    );
    trials.add(
        "outputs: foreign files in a directory are refused, or replaced with --force",
        &tmpfs,
        directories,
    );
}

fn columns() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let cases = [
        "write,size=64KiB",
        "pwrite,size=64KiB,chunk=4KiB,prepare=fallocate",
    ];
    let cases = cases.iter().flat_map(|case| ["--case", case]);
    let arguments: Vec<&str> = cases.chain(["--samples", "1", "--no-limits"]).collect();
    program.run(target.path(), &arguments, 0)?;
    let usual = longest_line(&program, None)?;
    let narrow = longest_line(&program, Some("60"))?;
    let unlimited = longest_line(&program, Some("0"))?;
    ensure!(
        usual <= 80 && narrow <= 60 && unlimited > 80,
        "{usual}, {narrow} and {unlimited} columns"
    );
    ensure!(
        longest_line(&program, Some("many"))? == usual,
        "a value that is no number is ignored"
    );
    let help = |columns: &str| {
        program
            .command(&["--help"])
            .env("COLUMNS", columns)
            .output()
    };
    ensure!(
        help("0")?.stdout == help("100")?.stdout && help("0")?.stdout != help("60")?.stdout,
        "help has 100 columns without a limit"
    );
    Ok(())
}

/// The columns of what `show` prints, where COLUMNS has this value.
fn longest_line(program: &Program, columns: Option<&str>) -> Result<usize> {
    let mut command = program.command(&["show"]);
    match columns {
        Some(columns) => command.env("COLUMNS", columns),
        None => command.env_remove("COLUMNS"),
    };
    let shown = String::from_utf8(command.output()?.stdout)?;
    let lengths = shown.lines().map(|line| line.chars().count());
    lengths.max().context("no lines")
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

fn ended(program: &Program, arguments: &[&str], code: i32) -> Result<Ended> {
    let ended = program.call(arguments)?;
    ensure!(
        ended.code == Some(code),
        "{arguments:?}: expected exit code {code}: {ended:#?}"
    );
    Ok(ended)
}

fn refused(program: &Program, arguments: &[&str], why: &str) -> Result<()> {
    let ended = ended(program, arguments, 3)?;
    let is_line = ended.stderr.trim_end().lines().count() == 1;
    ensure!(
        is_line && ended.stderr.contains(why),
        "'{why}' in {ended:#?}"
    );
    Ok(())
}

fn export(format: &str, path: &Path) -> String {
    format!("{format}={}", path.display())
}

/// All commands with an output.
fn writers(path: &Path) -> Result<Vec<Vec<String>>> {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<String>>()
    };
    let formats = ["json", "jsonl", "csv", "html"]
        .map(|format| words(&["show", "--export", &export(format, path)]));
    let report = words(&["report", "-o", text(path)?]);
    let compare = words(&["compare", "1", "1", "--export", &export("json", path)]);
    Ok([&formats[..], &[report, compare]].concat())
}

fn all_refused(program: &Program, path: &Path, why: &str) -> Result<()> {
    let target = directory_on(Kind::Tmpfs);
    for words in writers(path)? {
        refused(
            program,
            &words.iter().map(String::as_str).collect::<Vec<_>>(),
            why,
        )?;
    }
    for format in ["json", "jsonl"] {
        refused(
            program,
            &[
                &[
                    "run",
                    text(target.path())?,
                    "--export",
                    &export(format, path),
                ],
                &CASE[..],
            ]
            .concat(),
            why,
        )?;
    }
    ensure!(entries(target.path()).is_empty(), "nothing was measured");
    Ok(())
}

fn device() -> Result<()> {
    let (program, device) = (measured()?, LoopDevice::attach(16 << 20)?);
    let mounted = device.format_and_mount(device.path(), "ext4")?;
    std::fs::write(mounted.path().join("precious"), "theirs")?;
    // Keeps the filesystem from writing by itself.
    call(
        Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(mounted.path()),
    )?;
    let before = std::fs::read(device.image())?;
    all_refused(
        &program,
        device.path(),
        "neither a regular file nor a pipe. Name another file, or - for standard",
    )?;
    all_refused(
        &program,
        Path::new("/dev/full"),
        "neither a regular file nor a pipe",
    )?;
    call(
        Command::new("blockdev")
            .arg("--flushbufs")
            .arg(device.path()),
    )?;
    ensure!(
        std::fs::read(device.image())? == before,
        "the device was written to"
    );
    ensure!(std::fs::read(mounted.path().join("precious"))? == b"theirs");
    Ok(())
}

fn database() -> Result<()> {
    let program = measured()?;
    let database = program.home().join("writebench/writebench.db");
    let before = std::fs::read(&database)?;
    let (other, folder) = (
        program.home().join("other-name"),
        program.home().join("folder"),
    );
    std::fs::hard_link(&database, &other)?;
    symlink(database.parent().context("a directory")?, &folder)?;
    let beside = ["-wal", "-shm", "-journal", "-runs"]
        .map(|suffix| format!("{}{suffix}", database.display()));
    let names = [database.clone(), other, folder.join("writebench.db")];
    for path in names.into_iter().chain(beside.map(PathBuf::from)) {
        all_refused(&program, &path, "this is the database, which would be lost")?;
    }
    // Also a future database.
    let (new, target) = (program.home().join("new.db"), directory_on(Kind::Tmpfs));
    let locks = new.with_file_name("new.db-runs");
    for place in [&new, &locks, &database] {
        let words = [
            "run",
            text(target.path())?,
            "--db",
            text(&new)?,
            "--export",
            &export("json", place),
        ];
        refused(
            &program,
            &[&words, &CASE[..]].concat(),
            "this is the database",
        )?;
    }
    ensure!(!new.exists() && std::fs::read(&database)? == before);
    Ok(())
}

fn inputs() -> Result<()> {
    let (program, target) = (measured()?, directory_on(Kind::Tmpfs));
    let (run, other) = (
        program.home().join("run.json"),
        program.home().join("other.json"),
    );
    ended(&program, &["show", "--export", &export("json", &run)], 0)?;
    std::fs::hard_link(&run, &other)?;
    let before = std::fs::read(&run)?;
    for name in [&run, &other] {
        let why = "this is an input file, which would be lost";
        refused(&program, &["report", text(&run)?, "-o", text(name)?], why)?;
        refused(
            &program,
            &[
                "compare",
                "1",
                text(&run)?,
                "--export",
                &export("json", name),
            ],
            why,
        )?;
    }
    ensure!(std::fs::read(&run)? == before);
    let (source, copy) = (program.home().join("source"), target.path().join("copy"));
    std::fs::write(&source, [7; 4096])?;
    let words = [
        "run",
        "--case",
        "read-write",
        "--from",
        text(&source)?,
        "--to",
        text(&copy)?,
        "--samples",
        "1",
    ];
    let with = |path: &Path| -> [String; 2] { ["--export".to_owned(), export("json", path)] };
    for (path, why) in [
        (&source, "this is the source of the copy"),
        (&copy, "this is the copy"),
    ] {
        let more = with(path);
        refused(&program, &[&words[..], &[&more[0], &more[1]]].concat(), why)?;
    }
    ensure!(std::fs::read(&source)? == [7; 4096] && !copy.exists());
    Ok(())
}

fn workspace() -> Result<()> {
    let (program, target) = (measured()?, directory_on(Kind::Tmpfs));
    let begun = [
        "run",
        text(target.path())?,
        "--case",
        "write,size=1MiB",
        "--yes",
        "--samples",
        "100000",
        "--no-limits",
    ];
    let child = program.start(&begun)?;
    let ours = wait_for("the workspace", || entries(target.path()).first().cloned())?;
    let refusals = || -> Result<()> {
        all_refused(
            &program,
            &ours.join("new.json"),
            "a run works in this directory",
        )?;
        refused(
            &program,
            &["show", "--export", &export("fio", &ours)],
            "a run works in this directory",
        )
    };
    let refused = refusals();
    interrupt(child.id())?;
    child.wait_with_output()?;
    refused
}

fn interrupt(process: u32) -> Result<()> {
    Ok(send(process, Signal::INT)?)
}

fn twice() -> Result<()> {
    let program = measured()?;
    let file = program.home().join("x");
    let again = program.home().join("writebench/../x");
    let words = [
        "show",
        "--export",
        &export("json", &file),
        "--export",
        &export("csv", &again),
    ];
    let said = ended(&program, &words, 2)?.stderr;
    ensure!(said.contains("is given twice") && !file.exists(), "{said}");
    for command in [&["show"][..], &["compare", "1", "1"]] {
        let said = ended(
            &program,
            &[command, &["--export", "json=-", "--export=json=-"]].concat(),
            2,
        )?;
        ensure!(
            said.stderr.contains("- is given twice") && said.stdout.is_empty(),
            "{said:?}"
        );
    }
    Ok(())
}

fn killed() -> Result<()> {
    let program = measured()?;
    let (folder, old) = (
        directory_on(Kind::Tmpfs),
        b"<!doctype html>an old page".repeat(1000),
    );
    let page = folder.path().join("page.html");
    let report = ["report", "-o", text(&page)?];
    let start = Instant::now();
    ended(&program, &report, 0)?;
    let (takes, whole) = (start.elapsed(), std::fs::read(&page)?);
    let seed = std::env::var("WRITEBENCH_KILL_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(TestRng::any_seed);
    let mut rng = TestRng::new(seed);
    for _ in 0..40 {
        std::fs::write(&page, &old)?;
        let mut child = program.start(&report)?;
        std::thread::sleep(rng.moment(takes));
        child.kill()?;
        child.wait_with_output()?;
        let found = std::fs::read(&page)?;
        ensure!(
            found == old || found == whole,
            "WRITEBENCH_KILL_SEED={seed}: {} bytes of a page",
            found.len()
        );
    }
    ended(&program, &report, 0)?;
    ensure!(
        entries(folder.path()) == [page],
        "what was left is removed: {:?}",
        entries(folder.path())
    );
    Ok(())
}

fn full() -> Result<()> {
    let (program, small) = (measured()?, Mounted::tmpfs(64 << 10)?);
    let page = small.path().join("page.html");
    std::fs::write(&page, "an old page")?;
    let is_page = |words: &Vec<String>| {
        words
            .iter()
            .any(|word| word == "report" || word.starts_with("html="))
    };
    for words in writers(&page)?.into_iter().filter(is_page) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = ended(&program, &words, 1)?.stderr;
        ensure!(
            said.contains("page.html: write: No space left on device (28)"),
            "{said}"
        );
        ensure!(
            std::fs::read(&page)? == b"an old page" && entries(small.path()).len() == 1,
            "{words:?}"
        );
    }
    Ok(())
}

fn renamed() -> Result<()> {
    let (program, on) = (program()?, directory_on(Kind::Tmpfs));
    let directory = on.path().canonicalize()?;
    let [from, to, page] = ["from", "to", "page"].map(|name| directory.join(name));
    std::fs::write(&from, vec![7; 65536])?;
    let trace = program.home().join("trace");
    let mut strace = writebench_testkit::strace();
    strace
        .args([
            "-qq",
            "-y",
            "-e",
            "trace=rename,renameat,renameat2,fsync",
            "-o",
        ])
        .arg(&trace);
    strace.arg(program.binary()).args([
        "run",
        "--samples",
        "1",
        "--case",
        "sendfile",
        "--no-limits",
        "--from",
    ]);
    strace
        .arg(&from)
        .arg("--to")
        .arg(&to)
        .arg(format!("--export=html={}", page.display()));
    strace
        .env_remove("WRITEBENCH_DB")
        .env("HOME", program.home())
        .env("XDG_DATA_HOME", program.home());
    let output = strace.output()?;
    ensure!(
        output.status.success() && to.exists() && page.exists(),
        "{output:?}"
    );
    let trace = writebench_testkit::traced_calls(&std::fs::read_to_string(trace)?);
    let synced = format!("<{}>)", directory.display());
    for name in ["to", "page"] {
        let is_put = |line: &&String| {
            line.contains("rename")
                && [format!("\"{name}\""), format!("/{name}\"")]
                    .iter()
                    .any(|put| line.contains(put))
        };
        let behind = trace.iter().skip_while(|line| !is_put(line));
        ensure!(
            behind
                .clone()
                .any(|line| line.contains("fsync(") && line.contains(&synced)),
            "{name}: {trace:#?}"
        );
    }
    Ok(())
}

fn mode() -> Result<()> {
    const NOBODY: u32 = 65534;
    let (program, folder) = (measured()?, directory_on(Kind::Tmpfs));
    let file = folder.path().join("x.json");
    let show = ["show", "--export", &export("json", &file)];
    let facts = || -> Result<(u32, u32)> {
        let metadata = std::fs::metadata(&file)?;
        Ok((metadata.mode() & 0o7777, metadata.uid()))
    };
    let shell = format!(
        "umask 027 && exec {} show --export json={}",
        program.binary().display(),
        file.display()
    );
    let mut command = Command::new("sh");
    command
        .args(["-c", &shell])
        .env("XDG_DATA_HOME", program.home());
    call(&mut command)?;
    ensure!(facts()? == (0o640, 0), "{:o}", facts()?.0);
    std::fs::set_permissions(&file, Permissions::from_mode(0o600))?;
    chown(&file, Some(NOBODY), Some(NOBODY))?;
    ended(&program, &show, 0)?;
    ensure!(
        facts()? == (0o600, NOBODY),
        "{:o} of {}",
        facts()?.0,
        facts()?.1
    );
    Ok(())
}

fn link() -> Result<()> {
    let program = measured()?;
    let (link, victim) = (program.home().join("x.json"), program.home().join("victim"));
    std::fs::write(&victim, "theirs")?;
    symlink(&victim, &link)?;
    all_refused(
        &program,
        &link,
        &format!("a symbolic link to {}", victim.display()),
    )?;
    ensure!(std::fs::read(&victim)? == b"theirs" && link.is_symlink());
    std::fs::remove_file(&victim)?;
    all_refused(&program, &link, "a symbolic link to")?;
    ensure!(!victim.exists());
    Ok(())
}

/// Another user's directory, and a file of root's.
struct Theirs {
    above: tempfile::TempDir,
}

impl Theirs {
    fn new() -> Result<Self> {
        let theirs = Self {
            above: directory_on(Kind::Tmpfs),
        };
        std::fs::set_permissions(theirs.above.path(), Permissions::from_mode(0o777))?;
        theirs.do_as_nobody(&["mkdir", "-p", text(&theirs.directory())?])?;
        std::fs::create_dir(theirs.victims())?;
        std::fs::write(theirs.victims().join("x.json"), "root's")?;
        Ok(theirs)
    }

    fn directory(&self) -> PathBuf {
        self.above.path().join("theirs")
    }

    fn victims(&self) -> PathBuf {
        self.above.path().join("victims")
    }

    fn do_as_nobody(&self, words: &[&str]) -> Result<()> {
        call(
            Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .args(words),
        )
    }

    /// Returns stderr and the exit code.
    fn run(&self, format: &str, meanwhile: impl Fn(&Self) -> Result<()>) -> Result<Ended> {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let export = export(format, &self.directory().join("x.json"));
        let words = [
            "run",
            text(target.path())?,
            "--case",
            "write,size=1MiB",
            "--yes",
            "--samples",
            "100000",
            "--no-limits",
        ];
        let child = program.start(&[&words[..], &["--export", &export]].concat())?;
        wait_for("the workspace", || entries(target.path()).first().cloned())?;
        let done = meanwhile(self);
        interrupt(child.id())?;
        let output = child.wait_with_output()?;
        done?;
        let [stdout, stderr] = [output.stdout, output.stderr]
            .map(|stream| String::from_utf8_lossy(&stream).into_owned());
        Ok(Ended {
            code: output.status.code(),
            stdout,
            stderr,
        })
    }

    fn check_victims(&self) -> Result<()> {
        ensure!(
            entries(&self.victims()).len() == 1,
            "{:?}",
            entries(&self.victims())
        );
        ensure!(std::fs::read(self.victims().join("x.json"))? == b"root's");
        Ok(())
    }
}

fn planted() -> Result<()> {
    let theirs = Theirs::new()?;
    let plant = |theirs: &Theirs| {
        let (victim, link) = (
            theirs.victims().join("x.json"),
            theirs.directory().join("x.json"),
        );
        theirs.do_as_nobody(&["ln", "-s", text(&victim)?, text(&link)?])
    };
    let ended = theirs.run("json", plant)?;
    ensure!(
        ended.code == Some(130) && ended.stderr.contains("x.json: a symbolic link to"),
        "{ended:#?}"
    );
    theirs.check_victims()?;
    ensure!(
        entries(&theirs.directory()).len() == 1,
        "{:?}",
        entries(&theirs.directory())
    );
    Ok(())
}

fn swapped() -> Result<()> {
    let theirs = Theirs::new()?;
    let moved = theirs.above.path().join("moved");
    let swap = |theirs: &Theirs| {
        theirs.do_as_nobody(&["mv", text(&theirs.directory())?, text(&moved)?])?;
        theirs.do_as_nobody(&[
            "ln",
            "-s",
            text(&theirs.victims())?,
            text(&theirs.directory())?,
        ])
    };
    let ended = theirs.run("json", swap)?;
    ensure!(ended.code == Some(130), "{ended:#?}");
    theirs.check_victims()?;
    ensure!(
        entries(&moved) == [moved.join("x.json")],
        "it is in the directory that was named: {ended:#?}"
    );
    Ok(())
}

fn streamed() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (lines, other) = (
        program.home().join("lines.jsonl"),
        program.home().join("other-name"),
    );
    std::fs::write(&lines, "an old one")?;
    std::fs::hard_link(&lines, &other)?;
    let words = [
        "run",
        text(target.path())?,
        "--case",
        "write,size=1MiB",
        "--yes",
        "--samples",
        "100000",
        "--no-limits",
    ];
    let child = program.start(&[&words[..], &["--export", &export("jsonl", &lines)]].concat())?;
    let followed = wait_for("lines while the run goes on", || {
        let text = std::fs::read_to_string(&lines).ok()?;
        (text.lines().count() > 3).then_some(text)
    });
    interrupt(child.id())?;
    child.wait_with_output()?;
    ensure!(followed?.starts_with("{\"run\""));
    ensure!(
        std::fs::read_to_string(&lines)?
            .trim_end()
            .ends_with("{\"end\":{\"status\":\"interrupted\"}}")
    );
    ensure!(std::fs::read(&other)? == b"an old one");
    Ok(())
}

fn directories() -> Result<()> {
    let (program, folder) = (measured()?, directory_on(Kind::Tmpfs));
    let (jobs, charts) = (folder.path().join("jobs"), folder.path().join("charts"));
    std::fs::create_dir(&jobs)?;
    std::fs::write(jobs.join("README"), "My project")?;
    let fio = ["show", "--export", &export("fio", &jobs)];
    refused(&program, &fio, "README: not made by writebench")?;
    ensure!(entries(&jobs).len() == 1 && std::fs::read(jobs.join("README"))? == b"My project");
    let forced = [&fio[..], &["--force"]].concat();
    ended(&program, &forced, 0)?;
    ensure!(
        std::fs::read_to_string(jobs.join("README"))?
            .starts_with("Jobs for fio, made by writebench")
    );
    // Files with the mark are replaced, and leftovers removed.
    std::fs::write(jobs.join(".README.writebench-0123abcd.part"), "")?;
    ended(&program, &fio, 0)?;
    ensure!(entries(&jobs).len() == 2, "{:?}", entries(&jobs));
    let svg = ["show", "--export", &export("svg", &charts)];
    ended(&program, &svg, 0)?;
    ended(&program, &svg, 0)?;
    let chart = entries(&charts).first().cloned().context("a chart")?;
    std::fs::write(&chart, "<svg>mine</svg>")?;
    refused(&program, &svg, "not made by writebench")?;
    ensure!(std::fs::read(&chart)? == b"<svg>mine</svg>");
    // --force does not follow links.
    std::fs::remove_file(&chart)?;
    symlink("/etc/passwd", &chart)?;
    refused(
        &program,
        &[&svg[..], &["--force"]].concat(),
        "a symbolic link to /etc/passwd",
    )?;
    let (victims, link) = (folder.path().join("victims"), folder.path().join("link"));
    std::fs::create_dir(&victims)?;
    symlink(&victims, &link)?;
    for name in [link.clone(), link.join("")] {
        refused(
            &program,
            &["show", "--export", &export("svg", &name), "--force"],
            "a symbolic link to",
        )?;
    }
    ensure!(entries(&victims).is_empty());
    Ok(())
}

/// Like /tmp.
fn planted_pipe() -> Result<()> {
    let (program, shared) = (measured()?, directory_on(Kind::Tmpfs));
    std::fs::set_permissions(shared.path(), Permissions::from_mode(0o1777))?;
    let pipe = shared.path().join("report.html");
    call(Command::new("mkfifo").arg(&pipe))?;
    chown(&pipe, Some(65534), Some(65534))?;
    all_refused(&program, &pipe, "a pipe of another user (uid 65534)")
}
