use std::path::{Path, PathBuf};

use crate::kernel_file::{self, ROOT, name};

/// An InfiniBand or Omni-Path port, or else a network interface: `mlx5_0 100 Gb/sec (4X EDR)`, `eth0 25000
/// Mb/s`.
#[must_use]
pub fn interconnect() -> Option<String> {
    fastest(Path::new(ROOT))
}

fn fastest(root: &Path) -> Option<String> {
    fabric(root).or_else(|| network(root))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    kernel_file::entries(folder).unwrap_or_default()
}

/// Documentation/ABI/stable/sysfs-class-infiniband: `ports/N/rate`, `ports/N/state`.
fn fabric(root: &Path) -> Option<String> {
    let port = |device: &PathBuf| {
        let is_active = |port: &&PathBuf| {
            kernel_file::text(&port.join("state")).is_some_and(|state| state.contains("ACTIVE"))
        };
        let ports = entries(&device.join("ports"));
        let rate = kernel_file::text(&ports.iter().find(is_active)?.join("rate"))?;
        Some(format!("{} {rate}", name(device)))
    };
    let ports: Vec<String> = entries(&root.join("sys/class/infiniband"))
        .iter()
        .filter_map(port)
        .collect();
    (!ports.is_empty()).then(|| ports.join(", "))
}

/// Documentation/ABI/testing/sysfs-class-net: `speed` in Mbit/s, -1 if unknown. Virtual interfaces such as
/// bridges have no `device`.
fn network(root: &Path) -> Option<String> {
    let speed = |interface: &PathBuf| {
        kernel_file::value::<i64>(&interface.join("speed")).filter(|&speed| speed > 0)
    };
    let mut all = entries(&root.join("sys/class/net"));
    all.retain(|interface| interface.join("device").exists());
    let (speed, interface) = all
        .iter()
        .filter_map(|interface| Some((speed(interface)?, interface)))
        .max_by_key(|(speed, _)| *speed)?;
    Some(format!("{} {speed} Mb/s", name(interface)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn with(files: &[(&str, &str)]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join("sys/class").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fastest(root.path())
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
        assert_eq!(with(&net).unwrap(), "eth1 25000 Mb/s");
        let ib = [
            ("infiniband/mlx5_0/ports/1/state", "1: DOWN\n"),
            ("infiniband/mlx5_0/ports/1/rate", "10 Gb/sec (4X SDR)\n"),
            ("infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n"),
            ("infiniband/mlx5_1/ports/1/rate", "100 Gb/sec (4X EDR)\n"),
        ];
        assert_eq!(
            with(&[&ib[..], &net[..]].concat()).unwrap(),
            "mlx5_1 100 Gb/sec (4X EDR)"
        );
        assert_eq!(
            with(&[
                ("net/eth0/speed", "-1\n"),
                ("net/eth0/device/vendor", "0x1af4\n")
            ]),
            None
        );
    }
}
