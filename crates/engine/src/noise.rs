//! The same work repeated, to show how much its time varies without any change.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use writebench_model::protocol::NoiseRequest;
use writebench_model::{Noise, Series, SyncCall, Work, nanoseconds};

use crate::call::{CallError, hand_over};
use crate::file::{self, Target};
use crate::sync;
use crate::watch::Watcher;

/// The most values of each kind.
const MOST_VALUES: usize = 20_000;
const RECORD_BYTES: usize = 4096;
/// The size at which a file is overwritten from its beginning.
const FILE_BYTES: u64 = 1 << 20;
const COPY_BYTES: usize = 16 << 20;

/// Runs every kind of work in turn until the time is over, so that a change over time affects all alike. Each
/// value takes some milliseconds, if possible: less than a sample, and much longer than reading the clock.
pub fn noise(directory: BorrowedFd<'_>, request: &NoiseRequest) -> Noise {
    let name = |work: Work| format!("{}-{work}", request.file_stem);
    let open = |work| file::create_filled(directory, &name(work), FILE_BYTES, 0);
    let mut jobs: Vec<Job> = Work::ALL.iter().map(|&work| Job::new(work, open)).collect();
    let watcher = Watcher::begin(&request.cpu_stats, None);
    let (start, time) = (Instant::now(), Duration::from_nanos(request.time_ns));
    while start.elapsed() < time && jobs.iter().all(|job| job.series.values_ns.len() < MOST_VALUES) {
        jobs.iter_mut().for_each(Job::once);
    }
    let elapsed_ns = nanoseconds(start.elapsed());
    let (watch, steal_ns, _) = watcher.end();
    for job in jobs.iter().filter(|job| job.file.is_some()) {
        // Removal of the workspace removes a file that stays.
        let _ = file::remove(Target::Directory(directory), &name(job.series.work));
    }
    let series = jobs.into_iter().map(|job| job.series).collect();
    Noise { elapsed_ns, series, steal_ns, watch }
}

/// One kind of work with its resources.
struct Job {
    series: Series,
    file: Option<OwnedFd>,
    record: Vec<u8>,
    from: Vec<u8>,
    to: Vec<u8>,
    offset: u64,
}

impl Job {
    fn new(work: Work, open: impl FnOnce(Work) -> Result<OwnedFd, CallError>) -> Self {
        let times = match work {
            Work::ClockRead => 20_000,
            Work::SystemCall => 5_000,
            Work::MemoryCopy => 1,
            Work::SmallWrite => 1_000,
            Work::DurableWrite => 4,
        };
        let writes = matches!(work, Work::SmallWrite | Work::DurableWrite);
        let (file, failed) = match writes.then(|| open(work)).transpose() {
            Ok(file) => (file, None),
            Err(error) => (None, Some(error.reason())),
        };
        let copied = if work == Work::MemoryCopy { COPY_BYTES } else { 0 };
        Self {
            series: Series { work, times, values_ns: Vec::new(), failed },
            file,
            record: vec![7; if writes { RECORD_BYTES } else { 0 }],
            from: vec![1; copied],
            to: vec![2; copied],
            offset: 0,
        }
    }

    fn once(&mut self) {
        if self.series.failed.is_some() {
            return;
        }
        let start = Instant::now();
        let done = (0..self.series.times).try_for_each(|_| self.step());
        let elapsed_ns = nanoseconds(start.elapsed());
        match done {
            Ok(()) => self.series.values_ns.push(elapsed_ns),
            Err(error) => self.series.failed = Some(error.reason()),
        }
    }

    fn step(&mut self) -> Result<(), CallError> {
        match self.series.work {
            Work::ClockRead => {
                std::hint::black_box(Instant::now());
            }
            Work::SystemCall => {
                std::hint::black_box(rustix::process::getppid());
            }
            Work::MemoryCopy => {
                self.to.copy_from_slice(&self.from);
                std::hint::black_box(&mut self.to);
            }
            Work::SmallWrite | Work::DurableWrite => {
                let Some(file) = &self.file else { return Ok(()) };
                hand_over("pwrite", &self.record, self.offset, |bytes, at| {
                    rustix::io::pwrite(file, bytes, at)
                })?;
                self.offset = (self.offset + RECORD_BYTES as u64) % FILE_BYTES;
                if self.series.work == Work::DurableWrite {
                    sync::sync(file.as_fd(), SyncCall::Fdatasync)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_work_has_a_series_and_no_file_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let open = std::fs::File::open(directory.path()).unwrap();
        let request =
            NoiseRequest { time_ns: 200_000_000, file_stem: "noise".to_owned(), cpu_stats: Vec::new() };
        let noise = noise(open.as_fd(), &request);
        assert_eq!(noise.series.len(), Work::ALL.len());
        for series in &noise.series {
            assert_eq!(series.failed, None);
            assert!(!series.values_ns.is_empty() && series.values_ns.iter().all(|&ns| ns > 0), "{series:?}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn work_that_fails_says_so_and_the_rest_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let open = std::fs::File::open(directory.path()).unwrap();
        std::fs::write(directory.path().join("noise-durable-write"), "theirs").unwrap();
        let request =
            NoiseRequest { time_ns: 50_000_000, file_stem: "noise".to_owned(), cpu_stats: Vec::new() };
        let noise = noise(open.as_fd(), &request);
        let failed: Vec<Work> =
            noise.series.iter().filter(|series| series.failed.is_some()).map(|series| series.work).collect();
        assert_eq!(failed, [Work::DurableWrite], "its file was there");
        assert!(directory.path().join("noise-durable-write").exists(), "and is not ours to remove");
    }
}
