//! Where a run writes to.

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::limit::Limit;
use crate::making::Making;
use crate::properties::Properties;

/// A target that was measured, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// What tables call it; different from all others of the run.
    pub name: String,
    /// The directory or the block device written to.
    pub path: String,
    /// What was measured on.
    pub environment: Environment,
    /// What the hardware could do at most.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// How the run made its filesystem; none if it was there.
    #[serde(default)]
    pub making: Option<Making>,
    /// What its filesystem does with files; none if that was not looked at.
    #[serde(default)]
    pub properties: Option<Properties>,
}

/// A target that was asked for and that this machine cannot give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTarget {
    /// What tables call it.
    pub name: String,
    /// Why there is none.
    pub why: String,
}
