//! Tests for every system, including the differences.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut};
use std::process::ExitCode;

use direct_io::{
    AlignedBuffer, BlockDevice, DirectIo, Error, OpenOptions, WriteThrough, fdatasync, fsync,
    full_fsync, lock, lock_volume, preallocate, read_at, read_exact_at, read_vectored_at,
    set_no_cache, unlock, unlock_volume, write_all_at, write_tail_at, write_vectored_at,
};
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

/// A test, and its requirement if this system lacks it.
struct Test(&'static str, fn(), fn() -> Option<String>);

const TESTS: &[Test] = &[
    Test(
        "written data is read back however the file was opened",
        read_back,
        nothing,
    ),
    Test(
        "a read beyond the end names the offset of the end",
        end_of_file,
        nothing,
    ),
    Test(
        "slices are written and read with one call, or not at all",
        vectored,
        nothing,
    ),
    Test(
        "a file ends after its tail, whatever its length and its contents before",
        tail,
        nothing,
    ),
    Test(
        "options of the standard library keep their meaning",
        standard_options,
        nothing,
    ),
    Test(
        "each system has its own flushes and none replaces another",
        flushes,
        nothing,
    ),
    Test(
        "a lock excludes other descriptors until it is released",
        locks,
        nothing,
    ),
    Test(
        "preallocated files grow and never shrink",
        preallocation,
        file_allocation_info,
    ),
    Test("a regular file is not a device", no_device, nothing),
    Test(
        "a regular file has a device below it",
        device_below,
        file_storage_info,
    ),
    Test(
        "the alignment of direct I/O can be asked of any file",
        needs,
        file_storage_info,
    ),
    Test(
        "exclusive opening depends on the system",
        exclusive,
        nothing,
    ),
    #[cfg(unix)]
    Test(
        "no_follow refuses a link, and a mode is applied",
        paths,
        nothing,
    ),
    #[cfg(windows)]
    Test(
        "a disk reports its sectors and its size",
        disk,
        an_open_disk,
    ),
    #[cfg(windows)]
    Test("a disk is locked and unlocked", disk_lock, an_open_disk),
];

fn nothing() -> Option<String> {
    None
}

fn not_in_wine(call: &str) -> Option<String> {
    let is_wine = std::env::var("DIRECT_IO_UNDER").is_ok_and(|under| under == "wine");
    is_wine.then(|| format!("Wine has no {call}"))
}

fn file_storage_info() -> Option<String> {
    not_in_wine("GetFileInformationByHandleEx(FileStorageInfo)")
}

fn file_allocation_info() -> Option<String> {
    not_in_wine("SetFileInformationByHandle(FileAllocationInfo)")
}

#[cfg(windows)]
const DISK: &str = r"\\.\PhysicalDrive0";

#[cfg(windows)]
fn an_open_disk() -> Option<String> {
    OpenOptions::new()
        .read(true)
        .open(DISK)
        .err()
        .map(|error| error.to_string())
}

fn main() -> ExitCode {
    let trial = |&Test(name, run, missing): &Test| {
        let missing = missing();
        let is_missing = missing.is_some();
        let kind = missing
            .map(|what| format!("skipped: {what}"))
            .unwrap_or_default();
        let run = move || {
            run();
            Ok(())
        };
        Trial::test(name, run)
            .with_kind(kind)
            .with_ignored_flag(is_missing)
    };
    libtest_mimic::run(&Arguments::from_args(), TESTS.iter().map(trial).collect()).exit_code()
}

/// A directory on cargo's disk, because a memory filesystem may lack direct I/O.
fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn block(byte: u8) -> AlignedBuffer {
    let mut block = AlignedBuffer::new(8192, 4096).unwrap();
    block.fill(byte);
    block
}

fn unsupported(result: Result<(), Error>) -> bool {
    matches!(result, Err(Error::Unsupported { .. }))
}

fn read_back() {
    let directory = directory();
    let path = directory.path().join("file");
    for direct in [false, true] {
        for write_through in [
            WriteThrough::None,
            WriteThrough::DataSync,
            WriteThrough::Sync,
        ] {
            let options = OpenOptions::new()
                .read(true)
                .write(true)
                .direct(direct)
                .write_through(write_through);
            let file = options.create_new(true).open(&path).unwrap();
            write_all_at(&file, &block(7), 4096).unwrap();
            write_all_at(&file, &block(8), 0).unwrap();
            let mut read = AlignedBuffer::new(16384, 4096).unwrap();
            assert_eq!(read_at(&file, &mut read, 0).unwrap(), 12288, "{options:?}");
            assert!(read[..8192].iter().all(|&byte| byte == 8), "{options:?}");
            assert!(
                read[8192..12288].iter().all(|&byte| byte == 7),
                "{options:?}"
            );
            drop(file);
            assert_eq!(fs::metadata(&path).unwrap().len(), 12288);
            fs::remove_file(&path).unwrap();
        }
    }
}

fn end_of_file() {
    let directory = directory();
    let path = directory.path().join("file");
    fs::write(&path, vec![7; 5000]).unwrap();
    for direct in [false, true] {
        let file = OpenOptions::new()
            .read(true)
            .direct(direct)
            .open(&path)
            .unwrap();
        let mut read = AlignedBuffer::new(8192, 4096).unwrap();
        read_exact_at(&file, &mut read[..4096], 0).unwrap();
        let error = read_exact_at(&file, &mut read, 0).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with(" at offset 5000: the file ends here"),
            "{error}"
        );
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::UnexpectedEof);
        assert!(
            read[..5000].iter().all(|&byte| byte == 7)
                && read[5000..].iter().all(|&byte| byte == 0)
        );
        assert_eq!(read_at(&file, &mut read, 4096).unwrap(), 904);
        assert_eq!(read_at(&file, &mut read, 8192).unwrap(), 0);
    }
}

fn vectored() {
    let directory = directory();
    for direct in [false, true] {
        let options = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .direct(direct);
        let file = options.open(directory.path().join("file")).unwrap();
        let (first, second) = (block(1), block(2));
        let slices = [IoSlice::new(&first), IoSlice::new(&second)];
        let mut read = [block(0), block(0)];
        let [one, two] = &mut read;
        let mut into = [IoSliceMut::new(one), IoSliceMut::new(two)];
        if cfg!(windows) {
            assert!(unsupported(write_vectored_at(&file, &slices, 0).map(drop)));
            assert!(unsupported(read_vectored_at(&file, &mut into, 0).map(drop)));
            continue;
        }
        assert_eq!(write_vectored_at(&file, &slices, 4096).unwrap(), 16384);
        assert_eq!(read_vectored_at(&file, &mut into, 8192).unwrap(), 12288);
        assert!(
            read[0][..4096].iter().all(|&byte| byte == 1)
                && read[0][4096..].iter().all(|&byte| byte == 2)
        );
        assert!(
            read[1][..4096].iter().all(|&byte| byte == 2)
                && read[1][4096..].iter().all(|&byte| byte == 0)
        );
    }
}

fn tail() {
    let directory = directory();
    let path = directory.path().join("file");
    let bytes = AlignedBuffer::from_slice(&[5; 16384], 4096).unwrap();
    for direct in [false, true] {
        for length in [0, 1, 511, 512, 4096, 5000, 12288, 16383] {
            fs::write(&path, vec![9; 20000]).unwrap();
            let file = OpenOptions::new()
                .write(true)
                .direct(direct)
                .open(&path)
                .unwrap();
            write_tail_at(&file, &bytes[..length], 4096).unwrap();
            drop(file);
            let written = fs::read(&path).unwrap();
            assert_eq!(written.len(), 4096 + length, "direct {direct}");
            assert!(written[..4096].iter().all(|&byte| byte == 9));
            assert!(
                written[4096..].iter().all(|&byte| byte == 5),
                "{length} bytes, direct {direct}"
            );
        }
    }
}

fn standard_options() {
    let directory = directory();
    let path = directory.path().join("file");
    let write = OpenOptions::new().write(true);
    let error = write.open(&path).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    write_all_at(write.create(true).open(&path).unwrap(), b"hello", 0).unwrap();
    let error = io::Error::from(write.create_new(true).open(&path).unwrap_err());
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    write.create(true).open(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello");
    write.truncate(true).open(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
    let file = OpenOptions::new().read(true).open(&path).unwrap();
    let error = write_all_at(&file, b"x", 3).unwrap_err();
    assert!(
        error.to_string().contains("at offset 3") && error.raw_os_error().is_some(),
        "{error}"
    );
}

fn flushes() {
    let directory = directory();
    let file = File::create(directory.path().join("file")).unwrap();
    write_all_at(&file, b"hello", 0).unwrap();
    fsync(&file).unwrap();
    let has_fdatasync = cfg!(any(target_os = "linux", target_os = "freebsd"));
    assert_eq!(unsupported(fdatasync(&file)), !has_fdatasync);
    assert_eq!(unsupported(full_fsync(&file)), !cfg!(target_os = "macos"));
    assert_eq!(
        unsupported(set_no_cache(&file, true)),
        !cfg!(target_os = "macos")
    );
}

fn locks() {
    let directory = directory();
    let path = directory.path().join("file");
    let first = File::create(&path).unwrap();
    let second = File::open(&path).unwrap();
    if cfg!(windows) {
        assert!(unsupported(lock(&first)) && unsupported(unlock(&first)));
        return;
    }
    unlock(&first).unwrap();
    lock(&first).unwrap();
    lock(&first).unwrap();
    assert!(matches!(lock(&second), Err(Error::Locked)));
    unlock(&first).unwrap();
    lock(&second).unwrap();
    drop(second);
    lock(&first).unwrap();
    assert!(unsupported(lock_volume(&first)) && unsupported(unlock_volume(&first)));
}

fn preallocation() {
    let directory = directory();
    let path = directory.path().join("file");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .open(&path)
        .unwrap();
    let length = || fs::metadata(&path).unwrap().len();
    preallocate(&file, 0).unwrap();
    assert_eq!(length(), 0);
    preallocate(&file, 100_000).unwrap();
    assert_eq!(length(), 100_000);
    write_all_at(&file, b"hello", 99_995).unwrap();
    for shorter in [1, 4096, 99_999, 100_000] {
        preallocate(&file, shorter).unwrap();
        assert_eq!(length(), 100_000, "{shorter}");
    }
    preallocate(&file, 200_000).unwrap();
    assert_eq!(length(), 200_000);
    let mut read = [0; 6];
    assert_eq!(read_at(&file, &mut read, 99_995).unwrap(), 6);
    assert_eq!(&read, b"hello\0");
}

fn no_device() {
    let directory = directory();
    let file = File::create(directory.path().join("file")).unwrap();
    assert!(matches!(
        BlockDevice::from_file(&file),
        Err(Error::NotADevice)
    ));
}

fn device_below() {
    let directory = directory();
    let file = File::create(directory.path().join("file")).unwrap();
    match BlockDevice::below(&file) {
        Ok(device) => {
            let sector = device.logical_sector_bytes.unwrap();
            assert!(sector.is_power_of_two() && sector >= 512, "{device:?}");
            assert!(
                device
                    .physical_sector_bytes
                    .is_none_or(|physical| physical >= sector),
                "{device:?}"
            );
        }
        // A container's overlay has several devices. macOS and FreeBSD need root.
        Err(Error::NoSingleDevice) => {}
        Err(Error::Call { .. }) if cfg!(any(target_os = "macos", target_os = "freebsd")) => {}
        Err(error) => panic!("{error}"),
    }
}

fn needs() {
    let directory = directory();
    let file = File::create(directory.path().join("file")).unwrap();
    match DirectIo::for_file(&file).unwrap() {
        DirectIo::Supported(alignment) => {
            assert!(
                alignment.memory_bytes.is_power_of_two()
                    && alignment.offset_bytes.is_power_of_two()
            );
        }
        DirectIo::Unsupported | DirectIo::Unknown => {}
    }
}

fn exclusive() {
    let directory = directory();
    let path = directory.path().join("file");
    fs::write(&path, "hello").unwrap();
    let exclusive = OpenOptions::new().read(true).exclusive(true);
    let opened = exclusive.open(&path);
    if cfg!(any(target_os = "linux", target_os = "freebsd")) {
        assert!(unsupported(opened.map(drop)));
    } else {
        let _opened = opened.unwrap();
        assert!(exclusive.open(&path).is_err());
    }
    assert_eq!(fs::read(&path).unwrap(), b"hello");
}

#[cfg(unix)]
fn paths() {
    let directory = directory();
    let (path, link) = (directory.path().join("file"), directory.path().join("link"));
    fs::write(&path, "hello").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let write = OpenOptions::new().write(true);
    write.open(&link).unwrap();
    assert!(write.no_follow(true).truncate(true).open(&link).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"hello");
    let parent = File::open(directory.path()).unwrap();
    write.no_follow(true).open_at(&parent, "file").unwrap();
    let own = write
        .create_new(true)
        .mode(0o600)
        .open_at(&parent, "own")
        .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&own.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert!(write.no_follow(true).open_at(&parent, "link").is_err());
}

#[cfg(windows)]
fn disk() {
    let disk = OpenOptions::new().read(true).open(DISK).unwrap();
    let facts = BlockDevice::from_file(&disk).unwrap();
    assert!(
        facts.logical_sector_bytes.unwrap() >= 512 && facts.capacity_bytes.unwrap() > 1 << 20,
        "{facts:?}"
    );
}

#[cfg(windows)]
fn disk_lock() {
    let disk = OpenOptions::new().read(true).open(DISK).unwrap();
    lock_volume(&disk).unwrap();
    unlock_volume(&disk).unwrap();
}
