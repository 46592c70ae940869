//! What needs no root runs without it, and what needs it says so, each by itself.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use testkit::{Ended, Need, Trials, entries};

use crate::program;

pub fn add(trials: &mut Trials) {
    let needs = [Need::LoopDevice, Need::Program("setpriv")];
    trials.add("the first look runs as nobody", &needs, first_look);
    trials.add("what needs root says so to nobody", &needs, needs_root);
    trials.add("what nobody may not pin is refused before it is measured", &needs, locked_memory);
}

/// Of Debian's nobody and nogroup.
const NOBODY: u32 = 65534;

/// A copy of the program that nobody may run, with a home and a target of nobody's.
struct Nobody {
    folder: TempDir,
}

impl Nobody {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755))?;
        std::fs::copy(program()?.binary(), folder.path().join("writebench"))?;
        for name in ["home", "target"] {
            std::fs::create_dir(folder.path().join(name))?;
            chown(folder.path().join(name), Some(NOBODY), Some(NOBODY))?;
        }
        Ok(Self { folder })
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("target")
    }

    fn call(&self, arguments: &[&str]) -> Result<Ended> {
        let home = self.folder.path().join("home");
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--memlock=65536"]);
        command.arg(self.folder.path().join("writebench")).args(arguments);
        command.env("HOME", &home).env("XDG_DATA_HOME", &home).env_remove("WRITEBENCH_DB").current_dir("/");
        let output = command.output().context("start setpriv")?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) })
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("UTF-8")
}

fn first_look() -> Result<()> {
    let nobody = Nobody::new()?;
    let target = nobody.target();
    let ended =
        nobody.call(&["run", text(&target)?, "--suite", "quick", "--size", "1MiB", "--samples", "1"])?;
    ensure!(ended.code == Some(0) && !ended.stdout.contains("failed"), "{ended:?}");
    ensure!(entries(&target).is_empty(), "{:?}", entries(&target));
    Ok(())
}

fn needs_root() -> Result<()> {
    let nobody = Nobody::new()?;
    let ended = nobody.call(&["fs", "--on", "ext4"])?;
    ensure!(ended.code == Some(1) && ended.stderr.contains("run it as root"), "{ended:?}");
    let ended = nobody.call(&["run", "/root", "--case", "write,size=1"])?;
    ensure!(ended.code == Some(1) && ended.stderr.contains("Permission denied (13)"), "{ended:?}");
    Ok(())
}

fn locked_memory() -> Result<()> {
    let nobody = Nobody::new()?;
    let target = nobody.target();
    let case = "uring,registered=both,size=1MiB";
    let arguments = ["run", text(&target)?, "--samples", "1", "--no-limits", "--case", case];
    let ended = nobody.call(&arguments)?;
    ensure!(ended.code == Some(3) && ended.stderr.contains("ulimit -l"), "{ended:?}");
    ensure!(ended.stderr.lines().count() == 1 && entries(&target).is_empty(), "{ended:?}");
    Ok(())
}
