//! Tests of the C programs of `parity/`.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let no_compiler =
        Command::new("cc").arg("--version").output().is_err() || !Path::new("/usr/include/liburing.h").exists();
    let trials = ["/dev/shm", env!("CARGO_TARGET_TMPDIR")].map(|target| {
        let name = format!("every_reference_program_writes_what_it_says_to::{}", place(target));
        let is_impossible = no_compiler || !Path::new(target).is_dir();
        Trial::test(name, move || check(target)).with_ignored_flag(is_impossible)
    });
    libtest_mimic::run(&arguments, trials.into()).exit();
}

fn place(target: &str) -> &str {
    if target == "/dev/shm" { "memory" } else { "disk" }
}

/// Each program reads its file back and compares it, and leaves no file behind.
fn check(target: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir_in(target)?;
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["parity", "--check"]).arg(folder.path()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let count = said.matches("as it should be").count();
    if count < 39 {
        return Err(format!("only {count} cases were checked").into());
    }
    if let Some(tool) =
        ["cp: ", "cp --reflink=never: ", "dd bs=1M: ", "dd bs=128k: "].iter().find(|it| !said.contains(**it))
    {
        return Err(format!("{tool} was not checked").into());
    }
    match folder.path().read_dir()?.next() {
        Some(left) => Err(format!("left behind: {}", left?.path().display()).into()),
        None => Ok(()),
    }
}
