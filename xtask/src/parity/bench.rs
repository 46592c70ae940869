//! Where another program is measured beside writebench.

use std::path::Path;

use anyhow::Result;

use super::place::Place;
use super::reading::Reading;
use super::reference::Reference;
use super::writebench::Writebench;

/// What settles the machine, the other side of a comparison, and where it takes place.
pub(super) struct Bench<'a> {
    pub(super) reference: &'a Reference,
    pub(super) writebench: &'a Writebench,
    pub(super) target: &'a Path,
}

impl Bench<'_> {
    /// Measures with the machine in the state that writebench's own samples begin with.
    pub(super) fn settled(
        &self,
        place: &Place,
        bytes: u64,
        measure: impl FnOnce() -> Result<Reading>,
    ) -> Result<Reading> {
        let before_ns = self.reference.settle(place.folder(), bytes)?;
        let mut reading = measure()?;
        // The smallest amount: only the probe is wanted.
        reading.probe_ns = before_ns.max(self.reference.settle(place.folder(), 1)?);
        Ok(reading)
    }
}
