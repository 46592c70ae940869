use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rustix::fs::{Advice, SeekFrom};
use writebench_filesystems::FilesystemKind;
use writebench_testkit::{Caching, Faulty, Image, Need, Trials, entries};

use crate::kept::{Kept, loops_over, request};

const MIB: u64 = 1 << 20;

pub(crate) fn add(trials: &mut Trials) {
    for kind in FilesystemKind::defaults() {
        let base = kind
            .to_string()
            .split(':')
            .next_back()
            .unwrap_or_default()
            .to_owned();
        let mut needs = vec![Need::LoopDevice];
        // The first part of a variant's name is its mkfs.
        needs.extend(match base.split('-').next() {
            Some("ext2") => Some(Need::Image("ext2")),
            Some("ext3") => Some(Need::Image("ext3")),
            Some("ext4") => Some(Need::Image("ext4")),
            Some("xfs") => Some(Need::Image("xfs")),
            Some("btrfs") => Some(Need::Image("btrfs")),
            _ => None,
        });
        needs.extend(
            kind.to_string()
                .starts_with("fuse:")
                .then_some(Need::Bindfs),
        );
        let name = format!("{kind} is made, holds written data and is gone after its removal");
        trials.add(name, &needs, move || holds_what_is_written(&kind));
    }
    let ext4 = [
        Need::Image("ext4"),
        Need::Filesystem(writebench_testkit::Kind::Ext4),
    ];
    trials.add(
        "loop devices over ext4 are direct, as recorded",
        &ext4,
        direct_over_ext4,
    );
    trials.add(
        "the record agrees with sysfs over tmpfs",
        &ext4,
        recorded_over_tmpfs,
    );
    let all = [Need::Image("xfs"), Need::Image("btrfs")]
        .into_iter()
        .chain(ext4)
        .collect::<Vec<_>>();
    trials.add(
        "images have neither names nor holes",
        &all,
        no_names_and_no_holes,
    );
    let bindfs = [Need::Image("ext4"), Need::Bindfs];
    trials.add(
        "options are recorded and in effect",
        &bindfs,
        options_are_in_effect,
    );
    let faulty = [Need::Image("ext4"), Need::Fuse];
    trials.add(
        "an image loses its name at once on a filesystem without nameless files",
        &faulty,
        images_without_tmpfile,
    );
    let btrfs = [Need::Image("btrfs"), Need::Image("ext4")];
    trials.add(
        "images on btrfs are not copied on write",
        &btrfs,
        images_on_btrfs,
    );
}

fn holds_what_is_written(kind: &FilesystemKind) -> Result<()> {
    let kept = Kept::start(
        writebench_testkit::Kind::Ext4,
        64 * MIB,
        &[request(&kind.to_string(), &[], None)],
    )?
    .made()?;
    let making = kept.making(0)?;
    ensure!(making.kind == kind.to_string() && making.mkfs_options.is_empty());
    let total: u64 = making.images.iter().map(|image| image.size_bytes).sum();
    ensure!(total == kind.image_bytes(64 * MIB), "{making:?}");
    ensure!(making.images.len() == loops_over(kept.images()).len());
    write_and_read_again(&kept.path(0)?.join("file"))?;
    kept.remove()
}

fn write_and_read_again(path: &Path) -> Result<()> {
    // Each page has its own number.
    let block = |index: u64| -> Vec<u8> {
        let mut block = vec![7; 1 << 20];
        for (at, page) in (0..MIB).step_by(4096).zip(block.chunks_exact_mut(4096)) {
            page[..8].copy_from_slice(&(index * MIB + at).to_le_bytes());
        }
        block
    };
    let mut file = File::create_new(path)?;
    for index in 0..64 {
        file.write_all(&block(index))?;
    }
    file.sync_all()?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?;
    let mut file = File::open(path)?;
    let mut read = vec![0; usize::try_from(MIB)?];
    for index in 0..64 {
        file.read_exact(&mut read)?;
        ensure!(read == block(index), "MiB {index} of {}", path.display());
    }
    ensure!(file.read(&mut read)? == 0);
    Ok(())
}

fn direct_over_ext4() -> Result<()> {
    let kept = Kept::start(
        writebench_testkit::Kind::Ext4,
        0,
        &[request("ext4", &[], None)],
    )?
    .made()?;
    let image = kept.making(0)?.images.remove(0);
    ensure!(
        image.direct_io && image.direct_io_refused.is_none(),
        "{image:?}"
    );
    ensure!(image.directory_filesystem == "ext4", "{image:?}");
    ensure!(
        image.directory == kept.images().to_string_lossy(),
        "{image:?}"
    );
    as_in_sysfs(&image)?;
    kept.remove()
}

fn recorded_over_tmpfs() -> Result<()> {
    let kept = Kept::start(
        writebench_testkit::Kind::Tmpfs,
        0,
        &[request("ext4", &[], None)],
    )?
    .made()?;
    let image = kept.making(0)?.images.remove(0);
    ensure!(image.directory_filesystem == "tmpfs", "{image:?}");
    ensure!(
        image.direct_io == image.direct_io_refused.is_none(),
        "{image:?}"
    );
    as_in_sysfs(&image)?;
    kept.remove()
}

fn as_in_sysfs(image: &writebench_model::Image) -> Result<()> {
    let fact = |of: &str| fs::read_to_string(format!("/sys/block/{}/{of}", image.device));
    ensure!(
        fact("loop/dio")?.trim() == if image.direct_io { "1" } else { "0" },
        "{image:?}"
    );
    ensure!(fact("loop/autoclear")?.trim() == "1");
    ensure!(
        fact("queue/logical_block_size")?.trim() == image.logical_sector_bytes.to_string(),
        "{image:?}"
    );
    ensure!(
        fact("size")?.trim().parse::<u64>()? * 512 == image.size_bytes,
        "{image:?}"
    );
    Ok(())
}

fn no_names_and_no_holes() -> Result<()> {
    let requests = ["ext4", "xfs", "btrfs-raid0"].map(|kind| request(kind, &[], None));
    let kept = Kept::start(writebench_testkit::Kind::Ext4, 0, &requests)?.made()?;
    ensure!(entries(kept.images()).is_empty());
    let mut seen = 0;
    for descriptor in entries(Path::new(&format!("/proc/{}/fd", kept.pid()))) {
        let Ok(target) = fs::read_link(&descriptor) else {
            continue;
        };
        if !target.starts_with(kept.images()) || target == kept.images() {
            continue;
        }
        let file = File::open(&descriptor)?;
        let size = file.metadata()?.len();
        // Mounting has written to the images, which makes no holes.
        ensure!(
            rustix::fs::seek(&file, SeekFrom::Hole(0))? == size,
            "a hole in {}",
            target.display()
        );
        seen += 1;
    }
    // Each image is open twice, once for direct I/O.
    ensure!(seen == 8, "{seen}");
    kept.remove()
}

fn options_are_in_effect() -> Result<()> {
    let requests = [
        request(
            "ext4",
            &["-b", "1024", "-O", "^metadata_csum"],
            Some("noatime,commit=7"),
        ),
        request("overlay:ext4", &["-b", "2048"], Some("noatime")),
        request("fuse:ext4", &[], Some("noatime")),
        request("tmpfs", &[], Some("nr_inodes=100")),
    ];
    let kept = Kept::start(writebench_testkit::Kind::Tmpfs, 0, &requests)?.made()?;
    let making = kept.making(0)?;
    ensure!(
        making.mkfs_options == ["-b", "1024", "-O", "^metadata_csum"],
        "{making:?}"
    );
    ensure!(
        making.mount_options.as_deref() == Some("noatime,commit=7"),
        "{making:?}"
    );
    let node = format!("/dev/{}", making.images[0].device);
    let mkfs = format!(
        "mkfs.ext4 -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 -b 1024 -O ^metadata_csum {node}"
    );
    ensure!(making.commands[0] == mkfs, "{making:?}");
    ensure!(
        making.commands[1].starts_with("mount -n -t ext4 -o noatime,commit=7 /dev/loop"),
        "{making:?}"
    );
    ensure!(making.commands.len() == 2, "{making:?}");
    ensure!(rustix::fs::statvfs(kept.path(0)?)?.f_bsize == 1024);
    ensure!(kept.mount_line(0)?.contains("noatime") && kept.mount_line(0)?.contains("commit=7"));
    ensure!(kept.making(1)?.commands[0].contains("-b 2048"));
    ensure!(kept.mount_line(1)?.contains("noatime") && kept.mount_line(1)?.contains(" - overlay "));
    ensure!(
        kept.mount_line(2)?.contains("noatime") && kept.mount_line(2)?.contains(" - fuse.bindfs ")
    );
    ensure!(rustix::fs::statvfs(kept.path(3)?)?.f_files == 100);
    kept.remove()
}

/// That filesystem has no `O_TMPFILE`, and keeps a removed file while it is open.
fn images_without_tmpfile() -> Result<()> {
    let below = Faulty::mount("none", Caching::None)?;
    let images = tempfile::tempdir_in(below.path())?;
    let kept = Kept::start_in(images, 0, &[request("ext4", &[], None)])?.made()?;
    let image = kept.making(0)?.images.remove(0);
    as_in_sysfs(&image)?;
    ensure!(entries(kept.images()).is_empty());
    write_and_read_again(&kept.path(0)?.join("file"))?;
    kept.remove()
}

fn images_on_btrfs() -> Result<()> {
    let below = Image::mount("btrfs", 1400 * MIB)?;
    let images = tempfile::tempdir_in(below.path())?;
    let kept = Kept::start_in(images, 0, &[request("ext4", &[], None)])?.made()?;
    let image = kept.making(0)?.images.remove(0);
    ensure!(image.directory_filesystem == "btrfs", "{image:?}");
    as_in_sysfs(&image)?;
    let descriptors = entries(Path::new(&format!("/proc/{}/fd", kept.pid())));
    let is_image = |path: &&std::path::PathBuf| {
        fs::read_link(path)
            .is_ok_and(|target| target.starts_with(kept.images()) && target != kept.images())
    };
    let file = File::open(descriptors.iter().find(is_image).context("an image")?)?;
    ensure!(rustix::fs::ioctl_getflags(&file)?.contains(rustix::fs::IFlags::NOCOW));
    File::create_new(kept.path(0)?.join("file"))?.write_all_at(b"x", 0)?;
    kept.remove()
}
