//! `advise --without`, `--threads`, `--lang` and `--minimize`.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Image, Kind, Need, Trials, directory_on};

use crate::advice::{QUICK, advise, is_without_advice, names};
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "constraints leave out candidates, and more threads add some",
        &tmpfs,
        constraints,
    );
    trials.add(
        "an answer keeps the constraints, and names them",
        &tmpfs,
        constrained,
    );
    trials.add("a search can minimize CPU time", &tmpfs, cpu_time);
    trials.add(
        "a search can minimize the bytes that reach the device",
        &[Need::Image("ext4")],
        device_bytes,
    );
}

fn candidates(arguments: &[&str]) -> Result<Vec<String>> {
    let target = directory_on(Kind::Tmpfs);
    let target_text = target.path().to_str().context("UTF-8")?;
    let ended = program()?.call(&[&["advise", target_text, "--dry-run"], arguments].concat())?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let names = ended
        .stdout
        .lines()
        .filter(|line| line.contains("size="))
        .map(str::to_owned);
    Ok(names.collect())
}

fn constraints() -> Result<()> {
    let without = |options: &[&str]| candidates(&[&["--for", "stream"], options].concat());
    let has = |names: &[String], part: &str| names.iter().skip(1).any(|name| name.contains(part));
    let all = without(&[])?;
    ensure!(
        has(&all, "io_uring") && has(&all, "threads=4") && has(&all, "chunk=64KiB"),
        "{all:?}"
    );
    let few = without(&[
        "--without",
        "io_uring",
        "--without",
        "chunk=64KiB",
        "--without",
        "cache",
    ])?;
    ensure!(
        !["io_uring", "chunk=64KiB", "cache="]
            .iter()
            .any(|part| has(&few, part)),
        "{few:?}"
    );
    let threads = without(&["--threads", "8"])?;
    ensure!(
        has(&threads, "threads=8") && has(&threads, "threads=2") && !has(&threads, "threads=16")
    );
    ensure!(!has(&without(&["--threads", "1"])?, "threads="));
    let python = without(&["--lang", "python"])?;
    ensure!(
        python.len() > 20 && !has(&python, "io_uring") && !has(&python, "huge=collapse"),
        "{python:?}"
    );
    let direct = without(&["--set", "cache=direct"])?;
    ensure!(
        direct.iter().all(|name| name.contains("cache=direct")),
        "{direct:?}"
    );
    let unknown = without(&["--unknown-length"])?;
    let needs_length = [
        "prepare=fallocate,",
        "prepare=fallocate-keep-size",
        "prepare=set-len",
        "mmap",
        "chunk=whole",
    ];
    ensure!(
        !needs_length.iter().any(|part| has(&unknown, part)),
        "{unknown:?}"
    );
    ensure!(
        unknown.iter().all(|name| name.contains("source=chunk")),
        "{unknown:?}"
    );
    ensure!(has(&unknown, "threads=2,layout=strided"), "{unknown:?}");
    let files = candidates(&["--for", "untar"])?;
    ensure!(files[0].starts_with("write-files"), "{files:?}");
    Ok(())
}

fn constrained() -> Result<()> {
    let program = program()?;
    let options = [
        "--without",
        "write",
        "--without",
        "threads",
        "--lang",
        "python",
    ];
    let document = advise(&program, &[QUICK, &options].concat())?;
    let settings = &document["run"]["settings"]["constraints"];
    ensure!(
        *settings == serde_json::json!(["--without write", "--without threads", "--lang python"]),
        "{settings}"
    );
    let advice = &document["advice"];
    let recommended = advice["recommended"].as_str().context("a name")?;
    ensure!(
        advice["baseline"] == "write,size=2MiB" && recommended != "write,size=2MiB",
        "{advice}"
    );
    for name in names(&document, "Finals")
        .iter()
        .filter(|name| **name != "write,size=2MiB")
    {
        ensure!(
            !name.starts_with("write,") && !name.contains("threads="),
            "{name}"
        );
    }
    let conclusions = document["conclusions"].to_string();
    ensure!(
        conclusions.contains("--without write --without threads --lang python"),
        "{conclusions}"
    );
    ensure!(
        conclusions.contains("--lang python\"") && !conclusions.contains("(or "),
        "{conclusions}"
    );
    let goals = [
        "--for",
        "stream",
        "--for",
        "files",
        "--lang",
        "java",
        "--budget",
        "2s",
        "--export=json=-",
    ];
    let target = directory_on(Kind::Tmpfs);
    let ended = program.call(
        &[
            &["advise", target.path().to_str().context("UTF-8")?],
            &goals[..],
        ]
        .concat(),
    )?;
    // In two seconds, a busy machine has no answer.
    ensure!(matches!(ended.code, Some(0 | 6)), "{ended:?}");
    ensure!(
        ended.stderr.contains("--lang java leaves none of"),
        "{ended:?}"
    );
    let why = "(for example file-size=16KiB: the function writes one file)";
    ensure!(ended.stderr.contains(why), "{}", ended.stderr);
    Ok(())
}

/// Plain write of records also writes the journal for each.
fn device_bytes() -> Result<()> {
    let program = program()?;
    let image = Image::mount("ext4", 512 << 20)?;
    let target = image.path();
    let target = target.to_str().context("UTF-8")?;
    let search = ["advise", target, "--for", "records", "--size", "256KiB"];
    let more = [
        "--budget",
        "4s",
        "--minimize",
        "device-bytes",
        "--export",
        "json=-",
    ];
    let called = program.call(&[&search[..], &more].concat())?;
    // A busy machine may have no answer in so little time.
    ensure!(matches!(called.code, Some(0 | 6)), "{called:?}");
    let document: Value = serde_json::from_str(&called.stdout)?;
    ensure!(
        document["run"]["settings"]["objective"] == "device-bytes",
        "{}",
        document["run"]
    );
    let findings = document["findings"].as_array().context("findings")?;
    for finding in findings {
        let bytes = finding["device_bytes"]["value"].as_f64().context("bytes")?;
        ensure!(bytes >= 262_144.0, "{finding}");
    }
    let first = document["conclusions"][0].as_str().context("a sentence")?;
    ensure!(
        document["advice"].is_null() || first.contains("MB on the device"),
        "{first}"
    );
    let in_memory = directory_on(Kind::Tmpfs);
    let target = in_memory.path().to_str().context("UTF-8")?;
    let search = [
        "advise",
        target,
        "--for",
        "files",
        "--set",
        "sync-files=each",
    ];
    let refused = program.call(&[&search[..], &["--minimize", "device-bytes"]].concat())?;
    ensure!(refused.code == Some(2), "{refused:?}");
    Ok(())
}

fn cpu_time() -> Result<()> {
    let document = advise(&program()?, &[QUICK, &["--minimize", "cpu"]].concat())?;
    let findings = document["findings"].as_array().context("findings")?;
    ensure!(
        findings
            .iter()
            .all(|finding| finding["cpu_ns"]["value"].is_number()),
        "{findings:?}"
    );
    let first = document["conclusions"][0].as_str().context("a sentence")?;
    // On a busy machine the budget ends before an answer, or before six rounds with plain write.
    if document["advice"].is_null() {
        ensure!(is_without_advice(first), "{first}");
        return Ok(());
    }
    ensure!(first.contains("ms CPU"), "{first}");
    ensure!(
        first.contains("cheap") || first.contains("in fewer than 6 common rounds"),
        "{first}"
    );
    Ok(())
}
