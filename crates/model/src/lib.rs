//! writebench's vocabulary as plain data. Nothing here performs I/O.
//!
//! A [`Case`] is one point in the space of [`Axis`] values and has a name that parses back to it;
//! a [`Suite`] is a named list of cases; a [`Sample`] is one timed execution of a case and what
//! came of it; a [`Contract`] says which cases may be ranked together.

mod axis;
mod bytes;
mod case;
mod contract;
mod duration;
mod environment;
mod method;
pub mod protocol;
mod range;
mod run;
mod sample;
mod suite;

pub use axis::{
    AllocateCall, Axes, Axis, Data, Descriptor, Files, InvalidValue, MapSharing, Prepare, Source, Sync,
};
pub use bytes::{Bytes, ParseBytesError};
pub use case::{Assignment, Case, CaseError};
pub use contract::{Content, Contract, Durability, Start};
pub use duration::{ParseDurationError, parse_duration};
pub use environment::{Cpu, Device, Environment, Filesystem, Memory, System};
pub use method::{Cursor, MethodInfo};
pub use range::{Range, split};
pub use run::{CaseRecord, RunRecord, RunStatus, Settings, Verify};
pub use sample::{Failure, Outcome, Phase, PhasesNs, Sample};
pub use suite::{Overrides, Row, SUITES, Section, Suite, SuiteError, built_in_suites, suite_named};
