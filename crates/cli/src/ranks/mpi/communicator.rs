//! The messages between ranks, in terms of MPI. Waiting takes hardly any CPU time from the workers beside: what does not
//! come soon is looked for now and then.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
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

/// The longest host name of gethostname(2), with its end.
const HOST_BYTES: usize = 65;
/// Several "nodes" on one machine, for tests.
const NODE: &str = "WRITEBENCH_NODE";
/// How long ranks that are told to stop may take to come to the next barrier.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);

/// The ranks that were started together, as this one reaches them.
pub(super) struct Ranks {
    // The communicators of the first so many ranks, where this one is among them.
    groups: HashMap<u32, Option<SimpleCommunicator>>,
    // The group that works together now.
    group_size: u32,
    world: SimpleCommunicator,
    pub nodes: Nodes,
    // Ends MPI when it is dropped, after the communicators.
    _universe: Universe,
}

/// The MPI library, by the first line of its own words.
pub(crate) fn library() -> Option<String> {
    let words = mpi::environment::library_version().ok()?;
    let line = words.trim_end_matches('\0').lines().next()?;
    let name = line.split(", package").next().unwrap_or(line);
    Some(name.split_whitespace().collect::<Vec<_>>().join(" "))
}

impl Ranks {
    pub(super) fn join(launched: LaunchedRank) -> Result<Self> {
        let (universe, _) =
            mpi::initialize_with_threading(mpi::Threading::Serialized).context("MPI was initialized before")?;
        let world = universe.world();
        let library = library().unwrap_or_default();
        ensure!(
            number(world.size()) == launched.size,
            "started as {} ranks, of which its MPI library sees {}: this writebench is linked with {library}; start it by the \
             mpirun of that library, or srun with the plugin for it (srun --mpi=list)",
            launched.size,
            world.size()
        );
        stop_on_signals()?;
        // Sleeps of microseconds last no longer.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        Ok(Self {
            groups: HashMap::new(),
            group_size: launched.size,
            nodes: nodes(&world),
            world,
            _universe: universe,
        })
    }

    pub(super) fn rank(&self) -> u32 {
        number(self.world.rank())
    }

    pub(super) fn size(&self) -> u32 {
        number(self.world.size())
    }

    /// Sends a text from the first rank to all.
    pub(super) fn send(&self, text: &str) {
        self.broadcast(text.as_bytes().to_vec());
    }

    /// Waits for the first rank's next text.
    pub(super) fn receive(&self) -> String {
        String::from_utf8_lossy(&self.broadcast(Vec::new())).into_owned()
    }

    /// The first rank's bytes, for all.
    fn broadcast(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let root = self.world.process_at_rank(0);
        let mut length = bytes.len() as u64;
        // A non-blocking collective call only matches others of its kind.
        mpi::request::scope(|scope| {
            complete(root.immediate_broadcast_into(scope, &mut length), false);
        });
        bytes.resize(usize::try_from(length).unwrap_or(0), 0);
        root.broadcast_into(&mut bytes[..]);
        bytes
    }

    /// Has the first so many ranks work together from now on. All ranks call this together. Returns whether this one
    /// is among them.
    pub(super) fn join_group(&mut self, ranks: u32) -> bool {
        let is_in = self.rank() < ranks;
        let color = if is_in { Color::with_value(1) } else { Color::undefined() };
        self.groups.entry(ranks).or_insert_with(|| self.world.split_by_color(color));
        self.group_size = ranks;
        is_in
    }

    fn group(&self) -> Option<&SimpleCommunicator> {
        self.groups.get(&self.group_size)?.as_ref()
    }

    /// Waits for the group; returns whether all have succeeded.
    pub(super) fn wait_for_group(&self, has_succeeded: bool) -> bool {
        let Some(group) = self.group() else { return false };
        let (own, mut failed) = (u8::from(!has_succeeded), 0u8);
        mpi::request::scope(|scope| {
            let request = group.immediate_all_reduce_into(scope, &own, &mut failed, SystemOperation::max());
            complete(request, true);
        });
        failed == 0
    }

    /// The texts of the group, for its first rank.
    pub(super) fn gather(&self, own: &str) -> Vec<String> {
        self.wait_for_group(true);
        let Some(group) = self.group() else { return Vec::new() };
        let root = group.process_at_rank(0);
        // MPI gives the address of an empty buffer another meaning.
        let own = &format!("{own}\n");
        let own_length = i32::try_from(own.len()).unwrap_or(i32::MAX);
        if group.rank() > 0 {
            root.gather_into(&own_length);
            root.gather_varcount_into(own.as_bytes());
            return Vec::new();
        }
        let ranks = self.group_size as usize;
        let mut lengths = vec![0i32; ranks];
        root.gather_into_root(&own_length, &mut lengths[..]);
        let ends = lengths.iter().scan(0i32, |end, length| {
            *end = end.saturating_add(*length);
            Some(*end)
        });
        let starts: Vec<i32> = std::iter::once(0).chain(ends).collect();
        let position = |start: i32| usize::try_from(start).unwrap_or(0);
        let mut all = vec![0u8; starts.last().map_or(0, |&end| position(end))];
        let mut parts = PartitionMut::new(&mut all[..], lengths, &starts[..ranks]);
        root.gather_varcount_into_root(own.as_bytes(), &mut parts);
        let text = |range: &[i32]| {
            let text = &all[position(range[0])..position(range[1])];
            String::from_utf8_lossy(text).trim_end_matches('\n').to_owned()
        };
        starts.windows(2).map(text).collect()
    }

    /// Compares the clocks of all nodes with the first rank's, which gets their offsets by the first rank of each other
    /// node.
    pub(super) fn compare_clocks(&self) -> HashMap<u32, ClockOffset> {
        let firsts = self.nodes.others_first(self.group_size);
        if self.rank() == 0 {
            return firsts.into_iter().map(|rank| (rank, self.clock_offset(rank))).collect();
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

/// For the engine in this process.
impl RankBarrier for Ranks {
    fn wait(&mut self, has_succeeded: bool, _is_last: bool) -> io::Result<bool> {
        Ok(self.wait_for_group(has_succeeded))
    }
}

/// Waits for a request. Ranks that do not come after a stop are given up if `gives_up`: their launcher ends them, and
/// the next run removes their leftovers.
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
        // The delay is a small part of the wait.
        std::thread::sleep((waited / 1024).clamp(Duration::from_micros(10), Duration::from_micros(500)));
        if gives_up && is_stopped() {
            let since = *stopped.get_or_insert_with(Instant::now);
            if since.elapsed() > STOP_TIMEOUT {
                std::process::exit(Exit::Interrupted as i32);
            }
        }
    }
}

fn nodes(world: &SimpleCommunicator) -> Nodes {
    let host = std::env::var(NODE)
        .unwrap_or_else(|_| rustix::system::uname().nodename().to_string_lossy().into_owned());
    let mut own = [0u8; HOST_BYTES];
    let length = host.len().min(HOST_BYTES);
    own[..length].copy_from_slice(&host.as_bytes()[..length]);
    let mut all = vec![0u8; HOST_BYTES * world.size().unsigned_abs() as usize];
    world.all_gather_into(&own[..], &mut all[..]);
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
    Nodes::new(all.chunks(HOST_BYTES).map(name).collect())
}

fn number(rank: i32) -> u32 {
    rank.unsigned_abs()
}
