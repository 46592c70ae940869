use std::process::Command;

use anyhow::{Result, ensure};
use writebench_testkit::{Kind, Need, Trials, directory_on};

use crate::kept::{COMMAND, Kept, loops_over, request};

pub(crate) fn add(trials: &mut Trials) {
    let ext4 = [Need::Image("ext4")];
    let bindfs = [Need::Image("ext4"), Need::Bindfs];
    trials.add(
        "a filesystem that cannot be made leaves nothing and gives a one-line reason",
        &bindfs,
        says_why,
    );
    trials.add(
        "a missing bindfs is reported before an image is made",
        &[Need::Root],
        no_bindfs,
    );
    trials.add(
        "a missing mkfs is reported with its package",
        &[Need::Root],
        no_mkfs,
    );
    trials.add(
        "too little space is reported with numbers before anything is written",
        &ext4,
        too_little_space,
    );
    let unprivileged = [Need::LoopDevice, Need::Program("setpriv")];
    trials.add(
        "a lack of privileges is reported in one line",
        &unprivileged,
        without_rights,
    );
}

fn says_why() -> Result<()> {
    let cases = [
        (
            request("nonsense", &[], None),
            "mkfs.nonsense is not installed",
        ),
        (
            request("ext4", &["-b", "1000"], None),
            "mkfs.ext4: invalid block size - 1000",
        ),
        (
            request("ext4", &["-Z"], None),
            "mkfs.ext4: invalid option -- 'Z'",
        ),
        (request("xfs", &["-Z"], None), "unknown option -Z"),
        (
            request("btrfs", &["--made-up"], None),
            "mkfs.btrfs: unrecognized option '--made-up'",
        ),
        (request("ext4", &[], Some("made_up=1")), "mount: "),
        (request("tmpfs", &[], Some("made_up=1")), "mount: "),
        (request("overlay:ext4", &[], Some("made_up=1")), "mount: "),
        (request("fuse:ext4", &[], Some("made_up=1")), "made_up=1"),
    ];
    let requests: Vec<_> = cases.iter().map(|(request, _)| request.clone()).collect();
    let kept = Kept::start(Kind::Tmpfs, 0, &requests)?.made()?;
    for (index, (request, expected)) in cases.iter().enumerate() {
        let error = kept.error(index)?;
        ensure!(
            error.contains(expected) && !error.contains('\n'),
            "{request}: {error}"
        );
    }
    ensure!(loops_over(kept.images()).is_empty());
    kept.remove()
}

fn no_bindfs() -> Result<()> {
    reports_missing(
        "fuse:ext4",
        "bindfs is not installed: install the package bindfs (Debian's name)",
    )
}

fn no_mkfs() -> Result<()> {
    reports_missing(
        "f2fs",
        "mkfs.f2fs is not installed: install the package f2fs-tools",
    )
}

fn reports_missing(kind: &str, expected: &str) -> Result<()> {
    let images = directory_on(Kind::Tmpfs);
    let mut command = Command::new(std::env::current_exe()?);
    command
        .env("PATH", "/nowhere")
        .arg(COMMAND)
        .arg(images.path())
        .arg("0");
    let output = command.arg(request(kind, &[], None).to_string()).output()?;
    let said = String::from_utf8(output.stdout)?;
    let expected = format!("{{\"error\":\"{expected}");
    ensure!(
        said.lines()
            .next()
            .is_some_and(|line| line.starts_with(&expected)),
        "{said}"
    );
    Ok(())
}

fn too_little_space() -> Result<()> {
    let kept = Kept::start(Kind::Ext4, 1 << 50, &[request("ext4", &[], None)])?.made()?;
    let error = kept.error(0)?;
    ensure!(
        error.starts_with("not enough free space in ") && error.contains("in reserve"),
        "{error}"
    );
    kept.remove()
}

fn without_rights() -> Result<()> {
    let images = directory_on(Kind::Tmpfs);
    // Access to the directory is also missing.
    let program = tempfile::Builder::new()
        .prefix("writebench-test-")
        .tempdir_in("/dev/shm")?;
    let copy = program.path().join("test");
    std::fs::copy(std::env::current_exe()?, &copy)?;
    std::fs::set_permissions(
        program.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )?;
    let mut command = Command::new("setpriv");
    command.args([
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--bounding-set=-all",
    ]);
    let output = command
        .arg(copy)
        .arg(COMMAND)
        .arg(images.path())
        .arg("0")
        .current_dir("/")
        .output()?;
    let said = String::from_utf8(output.stderr)?;
    let expected = "making filesystems needs root (CAP_SYS_ADMIN): unshare(CLONE_NEWNS): \
                    Operation not permitted (1). Run it as root, and a container with --privileged\n";
    ensure!(!output.status.success() && said == expected, "{said}");
    Ok(())
}
