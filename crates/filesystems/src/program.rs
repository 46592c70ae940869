use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::error::Error;

/// The directories of root's programs, which `PATH` may lack.
const MORE_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let mut files = folders
        .chain(MORE_FOLDERS.map(PathBuf::from))
        .map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

pub(crate) fn require(name: &str, package: Option<&'static str>) -> Result<PathBuf, Error> {
    find(name).ok_or_else(|| Error::NotInstalled {
        program: name.to_owned(),
        package,
    })
}

/// Adds the command line to `commands`. The program prints English, has no input, and outlives a killed caller.
pub(crate) fn run(
    name: &str,
    package: Option<&'static str>,
    words: &[String],
    commands: &mut Vec<String>,
) -> Result<(), Error> {
    let file = require(name, package)?;
    let line = line(name, words);
    commands.push(line.clone());
    let output = Command::new(&file)
        .args(words)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| Error::call("start a program", "execve", &file, error))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Refused {
        command: line,
        said: explanation(&output),
    })
}

pub(crate) fn line(name: &str, words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=^+%@".contains(c);
    let quoted = words.iter().map(|word| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    [name.to_owned()]
        .into_iter()
        .chain(quoted)
        .collect::<Vec<_>>()
        .join(" ")
}

fn explanation(output: &Output) -> String {
    let said = |bytes: &[u8]| last_word(&String::from_utf8_lossy(bytes));
    said(&output.stderr)
        .or_else(|| said(&output.stdout))
        .unwrap_or_else(|| output.status.to_string())
}

/// Without usage text and mount's pointer to the kernel's log.
pub(crate) fn last_word(text: &str) -> Option<String> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.contains("dmesg(1)"));
    let lines: Vec<_> = lines.collect();
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
        let word = |text| last_word(text).unwrap();
        assert_eq!(word("warning\n\nmkfs: no\n\n"), "mkfs: no");
        assert_eq!(
            word("mkfs: invalid option -- 'Z'\nUsage: mkfs [-q]\n\t[-x]\n"),
            "mkfs: invalid option -- 'Z'"
        );
        assert_eq!(word("Usage: mkfs device\nsee mkfs(8)"), "see mkfs(8)");
        assert_eq!(
            word("mount: /x: bad option.\n  dmesg(1) may have more.\n"),
            "mount: /x: bad option."
        );
        assert_eq!(last_word(" \n"), None);
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
