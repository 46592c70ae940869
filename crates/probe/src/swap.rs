use std::path::Path;

use crate::device::source_number;
use crate::device_number::DeviceNumber;
use crate::error::ProbeError;
use crate::kernel_file;
use crate::mountinfo::unescape;

/// The block devices that the kernel swaps to. A swap file is no device, and is left out.
pub(crate) fn devices(root: &Path) -> Result<Vec<DeviceNumber>, ProbeError> {
    let proc = root.join("proc");
    let swaps = proc.join("swaps");
    // A kernel without swap has no such file.
    if proc.exists() && !swaps.exists() {
        return Ok(Vec::new());
    }
    let paths = swapped_to(&kernel_file::needed_text(&swaps)?);
    Ok(paths
        .iter()
        .filter_map(|path| source_number(path))
        .collect())
}

/// The first column of `/proc/swaps`, below its header.
fn swapped_to(swaps: &str) -> Vec<String> {
    swaps
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(unescape)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_but_the_first_begins_with_a_path() {
        let text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                    /dev/sda2                               partition\t65532\t\t0\t\t-2\n\
                    /var/my\\040swap                         file\t\t65532\t\t0\t\t-3\n";
        assert_eq!(swapped_to(text), ["/dev/sda2", "/var/my swap"]);
        assert!(swapped_to("Filename Type Size Used Priority\n").is_empty());
    }

    #[test]
    fn a_kernel_without_swap_has_none_and_a_missing_proc_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        assert!(devices(root.path()).is_err());
        std::fs::create_dir(root.path().join("proc")).unwrap();
        assert!(devices(root.path()).unwrap().is_empty());
    }
}
