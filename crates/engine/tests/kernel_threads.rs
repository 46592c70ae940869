//! What the kernel's threads do for io_uring. Other writes of this process would count, so one test runs at a time.

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, Target};
use writebench_model::protocol::SampleRequest;
use writebench_model::{Case, KernelRelease, KernelShare, Sample};
use writebench_testkit::{Kind, Need, Trials, directory_on};

/// Through the page cache of ext4, each write would block.
const THREADS: &str = "io_uring,size=16MiB,depth=4";
/// Reserved blocks need no decision that would block.
const NO_THREADS: &str = "io_uring,size=16MiB,depth=4,prepare=fallocate,cache=direct";

/// Linux 6.1 passed these writes to threads all the same, and 7.3 has other rules.
const KNOWN_KERNELS: Range<KernelRelease> = KernelRelease(6, 12)..KernelRelease(7, 3);

fn main() -> ExitCode {
    let mut trials = Trials::default();
    let ring = io_uring::IoUring::new(1);
    let forbidden = ring.is_err().then_some("io_uring is not permitted");
    let needs = [Need::Own(forbidden), Need::Filesystem(Kind::Ext4)];
    let kernel = rustix::system::uname();
    let kernel = KernelRelease::parse(&kernel.release().to_string_lossy());
    let is_known = kernel.is_some_and(|kernel| KNOWN_KERNELS.contains(&kernel));
    let unknown = (!is_known).then_some("other kernels may pass direct writes to threads");
    trials.add(
        "io_uring through the page cache of ext4 writes in kernel threads",
        &needs,
        || {
            let directory = directory_on(Kind::Ext4);
            let sample = sample_by(&mut engine(), directory.path(), THREADS)?;
            let threads = sample.kernel_threads.as_deref().context("the threads")?;
            ensure!(threads.count > 0 && threads.cpu_ns > 0, "{threads:?}");
            ensure!(threads.written_bytes >= 16 << 20, "{threads:?}");
            ensure!(share(&sample)?.is_most(), "{sample:?}");
            Ok(())
        },
    );
    trials.add(
        "direct io_uring into reserved blocks of ext4 does not, even after such a sample",
        &[needs[0], needs[1], Need::Own(unknown)],
        || {
            let directory = directory_on(Kind::Ext4);
            let mut engine = engine();
            sample_by(&mut engine, directory.path(), THREADS)?;
            let sample = sample_by(&mut engine, directory.path(), NO_THREADS)?;
            ensure!(!share(&sample)?.is_most(), "{sample:?}");
            Ok(())
        },
    );
    trials.add(
        "other methods have no kernel threads",
        &[Need::Filesystem(Kind::Ext4)],
        || {
            let directory = directory_on(Kind::Ext4);
            let sample = sample_by(&mut engine(), directory.path(), "pwrite,size=1MiB")?;
            ensure!(sample.kernel_threads.is_none(), "{sample:?}");
            Ok(())
        },
    );
    trials.run(1)
}

fn engine() -> Engine<'static> {
    Engine::new(None, || Ok(0), &|_| {})
}

fn share(sample: &Sample) -> Result<KernelShare> {
    let threads = sample.kernel_threads.as_deref().context("the threads")?;
    threads.share().context("a share")
}

fn sample_by(engine: &mut Engine<'_>, directory: &Path, case: &str) -> Result<Sample> {
    let request = SampleRequest::bare(Case::parse(case)?, "threads", 1);
    let directory = File::open(directory).context("the directory")?;
    let sample = engine.sample(Target::Directory(directory.as_fd()), &request);
    ensure!(sample.outcome.is_ok(), "{:?}", sample.outcome);
    Ok(sample)
}
