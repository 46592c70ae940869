//! The cases of a first look, which finds out how large its files can be.

use anyhow::Result;
use writebench_model::{Axis, Bytes, Case, Row, Settings, TargetRecord};
use writebench_runner::{FirstLook, OfSize};

use super::later::Later;
use crate::exit::usage;
use crate::selection;

/// The largest size of which six rounds fit into the time is taken.
const SIZES_MIB: [u64; 8] = [128, 64, 32, 16, 8, 4, 2, 1];
/// Sizes of the passes that measure the time. They differ from the sizes above, so that no sample
/// is taken for another.
const PASSES: [Bytes; 3] = [Bytes(512 << 10), Bytes(1536 << 10), Bytes(24 << 20)];

/// All cases of a first look at all sizes.
pub(crate) struct FirstLookCases {
    pub cases: Vec<Case>,
    pub later: Later,
    pub schedule: FirstLook,
}

impl FirstLookCases {
    /// Makes the cases from the rows of the suite, which may have any size.
    pub(crate) fn of(rows: &[Row], targets: &[TargetRecord], settings: &Settings) -> Result<Self> {
        let (mut all, mut later) = (Vec::new(), Later::default());
        let mut passes = Vec::new();
        for size in PASSES {
            let cases = selection::different(of_size(rows, size)?.into_iter().map(|row| row.case));
            cases.iter().for_each(|case| later.leave_out(case));
            passes.push(places(size, cases, targets.len(), &mut all));
        }
        let mut sizes = Vec::new();
        for size in SIZES_MIB.map(|mebibytes| Bytes(mebibytes << 20)) {
            let records = selection::records(&of_size(rows, size)?, targets);
            let cases = selection::different_cases(&records)?;
            later.add(records);
            sizes.push(places(size, cases, targets.len(), &mut all));
        }
        Ok(Self { cases: all, later, schedule: FirstLook::new(passes, sizes, settings) })
    }
}

fn of_size(rows: &[Row], size: Bytes) -> Result<Vec<Row>> {
    let sized = |row: &Row| {
        let case = row.case.with(Axis::Size, &size.to_string()).map_err(|error| usage!("{error}"))?;
        Ok(Row { case, ..row.clone() })
    };
    rows.iter().map(sized).collect()
}

/// Appends cases to the others; returns their places in the plan, which has each case once for
/// every target.
fn places(size: Bytes, cases: Vec<Case>, targets: usize, all: &mut Vec<Case>) -> OfSize {
    let first = all.len() * targets;
    let places = first..first + cases.len() * targets;
    all.extend(cases);
    OfSize { bytes: size.0, cases: places.collect() }
}
