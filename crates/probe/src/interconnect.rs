use std::path::{Path, PathBuf};

use crate::kernel_file::{self, ROOT, name};

/// The connection to other machines and its speed: the InfiniBand or Omni-Path ports (`mlx5_0 100 Gb/sec (4X EDR)`),
/// or else the fastest network interface (`eth0 25000 Mb/s`).
#[must_use]
pub fn interconnect() -> Option<String> {
    interconnect_in(Path::new(ROOT))
}

fn interconnect_in(root: &Path) -> Option<String> {
    fabric_ports(root).or_else(|| fastest_interface(root))
}

/// All active ports, separated by commas.
fn fabric_ports(root: &Path) -> Option<String> {
    let ports: Vec<String> = entries(&root.join("sys/class/infiniband"))
        .iter()
        .filter_map(|device| active_port(device))
        .collect();
    (!ports.is_empty()).then(|| ports.join(", "))
}

/// The files are described in the kernel's Documentation/ABI/stable/sysfs-class-infiniband.
fn active_port(device: &Path) -> Option<String> {
    let ports = entries(&device.join("ports"));
    let active = ports.iter().find(|port| is_active(port))?;
    let rate = kernel_file::text(&active.join("rate"))?;
    Some(format!("{} {rate}", name(device)))
}

fn is_active(port: &Path) -> bool {
    kernel_file::text(&port.join("state")).is_some_and(|state| state.contains("ACTIVE"))
}

/// Virtual interfaces such as bridges have no folder `device`, and are left out.
fn fastest_interface(root: &Path) -> Option<String> {
    let mut interfaces = entries(&root.join("sys/class/net"));
    interfaces.retain(|interface| interface.join("device").exists());
    let (mbit_per_second, interface) = interfaces
        .iter()
        .filter_map(|interface| Some((mbit_per_second(interface)?, interface)))
        .max_by_key(|(mbit_per_second, _)| *mbit_per_second)?;
    Some(format!("{} {mbit_per_second} Mb/s", name(interface)))
}

/// The kernel reports -1 for an unknown speed (Documentation/ABI/testing/sysfs-class-net).
fn mbit_per_second(interface: &Path) -> Option<i64> {
    kernel_file::value(&interface.join("speed")).filter(|&speed| speed > 0)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    kernel_file::entries(folder).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn interconnect_with(files: &[(&str, &str)]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join("sys/class").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        interconnect_in(root.path())
    }

    #[test]
    fn an_active_port_counts_before_the_fastest_interface() {
        let net = [
            ("net/br0/speed", "100000\n"),
            ("net/eth0/speed", "1000\n"),
            ("net/eth0/device/vendor", "0x8086\n"),
            ("net/eth1/speed", "25000\n"),
            ("net/eth1/device/vendor", "0x8086\n"),
        ];
        assert_eq!(interconnect_with(&net).unwrap(), "eth1 25000 Mb/s");
        let ib = [
            ("infiniband/mlx5_0/ports/1/state", "1: DOWN\n"),
            ("infiniband/mlx5_0/ports/1/rate", "10 Gb/sec (4X SDR)\n"),
            ("infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n"),
            ("infiniband/mlx5_1/ports/1/rate", "100 Gb/sec (4X EDR)\n"),
        ];
        assert_eq!(
            interconnect_with(&[&ib[..], &net[..]].concat()).unwrap(),
            "mlx5_1 100 Gb/sec (4X EDR)"
        );
    }

    #[test]
    fn an_interface_of_unknown_speed_is_none() {
        let virtual_card = [
            ("net/eth0/speed", "-1\n"),
            ("net/eth0/device/vendor", "0x1af4\n"),
        ];
        assert_eq!(interconnect_with(&virtual_card), None);
    }
}
