//! Messages between ranks by MPI. A waiting rank polls rarely, to leave the CPU to workers.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::request::{Request, Scope};
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use writebench_engine::{RankBarrier, monotonic_ns};

use super::clocks::{ClockOffset, ROUND_TRIPS};
use super::nodes::Nodes;
use crate::exit::Exit;
use crate::ranks::LaunchedRank;
use crate::signals::{is_stopped, stop_on_signals};

/// Simulates several nodes on one machine, for tests.
const NODE: &str = "WRITEBENCH_NODE";
/// The time for stopping ranks to reach the next barrier.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);

pub(super) struct Ranks {
    // The communicator of the first N ranks, by N. None if this rank is not a member.
    groups: HashMap<u32, Option<SimpleCommunicator>>,
    // The ranks of the current sample.
    group_size: u32,
    world: SimpleCommunicator,
    pub nodes: Nodes,
    // Dropped after the communicators, which need MPI.
    _universe: Universe,
}

pub(crate) fn library() -> Option<String> {
    let words = mpi::environment::library_version().ok()?;
    let line = words.trim_end_matches('\0').lines().next()?;
    let name = line.split(", package").next().unwrap_or(line);
    Some(name.split_whitespace().collect::<Vec<_>>().join(" "))
}

impl Ranks {
    pub(super) fn join(launched: LaunchedRank) -> Result<Self> {
        let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Serialized)
            .context("MPI was initialized before")?;
        let world = universe.world();
        let library = library().unwrap_or_default();
        ensure!(
            world.size().unsigned_abs() == launched.size,
            "started as {} ranks, of which its MPI library, {library}, sees {}. Start it by the mpirun of that library, or by \
             srun with its plugin (srun --mpi=list)",
            launched.size,
            world.size()
        );
        stop_on_signals()?;
        // Sleeps of microseconds last no longer.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let groups = HashMap::new();
        let nodes = Nodes::new(Vec::new());
        let mut ranks = Self {
            groups,
            group_size: launched.size,
            nodes,
            world,
            _universe: universe,
        };
        ranks.join_group(launched.size);
        let uname = || {
            rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned()
        };
        let hosts = ranks
            .gather(&std::env::var(NODE).unwrap_or_else(|_| uname()))
            .join("\n");
        ranks.nodes = Nodes::new(ranks.broadcast(&hosts).lines().map(str::to_owned).collect());
        Ok(ranks)
    }

    pub(super) fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    pub(super) fn size(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    /// Sends the first rank's text to all.
    pub(super) fn broadcast(&self, own: &str) -> String {
        let root = self.world.process_at_rank(0);
        let mut bytes = own.as_bytes().to_vec();
        let mut length = bytes.len() as u64;
        // A non-blocking collective call does not match a blocking one.
        mpi::request::scope(|scope| {
            complete(root.immediate_broadcast_into(scope, &mut length), false);
        });
        bytes.resize(usize::try_from(length).unwrap_or(0), 0);
        root.broadcast_into(&mut bytes[..]);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Forms a group of the first ranks. A collective call. Returns whether this rank is a member.
    pub(super) fn join_group(&mut self, ranks: u32) -> bool {
        let is_in = self.rank() < ranks;
        let color = if is_in {
            Color::with_value(1)
        } else {
            Color::undefined()
        };
        self.groups
            .entry(ranks)
            .or_insert_with(|| self.world.split_by_color(color));
        self.group_size = ranks;
        is_in
    }

    fn group(&self) -> Option<&SimpleCommunicator> {
        self.groups.get(&self.group_size)?.as_ref()
    }

    /// Waits for the group. Returns whether all have succeeded.
    pub(super) fn wait_for_group(&self, has_succeeded: bool) -> bool {
        let Some(group) = self.group() else {
            return false;
        };
        let own = u8::from(!has_succeeded);
        let mut failed = 0u8;
        mpi::request::scope(|scope| {
            let request =
                group.immediate_all_reduce_into(scope, &own, &mut failed, SystemOperation::max());
            complete(request, true);
        });
        failed == 0
    }

    /// Sends the texts of the group to its first rank.
    pub(super) fn gather(&self, own: &str) -> Vec<String> {
        self.wait_for_group(true);
        let Some(group) = self.group() else {
            return Vec::new();
        };
        if group.rank() > 0 {
            group.process_at_rank(0).send(own.as_bytes());
            return Vec::new();
        }
        let from = |rank| {
            String::from_utf8_lossy(&group.process_at_rank(rank).receive_vec().0).into_owned()
        };
        std::iter::once(own.to_owned())
            .chain((1..group.size()).map(from))
            .collect()
    }

    /// Compares the clocks of all nodes with the first rank's. Returns the offset of each other node by its first rank.
    pub(super) fn compare_clocks(&self) -> HashMap<u32, ClockOffset> {
        let firsts = self.nodes.others_first(self.group_size);
        if self.rank() == 0 {
            return firsts
                .into_iter()
                .map(|rank| (rank, self.clock_offset(rank)))
                .collect();
        }
        if firsts.contains(&self.rank()) {
            let first = self.world.process_at_rank(0);
            for _ in 0..ROUND_TRIPS {
                let _: (u64, _) = first.receive();
                first.send(&monotonic_ns());
            }
        }
        HashMap::new()
    }

    fn clock_offset(&self, rank: u32) -> ClockOffset {
        let other = self.world.process_at_rank(i32::try_from(rank).unwrap_or(0));
        let trips: Vec<[u64; 3]> = (0..ROUND_TRIPS)
            .map(|_| {
                let left = monotonic_ns();
                other.send(&left);
                let (theirs, _) = other.receive::<u64>();
                [left, theirs, monotonic_ns()]
            })
            .collect();
        ClockOffset::from_round_trips(&trips)
    }
}

impl RankBarrier for Ranks {
    fn wait(&mut self, has_succeeded: bool, _is_last: bool) -> io::Result<bool> {
        Ok(self.wait_for_group(has_succeeded))
    }
}

/// If `gives_up`, a stopped program does not wait long for other ranks: their launcher ends them, and the next run removes
/// the leftovers.
fn complete<'a, D: ?Sized, S: Scope<'a>>(mut request: Request<'a, D, S>, gives_up: bool) {
    const SPIN: Duration = Duration::from_micros(30);
    let start = Instant::now();
    let mut stopped = None;
    loop {
        request = match request.test() {
            Ok(_) => return,
            Err(unfinished) => unfinished,
        };
        let waited = start.elapsed();
        if waited < SPIN {
            std::thread::yield_now();
            continue;
        }
        std::thread::sleep(
            (waited / 1024).clamp(Duration::from_micros(10), Duration::from_micros(500)),
        );
        if gives_up && is_stopped() {
            let since = *stopped.get_or_insert_with(Instant::now);
            if since.elapsed() > STOP_TIMEOUT {
                std::process::exit(Exit::Interrupted as i32);
            }
        }
    }
}
