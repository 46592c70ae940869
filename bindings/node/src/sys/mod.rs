#![allow(unsafe_code, reason = "descriptors that are numbers, and Node-API")]

#[cfg_attr(unix, path = "descriptor_unix.rs")]
#[cfg_attr(windows, path = "descriptor_windows.rs")]
pub(crate) mod descriptor;
mod event_loop;
pub(crate) mod external;
