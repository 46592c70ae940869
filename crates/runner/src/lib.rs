//! Plans and supervises a run.
//!
//! Samples are taken by a worker process, so that whatever happens to one (a SIGBUS, a hang, an
//! out-of-memory kill) is that sample's outcome; a new worker takes the next. All live cases come
//! once in every round, in a random order from a recorded seed, so that drift hits all alike.

mod claim;
mod disturbance;
mod error;
#[cfg(test)]
mod example_method;
mod hardware;
mod hold_ups;
mod holders;
mod limits;
mod noise;
mod order;
mod place;
mod properties;
mod race;
mod refusal;
mod schedule;
mod signature;
mod space;
mod supervise;
mod wear;
mod worker;
mod workspace;

pub use claim::{ClaimedDevice, claim_device, device_description};
pub use disturbance::Disturbance;
pub use error::RunnerError;
pub use hardware::Hardware;
pub use limits::{check_device, check_memory, check_sectors, deadline};
pub use noise::measure_noise;
pub use properties::{LearntProperties, learn_properties};
pub use race::{Race, RaceLimits};
pub use refusal::DeviceRefusal;
pub use schedule::{EachCase, Schedule, Spent, Taken};
pub use space::check_space;
pub use supervise::{End, Event, Observer, Plan, Planned, PlannedTarget, supervise};
pub use worker::{ProgressRecord, WorkerCommand};
pub use workspace::{LeftOver, Workspace, is_in_use, remove_left_over};
