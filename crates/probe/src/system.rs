use std::path::Path;

use rustix::system::uname;
use writebench_model::System;

use crate::{cpu, hypervisor, os_release};

/// The machine and the operating system of this process.
pub(crate) fn facts(root: &Path) -> System {
    let kernel = uname();
    System {
        hostname: kernel.nodename().to_string_lossy().into_owned(),
        kernel: format!(
            "{} {}",
            kernel.sysname().to_string_lossy(),
            kernel.release().to_string_lossy()
        ),
        architecture: kernel.machine().to_string_lossy().into_owned(),
        distribution: os_release::distribution(root),
        hypervisor: hypervisor::find(root, cpu::cpuinfo(root).as_deref()),
    }
}
