use std::path::Path;

use anyhow::Result;
use writebench_filesystems::FilesystemRequest;
use writebench_model::{Bytes, Case};
use writebench_report::visible;

use crate::exit::{refused, usage};

pub(super) struct Images<'c> {
    below: &'c Path,
    pub requests: &'c [FilesystemRequest],
    /// The most bytes that a case has in a filesystem at once.
    pub content_bytes: u64,
    pub bytes: u64,
    memory_bytes: u64,
    pub are_in_memory: bool,
}

impl<'c> Images<'c> {
    pub(super) fn plan(
        below: &'c Path,
        requests: &'c [FilesystemRequest],
        cases: &[Case],
    ) -> Result<Self> {
        // The source of a copy exists at the same time.
        let bytes = |case: &Case| {
            case.space_bytes()
                .saturating_mul(if case.method().has_source_file() {
                    2
                } else {
                    1
                })
        };
        let content_bytes = cases.iter().map(bytes).max().unwrap_or(0);
        let image_bytes = requests
            .iter()
            .map(|request| request.kind.image_bytes(content_bytes))
            .fold(0, u64::saturating_add);
        let in_memory = requests
            .iter()
            .filter(|request| request.kind.is_in_memory())
            .count() as u64;
        let unknown = |error| usage!("--images {}: {error}", below.display());
        let are_in_memory = writebench_probe::environment(below)
            .map_err(unknown)?
            .filesystem
            .is_in_memory();
        let images_in_memory = if are_in_memory { image_bytes } else { 0 };
        let memory_bytes = in_memory
            .saturating_mul(content_bytes)
            .saturating_add(images_in_memory);
        Ok(Self {
            below,
            requests,
            content_bytes,
            bytes: image_bytes,
            memory_bytes,
            are_in_memory,
        })
    }

    /// Checks that the memory holds all images and the data, and that `max_bytes` exceeds the images.
    pub(super) fn check(&self, max_bytes: Option<Bytes>) -> Result<()> {
        let available_bytes = writebench_probe::available_memory_bytes()?;
        if self.memory_bytes.saturating_add(self.content_bytes) > available_bytes / 10 * 9 {
            let [needed, available] =
                [self.memory_bytes, available_bytes].map(|bytes| Bytes(bytes).approximate());
            return Err(refused!(
                "not enough memory: images and files in it take {needed}, {available} are available. Use --images on a \
                 disk, a smaller --size, or fewer kinds"
            ));
        }
        match max_bytes {
            Some(most) if self.bytes >= most.0 => Err(usage!(
                "--max-bytes {most} is less than the images, which take {}. Raise it, or give a smaller --size",
                Bytes(self.bytes).approximate()
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn text(&self) -> String {
        let line = |request: &FilesystemRequest| match request.kind.image_bytes(self.content_bytes)
        {
            0 => format!("{}, in memory\n", request.kind),
            bytes => {
                let size = Bytes(bytes).approximate();
                let below = self.below.to_string_lossy();
                format!("{}, in {size} of {}\n", request.kind, visible(&below))
            }
        };
        self.requests.iter().map(line).collect()
    }
}
