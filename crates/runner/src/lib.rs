//! Plans and supervises a run. This is an internal part of writebench, without a stability promise.
//!
//! Agents make all calls on targets. One of them takes the samples, so a SIGBUS, a hang or an out-of-memory kill costs
//! only one sample.
//! Each round has all its cases in random order by a recorded seed, so drift affects all alike.

mod adaptive_size;
mod agent;
mod barrier;
mod bytes_written;
mod claim;
mod claim_error;
mod communicator;
mod contest;
mod contests;
mod directory_entry;
mod disturbance;
mod error;
mod gated_rounds;
mod hardware;
mod holders;
mod leftover;
mod limits;
mod pipe;
mod planned_target;
mod ranks;
mod round_order;
mod schedule;
mod signature;
mod space;
mod stall_tracker;
mod supervise;
mod target_agent;
mod workers;
mod workspace;

pub use adaptive_size::{AdaptiveSize, SizedSchedule};
pub use agent::{AgentCommand, Deadline, ProgressRecord, RequestOutcome};
pub use barrier::BarrierClient;
pub use bytes_written::Written;
pub use claim::{ClaimedDevice, check_claim, claim_device, device_description};
pub use claim_error::ClaimError;
pub use communicator::{Communicator, Coordinator, RankReport};
pub use contest::{Contest, Rule};
pub use contests::Contests;
pub use disturbance::Disturbance;
pub use error::RunnerError;
pub use gated_rounds::GatedRounds;
pub use hardware::Hardware;
pub use holders::children;
pub use limits::{Pace, check_device, check_memory, check_sectors, deadline};
pub use pipe::{reply, serve_requests};
pub use planned_target::PlannedTarget;
pub use round_order::PlannedCase;
pub use schedule::{EachCase, SampleSummary, Schedule, Spent, is_given_up};
pub use space::{check_space, shortage_of_sample};
pub use supervise::{End, Observer, SamplingPlan, supervise};
pub use target_agent::{
    Inspection, RunDirectory, StaleWorkspaces, TIMEOUT, TargetAgent, TargetKind, TargetState,
    inspect_copy_destination, inspect_source, open_source,
};
pub use workers::{LostWorkers, Workers};
pub use workspace::{Leftover, remove_samples, workspace_path};
