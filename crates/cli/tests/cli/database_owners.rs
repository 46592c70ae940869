//! A database that other users can change is not used: SQLite would apply their journal.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Ended, Kind, Need, Program, Trials, call, directory_on, entries};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::Root, Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a database in a shared directory is refused with another path",
        &needs,
        open_to_all,
    );
    trials.add("a planted journal is not applied", &needs, hot_journal);
    trials.add("side files of other users are refused", &needs, beside);
    trials.add("a new database directory is private", &needs, made);
}

const NOBODY: u32 = 65534;
const CASE: [&str; 5] = ["--case", "write,size=4KiB", "--samples", "1", "--no-limits"];

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn refused(ended: &Ended, what: &str) -> Result<()> {
    ensure!(
        ended.code == Some(3) && ended.stdout.is_empty(),
        "{ended:?}"
    );
    ensure!(
        ended.stderr.lines().count() == 1 && ended.stderr.contains(what),
        "{ended:?}"
    );
    Ok(())
}

fn both(program: &Program, database: &Path, target: &Path) -> Result<[Ended; 2]> {
    let database = text(database)?;
    let run = [&["--db", database, "run", text(target)?], &CASE[..]].concat();
    Ok([
        program.call(&run)?,
        program.call(&["--db", database, "show"])?,
    ])
}

fn database(program: &Program, target: &Path) -> Result<std::path::PathBuf> {
    let database = program.home().join("own/wb.db");
    let [ran, shown] = both(program, &database, target)?;
    ensure!(
        ran.code == Some(0) && shown.code == Some(0),
        "{ran:?} {shown:?}"
    );
    Ok(database)
}

fn open_to_all() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let database = database(&program, target.path())?;
    let directory = database.parent().context("a directory")?;
    for mode in [0o1777, 0o777, 0o775] {
        std::fs::set_permissions(directory, Permissions::from_mode(mode))?;
        for ended in both(&program, &database, target.path())? {
            refused(
                &ended,
                &format!("other users can make files in {}", directory.display()),
            )?;
            ensure!(
                ended.stderr.trim_end().ends_with("own/mine/wb.db"),
                "{ended:?}"
            );
        }
    }
    let [ran, shown] = both(&program, &directory.join("mine/wb.db"), target.path())?;
    ensure!(
        ran.code == Some(0) && shown.code == Some(0),
        "as it was told: {ran:?} {shown:?}"
    );
    chown(directory, Some(NOBODY), None)?;
    std::fs::set_permissions(directory, Permissions::from_mode(0o755))?;
    for ended in both(&program, &database, target.path())? {
        refused(&ended, "belongs to another user (uid 65534)")?;
    }
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

/// SQLite would roll back to the state in this journal.
fn hot_journal() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let database = database(&program, target.path())?;
    let journal = database.with_extension("db-journal");
    // The first page of an empty database, as an unfinished transaction leaves it.
    let script = "import sqlite3, shutil, sys\n\
        c = sqlite3.connect(sys.argv[1] + '.new', isolation_level=None)\n\
        c.execute('pragma journal_mode=delete')\n\
        c.execute('create table t (a)'); c.execute('pragma cache_size=1'); c.execute('begin')\n\
        c.executemany('insert into t values (?)', [('x' * 1000,)] * 1000)\n\
        shutil.copy(sys.argv[1] + '.new-journal', sys.argv[1] + '-journal')";
    call(Command::new("python3").args(["-c", script]).arg(&database))?;
    chown(&journal, Some(NOBODY), None)?;
    let before = std::fs::read(&database)?;
    for ended in both(&program, &database, target.path())? {
        refused(&ended, "wb.db-journal belongs to another user")?;
    }
    ensure!(std::fs::read(&database)? == before, "its runs are there");
    std::fs::remove_file(&journal)?;
    ensure!(
        both(&program, &database, target.path())?
            .iter()
            .all(|ended| ended.code == Some(0))
    );
    Ok(())
}

fn beside() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let database = database(&program, target.path())?;
    for suffix in ["-journal", "-wal", "-shm", "-runs"] {
        let file = database.with_extension(format!("db{suffix}"));
        let _ = std::fs::remove_file(&file);
        call(Command::new("mkfifo").arg(&file))?;
        for ended in both(&program, &database, target.path())? {
            refused(&ended, &format!("wb.db{suffix} is not a regular file"))?;
        }
        std::fs::remove_file(&file)?;
        symlink("/etc/passwd", &file)?;
        for ended in both(&program, &database, target.path())? {
            refused(
                &ended,
                &format!("wb.db{suffix} is a symbolic link to /etc/passwd"),
            )?;
        }
        std::fs::remove_file(&file)?;
    }
    for mode in [0o666, 0o664] {
        std::fs::set_permissions(&database, Permissions::from_mode(mode))?;
        for ended in both(&program, &database, target.path())? {
            refused(&ended, "wb.db can be written by other users: `chmod go-w`")?;
        }
    }
    std::fs::set_permissions(&database, Permissions::from_mode(0o644))?;
    chown(&database, Some(NOBODY), None)?;
    for ended in both(&program, &database, target.path())? {
        refused(&ended, "belongs to another user (uid 65534): copy it")?;
    }
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn made() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let mode = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.mode() & 0o7777);
    let run = [&["run", text(target.path())?], &CASE[..]].concat();
    let of_shell = |more: &[&str]| -> Result<Ended> {
        let line = format!("umask 0; exec {} \"$@\"", program.binary().display());
        let mut command = Command::new("sh");
        command
            .args(["-c", &line, "sh"])
            .args(&run)
            .args(more)
            .env_remove("WRITEBENCH_DB");
        let output = command
            .env("HOME", program.home())
            .env("XDG_DATA_HOME", program.home())
            .output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(Ended {
            code: output.status.code(),
            stdout: String::new(),
            stderr,
        })
    };
    let ended = of_shell(&[])?;
    ensure!(ended.code == Some(0), "{ended:?}");
    ensure!(mode(&program.home().join("writebench"))? == 0o700);
    let named = program.home().join("mine/wb.db");
    ensure!(of_shell(&["--db", text(&named)?])?.code == Some(0));
    ensure!(mode(&program.home().join("mine"))? == 0o700);
    // One missing directory is made, a path of several is taken for a typing error.
    let deeper = program.home().join("no/such/wb.db");
    let ended = of_shell(&["--db", text(&deeper)?])?;
    ensure!(
        ended.code == Some(2)
            && ended
                .stderr
                .contains("Make that directory, or name another"),
        "{ended:?}"
    );
    ensure!(!program.home().join("no").exists() && entries(target.path()).is_empty());
    Ok(())
}
