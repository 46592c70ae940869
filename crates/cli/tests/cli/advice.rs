//! `advise` and `--precision`: failing candidates, limits, and certainty.

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use writebench_testkit::{
    Caching, Call, ControlGroup, Ended, Errno, Fault, Faulty, Image, Kind, Need, Program, Trials,
    What, When, directory_on, entries, send, wait_for,
};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "a search recommends a method of six rounds with a bound, and keeps its limits",
        &tmpfs,
        search,
    );
    trials.add(
        "a search continues after unsupported and failing cases",
        &[Need::Strace],
        without_some,
    );
    trials.add(
        "a search continues after its worker is killed",
        &tmpfs,
        killed,
    );
    trials.add(
        "a search without a good sample fails with the reason",
        &[Need::Fuse],
        all_fail,
    );
    trials.add(
        "an interrupted search recommends nothing",
        &tmpfs,
        too_early,
    );
    trials.add(
        "a search with low limits takes smaller files, and reports it",
        &tmpfs,
        smaller,
    );
    trials.add(
        "a search for records keeps their durability",
        &[Need::Filesystem(Kind::Ext4)],
        records,
    );
    trials.add(
        "records in groups arrive at a rate, and count from there",
        &[Need::Filesystem(Kind::Ext4)],
        arrivals,
    );
    trials.add(
        "a search begins with the finalists of an earlier one",
        &tmpfs,
        again,
    );
    trials.add(
        "a dry run lists the candidates and writes nothing",
        &tmpfs,
        dry_run,
    );
    trials.add(
        "a search copies a file of the user's, which is only read",
        &tmpfs,
        own_source,
    );
    trials.add(
        "impossible searches are refused in one line",
        &tmpfs,
        refusals,
    );
    trials.add("each of several goals gets a table", &tmpfs, several_goals);
    trials.add(
        "files larger than memory are refused if no disk can write them in the budget",
        &[Need::MemoryGroup, Need::Root, Need::Filesystem(Kind::Ext4)],
        no_time_for_large,
    );
    trials.add(
        "a filesystem with checksums gets answers with and without them",
        &[Need::Image("btrfs")],
        checksums,
    );
    trials.add("a search is not resumed", &tmpfs, not_resumed);
    trials.add("--precision narrows the interval", &tmpfs, precision);
}

pub(crate) const QUICK: &[&str] = &[
    "--for",
    "stream",
    "--size",
    "2MiB",
    "--budget",
    "8s",
    "--export=json=-",
    "--quiet",
];

/// Returns the JSON.
pub(crate) fn advise(program: &Program, arguments: &[&str]) -> Result<Value> {
    let target = directory_on(Kind::Tmpfs);
    let target_text = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&[&["advise", target_text], arguments].concat())?;
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );
    document_of(&ended)
}

/// Without advice, which a busy machine may need more time for, the exit code says so.
fn document_of(ended: &Ended) -> Result<Value> {
    let document: Value =
        serde_json::from_str(&ended.stdout).with_context(|| format!("{ended:?}"))?;
    let code = if document["advice"].is_null() { 6 } else { 0 };
    ensure!(ended.code == Some(code), "{ended:?}");
    Ok(document)
}

pub(crate) fn names(document: &Value, section: &str) -> Vec<String> {
    let cases = document["cases"].as_array().into_iter().flatten();
    cases
        .filter(|case| case["section"] == section)
        .filter_map(|case| case["name"].as_str().map(str::to_owned))
        .collect()
}

fn search() -> Result<()> {
    let document = advise(&program()?, QUICK)?;
    let advice = &document["advice"];
    ensure!(
        advice["candidates"]
            .as_u64()
            .is_some_and(|count| count > 20),
        "{advice}"
    );
    let written = document["run"]["written_bytes"].as_u64().context("bytes")?;
    let most = document["run"]["settings"]["max_bytes"]
        .as_u64()
        .context("a limit")?;
    ensure!(written > 0 && written <= most, "{written} of {most}");
    let limits = &document["targets"][0]["limits"];
    ensure!(
        limits.as_array().is_none_or(Vec::is_empty),
        "they take more than a tenth of the budget: {limits}"
    );
    ensure!(
        advice["bytes_written"].is_null(),
        "one number for bytes: {advice}"
    );
    let finals = names(&document, "Finals");
    for name in ["fastest", "recommended", "baseline"] {
        let name = advice[name].as_str().context("a name")?;
        ensure!(
            finals.iter().any(|case| case == name),
            "{name} in {finals:?}"
        );
    }
    ensure!(advice["baseline"] == "write,size=2MiB", "{advice}");
    // Plain write and each finalist have six rounds or more.
    let rounds = |name: &str| {
        let case = document["cases"]
            .as_array()?
            .iter()
            .find(|case| case["name"] == name)?;
        Some(case["samples"].as_array()?.len())
    };
    ensure!(rounds("write,size=2MiB") >= Some(6), "{document:#}");
    ensure!(
        rounds(advice["recommended"].as_str().context("a name")?) >= Some(6),
        "{advice}"
    );
    ensure!(advice["bound"].as_f64() >= Some(1.0), "{advice}");
    let sentences = document["conclusions"].as_array().context("sentences")?;
    // Candidates that failed or are unsupported here come last.
    let place = |text: &str| {
        sentences.iter().position(|sentence| {
            sentence
                .as_str()
                .is_some_and(|sentence| sentence.contains(text))
        })
    };
    let check = place("To repeat this comparison:\n  writebench run /")
        .context("no command to check it")?;
    ensure!(place("Recommended: ") == Some(0), "{sentences:?}");
    ensure!(
        place("To print it as code, `int write_file(") == Some(check + 1),
        "{sentences:?}"
    );
    Ok(())
}

/// tmpfs has no O_DIRECT, the kernel refuses io_uring, and preallocation finds no space.
fn without_some() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let output = writebench_testkit::strace()
        .args([
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=io_uring_setup,fallocate",
        ])
        .args([
            "-e",
            "inject=io_uring_setup:error=EPERM",
            "-e",
            "inject=fallocate:error=ENOSPC",
        ])
        .arg(program.binary())
        .arg("advise")
        .arg(target.path())
        .args(["--db", program.home().join("db").to_str().context("UTF-8")?])
        .args([
            "--for",
            "stream",
            "--size",
            "1MiB",
            "--budget",
            "60s",
            "--max-bytes",
            "256MiB",
        ])
        .args(["--export=json=-", "--quiet"])
        .output()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let failures = document["failures"].as_array().context("failures")?;
    ensure!(!failures.is_empty(), "{document}");
    let outcomes: Vec<&Value> = document["cases"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|case| &case["outcome"])
        .collect();
    ensure!(
        outcomes.iter().any(|outcome| *outcome == "failed")
            && outcomes.iter().any(|outcome| *outcome == "unsupported")
    );
    // On a busy machine the bytes end before an answer.
    if document["advice"].is_null() {
        ensure!(output.status.code() == Some(6), "{output:?}");
        return Ok(());
    }
    ensure!(output.status.success(), "{output:?}");
    ensure!(
        document["advice"]["failed_candidates"]
            .as_u64()
            .is_some_and(|count| count > 1),
        "{}",
        document["advice"]
    );
    let recommended = document["advice"]["recommended"]
        .as_str()
        .context("a name")?;
    ensure!(
        !recommended.contains("fallocate") && !recommended.starts_with("io_uring"),
        "{recommended}"
    );
    Ok(())
}

fn all_fail() -> Result<()> {
    let (program, faulty) = (program()?, Faulty::mount("sample", Caching::None)?);
    faulty.follow(&[Fault {
        when: When::Each(Call::Create),
        what: What::Fail(Errno::IO),
    }]);
    let target = faulty.path().to_str().context("UTF-8")?;
    let arguments = [
        "advise",
        target,
        "--for",
        "stream",
        "--size",
        "1MiB",
        "--budget",
        "60s",
        "--reserve",
        "0%",
    ];
    let ended = program.call(&arguments)?;
    ensure!(ended.code == Some(4), "{ended:?}");
    let said = ended
        .stdout
        .lines()
        .filter(|line| line.starts_with("No advice"))
        .collect::<Vec<_>>();
    let [said] = said.as_slice() else {
        anyhow::bail!("{ended:?}")
    };
    ensure!(
        said.contains("failed: open") && said.contains("Input/output error (5)"),
        "{said}"
    );
    ensure!(!ended.stdout.contains("--budget"), "{ended:?}");
    Ok(())
}

fn killed() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let out = program.home().join("out");
    let export = format!("--export=json={}", out.display());
    let target_text = target.path().to_str().context("UTF-8")?;
    let arguments = [
        "--for", "stream", "--size", "2MiB", "--budget", "5s", &export,
    ];
    let mut child = program.start(&[&["advise", target_text], &arguments[..]].concat())?;
    // The first samples are taken then.
    std::thread::sleep(std::time::Duration::from_millis(700));
    wait_for("a worker to kill", || {
        let worker = writebench_testkit::worker(child.id())?;
        send(worker, Signal::KILL).ok()
    })?;
    let code = child.wait()?.code();
    let document: Value = serde_json::from_str(&std::fs::read_to_string(out)?)?;
    // On a busy machine the budget ends before an answer.
    let has_answer = document["advice"]["recommended"].is_string();
    ensure!(
        code == Some(if has_answer { 0 } else { 6 }),
        "{code:?}: {document}"
    );
    let samples = document["cases"].as_array().context("cases")?.iter();
    let samples = samples
        .filter_map(|case| case["samples"].as_array())
        .map(Vec::len);
    ensure!(
        samples.sum::<usize>() > 5,
        "the search ended with its worker: {document}"
    );
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn too_early() -> Result<()> {
    let arguments = [
        "--for",
        "stream",
        "--size",
        "2MiB",
        "--budget",
        "1ms",
        "--export=json=-",
        "--quiet",
    ];
    let document = advise(&program()?, &arguments)?;
    ensure!(document["advice"].is_null(), "{}", document["advice"]);
    let sentence = document["conclusions"][0].as_str().context("a sentence")?;
    ensure!(
        sentence.starts_with("The search ended too early for advice"),
        "{sentence}"
    );
    Ok(())
}

/// The limit pays for 45 samples of 16 MiB, but not of 64 MiB.
fn smaller() -> Result<()> {
    let arguments = [
        "--for",
        "stream",
        "--max-bytes",
        "1GiB",
        "--budget",
        "60s",
        "--export=json=-",
        "--quiet",
    ];
    let document = advise(&program()?, &arguments)?;
    ensure!(
        document["run"]["settings"]["search_bytes"] == 64 << 20,
        "{}",
        document["run"]["settings"]
    );
    if document["advice"].is_null() {
        return Ok(());
    }
    let baseline = document["advice"]["baseline"]
        .as_str()
        .context("a baseline")?;
    ensure!(baseline == "write,size=16MiB", "{}", document["advice"]);
    let sentences = document["conclusions"].to_string();
    ensure!(
        sentences.contains("do not pay for files of 64 MiB, so this answer is for 16 MiB"),
        "{sentences}"
    );
    Ok(())
}

fn arrivals() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let target_text = target.path().to_str().context("UTF-8")?;
    let records = ["advise", target_text, "--for", "log"];
    let ahead = program.call(&[&records[..], &["--unknown-length", "--dry-run"]].concat())?;
    ensure!(
        ahead.stdout.contains("prepare=fallocate-ahead") && !ahead.stdout.contains("zero-fill"),
        "{ahead:?}"
    );
    let grouped = program.call(&[&records[..], &["--group", "16", "--dry-run"]].concat())?;
    let mut names = grouped.stdout.lines().filter(|line| line.contains("size="));
    ensure!(
        names.next() == Some("write,size=4MiB,chunk=4KiB,sync=fsync/16"),
        "{grouped:?}"
    );
    ensure!(
        names
            .clone()
            .any(|name| name.contains("vector=16,sync=fdatasync/16")),
        "{grouped:?}"
    );
    ensure!(
        !names.any(|name| name.contains("c/1,") || name.ends_with("c/1")),
        "{grouped:?}"
    );
    let options = [
        "--group",
        "4",
        "--rate",
        "2000",
        "--budget",
        "15s",
        "--export=json=-",
        "-q",
    ];
    let document = document_of(&program.call(&[&records[..], &options].concat())?)?;
    ensure!(
        document["run"]["settings"]["objective"] == "p99",
        "{}",
        document["run"]["settings"]
    );
    for case in document["cases"].as_array().context("cases")? {
        ensure!(
            case["contract"]["records_per_s"] == 2000
                && case["contract"]["durable_every_bytes"].as_u64() <= Some(16384),
            "{case}"
        );
        let (bytes, samples) = (
            &case["contract"]["bytes"],
            case["samples"].as_array().context("samples")?,
        );
        for sample in samples.iter().filter(|sample| sample["outcome"] == "ok") {
            let (count, total) = (&sample["latency"]["count"], &sample["total_ns"]);
            let records = bytes.as_u64().context("bytes")? / 4096;
            ensure!(
                count.as_u64() == Some(records),
                "each record has a latency: {sample}"
            );
            // The last arrives one distance before its second is over.
            ensure!(total.as_u64() >= Some((records - 1) * 500_000), "{sample}");
        }
    }
    // On a busy machine the budget ends before an answer.
    let conclusions = document["conclusions"].to_string();
    if document["advice"].is_null() {
        ensure!(is_without_advice(&conclusions), "{conclusions}");
        return Ok(());
    }
    ensure!(
        conclusions.contains(" records, from their arrival. The worst stall was "),
        "{conclusions}"
    );
    ensure!(
        conclusions.contains("ms at p99") && conclusions.contains(" ms, at record "),
        "{conclusions}"
    );
    Ok(())
}

/// A busy machine may need a larger budget.
pub(crate) fn is_without_advice(text: &str) -> bool {
    text.contains("The search ended too early for advice: ") || text.contains("No advice: ")
}

fn records() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let target_text = target.path().to_str().context("UTF-8")?;
    let arguments = [
        "--for", "records", "--record", "512", "--size", "64KiB", "--budget", "10s",
    ];
    let ended = program.call(
        &[
            &["advise", target_text, "--export=json=-", "-q"],
            arguments.as_slice(),
        ]
        .concat(),
    )?;
    let document = document_of(&ended)?;
    for case in document["cases"].as_array().context("cases")? {
        let workload = &case["contract"];
        ensure!(
            workload["durability"] == "durable" && workload["durable_every_bytes"] == 512,
            "{case}"
        );
    }
    let first = document["conclusions"][0]
        .as_str()
        .context("a conclusion")?;
    // On a busy machine the budget ends before an answer.
    let is_missing = document["advice"].is_null() && is_without_advice(first);
    ensure!(
        first.contains("records/s") || is_missing,
        "{}",
        document["conclusions"]
    );
    Ok(())
}

fn again() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target_text = target.path().to_str().context("UTF-8")?;
    let search = |goal: &str, budget: &str| -> Result<Ended> {
        let ended = program.call(&[
            "advise",
            target_text,
            "--for",
            goal,
            "--size",
            "1MiB",
            "--budget",
            budget,
        ])?;
        let code = if is_without_advice(&ended.stdout) {
            6
        } else {
            0
        };
        ensure!(ended.code == Some(code), "{ended:?}");
        Ok(ended)
    };
    // A busy machine has no finalists in the shortest one.
    let mut searches = 0;
    for budget in ["3s", "12s", "48s"] {
        searches += 1;
        let first = search("stream", budget)?;
        let is_first = searches == 1;
        ensure!(
            !is_first || !first.stderr.contains("Measured first"),
            "{first:?}"
        );
        if first.code == Some(0) {
            break;
        }
    }
    let other = search("copy", "3s")?;
    ensure!(!other.stderr.contains("Measured first"), "{other:?}");
    let again = search("stream", "3s")?;
    let line = again
        .stderr
        .lines()
        .find(|line| line.starts_with("Measured first: "))
        .with_context(|| format!("{again:?}"))?;
    ensure!(
        line.ends_with(&format!(" of search {searches}.")) && !line.contains(": 0 "),
        "{line}"
    );
    Ok(())
}

fn dry_run() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target_text = target.path().to_str().context("UTF-8")?;
    let ended = program.call(&["advise", target_text, "--for", "copy", "--dry-run"])?;
    let last = ended.stdout.lines().last().context("a line")?;
    ensure!(
        ended.code == Some(0) && last.ends_with("Nothing was written."),
        "{ended:?}"
    );
    ensure!(
        ended.stdout.lines().next() == Some("read-write,size=64MiB"),
        "the baseline comes first"
    );
    ensure!(
        last.contains("files of 64 MiB, or of 16 MiB on a slow disk, at most 50 GiB in 60s"),
        "{last}"
    );
    ensure!(entries(target.path()).is_empty());
    // Files of the default size are smaller than those for a slow disk.
    let ended = program.call(&["advise", target_text, "--for", "replace", "--dry-run"])?;
    ensure!(
        ended.stdout.contains("files of 1 MiB, at most"),
        "{ended:?}"
    );
    let aligned = program.call(&[
        "advise",
        target_text,
        "--for",
        "stream",
        "--data-from",
        "aligned",
        "--dry-run",
    ])?;
    let names = aligned
        .stdout
        .lines()
        .filter(|line| line.contains("size=64MiB"));
    ensure!(
        names.clone().count() > 100
            && names
                .clone()
                .all(|name| name.ends_with(",memory=page-aligned"))
    );
    let fixed = [
        "--data-from",
        "producer",
        "--set",
        "data=compressible:50",
        "--dry-run",
    ];
    let produced =
        program.call(&[&["advise", target_text, "--for", "stream"], &fixed[..]].concat())?;
    let names = produced
        .stdout
        .lines()
        .filter(|line| line.contains("size=64MiB"));
    let is_fixed = |name: &str| {
        let end = match name.contains("cache=direct") {
            true if ["2MiB", "4MiB", "8MiB", "16MiB", "32MiB"]
                .iter()
                .any(|chunk| name.contains(&format!("chunk={chunk}"))) =>
            {
                ",memory=huge-pages"
            }
            true => ",memory=page-aligned",
            false => "",
        };
        name.ends_with(&format!("data=compressible:50,source=chunk{end}"))
    };
    ensure!(
        names.clone().count() > 100 && names.clone().all(is_fixed),
        "{produced:?}"
    );
    let large = [
        "advise",
        target_text,
        "--for",
        "stream",
        "--size",
        "2GiB",
        "--reserve",
        "0",
        "--dry-run",
    ];
    let ended = program.call(&large)?;
    let last = ended.stdout.lines().last().context("a line")?;
    let limited = "files of 2 GiB, at most 64 GiB in 60s. The limit of 64 GiB pays for 32 samples with files of \
                   2 GiB, which may be too few for an answer. Use --max-bytes 90GiB, or a smaller --size. ";
    ensure!(last.contains(limited), "{ended:?}");
    let overwritten = [&large[..2], &["--for", "overwrite"], &large[4..]].concat();
    let ended = program.call(&overwritten)?;
    let last = ended.stdout.lines().last().context("a line")?;
    let limited = "The limit of 64 GiB pays for 16 samples with files of 2 GiB";
    ensure!(last.contains(limited), "{ended:?}");
    let agreed = program.call(&[&large[..], &["--yes"]].concat())?;
    ensure!(!agreed.stdout.contains("at most 64 GiB"), "{agreed:?}");
    Ok(())
}

fn own_source() -> Result<()> {
    let (program, source) = (program()?, directory_on(Kind::Ext4));
    let from = source.path().join("mine");
    std::fs::write(&from, vec![7; (4 << 20) + 5])?;
    let from = from.to_str().context("UTF-8")?;
    let options = [
        "--for",
        "cp",
        "--from",
        from,
        "--cold",
        "--budget",
        "6s",
        "--export=json=-",
        "--quiet",
    ];
    let document = advise(&program, &options)?;
    ensure!(
        document["run"]["settings"]["from"] == from,
        "{}",
        document["run"]
    );
    let cases = document["cases"].as_array().context("cases")?;
    ensure!(
        cases
            .iter()
            .all(|case| case["contract"]["source"] == "cold-file"),
        "{cases:?}"
    );
    ensure!(std::fs::read(from)? == vec![7; (4 << 20) + 5]);
    // A busy machine may not have enough samples for advice.
    if document["advice"].is_null() {
        return Ok(());
    }
    let baseline = &document["advice"]["baseline"];
    ensure!(
        *baseline == "read-write,size=4MiB,origin=cold",
        "{baseline}"
    );
    ensure!(
        document["conclusions"]
            .to_string()
            .contains(&format!("--from {from} --case")),
        "{document:#}"
    );
    Ok(())
}

/// Rows that join during the run are in the table of their goal.
fn several_goals() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let path = target.path().to_str().context("UTF-8")?;
    let goals = [
        "--for",
        "stream",
        "--for",
        "overwrite",
        "--size",
        "1MiB",
        "--budget",
        "20s",
    ];
    let ended = program.call(&[&["advise", path, "--export", "json=-"], &goals[..]].concat())?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout)?;
    let cases = document["cases"].as_array().context("cases")?;
    let mut sections: Vec<&Value> = cases.iter().map(|case| &case["section"]).collect();
    ensure!(
        cases.iter().all(|case| case["suite"] == "goals"),
        "{cases:?}"
    );
    sections.dedup();
    ensure!(
        sections == ["Stream data into a new file", "Overwrite a file in place"],
        "{sections:?}"
    );
    let findings = document["findings"].as_array().context("findings")?;
    ensure!(
        findings.len() == 2 && findings.iter().all(|finding| finding["case"].is_string()),
        "{findings:?}"
    );
    let names: Vec<&Value> = cases.iter().map(|case| &case["name"]).collect();
    ensure!(
        findings
            .iter()
            .all(|finding| names.contains(&&finding["case"])),
        "{findings:?}"
    );
    Ok(())
}

fn checksums() -> Result<()> {
    let (program, image) = (program()?, Image::mount("btrfs", 1 << 30)?);
    let path = image.path();
    let path = path.to_str().context("UTF-8")?;
    let goals = [
        "--for",
        "durable-stream",
        "--for",
        "stream",
        "--size",
        "1MiB",
        "--yes",
    ];
    let ended = program.call(&[&["advise", path, "--export", "json=-"], &goals[..]].concat())?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout)?;
    let cases = document["cases"].as_array().context("cases")?;
    let mut tables: Vec<&str> = cases
        .iter()
        .filter_map(|case| case["section"].as_str())
        .collect();
    tables.dedup();
    let expected = [
        "Stream data into a new file, durable at the end",
        "Stream data into a new file, durable at the end, without checksums",
        "Stream data into a new file",
    ];
    ensure!(tables == expected, "{tables:?}");
    // A busy machine may have no time for all.
    let findings = document["findings"].as_array().context("findings")?;
    let goals: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding["goal"].as_str())
        .collect();
    let all = [
        "durable new file, disk",
        "durable new file without checksums, disk",
        "new file, page cache",
    ];
    ensure!(goals[0] == all[0] && all.starts_with(&goals), "{goals:?}");
    Ok(())
}

fn refusals() -> Result<()> {
    let target = directory_on(Kind::Tmpfs);
    let target_text = target.path().to_str().context("UTF-8")?;
    let refused: &[(&[&str], &str)] = &[
        (
            &["--for", "stream", "--for", "larger-than-memory"],
            "Give one --for",
        ),
        (&["--for", "speed"], "stream"),
        (
            &["--for", "stream", "--record", "4KiB"],
            "--record needs --for records",
        ),
        (
            &["--for", "records", "--record", "1GiB", "--size", "4MiB"],
            "does not fit into a file of 4MiB",
        ),
        (&["--for", "stream", "--size", "0"], "size"),
        (
            &["--for", "copy", "--data-from", "aligned"],
            "does not apply to a copy",
        ),
        (
            &["--for", "stream", "--data-from", "page"],
            "expected any, aligned, huge-pages or producer",
        ),
        (
            &["--for", "stream", "--set", "threads=1,2"],
            "--set threads: a search takes one value",
        ),
        (
            &["--for", "stream", "--set", "size=1MiB"],
            "Use --size and --record",
        ),
        (
            &[
                "--for",
                "stream",
                "--size",
                "1MiB",
                "--data-from",
                "huge-pages",
            ],
            "smaller than a huge page",
        ),
        (&["--for", "stream", "--rate", "9"], "Add --for records"),
        (
            &["--for", "stream", "--minimize", "p99"],
            "--minimize p99 needs records or files",
        ),
        (
            &["--for", "stream", "--minimize", "device-bytes"],
            "needs a durable goal",
        ),
        (&["--minimize", "cpu"], "Give one --for"),
        (
            &["--for", "records", "--rate", "9", "--minimize", "time"],
            "--rate sets the time",
        ),
        (
            &["--for", "stream", "--without", "io_urnig"],
            "Did you mean 'io_uring'",
        ),
        (
            &[
                "--for",
                "stream",
                "--lang",
                "python",
                "--set",
                "method=pwrite",
            ],
            "run --case pwrite",
        ),
        (
            &["--for", "files", "--lang", "node"],
            "--lang node leaves none of ",
        ),
        (
            &["--for", "copy", "--set", "data=zero"],
            "--set data: no candidate has this axis",
        ),
        (
            &["--for", "stream", "--from", "/dev/null"],
            "not a regular file",
        ),
        (&["--for", "stream", "--cold"], "Add --for copy"),
        (&["--from", "/etc/passwd"], "Add --for copy"),
        (
            &["--for", "stream", "--budget", "0s"],
            "longer than nothing",
        ),
        (&["--for", "stream", "--size", "1000000GiB"], "free"),
        (
            &["--for", "stream", "--size", "8MiB", "--max-bytes", "200MiB"],
            "--max-bytes must be at least ",
        ),
    ];
    for (arguments, why) in refused {
        let ended = program()?.call(&[&["advise", target_text], *arguments].concat())?;
        ensure!(
            matches!(ended.code, Some(2 | 3)) && ended.stderr.contains(why),
            "{arguments:?}: {ended:?}"
        );
        ensure!(
            ended.stderr.lines().count() == 1 && ended.stdout.is_empty(),
            "{ended:?}"
        );
    }
    Ok(())
}

fn no_time_for_large() -> Result<()> {
    let (group, target) = (
        ControlGroup::with_memory(256 << 20)?,
        directory_on(Kind::Ext4),
    );
    let command =
        program()?.command(&["advise", "--for", "larger-than-memory", "--budget", "100ms"]);
    let mut command = group.with(&command);
    let output = command.arg(target.path()).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(2) && stderr.lines().count() == 1,
        "{stderr}"
    );
    ensure!(
        stderr.contains("more than any disk takes in 100ms. --budget 1m is enough"),
        "{stderr}"
    );
    ensure!(entries(target.path()).is_empty());
    Ok(())
}

fn not_resumed() -> Result<()> {
    let program = program()?;
    advise(
        &program,
        &[
            "--for",
            "stream",
            "--size",
            "4MiB",
            "--budget",
            "1s",
            "--export=json=-",
            "-q",
        ],
    )?;
    let ended = program.call(&["run", "--resume=1"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("Start it again"),
        "{ended:?}"
    );
    Ok(())
}

fn precision() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let count = |precision: &str| -> Result<(usize, Value)> {
        let arguments = [
            "--case",
            "write,size=1MiB",
            "--precision",
            precision,
            "--budget",
            "4s",
        ];
        let document = program.run(target.path(), &arguments, 0)?;
        let samples = document["cases"][0]["samples"]
            .as_array()
            .context("samples")?
            .len();
        Ok((samples, document))
    };
    let (coarse, _) = count("99%")?;
    let (fine, document) = count("0.01%")?;
    ensure!(
        (6..=120).contains(&coarse) && fine > coarse,
        "{coarse}, {fine}"
    );
    ensure!(
        document["run"]["settings"]["precision_ppm"] == 100,
        "{}",
        document["run"]
    );
    let warnings = document["warnings"].as_array().context("warnings")?;
    ensure!(
        warnings.iter().any(|warning| warning
            .as_str()
            .is_some_and(|warning| warning.contains("did not reach ± 0.01 %"))),
        "{warnings:?}"
    );
    Ok(())
}
