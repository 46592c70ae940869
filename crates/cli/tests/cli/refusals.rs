//! Impossible requests are refused in one line, with the documented exit code, before anything is written.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Image, Kind, Need, Trials, directory_on, entries};

use crate::program;

/// Arguments after `run TARGET`, the exit code, and parts of the line.
const REFUSED: &[(&[&str], i32, &[&str])] = &[
    (
        &["--case", "wirte"],
        2,
        &["unknown method 'wirte'. Did you mean 'write'? `writebench list methods` lists all"],
    ),
    (
        &["--case", "write,chnk=4k"],
        2,
        &["unknown axis 'chnk'. Did you mean 'chunk'?"],
    ),
    (&["--case", "write,szie=4k"], 2, &["Did you mean 'size'?"]),
    (&["--case", "mmpa"], 2, &["Did you mean 'mmap'?"]),
    (
        &["--case", "write,sync=fsnyc"],
        2,
        &["Did you mean 'fsync'?"],
    ),
    (
        &["--set", "prepare=fallocat"],
        2,
        &["Did you mean 'fallocate'?"],
    ),
    (&["--set", "theads=4"], 2, &["Did you mean 'threads'?"]),
    (&["--suite", "wirte"], 2, &["Did you mean 'write'?"]),
    (&["--export", "jsn=file"], 2, &["Did you mean 'json'?"]),
    (&["-n", "3"], 2, &["'-n'", "Did you mean --samples 3?"]),
    (&["--runs=3"], 2, &["'--runs'", "Did you mean --samples 3?"]),
    (&["--repeat", "3"], 2, &["Did you mean --samples 3?"]),
    (
        &["--threads", "8"],
        2,
        &["Did you mean --set threads=8?", "See writebench run --help"],
    ),
    (
        &["--threads", "auto"],
        2,
        &["unexpected argument '--threads' found. See writebench run --help"],
    ),
    (&["--direct=0"], 2, &["Did you mean --set cache=buffered?"]),
    (&["--fsync", "4"], 2, &["Did you mean --set sync=fsync/4?"]),
    (
        &["--numjobs", "4"],
        2,
        &["Did you mean --set threads=4 --set files=per-thread?"],
    ),
    (
        &["--set", "numjobs=4"],
        2,
        &["'numjobs=4' is about two axes here: --set threads=4 --set files=per-thread"],
    ),
    (
        &["--case", "write,fallocate=some"],
        2,
        &["fallocate=some: expected none, native, posix, keep or truncate"],
    ),
    (
        &["--case", "write,iodepth=8"],
        2,
        &["write has one write in flight, as in fio. For 8: io_uring,depth=8"],
    ),
    (&["--case", "pwrite,blockSize=64m"], 2, &["Add ranks=N"]),
    (
        &["--samples", "abc"],
        2,
        &["'abc' for '--samples <N>': expected a whole number"],
    ),
    (
        &["--budget", "-5s"],
        2,
        &["invalid value '-5s' for '--budget': it cannot be negative"],
    ),
    (
        &["--size", "1,5GiB"],
        2,
        &["--size 1,5GiB is a list of two sizes", "--size 1.5GiB"],
    ),
    (
        &["--suite", "durable", "--record", "512,5k"],
        2,
        &["--record 512,5KiB is a list"],
    ),
    (
        &["--seed", "9007199254740993"],
        2,
        &["9007199254740993 is not in 0..=9007199254740991"],
    ),
    (&["--output", "json"], 2, &["Did you mean --export json=-?"]),
    (&["-o", "x"], 2, &["Did you mean --export json=x?"]),
    (
        &["--suite", "all"],
        2,
        &["Did you mean --suite create,mmap,"],
    ),
    (&["--case", "reflink"], 2, &["Did you mean --case ficlone?"]),
    (
        &["--case", "direct=1"],
        2,
        &["Did you mean --case write,cache=direct?"],
    ),
    (
        &["--case", "bs=4k"],
        2,
        &["Did you mean --case write,chunk=4KiB?"],
    ),
    (
        &["--case", "fsync"],
        2,
        &[
            "'fsync' does not say when. Once at the end is sync=fsync, and after each write sync=fsync/1",
        ],
    ),
    (&["--size", "4kb"], 2, &["4kb", "ambiguous", "4KiB"]),
    (&["--json"], 2, &["Did you mean --export json=-?"]),
    (&["--csv", "file"], 2, &["Did you mean --export csv=-?"]),
    (&["--svg"], 2, &["Did you mean --export svg=DIRECTORY?"]),
    (
        &["--case", "write,chunk=0"],
        2,
        &["chunk=0", "at least one byte"],
    ),
    (
        &["--case", "write,chunk=4KB"],
        2,
        &["4KB", "ambiguous", "4kB"],
    ),
    (
        &["--case", "write,chunk=4k,chunk=8k"],
        2,
        &["chunk is given twice"],
    ),
    (
        &["--case", "write,sync=msync"],
        2,
        &["sync=msync", "fdatasync"],
    ),
    (
        &["--case", "write,vector=4"],
        2,
        &["write has no axis 'vector'. The axis belongs to writev, pwritev:"],
    ),
    (
        &["--case", "write,threads=2"],
        2,
        &["threads=2", "files=per-thread"],
    ),
    (
        &["--case", "mmap,prepare=create"],
        2,
        &["prepare=create", "set-len"],
    ),
    (&["--case", "mmap,size=0"], 2, &["size=0"]),
    (
        &["--case", "mmap,threads=2,descriptor=per-thread"],
        2,
        &["map=per-thread"],
    ),
    (
        &["--case", "write,sync=o-dsync/4"],
        2,
        &["writev", "vector=4"],
    ),
    (
        &["--case", "fwrite,sync=fsync/1"],
        2,
        &["syncs at the end only"],
    ),
    (&["--case", "write,sync=rwf-dsync"], 2, &["o-dsync"]),
    (
        &["--case", "pwrite,chunk=1000,cache=direct"],
        2,
        &["chunk=1000", "512 bytes"],
    ),
    (
        &["--case", "pwrite,size=1000,cache=direct"],
        2,
        &["size=1000", "512 bytes"],
    ),
    (
        &["--case", "pwrite,memory=page"],
        2,
        &["memory=page", "any|page-aligned|huge-pages"],
    ),
    (
        &["--case", "pwrite,source=chunk,memory=huge-pages"],
        2,
        &["source=chunk", "smaller than a huge page, 2MiB"],
    ),
    (&["--case", "write,cache=dontcache"], 2, &["pwritev2"]),
    (&["--case", "splice,size=0"], 2, &["size=0"]),
    (&["--case", "io_uring,depth=0"], 2, &["depth=0", "4096"]),
    (
        &["--suite", "write", "--cold"],
        2,
        &["no selected case has the axis 'origin'"],
    ),
    (
        &["--suite", "durable", "--record", "1GiB", "--size", "4MiB"],
        2,
        &["--record 1GiB", "a file of 4MiB"],
    ),
    (
        &["--case", "write,size=4MiB", "--record", "5MiB"],
        2,
        &["--record 5MiB", "larger --size"],
    ),
    (&["--suite", "durable", "--record", "0"], 2, &["chunk=0"]),
    (
        &["--suite", "durable", "--record", "512", "--set", "chunk=4k"],
        2,
        &["'chunk' are given twice"],
    ),
    (&["--destroy-data"], 2, &["--destroy"]),
    (
        &["--case", "write,threads"],
        2,
        &["'threads'", "axis=value"],
    ),
    (&["--size", "nonsense"], 2, &["nonsense", "4096"]),
    (&["--size", "-1"], 2, &["-1"]),
    (&["--size", "9223372036854775808"], 2, &["8 EiB"]),
    (
        &["--size", "9223372036854775807"],
        3,
        &["not enough free space", "--size"],
    ),
    (
        &["--case", "pwrite,threads=1000000000,files=per-thread"],
        2,
        &["threads=1000000000", "1024"],
    ),
    (
        &["--case", "writev,vector=18446744073709551616"],
        2,
        &["vector=18446744073709551616"],
    ),
    (&["--reserve", "101%"], 2, &["101%", "5%", "10GiB"]),
    (&["--reserve", "100%"], 3, &["not enough free", "--reserve"]),
    (
        &["--set", "theads=3"],
        2,
        &["unknown axis 'theads'. Did you mean 'threads'? `writebench list axes` lists all"],
    ),
    (
        &["--set", "speed=3"],
        2,
        &["unknown axis 'speed': the nearest are"],
    ),
    (
        &["--set", "prepare=nope"],
        2,
        &["prepare=nope: expected one of create"],
    ),
    (
        &["--set", "map=shared", "--suite", "write"],
        2,
        &["no selected case has the axis 'map'"],
    ),
    (
        &["--suite", "wrte"],
        2,
        &[
            "unknown suite 'wrte'. Did you mean 'write'? `writebench list suites` lists all. See writebench run",
        ],
    ),
    (
        &["--for", "fast"],
        2,
        &[
            "unknown goal 'fast': the nearest are",
            "`writebench list goals` lists all",
        ],
    ),
    (&["--samples", "0"], 2, &["--samples"]),
    (&["--budget", "soon"], 2, &["soon", "30s"]),
    (&["--budget", "0s"], 2, &["longer than nothing"]),
    (&["--timeout", "0s"], 2, &["longer than nothing"]),
    (
        &["--suite", "write", "--set", "prepare=create"],
        2,
        &["suite write has no section", "list cases write"],
    ),
    (&["--data", "ones"], 2, &["ones", "random"]),
    (&["--export", "xml=file"], 2, &["xml", "markdown", "svg"]),
    (&["--export", "svg=-"], 2, &["svg=DIRECTORY"]),
    (&["--export", "fio=-"], 2, &["fio=DIRECTORY"]),
    (
        &["--export", "fio=/proc/version"],
        2,
        &["/proc/version is not a directory"],
    ),
    (
        &["--export", "svg=/no/such/charts"],
        2,
        &["/no/such is not a directory"],
    ),
    (
        &["--export", "svg=/proc/version"],
        2,
        &["/proc/version is not a directory"],
    ),
    (
        &["--export", "json=/no/such/directory/file"],
        2,
        &["/no/such/directory"],
    ),
    (&["--resume=99"], 2, &["no run 99", "writebench runs"]),
    (&["--resume=0"], 2, &["--resume", "0"]),
    (&["--resume=-3"], 2, &["--resume", "-3"]),
    (&["--resume"], 2, &["no unfinished run"]),
    (
        &["--resume", "--samples", "3"],
        2,
        &["--samples", "--resume"],
    ),
];

pub(crate) fn add(trials: &mut Trials) {
    for (arguments, code, texts) in REFUSED {
        let name = format!("refused with exit code {code}: {}", arguments.join(" "));
        trials.add(name, &[Need::Filesystem(Kind::Tmpfs)], move || {
            refused(arguments, *code, texts)
        });
    }
    trials.add(
        "a call without arguments shows the first commands",
        &[],
        || {
            let ended = program()?.call(&[])?;
            ensure!(
                ended.code == Some(2) && ended.stderr.contains("  writebench run . "),
                "{ended:?}"
            );
            ensure!(
                ended.stderr.lines().count() == 5 && ended.stdout.is_empty(),
                "{ended:?}"
            );
            Ok(())
        },
    );
    trials.add("a wrong command gets the right one", &[], no_command);
    trials.add(
        "another word gets no suggestion",
        &[Need::Root],
        another_word,
    );
    trials.add("a comparison names the formats that it has", &[], || {
        let ended = program()?.call(&["compare", "1", "2", "--export", "html=x"])?;
        let line = "can be written as json, markdown, junit only. Give json=FILE, for example";
        ensure!(
            ended.code == Some(2) && ended.stderr.contains(line),
            "{ended:?}"
        );
        Ok(())
    });
    trials.add(
        "a mistyped filesystem gets the right one",
        &[Need::Root],
        no_kind,
    );
    trials.add("help reports a full standard output", &[], || {
        let command = program()?
            .command(&["help"])
            .stdout(File::options().write(true).open("/dev/full")?)
            .output()?;
        let stderr = String::from_utf8_lossy(&command.stderr);
        ensure!(command.status.code() == Some(1), "{stderr}");
        ensure!(
            stderr.contains("cannot write to standard output: write: No space left"),
            "{stderr}"
        );
        one_line(&stderr)
    });
    trials.add(
        "help shows the help of the program, and of each command",
        &[],
        help,
    );
    trials.add("a missing directory is named", &[], || {
        target_refused("/no/such/target", "No such file")
    });
    trials.add("a file is refused as a target", &[], || {
        target_refused("/proc/version", "neither a directory nor a block device")
    });
    trials.add(
        "too little space is refused before anything is written",
        &[Need::Image("ext4")],
        too_little_space,
    );
    trials.add(
        "too little memory is refused",
        &[Need::Filesystem(Kind::Ext4)],
        too_little_memory,
    );
    trials.add(
        "fs: sizes near 2^63 are refused",
        &[Need::Image("ext4")],
        || {
            let arguments = [
                "fs",
                "--on",
                "ext4,tmpfs",
                "--size",
                "9223372036854775807",
                "--suite",
                "copy",
            ];
            let ended = program()?.call(&arguments)?;
            ensure!(
                ended.code == Some(3) && ended.stderr.contains("not enough memory"),
                "{ended:?}"
            );
            one_line(&ended.stderr)
        },
    );
    trials.add(
        "a read-only target ends with one line",
        &[Need::Image("ext4")],
        read_only,
    );
    trials.add(
        "a file that is not a database is named",
        &[Need::Filesystem(Kind::Tmpfs)],
        broken_database,
    );
    trials.add(
        "a database of a newer version is not changed",
        &[Need::Filesystem(Kind::Tmpfs)],
        newer_database,
    );
}

fn refused(arguments: &[&str], code: i32, texts: &[&str]) -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let with_target = [&["run", path], arguments].concat();
    let without = [&["run"], arguments].concat();
    let resumes = arguments
        .iter()
        .any(|argument| argument.starts_with("--resume"));
    let ended = program.call(if resumes { &without } else { &with_target })?;
    ensure!(ended.code == Some(code), "{ended:?}");
    ensure!(
        texts.iter().all(|text| ended.stderr.contains(text)),
        "{ended:?}"
    );
    ensure!(ended.stdout.is_empty(), "{ended:?}");
    one_line(&ended.stderr)?;
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn no_command() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = text(target.path())?;
    for (words, meant) in [
        (
            &[path, "--suite", "write"][..],
            format!("Did you mean `writebench run {path}`?"),
        ),
        (
            &["/no/such directory"],
            "Did you mean `writebench run '/no/such directory'`?".to_owned(),
        ),
        (&["."], "Did you mean `writebench run .`?".to_owned()),
        (&["reprot"], "Did you mean 'report'?".to_owned()),
        (
            &["advise", "--for", "streem"],
            "Did you mean 'stream'?".to_owned(),
        ),
        (&["bench"], "Did you mean `writebench run`?".to_owned()),
        (
            &["test", "/data"],
            "Did you mean `writebench run`?".to_owned(),
        ),
        (&["start"], "Did you mean `writebench run`?".to_owned()),
        (
            &["advise", "--for", "recods"],
            "Did you mean 'records'? `writebench list goals` lists all. See writebench advise --help"
                .to_owned(),
        ),
        (
            &["code", "write", "--lang", "c++"],
            "Did you mean --lang cpp?".to_owned(),
        ),
        (
            &["code", "write", "--lang", "js"],
            "Did you mean --lang node?".to_owned(),
        ),
        (
            &["code", "write"],
            "Did you mean `writebench code write --lang c|cpp|".to_owned(),
        ),
        (
            &["code", "bs=4k", "--lang", "c"],
            "Did you mean write,chunk=4KiB?".to_owned(),
        ),
        (&["man", "compar"], "Did you mean 'compare'?".to_owned()),
        (
            &["run", "/data", "--group", "8"],
            "Did you mean `writebench advise /data --group 8`?".to_owned(),
        ),
        (
            &["advise", "--suite", "write"],
            "Did you mean `writebench run --suite write`?".to_owned(),
        ),
        (
            &["list", "write"],
            "Did you mean `writebench list cases write`?".to_owned(),
        ),
        (
            &["advise", "--threads", "auto"],
            "'auto' for '--threads <N>': expected a whole number".to_owned(),
        ),
        // This command has neither samples nor exports.
        (
            &["completions", "--json"],
            "unexpected argument '--json'".to_owned(),
        ),
    ] {
        let ended = program.call(words)?;
        ensure!(
            ended.code == Some(2) && ended.stderr.contains(&meant),
            "{meant} in {ended:?}"
        );
        one_line(&ended.stderr)?;
    }
    let ended = program.call(&["completions", "--json"])?;
    ensure!(!ended.stderr.contains("--export"), "{ended:?}");
    Ok(())
}

fn another_word() -> Result<()> {
    for words in [
        &["fs", "--on", "zfs"][..],
        &["fs", "--on", "ext5"],
        &["run", "--far"],
        &["advise", "--for", "copies,wal"],
        &["list", "cases-of"],
    ] {
        let ended = program()?.call(&[&["--quiet"], words].concat())?;
        ensure!(
            ended.code.is_some_and(|code| code > 0) && !ended.stderr.contains("Did you mean"),
            "{ended:?}"
        );
    }
    Ok(())
}

fn no_kind() -> Result<()> {
    for (kind, meant) in [
        ("etx4", "'ext4'"),
        ("Xfs", "'xfs'"),
        ("overlay:etx4", "'overlay:ext4'"),
    ] {
        let ended = program()?.call(&["--quiet", "fs", "--on", kind, "--size", "1MiB"])?;
        ensure!(ended.code.is_some_and(|code| code > 0), "{ended:?}");
        ensure!(
            ended.stderr.contains(&format!("Did you mean {meant}?")),
            "{ended:?}"
        );
        one_line(&ended.stderr)?;
    }
    Ok(())
}

fn help() -> Result<()> {
    let program = program()?;
    ensure!(program.call(&["help"])?.stdout == program.call(&["--help"])?.stdout);
    for command in crate::commands_of(&program)? {
        let ended = program.call(&["help", &command])?;
        ensure!(
            ended.code == Some(0) && ended.stdout.contains("Usage: writebench"),
            "{command}: {ended:?}"
        );
    }
    let ended = program.call(&["help", "runs", "delete"])?;
    ensure!(
        ended.code == Some(0) && ended.stdout.contains("--yes"),
        "{ended:?}"
    );
    Ok(())
}

fn target_refused(target: &str, text: &str) -> Result<()> {
    let ended = program()?.call(&["run", target])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains(target) && ended.stderr.contains(text),
        "{ended:?}"
    );
    one_line(&ended.stderr)
}

fn one_line(stderr: &str) -> Result<()> {
    ensure!(
        stderr.trim_end().lines().count() == 1 && stderr.starts_with("writebench: "),
        "{stderr}"
    );
    Ok(())
}

fn too_little_space() -> Result<()> {
    let image = Image::mount("ext4", 64 << 20)?;
    let path = image.path();
    let ended = program()?.call(&["run", text(&path)?, "--case", "write,size=100MiB"])?;
    ensure!(ended.code == Some(3), "{ended:?}");
    ensure!(
        ended.stderr.contains("not enough free space") && ended.stderr.contains("100 MiB"),
        "{ended:?}"
    );
    one_line(&ended.stderr)?;
    ensure!(
        entries(&path)
            .iter()
            .all(|entry| entry.ends_with("lost+found"))
    );
    Ok(())
}

fn too_little_memory() -> Result<()> {
    let target = directory_on(Kind::Ext4);
    let arguments = ["run", text(target.path())?, "--case", "write,size=8EiB"];
    let larger_than_all = ["run", text(target.path())?, "--case", "pwrite,size=40GiB"];
    ensure!(
        program()?.call(&arguments)?.code == Some(2),
        "beyond the largest offset"
    );
    let ended = program()?.call(&larger_than_all)?;
    ensure!(ended.code == Some(3), "{ended:?}");
    ensure!(
        ended.stderr.contains("not enough"),
        "memory, or space where the disk is small: {ended:?}"
    );
    one_line(&ended.stderr)
}

fn read_only() -> Result<()> {
    let (program, image) = (program()?, Image::mount("ext4", 64 << 20)?);
    image.remount("ro")?;
    let ended = program.call(&["run", text(&image.path())?, "--case", "write,size=1MiB"])?;
    ensure!(ended.code == Some(1), "{ended:?}");
    ensure!(
        ended
            .stderr
            .contains("access: Read-only file system (30). Give a directory"),
        "{ended:?}"
    );
    ensure!(entries(program.home()).is_empty(), "a run was recorded");
    one_line(&ended.stderr)
}

fn broken_database() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let database = program.home().join("broken.db");
    std::fs::write(
        &database,
        "this is a letter and no database, and long enough to be read as one",
    )?;
    let ended = program.call(&[
        "run",
        text(target.path())?,
        "--case",
        "write,size=1MiB",
        "--db",
        text(&database)?,
    ])?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("broken.db"),
        "{ended:?}"
    );
    ensure!(
        ended
            .stderr
            .contains("file is not a database. Name another with --db"),
        "{ended:?}"
    );
    one_line(&ended.stderr)?;
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn newer_database() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    program.run(
        target.path(),
        &["--case", "write,size=1MiB", "--samples", "1"],
        0,
    )?;
    let database = program.home().join("writebench/writebench.db");
    // Byte 60 has the schema's number: https://www.sqlite.org/fileformat.html
    let mut bytes = std::fs::read(&database)?;
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    std::fs::write(&database, &bytes)?;
    let ended = program.call(&["show"])?;
    ensure!(
        ended.code == Some(1) && ended.stderr.contains("schema 99"),
        "{ended:?}"
    );
    ensure!(std::fs::read(&database)? == bytes, "not touched");
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}
