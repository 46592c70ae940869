use std::path::Path;

use crate::{cpu, kernel_file};

/// What the firmware of virtual machines calls its maker or product, for processors without the flag. Clouds also
/// rent out bare metal, under other names.
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

/// The name of the hypervisor below this system, or `None` on bare metal.
pub(crate) fn find(root: &Path, cpuinfo: Option<&str>) -> Option<String> {
    let firmware = Firmware {
        vendor: kernel_file::text(&root.join("sys/class/dmi/id/sys_vendor")),
        product: kernel_file::text(&root.join("sys/class/dmi/id/product_name")),
    };
    let detected = kernel_file::text(&root.join("sys/hypervisor/type"));
    name(cpuinfo.and_then(cpu::hypervisor_flag), firmware, detected)
}

/// Who made the machine, by its firmware.
struct Firmware {
    vendor: Option<String>,
    product: Option<String>,
}

impl Firmware {
    fn names(&self) -> impl Iterator<Item = &String> {
        self.vendor.iter().chain(&self.product)
    }

    fn is_of_a_virtual_machine(&self) -> bool {
        let is_known = self
            .names()
            .any(|name| VIRTUAL_MACHINES.iter().any(|known| name.starts_with(known)));
        is_known && !self.names().any(|name| name.contains("metal"))
    }

    /// Maker and product, or the product alone if it begins with the maker.
    fn machine(self) -> Option<String> {
        match (self.vendor, self.product) {
            (Some(vendor), Some(product)) if !product.starts_with(&vendor) => {
                Some(format!("{vendor} {product}"))
            }
            (vendor, product) => product.or(vendor),
        }
    }
}

/// `flag` is the processor's flag, and `detected` is the hypervisor that the kernel detected.
fn name(flag: Option<bool>, firmware: Firmware, detected: Option<String>) -> Option<String> {
    let is_virtual = flag.unwrap_or_else(|| firmware.is_of_a_virtual_machine());
    // Bare metal also has a maker and a product, so they say nothing there.
    if !is_virtual {
        return detected;
    }
    firmware
        .machine()
        .or(detected)
        .or_else(|| Some("unnamed hypervisor".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(flag: Option<bool>, vendor: &str, product: &str, detected: &str) -> Option<String> {
        let firmware = Firmware {
            vendor: unless_empty(vendor),
            product: unless_empty(product),
        };
        name(flag, firmware, unless_empty(detected))
    }

    fn unless_empty(text: &str) -> Option<String> {
        (!text.is_empty()).then(|| text.to_owned())
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
