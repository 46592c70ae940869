use std::path::Path;
use std::thread;

use writebench_model::Cpu;

use crate::mountinfo::Mount;
use crate::{cgroup, kernel_file};

pub(crate) fn facts(root: &Path, mounts: &[Mount]) -> Cpu {
    let governor = root.join("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    Cpu {
        model: cpuinfo(root).as_deref().and_then(model),
        available: available(),
        limit_ppm: cgroup::cpu_limit_ppm(root, mounts),
        governor: kernel_file::text(&governor),
    }
}

pub(crate) fn cpuinfo(root: &Path) -> Option<String> {
    kernel_file::text(&root.join("proc/cpuinfo"))
}

/// The CPUs that this process may use at once, by its affinity and its control groups, or 1 if that is unknown.
fn available() -> u32 {
    thread::available_parallelism()
        .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

fn model(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name")
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

/// Whether the CPU says that a hypervisor runs it. Only x86 has such flags, so elsewhere the answer is `None`.
pub(crate) fn hypervisor_flag(cpuinfo: &str) -> Option<bool> {
    field(cpuinfo, "flags").map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn field<'t>(cpuinfo: &'t str, name: &str) -> Option<&'t str> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(key, value)| (key.trim() == name).then(|| value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\n\
                       flags\t\t: fpu vme hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: Other\n";
    const ARM: &str =
        "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n";

    #[test]
    fn the_model_is_that_of_the_first_processor() {
        assert_eq!(model(X86).as_deref(), Some("Intel(R) Xeon(R) Processor"));
    }

    #[test]
    fn a_processor_without_a_name_has_no_model() {
        assert_eq!(model(ARM), None);
        assert_eq!(model("model name\t:\n"), None);
    }

    #[test]
    fn the_flag_is_a_whole_word_and_unknown_without_flags() {
        assert_eq!(hypervisor_flag(X86), Some(true));
        assert_eq!(hypervisor_flag("flags : fpu hypervisor_x\n"), Some(false));
        assert_eq!(hypervisor_flag(ARM), None);
    }
}
