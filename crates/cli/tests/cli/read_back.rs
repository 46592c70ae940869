use std::collections::HashSet;
use std::fs::File;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{
    Caching, Call, Fault, Faulty, Kind, Need, Trials, What, When, directory_on,
};

use crate::device_faults::Stack;
use crate::outcomes::case;
use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    trials.add(
        "a filesystem that loses every hundredth write fails 95 of 100 cases within six samples",
        &[Need::Fuse],
        lost_writes,
    );
    let below_ext4 = [Need::Image("ext4"), Need::LoopDevice, Need::Fuse];
    trials.add(
        "flipped bits below ext4 fail durable cases only",
        &below_ext4,
        flipped,
    );
    trials.add(
        "later samples are read back in part, durable ones from the device",
        &[Need::Filesystem(Kind::Ext4)],
        in_part,
    );
    trials.add(
        "durable data in memory is read back from the page cache",
        &[Need::Filesystem(Kind::Tmpfs)],
        tmpfs,
    );
}

fn lost_writes() -> Result<()> {
    let (program, faulty) = (program()?, Faulty::mount("sample", Caching::WriteThrough)?);
    faulty.follow(&[Fault {
        when: When::Every(Call::Write, 100),
        what: What::Lose,
    }]);
    let sizes = (4..16).map(|quarters| quarters * 256);
    let names: Vec<String> = sizes
        .flat_map(|size| [16, 24, 32].map(|chunk| format!("size={size}KiB,chunk={chunk}KiB")))
        .flat_map(|rest| {
            ["write", "pwrite", "write,prepare=set-len"].map(|method| format!("{method},{rest}"))
        })
        .collect();
    ensure!(names.len() >= 100, "{} cases", names.len());
    let lines = program.home().join("lines");
    let mut command = program.command(&["run", "--samples", "6", "--seed", "5", "--no-limits"]);
    command
        .arg(faulty.path())
        .args(names.iter().flat_map(|name| ["--case", name]));
    let output = command
        .arg(format!("--export=jsonl={}", lines.display()))
        .output()?;
    ensure!(output.status.code() == Some(4), "{output:?}");
    let lines = std::fs::read_to_string(lines)?;
    let lines = lines
        .lines()
        .map(serde_json::from_str::<Value>)
        .collect::<Result<Vec<_>, _>>()?;
    let samples: Vec<&Value> = lines.iter().filter_map(|line| line.get("sample")).collect();
    let operations = faulty.operations();
    let lost: HashSet<usize> = operations
        .iter()
        .filter(|operation| operation.fault.is_some())
        .map(|operation| operation.file)
        .collect();
    let is_failed = |sample: &Value| sample["outcome"] == "failed";
    let samples_that = |corrupted: bool| {
        samples
            .iter()
            .enumerate()
            .filter(move |(file, _)| lost.contains(file) == corrupted)
            .map(|(_, sample)| *sample)
    };
    ensure!(
        samples_that.clone()(false).all(|sample| sample["outcome"] == "ok"),
        "samples that lost nothing are good"
    );
    let corrupted: HashSet<&str> = samples_that.clone()(true)
        .filter_map(|sample| sample["case"].as_str())
        .collect();
    let failed: HashSet<&str> = samples
        .iter()
        .filter(|sample| is_failed(sample))
        .filter_map(|sample| sample["case"].as_str())
        .collect();
    ensure!(
        corrupted.len() >= 95,
        "{} cases lost something",
        corrupted.len()
    );
    ensure!(
        failed.len() * 100 >= corrupted.len() * 95,
        "{} of {}",
        failed.len(),
        corrupted.len()
    );
    let later = samples_that(true)
        .filter(|sample| is_failed(sample) && sample["round"] != 0)
        .count();
    ensure!(
        later >= 5,
        "only {later} were found in a part of a later sample"
    );
    Ok(())
}

const DURABLE: &str = "write,size=8MiB,sync=fsync";
const CACHED: &str = "write,size=8MiB";

fn flipped() -> Result<()> {
    let (program, faulty) = (program()?, Faulty::mount("image", Caching::WriteThrough)?);
    let image = faulty.path().join("image");
    File::create(&image)?.set_len(64 << 20)?;
    let stack = Stack::mount("ext4", &image)?;
    let words = [
        "--case",
        DURABLE,
        "--case",
        CACHED,
        "--samples",
        "2",
        "--no-limits",
        "--yes",
    ];
    // Afterwards, the filesystem has its own blocks in memory.
    let before = program.run(stack.path(), &words, 0)?;
    let samples = case(&before, DURABLE)?["samples"]
        .as_array()
        .context("samples")?;
    ensure!(
        samples
            .iter()
            .all(|sample| sample["read_back"]["from"] == "device"),
        "{samples:?}"
    );
    for verify in ["sampled", "every", "first"] {
        faulty.follow(&[Fault {
            when: When::Each(Call::Read),
            what: What::Flip,
        }]);
        let document = program.run(
            stack.path(),
            &[&words[..], &["--verify", verify]].concat(),
            4,
        )?;
        let durable = case(&document, DURABLE)?;
        let reason = durable["reason"].as_str().context("a reason")?;
        ensure!(
            durable["outcome"] == "failed" && reason.contains("the content differs"),
            "{durable}"
        );
        let cached = case(&document, CACHED)?;
        let from = &cached["samples"][0]["read_back"]["from"];
        ensure!(
            cached["outcome"] == "ok" && *from == "page-cache",
            "{cached}"
        );
        let shown = program.call(&["show"])?.stdout;
        ensure!(
            shown.contains("from the page cache") && !shown.contains("from the device"),
            "{shown}"
        );
        faulty.follow(&[]);
    }
    Ok(())
}

fn in_part() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Ext4));
    let words = [
        "--case",
        DURABLE,
        "--case",
        CACHED,
        "--samples",
        "3",
        "--no-limits",
        "--seed",
        "4",
    ];
    let document = program.run(target.path(), &words, 0)?;
    for (name, from) in [(DURABLE, "device"), (CACHED, "page-cache")] {
        let samples = case(&document, name)?["samples"]
            .as_array()
            .context("samples")?;
        let (first, later) = samples.split_first().context("samples")?;
        ensure!(
            first["read_back"]["extent"] == "whole" && first["read_back"]["bytes"] == 8 << 20,
            "{first}"
        );
        for sample in later {
            let (read_back, bytes) = (&sample["read_back"], sample["read_back"]["bytes"].as_u64());
            ensure!(
                read_back["extent"] == "part" && bytes.is_some_and(|bytes| bytes >> 20 == 1),
                "{sample}"
            );
        }
        ensure!(
            samples
                .iter()
                .all(|sample| sample["read_back"]["from"] == from),
            "{samples:?}"
        );
    }
    let csv = program.call(&["show", "--export", "csv=-"])?.stdout;
    ensure!(
        csv.contains(",part,") && csv.contains(",device,") && csv.contains(",page-cache,"),
        "{csv}"
    );
    Ok(())
}

fn tmpfs() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let document = program.run(
        target.path(),
        &["--case", DURABLE, "--samples", "1", "--no-limits"],
        0,
    )?;
    let sample = &case(&document, DURABLE)?["samples"][0];
    ensure!(sample["read_back"]["from"] == "page-cache", "{sample}");
    let never = [
        "--case",
        DURABLE,
        "--samples",
        "1",
        "--no-limits",
        "--verify",
        "never",
    ];
    let document = program.run(target.path(), &never, 0)?;
    ensure!(
        case(&document, DURABLE)?["samples"][0]["read_back"].is_null(),
        "{document}"
    );
    let shown = program.call(&["show"])?.stdout;
    ensure!(
        shown.contains("Read back: no sample, only sizes"),
        "{shown}"
    );
    Ok(())
}
