use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Case, Extent, Outcome, Prepare, Sample};
use writebench_testkit::{Image, Kind, Need, Trials, call, directory_on, entries};

const STEM: &str = "direct";
/// A file that grows, a hole, and data.
const STATES: [Prepare; 3] = [Prepare::Create, Prepare::SetLen, Prepare::Overwrite];

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for kind in ["ext2", "ext3"] {
        let name = format!("{kind} does not support posix_fallocate before direct I/O");
        trials.add(name, &[Need::Image(kind)], move || no_posix_fallocate(kind));
    }
    for kind in ["ext4", "xfs"] {
        let name = format!("O_DIRECT on {kind} is direct");
        trials.add(name, &[Need::Image(kind)], move || {
            on_image(kind, [false; 3])
        });
    }
    for kind in ["ext2", "ext3"] {
        let name = format!("O_DIRECT on {kind} uses the page cache in a hole and nowhere else");
        trials.add(name, &[Need::Image(kind)], move || {
            on_image(kind, [false, true, false])
        });
    }
    trials.add(
        "O_DIRECT on btrfs is direct in every state or in none",
        &[Need::Image("btrfs")],
        || {
            // Since 6.15 the kernel uses the page cache, for the checksums.
            let image = Image::mount("btrfs", 512 << 20)?;
            let paths = use_page_cache(&image.path())?;
            ensure!(paths == [paths[0]; 3], "{paths:?}");
            Ok(())
        },
    );
    trials.add(
        "O_DIRECT on btrfs without checksums is direct",
        &[Need::Image("btrfs")],
        || {
            let image = Image::mount("btrfs", 512 << 20)?;
            let directory = image.path().join("without");
            std::fs::create_dir(&directory)?;
            call(
                std::process::Command::new("chattr")
                    .arg("+C")
                    .arg(&directory),
            )?;
            ensure!(use_page_cache(&directory)? == [false; 3]);
            Ok(())
        },
    );
    trials.add(
        "O_DIRECT to a file without checksums is direct",
        &[Need::Image("btrfs")],
        || {
            let image = Image::mount("btrfs", 512 << 20)?;
            let mut engine = Engine::new(None, || Ok(0), &|_| {});
            for checksums in ["default", "no"] {
                for prepare in STATES {
                    let axes = format!(",prepare={prepare},checksums={checksums}");
                    let outcome = sample_by(&mut engine, &image.path(), &axes)?.outcome;
                    ensure!(
                        checksums == "default" || outcome.is_ok(),
                        "{prepare}: {outcome:?}"
                    );
                }
            }
            Ok(())
        },
    );
    trials.add(
        "an existing file is left, and the sample counts",
        &[Need::Filesystem(Kind::Ext4)],
        || {
            let directory = directory_on(Kind::Ext4);
            let name = format!("{STEM}-direct-{}", Prepare::Create);
            std::fs::write(directory.path().join(&name), "theirs")?;
            let sample = sample(directory.path(), "")?;
            ensure!(sample.outcome == Outcome::Ok, "{:?}", sample.outcome);
            ensure!(
                std::fs::read(directory.path().join(&name))? == b"theirs",
                "it is not ours to remove"
            );
            Ok(())
        },
    );
    trials.run(2)
}

/// The C library would write a byte into each block, which O_DIRECT refuses.
fn no_posix_fallocate(kind: &str) -> Result<()> {
    let image = Image::mount(kind, 512 << 20)?;
    let sample = sample(&image.path(), ",prepare=posix-fallocate")?;
    ensure!(
        matches!(sample.outcome, Outcome::Unsupported(_)),
        "{:?}",
        sample.outcome
    );
    ensure!(
        !sample.outcome.is_direct_in_page_cache(),
        "{:?}",
        sample.outcome
    );
    Ok(())
}

fn on_image(kind: &str, expected: [bool; 3]) -> Result<()> {
    let image = Image::mount(kind, 512 << 20)?;
    let paths = use_page_cache(&image.path())?;
    ensure!(paths == expected, "{paths:?}");
    Ok(())
}

/// No file is left.
fn use_page_cache(directory: &Path) -> Result<[bool; 3]> {
    let before = entries(directory);
    let mut paths = [false; 3];
    for (path, prepare) in paths.iter_mut().zip(STATES) {
        let outcome = sample(directory, &format!(",prepare={prepare}"))?.outcome;
        *path = outcome.is_direct_in_page_cache();
        ensure!(*path || outcome.is_ok(), "{prepare}: {outcome:?}");
    }
    ensure!(entries(directory) == before, "a file was left behind");
    Ok(paths)
}

fn sample(directory: &Path, axes: &str) -> Result<Sample> {
    sample_by(&mut Engine::new(None, || Ok(0), &|_| {}), directory, axes)
}

fn sample_by(engine: &mut Engine<'_>, directory: &Path, axes: &str) -> Result<Sample> {
    let case = format!("pwrite,size=1MiB,cache=direct{axes}");
    let case = Case::parse(&case)?;
    let request = SampleRequest {
        read_back: Some(Extent::Part),
        ..SampleRequest::bare(case, STEM, 1)
    };
    let directory = File::open(directory).context("the directory")?;
    Ok(engine.sample(Target::Directory(directory.as_fd()), &request))
}
