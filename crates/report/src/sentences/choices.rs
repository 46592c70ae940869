use writebench_model::Bytes;

use crate::numbers::{Choice, Choices};
use crate::sentences::number::{MILLISECONDS, share};
use crate::sentences::words::counted;

impl Choices {
    pub(crate) fn introduction(&self) -> String {
        let times = || self.times_ns.iter().copied();
        let [least, most] = [times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)];
        let (ways, bytes) = (counted(self.times_ns.len(), "way"), Bytes(self.bytes).approximate());
        format!("{ways} to write {bytes} took {} ms.", MILLISECONDS.between(least, most).replace('–', "to"))
    }
}

impl Choice {
    pub(crate) fn words(&self) -> String {
        self.share.map_or_else(
            || "too few ways to tell".to_owned(),
            |explained| format!("{} of the spread", share(explained)),
        )
    }
}
