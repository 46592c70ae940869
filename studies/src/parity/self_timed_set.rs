//! mdtest, `fs_mark` and printed code each write a set of files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde::Deserialize;
use writebench_model::{Case, Directory, FileSize, Method, Naming, Prepare, Source, SyncFiles};
use writebench_stats::as_f64;
use writebench_testkit::command::{output, shown};
use writebench_testkit::entries;

use super::times::{Times, rounded};
use crate::program::mpirun;

#[derive(clap::Args)]
pub(crate) struct SetProgram {
    clock: SetClock,
    /// The first word is the program, which writes into its working directory.
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    words: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SetClock {
    /// The program reports to the run itself.
    Printed,
    Mdtest,
    FsMark,
}

/// `fs_mark` refuses long paths, so all write into their working directory.
const DIRECTORY: &str = ".";

impl SetProgram {
    /// Replaces `{file}` by the directory.
    pub(super) fn printed(line: &str) -> Self {
        let words = shlex::split(&line.replace("{file}", DIRECTORY)).unwrap_or_default();
        Self {
            clock: SetClock::Printed,
            words,
        }
    }

    /// The program with the options for a case. None if it does not make the case's calls.
    pub(super) fn for_case(clock: SetClock, mdtest: &Path, case: &Case) -> Option<Self> {
        let choices = case.choices();
        let is_plain = case.method() == Method::WriteFiles
            && choices.directory == Directory::One
            && choices.naming == Naming::Direct
            && choices.prepare == Prepare::Create
            && case.given().source == Source::Chunk
            && choices.threads == 1;
        let FileSize::Each(size) = case.given().file_size else {
            return None;
        };
        if !is_plain {
            return None;
        }
        let [count, size] = [case.given().size_bytes / size, size].map(|number| number.to_string());
        let words = if clock == SetClock::Mdtest {
            let sync = match choices.sync_files {
                SyncFiles::None => None,
                SyncFiles::Each => Some("-y"),
                SyncFiles::Batch | SyncFiles::Writeback | SyncFiles::Syncfs => return None,
            };
            let program = mdtest.to_str()?;
            let options = [
                program, "-F", "-C", "-z", "0", "-b", "1", "-n", &count, "-w", &size, "-d",
                DIRECTORY,
            ];
            options.into_iter().chain(sync).map(str::to_owned).collect()
        } else {
            let method = match choices.sync_files {
                SyncFiles::None => "0",
                SyncFiles::Each => "1",
                SyncFiles::Syncfs => "2",
                SyncFiles::Batch => "5",
                SyncFiles::Writeback => return None,
            };
            let options = [
                "fs_mark",
                "-k",
                "-l",
                "/dev/null",
                "-n",
                &count,
                "-s",
                &size,
                "-w",
                &size,
                "-S",
                method,
                "-d",
                DIRECTORY,
            ];
            options.map(str::to_owned).to_vec()
        };
        Some(Self { clock, words })
    }

    pub(super) fn words(&self) -> Vec<String> {
        let clock = self
            .clock
            .to_possible_value()
            .map(|value| value.get_name().to_owned());
        ["set".to_owned()]
            .into_iter()
            .chain(clock)
            .chain(self.words.iter().cloned())
            .collect()
    }

    pub(super) fn measure(&self, file: &Path) -> Result<Times> {
        let place = file.parent().context("a directory")?;
        let directory = tempfile::tempdir_in(place).with_context(|| place.display().to_string())?;
        let (program, options) = self.words.split_first().context("a program")?;
        let mut command = match self.clock {
            SetClock::Mdtest => mpirun(1, Path::new(program)),
            SetClock::Printed | SetClock::FsMark => Command::new(program),
        };
        command
            .args(options)
            .current_dir(directory.path())
            .stdin(Stdio::null());
        let text = String::from_utf8_lossy(&output(&mut command)?.stdout).into_owned();
        let files = files_in(directory.path());
        let lengths = files.iter().map(|file| Ok(file.metadata()?.len()));
        let bytes = lengths.sum::<Result<u64>>()?;
        if self.clock == SetClock::Printed {
            // The run verifies the content.
            let mut all = File::create(file)?;
            files
                .iter()
                .try_for_each(|one| io::copy(&mut File::open(one)?, &mut all).map(drop))?;
        }
        directory.close()?;
        let write_ns = if self.clock == SetClock::Printed {
            0
        } else {
            let rate = rate(&text, self.clock)
                .with_context(|| format!("no rate from {}", shown(&command)))?;
            ensure!(rate > 0.0, "{} created no files", shown(&command));
            rounded(as_f64(files.len() as u64) / rate * 1e9)
        };
        Ok(Times {
            write_ns,
            bytes,
            ..Times::default()
        })
    }
}

/// Each program prints files per second.
fn rate(text: &str, clock: SetClock) -> Option<f64> {
    match clock {
        SetClock::Printed => None,
        SetClock::Mdtest => {
            let line = text
                .lines()
                .find_map(|line| line.trim().strip_prefix("File creation"))?;
            line.split_whitespace().next()?.parse().ok()
        }
        SetClock::FsMark => text.lines().last()?.split_whitespace().nth(3)?.parse().ok(),
    }
}

/// Files in subdirectories count, too. All are in the order of their names.
fn files_in(directory: &Path) -> Vec<PathBuf> {
    let mut paths = entries(directory);
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(files_in(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_a_column_of_each_programs_output() {
        let mdtest = "SUMMARY rate (in ops/sec): (of 1 iterations)\n   File creation               48472.252      \
                      48472.252      48472.252          0.000\n   File stat                       0.000\n";
        assert_eq!(rate(mdtest, SetClock::Mdtest), Some(48472.252));
        let fs_mark = "FSUse%        Count         Size    Files/sec     App Overhead\n    73          100        \
                       16384      41528.2              280\n";
        assert_eq!(rate(fs_mark, SetClock::FsMark), Some(41528.2));
        assert_eq!(rate("", SetClock::FsMark), None);
    }

    #[test]
    fn a_program_without_the_cases_calls_is_left_out() {
        let words = |name: &str, clock| {
            let case = Case::parse(name).unwrap();
            SetProgram::for_case(clock, Path::new("mdtest"), &case).map(|set| set.words().join(" "))
        };
        let each = "write-files,size=1MiB,chunk=16KiB,file-size=16KiB,sync-files=each,source=chunk";
        assert_eq!(
            words(each, SetClock::FsMark).unwrap(),
            "set fs-mark fs_mark -k -l /dev/null -n 64 -s 16384 -w 16384 -S 1 -d ."
        );
        assert!(
            words(each, SetClock::Mdtest)
                .unwrap()
                .ends_with("-n 64 -w 16384 -d . -y")
        );
        let batch = each.replace("=each", "=batch");
        assert!(words(&batch, SetClock::Mdtest).is_none());
        let renamed = each.replace("sync-files", "naming=rename,sync-files");
        assert!(words(&renamed, SetClock::FsMark).is_none());
    }
}
