use writebench_model::Bytes;

use crate::numbers::{Choice, Choices};
use crate::sentences::number::{MILLISECONDS, share};
use crate::sentences::words::counted;

impl Choices {
    pub(crate) fn introduction(&self) -> String {
        let times = || self.times_ns.iter().copied();
        let [least, most] = [times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)];
        let (candidates, bytes) = (counted(self.times_ns.len(), "candidate"), Bytes(self.bytes).approximate());
        format!("{candidates} wrote {bytes} in {} ms.", MILLISECONDS.between(least, most).replace('–', "to"))
    }
}

impl Choice {
    pub(crate) fn words(&self) -> String {
        self.share.map_or_else(
            || "too few candidates".to_owned(),
            |explained| format!("{} of the spread", share(explained)),
        )
    }
}
