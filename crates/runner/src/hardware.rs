//! The limits of the hardware, measured before the first round and after the last.

use std::collections::BTreeMap;
use std::time::Duration;

use writebench_model::protocol::{
    AgentRequest, DeviceWrites, LimitRequest, LimitedHardware, MeasuredLimits,
};
use writebench_model::{
    Bytes, Case, DataSource, Durability, Limit, LimitKind, Outcome, Sample, Settings, nanoseconds,
};

use writebench_probe::Space;

use crate::agent::RequestOutcome;
use crate::error::RunnerError;
use crate::workers::Workers;

/// The most time for all limits of one target with a measured device. A run with a short budget takes a share of that
/// instead.
const MOST_TIME: Duration = Duration::from_secs(2);
const BUDGET_SHARE: u32 = 20;
/// The deadline of a measurement if the user gave no `--timeout`.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Twice the size of the caches of nearly every CPU.
const MOST_MEMORY_BYTES: u64 = 256 << 20;
/// Little time reduces the copied memory to a byte per nanosecond, but not below this.
const LEAST_MEMORY_BYTES: u64 = 16 << 20;
const MOST_FILE_BYTES: u64 = 256 << 20;
/// The least file that measures a device, even if all cases are smaller.
const LEAST_FILE_BYTES: u64 = 64 << 20;
const FILES: u64 = 2;

/// Copies of memory with every number of threads for cases in the page cache, direct writes to the device
/// for all other cases.
#[derive(Default)]
pub struct Hardware {
    requests: Vec<LimitRequest>,
    // All targets share the memory.
    memory: Vec<Limit>,
    devices: Vec<Vec<Limit>>,
    bytes_written: u64,
    device_bytes: u64,
    // How long a measurement may take beyond its own time.
    timeout: Duration,
}

impl Hardware {
    /// Only a directory has a space. A limit too large for the space or the run's bytes is left out, with
    /// its reason.
    pub fn for_cases(
        cases: &[Case],
        settings: &Settings,
        targets: &[Option<Space>],
    ) -> Result<Self, RunnerError> {
        let timeout = settings
            .timeout_ns
            .map_or(TIMEOUT, |limit| Duration::from_nanos(limit).min(TIMEOUT));
        let mut hardware = Self {
            devices: vec![Vec::new(); targets.len()],
            timeout,
            ..Self::default()
        };
        // One node's hardware does not limit cases of several ranks.
        let (cached, beyond): (Vec<&Case>, Vec<&Case>) = cases
            .iter()
            .filter(|case| case.workload().content.has_own_bytes() && case.choices().ranks == 1)
            .partition(|case| case.workload().durability == Durability::Cached);
        hardware.ask_for_memory(&cached)?;
        if let Some(largest) = beyond.iter().map(|case| case.given().size_bytes).max() {
            let round = cases.iter().map(Case::bytes_written).sum::<u64>();
            let all = round
                .saturating_mul(u64::from(settings.samples))
                .saturating_mul(targets.len() as u64);
            for (target, space) in targets.iter().enumerate() {
                hardware.ask_for_device(target, file_bytes(space.as_ref(), largest), settings, all);
            }
        }
        let measured_devices = if beyond.is_empty() { 0 } else { targets.len() };
        hardware.divide_time(settings, measured_devices);
        Ok(hardware)
    }

    /// Asks for a copy in memory by each number of threads that a cached case has.
    fn ask_for_memory(&mut self, cached: &[&Case]) -> Result<(), RunnerError> {
        let most_bytes = (writebench_probe::available_memory_bytes()? / 8).min(MOST_MEMORY_BYTES);
        let mut largest_of_threads: BTreeMap<u32, u64> = BTreeMap::new();
        for case in cached {
            let choices = case.choices();
            let largest = largest_of_threads.entry(choices.threads).or_default();
            *largest = case.given().size_bytes.max(*largest);
        }
        for (threads, largest) in largest_of_threads {
            let bytes = largest.min(most_bytes).max(u64::from(threads));
            self.requests.push(LimitRequest {
                hardware: LimitedHardware::Memory { threads, bytes },
                target: 0,
                time_ns: 0,
            });
        }
        Ok(())
    }

    /// Gives each request an equal share of the time, and fewer bytes of memory if the share is short.
    fn divide_time(&mut self, settings: &Settings, measured_devices: usize) {
        let devices = u32::try_from(measured_devices.max(1)).unwrap_or(u32::MAX);
        let most = MOST_TIME * devices;
        let budget = settings.budget_ns.map(Duration::from_nanos);
        let time = budget.map_or(most, |budget| most.min(budget / BUDGET_SHARE));
        let requests = u32::try_from(self.requests.len().max(1)).unwrap_or(u32::MAX);
        // Each is measured twice, before the samples and after them.
        let each_ns = nanoseconds(time / 2 / requests);
        for request in &mut self.requests {
            request.time_ns = each_ns;
            if let LimitedHardware::Memory { bytes, .. } = &mut request.hardware {
                *bytes = (*bytes).min(each_ns.max(LEAST_MEMORY_BYTES));
            }
        }
    }

    /// `all` are the bytes of all samples.
    fn ask_for_device(&mut self, target: usize, file_bytes: u64, settings: &Settings, all: u64) {
        let most_bytes = file_bytes * FILES;
        // The limits are measured before the samples and after them.
        let needed = self.bytes().saturating_add(most_bytes * 2);
        if settings
            .max_bytes
            .is_some_and(|most| all.saturating_add(needed) > most)
        {
            let bytes = Bytes(most_bytes * 2).approximate();
            let description = format!("not measured: --max-bytes does not leave {bytes} for it");
            let kind = LimitKind::DeviceWrite;
            self.learn(
                target,
                Limit {
                    kind,
                    threads: 1,
                    bytes_per_s: None,
                    description,
                },
            );
            return;
        }
        self.device_bytes += most_bytes;
        let file_stem = "limit".to_owned();
        let data_seed = settings.seed;
        let writes = DeviceWrites {
            file_stem,
            data_seed,
            file_bytes,
            most_bytes,
        };
        self.requests.push(LimitRequest {
            hardware: LimitedHardware::Device(writes),
            target,
            time_ns: 0,
        });
    }

    /// Keeps the best values. If a worker dies, the limit has no value. Without the devices, nothing is
    /// written.
    pub fn measure(
        &mut self,
        mut workers: Workers<'_>,
        with_devices: bool,
    ) -> Result<(), RunnerError> {
        for mut request in self.requests.clone() {
            if let LimitedHardware::Device(DeviceWrites { file_stem, .. }) = &mut request.hardware {
                if !with_devices {
                    continue;
                }
                *file_stem = workers.lost_workers.file_stem(file_stem);
            }
            let limit = Duration::from_nanos(request.time_ns) * 10 + self.timeout;
            let how = match workers.ask(
                request.target,
                &AgentRequest::Limits(request.clone()),
                limit,
                None,
            )? {
                RequestOutcome::Response(MeasuredLimits {
                    limits,
                    bytes_written,
                }) => {
                    self.bytes_written += bytes_written;
                    limits
                        .into_iter()
                        .for_each(|limit| self.learn(request.target, limit));
                    continue;
                }
                RequestOutcome::Stopped => return Ok(()),
                RequestOutcome::Lost(Outcome::WorkerDied { detail, .. }) => {
                    format!("the worker ended{detail}")
                }
                RequestOutcome::Lost(_) => format!("no answer after {limit:?}"),
            };
            let (kind, threads) = match request.hardware {
                LimitedHardware::Memory { threads, .. } => (LimitKind::MemoryCopy, threads),
                LimitedHardware::Device(_) => (LimitKind::DeviceWrite, 1),
            };
            self.learn(
                request.target,
                Limit {
                    kind,
                    threads,
                    bytes_per_s: None,
                    description: how,
                },
            );
        }
        Ok(())
    }

    fn learn(&mut self, target: usize, limit: Limit) {
        let is_of_device = limit.kind == LimitKind::DeviceWrite;
        let limits = if is_of_device {
            &mut self.devices[target]
        } else {
            &mut self.memory
        };
        match limits
            .iter_mut()
            .find(|known| known.kind == limit.kind && known.threads == limit.threads)
        {
            Some(known) if limit.bytes_per_s > known.bytes_per_s => *known = limit,
            Some(_) => {}
            None => limits.push(limit),
        }
    }

    /// Whether a sample was faster than the limiting copy of memory, whose measurement was then disturbed.
    pub fn is_exceeded_by(&self, case: &Case, sample: &Sample) -> bool {
        let workload = case.workload();
        let choices = case.choices();
        let is_limited = workload.durability == Durability::Cached
            && matches!(workload.source, DataSource::Memory | DataSource::WarmFile)
            && workload.content.has_own_bytes()
            && choices.ranks == 1
            && sample.outcome.is_ok();
        let per_s =
            u128::from(sample.bytes) * 1_000_000_000 / u128::from(sample.phases_ns.total().max(1));
        let is_own = |limit: &&Limit| {
            limit.kind == LimitKind::MemoryCopy && limit.threads == choices.threads
        };
        let limit = self
            .memory
            .iter()
            .find(is_own)
            .and_then(|limit| limit.bytes_per_s);
        is_limited && limit.is_some_and(|limit| per_s > u128::from(limit))
    }

    pub fn limits(&self, target: usize) -> Vec<Limit> {
        [self.memory.as_slice(), &self.devices[target]].concat()
    }

    pub fn target_count(&self) -> usize {
        self.devices.len()
    }

    /// Approximate, for both measurements of all limits.
    pub fn time_ns(&self) -> u64 {
        self.requests
            .iter()
            .map(|request| request.time_ns * 2)
            .sum()
    }

    /// Written and still to be written.
    pub fn bytes(&self) -> u64 {
        self.bytes_written.max(self.device_bytes * 2)
    }
}

fn file_bytes(space: Option<&Space>, largest: u64) -> u64 {
    // Only the part of the device that the cases overwrite.
    let Some(space) = space else {
        return largest.min(MOST_FILE_BYTES);
    };
    let bytes = largest.clamp(LEAST_FILE_BYTES, MOST_FILE_BYTES);
    if space.total_bytes == 0 {
        return bytes;
    }
    let free = space.available_bytes.saturating_sub(space.total_bytes / 20);
    bytes.min(free / 2).max(largest.min(bytes).min(free))
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Verify;

    const SPACE: Space = Space {
        total_bytes: 1 << 40,
        available_bytes: 1 << 39,
        total_inodes: None,
        available_inodes: None,
    };

    fn cases(names: &[&str]) -> Vec<Case> {
        names
            .iter()
            .map(|name| Case::parse(name).unwrap())
            .collect()
    }

    fn settings(max_bytes: Option<u64>, budget_ns: Option<u64>) -> Settings {
        Settings {
            samples: 2,
            precision_ppm: None,
            budget_ns,
            max_bytes,
            seed: 1,
            verify: Verify::First,
            timeout_ns: None,
            copy_from: None,
            copy_to: None,
            search_bytes: None,
            ..Settings::default()
        }
    }

    #[test]
    fn memory_is_measured_by_threads_and_the_device_only_for_cases_on_it() {
        let here = [Some(SPACE)];
        let some = cases(&[
            "pwrite,size=1MiB",
            "write,size=2MiB",
            "pwrite,size=1MiB,threads=3",
        ]);
        let hardware = Hardware::for_cases(&some, &settings(None, None), &here).unwrap();
        let measured: Vec<&LimitedHardware> = hardware
            .requests
            .iter()
            .map(|request| &request.hardware)
            .collect();
        assert_eq!(
            measured,
            [
                &LimitedHardware::Memory {
                    threads: 1,
                    bytes: 2 << 20
                },
                &LimitedHardware::Memory {
                    threads: 3,
                    bytes: 1 << 20
                }
            ]
        );
        assert_eq!(hardware.bytes(), 0);
        let durable = cases(&["write,size=1MiB,sync=fsync"]);
        let hardware = Hardware::for_cases(&durable, &settings(None, None), &here).unwrap();
        assert!(matches!(
            hardware.requests[..],
            [LimitRequest {
                hardware: LimitedHardware::Device(_),
                ..
            }]
        ));
        assert!(hardware.bytes() > 0);
    }

    #[test]
    fn the_device_is_left_out_if_the_samples_need_the_bytes() {
        let durable = cases(&["write,size=1MiB,sync=fsync"]);
        let here = [Some(SPACE)];
        let hardware =
            Hardware::for_cases(&durable, &settings(Some(10 << 20), None), &here).unwrap();
        assert!(hardware.requests.is_empty() && hardware.bytes() == 0);
        let limits = hardware.limits(0);
        let [limit] = limits.as_slice() else {
            panic!("{limits:?}")
        };
        assert!(
            limit.bytes_per_s.is_none() && limit.description.contains("--max-bytes"),
            "{limit:?}"
        );
    }

    #[test]
    fn limits_take_a_twentieth_of_a_short_budget_and_at_most_two_seconds() {
        let some = cases(&["pwrite,size=1MiB", "pwrite,size=1MiB,threads=3"]);
        let total = |budget_ns| -> u64 {
            let hardware = Hardware::for_cases(&some, &settings(None, budget_ns), &[None]).unwrap();
            hardware
                .requests
                .iter()
                .map(|request| request.time_ns * 2)
                .sum()
        };
        assert_eq!(total(Some(10_000_000_000)), 500_000_000);
        assert_eq!(total(Some(600_000_000_000)), 2_000_000_000);
        assert_eq!(total(None), 2_000_000_000);
        let large = cases(&["write,size=1GiB"]);
        let hardware =
            Hardware::for_cases(&large, &settings(None, Some(2_000_000_000)), &[None]).unwrap();
        let first = &hardware.requests[0].hardware;
        assert_eq!(
            *first,
            LimitedHardware::Memory {
                threads: 1,
                bytes: 50_000_000
            },
            "less to copy in 50 ms"
        );
    }

    #[test]
    fn memory_is_measured_once_and_each_targets_device_separately() {
        let some = cases(&["write,size=1MiB", "write,size=1MiB,sync=fsync"]);
        let mut hardware =
            Hardware::for_cases(&some, &settings(None, None), &[Some(SPACE), Some(SPACE)]).unwrap();
        let targets: Vec<usize> = hardware
            .requests
            .iter()
            .map(|request| request.target)
            .collect();
        assert_eq!(targets, [0, 0, 1]);
        let limit = |kind, bytes_per_s| Limit {
            kind,
            threads: 1,
            bytes_per_s: Some(bytes_per_s),
            description: String::new(),
        };
        let (memory, device) = (limit(LimitKind::MemoryCopy, 9), |bytes_per_s| {
            limit(LimitKind::DeviceWrite, bytes_per_s)
        });
        hardware.learn(0, memory.clone());
        hardware.learn(0, device(3));
        hardware.learn(1, device(4));
        assert_eq!(hardware.limits(0), [memory.clone(), device(3)]);
        assert_eq!(hardware.limits(1), [memory, device(4)]);
    }

    #[test]
    fn a_sample_faster_than_its_limit_proves_the_limit_too_low() {
        let mut hardware = Hardware::for_cases(&[], &settings(None, None), &[None]).unwrap();
        let limit = |kind| Limit {
            kind,
            threads: 1,
            bytes_per_s: Some(1_000_000_000),
            description: String::new(),
        };
        hardware.learn(0, limit(LimitKind::MemoryCopy));
        let mut sample = Sample::without_figures(0, Outcome::Ok);
        (sample.bytes, sample.phases_ns.write) = (1 << 20, 1 << 20);
        for (name, fast_ns, is_exceeded) in [
            ("write,size=1MiB", 1 << 19, true),
            ("write,size=1MiB", 1 << 21, false),
            ("write,size=1MiB,sync=fsync", 1 << 19, false),
            ("pwrite,size=1MiB,threads=2", 1 << 19, false),
        ] {
            sample.phases_ns.write = fast_ns;
            assert_eq!(
                hardware.is_exceeded_by(&cases(&[name])[0], &sample),
                is_exceeded,
                "{name}"
            );
        }
    }

    #[test]
    fn the_best_of_both_times_counts() {
        let mut hardware = Hardware::for_cases(&[], &settings(None, None), &[None]).unwrap();
        let limit = |bytes_per_s| Limit {
            kind: LimitKind::MemoryCopy,
            threads: 1,
            bytes_per_s,
            description: String::new(),
        };
        for bytes_per_s in [None, Some(5), Some(7), Some(6), None] {
            hardware.learn(0, limit(bytes_per_s));
        }
        assert_eq!(hardware.limits(0), [limit(Some(7))]);
    }
}
