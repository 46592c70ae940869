//! writebench itself, run for one sample at a time.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use writebench_testkit::entries;

use super::case::Case;
use super::reading::Reading;
use crate::command::output;
use crate::program;

/// Takes one sample of the case; none if it was disturbed.
pub(super) fn measure(writebench: &Path, case: &Case, target: &Path) -> Result<Option<Reading>> {
    measure_by(Command::new(writebench), case, target)
}

/// Takes one sample with a command that begins with the launcher of writebench.
pub(super) fn measure_by(start: Command, case: &Case, target: &Path) -> Result<Option<Reading>> {
    last_good(&program::exported(one_sample(start, case, target))?, case)
}

/// The exported fio job of the case.
pub(super) fn fio_job(writebench: &Path, case: &Case, target: &Path) -> Result<String> {
    let scratch = tempfile::tempdir().context("a folder for the job")?;
    let jobs = scratch.path().join("jobs");
    let mut command = one_sample(Command::new(writebench), case, target);
    command.arg("--quiet").arg("--db").arg(scratch.path().join("db"));
    output(command.arg("--export").arg(format!("fio={}", jobs.display())))?;
    let mut files = entries(&jobs).into_iter();
    match files.find(|file| file.extension().is_some_and(|it| it == "fio")) {
        Some(job) => Ok(fs::read_to_string(job)?),
        None => bail!("no job for fio: {}", fs::read_to_string(jobs.join("README"))?),
    }
}

fn one_sample(mut command: Command, case: &Case, target: &Path) -> Command {
    command.arg("run").arg(target).args(["--no-limits", "--yes"]).arg("--case").arg(case.to_string());
    command.args(["--samples", "1", "--verify", "never"]);
    command
}

/// The last usable sample; none if all others are only disturbed.
fn last_good(json: &Value, case: &Case) -> Result<Option<Reading>> {
    let samples = json["cases"][0]["samples"].as_array().context("the export has no cases[0].samples")?;
    let is_ok = |sample: &&Value| sample["outcome"] == "ok";
    let is_calm = |sample: &&Value| sample["disturbed"].is_null();
    if let Some(sample) = samples.iter().rev().filter(is_ok).find(is_calm) {
        return Reading::of(sample, case).map(Some);
    }
    match samples.iter().find(|sample| !is_ok(sample)) {
        Some(sample) => bail!("writebench: {}", sample["outcome"]),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use writebench_model::Bytes;

    fn sample(total_ns: u64, outcome: Value, disturbed: Value) -> Value {
        json!({
            "outcome": outcome, "disturbed": disturbed, "total_ns": total_ns, "bytes": 1,
            "phases_ns": {"prepare": 0, "open": 0, "write": total_ns, "sync": 0, "close": 0},
            "probe_ns": [1, 1],
        })
    }

    fn case() -> Case {
        Case::new("write", Bytes(1))
    }

    fn export(samples: &[Value]) -> Value {
        json!({"cases": [{"samples": samples}]})
    }

    #[test]
    fn the_last_sample_that_is_fit_is_taken() {
        let ok = || json!("ok");
        let samples = [
            sample(5000, ok(), Value::Null),
            sample(6000, ok(), Value::Null),
            sample(7000, ok(), json!("slow memory")),
        ];
        assert_eq!(last_good(&export(&samples), &case()).unwrap().unwrap().total_ns, 6000);
        assert_eq!(last_good(&export(&samples[2..]), &case()).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_done_is_an_error_that_says_why() {
        let failed = sample(1, json!({"unsupported": {"call": "fallocate"}}), Value::Null);
        let error = last_good(&export(&[failed]), &case()).unwrap_err().to_string();
        assert!(error.contains("fallocate"), "{error}");
        assert!(last_good(&json!({"cases": []}), &case()).is_err());
    }
}
