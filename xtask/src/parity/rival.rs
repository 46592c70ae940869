//! A program that is compared with writebench.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::case::Case;
use super::comparison::{Comparison, Measure, Pairing};
use super::fio::Job;
use super::ior::{self, Test};
use super::writebench::{fio_job, measure, measure_by};

/// A case of writebench, and a program that does the same: a row of the table.
#[derive(Clone)]
pub(super) struct Rival {
    pub(super) case: Case,
    pub(super) other: Other,
    /// A remark about the pair.
    pub(super) remark: &'static str,
    /// Whether the remark explains why writebench may be slower.
    pub(super) is_explained: bool,
}

/// A program beside writebench.
#[derive(Clone)]
pub(super) enum Other {
    /// fio with writebench's exported job.
    Fio,
    /// IOR with a test.
    Ior(Test),
}

impl Rival {
    pub(super) fn new(case: Case, other: Other) -> Self {
        Self { case, other, remark: "", is_explained: false }
    }
}

/// The parts that all comparisons share.
pub(super) struct Bench {
    /// The built program.
    pub(super) writebench: PathBuf,
    /// The built IOR, for its tests.
    pub(super) ior: Option<PathBuf>,
    pub(super) pairing: Pairing,
}

impl Bench {
    /// Compares the two in pairs.
    pub(super) fn compare(
        &mut self,
        Rival { case, other, .. }: &Rival,
        target: &Path,
        rounds: u32,
        seed: u64,
    ) -> Result<Comparison> {
        let Self { writebench, ior, pairing } = self;
        let mut own: Box<Measure<'_>> = Box::new(|| measure(writebench, case, target));
        let other: Box<Measure<'_>> = match other {
            Other::Fio => {
                let job = Job::of(fio_job(writebench, case, target)?);
                Box::new(move || job.measure(case, target).map(Some))
            }
            Other::Ior(test) => {
                let ior = ior.as_ref().context("no IOR")?;
                own = Box::new(|| measure_by(ior::mpirun(test.ranks, writebench), case, target));
                Box::new(|| test.measure(ior, case, target).map(Some))
            }
        };
        pairing.compare(&*other, &*own, rounds, seed)
    }
}
