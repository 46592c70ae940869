//! Disks wear: what a run writes is said before and after, and --max-bytes is never passed.

use anyhow::{Context, Result, ensure};
use testkit::{Kind, Need, Trials, directory_on};

use crate::program;

pub fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add("what will be written and what was written are said", &tmpfs, said);
    trials.add("--max-bytes counts files to be copied and old content, and is not passed", &tmpfs, not_passed);
}

fn said() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let arguments = ["run", target.path().to_str().context("UTF-8")?, "--case", "read-write,size=4MiB"];
    let arguments = [&arguments[..], &["--samples", "2", "--no-limits"]].concat();
    let before = program.call(&[&arguments[..], &["--dry-run"]].concat())?;
    ensure!(before.stdout.contains("8 MiB to be written"), "{before:?}");
    ensure!(before.stdout.contains("Up to 4 MiB more are files to be copied"), "{before:?}");
    let ended = program.call(&arguments)?;
    // More where samples were disturbed.
    let written = ended.stderr.lines().find_map(|line| line.strip_prefix("Written: "));
    let mebibytes = written.and_then(|text| text.strip_suffix(" MiB.")?.parse::<u64>().ok());
    ensure!(mebibytes.is_some_and(|it| it >= 12 && it.is_multiple_of(4)), "{ended:?}");
    Ok(())
}

fn not_passed() -> Result<()> {
    for (case, most, samples) in [
        ("read-write,size=4MiB", "12MiB", 2),
        ("read-write,size=4MiB", "11MiB", 1),
        ("read-write,size=4MiB", "7MiB", 0),
        ("write,size=4MiB,prepare=overwrite", "16MiB", 2),
        ("write,size=4MiB", "3MiB", 0),
    ] {
        let (program, target) = (program()?, directory_on(Kind::Tmpfs));
        let arguments = ["--case", case, "--samples", "9", "--no-limits", "--max-bytes", most];
        let document = program.run(target.path(), &arguments, 0)?;
        let taken = document["cases"][0]["samples"].as_array().map_or(0, Vec::len);
        ensure!(taken == samples && document["run"]["status"] == "limited", "{case} in {most}: {taken}");
    }
    Ok(())
}
