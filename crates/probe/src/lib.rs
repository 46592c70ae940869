//! Reads the environment of a benchmark from the kernel: machine, filesystem, device, settings.
//!
//! This is an internal part of writebench, without a stability promise.
//!
//! Readers take a root so tests can supply another, and parsers take text. An unknown fact is `None`, never a
//! guess. Only a target that cannot be inspected is an error.

mod block_device;
mod btrfs;
mod cgroup;
mod cpu;
mod device;
mod device_number;
mod device_use;
mod direct;
mod environment;
mod error;
mod file_layout;
mod filesystem;
mod holes;
mod hypervisor;
mod interconnect;
mod kernel_file;
mod layers;
mod memory;
mod mount;
mod mountinfo;
mod os_release;
mod pressure;
mod space;
mod stack;
mod swap;
mod system;
mod target;
mod tunables;

pub use block_device::{BlockDeviceFacts, block_device, open_block_device};
pub use cgroup::ControlGroups;
pub use device_use::{DeviceAlias, DeviceUse, DeviceUses, Edge, UseEnd, device_uses};
pub use environment::environment;
pub use error::ProbeError;
pub use holes::{data_bytes, next_data};
pub use interconnect::interconnect;
pub use memory::available_memory_bytes;
pub use pressure::cpu_wait;
pub use space::{Space, space, space_around};
