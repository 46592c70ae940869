//! What is measured beside writebench, and where.

use std::path::Path;

use anyhow::{Result, ensure};

use super::case::Case;
use super::comparison::{Comparison, Measure, Pairing};
use super::copying::CopyTool;
use super::fio::Job;
use super::place::Place;
use super::reading::Reading;
use super::reference::Reference;
use super::twin::Twin;
use super::writebench::Writebench;

/// A case of writebench, and another program that does the same: a row of the table.
pub(super) struct Rival {
    pub(super) case: Case,
    /// What there is to know of the pair.
    pub(super) remark: String,
    /// The remark is why writebench need not be as fast.
    pub(super) is_explained: bool,
    other: Other,
}

pub(super) enum Other {
    Program(Twin),
    Tool(CopyTool),
    /// With the job that writebench exports.
    Fio,
}

impl Rival {
    pub(super) fn new(case: Case, other: Other) -> Self {
        Self { case, remark: String::new(), is_explained: false, other }
    }

    pub(super) fn remarked(self, remark: &str) -> Self {
        Self { remark: remark.to_owned(), ..self }
    }

    pub(super) fn explained(self, why: &str) -> Self {
        Self { is_explained: true, ..self.remarked(why) }
    }

    /// The tool, where it is one, and the case.
    pub(super) fn names(&self) -> Vec<String> {
        let tool = if let Other::Tool(tool) = &self.other { Some(tool.name.to_owned()) } else { None };
        tool.into_iter().chain([self.case.to_string()]).collect()
    }
}

/// What settles the machine, one side of all comparisons, and where they take place.
pub(super) struct Bench<'a> {
    pub(super) reference: &'a Reference,
    pub(super) writebench: &'a Writebench,
    pub(super) target: &'a Path,
}

impl Bench<'_> {
    /// Compares the two in pairs.
    pub(super) fn compare(
        &self,
        rival: &Rival,
        pairing: &mut Pairing,
        rounds: u32,
        seed: u64,
    ) -> Result<Comparison> {
        let place = Place::new(self.target)?;
        let bytes = rival.case.size_bytes;
        let other: Box<Measure<'_>> = match &rival.other {
            Other::Program(twin) => Box::new(|| self.reference.measure(twin, self.target).map(Some)),
            Other::Tool(tool) => {
                place.make_source(bytes)?;
                Box::new(|| self.settled(&place, bytes, || tool.measure(&place)).map(Some))
            }
            Other::Fio => {
                let job = Job::of(self.writebench.fio_job(&rival.case, self.target)?);
                job.put_in(place.folder())?;
                let place = &place;
                Box::new(move || self.settled(place, bytes, || job.measure(place.folder())).map(Some))
            }
        };
        pairing.compare(&*other, &|| self.writebench.measure(&rival.case, self.target), rounds, seed)
    }

    /// Measures with the machine in the state that writebench's own samples begin with.
    fn settled(&self, place: &Place, bytes: u64, measure: impl FnOnce() -> Result<Reading>) -> Result<Reading> {
        place.clear()?;
        let before_ns = self.reference.settle(place.folder(), bytes)?;
        let mut reading = measure()?;
        // The smallest amount: only the probe is wanted.
        reading.probe_ns = before_ns.max(self.reference.settle(place.folder(), 1)?);
        place.clear()?;
        ensure!(reading.bytes == bytes, "{} bytes instead of {bytes}", reading.bytes);
        Ok(reading)
    }
}
