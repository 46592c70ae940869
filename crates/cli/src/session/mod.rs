//! A run that is measured: where it writes to, what it copies, how long it may take, and where it is recorded.

pub mod copied;
pub mod dry_run;
mod hardware;
pub mod measure;
pub mod place;
mod progress;
mod properties;
mod recorder;
mod streams;
pub mod workspaces;
