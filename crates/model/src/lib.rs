//! The terms of writebench as plain data, without I/O.
//!
//! This is an internal part of writebench, without a stability promise.

mod axis;
mod bounded;
mod canonical;
mod case;
mod case_record;
mod consistency;
mod constraint;
mod data;
mod decision;
mod disturbed_by;
mod durability;
mod earlier_names;
mod environment;
mod event;
mod experience;
mod file_set;
mod form;
mod goal;
mod kernel;
mod kernel_threads;
mod method;
mod objective;
mod path_text;
mod phase;
pub mod protocol;
mod quantity;
mod ranks;
mod requirement;
mod reserve;
mod run;
mod sample;
mod similar;
mod size;
mod space;
mod strategy;
mod suite;
mod sync;
mod target;
mod value;
mod value_card;
mod words;
mod workload;

pub use axis::{ArrivalRate, Axis, Choices, Given, WriteBehind};
pub use bounded::{MOST_SAMPLES, at_most};
pub use case::{Assignment, Case, CaseError, Unfit};
pub use case_record::{
    CaseOrigin, CaseRecord, CaseTexts, Layout, RecordedCase, Stage, distinct_rows,
};
pub use constraint::Constraint;
pub use data::Data;
pub use decision::{ContestAnswer, Decision};
pub use disturbed_by::DisturbedBy;
pub use durability::{DurableCall, DurableCalls, Keeper};
pub use earlier_names::todays_name;
pub use environment::{
    AtomicWrites, Cpu, Device, DirectAlignment, Environment, Filesystem, LayerBelow, LayerRole,
    Memory, System,
};
pub use event::{FoldedRun, RunEvent};
pub use experience::Experience;
pub use file_set::FileSize;
pub use form::ValueEntry;
pub use goal::Goal;
pub use kernel::{KernelChange, KernelRelease};
pub use kernel_threads::{KernelShare, KernelThreads};
pub use method::{Copying, Cursor, FioEngine, Method, MethodCard};
pub use objective::Objective;
pub use path_text::{path_from_text, path_text};
pub use phase::Phase;
pub use quantity::{Bytes, Range, Stride, counted, nanoseconds, parse_duration, split};
pub use ranks::{Cluster, Node, RankName, RankTimes, Spread};
pub use requirement::{Measure, Requirement};
pub use reserve::Reserve;
pub use run::{ProgramCommands, RunRecord, RunStatus, Settings, Verify};
pub use sample::{
    Extent, Failure, Latency, Outcome, PhasesNs, ReadBack, ReadFrom, Sample, SampleDocument,
    SystemState, Timeline,
};
pub use similar::{did_you_mean, is_slip, unknown};
pub use size::{
    LONGEST_ARGUMENT_BYTES, LONGEST_NAME, MOST_DOCUMENT_BYTES, MOST_ROWS, MOST_TARGETS, TooMuch,
};
pub use space::Space;
pub use strategy::Strategy;
pub use suite::{
    AxisValues, CasePrefix, Overrides, SUITES, Section, SelectedCase, Selection, Suite, SuiteError,
    built_in_suites, combinations, suite_named,
};
pub use sync::{Sync, SyncCall};
pub use target::{FilesystemSpec, Image, Limit, LimitKind, MissingTarget, TargetRecord};
pub use value::*;
pub use value_card::{InCode, ValueCard};
pub use workload::{
    Content, DataSource, Durability, Pages, Shortfall, Start, Torn, Visibility, Workload,
};
