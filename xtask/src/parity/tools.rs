//! The programs that people measure with already, beside writebench doing the same.

mod copying;

use anyhow::Result;
use writebench_model::Bytes;

use super::bench::Bench;
use super::case::Case;
use super::comparison::{Comparison, Measure, Pairing};
use super::place::{self, Place};
use super::reading::Reading;
use copying::CopyTool;

/// A tool, and the case of writebench that does the same.
pub(super) struct Rival {
    tool: CopyTool,
    /// The case of writebench.
    pub(super) case: Case,
    /// What there is to know of the pair.
    pub(super) remark: String,
}

impl Rival {
    /// The tool as it is called, without its files.
    pub(super) fn tool(&self) -> String {
        self.tool.name.to_owned()
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
        place.make_source(self.case.size_bytes)?;
        let tool = || self.measure(bench, &place).map(Some);
        let ours: &Measure<'_> = &|| bench.writebench.measure(&self.case, bench.target);
        pairing.compare(&tool, ours, rounds, seed)
    }

    /// Runs the tool once, in the state of machine and file that writebench's own samples begin with.
    fn measure(&self, bench: &Bench<'_>, place: &Place) -> Result<Reading> {
        place.clear()?;
        let reading = bench.settled(place, self.case.size_bytes, || self.tool.measure(place))?;
        place.clear()?;
        Ok(reading)
    }
}

/// Every tool with its case. The fastest way to copy is looked for
/// first, and then measured afresh.
pub(super) fn rivals(bench: &Bench<'_>, copied: Bytes) -> Result<Vec<Rival>> {
    let mut rivals: Vec<_> = copying::equals(copied)
        .into_iter()
        .map(|(tool, case, remark)| Rival { tool, case, remark: remark.to_owned() })
        .collect();
    let best = fastest(bench, copying::ways(copied))?;
    for tool in [copying::CP, copying::CP_IN_KERNEL] {
        let remark = "the fastest of writebench's copies".to_owned();
        rivals.push(Rival { tool, case: best.clone(), remark });
    }
    Ok(rivals)
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
        let rate = writebench_stats::median(&times).unwrap_or(0.0);
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
    Ok(writebench_stats::median(&times?).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starting_a_program_takes_some_time() {
        let start_ms = process_start_ms().unwrap();
        assert!(start_ms > 0.01 && start_ms < 1000.0, "{start_ms}");
    }
}
