//! How the cases of a search for the best one are told from others.

/// What stands in the place of a suite's name.
pub const ADVISE: &str = "advise";
/// The heading of cheap looks.
pub const LOOKS: &str = "Looks";
/// The heading of what was measured at the real size.
pub const FINALS: &str = "Finals";
/// What the label of the naive way begins with.
pub const NAIVE: &str = "naive way";
