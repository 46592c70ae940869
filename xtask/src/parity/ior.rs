//! IOR with the same work, by its own figures: <https://github.com/hpc/ior>.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::case::Case;
use super::machine::settle;
use super::reading::Reading;
use crate::command::output;

/// One test of IOR.
#[derive(Clone)]
pub(super) struct Test {
    pub(super) ranks: u32,
    pub(super) options: String,
}

/// `mpirun` with so many ranks of a program, on this machine.
pub(super) fn mpirun(ranks: u32, program: &Path) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "--quiet", "-n", &ranks.to_string()]).arg(program);
    command
}

impl Test {
    /// Runs the test once, with the machine in the same state as before writebench's samples.
    pub(super) fn measure(&self, ior: &Path, case: &Case, target: &Path) -> Result<Reading> {
        let folder = tempfile::Builder::new().prefix("parity-ior-").tempdir_in(target);
        let folder = folder.with_context(|| format!("a folder in {}", target.display()))?;
        let summary = tempfile::NamedTempFile::new().context("a file for IOR's summary")?;
        let before_ns = settle(folder.path(), case.size_bytes)?;
        let mut command = mpirun(self.ranks, ior);
        command.args(["-w", "-o"]).arg(folder.path().join("file"));
        command.args(self.options.split_whitespace()).arg("-O").arg("summaryFormat=JSON");
        command.arg("-O").arg(format!("summaryFile={}", summary.path().display()));
        output(command.stdin(Stdio::null()))?;
        let text = fs::read_to_string(summary.path()).context("IOR's summary")?;
        let mut reading = figures(&serde_json::from_str(&text).context("IOR's summary is no JSON")?)?;
        ensure!(reading.bytes == case.size_bytes, "{} bytes instead of {}", reading.bytes, case.size_bytes);
        reading.probe_ns = before_ns.max(settle(folder.path(), 1)?);
        Ok(reading)
    }
}

/// The total goes from the first rank's open to the last rank's close, and the work is writing, with fsync.
fn figures(json: &Value) -> Result<Reading> {
    const MIB: f64 = 1_048_576.0;
    let test = &json["tests"][0];
    let result = &test["Results"][0];
    let number = |name: &str| result[name].as_f64().with_context(|| format!("no {name} in {test}"));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are positive")]
    let nanoseconds = |seconds: f64| (seconds * 1e9) as u64;
    let parameter = |name: &str| test["Parameters"][name].as_u64();
    let bytes = parameter("blockSize").zip(parameter("segmentCount")).zip(test["Options"]["tasks"].as_u64());
    let bytes = bytes.map(|((block, segments), tasks)| block * segments * tasks);
    let bytes = bytes.with_context(|| format!("no size in {test}"))?;
    Ok(Reading {
        // The time itself has only four digits behind the point.
        total_ns: nanoseconds(writebench_stats::as_f64(bytes) / MIB / number("bwMiB")?),
        work_ns: nanoseconds(number("wrRdTime")?),
        bytes,
        probe_ns: 0,
        record: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_read_of_a_summary() {
        let summary = json!({"tests": [{
            "Parameters": {"blockSize": 4_194_304, "segmentCount": 1},
            "Options": {"tasks": 2, "aggregate filesize": "8 MiB"},
            "Results": [{"access": "write", "bwMiB": 1000.0, "wrRdTime": 0.0075, "totalTime": 0.0081}],
        }]});
        let reading = figures(&summary).unwrap();
        assert_eq!((reading.bytes, reading.total_ns, reading.work_ns), (8 << 20, 8_000_000, 7_500_000));
        assert!(figures(&json!({})).unwrap_err().to_string().contains("no size"));
    }
}
