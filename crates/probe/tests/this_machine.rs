use std::path::Path;

#[test]
fn a_directorys_filesystem_has_a_mount_point_above_it_and_no_more_free_space_than_space() {
    let target = tempfile::tempdir().unwrap();
    let filesystem = writebench_probe::environment(target.path())
        .unwrap()
        .filesystem;
    let canonical = target.path().canonicalize().unwrap();
    assert!(
        canonical.starts_with(&filesystem.mount_point),
        "{filesystem:?}"
    );
    assert!(
        !filesystem.kind.is_empty() && !filesystem.mount_options.is_empty(),
        "{filesystem:?}"
    );
    assert!(
        filesystem.available_bytes <= filesystem.total_bytes,
        "{filesystem:?}"
    );
    assert!(filesystem.block_size_bytes > 0, "{filesystem:?}");
}

#[test]
fn proc_is_a_filesystem_without_a_device() {
    let environment = writebench_probe::environment(Path::new("/proc")).unwrap();
    assert_eq!(environment.filesystem.kind, "proc");
    assert_eq!(environment.filesystem.mount_point, "/proc");
    assert_eq!(environment.device, None);
}

#[test]
fn the_devices_written_sectors_can_be_found_by_its_number() {
    let target = tempfile::tempdir().unwrap();
    if let Some(device) = writebench_probe::environment(target.path()).unwrap().device {
        let stat = Path::new("/sys/dev/block")
            .join(&device.number)
            .join("stat");
        let counts = std::fs::read_to_string(stat).unwrap();
        assert!(
            counts
                .split_whitespace()
                .nth(6)
                .unwrap()
                .parse::<u64>()
                .is_ok(),
            "{counts}"
        );
    }
}

#[test]
fn the_machine_has_a_name_a_kernel_and_memory() {
    let environment = writebench_probe::environment(Path::new("/")).unwrap();
    assert!(
        environment.system.kernel.starts_with("Linux "),
        "{:?}",
        environment.system
    );
    assert!(environment.cpu.available > 0);
    let memory = &environment.memory;
    assert!(memory.available_bytes <= memory.total_bytes, "{memory:?}");
    assert!(
        memory
            .limit_bytes
            .is_none_or(|limit| limit < memory.total_bytes),
        "{memory:?}"
    );
    assert!(memory.page_size_bytes.is_power_of_two(), "{memory:?}");
    assert!(
        environment.tunables.contains_key("proc/sys/vm/dirty_ratio"),
        "{:?}",
        environment.tunables
    );
}

#[test]
fn available_memory_is_at_most_total_memory() {
    let total_bytes = writebench_probe::environment(Path::new("/"))
        .unwrap()
        .memory
        .total_bytes;
    let available_bytes = writebench_probe::available_memory_bytes().unwrap();
    assert!(
        available_bytes > 0 && available_bytes <= total_bytes,
        "{available_bytes} of {total_bytes}"
    );
}

#[test]
fn space_agrees_with_the_environment() {
    let target = tempfile::tempdir().unwrap();
    let space = writebench_probe::space(target.path()).unwrap();
    let filesystem = writebench_probe::environment(target.path())
        .unwrap()
        .filesystem;
    assert_eq!(space.total_bytes, filesystem.total_bytes);
    assert!(space.available_bytes <= space.total_bytes, "{space:?}");
}

#[test]
fn a_missing_target_is_an_error_with_call_path_and_number() {
    let target = tempfile::tempdir().unwrap().path().join("missing");
    let error = writebench_probe::environment(&target)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!("stat {}: No such file or directory (2)", target.display())
    );
    let error = writebench_probe::space(&target).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "statvfs {}: No such file or directory (2)",
            target.display()
        )
    );
}
