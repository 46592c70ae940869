//! Where a number from JavaScript becomes an open file, and memory of Rust's becomes a `Buffer` of Node's.

#![allow(unsafe_code, reason = "descriptors that are numbers, and Node-API")]

#[cfg_attr(unix, path = "descriptor_unix.rs")]
#[cfg_attr(windows, path = "descriptor_windows.rs")]
pub(crate) mod descriptor;
pub(crate) mod external;
