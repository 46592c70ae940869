//! A program that is compared with writebench.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::case::Case;
use super::comparison::{Comparison, Measure, Pairing};
use super::fio::Job;
use super::reference::Reference;
use super::writebench::{fio_job, measure};

/// A case of writebench, and a program that does the same: a row of the table.
#[derive(Clone)]
pub(super) struct Rival {
    pub(super) case: Case,
    /// The program in `parity/` and its arguments after the directory; none for fio with writebench's
    /// exported job.
    pub(super) program: Option<String>,
    /// The tool that the program starts, if any, without file names.
    pub(super) tool: Option<&'static str>,
    /// A remark about the pair.
    pub(super) remark: &'static str,
    /// Whether the remark explains why writebench may be slower.
    pub(super) is_explained: bool,
}

impl Rival {
    pub(super) fn new(case: Case, program: Option<String>) -> Self {
        Self { case, program, tool: None, remark: "", is_explained: false }
    }

    /// The tool, if any, and the case.
    pub(super) fn names(&self) -> Vec<String> {
        self.tool.map(str::to_owned).into_iter().chain([self.case.to_string()]).collect()
    }
}

/// The parts that all comparisons share.
pub(super) struct Bench {
    pub(super) reference: Reference,
    /// The built program.
    pub(super) writebench: PathBuf,
    pub(super) pairing: Pairing,
}

impl Bench {
    /// Compares the two in pairs.
    pub(super) fn compare(
        &mut self,
        Rival { case, program, .. }: &Rival,
        target: &Path,
        rounds: u32,
        seed: u64,
    ) -> Result<Comparison> {
        let Self { reference, writebench, pairing } = self;
        let other: Box<Measure<'_>> = match program {
            Some(program) => Box::new(|| reference.measure(program, case, target, false).map(Some)),
            None => {
                let job = Job::of(fio_job(writebench, case, target)?);
                Box::new(move || job.measure(reference, case, target).map(Some))
            }
        };
        pairing.compare(&*other, &|| measure(writebench, case, target), rounds, seed)
    }

    /// Why the target cannot do the case, if the C program says so.
    pub(super) fn refusal(&self, rival: &Rival, target: &Path) -> Result<Option<String>> {
        rival.program.as_ref().map_or(Ok(None), |program| self.reference.refusal(program, target))
    }
}
