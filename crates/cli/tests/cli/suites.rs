use std::collections::HashSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Image, Kind, Need, Trials, directory_on, entries};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    for kind in Kind::ALL {
        for suite in writebench_model::built_in_suites() {
            let name = format!("suite {} runs on {}", suite.name, kind.name());
            trials.add(name, &[Need::Filesystem(kind)], move || {
                runs(kind, &suite.name, suite.cases.context("cases")?)
            });
        }
    }
    for kind in ["xfs", "btrfs"] {
        trials.add(
            format!("suites run on {kind}"),
            &[Need::Image(kind)],
            move || runs_on_image(kind),
        );
    }
}

/// Filesystems with different reservation, mapping and syncing.
fn runs_on_image(kind: &str) -> Result<()> {
    let (program, image) = (program()?, Image::mount(kind, 512 << 20)?);
    for suite in ["create", "mmap", "parallel", "copy"] {
        let arguments = [
            "--suite",
            suite,
            "--size",
            "256KiB",
            "--samples",
            "1",
            "--verify",
            "every",
            "--yes",
        ];
        let document = program.run(&image.path(), &arguments, 0)?;
        ensure!(
            document["targets"][0]["environment"]["filesystem"]["kind"] == kind,
            "{}",
            document["targets"][0]["environment"]
        );
        for case in document["cases"].as_array().context("cases")? {
            check_case(case).with_context(|| case["name"].to_string())?;
        }
    }
    ensure!(
        entries(&image.path())
            .iter()
            .all(|entry| entry.ends_with("lost+found")),
        "something was left behind"
    );
    Ok(())
}

/// The smallest size with work for 16 threads in each case.
fn runs(kind: Kind, suite: &str, rows: usize) -> Result<()> {
    let (program, target) = (program()?, directory_on(kind));
    let listed = program.call(&["list", "cases", suite])?.stdout;
    let mut arguments = vec![
        "--suite",
        suite,
        "--size",
        "256KiB",
        "--samples",
        "1",
        "--verify",
        "every",
        "--seed",
        "7",
    ];
    if suite == "direct" {
        arguments.extend(["--set", "chunk=4KiB,1MiB"]);
    }
    let document = program.run(target.path(), &arguments, 0)?;
    ensure!(
        document["schema"] == 7 && document["run"]["seed"] == 7,
        "{}",
        document["run"]
    );
    ensure!(
        document["targets"][0]["environment"]["filesystem"]["kind"] == kind.name(),
        "{}",
        document["targets"][0]["environment"]
    );
    let cases = document["cases"].as_array().context("cases")?;
    // Fewer sizes or chunks mean fewer rows.
    let rows = match suite {
        "create" => 3,
        "direct" => 2 * 21,
        // A chunk of the whole file or more is one call.
        "cluster" => 26,
        "vectored" => 30,
        "write" => 36,
        _ => rows,
    };
    ensure!(cases.len() == rows, "{} cases", cases.len());
    let different: HashSet<&str> = cases
        .iter()
        .filter_map(|case| case["name"].as_str())
        .collect();
    let is_whole = !matches!(
        suite,
        "create" | "direct" | "cluster" | "vectored" | "write"
    );
    ensure!(
        !is_whole || listed.lines().count() == different.len(),
        "{listed}"
    );
    let is_once = matches!(suite, "cluster" | "vectored" | "write");
    ensure!(
        !is_once || different.len() == cases.len(),
        "the same calls twice"
    );
    for case in cases {
        // tmpfs has only the page cache, and this is not a rank.
        let axes = &case["axes"];
        let impossible = axes["cache"] == "direct" || axes["prepare"] == "fallocate-zero-range";
        if kind == Kind::Tmpfs && impossible || case["method"] == "mpiio" {
            ensure!(
                case["outcome"] == "unsupported" && case["estimate"].is_null(),
                "{case}"
            );
            continue;
        }
        check_case(case).with_context(|| case["name"].to_string())?;
    }
    ensure!(
        entries(target.path()).is_empty(),
        "something was left behind"
    );
    Ok(())
}

fn check_case(case: &Value) -> Result<()> {
    ensure!(
        case["outcome"] == "ok" && case["reason"].is_null(),
        "{} {}",
        case["outcome"],
        case["reason"]
    );
    let sample = &case["samples"][0];
    let number = |value: &Value| value.as_u64().context("a number");
    ensure!(
        number(&sample["bytes"])? == 256 << 10 && case["contract"]["bytes"] == 256 << 10,
        "{sample}"
    );
    let mut sum = 0;
    for phase in ["prepare", "open", "write", "sync", "close"] {
        sum += number(&sample["phases_ns"][phase])?;
    }
    ensure!(
        sum == number(&sample["total_ns"])? && sum > 0,
        "the phases are all of it: {sample}"
    );
    let written = case["method"] != "allocate";
    ensure!(
        sample["read_back"]["bytes"] == Value::from(written.then_some(256 << 10)),
        "{sample}"
    );
    ensure!(sample["probe_ns"][0].as_u64() > Some(0), "{sample}");
    let all_of_it = case["estimate"]["throughput_bytes_per_s"]["value"]
        .as_f64()
        .context("a figure")?;
    let write_alone = case["estimate"]["write_alone_bytes_per_s"]["value"]
        .as_f64()
        .context("a figure")?;
    let each = case["axes"]["sync"].as_str().is_some_and(|sync| {
        sync.contains('/') || sync.starts_with("o-") || sync.starts_with("rwf-")
    });
    let is_set = case["axes"]["file-size"].is_string();
    ensure!(
        sample["latency"].is_object() == (each || is_set),
        "{}",
        sample["latency"]
    );
    ensure!(
        all_of_it > 0.0 && all_of_it <= write_alone,
        "{}",
        case["estimate"]
    );
    Ok(())
}
