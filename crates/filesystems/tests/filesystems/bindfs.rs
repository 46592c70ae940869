use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use direct_io::{AlignedBuffer, OpenOptions, WriteThrough};
use rustix::fs::OFlags;
use rustix::io::Errno;
use writebench_testkit::{Kind, Need, Trials, children, entries, wait_for};

use crate::kept::{Kept, request};

const MIB: usize = 1 << 20;

pub(crate) fn add(trials: &mut Trials) {
    let needs = [Need::Image("ext4"), Need::Bindfs];
    trials.add("fuse: a direct write is direct below", &needs, direct);
    trials.add(
        "fuse: a write has large requests, and its sync has one",
        &needs,
        large_requests,
    );
    trials.add("fuse: a small write is one request", &needs, small_requests);
    trials.add("fuse: a removed file disappears below", &needs, removed);
    trials.add("fuse: threads write at the same time", &needs, threads);
    trials.add(
        "fuse: a dead server leaves only errors",
        &needs,
        dead_server,
    );
}

fn fuse() -> Result<(Kept, PathBuf, PathBuf)> {
    let kept = Kept::start(Kind::Tmpfs, 0, &[request("fuse:ext4", &[], None)])?.made()?;
    let path = kept.path(0)?;
    let below = format!("/proc/{}/root/mnt/1-fuse-ext4/source", kept.pid());
    Ok((kept, path, below.into()))
}

fn is<T>(result: std::io::Result<T>, errno: Errno) -> bool {
    result.err().and_then(|error| error.raw_os_error()) == Some(errno.raw_os_error())
}

fn direct() -> Result<()> {
    let (kept, path, below) = fuse()?;
    let mut data = AlignedBuffer::new(3 * MIB, 4096)?;
    for (index, byte) in data.iter_mut().enumerate() {
        *byte = u8::try_from(index * 7 % 251)?;
    }
    let options = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .direct(true);
    let file = options.open(path.join("file"))?;
    let server = server_of(&kept)?;
    ensure!(
        open_flags(server, &below.join("file"))?.contains(OFlags::DIRECT),
        "not direct below"
    );
    file.write_all_at(&data, 0)?;
    ensure!(fs::read(below.join("file"))? == *data);
    let mut read = AlignedBuffer::new(3 * MIB, 4096)?;
    file.read_exact_at(&mut read, 0)?;
    ensure!(*read == *data);
    ensure!(file.read_at(&mut read, 3 * MIB as u64)? == 0);
    // The filesystem below cannot do this request directly.
    ensure!(is(file.write_at(&data[..4096], 100), Errno::INVAL));
    drop(file);
    kept.remove()
}

fn open_flags(process: u32, path: &Path) -> Result<OFlags> {
    let inode = fs::metadata(path)?.ino();
    for descriptor in entries(Path::new(&format!("/proc/{process}/fd"))) {
        let is_file = fs::metadata(&descriptor)
            .is_ok_and(|metadata| metadata.ino() == inode && metadata.is_file());
        let name = descriptor
            .file_name()
            .context("a number")?
            .to_string_lossy()
            .into_owned();
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{name}"))?;
        let flags = info
            .lines()
            .find_map(|line| line.strip_prefix("flags:"))
            .context("flags")?;
        if is_file {
            return Ok(OFlags::from_bits_retain(u32::from_str_radix(
                flags.trim(),
                8,
            )?));
        }
    }
    anyhow::bail!("{} is not open in {process}", path.display())
}

fn server_of(kept: &Kept) -> Result<u32> {
    children(kept.pid()).first().copied().context("a server")
}

const TIMES: u64 = 64;

/// One to the file, and one per answer.
fn write_calls(server: u32, work: impl FnOnce() -> std::io::Result<()>) -> Result<u64> {
    let now = || -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{server}/io"))?;
        Ok(text
            .lines()
            .find_map(|line| line.strip_prefix("syscw: "))
            .context("syscw")?
            .parse()?)
    };
    let before = now()?;
    work()?;
    Ok(now()? - before)
}

/// The kernel counts an answer after its arrival, and the server closes a file late. So each of the server's
/// threads, at most sixteen, may lag by one call.
fn is_each(calls: u64, each: u64) -> bool {
    calls.abs_diff(each * TIMES) <= 16
}

fn large_requests() -> Result<()> {
    // libfuse 2 takes 128 KiB at a time, libfuse 3 the whole write. Each is a write below and an answer.
    const MOST_CALLS: u64 = 2 * 8;
    let (kept, path, _) = fuse()?;
    let server = server_of(&kept)?;
    // A request holds whole pages.
    let data = AlignedBuffer::new(MIB, 4096)?;
    for direct in [false, true] {
        let name = path.join(format!("direct-{direct}"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .direct(direct)
            .open(name)?;
        file.write_all_at(&data, 0)?;
        let calls = write_calls(server, || {
            (0..TIMES).try_for_each(|index| file.write_all_at(&data, (index % 8) * MIB as u64))
        })?;
        let is_few = is_each(calls, MOST_CALLS) || is_each(calls, 2);
        ensure!(is_few, "direct {direct}: {calls} calls for {TIMES} writes");
        let calls = write_calls(server, || (0..TIMES).try_for_each(|_| file.sync_all()))?;
        ensure!(
            is_each(calls, 1),
            "direct {direct}: {calls} calls for {TIMES} syncs"
        );
    }
    kept.remove()
}

fn small_requests() -> Result<()> {
    let (kept, path, _) = fuse()?;
    let server = server_of(&kept)?;
    let data = AlignedBuffer::new(4096, 4096)?;
    for direct in [false, true] {
        let options = OpenOptions::new()
            .write(true)
            .create_new(true)
            .direct(direct);
        let file = options
            .write_through(WriteThrough::DataSync)
            .open(path.join(direct.to_string()))?;
        // This first write teaches the kernel that there are no extended attributes.
        file.write_all_at(&data, 0)?;
        let calls = write_calls(server, || {
            (0..TIMES).try_for_each(|_| file.write_all_at(&data, 0))
        })?;
        ensure!(
            is_each(calls, 3),
            "direct {direct}: {calls} calls for {TIMES} writes through"
        );
    }
    kept.remove()
}

fn removed() -> Result<()> {
    let (kept, path, below) = fuse()?;
    let mut file = File::create_new(path.join("file"))?;
    file.write_all(b"content")?;
    fs::remove_file(path.join("file"))?;
    drop(file);
    // libfuse 3 keeps the file until the last close.
    wait_for("the file to go", || {
        entries(&below).is_empty().then_some(())
    })?;
    File::create_new(path.join("file"))?.write_all(b"new")?;
    ensure!(fs::read(below.join("file"))? == b"new");
    kept.remove()
}

fn threads() -> Result<()> {
    let (kept, path, below) = fuse()?;
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
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| anyhow::anyhow!("a thread"))?)
    })?;
    for number in 0..4 {
        ensure!(fs::read(below.join(number.to_string()))? == vec![number; 32 * MIB]);
    }
    kept.remove()
}

fn dead_server() -> Result<()> {
    let (kept, path, _) = fuse()?;
    let file = File::create_new(path.join("file"))?;
    let server =
        rustix::process::Pid::from_raw(server_of(&kept)?.cast_signed()).context("a server")?;
    rustix::process::kill_process(server, rustix::process::Signal::KILL)?;
    wait_for("an error", || file.write_at(b"x", 0).err())?;
    drop(file);
    ensure!(is(File::create_new(path.join("other")), Errno::NOTCONN));
    kept.remove()
}
