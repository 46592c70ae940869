//! What the newest run knows about a case beyond its calls.

use writebench_model::Case;

use crate::database;
use crate::global::Global;

/// A sentence for the comment of printed code, if the case is not durable on a target of the newest run.
pub(crate) fn for_code(case: &Case, global: &Global) -> Option<String> {
    let store = database::open_existing(global.db.as_deref()).ok()?;
    let number = store.runs().ok()?.last()?.number;
    let targets = store.run(number).ok()?.targets;
    let (target, why) = targets
        .iter()
        .find_map(|target| Some((target, target.why_not_durable(case)?)))?;
    Some(format!(
        "Not durable on {}, the target of run {number}: {why}.",
        target.name
    ))
}
