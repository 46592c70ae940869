use super::*;

fn target(kind: &str, mount_options: &str) -> TargetRecord {
    let environment = serde_json::json!({
        "system": {"hostname": "host", "kernel": "Linux 6.18", "architecture": "x86_64"},
        "cpu": {"available": 2},
        "memory": {"total_bytes": 1, "available_bytes": 1, "page_size_bytes": 4096},
        "filesystem": {
            "kind": kind, "source": "/dev/sda1", "mount_point": "/data", "mount_options": mount_options,
            "total_bytes": 1, "available_bytes": 1, "block_size_bytes": 4096
        },
        "device": {"name": "sda", "number": "8:0", "write_cache": "write back"},
        "tunables": {}
    });
    TargetRecord {
        name: "/data".to_owned(),
        path: "/data".to_owned(),
        environment: serde_json::from_value(environment).unwrap(),
        limits: Vec::new(),
        made_filesystem: None,
    }
}

fn layer(role: LayerRole, kind: &str) -> LayerBelow {
    LayerBelow {
        role,
        kind: kind.to_owned(),
        mount_options: "rw".to_owned(),
        device: None,
    }
}

fn why(target: &TargetRecord, case: &str) -> Option<String> {
    target.why_not_durable(&Case::parse(case).unwrap())
}

#[test]
fn a_call_is_durable_where_the_table_says_so() {
    for (kind, case, is_durable) in [
        ("ext4", "write-files,sync-files=syncfs", true),
        ("ext2", "write-files,sync-files=syncfs", false),
        ("ext2", "write-files,sync-files=batch", true),
        ("fuse.bindfs", "write-files,sync-files=syncfs", false),
        ("fuse", "write-files,sync-files=each", true),
        ("fuseblk", "pwrite,sync=rwf-dsync", false),
        ("fuse.glusterfs", "write,sync=o-dsync", false),
        ("fuse.bindfs", "mmap,sync=msync", true),
        ("virtiofs", "write-files,sync-files=syncfs", true),
        ("virtiofs", "write,sync=o-sync", false),
        ("nfs4", "write,sync=fsync", true),
        ("nfs4", "write,sync=o-dsync", false),
        ("zfs", "write,sync=fdatasync", true),
        ("zfs", "write,sync=o-sync", false),
        ("overlay", "write,sync=o-sync", false),
    ] {
        assert_eq!(
            why(&target(kind, "rw"), case).is_none(),
            is_durable,
            "{kind} {case}"
        );
        assert_eq!(
            why(&target(kind, "rw"), "write"),
            None,
            "{kind}: a case without a promise"
        );
    }
    assert_eq!(
        why(
            &target("fuse.bindfs", "rw"),
            "write-files,sync-files=syncfs"
        )
        .unwrap(),
        "syncfs(2) sends a FUSE server no request"
    );
    assert_eq!(
        why(&target("zfs", "rw"), "write,sync=o-dsync").unwrap(),
        "O_DSYNC is not known to make data durable on zfs"
    );
}

#[test]
fn every_case_with_a_durable_workload_names_its_call() {
    for name in [
        "write,sync=fsync",
        "mmap,sync=msync/2",
        "write-files,sync-files=writeback",
        "program,sync=fsync",
    ] {
        let case = Case::parse(name).unwrap();
        assert_eq!(
            case.workload().durability,
            crate::Durability::Durable,
            "{name}"
        );
        assert!(DurableCall::of_case(&case).is_some(), "{name}");
    }
}

#[test]
fn an_option_that_ignores_syncs_is_named() {
    for (kind, options, expected) in [
        (
            "overlay",
            "rw,volatile",
            Some("mounted with volatile, so overlayfs ignores syncs"),
        ),
        (
            "overlay",
            "rw,fsync=volatile",
            Some("mounted with fsync=volatile, so overlayfs ignores syncs"),
        ),
        ("overlay", "rw,fsync=strict", None),
        ("overlay", "rw,lowerdir=/l,upperdir=/u,workdir=/w", None),
        (
            "overlay",
            "rw,lowerdir=l,upperdir=u,workdir=w",
            Some(
                "mounted with the relative upperdir=u, so it is unknown whether a sync reaches a disk (an absolute path would tell)",
            ),
        ),
        (
            "cifs",
            "rw,nostrictsync",
            Some("mounted with nostrictsync, so a sync does not ask the server to write its cache"),
        ),
        (
            "f2fs",
            "rw,checkpoint=disable:10%",
            Some("mounted with checkpoint=disable, so a sync writes no metadata"),
        ),
        (
            "ext4",
            "rw,nobarrier",
            Some("mounted with nobarrier, so a sync leaves data in the write cache of sda"),
        ),
        (
            "reiserfs",
            "barrier=none",
            Some("mounted with barrier=none, so a sync leaves data in the write cache of sda"),
        ),
        // All of these commit at a sync.
        (
            "ext4",
            "rw,data=writeback,journal_async_commit,noauto_da_alloc",
            None,
        ),
        ("btrfs", "rw,notreelog,nodatacow", None),
        ("f2fs", "rw,fsync_mode=posix", None),
        ("nfs4", "rw,async", None),
        ("ext4", "rw,volatile", None),
    ] {
        assert_eq!(
            target(kind, options).loses_data().as_deref(),
            expected,
            "{kind} {options}"
        );
    }
}

#[test]
fn a_mount_without_flushes_is_durable_on_a_disk_without_a_write_cache() {
    let mut target = target("xfs", "rw,nobarrier");
    let device = target.environment.device.as_mut().unwrap();
    device.write_cache = Some(Device::WRITE_THROUGH.to_owned());
    assert_eq!(target.loses_data(), None);
    target.environment.device.as_mut().unwrap().own_write_cache = Some("write back".to_owned());
    let expected = "sda has a write cache that is never flushed, because its queue/write_cache says write through";
    assert_eq!(target.loses_data().as_deref(), Some(expected));
    target.environment.device = None;
    assert_eq!(
        target.loses_data().as_deref(),
        Some("mounted with nobarrier, so a sync flushes no write cache"),
        "unknown"
    );
}

#[test]
fn a_device_in_memory_is_not_durable() {
    for (name, is_in_memory) in [
        ("ram0", true),
        ("zram12", true),
        ("nullb0", true),
        ("ramdisk", false),
        ("sda", false),
    ] {
        let mut target = target("ext4", "rw");
        target.environment.device.as_mut().unwrap().name = name.to_owned();
        assert_eq!(target.loses_data().is_some(), is_in_memory, "{name}");
    }
}

#[test]
fn a_layer_below_decides_as_well() {
    let mut overlay = target("overlay", "rw,upperdir=/u");
    overlay.environment.below = vec![layer(LayerRole::UpperDirectory, "tmpfs")];
    assert_eq!(
        overlay.loses_data().as_deref(),
        Some("its upper directory is not durable: tmpfs is in memory")
    );
    overlay.environment.below = vec![layer(LayerRole::UpperDirectory, "ext4")];
    assert_eq!(
        (
            overlay.loses_data(),
            why(&overlay, "write,sync=o-sync"),
            overlay.keeper()
        ),
        (None, None, Keeper::Disk)
    );
    overlay.environment.below = vec![layer(LayerRole::UpperDirectory, "fuse.sshfs")];
    assert!(why(&overlay, "write-files,sync-files=syncfs").is_some());
    assert_eq!(overlay.keeper(), Keeper::Server);
    let mut image = target("ext4", "rw");
    image.environment.below = vec![layer(LayerRole::Image, "nfs4")];
    assert_eq!(
        (why(&image, "write,sync=o-sync"), image.keeper()),
        (None, Keeper::Server)
    );
    image.environment.below = vec![layer(LayerRole::Image, "tmpfs")];
    assert_eq!(
        image.loses_data().as_deref(),
        Some("its image is not durable: tmpfs is in memory")
    );
}

#[test]
fn the_documents_have_the_table() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/explanation/filesystems.md"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let table = DurableCalls.to_string();
    let begin = text
        .find("| filesystem | fsync(2)")
        .expect("a table of calls");
    let end = begin + text[begin..].find("\n\n").unwrap() + 1;
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return std::fs::write(path, [&text[..begin], &table, &text[end..]].concat()).unwrap();
    }
    assert_eq!(
        text[begin..end],
        table,
        "UPDATE_DOCS=1 cargo test -p writebench-model durability writes it"
    );
}
