//! Running the programs mkfs, mount and modprobe.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::error::Error;

/// The directories of root's programs, which `PATH` may lack.
const MORE_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The file of a program, in the folders of `PATH` and those of root.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let mut files = folders
        .chain(MORE_FOLDERS.map(PathBuf::from))
        .map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Finds a program. If it is missing, the error names the Debian package with it.
pub(crate) fn require(name: &str, package: Option<&'static str>) -> Result<PathBuf, Error> {
    find(name).ok_or_else(|| Error::NotInstalled {
        program: name.to_owned(),
        package,
    })
}

/// Runs a program to its end, and adds its command line to `commands`. The program prints English, has no input, and
/// outlives a killed caller.
pub(crate) fn run(
    name: &str,
    package: Option<&'static str>,
    words: &[String],
    commands: &mut Vec<String>,
) -> Result<(), Error> {
    require(name, package)?;
    commands.push(line(name, words));
    run_expecting(name, package, words, &[0])
}

/// The same for a program with several exit codes that are no error.
pub(crate) fn run_expecting(
    name: &str,
    package: Option<&'static str>,
    words: &[String],
    successes: &[i32],
) -> Result<(), Error> {
    let file = require(name, package)?;
    let output = Command::new(&file)
        .args(words)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Error::call("start a program", "execve", &file, error))?;
    if output
        .status
        .code()
        .is_some_and(|code| successes.contains(&code))
    {
        return Ok(());
    }
    Err(Error::Refused {
        command: line(name, words),
        said: explanation(&output),
    })
}

/// A command as a user would type it into a shell.
pub(crate) fn line(name: &str, words: &[String]) -> String {
    let mut line = name.to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&quoted(word));
    }
    line
}

fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Whether a shell takes the character as it is.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./:,=^+%@".contains(c)
}

/// What a failed program printed, or else its exit status.
fn explanation(output: &Output) -> String {
    last_line(&String::from_utf8_lossy(&output.stderr))
        .or_else(|| last_line(&String::from_utf8_lossy(&output.stdout)))
        .unwrap_or_else(|| output.status.to_string())
}

/// The last line that explains something. Usage text and mount's pointer to the kernel's log do not.
pub(crate) fn last_line(text: &str) -> Option<String> {
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.contains("dmesg(1)"))
        .collect();
    let usage = lines
        .iter()
        .position(|line| line.to_ascii_lowercase().starts_with("usage"));
    let explaining = match usage {
        Some(usage @ 1..) => &lines[..usage],
        _ => &lines,
    };
    explaining.last().map(|&line| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_before_any_usage_text_counts() {
        let cases = [
            ("warning\n\nmkfs: no\n\n", "mkfs: no"),
            (
                "mkfs: invalid option -- 'Z'\nUsage: mkfs [-q]\n\t[-x]\n",
                "mkfs: invalid option -- 'Z'",
            ),
            ("Usage: mkfs device\nsee mkfs(8)", "see mkfs(8)"),
            (
                "mount: /x: bad option.\n  dmesg(1) may have more.\n",
                "mount: /x: bad option.",
            ),
        ];
        for (text, line) in cases {
            assert_eq!(last_line(text).as_deref(), Some(line));
        }
        assert_eq!(last_line(" \n"), None);
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["-O", "^has_journal", "", "it's", "a b"].map(str::to_owned);
        assert_eq!(
            line("mkfs.x", &words),
            r"mkfs.x -O ^has_journal '' 'it'\''s' 'a b'"
        );
    }

    #[test]
    fn a_missing_program_and_a_failing_one_have_different_errors() {
        let mut commands = Vec::new();
        let error = run("mkfs.nothing", None, &[], &mut commands).unwrap_err();
        assert_eq!(error.to_string(), "mkfs.nothing is not installed");
        assert!(commands.is_empty());
        let words = ["-c", "echo no >&2; exit 3"].map(str::to_owned);
        let error = run("sh", None, &words, &mut commands).unwrap_err();
        assert_eq!(error.to_string(), "sh -c 'echo no >&2; exit 3': no");
        assert_eq!(commands.len(), 1);
    }
}
