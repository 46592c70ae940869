//! What was measured on, in a few lines.

use model::{Bytes, Device, Environment};

use crate::counted;

/// Label and text of each line: machine, target, device.
#[must_use]
pub fn machine_lines(environment: &Environment, target: &str) -> Vec<(&'static str, String)> {
    let Environment { system, cpu, memory, filesystem, device, .. } = environment;
    let size = |bytes| Bytes(bytes).approximate();
    let mut machine = format!("{}: {}", system.hostname, cpu.model.as_deref().unwrap_or(&system.architecture));
    machine += &format!(", {}", counted(cpu.available as usize, "CPU"));
    machine += &format!(", {} memory, {} available", size(memory.total_bytes), size(memory.available_bytes));
    if let Some(limit) = memory.limit_bytes {
        machine += &format!(", limited to {}", size(limit));
    }
    if let Some(governor) = &cpu.governor {
        machine += &format!(", governor {governor}");
    }
    let mut kernel = format!("{} {}", system.kernel, system.architecture);
    if let Some(distribution) = &system.distribution {
        kernel += &format!(", {distribution}");
    }
    if let Some(hypervisor) = &system.hypervisor {
        kernel += &format!(", virtual machine ({hypervisor})");
    }
    let target =
        format!("{target}, {} free of {}", size(filesystem.available_bytes), size(filesystem.total_bytes));
    let mount = match filesystem.kind.as_str() {
        "block device" => "none: the device itself".to_owned(),
        kind => {
            format!(
                "{kind} on {} at {} ({})",
                filesystem.source, filesystem.mount_point, filesystem.mount_options
            )
        }
    };
    vec![
        ("machine", machine),
        ("kernel", kernel),
        ("target", target),
        ("filesystem", mount),
        ("device", device.as_ref().map_or("none: not on a block device".to_owned(), device_line)),
    ]
}

pub(crate) fn device_line(device: &Device) -> String {
    let mut line = device.name.clone();
    let mut add = |text: Option<String>| {
        if let Some(text) = text {
            line += ", ";
            line += &text;
        }
    };
    add(device.model.clone());
    add(device.size_bytes.map(|bytes| Bytes(bytes).approximate()));
    add(device.write_cache.as_ref().map(|cache| format!("write cache {cache}")));
    add(device.scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}")));
    if let (Some(logical), Some(physical)) = (device.logical_sector_bytes, device.physical_sector_bytes) {
        add(Some(format!("sectors {logical} B logical, {physical} B physical")));
    }
    line
}
