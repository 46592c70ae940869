//! Filesystems that exist only for a study.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use writebench_model::Bytes;
use writebench_testkit::command::output;
use writebench_testkit::{Caching, Call, Fault, Faulty, LoopDevice, Mounted, Throttle, What, When};

/// How to make a filesystem in an image file.
struct Kind {
    name: &'static str,
    /// The word in `mkfs.FAMILY`.
    family: &'static str,
    mkfs_words: &'static [&'static str],
    /// The most that the device takes.
    bytes_per_s: Option<u64>,
}

/// Lazy initialisation would write during some sample.
const EAGER: &str = "lazy_itable_init=0,lazy_journal_init=0";

/// Kinds that differ from what mkfs makes.
const KINDS: &[Kind] = &[
    Kind {
        name: "ext4-1k-blocks",
        family: "ext4",
        mkfs_words: &["-E", EAGER, "-b", "1024"],
        bytes_per_s: None,
    },
    Kind {
        name: "ext4-slow-disk",
        family: "ext4",
        mkfs_words: &["-E", EAGER],
        bytes_per_s: Some(100_000_000),
    },
    Kind {
        name: "xfs-no-reflink",
        family: "xfs",
        mkfs_words: &["-m", "reflink=0"],
        bytes_per_s: None,
    },
];

/// A filesystem of FUSE in memory, where each fsync of a sample's file takes so long.
const SLOW_SYNC: &str = "fuse-slow-sync";
const SYNC_TIME: Duration = Duration::from_millis(5);

/// The names of the samples' files.
const SAMPLE: &str = "sample";

pub(crate) enum Made {
    Image(Image),
    SlowSync(Faulty),
}

/// The fields are dropped in this order.
pub(crate) struct Image {
    mounted: Mounted,
    _throttle: Option<Throttle>,
    _device: LoopDevice,
}

impl Made {
    /// Makes and mounts the filesystem. A kind that is not ours is a word of mkfs, such as `btrfs`.
    pub(crate) fn new(name: &str, size: Bytes) -> Result<Self> {
        if name == SLOW_SYNC {
            return slow_sync().map(Self::SlowSync);
        }
        let plain = Kind {
            name: "",
            family: "",
            mkfs_words: &[],
            bytes_per_s: None,
        };
        let kind = KINDS.iter().find(|kind| kind.name == name);
        let family = kind.map_or(name, |kind| kind.family);
        let kind = kind.unwrap_or(&plain);
        let device = LoopDevice::attach_for_measurements(size.0)?;
        let mut mkfs = Command::new(format!("mkfs.{family}"));
        mkfs.arg("-q").args(kind.mkfs_words).arg(device.path());
        output(&mut mkfs)
            .with_context(|| format!("{name} is neither a word of mkfs nor one of {}", names()))?;
        let throttle = kind
            .bytes_per_s
            .map(|most| Throttle::hold(device.path(), most))
            .transpose()
            .context("the device cannot be slowed down without blkio of version 1")?;
        Ok(Self::Image(Image {
            mounted: device.mount()?,
            _throttle: throttle,
            _device: device,
        }))
    }

    pub(crate) fn path(&self) -> PathBuf {
        let path: &Path = match self {
            Self::Image(image) => image.mounted.path(),
            Self::SlowSync(faulty) => faulty.path(),
        };
        path.to_owned()
    }
}

fn slow_sync() -> Result<Faulty> {
    let faulty = Faulty::mount(SAMPLE, Caching::WriteBack)?;
    faulty.follow(&[Fault {
        when: When::Each(Call::Fsync),
        what: What::Delay(SYNC_TIME),
    }]);
    Ok(faulty)
}

/// The names that are not words of mkfs.
fn names() -> String {
    let names = KINDS.iter().map(|kind| kind.name).chain([SLOW_SYNC]);
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Instant;

    use super::*;

    #[test]
    fn every_name_is_in_the_help() {
        use clap::CommandFactory as _;
        #[derive(clap::Parser)]
        struct Study {
            #[command(flatten)]
            _targets: crate::target::Targets,
        }
        let help = Study::command().render_long_help().to_string();
        for name in names().split(", ") {
            assert!(help.contains(name), "{help}");
        }
    }

    #[test]
    fn only_syncs_of_samples_are_slow() {
        let Ok(made) = Made::new(SLOW_SYNC, Bytes(0)) else {
            eprintln!("skipped: this user cannot mount FUSE filesystems");
            return;
        };
        let time = |name: &str| {
            let file = File::create(made.path().join(name)).unwrap();
            let start = Instant::now();
            file.sync_all().unwrap();
            start.elapsed()
        };
        assert!(time("sample.1") >= SYNC_TIME);
        // Other programs may slow it down once, and not each time.
        let others = (0..200).map(|number| time(&format!("other.{number}")));
        assert!(others.min().unwrap() < SYNC_TIME);
    }
}
