use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{
    Caching, Call, Fault, Faulty, Image, Kind, Mounted, Need, Trials, What, When, directory_on,
    entries,
};

use crate::{commands_of, program};

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add("list names cases that run", &[], listed_cases_parse);
    trials.add("show repeats a run and its exports", &tmpfs, show_repeats);
    trials.add(
        "svg writes charts to a directory, or reports that there are none",
        &tmpfs,
        charts_are_files,
    );
    trials.add(
        "probe shows what direct and atomic writes need, and leaves nothing behind",
        &[Need::Image("ext4"), Need::Image("xfs")],
        probe_shows_direct_and_atomic_writes,
    );
    trials.add(
        "a mount with lazytime is noticed where files are overwritten in place",
        &[Need::Image("ext4")],
        lazy_times_are_noticed,
    );
    trials.add(
        "probe names the filesystem",
        &tmpfs,
        probe_names_the_filesystem,
    );
    trials.add(
        "completions and the manual know every command",
        &[],
        completions_and_manual,
    );
    trials.add(
        "list suites and dry runs count the same cases",
        &tmpfs,
        suite_counts,
    );
    trials.add(
        "a directory with a name outside UTF-8, or of two lines, is measured and resumed",
        &tmpfs,
        odd_names,
    );
    trials.add(
        "a dry run counts the bytes and writes nothing",
        &tmpfs,
        dry_run,
    );
    trials.add(
        "a run without suite or case answers all goals",
        &tmpfs,
        all_goals,
    );
    trials.add(
        "a run on a slow target answers fewer goals, and not for smaller files",
        &[Need::Fuse],
        slow_target,
    );
    trials.add(
        "run and advise without any answer end with exit code 6",
        &tmpfs,
        without_answer,
    );
    trials.add(
        "a run continues after slow first samples",
        &[Need::Fuse],
        slow_first_samples,
    );
    trials.add(
        "results go to stdout and all else to stderr",
        &tmpfs,
        outputs,
    );
    trials.add(
        "a run ends with three sentences and the command for its page",
        &tmpfs,
        answer_and_doubts,
    );
    trials.add(
        "a run without results reports the reason at its end",
        &[Need::Root],
        nothing_worked,
    );
    trials.add("a run ignores a closed pipe", &tmpfs, closed_pipe);
    trials.add("equal seeds give the same order", &tmpfs, seeds_repeat);
}

fn listed_cases_parse() -> Result<()> {
    let program = program()?;
    for what in ["suites", "methods", "axes"] {
        let ended = program.call(&["list", what])?;
        ensure!(
            ended.code == Some(0) && ended.stdout.lines().count() >= 6,
            "{ended:?}"
        );
    }
    let cases = program.call(&["list", "cases", "vectored"])?.stdout;
    ensure!(
        cases.lines().count() == 36,
        "2 methods × 6 chunks × 3 states: {cases}"
    );
    let last = cases.lines().last().context("a case")?;
    let ended = program.call(&["run", "/dev/shm", "--case", last, "--dry-run"])?;
    ensure!(
        ended.code == Some(0) && ended.stdout.contains(last),
        "{ended:?}"
    );
    Ok(())
}

fn show_repeats() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let document = program.run(
        target.path(),
        &["--case", "write,size=1MiB", "--samples", "2"],
        0,
    )?;
    let shown = program.call(&["show", "1", "--export=json=-"])?;
    ensure!(
        serde_json::from_str::<Value>(&shown.stdout)? == document,
        "{shown:?}"
    );
    let tables = program.call(&["show"])?.stdout;
    ensure!(
        tables.contains("write,size=1MiB") && tables.contains("run 1"),
        "{tables}"
    );
    let runs = program.call(&["runs"])?.stdout;
    ensure!(runs.contains("complete"), "{runs}");
    ensure!(
        program
            .call(&["show", "7"])?
            .stderr
            .contains("has no run 7")
    );
    let missing = program.call(&["show", "--db", "/no/such.db"])?;
    ensure!(
        missing.code == Some(2) && missing.stderr.contains("no runs yet"),
        "{missing:?}"
    );
    for (format, start) in [("csv", "run_id,"), ("markdown", "# writebench")] {
        let ended = program.call(&["show", "--export", &format!("{format}=-")])?;
        ensure!(ended.stdout.starts_with(start), "{ended:?}");
    }
    Ok(())
}

fn charts_are_files() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let charts = program.home().join("charts");
    let export = format!("svg={}", charts.display());
    let none = [
        "--case",
        "write,size=1MiB,prepare=fallocate-zero-range",
        "--samples",
        "1",
        "--export",
        &export,
    ];
    program.run(target.path(), &none, 4)?;
    ensure!(!charts.exists(), "a case without a figure is no chart");
    let noted = program.call(&["show", "--export", &export])?;
    ensure!(
        noted.code == Some(0) && noted.stderr.contains("No chart for"),
        "{noted:?}"
    );
    let suite = [
        "--suite",
        "buffer",
        "--size",
        "64KiB",
        "--samples",
        "2",
        "--export",
        &export,
    ];
    program.run(target.path(), &suite, 0)?;
    let names = ["elapsed", "user-cpu", "system-cpu"]
        .map(|time| format!("buffer-{time}-by-buffer-size.svg"));
    for name in &names {
        let picture = std::fs::read_to_string(charts.join(name)).context(name.clone())?;
        ensure!(
            picture.starts_with("<!-- A chart, made by writebench -->\n<svg ")
                && picture.contains(">tmpfs</text>"),
            "{picture}"
        );
    }
    let earlier = charts.join(&names[0]);
    let marked = std::fs::read_to_string(&earlier)?;
    std::fs::write(&earlier, marked.replace(">tmpfs<", ">of an earlier run<"))?;
    ensure!(program.call(&["show", "--export", &export])?.code == Some(0));
    ensure!(std::fs::read_to_string(&earlier)? == marked, "replaced");
    ensure!(
        std::fs::read_dir(&charts)?.count() == names.len() + 3,
        "and the phases, the answers, and the index"
    );
    let index = std::fs::read_to_string(charts.join("charts.html"))?;
    ensure!(
        names
            .iter()
            .all(|name| index.contains(&format!("src=\"{name}\""))),
        "{index}"
    );
    let single = [
        "--case",
        "write,size=1MiB",
        "--samples",
        "1",
        "--export",
        &export,
    ];
    program.run(target.path(), &single, 0)?;
    ensure!(
        charts.join("case-phases.svg").exists(),
        "a single case has phases"
    );
    Ok(())
}

/// Linux 6.13 has the sizes of ext4 and xfs. A loop device writes nothing atomically, but xfs can copy on write.
fn probe_shows_direct_and_atomic_writes() -> Result<()> {
    let program = program()?;
    for (kind, has_atomic) in [("ext4", false), ("xfs", true)] {
        let image = Image::mount(kind, 512 << 20)?;
        let path = image.path();
        let target = path.to_str().context("UTF-8")?;
        let facts: Value =
            serde_json::from_str(&program.call(&["probe", target, "--json"])?.stdout)?;
        let filesystem = &facts["filesystem"];
        ensure!(
            filesystem["direct_io"]["offset_bytes"].as_u64() >= Some(512)
                && filesystem["direct_io"]["memory_bytes"].as_u64() > Some(0),
            "{facts}"
        );
        ensure!(
            filesystem["atomic_writes"]["least_bytes"].is_u64() == has_atomic,
            "{facts}"
        );
        let shown = program.call(&["probe", target])?.stdout;
        ensure!(
            shown.contains("\ndirect I/O  multiples of ")
                && shown.contains("\natomic      writes of 4 KiB to ") == has_atomic,
            "{shown}"
        );
        ensure!(!shown.contains("\ntimes "), "{shown}");
        ensure!(
            entries(&path)
                .iter()
                .all(|left| left.ends_with("lost+found"))
        );
    }
    Ok(())
}

fn lazy_times_are_noticed() -> Result<()> {
    let program = program()?;
    let image = Image::mount("ext4", 512 << 20)?;
    let path = image.path();
    let target = path.to_str().context("UTF-8")?;
    image.remount("lazytime")?;
    let shown = program.call(&["probe", target])?.stdout;
    ensure!(shown.contains("\ntimes       lazytime: "), "{shown}");
    for (case, is_said) in [
        ("write,size=1MiB,prepare=overwrite", true),
        ("write,size=1MiB", false),
    ] {
        let words = [
            "run",
            target,
            "--case",
            case,
            "--samples",
            "1",
            "--no-limits",
        ];
        let shown = program.call(&words)?.stdout;
        ensure!(
            shown.contains("The mount has lazytime") == is_said,
            "{shown}"
        );
    }
    Ok(())
}

fn probe_names_the_filesystem() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target = target.path().to_str().context("UTF-8")?;
    ensure!(
        program
            .call(&["probe", target])?
            .stdout
            .contains("tmpfs on tmpfs")
    );
    let facts: Value = serde_json::from_str(&program.call(&["probe", target, "--json"])?.stdout)?;
    ensure!(
        facts["filesystem"]["kind"] == "tmpfs" && facts["device"].is_null(),
        "{facts}"
    );
    Ok(())
}

fn completions_and_manual() -> Result<()> {
    let program = program()?;
    let commands = commands_of(&program)?;
    ensure!(commands.len() >= 11, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = program.call(&["completions", shell])?.stdout;
        let missing = commands.iter().find(|name| !script.contains(name.as_str()));
        ensure!(missing.is_none(), "{shell}: {missing:?}");
        ensure!(
            script.contains("vectored") && !script.contains("identity"),
            "{shell}: suites, no hidden command"
        );
    }
    let manual = program.call(&["man"])?.stdout;
    for name in &commands {
        ensure!(
            manual.contains(&format!("writebench\\-{name}(1)")),
            "{name} in {manual}"
        );
        let own = program.call(&["man", name])?;
        ensure!(
            own.code == Some(0) && own.stdout.contains(&format!("writebench\\-{name}")),
            "{own:?}"
        );
    }
    ensure!(
        program
            .call(&["man", "run"])?
            .stdout
            .contains("max\\-bytes")
    );
    ensure!(
        program.call(&["man", "agent"])?.code == Some(2)
            && !commands.iter().any(|name| name == "agent"),
        "a hidden command"
    );
    Ok(())
}

fn suite_counts() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let listed = program.call(&["list", "suites"])?.stdout;
    for line in listed.lines() {
        let mut words = line.split_whitespace();
        let (Some(suite), Some(count)) = (words.next(), words.next()) else {
            continue;
        };
        let planned = program
            .call(&["run", path, "--suite", suite, "--dry-run"])?
            .stdout;
        let is_counted = planned
            .lines()
            .any(|line| line.starts_with(&format!("{count} cases × ")));
        ensure!(is_counted, "{line}: {planned}");
        let cases = program.call(&["list", "cases", suite])?.stdout;
        ensure!(
            cases.lines().count().to_string() == count,
            "{line}: {cases}"
        );
    }
    ensure!(listed.lines().count() >= 10, "{listed}");
    Ok(())
}

fn odd_names() -> Result<()> {
    let above = directory_on(Kind::Tmpfs);
    for (name, shown) in [
        (&b"no\xffutf8"[..], r"no\xffutf8"),
        (b"two\nlines", r"two\x0alines"),
    ] {
        let program = program()?;
        let target = above.path().join(OsStr::from_bytes(name));
        std::fs::create_dir(&target)?;
        let limited = [
            "--case",
            "write,size=4KiB",
            "--samples",
            "3",
            "--max-bytes",
            "5000",
            "--no-limits",
        ];
        let output = program
            .command(&["run"])
            .arg(&target)
            .args(limited)
            .output()?;
        ensure!(output.status.code() == Some(0), "{output:?}");
        let list = program.call(&["runs"])?.stdout;
        ensure!(
            list.lines().count() == 2 && list.contains(shown) && list.contains("limited"),
            "{list}"
        );
        let resumed =
            program.call(&["run", "--resume", "--max-bytes", "1MiB", "--export=json=-"])?;
        ensure!(resumed.code == Some(0), "{resumed:?}");
        let document: Value = serde_json::from_str(&resumed.stdout)?;
        let taken = document["cases"][0]["samples"]
            .as_array()
            .context("samples")?
            .len();
        ensure!(
            taken >= 3 && document["run"]["status"] == "complete",
            "{}",
            document["run"]
        );
        ensure!(writebench_testkit::entries(&target).is_empty());
    }
    Ok(())
}

fn dry_run() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[
        "run",
        path,
        "--case",
        "write,size=1GiB,prepare=overwrite",
        "--samples",
        "3",
        "--dry-run",
    ])?;
    ensure!(ended.stdout.contains("1 case × 3 samples"), "{ended:?}");
    ensure!(
        ended
            .stdout
            .contains("6 GiB to be written (2 GiB in a round), at most 1 GiB at once"),
        "{ended:?}"
    );
    let large = program.call(&["run", path, "--case", "write,size=1TB", "--dry-run"])?;
    ensure!(
        large.code == Some(0)
            && large
                .stderr
                .contains("The run would be refused: not enough"),
        "{large:?}"
    );
    ensure!(
        writebench_testkit::entries(target.path()).is_empty()
            && writebench_testkit::entries(program.home()).is_empty()
    );
    Ok(())
}

fn all_goals() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let document = program.run(target.path(), &["--size", "1MiB", "--samples", "1"], 0)?;
    let cases = document["cases"].as_array().context("cases")?;
    ensure!(
        cases.len() >= 8 && cases.iter().all(|case| case["suite"] == "goals"),
        "{cases:?}"
    );
    Ok(())
}

/// Each write takes a millisecond, like on a network.
fn slow_target() -> Result<()> {
    let document = slowed(
        &[When::Each(Call::Write)],
        Duration::from_millis(4),
        "8s",
        1,
    )?;
    let cases = document["cases"].as_array().context("cases")?;
    let sizes = || {
        cases
            .iter()
            .filter_map(|case| case["contract"]["bytes"].as_u64())
    };
    ensure!(sizes().max() == Some(16 << 20), "{:?}", sizes().max());
    // What most programs do is measured first, and nothing is said of the rest but that it was left out.
    ensure!(
        cases[0]["samples"]
            .as_array()
            .is_some_and(|samples| !samples.is_empty()),
        "{}",
        cases[0]
    );
    let warnings = document["warnings"].as_array().context("warnings")?;
    let warning = warnings
        .iter()
        .filter_map(Value::as_str)
        .find(|warning| warning.starts_with("The limits left no time for "))
        .with_context(|| format!("{warnings:?}"))?;
    ensure!(
        warning.contains("To measure all, use --budget "),
        "{warning}"
    );
    Ok(())
}

/// By their mean time, no round would fit.
fn slow_first_samples() -> Result<()> {
    let first_of = |file| When::InFile(file, Call::Write, 1);
    slowed(
        &[first_of(0), first_of(1), first_of(2)],
        Duration::from_millis(300),
        "4s",
        1,
    )
    .map(drop)
}

/// A busy machine may take the time of many cases, so only `least` need a result.
fn slowed(when: &[When], delay: Duration, budget: &str, least: usize) -> Result<Value> {
    let (program, faulty) = (program()?, Faulty::mount("sample", Caching::WriteThrough)?);
    let what = What::Delay(delay);
    faulty.follow(
        &when
            .iter()
            .map(|&when| Fault { when, what })
            .collect::<Vec<_>>(),
    );
    let target = faulty.path().to_str().context("UTF-8")?;
    let options = [
        "--reserve",
        "0%",
        "--no-limits",
        "--budget",
        budget,
        "--export=json=-",
    ];
    let ended = program.call(&[&["run", target], &options[..]].concat())?;
    // A busy machine may answer none.
    ensure!(matches!(ended.code, Some(0 | 6)), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout)?;
    let cases = document["cases"].as_array().context("cases")?;
    let is_measured =
        |case: &&Value| case["outcome"] == "ok" && case["samples"][0]["outcome"] == "ok";
    ensure!(
        cases.iter().filter(is_measured).count() >= least,
        "{cases:?}"
    );
    Ok(document)
}

fn outputs() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let arguments = ["run", path, "--case", "write,size=1MiB", "--samples", "1"];
    let ended = program.call(&arguments)?;
    ensure!(
        ended.stdout.contains("write,size=1MiB") && ended.stderr.contains("writebench show 1"),
        "{ended:?}"
    );
    ensure!(!ended.stdout.contains('\u{1b}'), "no colour into a pipe");
    let quiet = program.call(&[&arguments[..], &["--quiet", "--color", "always"]].concat())?;
    ensure!(
        quiet.stderr.is_empty() && quiet.stdout.contains('\u{1b}'),
        "{quiet:?}"
    );
    let json = program.call(&[&arguments[..], &["--export", "json=-"]].concat())?;
    serde_json::from_str::<Value>(&json.stdout).context("nothing but JSON")?;
    Ok(())
}

fn answer_and_doubts() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let cases = [
        "--case",
        "write,size=1MiB",
        "--case",
        "write,size=1MiB,chunk=64",
        "--samples",
        "2",
        "--no-limits",
    ];
    let ended = program.call(&[&["run", path][..], &cases].concat())?;
    let last = ended
        .stdout
        .trim_end()
        .rsplit("\n\n")
        .next()
        .context("an end")?;
    // A busy machine disturbs samples, which adds a sentence.
    let last: Vec<&str> = last
        .lines()
        .filter(|line| !line.contains(" disturbed ") && !line.starts_with("Other programs"))
        .collect();
    let [certainty, read_back, warning] = last.as_slice() else {
        anyhow::bail!("three: {last:?}")
    };
    let finding = ended
        .stdout
        .lines()
        .find(|line| line.starts_with("new file, page cache  write(2)"))
        .context("an answer")?;
    // Disturbed samples leave one of two.
    ensure!(finding.contains("too few rounds ("), "{finding}");
    ensure!(
        certainty.starts_with("new file, page cache: Too few rounds to compare it with"),
        "{certainty}"
    );
    ensure!(
        read_back.starts_with("Read back: ") && warning.starts_with("Some cases have only "),
        "{last:?}"
    );
    let page = ended.stderr.trim_end().lines().last().context("a note")?;
    ensure!(page.contains("writebench report 1  "), "{page}");
    let shown = program.call(&["show"])?;
    ensure!(
        ended
            .stdout
            .ends_with(&shown.stdout[shown.stdout.len() - 200..]),
        "the same again: {shown:?}"
    );
    ensure!(shown.stderr.is_empty(), "no notes into a pipe: {shown:?}");
    let elsewhere = program.home().join("it's here.db");
    let elsewhere = elsewhere.to_str().context("UTF-8")?;
    let ended = program.call(&[&["run", path, "--db", elsewhere][..], &cases].concat())?;
    let command = format!("writebench --db \"{elsewhere}\" report 1");
    ensure!(ended.stderr.contains(&command), "{ended:?}");
    Ok(())
}

fn nothing_worked() -> Result<()> {
    let (program, target) = (program()?, Mounted::tmpfs(1 << 20)?);
    let path = target.path().to_str().context("UTF-8")?;
    let name = "allocate,size=1GiB,call=fallocate";
    let ended = program.call(&["run", path, "--case", name, "--samples", "1"])?;
    ensure!(ended.code == Some(4), "{ended:?}");
    let last = ended
        .stdout
        .trim_end()
        .rsplit("\n\n")
        .next()
        .context("an end")?;
    ensure!(ended.stdout.contains("failed: fallocate: "), "{ended:?}");
    ensure!(last.contains("1 of 1 case failed: "), "{last}");
    Ok(())
}

fn closed_pipe() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let script = format!(
        "HOME={home} {binary} run {target} --case write,size=1MiB --samples 1 --db {home}/db | head -1; echo ${{PIPESTATUS[0]}}",
        home = program.home().display(),
        binary = program.binary().display(),
        target = target.path().display(),
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    ensure!(stdout.lines().last() == Some("0"), "{output:?}");
    ensure!(writebench_testkit::entries(target.path()).is_empty());
    Ok(())
}

fn seeds_repeat() -> Result<()> {
    let target = directory_on(Kind::Tmpfs);
    // --max-bytes ends the first round early, which shows its order.
    let first_part = |seed: &str| -> Result<Vec<String>> {
        let limits = ["--samples", "1", "--max-bytes", "2MiB", "--seed", seed];
        let document = program()?.run(
            target.path(),
            &[&["--suite", "write", "--size", "64KiB"], &limits[..]].concat(),
            0,
        )?;
        let cases = document["cases"].as_array().context("cases")?;
        let measured = cases.iter().filter(|case| case["outcome"] == "ok");
        Ok(measured.map(|case| case["name"].to_string()).collect())
    };
    let (first, again, other) = (first_part("1")?, first_part("1")?, first_part("2")?);
    ensure!(
        first.len() > 10 && first == again && first != other,
        "{first:?} {other:?}"
    );
    Ok(())
}

/// A millisecond pays for no sample. One sample of each method was not meant to answer.
fn without_answer() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let goal = ["--for", "stream", "--size", "64KiB"];
    let short = ["--budget", "1ms"];
    for (command, more, code) in [
        ("run", &short[..], 6),
        ("advise", &short, 6),
        ("run", &["--samples", "1"], 0),
    ] {
        let ended = program.call(&[&[command, path], &goal[..], more].concat())?;
        ensure!(ended.code == Some(code), "{command} {more:?}: {ended:?}");
    }
    let resumed = program.call(&["run", "--resume=1", "--budget", "1ms"])?;
    ensure!(resumed.code == Some(6), "{resumed:?}");
    Ok(())
}
