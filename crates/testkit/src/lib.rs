//! Shared test code. Development only.

mod bindfs;
mod call;
#[cfg(feature = "commands")]
pub mod command;
mod control_group;
mod database_lock;
mod default_signals;
mod directory;
#[cfg(feature = "cases")]
mod example;
#[cfg(feature = "faulty")]
mod faulty;
mod gluster;
mod group;
mod image;
#[cfg(feature = "cases")]
mod java;
mod loop_device;
mod mounted;
mod program;
mod python;
mod set_clock;
#[cfg(feature = "cases")]
mod snippet;
mod test_rng;
mod throttle;
mod trial;

pub use bindfs::Bindfs;
pub use call::{call, has_program, strace, traced_calls};
pub use control_group::ControlGroup;
pub use database_lock::DatabaseLock;
pub use default_signals::with_default_signals;
pub use directory::{Kind, directory_on};
#[cfg(feature = "cases")]
pub use example::{example_case, example_pairs, example_run, example_target, recorded, section_of};
#[cfg(feature = "faulty")]
pub use faulty::{Caching, Call, Fault, Faulty, Operation, What, When};
pub use gluster::Gluster;
pub use image::Image;
pub use loop_device::{LoopDevice, loop_devices};
pub use mounted::{Mounted, unmount};
pub use program::{
    Ended, Program, children, descendants, entries, extended, is_agent, is_alive, is_worker,
    kill_run, most_memory_bytes, send, wait_for, worker,
};
pub use python::python_with;
pub use rustix::io::Errno;
pub use set_clock::SetClock;
#[cfg(feature = "cases")]
pub use snippet::{Purpose, compiled, rust_libraries};
pub use test_rng::TestRng;
pub use throttle::Throttle;
pub use trial::{Need, Trials};
