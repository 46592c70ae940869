//! The command that cuts the power of a user's program.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_testkit::{Ended, Need, Trials, call, loop_devices, wait_for};

use crate::program;
use crate::terminal::Terminal;

pub(crate) fn add(trials: &mut Trials) {
    let xfs = [Need::Fuse, Need::Image("xfs")];
    let ext4 = [Need::Fuse, Need::Image("ext4")];
    trials.add(
        "powerloss: a renamed file without its fsync is unsafe, and its place in the time line is marked",
        &xfs,
        unsafe_rename,
    );
    trials.add(
        "powerloss: a file with its fsyncs is safe",
        &[&ext4[..], &xfs, &[Need::Image("btrfs")]].concat(),
        safe_rename,
    );
    trials.add(
        "powerloss: the kept disk can be mounted and has the reason",
        &xfs,
        kept_disk,
    );
    for (order, is_safe) in [
        ("echo new > {dir}/f; echo durable; sync {dir}/f", false),
        ("echo new > {dir}/f; sync {dir}/f {dir}; echo durable", true),
        (
            "echo new > {dir}/f; echo . > $WRITEBENCH_DURABLE_FILE; sync {dir}/f",
            false,
        ),
        (
            "echo new > {dir}/f; sync {dir}/f {dir}; echo . > $WRITEBENCH_DURABLE_FILE",
            true,
        ),
    ] {
        let verdict = if is_safe { "safe" } else { "unsafe" };
        trials.add(
            format!("powerloss: `{order}` is {verdict} by its own word"),
            &ext4,
            move || own_word(order, is_safe),
        );
    }
    trials.add(
        "powerloss: links, pipes, modes and times are in the time line",
        &ext4,
        all_changes,
    );
    trials.add(
        "powerloss: what the program leaves running in the directory ends with it",
        &ext4,
        background,
    );
    trials.add(
        "powerloss: --verify decides with the number of promises",
        &ext4,
        verified,
    );
    trials.add(
        "powerloss: a wrong use is refused with the remedy",
        &ext4,
        refused,
    );
    trials.add(
        "powerloss: a terminal shows the progress of each recording, unless it is quiet",
        &xfs,
        progress,
    );
    for (is_safe, code) in [(true, 1), (false, 5)] {
        let verdict = if is_safe { "a safe" } else { "an unsafe" };
        trials.add(
            format!("powerloss: an error on the second filesystem keeps the result of {verdict} first one"),
            &[&ext4[..], &xfs].concat(),
            move || error_on_second(is_safe, code),
        );
    }
    let denied = [&ext4[..], &[Need::Program("capsh"), Need::Strace]].concat();
    trials.add(
        "powerloss: what is missing is named before the setup runs",
        &denied,
        missing,
    );
    trials.add(
        "powerloss: the exports have the verdict of each filesystem",
        &[&ext4[..], &xfs].concat(),
        exports,
    );
    for (case, options) in [
        ("write,sync=fsync", &["--lang", "c", "--atomic"][..]),
        ("pwrite,cache=direct,sync=fdatasync", &["--lang", "cpp"]),
        ("write-files,sync-files=syncfs", &["--lang", "c"]),
        ("write,sync=fsync", &["--lang", "python", "--atomic"]),
    ] {
        trials.add(
            format!(
                "powerloss: the commands of `code {case} {} --powerloss` prove it",
                options.join(" ")
            ),
            &[
                &ext4[..],
                &xfs,
                &[Need::Image("btrfs"), Need::Program("c++")],
            ]
            .concat(),
            move || printed_commands(case, options),
        );
    }
    trials.add(
        "powerloss: the how-to's save is unsafe on xfs, and safe with both repairs",
        &[&xfs[..], &[Need::Program("cc")]].concat(),
        how_to,
    );
    for (signal, code) in [("INT", Some(130)), ("KILL", None)] {
        trials.add(
            format!("powerloss: SIG{signal} leaves no mount, loop device or process"),
            &ext4,
            move || ended_by(signal, code),
        );
    }
}

const SET_UP: &str = "echo old > {dir}/f";
const WRONG: &str = "echo new > {dir}/f.tmp; mv {dir}/f.tmp {dir}/f";
const RIGHT: &str = "echo new > {dir}/f.tmp; sync {dir}/f.tmp; mv {dir}/f.tmp {dir}/f; sync {dir}";

fn powerloss(more: &[&str], code: i32) -> Result<Ended> {
    let ended = program()?.call(&[&["powerloss"], more].concat())?;
    ensure!(
        ended.code == Some(code),
        "expected exit code {code}: {ended:#?}"
    );
    Ok(ended)
}

fn all_changes() -> Result<()> {
    const CHANGES: &str = "cd {dir}; ln -s x l; mkfifo p; touch f; chmod 600 f";
    let arguments = [
        "--on",
        "ext4",
        "--command",
        CHANGES,
        "--verify",
        "true",
        "--max-states",
        "2",
        "--export",
        "json=-",
    ];
    let found: Value = serde_json::from_str(&powerloss(&arguments, 0)?.stdout)?;
    let calls = found["powerloss"][0]["recordings"][0]["calls"].to_string();
    // Versions of these programs call different members of a family.
    for (family, file) in [
        ("symlink", "(l)"),
        ("mknod", "(p)"),
        ("utime", "(f)"),
        ("chmod", "(f)"),
    ] {
        let is_there = calls
            .split('"')
            .any(|call| call.contains(family) && call.ends_with(file));
        ensure!(is_there, "{family}{file} in {calls}");
    }
    Ok(())
}

/// The shell mostly ends before its child has begun. Each run records twice.
fn background() -> Result<()> {
    const LEAVES: &str = "cd {dir}; sleep 1000 & echo x > f";
    for _ in 0..4 {
        let arguments = [
            "--on",
            "ext4",
            "--command",
            LEAVES,
            "--verify",
            "true",
            "--max-states",
            "2",
        ];
        powerloss(&arguments, 0)?;
    }
    Ok(())
}

fn error_on_second(is_safe: bool, code: i32) -> Result<()> {
    let promise = if is_safe {
        "sync {dir}/f {dir}; echo durable"
    } else {
        "echo durable"
    };
    let command =
        format!("[ $(stat -f -c %T {{dir}}) != xfs ] || exit 9; echo new > {{dir}}/f; {promise}");
    let ended = powerloss(&["--on", "ext4,xfs", "--command", &command], code)?;
    let verdict = if is_safe { "safe" } else { "UNSAFE" };
    let first = ended.stdout.lines().next().unwrap_or_default();
    ensure!(
        first.starts_with("ext4") && ended.stdout.contains(verdict),
        "{}",
        ended.stdout
    );
    let error = "xfs, without a power loss: the program ended with exit code 9";
    ensure!(ended.stderr.contains(error), "{}", ended.stderr);
    Ok(())
}

fn unsafe_rename() -> Result<()> {
    let ended = powerloss(&["--on", "xfs", "--setup", SET_UP, "--command", WRONG], 5)?;
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let [verdict, before @ .., mark, after, advice] = lines.as_slice() else {
        anyhow::bail!("too few lines: {}", ended.stdout);
    };
    let is_marked = mark.starts_with("  > ")
        && mark.contains(" UNSAFE here. Number ")
        && mark.ends_with(": f is empty");
    ensure!(
        verdict.ends_with(" UNSAFE") && is_marked && advice.contains("add --keep DIR"),
        "{}",
        ended.stdout
    );
    let names = before
        .iter()
        .map(|call| call.split('(').next().unwrap_or_default().trim());
    // mv(1) calls one of several.
    let names: Vec<&str> = names
        .map(|name| {
            if name.starts_with("rename") {
                "rename"
            } else {
                name
            }
        })
        .collect();
    ensure!(
        names == ["openat", "close", "write", "rename"],
        "{}",
        ended.stdout
    );
    ensure!(*after == "    the end of the program", "{after}");
    Ok(())
}

fn safe_rename() -> Result<()> {
    let words = ["--setup", SET_UP, "--command", RIGHT, "--durable-at-exit"];
    let options = ["--mount-options", "noatime"];
    let ended = powerloss(&[&words[..], &options].concat(), 0)?;
    let lines: Vec<&str> = ended.stdout.lines().collect();
    ensure!(lines.len() == 3, "{}", ended.stdout);
    for (line, kind) in lines.iter().zip(["ext4", "xfs", "btrfs"]) {
        let is_safe = line.starts_with(kind) && line.ends_with("power losses: all safe");
        ensure!(is_safe, "{line}");
    }
    Ok(())
}

fn kept_disk() -> Result<()> {
    let keep = tempfile::tempdir()?;
    let folder = keep.path().to_str().context("UTF-8")?;
    let words = ["--on", "xfs", "--setup", SET_UP, "--command", WRONG];
    let words = [&words[..], &["--keep", folder]].concat();
    let ended = powerloss(&words, 5)?;
    let said = |line: &str| Some(line.split_once("  To look at number ")?.1.to_owned());
    let line = ended.stdout.lines().find_map(said);
    let line = line.with_context(|| format!("no command: {}", ended.stdout))?;
    let (_, command) = line.split_once(": ").context("a number")?;
    let point = tempfile::tempdir()?;
    // xfs recovers its journal at the mount.
    let command = replaced(command, "/mnt", &point.path().display().to_string())?;
    call(Command::new("sh").args(["-c", &command]))?;
    let content = std::fs::read_to_string(point.path().join("f"));
    call(Command::new("umount").arg(point.path()))?;
    ensure!(
        content?.is_empty(),
        "the file is neither old nor new, but not empty"
    );
    let again = powerloss(&words, 2)?;
    ensure!(again.stderr.contains("it is not empty"), "{}", again.stderr);
    Ok(())
}

fn own_word(order: &str, is_safe: bool) -> Result<()> {
    let code = if is_safe { 0 } else { 5 };
    let ended = powerloss(&["--on", "ext4", "--command", order], code)?;
    let is_named = is_safe || ended.stdout.contains("f is missing");
    ensure!(is_named, "{}", ended.stdout);
    Ok(())
}

/// Two records, of which the second is said to be durable before its sync.
fn verified() -> Result<()> {
    let record = "echo 1 >> {dir}/log; sync {dir}/log {dir}; echo durable; ";
    let early = "echo 2 >> {dir}/log; echo durable; sync {dir}/log";
    let late = "echo 2 >> {dir}/log; sync {dir}/log; echo durable";
    let verify = "n=$(cat {dir}/log 2>/dev/null | wc -l); test $n -ge $WRITEBENCH_DURABLE || \
                  { echo $n records; exit 1; }";
    let words = ["--on", "ext4", "--verify", verify];
    let wrong = record.to_owned() + early;
    let ended = powerloss(&[&words[..], &["--command", &wrong]].concat(), 5)?;
    ensure!(ended.stdout.contains("Number"), "{}", ended.stdout);
    let right = record.to_owned() + late;
    powerloss(&[&words[..], &["--command", &right]].concat(), 0)?;
    Ok(())
}

fn refused() -> Result<()> {
    for (words, code, message) in [
        (
            "--on ext4 --command|echo x > {dir}/f",
            2,
            "promises nothing that can be checked",
        ),
        (
            "--on ext4 --command|mkdir {dir}/d; echo durable",
            2,
            "it left no regular file, so there is nothing to check. Use --verify",
        ),
        (
            "--on ext4 --disk-size 1024TiB --command true",
            1,
            "nothing was tried: a disk of 1024 TiB is in memory, and this machine has",
        ),
        (
            "--on ext4 --command|echo why; exit 3",
            1,
            "the program ended with exit code 3: why",
        ),
        (
            "--on ext4 --command true --setup|exit 4",
            1,
            "the setup ended with exit code 4",
        ),
        (
            "--on tmpfs --command true",
            2,
            "tmpfs is not on one disk. Use ext4, xfs or btrfs",
        ),
        (
            "--on ext4 --timeout 200ms --command|sleep 60",
            1,
            "was killed after its time limit (--timeout)",
        ),
        (
            "--on ext4 --command|kill -SEGV $$",
            1,
            "the program was killed by SIGSEGV",
        ),
        (
            "--export csv=x --command true",
            2,
            "use json=FILE or junit=FILE",
        ),
        (
            "--keep /missing/folder --command true",
            2,
            "Make an empty directory first",
        ),
        (
            "--on ext4 --durable-at-exit --budget 1ms --command|echo x > {dir}/f",
            1,
            "--budget ended before a power loss was checked",
        ),
        (
            "--on ext4 --verify ./missing --command true",
            1,
            "the check already fails after the program, without a power loss",
        ),
        (
            "--on ext4 --timeout 300ms --command true --setup|sleep 772 & sleep 60",
            1,
            "the setup was killed after its time limit",
        ),
    ] {
        let (options, command) = words.split_once('|').unwrap_or((words, ""));
        let last = (!command.is_empty()).then_some(command);
        let words: Vec<&str> = options.split(' ').chain(last).collect();
        let ended = powerloss(&words, code)?;
        ensure!(
            ended.stderr.contains(message),
            "{words:?}: {}",
            ended.stderr
        );
        ensure!(ended.stdout.is_empty(), "{}", ended.stdout);
    }
    Ok(())
}

fn progress() -> Result<()> {
    for (quiet, is_shown) in [(&[][..], true), (&["--quiet"], false)] {
        let words = [
            "powerloss",
            "--on",
            "xfs",
            "--setup",
            SET_UP,
            "--command",
            WRONG,
        ];
        let command = program()?.command(&[&words[..], quiet].concat());
        let (status, shown) = Terminal::start(&command, 100)?.end()?;
        ensure!(status.code() == Some(5), "{status}: {shown}");
        for number in [1, 2] {
            let line = format!("  xfs, recording {number} of 2: ");
            ensure!(shown.contains(&line) == is_shown, "{line}: {shown}");
        }
        // The line is gone before the results.
        ensure!(
            shown.contains("xfs      ") && shown.contains(" UNSAFE"),
            "{shown}"
        );
    }
    Ok(())
}

/// Each shell begins the program where something is missing.
fn missing() -> Result<()> {
    // A device does not work on a filesystem mounted with nodev.
    const WITHOUT: &str =
        "mount -t tmpfs -o nodev none /srv; mknod /srv/d c 10 229; mount --bind /srv/d $0; \"$@\"";
    for (before, named, remedy) in [
        (
            &["capsh", "--drop=cap_sys_admin", "--", "-c", "\"$@\"", "sh"][..],
            "needs root (CAP_SYS_ADMIN): unshare(CLONE_NEWNS): Operation not permitted (1)",
            "Run it as root, and a container with --privileged",
        ),
        (
            &["unshare", "--user", "--map-root-user"],
            "needs root outside of user namespaces",
            "not in a rootless container",
        ),
        (
            &["unshare", "--mount", "sh", "-c", WITHOUT, "/dev/fuse"],
            "no disk in memory without FUSE: open /dev/fuse: Permission denied (13)",
            "--device /dev/fuse",
        ),
        (
            &[
                "unshare",
                "--mount",
                "sh",
                "-c",
                WITHOUT,
                "/dev/loop-control",
            ],
            "no loop device: open /dev/loop-control: Permission denied (13)",
            "In a container, pass it /dev/loop-control",
        ),
        (
            &["strace", "-f", "-o", "/dev/null"],
            "programs cannot be traced: ptrace(PTRACE_TRACEME): Operation not permitted (1)",
            "--cap-add SYS_PTRACE",
        ),
    ] {
        let folder = tempfile::tempdir()?;
        let trace = folder.path().join("set up");
        let program = program()?;
        let output = Command::new(before[0])
            .args(&before[1..])
            .arg(program.binary())
            .args(["powerloss", "--on", "ext4", "--durable-at-exit"])
            .args(["--setup", &format!("touch '{}'", trace.display())])
            .args(["--command", "echo new > {dir}/f"])
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(1)
                && said.starts_with("writebench: nothing was tried: ")
                && said.contains(named)
                && said.contains(remedy),
            "{before:?}: {output:?}"
        );
        ensure!(!trace.exists(), "{before:?}: the setup ran");
    }
    Ok(())
}

fn exports() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [json, junit] = ["json", "junit"].map(|format| format!("{format}={}", path(format)));
    let words = ["--on", "ext4,xfs", "--setup", SET_UP, "--command", WRONG];
    powerloss(
        &[&words[..], &["--export", &json, "--export", &junit]].concat(),
        5,
    )?;
    let found: Value = serde_json::from_str(&std::fs::read_to_string(path("json"))?)?;
    let xfs = &found["powerloss"][1];
    ensure!(xfs["filesystem"] == "xfs", "{found}");
    let first = &xfs["unsafe"][0];
    ensure!(
        first["reason"] == "f is empty" && first["number"].is_u64(),
        "{first}"
    );
    let place = |key: &str| {
        first[key]
            .as_u64()
            .context("a place")?
            .try_into()
            .context("a place")
    };
    let (recording, calls_before): (usize, usize) = (place("recording")?, place("calls_before")?);
    let calls = &xfs["recordings"][recording]["calls"];
    let last = calls_before.checked_sub(1).context("a call before")?;
    ensure!(
        first["after"] == calls[last] && first["before"] == calls[calls_before],
        "{xfs}"
    );
    ensure!(first["image"].is_null(), "{first}");
    for (commits, recording) in [false, true]
        .into_iter()
        .zip(xfs["recordings"].as_array().context("recordings")?)
    {
        ensure!(recording["commits"] == commits, "{recording}");
        let last = recording["calls"].as_array().and_then(|calls| calls.last());
        ensure!(
            last == Some(&"the end of the program".into()),
            "{recording}"
        );
    }
    let checked = xfs["checked"].as_u64().context("checked")?;
    ensure!(Some(checked) == xfs["possible"].as_u64(), "{xfs}");
    let junit = std::fs::read_to_string(path("junit"))?;
    ensure!(
        junit.contains("name=\"xfs\"")
            && junit.contains("power losses are unsafe. The first is after rename"),
        "{junit}"
    );
    Ok(())
}

fn printed_commands(case: &str, options: &[&str]) -> Result<()> {
    let program = program()?;
    let ended = program.call(&[&["code", case, "--powerloss"], options].concat())?;
    ensure!(ended.code == Some(0), "{ended:?}");
    let folder = tempfile::tempdir()?;
    let binaries = program.binary().parent().context("a folder")?;
    let path = std::env::var("PATH")?;
    let output = Command::new("sh")
        .args(["-ec", &ended.stdout])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", binaries.display()))
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && said.matches("all safe").count() == 3,
        "{}\n{output:?}",
        ended.stdout
    );
    Ok(())
}

fn how_to() -> Result<()> {
    let text = std::fs::read_to_string("../../docs/how-to/prove-power-loss.md")?;
    let blocks: Vec<&str> = text.split("```c\n").skip(1).collect();
    let block = |number: usize| {
        let block = blocks.get(number).context("a block of C")?;
        block.split("```").next().context("its end")
    };
    let wrong = block(0)?.to_owned();
    let half = replaced(
        &wrong,
        "if (close(fd) != 0)",
        "if (fsync(fd) != 0 || close(fd) != 0)",
    )?;
    let right = replaced(&half, "    return rename(temp, path);\n", block(1)?)?;
    let at_exit = &["--durable-at-exit"][..];
    for (source, promise, code, said) in [
        (wrong, &[][..], 5, "config is empty"),
        (half, at_exit, 5, "config has its old content"),
        (right, at_exit, 0, "all safe"),
    ] {
        let folder = tempfile::tempdir()?;
        let program = folder.path().join("save");
        std::fs::write(folder.path().join("save.c"), source)?;
        call(
            Command::new("cc")
                .args(["-O2", "-Wall", "-Werror", "-o"])
                .args([&program, &folder.path().join("save.c")]),
        )?;
        let save = program.display();
        let old = format!("{save} {{dir}} old");
        let new = format!("{save} {{dir}} new");
        let words = ["--on", "xfs", "--setup", &old, "--command", &new];
        let ended = powerloss(&[&words[..], promise].concat(), code)?;
        ensure!(ended.stdout.contains(said), "no {said}: {}", ended.stdout);
    }
    Ok(())
}

fn replaced(text: &str, old: &str, new: &str) -> Result<String> {
    ensure!(text.contains(old), "no {old} in {text}");
    Ok(text.replace(old, new))
}

/// The size of the disk tells its loop device from those of other tests.
fn ended_by(signal: &str, code: Option<i32>) -> Result<()> {
    const LONG: &str = "for i in 1 2 3 4 5 6 7 8 9; do echo $i > {dir}/f$i; sync {dir}/f$i; done";
    // A size that no other device has.
    let size_bytes: u64 = if code.is_some() { 300 << 20 } else { 301 << 20 } + (76 << 10);
    let left = || loop_devices_of(size_bytes);
    for milliseconds in [0, 100, 300, 700, 1500] {
        let child = program()?.start(&[
            "powerloss",
            "--on",
            "ext4",
            "--disk-size",
            &size_bytes.to_string(),
            "--command",
            LONG,
            "--durable-at-exit",
        ])?;
        std::thread::sleep(Duration::from_millis(milliseconds));
        call(Command::new("kill").args([format!("-{signal}"), child.id().to_string()]))?;
        let output = child.wait_with_output()?;
        let ended = output.status.code();
        // It may have ended before the signal, or got it before its handler was there.
        let is_expected = ended == code || ended == Some(0) || ended.is_none();
        ensure!(is_expected, "{output:?}");
        wait_for("the loop device to be detached", || {
            left().is_empty().then_some(())
        })
        .with_context(|| format!("SIG{signal} after {milliseconds} ms: {:?}", left()))?;
    }
    Ok(())
}

fn loop_devices_of(size_bytes: u64) -> Vec<PathBuf> {
    const SECTOR_BYTES: u64 = 512;
    let has_size = |device: &PathBuf| {
        let sectors = std::fs::read_to_string(device.join("size")).unwrap_or_default();
        sectors.trim().parse() == Ok(size_bytes / SECTOR_BYTES)
    };
    let devices = loop_devices().into_iter().map(|(device, _)| device);
    devices.filter(has_size).collect()
}
