//! `--dry-run`: what would be run, and how much of it written.

use std::collections::BTreeSet;

use writebench_model::protocol::direct_check_bytes_of;
use writebench_model::{Bytes, Case};
use writebench_report::{counted, visible};

use crate::session::properties;

/// What a run would do.
pub struct DryRun<'r> {
    /// Its different cases.
    pub cases: &'r [Case],
    /// Whether what they copy is there already.
    pub copied: bool,
    /// The copy that stays.
    pub copy_bytes: u64,
    /// Undisturbed samples of each.
    pub samples: u32,
    /// Where they would be taken.
    pub targets: Vec<String>,
    /// What the images of filesystems would take that the run makes itself.
    pub image_bytes: u64,
    /// What the limits of the hardware would write, where they are measured.
    pub limit_bytes: u64,
    /// Whether it would be looked at what filesystems do with files.
    pub properties: bool,
    /// Whether samples would be read back.
    pub is_read_back: bool,
}

impl DryRun<'_> {
    /// Files of our own to be copied: one for each size, if the small ones come first.
    fn copied_bytes(&self) -> u64 {
        let copying = self.cases.iter().filter(|case| case.method().copies() && !self.copied);
        let sizes: BTreeSet<u64> = copying.map(|case| case.axes().size_bytes).collect();
        sizes.into_iter().fold(0, u64::saturating_add)
    }

    /// A line for each case, and what all of it comes to.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for case in self.cases {
            text += &format!("{case}\n");
        }
        let count = self.targets.len() as u64;
        let round =
            self.cases.iter().map(Case::bytes_written).fold(0, u64::saturating_add).saturating_mul(count);
        let most_at_once = self.cases.iter().map(|case| case.axes().size_bytes).max().unwrap_or(0);
        text += &format!(
            "{} × {} into {}: {} to be written ({} in a round), at most {} at once. Nothing was written.\n",
            counted(self.cases.len(), "case"),
            counted(self.samples as usize, "sample"),
            visible(&self.targets.join(" and ")),
            Bytes(round.saturating_mul(u64::from(self.samples))).approximate(),
            Bytes(round).approximate(),
            Bytes(most_at_once).approximate(),
        );
        text += "Disturbed samples are taken again, up to as many more.\n";
        let copied_bytes = self.copied_bytes().saturating_mul(count);
        if copied_bytes > 0 {
            text += &format!("Up to {} more are files to be copied.\n", Bytes(copied_bytes).approximate());
        }
        let direct_check_bytes = direct_check_bytes_of(self.cases).saturating_mul(count);
        if self.is_read_back && direct_check_bytes > 0 {
            let bytes = Bytes(direct_check_bytes).approximate();
            text += &format!("Up to {bytes} more show whether O_DIRECT goes past the page cache.\n");
        }
        if self.copy_bytes > 0 {
            text += &format!("{} more are the copy that stays.\n", Bytes(self.copy_bytes).approximate());
        }
        if self.image_bytes > 0 {
            text += &format!("{} more are images, written once.\n", Bytes(self.image_bytes).approximate());
        }
        if self.limit_bytes > 0 {
            let bytes = Bytes(self.limit_bytes).approximate();
            text += &format!("Up to {bytes} more show what the device can do at most, without --no-limits.\n");
        }
        if self.properties {
            let bytes = Bytes(properties::most_bytes(self.targets.len())).approximate();
            text += &format!(
                "Up to {bytes} more show what the filesystems do with files, without --no-properties.\n"
            );
        }
        text
    }
}
