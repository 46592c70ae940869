//! Links, pipes, devices, directories, databases and documents of other users. Nothing of theirs is written or removed.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use writebench_testkit::{
    Ended, Kind, Need, Program, Trials, call, directory_on, entries, send, wait_for,
};

use crate::program;

const RUN: [&str; 5] = ["--case", "write,size=1MiB", "--samples", "1", "--no-limits"];

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a link to a directory is a valid target",
        &tmpfs,
        linked_target,
    );
    trials.add(
        "a pipe or a character device is refused as a target",
        &tmpfs,
        no_directory,
    );
    trials.add(
        "a target swapped for a link loses no files of other users",
        &tmpfs,
        swapped,
    );
    trials.add(
        "planted directories with a run's name are not removed",
        &tmpfs,
        planted,
    );
    trials.add(
        "a link is refused as a database, and its destination is not made",
        &tmpfs,
        linked_database,
    );
    trials.add(
        "a pipe, a device or a directory is refused as a database",
        &tmpfs,
        no_file,
    );
    trials.add(
        "a database of a stranger runs no triggers and shows no views",
        &tmpfs,
        triggers,
    );
    trials.add(
        "a database with broken pages ends with one line",
        &tmpfs,
        broken_pages,
    );
    trials.add(
        "documents of strangers are refused in one line, or shown as text",
        &tmpfs,
        documents,
    );
    trials.add("an imported run is not resumed", &tmpfs, imported);
    trials.add(
        "a run with a copy is resumed only with --to",
        &tmpfs,
        named_again,
    );
    trials.add(
        "a path with escape sequences is shown as text",
        &tmpfs,
        escapes,
    );
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn one_line(ended: &Ended, codes: &[i32], what: &str) -> Result<()> {
    ensure!(
        ended.code.is_some_and(|code| codes.contains(&code)),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.trim_end().lines().count() == 1 && ended.stderr.contains(what),
        "{ended:?}"
    );
    ensure!(ended.stdout.is_empty(), "{ended:?}");
    Ok(())
}

fn run_on(program: &Program, target: &Path, more: &[&str]) -> Result<Ended> {
    program.call(&[&["run", text(target)?], &RUN[..], more].concat())
}

fn linked_target() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (theirs, link) = (target.path().join("theirs"), target.path().join("link"));
    std::fs::create_dir(&theirs)?;
    std::fs::write(theirs.join("sample"), "theirs")?;
    symlink(&theirs, &link)?;
    let ended = run_on(&program, &link, &[])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    ensure!(entries(&theirs).len() == 1 && std::fs::read(theirs.join("sample"))? == b"theirs");
    ensure!(link.is_symlink());
    Ok(())
}

fn no_directory() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let pipe = target.path().join("pipe");
    call(Command::new("mkfifo").arg(&pipe))?;
    for path in [
        pipe.as_path(),
        Path::new("/dev/null"),
        Path::new("/dev/zero"),
    ] {
        one_line(
            &run_on(&program, path, &[])?,
            &[2],
            "neither a directory nor a block device",
        )?;
        let ended = run_on(&program, path, &["--destroy", text(path)?])?;
        one_line(&ended, &[2], "neither a directory nor a block device")?;
    }
    Ok(())
}

/// Users with write permission above the target can replace it.
fn swapped() -> Result<()> {
    let (program, above) = (program()?, directory_on(Kind::Tmpfs));
    let (target, theirs) = (above.path().join("target"), above.path().join("theirs"));
    std::fs::create_dir(&target)?;
    std::fs::create_dir(&theirs)?;
    let arguments = [
        "run",
        text(&target)?,
        "--case",
        "write,size=1MiB",
        "--yes",
        "--samples",
        "100000",
        "--no-limits",
    ];
    let child = program.start(&arguments)?;
    let ours = wait_for("the workspace", || entries(&target).first().cloned())?;
    wait_for("the worker's files", || {
        (entries(&ours).len() > 1).then_some(())
    })?;
    // A careless removal by path would delete these, whose names are like writebench's.
    let decoy = theirs.join(ours.file_name().context("a name")?);
    std::fs::create_dir(&decoy)?;
    for name in ["owner", "sample", "precious"] {
        std::fs::write(decoy.join(name), "theirs")?;
    }
    std::fs::rename(&target, above.path().join("moved"))?;
    symlink(&theirs, &target)?;
    send(child.id(), Signal::INT)?;
    child.wait_with_output()?;
    ensure!(entries(&decoy).len() == 3, "{:?}", entries(&decoy));
    ensure!(
        entries(&above.path().join("moved")).is_empty(),
        "what is ours was removed where it is"
    );
    run_on(&program, &above.path().join("moved"), &[])?;
    ensure!(entries(&decoy).len() == 3, "{:?}", entries(&decoy));
    Ok(())
}

fn planted() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let id = "0123456789abcdef0123456789abcdef";
    let ours = target.path().join(format!(".writebench-{id}"));
    let outside = target.path().join("outside");
    std::fs::write(&outside, "theirs")?;
    std::fs::create_dir(&ours)?;
    std::fs::write(ours.join("owner"), id)?;
    symlink(&outside, ours.join("sample"))?;
    symlink(&outside, target.path().join(".writebench-link"))?;
    std::fs::set_permissions(target.path(), Permissions::from_mode(0o777))?;
    std::os::unix::fs::chown(&ours, Some(65534), Some(65534)).ok();
    ensure!(run_on(&program, target.path(), &[])?.code == Some(0));
    ensure!(entries(target.path()).len() == 3 && entries(&ours).len() == 2);
    ensure!(std::fs::read(&outside)? == b"theirs");
    // Another user's directory, which the database claims to be a run's.
    let database = program.home().join("writebench/writebench.db");
    let insert = format!(
        "insert into workspaces (path, run) values (cast('{}' as blob), 1)",
        ours.display()
    );
    sqlite(&database, &insert)?;
    ensure!(run_on(&program, target.path(), &[])?.code == Some(0));
    if rustix::process::geteuid().is_root() {
        ensure!(entries(&ours).len() == 2, "{:?}", entries(&ours));
    }
    ensure!(std::fs::read(&outside)? == b"theirs");
    Ok(())
}

fn linked_database() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (link, victim) = (
        program.home().join("link.db"),
        program.home().join("victim"),
    );
    symlink(&victim, &link)?;
    let ended = run_on(&program, target.path(), &["--db", text(&link)?])?;
    one_line(&ended, &[3], "is a symbolic link to")?;
    ensure!(!victim.exists() && entries(target.path()).is_empty());
    std::fs::write(&victim, "")?;
    one_line(
        &program.call(&["show", "--db", text(&link)?])?,
        &[3],
        "is a symbolic link to",
    )?;
    ensure!(std::fs::read(&victim)?.is_empty());
    Ok(())
}

fn no_file() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let pipe = program.home().join("pipe.db");
    call(Command::new("mkfifo").arg(&pipe))?;
    for path in [pipe.as_path(), Path::new("/dev/zero"), target.path()] {
        for arguments in [["run", text(target.path())?], ["show", "1"]] {
            let ended = program.call(&[&arguments[..], &["--db", text(path)?]].concat())?;
            one_line(&ended, &[2], "is not a file")?;
        }
    }
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

/// SQLite through Python, which all test machines have.
pub(crate) fn sqlite(database: &Path, statements: &str) -> Result<()> {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()";
    call(
        Command::new("python3")
            .args(["-c", script])
            .arg(database)
            .arg(statements),
    )
}

fn triggers() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    ensure!(run_on(&program, target.path(), &[])?.code == Some(0));
    let database = program.home().join("writebench/writebench.db");
    sqlite(
        &database,
        "create table traps (hit); create trigger trap after insert on samples begin insert into traps values (1); end",
    )?;
    ensure!(run_on(&program, target.path(), &[])?.code == Some(0));
    sqlite(
        &database,
        "create table none (x integer check (x = 0)); insert into none select count(*) from traps",
    )
    .context("a trigger of a stranger ran")?;
    sqlite(
        &database,
        "alter table samples rename to theirs; create view samples as select * from theirs",
    )?;
    one_line(&program.call(&["show"])?, &[1], "writebench.db")
}

fn broken_pages() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    ensure!(run_on(&program, target.path(), &[])?.code == Some(0));
    let database = program.home().join("writebench/writebench.db");
    let mut bytes = std::fs::read(&database)?;
    bytes[4096..].fill(0xa5);
    std::fs::write(&database, &bytes)?;
    for arguments in [
        &["show"][..],
        &["runs"],
        &["run", text(target.path())?, "--case", "write,size=4KiB"],
    ] {
        one_line(&program.call(arguments)?, &[1], "writebench.db")?;
    }
    ensure!(std::fs::read(&database)? == bytes && entries(target.path()).is_empty());
    Ok(())
}

fn documents() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let file = program.home().join("document.json");
    let nested = format!("{{\"schema\":7,\"run\":{}", "[".repeat(200_000));
    let no_utf8: &[u8] = &[0xff; 100];
    for content in [
        nested.as_bytes(),
        b"{\"schema\":7}",
        b"{\"schema\":-1}",
        b"\0",
        b"",
        no_utf8,
    ] {
        std::fs::write(&file, content)?;
        one_line(
            &program.call(&["import", text(&file)?])?,
            &[2],
            "document.json",
        )?;
        one_line(
            &program.call(&["compare", text(&file)?, text(&file)?])?,
            &[2],
            "document.json",
        )?;
    }
    one_line(
        &program.call(&["import", "/dev/zero"])?,
        &[2],
        "is a device",
    )?;
    let mut document = program.run(target.path(), &RUN, 0)?;
    document["run"]["id"] = "another".into();
    document["targets"][0]["environment"]["filesystem"]["source"] =
        "/dev/\u{1b}[2J\u{1b}]0;title\u{7}".into();
    std::fs::write(&file, document.to_string())?;
    ensure!(program.call(&["import", text(&file)?])?.code == Some(0));
    let shown = program.call(&["show", "2", "--all", "--color", "always"])?;
    ensure!(
        shown.code == Some(0) && shown.stdout.contains("title"),
        "{shown:?}"
    );
    ensure!(
        !shown.stdout.contains("\u{1b}[2J") && !shown.stdout.contains("\u{1b}]"),
        "{shown:?}"
    );
    Ok(())
}

fn imported() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (file, victim) = (
        program.home().join("document.json"),
        program.home().join("victim"),
    );
    let source = program.home().join("source");
    std::fs::write(&source, [7; 4096])?;
    let arguments = [
        "--case",
        "read-write",
        "--from",
        text(&source)?,
        "--samples",
        "3",
        "--no-limits",
    ];
    let mut document = program.run(
        target.path(),
        &[&arguments[..], &["--max-bytes", "5000"]].concat(),
        0,
    )?;
    ensure!(
        document["run"]["status"] == "limited",
        "{}",
        document["run"]
    );
    document["run"]["id"] = "another".into();
    document["run"]["settings"]["to"] = text(&victim)?.into();
    std::fs::write(&file, document.to_string())?;
    ensure!(program.call(&["import", text(&file)?])?.code == Some(0));
    let resume = ["run", "--max-bytes", "1GiB", "--to", text(&victim)?];
    one_line(
        &program.call(&[&resume[..], &["--resume=2"]].concat())?,
        &[2],
        "run 2 was imported",
    )?;
    let ended = program.call(&[
        "run",
        "--max-bytes",
        "1GiB",
        "--resume",
        "--from",
        text(&source)?,
    ])?;
    ensure!(
        ended.code == Some(0) && ended.stderr.contains("Run 1 took ") && !victim.exists(),
        "{ended:?}"
    );
    one_line(
        &program.call(&["run", "--resume"])?,
        &[2],
        "no unfinished run",
    )
}

fn named_again() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let (source, copy) = (program.home().join("source"), target.path().join("copy"));
    std::fs::write(&source, [7; 4096])?;
    let begun = [
        "run",
        "--case",
        "read-write",
        "--from",
        text(&source)?,
        "--to",
        text(&copy)?,
        "--no-limits",
    ];
    let child = program.start(&[&begun[..], &["--yes", "--samples", "1000000"]].concat())?;
    wait_for("its directory", || {
        entries(target.path()).first().map(|_| ())
    })?;
    send(child.id(), Signal::INT)?;
    ensure!(child.wait_with_output()?.status.code() == Some(130) && !copy.exists());
    let resume = ["run", "--resume", "--budget", "1s"];
    let again = format!(
        "pass its files again: --from {} --to {}",
        source.display(),
        copy.display()
    );
    one_line(&program.call(&resume)?, &[2], &again)?;
    let (from, to) = (["--from", text(&source)?], ["--to", text(&copy)?]);
    one_line(&program.call(&[&resume[..], &to].concat())?, &[2], &again)?;
    one_line(&program.call(&[&resume[..], &from].concat())?, &[2], &again)?;
    let elsewhere = program.call(&[&resume[..], &from, &["--to", "/elsewhere"]].concat())?;
    one_line(
        &elsewhere,
        &[2],
        &format!("the run copies to {}", copy.display()),
    )?;
    let other = program.home().join("other");
    std::fs::write(&other, [7; 4096])?;
    let another = program.call(&[&resume[..], &["--from", text(&other)?], &to].concat())?;
    one_line(
        &another,
        &[2],
        &format!("the run copies {}", source.display()),
    )?;
    ensure!(!copy.exists());
    let ended = program.call(&[&resume[..], &from, &to].concat())?;
    ensure!(
        ended.code == Some(0) && std::fs::read(&copy)? == [7; 4096],
        "{ended:?}"
    );
    Ok(())
}

fn escapes() -> Result<()> {
    let ended = program()?.call(&["run", "/no/such\u{1b}[2J\ntarget"])?;
    ensure!(!ended.stderr.contains('\u{1b}'), "{ended:?}");
    one_line(&ended, &[2], "No such file")
}
