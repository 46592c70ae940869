use std::path::Path;

use anyhow::{Context, Result, ensure};
use writebench_testkit::{Kind, Need, Trials, directory_on};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let ext4 = Need::Filesystem(Kind::Ext4);
    trials.add("README: each command of the table works", &[ext4, Need::Root], commands);
    trials.add("README: it names suites that the program lists", &[], suites);
    trials.add("README: the tables contain the explained words", &[ext4], words);
    trials.add("README: the example has the lines of an answer", &[ext4], example);
    trials.add("README: a run leaves nothing in its directory", &[ext4], traces);
    trials.add("README: it is short, and its links work", &[], links);
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn readme() -> Result<String> {
    let path = root().join("README.md");
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A command made small, and the expected text.
struct Trial {
    begins: &'static str,
    added: &'static [&'static str],
    prints: &'static str,
}

const fn trial(begins: &'static str, added: &'static [&'static str], prints: &'static str) -> Trial {
    Trial { begins, added, prints }
}

const SMALL: &[&str] = &["--size", "64KiB", "--samples", "2", "--no-limits"];
const SMALL_SEARCH: &[&str] = &["--size", "1MiB", "--budget", "3s"];
const DRY: &[&str] = &["--dry-run"];

/// In order: later commands show results of earlier ones.
const TRIALS: &[Trial] = &[
    trial("writebench run /data", &["--size", "64KiB", "--no-limits"], "vs. plain write"),
    trial("writebench advise /data --for stream", SMALL_SEARCH, "Recommended: "),
    trial("writebench advise /data --for durable-stream", SMALL_SEARCH, "fsync"),
    trial(
        "writebench advise /data --for records --record 512",
        &["--size", "64KiB", "--budget", "6s"],
        "records/s",
    ),
    trial("writebench advise /data --for copy", SMALL_SEARCH, "plain read and write"),
    trial("writebench run /data --suite parallel --size 256MiB --set threads=1,8", DRY, "to be written"),
    trial("writebench run /data --case write,chunk=64KiB --case mmap,threads=4", SMALL, "mmap"),
    trial("writebench code --lang c", &[], "int copy_file("),
    trial("writebench run /data /scratch", SMALL, "vs. plain write"),
    trial("writebench fs --on ext4,xfs,btrfs --suite buffer", DRY, "btrfs"),
    trial("writebench run /data --label before", SMALL, "recommended"),
    trial("writebench compare before after --fail-if-slower 5%", &[], "B compared with A"),
    trial("writebench compare before after", &[], "B compared with A"),
    trial("writebench runs", &[], "before"),
    trial("writebench runs delete", &["--yes"], ""),
    trial("writebench report", &[], ""),
    trial("writebench show", &[], "vs. plain write"),
    trial("writebench show --export svg=charts", &[], ""),
    trial("writebench show --export json=results.json", &[], ""),
];

/// Commands tested elsewhere.
const ELSEWHERE: &[(&str, &str)] = &[
    ("writebench run --suite copy <X >Y", "copying.rs"),
    ("writebench run /data --case write --command './mine {file}'", "programs.rs"),
    ("writebench run /dev/sdX --suite direct --destroy /dev/sdX", "devices.rs"),
];

fn commands() -> Result<()> {
    let readme = readme()?;
    let table = readme.split("## Use").nth(1).context("a section on its use")?;
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let commands: Vec<&str> =
        rows.flat_map(quoted).filter(|command| command.starts_with("writebench ")).collect();
    ensure!(commands.len() >= 15, "{commands:?}");
    let (program, data, scratch) = (program()?, directory_on(Kind::Ext4), directory_on(Kind::Ext4));
    let mut tried = 0;
    for command in commands {
        if ELSEWHERE.iter().any(|(elsewhere, _)| *elsewhere == command) {
            continue;
        }
        let Some(trial) = TRIALS
            .iter()
            .filter(|trial| command.starts_with(trial.begins))
            .max_by_key(|trial| trial.begins.len())
        else {
            bail!("nobody tries `{command}`");
        };
        run(&program, command, trial, data.path(), scratch.path())?;
        if command.ends_with("--label before") {
            // A verdict needs four runs per side.
            for label in ["after", "before", "after", "before", "after", "before", "after"] {
                run(&program, &command.replace("before", label), trial, data.path(), scratch.path())?;
            }
        }
        tried += 1;
    }
    ensure!(tried + ELSEWHERE.len() >= TRIALS.len(), "some trials are of commands that the README has no more");
    Ok(())
}

fn run(program: &Program, command: &str, trial: &Trial, data: &Path, scratch: &Path) -> Result<()> {
    let place = |word: &str| -> Result<String> {
        Ok(match word {
            "/data" => data.to_str().context("a path in UTF-8")?.to_owned(),
            "/scratch" => scratch.to_str().context("a path in UTF-8")?.to_owned(),
            other => other.to_owned(),
        })
    };
    let words: Vec<String> = command.split(' ').skip(1).map(place).collect::<Result<_>>()?;
    let arguments: Vec<&str> = words.iter().map(String::as_str).chain(trial.added.iter().copied()).collect();
    let output = program.command(&arguments).current_dir(program.home()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Two small runs may differ in any direction.
    let is_expected =
        output.status.success() || (command.contains("fail-if-slower") && output.status.code() == Some(5));
    ensure!(is_expected && text.contains(trial.prints), "{arguments:?}: {output:?}");
    Ok(())
}

fn suites() -> Result<()> {
    let printed = program()?.call(&["list", "suites"])?.stdout;
    ensure!(readme()?.contains(&format!("$ writebench list suites\n{printed}```")), "{printed}");
    Ok(())
}

fn words() -> Result<()> {
    let (program, data) = (program()?, directory_on(Kind::Ext4));
    let names = ["write,size=64KiB,sync=fsync", "write,size=64KiB", "allocate,size=1048576TiB,call=fallocate"];
    let cases: Vec<&str> = names.into_iter().flat_map(|name| ["--case", name]).chain(["--yes"]).collect();
    program.run(data.path(), &cases, 4)?;
    let shown = program.call(&["show", "--all"])?.stdout;
    for words in ["total", "95% CI", "write alone", "limit", "ms:", "CPU ms:", "n", "vs. plain write"] {
        let columns = words.split(' ').count();
        ensure!(
            shown
                .split_whitespace()
                .collect::<Vec<_>>()
                .windows(columns)
                .any(|window| window.join(" ") == words),
            "{words}: {shown}"
        );
    }
    ensure!(shown.contains("failed: fallocate: "), "{shown}");
    let dry =
        program.call(&["advise", data.path().to_str().context("UTF-8")?, "--for", "stream", "--dry-run"])?;
    ensure!(dry.stdout.starts_with("write,size=256MiB\n"), "the baseline is `write` of 1 MiB: {}", dry.stdout);
    Ok(())
}

fn example() -> Result<()> {
    let (program, data) = (program()?, directory_on(Kind::Ext4));
    program.run(data.path(), &["--size", "64KiB", "--no-limits"], 0)?;
    let printed = program.call(&["show"])?.stdout;
    let readme = readme()?;
    let example = readme
        .split("```text\n$ writebench run")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .context("an example")?;
    let heading = |text: &str| text.lines().find(|line| line.contains("vs. plain write")).map(str::to_owned);
    let columns = |line: String| {
        line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    let shown = columns(heading(&printed).context("a heading")?);
    for column in columns(heading(example).context("a heading in the example")?) {
        ensure!(shown.contains(&column), "{column} is not among {shown:?}");
    }
    for goal in ["new file, in", "existing file, in", "durable new file, on disk"] {
        let has = |text: &str| text.lines().any(|line| line.starts_with(goal));
        ensure!(has(&printed) && has(example), "{goal}: {printed}");
    }
    Ok(())
}

fn traces() -> Result<()> {
    let (program, data) = (program()?, directory_on(Kind::Ext4));
    std::fs::write(data.path().join("mine"), "mine")?;
    program.run(data.path(), &["--case", "write", "--size", "64KiB", "--samples", "1"], 0)?;
    let names: Vec<_> = std::fs::read_dir(data.path())?.flatten().map(|entry| entry.file_name()).collect();
    ensure!(names == ["mine"] && std::fs::read(data.path().join("mine"))? == b"mine", "{names:?}");
    Ok(())
}

fn lines() -> Result<()> {
    let readme = readme()?;
    ensure!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
    ensure!(readme.lines().all(|line| line.chars().count() <= 100 || line.starts_with(['|', '!'])));
    Ok(())
}
