use std::path::Path;

use crate::{cpu, kernel_file};

/// Firmware names, for processors without the flag. Clouds also rent out bare metal, with other names.
const VIRTUAL_MACHINES: [&str; 14] = [
    "Alibaba Cloud ECS",
    "Amazon EC2",
    "Apple Virtualization",
    "BHYVE",
    "Google Compute Engine",
    "KVM",
    "KubeVirt",
    "OpenStack",
    "Parallels",
    "QEMU",
    "VMware",
    "Virtual Machine",
    "VirtualBox",
    "Xen",
];

pub(crate) fn find(root: &Path, cpuinfo: Option<&str>) -> Option<String> {
    let text = |path: &str| kernel_file::text(&root.join(path));
    let firmware = [
        "sys/class/dmi/id/sys_vendor",
        "sys/class/dmi/id/product_name",
    ]
    .map(text);
    name(
        cpuinfo.and_then(cpu::hypervisor_flag),
        firmware,
        text("sys/hypervisor/type"),
    )
}

/// `kind` is the hypervisor that the kernel detected.
fn name(flag: Option<bool>, firmware: [Option<String>; 2], kind: Option<String>) -> Option<String> {
    let says = |fits: &dyn Fn(&str) -> bool| firmware.iter().flatten().any(|name| fits(name));
    let is_virtual = flag.unwrap_or_else(|| {
        says(&|name| VIRTUAL_MACHINES.iter().any(|known| name.starts_with(known)))
            && !says(&|name| name.contains("metal"))
    });
    // Bare metal also has a maker and a product.
    let machine = is_virtual.then(|| machine(firmware)).flatten();
    machine
        .or(kind)
        .or_else(|| is_virtual.then(|| "unnamed hypervisor".to_owned()))
}

/// The product alone if it begins with the maker.
fn machine(firmware: [Option<String>; 2]) -> Option<String> {
    match firmware {
        [Some(vendor), Some(product)] if !product.starts_with(&vendor) => {
            Some(format!("{vendor} {product}"))
        }
        [vendor, product] => product.or(vendor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(flag: Option<bool>, vendor: &str, product: &str, kind: &str) -> Option<String> {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        name(flag, [text(vendor), text(product)], text(kind))
    }

    #[test]
    fn a_virtual_machine_is_named_by_its_firmware() {
        let name = named(Some(true), "QEMU", "Standard PC (Q35 + ICH9, 2009)", "");
        assert_eq!(name.as_deref(), Some("QEMU Standard PC (Q35 + ICH9, 2009)"));
        let name = named(Some(true), "Microsoft Corporation", "Virtual Machine", "");
        assert_eq!(
            name.as_deref(),
            Some("Microsoft Corporation Virtual Machine")
        );
    }

    #[test]
    fn without_firmware_the_kernels_name_counts() {
        assert_eq!(named(Some(true), "", "", "xen").as_deref(), Some("xen"));
        assert_eq!(named(None, "", "", "xen").as_deref(), Some("xen"));
    }

    #[test]
    fn the_flag_alone_shows_a_hypervisor() {
        assert_eq!(
            named(Some(true), "", "", "").as_deref(),
            Some("unnamed hypervisor")
        );
    }

    #[test]
    fn bare_metal_has_none() {
        assert_eq!(named(Some(false), "Dell Inc.", "PowerEdge R740", ""), None);
        assert_eq!(named(Some(false), "Amazon EC2", "m5.metal", ""), None);
        assert_eq!(named(None, "Amazon EC2", "a1.metal", ""), None);
        assert_eq!(named(None, "Ampere", "Mt. Jade", ""), None);
        assert_eq!(named(None, "", "", ""), None);
    }

    #[test]
    fn without_a_flag_known_firmware_names_count() {
        assert_eq!(
            named(None, "Amazon EC2", "t4g.small", "").as_deref(),
            Some("Amazon EC2 t4g.small")
        );
        assert_eq!(
            named(None, "QEMU", "KVM Virtual Machine", "").as_deref(),
            Some("QEMU KVM Virtual Machine")
        );
        assert_eq!(
            named(None, "Google", "Google Compute Engine", "").as_deref(),
            Some("Google Compute Engine")
        );
    }
}
