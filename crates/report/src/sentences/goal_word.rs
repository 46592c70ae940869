//! A word or two for each goal.

use writebench_model::Goal;

/// `log`. A goal of the page cache and the durable one have the same word, below different headings.
pub(crate) fn label(goal: Goal) -> &'static str {
    match goal {
        Goal::Stream | Goal::DurableStream => "new file",
        Goal::LargerThanMemory => "large file",
        Goal::Overwrite | Goal::DurableOverwrite => "overwrite",
        Goal::Records => "log",
        Goal::Pages => "pages",
        Goal::UntornPages => "untorn pages",
        Goal::Copy | Goal::DurableCopy => "copy",
        Goal::Files | Goal::DurableFiles => "many files",
        Goal::Replace | Goal::DurableReplace => "replace",
    }
}

/// The word for `--for`: that of the screen if it is one.
pub(crate) fn word(goal: Goal) -> &'static str {
    let label = label(goal);
    if Goal::from_word(label) == Some(goal) {
        label
    } else {
        goal.name()
    }
}
