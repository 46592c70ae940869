//! Other programs are cases of a run, and their own times become the phases of a sample.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use writebench_model::{Case, Collective, FileLayout, Files, Method, SyncCall};
use writebench_stats::as_f64;
use writebench_testkit::command::output;

use super::self_timed_set::SetProgram;
use super::times::{Times, rounded};
use crate::program::mpirun;

#[derive(clap::Args)]
pub(crate) struct Options {
    bytes: u64,
    file: PathBuf,
    #[command(subcommand)]
    program: SelfTimed,
}

#[derive(clap::Subcommand)]
pub(crate) enum SelfTimed {
    /// fio with an exported job
    Fio { job: PathBuf },
    /// IOR under mpirun
    Ior(Ior),
    /// A program that writes a set of files
    Set(SetProgram),
}

/// The options are those of <https://github.com/hpc/ior>.
#[derive(clap::Args)]
pub(crate) struct Ior {
    ranks: u32,
    /// The first word is the program.
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    pub(super) words: Vec<String>,
}

/// Reports to the run that started this process.
pub(crate) fn run(
    Options {
        bytes,
        file,
        program,
    }: &Options,
) -> Result<bool> {
    let phases_fd =
        std::env::var("WRITEBENCH_PHASES_FD").context("this is for `writebench run --command`")?;
    let times = match program {
        SelfTimed::Fio { job } => fio(job, file)?,
        SelfTimed::Ior(ior) => ior.measure(file)?,
        SelfTimed::Set(set) => set.measure(file)?,
    };
    ensure!(
        times.bytes == *bytes,
        "{} bytes instead of {bytes}",
        times.bytes
    );
    // The program may have removed its file, or written several.
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(file)?
        .set_len(*bytes)?;
    let Times {
        write_ns,
        sync_ns,
        close_ns,
        ..
    } = times;
    let report = format!("write {write_ns} sync {sync_ns} close {close_ns}\n");
    File::options()
        .append(true)
        .open(format!("/dev/fd/{phases_fd}"))?
        .write_all(report.as_bytes())?;
    Ok(true)
}

impl SelfTimed {
    pub(super) fn line(&self, case: &Case) -> Result<String> {
        let this = std::env::current_exe()?.display().to_string();
        let mut words = vec![
            this,
            "self-timed".to_owned(),
            case.given().size_bytes.to_string(),
            "{file}".to_owned(),
        ];
        match self {
            Self::Fio { job } => words.extend(["fio".to_owned(), job.display().to_string()]),
            Self::Ior(ior) => {
                words.extend(["ior".to_owned(), ior.ranks.to_string()]);
                words.extend(ior.words.iter().cloned());
            }
            Self::Set(set) => words.extend(set.words()),
        }
        Ok(shlex::try_join(words.iter().map(String::as_str))?)
    }
}

fn fio(job: &Path, file: &Path) -> Result<Times> {
    let name = file.file_name().context("a file")?.to_string_lossy();
    let text = fs::read_to_string(job)?;
    let edited = job.with_extension("edited");
    fs::write(
        &edited,
        text.replace("filename=writebench-sample", &format!("filename={name}")),
    )?;
    let mut command = Command::new("fio");
    command
        .args(["--output-format=json", "--directory"])
        .arg(file.parent().context("a directory")?);
    // fio keeps state in its working directory.
    command
        .arg(&edited)
        .current_dir(job.parent().context("a directory")?);
    let output = output(command.stdin(Stdio::null()))?;
    // fio prints notes before the JSON.
    let start = output
        .stdout
        .iter()
        .position(|byte| *byte == b'{')
        .unwrap_or(0);
    let json =
        serde_json::from_slice(&output.stdout[start..]).context("fio's output is not JSON")?;
    times_of_fio(&json, is_in_turn(&text))
}

/// The sum of latencies is a time if calls do not overlap and fio times the syncs.
fn is_in_turn(job: &str) -> bool {
    let work = job
        .split_once("\n[writes-0]\n")
        .map_or("", |(_, work)| work);
    let syncs = work
        .lines()
        .any(|line| line.starts_with("fsync=") || line.starts_with("fdatasync="));
    let syncs_at_end = work.lines().any(|line| line == "end_fsync=1");
    let is_one_thread = job.matches("\n[writes-").count() == 1;
    let is_one_call = !job.contains("\niodepth=");
    is_one_thread && is_one_call && (syncs || !syncs_at_end)
}

/// The time is that inside the calls if these do not overlap, else the longest runtime.
fn times_of_fio(json: &Value, is_in_turn: bool) -> Result<Times> {
    let jobs = json["jobs"].as_array().context("fio names no job")?;
    if let Some(failed) = jobs.iter().find(|job| job["error"] != 0) {
        bail!(
            "fio's job {} ended with error {}",
            failed["jobname"],
            failed["error"]
        );
    }
    let jobs: Vec<&Value> = jobs.iter().filter(|job| does_work(job)).collect();
    let bytes = numbers(&jobs, "io_bytes")?.iter().sum();
    let runtimes_ms = numbers(&jobs, "runtime")?;
    let runtime_ms = runtimes_ms.into_iter().max();
    let runtime_ms = runtime_ms.context("fio has done no work")?;
    if is_in_turn {
        return Ok(Times {
            write_ns: inside(&jobs[0]["write"]["lat_ns"])?,
            sync_ns: inside(&jobs[0]["sync"]["lat_ns"])?,
            close_ns: 0,
            bytes,
        });
    }
    ensure!(
        runtime_ms > 0,
        "fio's clock of milliseconds is too coarse for so short a job"
    );
    Ok(Times {
        write_ns: runtime_ms * 1_000_000,
        sync_ns: 0,
        close_ns: 0,
        bytes,
    })
}

/// Other jobs prepare the file.
fn does_work(job: &Value) -> bool {
    let name = job["jobname"].as_str();
    name.is_some_and(|name| name.starts_with("writes-"))
}

fn numbers(jobs: &[&Value], name: &str) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for job in jobs {
        let number = job["write"][name].as_u64();
        numbers.push(number.with_context(|| format!("no write.{name}"))?);
    }
    Ok(numbers)
}

fn inside(latencies: &Value) -> Result<u64> {
    let mean = latencies["mean"].as_f64().context("no mean latency")?;
    Ok(rounded(
        mean * latencies["N"].as_f64().context("no number of latencies")?,
    ))
}

impl Ior {
    pub(super) fn for_case(program: &Path, case: &Case) -> Self {
        let choices = case.choices();
        let chunk = choices.chunk_size_bytes;
        let share = case.given().size_bytes / u64::from(choices.ranks);
        let api = match case.method() {
            Method::Mpiio => "MPIIO",
            _ => "POSIX",
        };
        let mut options = format!("-t {chunk} -a {api}");
        options += &match choices.layout {
            FileLayout::Segmented => format!(" -b {share}"),
            FileLayout::Strided => format!(" -b {chunk} -s {}", share / chunk),
        };
        if choices.files == Files::PerRank {
            options += " -F";
        }
        if choices.collective == Collective::Yes {
            options += " -c";
        }
        if choices.sync.call == SyncCall::Fsync {
            options += " -e";
        }
        let mut words = vec![program.display().to_string()];
        words.extend(options.split(' ').map(str::to_owned));
        Self {
            ranks: choices.ranks,
            words,
        }
    }

    fn measure(&self, file: &Path) -> Result<Times> {
        let summary = tempfile::NamedTempFile::new().context("a file for IOR's summary")?;
        let (program, options) = self.words.split_first().context("IOR's program")?;
        let mut command = mpirun(self.ranks, Path::new(program));
        // This process is a rank's child, and IOR has other ranks.
        let kept = std::env::vars().filter(|(name, _)| ["PATH", "HOME"].contains(&name.as_str()));
        command
            .env_clear()
            .envs(kept)
            .args(["-w", "-o"])
            .arg(file)
            .args(options);
        command.args(["-O", "summaryFormat=JSON", "-O"]);
        command.arg(format!("summaryFile={}", summary.path().display()));
        output(command.stdin(Stdio::null()))?;
        let text = fs::read_to_string(summary.path()).context("IOR's summary")?;
        times_of_ior(&serde_json::from_str(&text).context("IOR's summary is not JSON")?)
    }
}

/// IOR's time is from the first open to the last close. fsync is a part of writing.
fn times_of_ior(json: &Value) -> Result<Times> {
    const MIB: f64 = 1_048_576.0;
    let test = &json["tests"][0];
    let result = &test["Results"][0];
    let parameters = &test["Parameters"];
    let blocks = parameters["segmentCount"].as_u64();
    let size = parameters["blockSize"].as_u64();
    let tasks = test["Options"]["tasks"].as_u64();
    let (Some(blocks), Some(size), Some(tasks)) = (blocks, size, tasks) else {
        bail!("no size in {test}");
    };
    let bytes = blocks * size * tasks;
    // The time itself has only four decimals.
    let total_ns = rounded(as_f64(bytes) / MIB / number(result, "bwMiB")? * 1e9);
    let write_ns = rounded(number(result, "wrRdTime")? * 1e9);
    Ok(Times {
        write_ns,
        sync_ns: 0,
        close_ns: total_ns.saturating_sub(write_ns),
        bytes,
    })
}

fn number(result: &Value, name: &str) -> Result<f64> {
    let number = result[name].as_f64();
    number.with_context(|| format!("no {name} in {result}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(work: &str) -> String {
        format!(
            "# a comment\n\n[global]\nrw=write\n\n[before-0]\nend_fsync=1\n\n[writes-0]\n{work}\n"
        )
    }

    /// The output of fio 3.33.
    fn example() -> Value {
        json!({"fio version": "fio-3.33", "jobs": [{"jobname": "before-0", "error": 0}, {
            "jobname": "writes-0", "error": 0,
            "write": {
                "io_bytes": 5_242_880, "bw_bytes": 18_267_874, "runtime": 287, "total_ios": 1280,
                "lat_ns": {"min": 1176, "max": 45423, "mean": 2212.5, "N": 1280},
            },
            "sync": {"total_ios": 1279, "lat_ns": {"mean": 221_264.5, "N": 1279}},
        }]})
    }

    #[test]
    fn the_sum_of_latencies_is_the_time_of_calls_in_turn() {
        assert!(is_in_turn(&job("ioengine=sync\nfsync=1\nend_fsync=1")));
        let times = times_of_fio(&example(), true).unwrap();
        let wanted = Times {
            write_ns: 2_832_000,
            sync_ns: 282_997_295,
            close_ns: 0,
            bytes: 5_242_880,
        };
        assert_eq!(times, wanted);
    }

    #[test]
    fn latencies_of_overlapping_calls_or_untimed_syncs_are_not_a_time() {
        for work in [
            "iodepth=32",
            "bs=1\n\n[writes-1]\nbs=1",
            "ioengine=sync\nend_fsync=1",
        ] {
            assert!(!is_in_turn(&job(work)), "{work}");
        }
        assert!(
            is_in_turn(&job("ioengine=psync")),
            "what comes before does not matter"
        );
    }

    #[test]
    fn the_last_thread_ends_the_job() {
        let mut json = example();
        let mut second = json["jobs"][1].clone();
        second["jobname"] = "writes-1".into();
        second["write"]["runtime"] = 300.into();
        json["jobs"].as_array_mut().unwrap().push(second);
        let times = times_of_fio(&json, false).unwrap();
        assert_eq!((times.write_ns, times.bytes), (300_000_000, 2 * 5_242_880));
    }

    #[test]
    fn a_failed_or_short_job_has_no_times() {
        let with = |pointer: &str, value: u64| {
            let mut json = example();
            *json.pointer_mut(pointer).unwrap() = value.into();
            times_of_fio(&json, false).unwrap_err().to_string()
        };
        assert!(with("/jobs/0/error", 28).contains("28"));
        assert!(with("/jobs/1/write/runtime", 0).contains("coarse"));
        assert!(times_of_fio(&json!({}), true).is_err());
    }

    #[test]
    fn a_summary_of_ior_has_times_and_bytes() {
        let summary = json!({"tests": [{
            "Parameters": {"blockSize": 4_194_304, "segmentCount": 1},
            "Options": {"tasks": 2, "aggregate filesize": "8 MiB"},
            "Results": [{"access": "write", "bwMiB": 1000.0, "wrRdTime": 0.0075, "totalTime": 0.0081}],
        }]});
        let wanted = Times {
            write_ns: 7_500_000,
            sync_ns: 0,
            close_ns: 500_000,
            bytes: 8 << 20,
        };
        assert_eq!(times_of_ior(&summary).unwrap(), wanted);
        assert!(
            times_of_ior(&json!({}))
                .unwrap_err()
                .to_string()
                .contains("no size")
        );
    }
}
