use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use writebench_testkit::command::{announced, output, printed, root};

use super::release::{Release, Target};

const TEXTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Shells find completions by these file names.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "writebench.bash"),
    ("zsh", "_writebench"),
    ("fish", "writebench.fish"),
];

pub(super) fn tree(
    target: &Target,
    program: &Path,
    notices: &Path,
    release: &Release,
) -> Result<PathBuf> {
    let tree = program.with_file_name(release.stem(target));
    let _ = fs::remove_dir_all(&tree);
    for folder in ["man", "completions"] {
        fs::create_dir_all(tree.join(folder))?;
    }
    fs::copy(program, tree.join("writebench"))?;
    for text in TEXTS {
        fs::copy(root().join(text), tree.join(text)).with_context(|| (*text).to_owned())?;
    }
    fs::copy(notices, tree.join("THIRD-PARTY.md"))?;
    write_texts_of(target, program, &tree)?;
    Ok(tree)
}

/// The program itself prints its manual and its completions.
fn write_texts_of(target: &Target, program: &Path, tree: &Path) -> Result<()> {
    let manual = printed_by(target, program, &["man"])?;
    fs::write(tree.join("man/writebench.1"), manual)?;
    for name in commands(&printed_by(target, program, &["--help"])?) {
        let manual = printed_by(target, program, &["man", &name])?;
        fs::write(tree.join(format!("man/writebench-{name}.1")), manual)?;
    }
    for (shell, file) in COMPLETIONS {
        let completions = printed_by(target, program, &["completions", shell])?;
        fs::write(tree.join("completions").join(file), completions)?;
    }
    Ok(())
}

fn printed_by(target: &Target, program: &Path, words: &[&str]) -> Result<Vec<u8>> {
    Ok(output(target.command(program).args(words))?.stdout)
}

/// The help lists commands below their heading, indented by two spaces.
fn commands(help: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(help).into_owned();
    let below = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = below.map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    listed
        .filter(|name| !["", "help"].contains(name))
        .map(str::to_owned)
        .collect()
}

/// The same content gives the same bytes.
pub(super) fn tarball(tree: &Path, release: &Release) -> Result<PathBuf> {
    let name = tree.file_name().context("a named folder")?;
    let file = release.folder.join(format!("{}.tar.gz", name.display()));
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=u=rwX,go=rX",
    ]);
    tar.arg(format!("--mtime=@{}", release.epoch_s))
        .arg("--use-compress-program=gzip -9n");
    tar.arg("--create").arg("--file").arg(&file);
    tar.arg("--directory")
        .arg(tree.parent().context("a folder above")?)
        .arg(name);
    announced(&mut tar)?;
    Ok(file)
}

pub(super) fn sums(files: &[PathBuf], release: &Release) -> Result<String> {
    let mut command = Command::new("sha256sum");
    printed(
        command
            .current_dir(&release.folder)
            .args(files.iter().filter_map(|file| file.file_name())),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_read_from_the_help() {
        let help = "Finds it\n\nUsage: writebench\n\nCommands:\n  run   Measure\n        and more\n  advise  Search\n  help  Print\n\nOptions:\n  -q  Quiet\n";
        assert_eq!(commands(help.as_bytes()), ["run", "advise"]);
    }
}
