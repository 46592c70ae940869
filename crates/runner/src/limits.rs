//! Checks of the memory, sectors and time of a run. `space` checks the target's space.

use std::path::Path;
use std::time::Duration;

use writebench_model::{
    Axis, Bytes, Cache, Case, Environment, Prepare, Registered, Source, SyncFiles, nanoseconds,
};

use crate::error::RunnerError;

/// 2 MiB each for the source and the destination of the memory-copy probe, and 22 MiB for the process of a
/// debug build.
const WORKER_BYTES: u64 = (2 * 2 + 22) << 20;
/// A worker's thread, mostly in the kernel.
const THREAD_BYTES: u64 = 64 << 10;
/// What the worker remembers of each file of a set, before and after the clock.
const FILE_OF_SET_BYTES: u64 = 512;

/// Checks that every case's source and the worker fit into memory, with `beside_bytes` of other files and
/// the sample's file if the target is in memory. Page cache of a disk does not count, because it is
/// released after write-back.
pub fn check_memory(
    environment: &Environment,
    cases: &[Case],
    beside_bytes: u64,
) -> Result<(), RunnerError> {
    check_locked_memory(cases, locked_memory_limit_bytes())?;
    let available_bytes = writebench_probe::available_memory_bytes()?;
    let most_bytes = available_bytes / 10 * 9;
    let needs = cases
        .iter()
        .map(|case| (needed_memory_bytes(case, environment, beside_bytes), case));
    let largest = needs.max_by_key(|(needed_bytes, _)| *needed_bytes);
    let Some((needed_bytes, case)) = largest.filter(|(needed_bytes, _)| *needed_bytes > most_bytes)
    else {
        return Ok(());
    };
    let instead = if WORKER_BYTES > most_bytes {
        "a machine, or a control group, with more memory"
    } else {
        with_less_memory(case)
    };
    let [needed, available, missing] = [needed_bytes, available_bytes, needed_bytes - most_bytes]
        .map(|bytes| Bytes(bytes).approximate());
    Err(RunnerError::TooLarge(format!(
        "not enough memory: {case:#} needs {needed}, {available} are available without a reserve of a tenth, so \
         {missing} are missing. Use {instead}"
    )))
}

fn needed_memory_bytes(case: &Case, environment: &Environment, beside_bytes: u64) -> u64 {
    let filesystem = &environment.filesystem;
    let is_in_memory = filesystem.is_in_memory();
    // A filesystem refuses a file larger than itself before it takes memory.
    let takes_blocks =
        case.workload().content.takes_space() && case.given().size_bytes <= filesystem.total_bytes;
    let file = if is_in_memory && takes_blocks {
        case.space_bytes()
    } else {
        0
    };
    let beside = if is_in_memory { beside_bytes } else { 0 };
    let threads = u64::from(case.choices().threads).saturating_mul(THREAD_BYTES);
    let files = u64::from(case.file_count()).saturating_mul(FILE_OF_SET_BYTES);
    let parts = [
        case.source_bytes(),
        case.staged_bytes(),
        file,
        beside,
        threads,
        files,
        WORKER_BYTES,
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Registered buffers are pinned: io_uring_register(2).
fn check_locked_memory(cases: &[Case], limit_bytes: u64) -> Result<(), RunnerError> {
    let pinned = cases.iter().map(|case| (pinned_bytes(case), case));
    let largest = pinned.max_by_key(|(bytes, _)| *bytes);
    let Some((bytes, case)) = largest.filter(|(bytes, _)| *bytes > limit_bytes) else {
        return Ok(());
    };
    let [pinned, limit] = [bytes, limit_bytes].map(|bytes| Bytes(bytes).approximate());
    Err(RunnerError::TooLarge(format!(
        "{case:#} pins {pinned} of memory, and the limit on locked memory is {limit}: raise it (ulimit -l), be root, or \
         use --set registered=none"
    )))
}

fn pinned_bytes(case: &Case) -> u64 {
    let registered = case.choices().registered;
    let pins = case.method().has_axis(Axis::Registered)
        && matches!(registered, Registered::Buffers | Registered::Both);
    match case.staged_bytes() {
        _ if !pins => 0,
        0 => case.source_bytes(),
        staged => staged,
    }
}

fn locked_memory_limit_bytes() -> u64 {
    // CAP_IPC_LOCK lifts the limit, and root has it outside of containers. In a container the case itself
    // reports it.
    if rustix::process::geteuid().is_root() {
        return u64::MAX;
    }
    rustix::process::getrlimit(rustix::process::Resource::Memlock)
        .current
        .unwrap_or(u64::MAX)
}

fn with_less_memory(case: &Case) -> &'static str {
    let method = case.method();
    let choices = case.choices();
    if case.source_bytes() == 0
        || (case.given().source == Source::Chunk && choices.chunk_size_bytes <= 1 << 20)
    {
        "a smaller --size, or a target on a disk"
    } else if method.has_axis(Axis::Source) && case.given().source == Source::File {
        "a smaller --size, or --set source=chunk"
    } else {
        "a smaller --size, or a smaller --record"
    }
}

/// Checks direct I/O against the device's sectors. The case was checked against the smallest sector only.
pub fn check_sectors(environment: &Environment, cases: &[Case]) -> Result<(), RunnerError> {
    let sector_bytes = environment
        .device
        .as_ref()
        .and_then(|device| device.logical_sector_bytes);
    let Some(sector_bytes) = sector_bytes.filter(|&bytes| bytes > Case::SECTOR_BYTES) else {
        return Ok(());
    };
    for case in cases
        .iter()
        .filter(|case| case.choices().cache == Cache::Direct)
    {
        let choices = case.choices();
        let sizes = [
            (
                Axis::Chunk,
                choices.chunk_size_bytes.min(case.given().size_bytes),
            ),
            (Axis::Size, case.given().size_bytes),
        ];
        if let Some((axis, _)) = sizes
            .into_iter()
            .find(|(_, bytes)| !bytes.is_multiple_of(sector_bytes))
        {
            let value = case.value(axis);
            return Err(RunnerError::Unfit(format!(
                "{case}: direct I/O takes multiples of the device's sectors of {sector_bytes} bytes, and {axis}={value} \
                 is not one"
            )));
        }
    }
    Ok(())
}

/// Checks that every case overwrites a device in place, and fits.
pub fn check_device(path: &Path, size_bytes: u64, cases: &[Case]) -> Result<(), RunnerError> {
    for case in cases {
        let why = if case.method().writes_set() {
            "a device has no files: choose a directory".to_owned()
        } else if case.choices().prepare != Prepare::Overwrite {
            "a device can only be overwritten: add --set prepare=overwrite".to_owned()
        } else if case.file_count() > 1 {
            "a device is one file: leave files=per-thread out".to_owned()
        } else if case.given().size_bytes > size_bytes {
            format!("it has {size_bytes} bytes: use a smaller --size")
        } else {
            continue;
        };
        return Err(RunnerError::Unfit(format!(
            "{case} cannot run on {}: {why}",
            path.display()
        )));
    }
    Ok(())
}

/// Removal and checks included.
const CALLS_PER_FILE: u64 = 20;

/// The assumed speed of an unmeasured target.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub bytes_per_s: u64,
    pub sync: Duration,
    pub call: Duration,
}

impl Pace {
    const SLOWEST: Self = Self {
        bytes_per_s: 4 << 20,
        sync: Duration::from_millis(100),
        call: Duration::from_micros(20),
    };

    /// Old content and syncs included.
    pub fn time_of(self, case: &Case) -> Duration {
        let choices = case.choices();
        let calls = match case.method() {
            method if !method.writes_data() => 0,
            method if method.writes_set() => CALLS_PER_FILE * u64::from(case.file_count()),
            _ => case.given().size_bytes.div_ceil(choices.chunk_size_bytes),
        };
        let synced = match choices.sync.every {
            Some(every) => calls.div_ceil(u64::from(every)),
            None if choices.sync.call.is_write_through() => calls,
            None if choices.sync_files != SyncFiles::None => u64::from(case.file_count()),
            None => 0,
        };
        let times = |count: u64, each: Duration| {
            Duration::from_nanos(nanoseconds(each).saturating_mul(count))
        };
        self.time_for(case.bytes_written())
            .saturating_add(times(synced, self.sync))
            .saturating_add(times(calls, self.call))
            .saturating_add(Duration::from_secs(
                case.given()
                    .records_per_s
                    .map_or(0, |rate| calls / u64::from(rate)),
            ))
    }

    fn time_for(self, bytes: u64) -> Duration {
        Duration::from_millis(bytes.saturating_mul(1000) / self.bytes_per_s)
    }
}

/// A sample's default deadline: a minute, plus time to write its data (with old content) and read it at 4
/// MiB/s, plus 20 µs per call. A call that makes data durable has 100 ms, because a busy disk takes tens of
/// milliseconds.
pub fn deadline(case: &Case) -> Duration {
    let pace = Pace::SLOWEST;
    Duration::from_secs(60) + pace.time_of(case) + pace.time_for(case.given().size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_consumer_of_the_memory() {
        for (case, option) in [
            ("write,size=1GiB", "source=chunk"),
            ("write,size=1GiB,source=chunk", "on a disk"),
            ("write,size=1GiB,source=chunk,chunk=1GiB", "--record"),
            ("copy-file-range,size=1GiB", "on a disk"),
        ] {
            let case = Case::parse(case).unwrap();
            assert!(with_less_memory(&case).contains(option), "{case}");
        }
    }
}
