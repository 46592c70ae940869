//! What printed code claims to leave after a power loss. Development only.
//!
//! Each claim is declared once. The tests of this crate check some on the common filesystems, and
//! `cargo studies powerloss` all on more of them, and with more disks.

mod claim;
mod declared;
mod filesystem;
mod log;
mod pages;
mod printed;
mod qemu;
mod scene;

pub use claim::{Claim, Expected, TRIES};
pub use declared::{claims, recorded_twice};
pub use filesystem::Filesystem;
pub use scene::{Outcome, Scene};
