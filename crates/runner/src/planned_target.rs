use std::path::PathBuf;

use writebench_model::Reserve;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedTarget {
    /// The target's name in the run's record.
    pub name: String,
    pub path: PathBuf,
    /// The device whose written sectors are counted.
    pub device_number: Option<String>,
    /// Whether to sync all filesystems before a sample, because syncing the target's does not reach the one
    /// below it.
    pub sync_all: bool,
    pub reserve: Reserve,
}
