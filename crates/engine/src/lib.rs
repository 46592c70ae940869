//! Runs one case in this process. This is an internal part of writebench, without a stability promise.
//!
//! [`Engine::sample`] takes a [`writebench_model::Case`] through its phases: settle, open, prepare, write,
//! sync, close, verify, clean. `run` reads the clock at their borders, and only latencies and timelines read it
//! inside phase write. Each method has its own chunk loop, so dynamic dispatch happens once per thread and
//! phase.

mod ahead;
mod barrier;
mod call;
mod copy_source;
mod direct_path;
mod dirty_pages;
mod extents;
mod file;
mod file_tree;
mod guard;
mod journal;
mod kernel_threads;
mod limit;
mod machine;
mod methods;
mod old_file;
mod page_cache;
mod page_writes;
mod pattern;
mod program;
mod read_back;
mod region;
mod run;
mod settle;
mod source;
mod staging;
mod sync;
mod thread_state;
mod threads;
mod timeline;
mod verify;
mod verify_set;
mod warm_memory;
mod watch;
mod write_behind;
mod write_loop;

pub use barrier::{RankBarrier, monotonic_ns};
pub use file::Target;
pub use guard::{GUARD, guard};
pub use program::{FILE as PROGRAM_FILE, SOURCE as PROGRAM_SOURCE};
pub use run::{AvailableMemory, Engine};
