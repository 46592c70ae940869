//! `--dry-run`: what would be run, and how much of it written.

use std::collections::BTreeSet;

use anyhow::Result;

use writebench_model::protocol::direct_check_bytes_of;
use writebench_model::{Bytes, Case, Settings, Verify};
use writebench_probe::Space;
use writebench_report::{counted, visible};
use writebench_runner::Hardware;

use super::properties;

/// What a run would do.
pub(crate) struct DryRun<'r> {
    /// Its different cases.
    pub cases: &'r [Case],
    pub settings: &'r Settings,
    /// Where samples would be taken, with the space of each directory.
    pub targets: Vec<(String, Option<Space>)>,
    /// The copy that stays.
    pub copy_bytes: u64,
    /// What the images of filesystems would take that the run makes itself.
    pub image_bytes: u64,
    /// Whether the limits of the hardware would be measured.
    pub limits: bool,
    /// Whether it would be looked at what filesystems do with files.
    pub properties: bool,
}

impl DryRun<'_> {
    /// Files of our own to be copied: one for each size, if the small ones come first.
    fn copied_bytes(&self) -> u64 {
        let copying =
            self.cases.iter().filter(|case| case.method().copies() && self.settings.copy_from.is_none());
        let sizes: BTreeSet<u64> = copying.map(|case| case.axes().size_bytes).collect();
        sizes.into_iter().fold(0, u64::saturating_add)
    }

    /// A line for each case, and what all of it comes to.
    pub(crate) fn text(&self) -> Result<String> {
        let (targets, spaces): (Vec<&str>, Vec<Option<Space>>) =
            self.targets.iter().map(|(name, space)| (name.as_str(), *space)).unzip();
        let mut text = String::new();
        for case in self.cases {
            text += &format!("{case}\n");
        }
        let (count, samples) = (self.targets.len() as u64, self.settings.samples);
        let round =
            self.cases.iter().map(Case::bytes_written).fold(0, u64::saturating_add).saturating_mul(count);
        let most_at_once = self.cases.iter().map(|case| case.axes().size_bytes).max().unwrap_or(0);
        text += &format!(
            "{} × {} into {}: {} to be written ({} in a round), at most {} at once. Nothing was written.\n",
            counted(self.cases.len(), "case"),
            counted(samples as usize, "sample"),
            visible(&targets.join(" and ")),
            Bytes(round.saturating_mul(u64::from(samples))).approximate(),
            Bytes(round).approximate(),
            Bytes(most_at_once).approximate(),
        );
        text += "Disturbed samples are taken again, up to as many more.\n";
        let if_wanted = |is_wanted: bool, bytes: u64| if is_wanted { bytes } else { 0 };
        let copied = self.copied_bytes().saturating_mul(count);
        let direct = direct_check_bytes_of(self.cases).saturating_mul(count);
        let direct = if_wanted(self.settings.verify != Verify::Never, direct);
        let limits = if_wanted(self.limits, Hardware::of(self.cases, self.settings, &spaces)?.bytes());
        let properties = if_wanted(self.properties, properties::most_bytes(self.targets.len()));
        // Bytes that are no sample's.
        let beside = [
            ("Up to ", copied, "are files to be copied"),
            ("Up to ", direct, "show whether O_DIRECT goes past the page cache"),
            ("", self.copy_bytes, "are the copy that stays"),
            ("", self.image_bytes, "are images, written once"),
            ("Up to ", limits, "show what the device can do at most, without --no-limits"),
            ("Up to ", properties, "show what the filesystems do with files, without --no-properties"),
        ];
        for (up_to, bytes, what) in beside {
            if bytes > 0 {
                text += &format!("{up_to}{} more {what}.\n", Bytes(bytes).approximate());
            }
        }
        Ok(text)
    }
}
