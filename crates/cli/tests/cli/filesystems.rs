use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;
use writebench_model::Case;
use writebench_testkit::{
    Ended, Gluster, Kind, Need, Program, Trials, descendants, directory_on, entries, extended,
    loop_devices, strace, wait_for,
};

use crate::cache_promises::PAST_CACHE;
use crate::program;
use crate::promises::PROMISES;
use crate::set_promises::SETS;
use crate::syscalls::{Calls, before_useless_file, promise_of, traced, with_kept_file};

/// With the required packages.
const KINDS: &[(&str, &str)] = &[
    ("ext2", "ext2"),
    ("ext3", "ext3"),
    ("ext4", "ext4"),
    ("ext4-no-journal", "ext4"),
    ("xfs", "xfs"),
    ("btrfs", "btrfs"),
    ("btrfs-no-checksums", "btrfs"),
    ("btrfs-raid0", "btrfs"),
    ("tmpfs", "ext4"),
    ("tmpfs-huge", "ext4"),
    ("overlay:ext4", "ext4"),
    ("fuse:ext4", "ext4"),
];

pub(crate) fn add(trials: &mut Trials) {
    for (kind, mkfs) in KINDS {
        let server = kind.starts_with("fuse:").then_some(Need::Bindfs);
        let mut needs: Vec<_> = [Need::Image(mkfs)].into_iter().chain(server).collect();
        trials.add(
            format!("fs: {kind} keeps the data of every method"),
            &needs,
            || holds(kind),
        );
        // Another journal or profile changes no call, and other tests trace each case in a directory of ext4.
        if !["ext2", "ext3", "ext4", "ext4-no-journal", "btrfs-raid0"].contains(kind) {
            needs.push(Need::Strace);
            trials.add(
                format!("fs: cases make their calls on {kind}"),
                &needs,
                || keeps(kind),
            );
        }
    }
    for (files, is_sharded) in [("whole files", false), ("shards of files", true)] {
        let needs = [Need::Image("ext4"), Need::Program("glusterfsd")];
        let name = format!("GlusterFS with {files} holds what was written, by every method");
        trials.add(name, &needs, move || gluster_holds(is_sharded));
    }
    let both = [
        Need::Image("ext4"),
        Need::Image("xfs"),
        Need::Filesystem(Kind::Ext4),
    ];
    trials.add(
        "fs: a missing filesystem is reported with its reason",
        &both,
        one_table,
    );
    trials.add(
        "fs: a filesystem that is too small does not stop the other filesystems",
        &both,
        too_small,
    );
    trials.add("fs: options are applied and recorded", &both, options);
    trials.add(
        "fs: a suite without a size takes the largest within its budget",
        &both,
        sized,
    );
    trials.add(
        "fs: a filesystem is compared with the directory of its image",
        &both,
        image_share,
    );
    let with_btrfs = [&both[..], &[Need::Image("btrfs")]].concat();
    trials.add(
        "fs: images have no names, and loop devices bypass the page cache",
        &with_btrfs,
        images,
    );
    trials.add("fs: a dry run makes nothing", &both, dry_run);
    trials.add("fs: a run is not resumed", &both, no_resume);
    trials.add("fs: every refusal is one line", &both, refusals);
    trials.add(
        "fs: a run without root is refused in one line",
        &both,
        unprivileged,
    );
    let all = [&both[..], &[Need::Bindfs]].concat();
    for (ending, code) in [
        ("the end", 0),
        ("INT", 130),
        ("TERM", 130),
        ("KILL", -1),
        ("an error", 1),
    ] {
        trials.add(
            format!("fs: {ending} leaves nothing behind"),
            &all,
            move || ends(ending, code),
        );
    }
}

struct Made {
    program: Program,
    images: TempDir,
    // Mounts before the run.
    mounts: Vec<String>,
}

impl Made {
    fn new() -> Result<Self> {
        Ok(Self {
            program: program()?,
            images: directory_on(Kind::Tmpfs),
            mounts: mounts(),
        })
    }

    fn words<'w>(&'w self, more: &[&'w str]) -> Result<Vec<&'w str>> {
        let images = self.images.path().to_str().context("UTF-8")?;
        Ok([&["fs", "--images", images], more].concat())
    }

    fn start(&self, more: &[&str]) -> Result<Child> {
        self.program.start(&self.words(more)?)
    }

    fn call(&self, more: &[&str], code: i32) -> Result<Ended> {
        let ended = self.program.call(&self.words(more)?)?;
        ensure!(
            ended.code == Some(code),
            "expected exit code {code}: {ended:#?}"
        );
        self.is_gone()?;
        Ok(ended)
    }

    fn run(&self, more: &[&str], code: i32) -> Result<Value> {
        let export = self.program.home().join("export.json");
        let export_argument = format!("--export=json={}", export.display());
        self.call(&[&[export_argument.as_str()], more].concat(), code)?;
        Ok(serde_json::from_str(&std::fs::read_to_string(export)?)?)
    }

    /// Checks images, loop devices and mounts.
    fn is_gone(&self) -> Result<()> {
        let left = wait_for("nothing to be left", || {
            self.left().is_empty().then_some(())
        });
        left.with_context(|| format!("left behind: {:?}", self.left()))
    }

    fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = entries(self.images.path())
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        left.extend(self.loops());
        left.extend(
            mounts()
                .into_iter()
                .filter(|mount| !self.mounts.contains(mount)),
        );
        left
    }

    fn loops(&self) -> Vec<String> {
        let images = self.images.path().display().to_string();
        let ours = loop_devices()
            .into_iter()
            .filter(|(_, file)| file.starts_with(&images));
        ours.map(|(device, _)| device.display().to_string())
            .collect()
    }
}

/// Other tests mount elsewhere.
fn mounts() -> Vec<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let could_be_ours = |line: &&str| {
        let point = line.split(' ').nth(4).unwrap_or_default();
        let is_under_ours = ["/mnt", "/media", "/srv"]
            .iter()
            .any(|root| point.starts_with(root));
        is_under_ours || (line.contains("fuse.bindfs") && !point.contains("/writebench-bindfs-"))
    };
    mounts
        .lines()
        .filter(could_be_ours)
        .map(str::to_owned)
        .collect()
}

/// Cases with at most a mebibyte.
const METHODS: &[&str] = &[
    "write,size=1MiB,chunk=4KiB",
    "write,size=1000,chunk=300",
    "write,size=1MiB,prepare=truncate",
    "write,size=1MiB,prepare=overwrite,sync=fsync",
    "write,size=1MiB,prepare=posix-fallocate",
    "write,size=1MiB,prepare=fallocate",
    "write,size=1MiB,prepare=zero-fill",
    "write,size=64KiB,chunk=4KiB,sync=fdatasync/1",
    "fwrite,size=1MiB,chunk=100",
    "writev,size=1MiB,chunk=4KiB,vector=16",
    "pwrite,size=1MiB,threads=3",
    "pwrite,size=1MiB,threads=2,files=per-thread",
    "pwrite,size=1MiB,cache=direct,chunk=64KiB",
    "pwritev,size=1MiB,chunk=4KiB,vector=4",
    "mmap,size=1MiB",
    "mmap,size=1MiB,sync=msync",
    "io_uring,size=1MiB,chunk=64KiB",
    "splice,size=1MiB",
    "copy-file-range,size=1MiB",
];

fn by_case<'c>(cases: &[&'c str]) -> Vec<&'c str> {
    cases.iter().flat_map(|case| ["--case", case]).collect()
}

/// With complete reading back.
const READ_BACK: [&str; 5] = ["--samples", "2", "--verify", "every", "--no-limits"];

fn holds(kind: &str) -> Result<()> {
    let made = Made::new()?;
    let document = made.run(
        &[&["--on", kind], &READ_BACK[..], &by_case(METHODS)].concat(),
        0,
    )?;
    all_read_back(&document)?;
    let target = &document["targets"][0];
    ensure!(
        target["name"] == kind && target["made_filesystem"]["kind"] == kind,
        "{target}"
    );
    Ok(())
}

/// The filesystems get the same size, with time for each round.
fn sized() -> Result<()> {
    let made = Made::new()?;
    let words = [
        "--on",
        "ext4,tmpfs",
        "--set",
        "chunk=64KiB",
        "--suite",
        "buffer",
        "--samples",
        "2",
    ];
    let budget = ["--no-limits", "--verify", "never", "--budget", "10s"];
    let document = made.run(&[&words[..], &budget].concat(), 0)?;
    let cases = document["cases"].as_array().context("cases")?;
    let bytes = |case: &Value| case["contract"]["bytes"].as_u64();
    ensure!(
        cases.len() == 2 && bytes(&cases[0]) == bytes(&cases[1]),
        "several sizes: {cases:?}"
    );
    ensure!(
        cases.iter().all(|case| case["samples"]
            .as_array()
            .is_some_and(|all| !all.is_empty())),
        "{cases:?}"
    );
    let ended = made.call(&[&words[..], &budget].concat(), 0)?;
    ensure!(
        ended.stderr.contains("Files of ") && ended.stderr.contains(" fit"),
        "{ended:?}"
    );
    let given = made.call(&[&words[..], &budget, &["--size", "64KiB"]].concat(), 0)?;
    ensure!(!given.stderr.contains("Files of "), "{given:?}");
    Ok(())
}

fn gluster_holds(is_sharded: bool) -> Result<()> {
    let (program, volume) = (program()?, Gluster::mount(is_sharded, 256 << 20)?);
    let document = program.run(
        volume.path(),
        &[&READ_BACK[..], &by_case(METHODS)].concat(),
        0,
    )?;
    all_read_back(&document)?;
    ensure!(
        entries(volume.path()).is_empty(),
        "{:?}",
        entries(volume.path())
    );
    Ok(())
}

fn all_read_back(document: &Value) -> Result<()> {
    let cases = document["cases"].as_array().context("cases")?;
    ensure!(cases.len() == METHODS.len(), "{} rows", cases.len());
    for case in cases {
        let sample = &case["samples"][0];
        match case["outcome"].as_str().context("an outcome")? {
            "ok" => ensure!(
                sample["read_back"]["extent"] == "whole",
                "read back: {case}"
            ),
            // Features that some filesystems lack.
            "unsupported" => {
                let known = [
                    "prepare=fallocate",
                    "cache=direct",
                    "copy-file-range",
                    "splice",
                ];
                let id = case["name"].as_str().context("id")?;
                ensure!(known.iter().any(|axis| id.contains(axis)), "{case}");
            }
            other => bail!("{other}: {case}"),
        }
    }
    Ok(())
}

/// The last mount of a run, once its worker exists.
fn made_target(run: &Child, kind: &str) -> Option<String> {
    writebench_testkit::worker(run.id())?;
    let mounts = std::fs::read_to_string(format!("/proc/{}/mountinfo", run.id())).ok()?;
    let mut points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let end = format!("-{}", kind.replace(':', "-"));
    points
        .rfind(|point| point.starts_with("/mnt/") && point.ends_with(&end))
        .map(str::to_owned)
}

fn is_for_any_kind(case: &str) -> bool {
    // Without allocation, the C library writes into every block.
    !case.contains("posix") && !case.starts_with("allocate") && !case.contains("direct")
}

fn keeps(kind: &str) -> Result<()> {
    let made = Made::new()?;
    // The C library's buffer is st_blksize, a huge page here.
    let has_large_blocks = kind == "tmpfs-huge";
    let is_for_this =
        |case: &str| is_for_any_kind(case) && !(has_large_blocks && case.starts_with("fwrite"));
    let promises: Vec<_> = PROMISES
        .iter()
        .chain(SETS)
        .chain(PAST_CACHE)
        .filter(|(case, _)| is_for_this(case))
        .collect();
    let names: Vec<&str> = promises.iter().map(|(case, _)| *case).collect();
    let export = made.program.home().join("export.json");
    let export_argument = format!("--export=json={}", export.display());
    // A traced FUSE server would block strace. So another run makes the filesystem, and waits for records.
    let waits = "write,size=1MiB,chunk=4KiB,sync=fdatasync/1,rate=1";
    let more = [
        "--on",
        kind,
        "--case",
        waits,
        "--samples",
        "1",
        "--verify",
        "never",
        "--no-limits",
    ];
    let mut beside = made.start(&more)?;
    let target = wait_for("the filesystem", || made_target(&beside, kind))?;
    let mut nsenter = Command::new("nsenter");
    nsenter.args(["--mount", "--target", &beside.id().to_string()]);
    let words = [
        "run",
        &target,
        "--samples",
        "1",
        "--verify",
        "never",
        "--no-limits",
        "--yes",
        &export_argument,
    ];
    let samples = traced(
        &made.program,
        extended(nsenter, &strace()),
        &[&words[..], &by_case(&names)].concat(),
    );
    kill(beside.id(), "INT")?;
    beside.wait()?;
    let samples = samples?;
    let document: Value = serde_json::from_str(&std::fs::read_to_string(export)?)?;
    let mut kept = 0;
    for (case, calls) in promises {
        let row = document["cases"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|row| row["name"] == *case);
        if row.context("a row")?["outcome"] != "ok" {
            continue;
        }
        kept += 1;
        let promised = promise_of(calls);
        // Samples of other cases share the kept file: an earlier one may have left it, and a later one may remove it.
        let size_bytes = Case::parse(case)?.given().size_bytes;
        let forms = [with_kept_file(&promised, size_bytes), Some(promised)];
        let is_form = |found: &Calls| {
            let mut forms = forms.iter().flatten();
            forms.any(|form| found == form || *found == before_useless_file(form))
        };
        ensure!(
            samples.iter().any(is_form),
            "{case} on {kind}: no sample of {samples:#?} did that"
        );
    }
    ensure!(
        kept * 2 > names.len(),
        "only {kept} of {} could be looked at",
        names.len()
    );
    made.is_gone()
}

const SMALL: [&str; 4] = ["--case", "write,size=1MiB", "--samples", "6"];

fn one_table() -> Result<()> {
    let made = Made::new()?;
    let shown = made.call(
        &[
            &["--on", "ext4,nonsense,xfs", "--export=markdown=-"],
            &SMALL[..],
        ]
        .concat(),
        0,
    )?;
    let text = &shown.stdout;
    let heading = text
        .lines()
        .find(|line| line.starts_with("| case |"))
        .context("a heading")?;
    let place = |name: &str| {
        heading
            .find(name)
            .with_context(|| format!("{name} in {heading}"))
    };
    ensure!(
        place("ext4 GB/s")? < place("xfs GB/s")? && !heading.contains("nonsense"),
        "{heading}"
    );
    ensure!(
        text.contains("nonsense: mkfs.nonsense is not installed"),
        "{text}"
    );
    ensure!(
        shown.stderr.contains("Made ext4: mkfs.ext4 "),
        "{}",
        shown.stderr
    );
    let none = made.call(&[&["--on", "nonsense"], &SMALL[..]].concat(), 1)?;
    let is_line = none
        .stderr
        .lines()
        .filter(|line| line.starts_with("writebench: "))
        .count()
        == 1;
    ensure!(
        is_line
            && none
                .stderr
                .contains("none of the filesystems could be made: nonsense: "),
        "{none:?}"
    );
    Ok(())
}

fn too_small() -> Result<()> {
    let made = Made::new()?;
    let large = [
        "--case",
        "write,size=320MiB",
        "--samples",
        "1",
        "--no-limits",
    ];
    let small = ["--on", "ext4,xfs", "--mkfs-options", "xfs=-d size=310m"];
    let document = made.run(&[&small[..], &large[..]].concat(), 0)?;
    let missing = &document["missing_targets"][0];
    ensure!(missing["name"] == "xfs", "{}", document["missing_targets"]);
    ensure!(
        missing["reason"]
            .as_str()
            .is_some_and(|why| why.contains("not enough free space")),
        "{missing}"
    );
    ensure!(
        document["targets"][0]["name"] == "ext4" && document["cases"][0]["outcome"] == "ok",
        "{document}"
    );
    Ok(())
}

fn options() -> Result<()> {
    let made = Made::new()?;
    let given = [
        "--mkfs-options",
        "ext4=-b 1024 -L 'a label'",
        "--mount-options",
        "ext4=noatime,data=writeback",
    ];
    let document = made.run(&[&["--on", "ext4,xfs"], &given[..], &SMALL[..]].concat(), 0)?;
    let (ext4, xfs) = (&document["targets"][0], &document["targets"][1]);
    ensure!(
        ext4["environment"]["filesystem"]["block_size_bytes"] == 1024,
        "{ext4}"
    );
    let mounted = ext4["environment"]["filesystem"]["mount_options"]
        .as_str()
        .context("options")?;
    ensure!(
        mounted.contains("noatime") && mounted.contains("data=writeback"),
        "{mounted}"
    );
    let making = &ext4["made_filesystem"];
    ensure!(
        making["mkfs_options"] == serde_json::json!(["-b", "1024", "-L", "a label"]),
        "{making}"
    );
    ensure!(
        making["mount_options"] == "noatime,data=writeback",
        "{making}"
    );
    ensure!(
        making["commands"][0]
            .as_str()
            .is_some_and(|command| command.contains("-b 1024")),
        "{making}"
    );
    ensure!(xfs["made_filesystem"]["mount_options"].is_null(), "{xfs}");
    let bad = made.run(
        &[
            &["--on", "ext4,xfs", "--mkfs-options", "ext4=-b 77"],
            &SMALL[..],
        ]
        .concat(),
        0,
    )?;
    ensure!(
        bad["missing_targets"][0]["name"] == "ext4",
        "{}",
        bad["missing_targets"]
    );
    ensure!(
        bad["missing_targets"][0]["reason"]
            .as_str()
            .is_some_and(|why| why.contains("mkfs.ext4")),
        "{}",
        bad["missing_targets"]
    );
    Ok(())
}

fn image_share() -> Result<()> {
    let (program, disk) = (program()?, directory_on(Kind::Ext4));
    let directory = disk.path().to_str().context("UTF-8")?;
    let words = [
        "fs",
        directory,
        "--images",
        directory,
        "--on",
        "ext4,ext4-no-journal",
        "--case",
        "write,size=1MiB",
    ];
    // Disturbed samples leave too few of six.
    let ended = program.call(&[&words[..], &["--samples", "15"]].concat())?;
    ensure!(ended.code == Some(0), "{ended:#?}");
    let sentence = ended
        .stdout
        .lines()
        .find(|line| line.contains("in an image in"))
        .context("a sentence")?;
    ensure!(
        sentence.starts_with("ext4 in an image in") && sentence.contains(" times as long as "),
        "{sentence}"
    );
    ensure!(entries(disk.path()).is_empty(), "left behind");
    Ok(())
}

fn images() -> Result<()> {
    let (program, disk) = (program()?, directory_on(Kind::Ext4));
    let directory = disk.path().to_str().context("UTF-8")?;
    let export = program.home().join("export.json");
    let export_argument = format!("--export=json={}", export.display());
    let words = [
        "fs",
        "--images",
        directory,
        "--on",
        "btrfs-raid0,tmpfs",
        &export_argument,
    ];
    let ended = program.call(&[&words[..], &SMALL[..]].concat())?;
    ensure!(ended.code == Some(0), "{ended:#?}");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(export)?)?;
    let images = document["targets"][0]["made_filesystem"]["images"]
        .as_array()
        .context("images")?;
    ensure!(images.len() == 2, "two devices");
    for image in images {
        ensure!(
            image["direct_io"] == true && image["direct_io_refused"].is_null(),
            "{image}"
        );
        ensure!(
            image["directory"] == directory && image["directory_filesystem"] == "ext4",
            "{image}"
        );
    }
    ensure!(
        document["targets"][1]["made_filesystem"]["images"] == serde_json::json!([]),
        "in memory"
    );
    Ok(())
}

fn dry_run() -> Result<()> {
    let made = Made::new()?;
    let shown = made
        .call(
            &[&["--on", "ext4,tmpfs,overlay", "--dry-run"], &SMALL[..]].concat(),
            0,
        )?
        .stdout;
    for line in [
        "ext4, in ",
        "tmpfs, in memory",
        "overlay:ext4, in ",
        "overlay:tmpfs, in memory",
    ] {
        ensure!(
            shown.lines().any(|shown_line| shown_line.starts_with(line)),
            "{line} in {shown}"
        );
    }
    let line = "1 case × 6 samples into ext4 and tmpfs and overlay:ext4 and overlay:tmpfs: 24 MiB to be written";
    ensure!(
        shown.contains(line) && shown.contains("more for images, written once"),
        "{shown}"
    );
    Ok(())
}

fn no_resume() -> Result<()> {
    let made = Made::new()?;
    let document = made.run(
        &[
            &["--on", "ext4", "--max-bytes", "540MiB"],
            &SMALL[..],
            &["--case", "pwrite,size=8MiB"],
        ]
        .concat(),
        0,
    )?;
    ensure!(
        document["run"]["status"] == "limited",
        "{}",
        document["run"]
    );
    for arguments in [&["run", "--resume=1"][..], &["run", "--resume"][..]] {
        let refused = made.program.call(arguments)?;
        ensure!(refused.code == Some(2), "{refused:?}");
        let why = ["made filesystems that no longer exist", "no unfinished run"];
        ensure!(
            why.iter().any(|why| refused.stderr.contains(why)),
            "{refused:?}"
        );
    }
    Ok(())
}

fn refusals() -> Result<()> {
    let made = Made::new()?;
    for (more, code, expected) in [
        (&["--on", "ext4,ext4"][..], 2, "is given twice"),
        (&["--on", "overlay"], 2, "on which filesystem?"),
        (&["--on", "EXT4"], 2, "is not a kind of filesystem"),
        (
            &["--on", "overlay:fuse:ext4"],
            2,
            "is not a kind of filesystem",
        ),
        (
            &["--on", "ext4", "--mount-options", "xfs=noatime"],
            2,
            "the run does not make this kind",
        ),
        (
            &["--on", "ext4", "--mount-options", "noatime"],
            2,
            "expected KIND=OPTIONS",
        ),
        (
            &["--on", "tmpfs", "--mkfs-options", "tmpfs=-q"],
            2,
            "has no mkfs",
        ),
        (
            &["--on", "ext4", "--max-bytes", "1MiB"],
            2,
            "is less than the images",
        ),
        (&["--on", "ext4", "--size", "1TiB"], 3, "not enough memory"),
        (&["/nowhere", "--on", "ext4"], 2, "/nowhere"),
    ] {
        let ended = made.call(more, code)?;
        let lines = ended.stderr.trim_end().lines().count();
        ensure!(
            lines == 1 && ended.stderr.contains(expected),
            "'{expected}' in {ended:?}"
        );
    }
    let ended = made
        .program
        .call(&["fs", "--images", "/nowhere", "--on", "ext4"])?;
    ensure!(
        ended.code == Some(2) && ended.stderr.contains("--images /nowhere"),
        "{ended:?}"
    );
    Ok(())
}

fn unprivileged() -> Result<()> {
    let (program, shared) = (program()?, tempfile::tempdir()?);
    let mut open = Command::new("chmod");
    ensure!(open.arg("777").arg(shared.path()).status()?.success());
    // The directory of the binary may be private to root.
    let binary = shared.path().join("writebench");
    std::fs::copy(program.binary(), &binary)?;
    let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let output = Command::new("setpriv")
        .args(nobody)
        .arg(&binary)
        .args(["fs", "--on", "ext4", "--case", "write,size=1MiB", "--db"])
        .arg(shared.path().join("mine/db"))
        .current_dir(shared.path())
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(
        stderr.lines().count() == 1 && stderr.contains("needs root (CAP_SYS_ADMIN)"),
        "{stderr}"
    );
    Ok(())
}

fn is_alive(process: u32) -> bool {
    // A zombie counts as ended.
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && !line.contains('Z'))
}

fn kill(process: u32, signal: &str) -> Result<()> {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), &process.to_string()])
        .status()?;
    ensure!(status.success(), "kill -{signal} {process}");
    Ok(())
}

/// Ends several runs, while they make filesystems and while they measure.
fn ends(ending: &str, code: i32) -> Result<()> {
    let made = Made::new()?;
    let kinds = ["--on", "ext4,fuse:ext4,xfs,overlay:xfs"];
    let long = [
        "--case",
        "write,size=4MiB",
        "--case",
        "mmap,size=4MiB",
        "--samples",
        "2000",
        "--yes",
    ];
    match ending {
        "the end" => made
            .call(&[&kinds[..], &SMALL[..]].concat(), code)
            .map(|_| ()),
        "an error" => {
            // The export fails after all is measured.
            let gone = tempfile::tempdir()?;
            let export = format!("--export=json={}/deep/file", gone.path().display());
            std::fs::create_dir(gone.path().join("deep"))?;
            let child = made.start(&[&kinds[..], &SMALL[..], &[export.as_str()]].concat())?;
            wait_for("a filesystem", || (!made.loops().is_empty()).then_some(()))?;
            std::fs::remove_dir(gone.path().join("deep"))?;
            let output = child.wait_with_output()?;
            ensure!(output.status.code() == Some(code), "{output:?}");
            ensure!(
                String::from_utf8_lossy(&output.stderr).contains("cannot write"),
                "{output:?}"
            );
            made.is_gone()
        }
        signal => {
            // A handler cleans up after INT and TERM, and the kernel after KILL.
            let moments = if signal == "KILL" {
                &[0, 100, 300, 700, 1500, 2500][..]
            } else {
                &[0, 300, 1500]
            };
            for &milliseconds in moments {
                let child = made.start(&[&kinds[..], &long[..]].concat())?;
                std::thread::sleep(Duration::from_millis(milliseconds));
                let family = [vec![child.id()], descendants(child.id())].concat();
                kill(child.id(), signal)?;
                let output = child.wait_with_output()?;
                let ended = output.status.code();
                // Before the handler is installed, a signal kills the program.
                ensure!(ended.unwrap_or(-1) == code || ended.is_none(), "{output:?}");
                made.is_gone()
                    .with_context(|| format!("SIG{signal} after {milliseconds} ms"))?;
                wait_for("its processes to end", || {
                    (!family.iter().any(|process| is_alive(*process))).then_some(())
                })?;
            }
            Ok(())
        }
    }
}
