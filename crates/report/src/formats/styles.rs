use anstyle::{AnsiColor, Style};

pub(super) const HEADING: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const FAULT: Style = AnsiColor::Red.on_default();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();

/// All styles that a report has. Any other in its text is foreign.
pub const STYLES: [Style; 4] = [HEADING, QUIET, FAULT, WARNING];
