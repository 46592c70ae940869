//! Each rank is a thread of this process, and all wait at a barrier.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use anyhow::{Context, Result, ensure};
use writebench_engine::{Engine, RankBarrier, Target};
use writebench_model::protocol::{PhaseTimestamps, RankRole, RankSample, SampleRequest};
use writebench_model::{Axis, Case, Extent, Method, Outcome, Phase};
use writebench_testkit::{Kind, Need, Trials, directory_on, entries};

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for kind in Kind::ALL {
        // MPI does not accept threads of one process as ranks. Its methods are tested under mpirun.
        let has_ranks = |method: &Method| method.has_axis(Axis::Ranks) && method.is_complete();
        for method in Method::ALL.iter().copied().filter(has_ranks) {
            let name = format!(
                "ranks: {} writes the same bytes from each rank on {}",
                method.name(),
                kind.name()
            );
            trials.add(name, &[Need::Filesystem(kind)], move || {
                each_way(kind, method.name())
            });
        }
    }
    trials.add(
        "ranks: a rank with other files than the rest is detected",
        &[],
        other_files,
    );
    trials.add(
        "ranks: the failure of one ends the sample of all",
        &[],
        one_fails,
    );
    trials.add("ranks: all have opened before one writes", &[], barriers);
    trials.run(2)
}

const RANKS: u32 = 3;
const WAYS: &[&str] = &[
    "files=per-rank",
    "files=per-rank,threads=2",
    "files=per-rank,threads=2,descriptor=per-thread,sync=fsync",
    "files=per-thread,threads=2",
    "",
    "sync=fsync",
    "threads=2,descriptor=per-thread",
    "prepare=fallocate,sync=fdatasync",
    "prepare=overwrite",
    "prepare=truncate",
    "prepare=zero-fill",
    "cache=direct",
    "source=chunk",
    "data=zero",
    "data=compressible:50",
    "sync=fsync/2",
    "layout=strided,block=4KiB",
    "layout=strided,block=20KiB,threads=2",
    "layout=strided,block=8KiB,source=chunk,sync=fsync",
    "layout=strided,block=8KiB,cache=direct",
];

#[derive(Clone)]
struct Together {
    barrier: Arc<Barrier>,
    has_failed: Arc<[AtomicBool; 16]>,
    number: usize,
    waited: Arc<AtomicUsize>,
}

impl Together {
    fn new() -> Self {
        Self {
            barrier: Arc::new(Barrier::new(RANKS as usize)),
            has_failed: Arc::default(),
            number: 0,
            waited: Arc::default(),
        }
    }
}

impl RankBarrier for Together {
    fn wait(&mut self, has_succeeded: bool, _: bool) -> io::Result<bool> {
        let flag = &self.has_failed[self.number];
        self.number += 1;
        self.waited.fetch_add(1, Ordering::SeqCst);
        if !has_succeeded {
            flag.store(true, Ordering::SeqCst);
        }
        self.barrier.wait();
        Ok(!flag.load(Ordering::SeqCst))
    }
}

/// Each rank has the directory of its number.
fn take(directories: [&Path; RANKS as usize], case: &Case) -> Result<Vec<RankSample>> {
    let together = Together::new();
    std::thread::scope(|scope| {
        let ranks = (0..RANKS).zip(directories).map(|(rank, directory)| {
            let mut together = together.clone();
            let role = RankRole {
                rank,
                verifies: (rank + 1) % RANKS,
                ranks_beside: 1,
            };
            let request = SampleRequest {
                role,
                read_back: Some(Extent::Whole),
                ..SampleRequest::bare(case.clone(), "sample", 0x5eed)
            };
            scope.spawn(move || {
                let directory = std::fs::File::open(directory)?;
                let target = Target::Directory(directory.as_fd());
                Ok(Engine::new(None, || Ok(0), &|_| {}).rank_sample(
                    target,
                    &request,
                    Some(&mut together),
                ))
            })
        });
        let ranks: Vec<_> = ranks.collect();
        ranks
            .into_iter()
            .map(|rank| rank.join().expect("a rank"))
            .collect()
    })
}

fn each_way(kind: Kind, method: &str) -> Result<()> {
    let directory = directory_on(kind);
    let path = directory.path();
    let mut taken = 0;
    for way in WAYS {
        // A ring writes each file at once.
        let chunk = if method == "io_uring-files" {
            "16KiB"
        } else {
            "4KiB"
        };
        let name = format!("{method},size=100KiB,chunk={chunk},ranks={RANKS},{way}");
        let Ok(case) = Case::parse(name.trim_end_matches(',')) else {
            continue;
        };
        let samples = take([path; RANKS as usize], &case)?;
        let outcomes: Vec<_> = samples
            .iter()
            .map(|rank| rank.sample.outcome.name())
            .collect();
        if samples
            .iter()
            .any(|rank| rank.sample.outcome.name() == "unsupported")
        {
            ensure!(!outcomes.contains(&"ok"), "{name}: {outcomes:?}");
            continue;
        }
        ensure!(
            samples.iter().all(|rank| rank.sample.outcome.is_ok()),
            "{name}: {samples:?}"
        );
        let bytes: u64 = samples.iter().map(|rank| rank.sample.bytes).sum();
        let compared: u64 = samples
            .iter()
            .filter_map(|rank| rank.sample.read_back.as_ref())
            .map(|read_back| read_back.bytes)
            .sum();
        ensure!(
            (bytes, compared) == (100 << 10, 100 << 10),
            "{name}: {bytes} and {compared}"
        );
        ensure!(entries(path).is_empty(), "{name}: {:?}", entries(path));
        taken += 1;
    }
    ensure!(taken > 4, "only {taken} ways");
    Ok(())
}

fn other_files() -> Result<()> {
    let [one, other] = [Kind::Tmpfs, Kind::Tmpfs].map(directory_on);
    let case = Case::parse("pwrite,size=96KiB,ranks=3,files=per-rank")?;
    let samples = take([one.path(), one.path(), other.path()], &case)?;
    for rank in [1, 2] {
        let Outcome::Failed(failure) = &samples[rank].sample.outcome else {
            anyhow::bail!("{samples:?}")
        };
        ensure!(
            (failure.phase, failure.errno) == (Phase::Verify, Some(2)),
            "{failure:?}"
        );
    }
    ensure!(samples[0].is_abandoned, "{:?}", samples[0]);
    Ok(())
}

fn one_fails() -> Result<()> {
    let directory = directory_on(Kind::Tmpfs);
    let gone = directory.path().join("gone");
    std::fs::create_dir(&gone)?;
    let case = Case::parse("pwrite,size=96KiB,ranks=3,sync=fsync")?;
    let removed = std::fs::File::open(&gone)?;
    std::fs::remove_dir(&gone)?;
    let gone = format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&removed)
    );
    let samples = take(
        [directory.path(), Path::new(&gone), directory.path()],
        &case,
    )?;
    let Outcome::Failed(failure) = &samples[1].sample.outcome else {
        anyhow::bail!("{samples:?}")
    };
    ensure!(
        (failure.phase, failure.call.as_str()) == (Phase::Open, "open"),
        "{failure:?}"
    );
    ensure!(
        !samples[1].is_abandoned && samples[0].is_abandoned && samples[2].is_abandoned,
        "{samples:?}"
    );
    ensure!(
        samples
            .iter()
            .all(|rank| rank.sample.phases_ns.total() == 0),
        "a failed sample has no figures"
    );
    ensure!(
        entries(directory.path()).is_empty(),
        "{:?}",
        entries(directory.path())
    );
    Ok(())
}

fn barriers() -> Result<()> {
    let directory = directory_on(Kind::Tmpfs);
    let case = Case::parse("pwrite,size=3MiB,ranks=3,sync=fsync")?;
    let samples = take([directory.path(); RANKS as usize], &case)?;
    let timestamps = |phase| {
        samples
            .iter()
            .filter_map(move |rank| rank.timestamps.get(phase))
    };
    let ended = timestamps(Phase::Open)
        .map(|[_, ended]| ended)
        .max()
        .context("a phase")?;
    let began = timestamps(Phase::Write)
        .map(|[began, _]| began)
        .min()
        .context("a phase")?;
    ensure!(
        ended <= began,
        "open ends {} ns after write begins",
        ended - began
    );
    ensure!(PhaseTimestamps::PHASES.len() == 5 && timestamps(Phase::Prepare).next().is_none());
    Ok(())
}
