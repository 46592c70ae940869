//! What a document says of a run apart from its rows and samples. The exports write it, and the import reads it.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use writebench_model::{MOST_TARGETS, MissingTarget, RunRecord, TargetRecord, at_most};

#[derive(Serialize, Deserialize)]
pub(crate) struct Run<'r> {
    number: Option<i64>,
    /// The settings have it too. Readers look for it here.
    seed: u64,
    #[serde(flatten)]
    pub run: Cow<'r, RunRecord>,
}

impl<'r> Run<'r> {
    pub(crate) fn new(number: Option<i64>, run: Cow<'r, RunRecord>) -> Self {
        Self {
            number,
            seed: run.settings.seed,
            run,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Targets<'r> {
    #[serde(deserialize_with = "targets")]
    pub targets: Cow<'r, [TargetRecord]>,
    #[serde(alias = "missing", deserialize_with = "targets")]
    pub missing_targets: Cow<'r, [MissingTarget]>,
}

impl<'r> Targets<'r> {
    pub(crate) fn of(run: &'r RunRecord) -> Self {
        Self {
            targets: Cow::Borrowed(&run.targets),
            missing_targets: Cow::Borrowed(&run.missing),
        }
    }
}

fn targets<'de, 'r, D: Deserializer<'de>, T: Deserialize<'de> + Clone>(
    from: D,
) -> Result<Cow<'r, [T]>, D::Error> {
    at_most(from, MOST_TARGETS, "targets").map(Cow::Owned)
}
