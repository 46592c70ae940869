//! An obstacle's cause and remedy. More time or bytes are a remedy only if their limit was the cause.

use std::time::Duration;

use writebench_model::Bytes;
use writebench_stats::as_f64;

use crate::numbers::{EndedBy, Obstacle, ObstacleKind};
use crate::sentences::number::{NUMBER, share};
use crate::sentences::words::{capitalised, counted};

impl Obstacle {
    /// What happened, with the evidence: `71 of 71 samples were disturbed: …`. A full stop is not included.
    pub(crate) fn cause(&self) -> String {
        use ObstacleKind as Kind;
        match &self.kind {
            Kind::CpuPressure { wait_ppm } => self.disturbed(&format!(
                "other programs used the CPUs, and tasks waited for a CPU {}",
                share_of_time(*wait_ppm)
            )),
            Kind::CpuQuota {
                limit_ppm: Some(ppm),
            } => self.disturbed(&format!(
                "the control group of this process may use {}",
                cpus(*ppm)
            )),
            Kind::CpuQuota { limit_ppm: None } => {
                self.disturbed("a CPU limit of its control group delayed this process")
            }
            Kind::Hypervisor => {
                self.disturbed("the hypervisor gave the CPUs to other virtual machines")
            }
            Kind::Heat => self.disturbed("the CPUs slowed down because of heat"),
            Kind::ReturnedMemory => {
                self.disturbed("the kernel returned free memory to the hypervisor meanwhile")
            }
            Kind::SlowMemory => {
                self.disturbed("copies in memory next to them took longer than usual in this run")
            }
            Kind::Disturbed { reason } => self.disturbed(reason),
            Kind::DiskFull => self.failed("no space is left on the filesystem (ENOSPC)"),
            Kind::QuotaExceeded => {
                self.failed("the user's or project's disk quota is used up (EDQUOT)")
            }
            Kind::MemoryLimit {
                is_killed: false, ..
            } => self.failed("memory ran out (ENOMEM)"),
            Kind::MemoryLimit {
                is_killed: true, ..
            } => self.failed(
                "the worker was killed (SIGKILL) by another process, or by the kernel for lack of memory",
            ),
            Kind::FileSizeLimit => self.failed("a file may not become as large (EFBIG or SIGXFSZ)"),
            Kind::ReadOnly => self.failed("the filesystem became read-only (EROFS)"),
            Kind::Failures { reason } => self.failed(reason),
            Kind::Unsupported { reason } => self.unsupported(reason),
            Kind::LittleSpace { reason } => self.without_space(reason),
            Kind::Interrupted => self.interrupted(),
            Kind::TooFewRounds { ended_by, wait_ppm } => self.too_few_rounds(*ended_by, *wait_ppm),
        }
    }

    fn disturbed(&self, why: &str) -> String {
        let samples_were = were(self.of, "sample");
        format!("{} of {samples_were} disturbed: {why}", self.count)
    }

    fn failed(&self, why: &str) -> String {
        let cases = counted(self.of, "case");
        format!("{} of {cases} failed: {why}", self.count)
    }

    fn unsupported(&self, why: &str) -> String {
        let cases_are = are(self.of, "case");
        format!("{} of {cases_are} not supported here: {why}", self.count)
    }

    fn without_space(&self, why: &str) -> String {
        let cases = counted(self.of, "case");
        format!("{} of {cases} had too little free space: {why}", self.count)
    }

    fn interrupted(&self) -> String {
        let rounds = counted(self.of, "round");
        format!("the run was cut off after {} of {rounds}", self.count)
    }

    fn too_few_rounds(&self, ended_by: EndedBy, wait_ppm: Option<u32>) -> String {
        let busy = wait_ppm.map_or(String::new(), |ppm| {
            format!(
                ", while other programs used the CPUs (tasks waited for a CPU {})",
                share_of_time(ppm)
            )
        });
        format!(
            "{} after {} of the {} rounds that an answer needs{busy}",
            what_ended(ended_by),
            self.count,
            self.of
        )
    }

    /// What to do, as a whole sentence.
    pub(crate) fn remedy(&self) -> String {
        self.remedy_with(None)
    }

    /// The same, with the budget that suffices.
    fn remedy_with(&self, budget: Option<&str>) -> String {
        use ObstacleKind as Kind;
        match &self.kind {
            Kind::CpuPressure { .. } => "Stop them, or measure while the machine is idle.".to_owned(),
            Kind::CpuQuota { .. } => {
                "Raise the CPU limit of the control group (of a container: --cpus), or measure outside it."
                    .to_owned()
            }
            Kind::Hypervisor => {
                "Measure while its neighbours are idle, or on a machine with CPUs of its own.".to_owned()
            }
            Kind::Heat => "Let the machine cool down, or cool it better.".to_owned(),
            Kind::ReturnedMemory => {
                "Use a larger --size, or turn off free page reporting of the virtual machine's balloon."
                    .to_owned()
            }
            Kind::SlowMemory => "Stop other programs, or measure while the machine is idle.".to_owned(),
            Kind::Disturbed { .. } => "Remove this cause, and measure again.".to_owned(),
            Kind::DiskFull => {
                "Free space (or inodes, see df -i), use a smaller --size, or another directory.".to_owned()
            }
            Kind::QuotaExceeded => "Remove files, ask for a larger quota, or use a smaller --size.".to_owned(),
            Kind::MemoryLimit { limit_bytes: Some(limit), .. } => {
                let limit = Bytes(*limit).approximate();
                format!("Raise the memory limit of the control group ({limit}), or use a smaller --size.")
            }
            Kind::MemoryLimit { limit_bytes: None, .. } => {
                "Free memory, or use a smaller --size. The kernel's log (dmesg) names what it killed."
                    .to_owned()
            }
            Kind::FileSizeLimit => "Raise the limit (ulimit -f), or use a smaller --size.".to_owned(),
            Kind::ReadOnly => {
                "See the kernel's log (dmesg) for an error of the disk, and mount it for writing.".to_owned()
            }
            Kind::Failures { .. } => {
                "More time does not help. `writebench show --all` has the error of each case.".to_owned()
            }
            Kind::Unsupported { .. } => {
                "More time does not help. Choose other cases (`writebench list methods`), or another target."
                    .to_owned()
            }
            Kind::LittleSpace { .. } => {
                "Free space, or use a smaller --size or a smaller --reserve.".to_owned()
            }
            Kind::Interrupted => "Start it again.".to_owned(),
            Kind::TooFewRounds { ended_by, wait_ppm } => {
                let raise = match ended_by {
                    EndedBy::Budget { .. } => {
                        let budget = budget
                            .map_or("a larger --budget".to_owned(), |budget| format!("--budget {budget}"));
                        format!("Use {budget}, or a smaller --size.")
                    }
                    EndedBy::MaxBytes { .. } => {
                        "Use a larger --max-bytes, or a smaller --size.".to_owned()
                    }
                    EndedBy::Samples => return format!("Use --samples {} or more.", self.of),
                    EndedBy::Schedule => "Measure these cases alone, by --case.".to_owned(),
                };
                match wait_ppm {
                    Some(_) => format!("Measure while the machine is idle. {raise}"),
                    None => raise,
                }
            }
        }
    }

    /// The cause and the remedy, as two sentences.
    pub(crate) fn text(&self) -> String {
        self.text_with_budget(None)
    }

    /// The same, with the budget that suffices.
    pub(crate) fn text_with_budget(&self, budget: Option<&str>) -> String {
        format!(
            "{}. {}",
            capitalised(&self.cause()),
            self.remedy_with(budget)
        )
    }
}

/// `1 sample was`, `3 samples were`.
fn were(number: usize, what: &str) -> String {
    format!(
        "{} {}",
        counted(number, what),
        if number == 1 { "was" } else { "were" }
    )
}

/// `1 case is`, `3 cases are`.
fn are(number: usize, what: &str) -> String {
    format!(
        "{} {}",
        counted(number, what),
        if number == 1 { "is" } else { "are" }
    )
}

fn what_ended(ended_by: EndedBy) -> String {
    match ended_by {
        EndedBy::Budget { ns } => format!("the budget of {:?} ended", Duration::from_nanos(ns)),
        EndedBy::MaxBytes { bytes } => format!("--max-bytes {} was reached", Bytes(bytes)),
        EndedBy::Samples => "--samples ended them".to_owned(),
        EndedBy::Schedule => "the run ended".to_owned(),
    }
}

/// `93 % of the time`.
pub(crate) fn share_of_time(ppm: u32) -> String {
    format!("{} of the time", share(f64::from(ppm) / 1e6))
}

/// `15 % of a CPU`, `2.50 CPUs`.
pub(crate) fn cpus(ppm: u64) -> String {
    match as_f64(ppm) / 1e6 {
        part @ ..1.0 => format!("{} of a CPU", share(part)),
        1.0 => "1 CPU".to_owned(),
        more => format!("{} CPUs", NUMBER.text(more)),
    }
}
