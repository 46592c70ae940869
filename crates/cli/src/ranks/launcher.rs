#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchedRank {
    pub rank: u32,
    pub size: u32,
}

/// Environment variables with the rank and the number of ranks: of Open MPI, of PMI (such as MPICH), and of Slurm's
/// steps, which exclude batch scripts.
const LAUNCHERS: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
];

impl LaunchedRank {
    /// None if there is one process.
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.parse::<u32>().ok();
        let launched = LAUNCHERS.iter().find_map(|(rank, size)| {
            Some(Self {
                rank: number(rank)?,
                size: number(size)?,
            })
        });
        launched.filter(|launched| launched.size > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Option<(u32, u32)> {
        let value = |name: &str| {
            variables
                .iter()
                .find(|(own, _)| *own == name)
                .map(|(_, value)| (*value).to_owned())
        };
        LaunchedRank::from_variables(value).map(|launched| (launched.rank, launched.size))
    }

    #[test]
    fn each_launcher_is_known_by_its_environment() {
        assert_eq!(launched(&[]), None);
        assert_eq!(
            launched(&[("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")]),
            Some((3, 4))
        );
        assert_eq!(
            launched(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]),
            Some((1, 2))
        );
        assert_eq!(
            launched(&[("SLURM_PROCID", "7"), ("SLURM_STEP_NUM_TASKS", "8")]),
            Some((7, 8))
        );
    }

    #[test]
    fn one_rank_and_a_batch_script_are_ordinary_runs() {
        assert_eq!(
            launched(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")]),
            None
        );
        assert_eq!(
            launched(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]),
            None
        );
    }
}
