//! Runs of several ranks, started by `mpirun` or `srun`.

#[cfg(feature = "mpi")]
mod clocks;
#[cfg(feature = "mpi")]
mod in_process;
#[cfg(feature = "mpi")]
mod lead;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "mpi")]
mod nodes;
#[cfg(feature = "mpi")]
mod order;
#[cfg(feature = "mpi")]
mod serve;

use std::cell::RefCell;
use std::path::PathBuf;

use anyhow::Result;
use writebench_model::Cluster;
use writebench_runner::Coordinator;

/// All ranks of a run, as its first rank leads them.
pub(crate) trait Lead: Coordinator {
    fn cluster(&self) -> Cluster;

    /// Has all ranks take their samples in these directories of the run's, once each sees them.
    fn work_in(&mut self, directories: &[PathBuf]) -> Result<()>;

    /// Ends all ranks. The first one's exit code is that of the run.
    fn end(&mut self);
}

/// The other ranks, if there are any.
pub(crate) type Others = Option<RefCell<Box<dyn Lead>>>;

/// This process among those that were started together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launched {
    pub rank: u32,
    pub size: u32,
}

/// The variables of the environment with rank and number of ranks: Open MPI, MPICH and others with PMI, and steps of
/// Slurm. A batch script of Slurm's is no step.
const LAUNCHERS: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
];

impl Launched {
    /// Read from the environment; none if this process was started alone.
    pub(crate) fn together() -> Option<Self> {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.parse::<u32>().ok();
        let launched =
            LAUNCHERS.iter().find_map(|(rank, size)| Some(Self { rank: number(rank)?, size: number(size)? }));
        launched.filter(|it| it.size > 1)
    }
}

/// The MPI library of this program, as it names itself.
#[cfg(feature = "mpi")]
pub(crate) fn library() -> Option<String> {
    mpi::library()
}

#[cfg(not(feature = "mpi"))]
pub(crate) fn library() -> Option<String> {
    None
}

pub(crate) enum Role {
    /// The process was started alone, or works alone.
    Alone,
    #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "without MPI there are no others"))]
    First(Box<dyn Lead>),
    Done,
}

/// Joins the ranks that were started together.
#[cfg(feature = "mpi")]
pub(crate) fn join(launched: Launched) -> Result<Role> {
    let ranks = mpi::Ranks::join(launched)?;
    if ranks.rank() == 0 {
        return Ok(Role::First(Box::new(lead::Leader::new(ranks))));
    }
    serve::serve(ranks);
    Ok(Role::Done)
}

/// This program knows no MPI: instead of measuring as many times as there are ranks, it measures nothing.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join(launched: Launched) -> Result<Role> {
    if launched.rank > 0 {
        return Ok(Role::Done);
    }
    Err(crate::exit::usage!(
        "started as {} ranks, but this writebench is built without MPI: build it by \
         `cargo install --path crates/cli --features mpi`, or start it once",
        launched.size
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Option<(u32, u32)> {
        let value =
            |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        Launched::of(value).map(|it| (it.rank, it.size))
    }

    #[test]
    fn each_launcher_is_known_by_its_environment() {
        assert_eq!(launched(&[]), None);
        assert_eq!(launched(&[("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")]), Some((3, 4)));
        assert_eq!(launched(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]), Some((1, 2)));
        assert_eq!(launched(&[("SLURM_PROCID", "7"), ("SLURM_STEP_NUM_TASKS", "8")]), Some((7, 8)));
    }

    #[test]
    fn one_rank_and_a_batch_script_are_ordinary_runs() {
        assert_eq!(launched(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")]), None);
        assert_eq!(launched(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
    }
}
