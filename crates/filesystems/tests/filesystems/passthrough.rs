//! `fuse:KIND` does what the filesystem below does.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use direct_io::{AlignedBuffer, OpenOptions, WriteThrough};
use rustix::fs::{FallocateFlags, FlockOperation, RenameFlags, SeekFrom};
use rustix::io::Errno;
use writebench_testkit::{Kind, Need, Trials, children};

use crate::kept::{Kept, wish};

const MIB: usize = 1 << 20;

pub fn add(trials: &mut Trials) {
    let needs = [Need::Image("ext4")];
    trials.add("fuse: files are created exclusively, renamed and removed", &needs, names);
    trials.add("fuse: what is written directly is direct below", &needs, direct);
    let python = [Need::Image("ext4"), Need::Program("python3")];
    trials.add("fuse: stores to a shared map arrive below", &python, mapped);
    trials.add("fuse: space is reserved, cut and found", &needs, space);
    trials.add("fuse: attributes are the file's below", &needs, attributes);
    trials.add("fuse: a write of 1 MiB is one request, and so is its sync", &needs, one_request);
    trials.add("fuse: a write through is a write and one sync", &needs, one_sync);
    trials.add("fuse: many small writes are few requests with writeback_cache only", &needs, writeback_cache);
    trials.add("fuse: an error of the filesystem below comes through", &needs, errors);
    trials.add("fuse: a file that was removed is still its owner's", &needs, removed_while_open);
    trials.add("fuse: threads write at the same time", &needs, threads);
    trials.add("fuse: a server that dies leaves errors, and nothing else", &needs, dead_server);
}

/// `fuse:ext4` in memory, its directory, and the directory below.
fn passthrough(options: Option<&str>) -> Result<(Kept, PathBuf, PathBuf)> {
    let kept = Kept::start(Kind::Tmpfs, 0, &[wish("fuse:ext4", &[], options)])?.made()?;
    let path = kept.path(0)?;
    let below = format!("/proc/{}/root/mnt/1-fuse-ext4/source", kept.pid());
    Ok((kept, path, below.into()))
}

fn is<T>(result: std::io::Result<T>, errno: Errno) -> bool {
    result.err().and_then(|error| error.raw_os_error()) == Some(errno.raw_os_error())
}

fn names() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    File::create_new(path.join("a"))?.write_all(b"a")?;
    ensure!(is(File::create_new(path.join("a")), Errno::EXIST));
    ensure!(is(File::open(path.join("b")), Errno::NOENT));
    fs::create_dir(path.join("directory"))?;
    ensure!(is(fs::create_dir(path.join("directory")), Errno::EXIST));
    fs::rename(path.join("a"), path.join("directory/b"))?;
    ensure!(fs::read(below.join("directory/b"))? == b"a");
    File::create_new(path.join("c"))?;
    let directory = File::open(&path)?;
    let kept_out =
        rustix::fs::renameat_with(&directory, "c", &directory, "directory/b", RenameFlags::NOREPLACE);
    ensure!(kept_out == Err(Errno::EXIST));
    ensure!(is(fs::remove_dir(path.join("directory")), Errno::NOTEMPTY));
    directory.sync_all()?;
    for number in 0..2000 {
        File::create_new(path.join(format!("directory/many-{number}")))?;
    }
    ensure!(fs::read_dir(path.join("directory"))?.count() == 2001);
    fs::remove_dir_all(path.join("directory"))?;
    ensure!(fs::read_dir(&below)?.count() == 1);
    rustix::fs::flock(File::open(path.join("c"))?, FlockOperation::NonBlockingLockExclusive)?;
    drop(directory);
    kept.remove()
}

fn direct() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    let mut data = AlignedBuffer::new(3 * MIB, 4096)?;
    for (index, byte) in data.iter_mut().enumerate() {
        *byte = u8::try_from(index * 7 % 251)?;
    }
    let options = OpenOptions::new().read(true).write(true).create_new(true).direct(true);
    let file = options.open(path.join("file"))?;
    let server = server_of(&kept)?;
    ensure!(open_flags(server, &below.join("file"))? & libc_o_direct() != 0, "not direct below");
    file.write_all_at(&data, 0)?;
    ensure!(fs::read(below.join("file"))? == *data);
    let mut read = AlignedBuffer::new(3 * MIB, 4096)?;
    file.read_exact_at(&mut read, 0)?;
    ensure!(*read == *data);
    // Beyond the end there is nothing, and that is no error.
    ensure!(file.read_at(&mut read, 3 * MIB as u64)? == 0);
    // What the filesystem below cannot do directly it refuses here.
    ensure!(is(file.write_at(&data[..4096], 100), Errno::INVAL));
    drop(file);
    kept.remove()
}

fn libc_o_direct() -> u32 {
    rustix::fs::OFlags::DIRECT.bits()
}

/// The flags with which a process has a file open.
fn open_flags(process: u32, path: &Path) -> Result<u32> {
    let inode = fs::metadata(path)?.ino();
    for descriptor in writebench_testkit::entries(Path::new(&format!("/proc/{process}/fd"))) {
        let is_file = fs::metadata(&descriptor).is_ok_and(|it| it.ino() == inode && it.is_file());
        let name = descriptor.file_name().context("a number")?.to_string_lossy().into_owned();
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{name}"))?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).context("flags")?;
        let flags = u32::from_str_radix(flags.trim(), 8)?;
        let is_path = flags & rustix::fs::OFlags::PATH.bits() != 0;
        if is_file && !is_path {
            return Ok(flags);
        }
    }
    anyhow::bail!("{} is not open in {process}", path.display())
}

fn server_of(kept: &Kept) -> Result<u32> {
    children(kept.pid()).first().copied().context("a server")
}

fn mapped() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    let file = File::options().read(true).write(true).create_new(true).open(path.join("file"))?;
    file.set_len(4 * MIB as u64)?;
    // Mapping a file is unsafe in Rust.
    let script = "import mmap,os,sys\nf=os.open(sys.argv[1],os.O_RDWR)\nm=mmap.mmap(f,0)\n\
                  m[:]=bytes(range(256))*(len(m)//256)\nm.flush()\nprint('flushed')\n";
    let output = std::process::Command::new("python3").args(["-c", script]).arg(path.join("file")).output()?;
    ensure!(output.stdout == b"flushed\n", "{output:?}");
    let content = fs::read(below.join("file"))?;
    ensure!(
        content.len() == 4 * MIB && content.iter().enumerate().all(|(at, &it)| usize::from(it) == at % 256)
    );
    drop(file);
    kept.remove()
}

fn space() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    let mut file = File::options().read(true).write(true).create_new(true).open(path.join("file"))?;
    let mib = MIB as u64;
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 8 * mib)?;
    ensure!(fs::metadata(below.join("file"))?.len() == 8 * mib);
    ensure!(fs::metadata(below.join("file"))?.blocks() * 512 >= 8 * mib);
    rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 8 * mib, mib)?;
    ensure!(fs::metadata(path.join("file"))?.len() == 8 * mib);
    file.write_all(&vec![1; 3 * MIB])?;
    file.sync_data()?;
    rustix::fs::fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, mib, mib)?;
    file.rewind()?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    ensure!(content[MIB - 1] == 1 && content[MIB..2 * MIB].iter().all(|&it| it == 0) && content[2 * MIB] == 1);
    ensure!(rustix::fs::seek(&file, SeekFrom::Hole(0))? == mib);
    ensure!(rustix::fs::seek(&file, SeekFrom::Data(mib))? == 2 * mib);
    file.set_len(100)?;
    ensure!(fs::read(below.join("file"))? == [1; 100]);
    let copy = File::create_new(path.join("copy"))?;
    ensure!(rustix::fs::copy_file_range(&file, Some(&mut 10), &copy, None, 50)? == 50);
    ensure!(fs::read(path.join("copy"))? == [1; 50]);
    let mut appended = File::options().append(true).open(path.join("copy"))?;
    appended.write_all(b"end")?;
    ensure!(fs::read(below.join("copy"))?.ends_with(b"\x01end"));
    drop((file, copy, appended));
    kept.remove()
}

fn attributes() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    let (here, there) = (path.join("file"), below.join("file"));
    let file = File::create_new(&here)?;
    fs::set_permissions(&here, fs::Permissions::from_mode(0o640))?;
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 123_456_789);
    file.set_times(fs::FileTimes::new().set_modified(time))?;
    std::os::unix::fs::chown(&here, Some(1), Some(2))?;
    for it in [fs::metadata(&here)?, fs::metadata(&there)?] {
        ensure!(it.mode() & 0o7777 == 0o640 && it.modified()? == time && (it.uid(), it.gid()) == (1, 2));
    }
    let (here, there) = (rustix::fs::statvfs(&path)?, rustix::fs::statvfs(&below)?);
    ensure!((here.f_blocks, here.f_frsize) == (there.f_blocks, there.f_frsize));
    drop(file);
    kept.remove()
}

/// How often the thing that is counted is done.
const TIMES: u64 = 64;

/// Calls that write, which a server makes for something that is done `TIMES` times: one to the file, one for each
/// answer.
fn write_calls(server: u32, work: impl FnOnce() -> std::io::Result<()>) -> Result<u64> {
    let now = || -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{server}/io"))?;
        Ok(text.lines().find_map(|line| line.strip_prefix("syscw: ")).context("syscw")?.parse()?)
    };
    let before = now()?;
    work()?;
    Ok(now()? - before)
}

/// Whether it is `each` calls for every time. The kernel counts an answer when we have it already, and a file is
/// closed later than we close it: each of the server's threads, at most sixteen, may be one call late.
fn is_each(calls: u64, each: u64) -> bool {
    calls.abs_diff(each * TIMES) <= 16
}

fn one_request() -> Result<()> {
    let (kept, path, _) = passthrough(None)?;
    let server = server_of(&kept)?;
    // Pages that begin with a page: a request's pages are whole.
    let data = AlignedBuffer::new(MIB, 4096)?;
    for direct in [false, true] {
        let name = path.join(format!("direct-{direct}"));
        let file = OpenOptions::new().write(true).create_new(true).direct(direct).open(name)?;
        file.write_all_at(&data, 0)?;
        let calls = write_calls(server, || {
            (0..TIMES).try_for_each(|index| file.write_all_at(&data, (index % 8) * MIB as u64))
        })?;
        ensure!(is_each(calls, 2), "direct {direct}: {calls} calls for {TIMES} writes");
        let calls = write_calls(server, || (0..TIMES).try_for_each(|_| file.sync_all()))?;
        ensure!(is_each(calls, 1), "direct {direct}: {calls} calls for {TIMES} syncs");
    }
    kept.remove()
}

fn one_sync() -> Result<()> {
    let (kept, path, _) = passthrough(None)?;
    let server = server_of(&kept)?;
    let data = AlignedBuffer::new(4096, 4096)?;
    for direct in [false, true] {
        let options = OpenOptions::new().write(true).create_new(true).direct(direct);
        let file = options.write_through(WriteThrough::DataSync).open(path.join(direct.to_string()))?;
        // With the first write of all the kernel learns that there are no extended attributes.
        file.write_all_at(&data, 0)?;
        let calls = write_calls(server, || (0..TIMES).try_for_each(|_| file.write_all_at(&data, 0)))?;
        // The write, its answer, and that of the sync.
        ensure!(is_each(calls, 3), "direct {direct}: {calls} calls for {TIMES} writes through");
    }
    kept.remove()
}

fn writeback_cache() -> Result<()> {
    for (options, is_few) in [(None, false), (Some("writeback_cache"), true)] {
        let (kept, path, below) = passthrough(options)?;
        let server = server_of(&kept)?;
        let mut file = File::create_new(path.join("file"))?;
        let calls = write_calls(server, || {
            (0..4096).try_for_each(|_| file.write_all(&[7; 100]))?;
            file.sync_all()
        })?;
        ensure!((calls < 100) == is_few, "{options:?}: {calls} calls");
        ensure!(fs::read(below.join("file"))? == vec![7; 409_600]);
        drop(file);
        kept.remove()?;
    }
    Ok(())
}

fn errors() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    let mut file = File::create_new(path.join("file"))?;
    ensure!(is(
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 1 << 30).map_err(Into::into),
        Errno::NOSPC
    ));
    file.set_len(0)?;
    let chunk = vec![1; MIB];
    let error = loop {
        if let Err(error) = file.write_all(&chunk) {
            break error;
        }
    };
    ensure!(error.kind() == ErrorKind::StorageFull, "{error}");
    ensure!(is(file.set_len(i64::MAX.unsigned_abs()), Errno::FBIG));
    let long = "x".repeat(256);
    ensure!(is(File::create_new(path.join(long)), Errno::NAMETOOLONG));
    drop(file);
    fs::remove_file(path.join("file"))?;
    ensure!(fs::read_dir(below)?.count() == 0);
    kept.remove()
}

fn removed_while_open() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    let file = File::options().read(true).write(true).create_new(true).open(path.join("file"))?;
    fs::remove_file(path.join("file"))?;
    file.write_all_at(b"still here", 0)?;
    file.set_len(5)?;
    let mut content = [0; 5];
    file.read_exact_at(&mut content, 0)?;
    ensure!(&content == b"still" && file.metadata()?.len() == 5);
    drop(file);
    File::create_new(path.join("file"))?.write_all(b"new")?;
    ensure!(fs::read(below.join("file"))? == b"new");
    kept.remove()
}

fn threads() -> Result<()> {
    let (kept, path, below) = passthrough(None)?;
    std::thread::scope(|scope| {
        let write = |number: u8| {
            let path = path.join(number.to_string());
            move || -> Result<()> {
                let file = File::create_new(path)?;
                for index in 0..32 {
                    file.write_all_at(&vec![number; MIB], index * MIB as u64)?;
                }
                Ok(file.sync_all()?)
            }
        };
        let threads: Vec<_> = (0..4).map(|number| scope.spawn(write(number))).collect();
        threads.into_iter().try_for_each(|it| it.join().map_err(|_| anyhow::anyhow!("a thread"))?)
    })?;
    for number in 0..4 {
        ensure!(fs::read(below.join(number.to_string()))? == vec![number; 32 * MIB]);
    }
    kept.remove()
}

fn dead_server() -> Result<()> {
    let (kept, path, _) = passthrough(None)?;
    let file = File::create_new(path.join("file"))?;
    let server = rustix::process::Pid::from_raw(server_of(&kept)?.cast_signed()).context("a server")?;
    rustix::process::kill_process(server, rustix::process::Signal::KILL)?;
    writebench_testkit::wait_for("an error", || file.write_at(b"x", 0).err())?;
    drop(file);
    ensure!(is(File::create_new(path.join("other")), Errno::NOTCONN));
    kept.remove()
}
