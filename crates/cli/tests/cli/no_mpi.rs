use anyhow::{Result, ensure};
use writebench_testkit::{Kind, Need, Trials, directory_on, entries};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let tmpfs = [Need::Filesystem(Kind::Tmpfs)];
    trials.add(
        "several ranks of a build without MPI are refused in one line",
        &tmpfs,
        refused,
    );
}

/// Of Open MPI, MPICH, and a Slurm step.
const LAUNCHERS: [[&str; 2]; 3] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMI_RANK", "PMI_SIZE"],
    ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS"],
];

fn refused() -> Result<()> {
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    for [rank_name, size_name] in LAUNCHERS {
        for rank in ["0", "1"] {
            let mut command = program.command(&["run", "--case", "write,size=1MiB"]);
            command
                .arg(target.path())
                .env(rank_name, rank)
                .env(size_name, "2");
            let output = command.output()?;
            let text = String::from_utf8_lossy(&output.stderr);
            // A launcher ends all ranks when one fails, so the other ranks exit with 0.
            let code = if rank == "0" { 2 } else { 0 };
            ensure!(
                output.status.code() == Some(code) && output.stdout.is_empty(),
                "{output:?}"
            );
            let is_said = text.lines().count() == 1 && text.contains("started as 2 ranks");
            ensure!(
                is_said == (rank == "0") && text.is_empty() == (rank == "1"),
                "{rank}: {text}"
            );
        }
    }
    ensure!(entries(target.path()).is_empty());
    Ok(())
}
