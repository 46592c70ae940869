//! The programs that people measure with already, beside writebench doing the same.

mod copying;
mod fio;
mod place;

use std::path::Path;

use anyhow::Result;
use model::Bytes;

use super::case::Case;
use super::comparison::{Comparison, Measure, Pairing};
use super::reading::Reading;
use super::reference::Reference;
use super::writebench::Writebench;
use copying::CopyTool;
use fio::Job;
use place::Place;

/// A tool, and the case of writebench that does the same.
pub(super) struct Rival {
    tool: Tool,
    /// The case of writebench.
    pub(super) case: Case,
    /// What there is to know of the pair.
    pub(super) remark: String,
}

enum Tool {
    Copy(CopyTool),
    Fio(Job),
}

/// Both sides of a comparison, and where it takes place.
pub(super) struct Bench<'a> {
    pub(super) reference: &'a Reference,
    pub(super) writebench: &'a Writebench,
    pub(super) target: &'a Path,
}

const RECORDS: Bytes = Bytes(5 << 20);
const QUEUED: Bytes = Bytes(128 << 20);
const RECORD: Bytes = Bytes(4 << 10);

impl Rival {
    /// The tool as it is called, without its files.
    pub(super) fn tool(&self) -> String {
        match &self.tool {
            Tool::Copy(tool) => tool.name.to_owned(),
            Tool::Fio(job) => job.to_string(),
        }
    }

    /// Compares the two in pairs.
    pub(super) fn compare(
        &self,
        bench: &Bench<'_>,
        pairing: &mut Pairing,
        rounds: u32,
        seed: u64,
    ) -> Result<Comparison> {
        let place = Place::new(bench.target)?;
        let bytes = self.case.size_bytes;
        if let Tool::Copy(_) = self.tool {
            place.make_source(bytes)?;
        }
        let tool = || self.measure(bench, &place).map(Some);
        let ours: &Measure<'_> = &|| bench.writebench.measure(&self.case, bench.target);
        pairing.compare(&tool, ours, rounds, seed)
    }

    /// Runs the tool once, in the state of machine and file that writebench's own samples begin with.
    fn measure(&self, bench: &Bench<'_>, place: &Place) -> Result<Reading> {
        place.clear()?;
        if let Tool::Fio(job) = &self.tool
            && job.overwrites
        {
            place.make_old_content(self.case.size_bytes)?;
        }
        let before_ns = bench.reference.settle(place.folder(), self.case.size_bytes)?;
        let mut reading = match &self.tool {
            Tool::Copy(tool) => tool.measure(place)?,
            Tool::Fio(job) => job.measure(place)?,
        };
        // The smallest amount: only the probe is wanted.
        reading.probe_ns = before_ns.max(bench.reference.settle(place.folder(), 1)?);
        place.clear()?;
        Ok(reading)
    }
}

/// Every tool with its case, where the target can do what they do. The fastest way to copy is looked for
/// first, and then measured afresh.
pub(super) fn rivals(bench: &Bench<'_>, copied: Bytes, is_memory: bool) -> Result<Vec<Rival>> {
    let mut rivals: Vec<_> = copying::equals(copied)
        .into_iter()
        .map(|(tool, case, remark)| Rival { tool: Tool::Copy(tool), case, remark: remark.to_owned() })
        .collect();
    let best = fastest(bench, copying::ways(copied))?;
    for tool in [copying::CP, copying::CP_IN_KERNEL] {
        let remark = "the fastest of writebench's copies".to_owned();
        rivals.push(Rival { tool: Tool::Copy(tool), case: best.clone(), remark });
    }
    if !is_memory {
        rivals.extend([false, true].map(durable));
        rivals.extend(["file", "chunk"].map(queued));
    }
    Ok(rivals)
}

fn durable(overwrites: bool) -> Rival {
    let case = Case::new("write", RECORDS).chunked(RECORD);
    let case = if overwrites { case.with("prepare", "overwrite") } else { case };
    Rival {
        tool: Tool::Fio(Job::records(RECORDS, RECORD, overwrites)),
        case: case.with("sync", "fsync/1"),
        remark: "fio's own figures: its runtime, and the sum of its latencies".to_owned(),
    }
}

/// fio writes the same few buffers again and again; writebench's source is as large as the file, or one chunk.
fn queued(source: &str) -> Rival {
    let chunk = Bytes(64 << 10);
    let case = Case::new("uring", QUEUED).chunked(chunk).with("prepare", "overwrite").with("cache", "direct");
    let (case, written) = match source {
        "chunk" => (case.with("source", source), "one chunk of 64 KiB again and again"),
        _ => (case, "128 MiB from memory"),
    };
    Rival {
        tool: Tool::Fio(Job::queued(QUEUED, chunk)),
        case,
        remark: format!("fio's own runtime, in whole milliseconds; it writes from 2 MiB, writebench {written}"),
    }
}

/// The case that is fastest in a quick look: the median of three samples.
fn fastest(bench: &Bench<'_>, ways: Vec<Case>) -> Result<Case> {
    const LOOKS: u32 = 3;
    let mut best = None;
    for case in ways {
        let mut times = Vec::new();
        for _ in 0..LOOKS {
            times.extend(bench.writebench.measure(&case, bench.target)?.map(|reading| reading.total_rate()));
        }
        let rate = stats::median(&times).unwrap_or(0.0);
        if best.as_ref().is_none_or(|(_, most)| rate > *most) {
            best = Some((case, rate));
        }
    }
    best.map(|(case, _)| case).ok_or_else(|| anyhow::anyhow!("no way to copy"))
}

/// What it takes to start a program that does nothing, and to wait for its end: median in milliseconds.
pub(super) fn process_start_ms() -> Result<f64> {
    const STARTS: u32 = 101;
    let times: Result<Vec<f64>> = (0..STARTS)
        .map(|_| place::wall_time(&mut std::process::Command::new("true")))
        .map(|time| time.map(|time| time.as_secs_f64() * 1e3))
        .collect();
    Ok(stats::median(&times?).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fio_job_and_its_case_do_the_same() {
        let (append, overwrite, queued) = (durable(false), durable(true), queued("file"));
        assert_eq!(append.case.to_string(), "write,size=5MiB,chunk=4KiB,sync=fsync/1");
        assert!(append.tool().contains("--bs=4096 --size=5242880") && append.tool().contains("--overwrite=0"));
        assert_eq!(overwrite.case.to_string(), "write,size=5MiB,chunk=4KiB,prepare=overwrite,sync=fsync/1");
        assert!(overwrite.tool().contains("--overwrite=1"));
        assert_eq!(queued.case.to_string(), "uring,size=128MiB,chunk=64KiB,prepare=overwrite,cache=direct");
        assert!(queued.tool().contains("--bs=65536") && queued.tool().contains("--iodepth=32 --direct=1"));
    }

    #[test]
    fn starting_a_program_takes_some_time() {
        let start_ms = process_start_ms().unwrap();
        assert!(start_ms > 0.01 && start_ms < 1000.0, "{start_ms}");
    }
}
