//! A case in the words of a programmer.

use crate::case::Case;
use crate::phrase::Phrase;

impl Case {
    /// The case as a programmer would say it: `fallocate(2), then write(2) in 64 KiB chunks, then fsync(2)`. Values that
    /// are the method's defaults, and the size of the file, go without saying.
    #[must_use]
    pub fn words(&self) -> String {
        let (mut first, mut call) = (String::new(), self.method().words);
        let (mut how, mut beside, mut last) = (String::new(), String::new(), String::new());
        for axis in self.chosen_axes() {
            match self.axes().phrase(axis) {
                Phrase::Silent => {}
                Phrase::First(before) => first += &format!("{before}, then "),
                Phrase::Instead(other) => call = other,
                Phrase::How(manner) => how += &format!(" {manner}"),
                Phrase::Beside(circumstance) => beside += &format!(", {circumstance}"),
                Phrase::Last(after) => last += &format!(", then {after}"),
            }
        }
        format!("{first}{call}{how}{beside}{last}")
    }
}
