use anyhow::Result;
use writebench_model::{Goal, Space};

use super::reference::field;

/// The goals with their contracts, the everyday words for them, and the command of each.
pub(super) fn all(width: usize) -> Result<String> {
    let blocks: Vec<String> = Goal::ALL
        .iter()
        .map(|&goal| block(goal, width))
        .collect::<Result<_>>()?;
    Ok(blocks.join("\n"))
}

fn block(goal: Goal, width: usize) -> Result<String> {
    let title = Space::for_goal(goal, &[])?.title;
    let mut text = format!("{goal}\n");
    text += &field("  task", &title, width);
    text += &field("  afterwards", goal.summary(), width);
    if !goal.aliases().is_empty() {
        text += &field("  also called", &goal.aliases().join(", "), width);
    }
    text += &field(
        "  command",
        &format!("writebench advise --for {goal}"),
        width,
    );
    text += &field("  plain write", &goal.baseline().to_string(), width);
    Ok(text)
}
