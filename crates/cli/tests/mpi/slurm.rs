//! The test starts and ends Slurm on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use writebench_testkit::{Kind, Need, Program, Trials, directory_on, entries, wait_for};

use crate::program;

pub(crate) fn add(trials: &mut Trials) {
    let slurm = [
        Need::Root,
        Need::Program("slurmctld"),
        Need::Program("slurmd"),
        Need::Program("munged"),
        Need::Filesystem(Kind::Tmpfs),
    ];
    trials.add(
        "srun starts the ranks of one run, and its time limit leaves nothing behind",
        &slurm,
        steps,
    );
}

/// One node: munged, slurmctld and slurmd.
struct Slurm {
    home: TempDir,
    daemons: Vec<Child>,
}

impl Slurm {
    fn start() -> Result<Self> {
        let home = tempfile::tempdir()?;
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755))?;
        let mut slurm = Self {
            home,
            daemons: Vec::new(),
        };
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        let key = slurm.path("munge.key-file");
        fs::write(&key, [7; 1024])?;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
        let at = |name: &str| slurm.path(name).display().to_string();
        let socket = at("munge.socket");
        let lines = [
            "ClusterName=writebench".to_owned(),
            format!("SlurmctldHost={host}(127.0.0.1)"),
            "SlurmUser=root".to_owned(),
            "AuthType=auth/munge".to_owned(),
            format!("AuthInfo=socket={socket}"),
            "CredType=cred/munge".to_owned(),
            "MpiDefault=pmix".to_owned(),
            "ProctrackType=proctrack/linuxproc".to_owned(),
            "TaskPlugin=task/none".to_owned(),
            "JobAcctGatherType=jobacct_gather/none".to_owned(),
            "AccountingStorageType=accounting_storage/none".to_owned(),
            "SelectType=select/cons_tres".to_owned(),
            "SlurmdParameters=config_overrides".to_owned(),
            "ReturnToService=2".to_owned(),
            "KillWait=20".to_owned(),
            "SlurmctldPort=16817".to_owned(),
            "SlurmdPort=16818".to_owned(),
            format!("StateSaveLocation={}", at("state")),
            format!("SlurmdSpoolDir={}", at("spool")),
            format!("SlurmctldPidFile={}", at("slurmctld.pid")),
            format!("SlurmdPidFile={}", at("slurmd.pid")),
            format!("SlurmctldLogFile={}", at("slurmctld.log")),
            format!("SlurmdLogFile={}", at("slurmd.log")),
            format!("NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN"),
            format!("PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP"),
        ];
        fs::write(slurm.path("slurm.conf"), lines.join("\n") + "\n")?;
        for directory in ["state", "spool"] {
            fs::create_dir(slurm.path(directory))?;
        }
        let files = ["key-file", "pid-file", "log-file", "seed-file", "socket"];
        let mut munged: Vec<String> = files
            .iter()
            .map(|file| format!("--{file}={}", at(&format!("munge.{file}"))))
            .collect();
        munged.extend(["--foreground".to_owned(), "--force".to_owned()]);
        slurm.daemon(
            "munged",
            &munged.iter().map(String::as_str).collect::<Vec<_>>(),
        )?;
        wait_for("munged", || {
            slurm.path("munge.socket").exists().then_some(())
        })?;
        slurm.daemon("slurmctld", &["-D"])?;
        slurm.daemon("slurmd", &["-D"])?;
        let is_idle = || {
            let output = slurm.command("sinfo", &["-h", "-o", "%T"]).output().ok()?;
            (String::from_utf8_lossy(&output.stdout).trim() == "idle").then_some(())
        };
        wait_for("an idle node", is_idle)
            .with_context(|| slurm.log("slurmctld.log") + &slurm.log("slurmd.log"))?;
        Ok(slurm)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn log(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .stdin(Stdio::null());
        command
    }

    fn daemon(&mut self, program: &str, words: &[&str]) -> Result<()> {
        let mut command = self.command(program, words);
        let log = fs::File::create(self.path(&format!("{program}.out")))?;
        command.stdout(log.try_clone()?).stderr(log);
        self.daemons
            .push(command.spawn().with_context(|| program.to_owned())?);
        Ok(())
    }

    fn srun(
        &self,
        program: &Program,
        ranks: u32,
        options: &[&str],
        words: &[&str],
    ) -> Result<Output> {
        let mut command = self.command("srun", &["-n", &ranks.to_string()]);
        command.args(options).arg(program.binary()).args(words);
        command
            .env("HOME", program.home())
            .env("XDG_DATA_HOME", program.home())
            .env_remove("WRITEBENCH_DB");
        Ok(command.output()?)
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn steps() -> Result<()> {
    let slurm = Slurm::start()?;
    let (program, target) = (program()?, directory_on(Kind::Tmpfs));
    let target_text = target.path().to_str().context("UTF-8")?;
    let words = [
        "run",
        target_text,
        "--case",
        "pwrite,size=4MiB,files=per-rank",
        "--samples",
        "3",
    ];
    let output = slurm.srun(&program, 4, &[], &words)?;
    ensure!(
        output.status.success(),
        "{output:?}\n{}",
        slurm.log("slurmd.log")
    );
    let shown = program.call(&["show", "--all"])?.stdout;
    ensure!(
        shown.contains("4 ranks on 1 node") && shown.contains("Slurm job "),
        "{shown}"
    );
    ensure!(
        entries(target.path()).is_empty(),
        "{:?}",
        entries(target.path())
    );

    // Slurm sends SIGTERM to every rank.
    let words = [
        "run",
        target_text,
        "--case",
        "pwrite,size=64MiB",
        "--samples",
        "100000",
        "--yes",
        "--no-limits",
    ];
    let mut command = slurm.command("srun", &["-n", "2"]);
    command
        .arg(program.binary())
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
        .env("HOME", program.home())
        .env("XDG_DATA_HOME", program.home())
        .env_remove("WRITEBENCH_DB");
    let mut step = command.spawn()?;
    let rows = || {
        program
            .call(&["show", "2", "--export", "csv=-"])
            .map_or(0, |ended| ended.stdout.lines().count())
    };
    wait_for("samples", || (rows() > 3).then_some(()))?;
    let jobs = slurm.command("squeue", &["-h", "-o", "%i"]).output()?;
    let job = String::from_utf8_lossy(&jobs.stdout).trim().to_owned();
    ensure!(slurm.command("scancel", &[&job]).status()?.success());
    step.wait()?;
    let runs = program.call(&["runs"])?.stdout;
    ensure!(runs.contains("interrupted"), "{runs}");
    wait_for("the workspace to go", || {
        entries(target.path()).is_empty().then_some(())
    })?;
    Ok(())
}
