//! `fuse:KIND`: a process that passes every operation on to a directory below.
//!
//! The supervisor starts itself again with [`PASSTHROUGH_COMMAND`]; that process mounts and serves until it loses the
//! mount or the thread that started it. The kernel's own passthrough and io_uring are not used: the cost of going
//! through a process is what this filesystem is there to show.

mod attributes;
mod handles;
mod inodes;
mod options;
mod requests;
mod server;

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fuser::{Config, Session, SessionACL};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, Signal};

use self::options::Options;
use self::server::Server;
use crate::error::Error;
use crate::program;

/// The first word of the command line with which a program that makes filesystems is started as the server of one.
/// It hands the words that follow to [`serve_passthrough`].
pub const PASSTHROUGH_COMMAND: &str = "fuse-passthrough";

/// What the server prints when it has mounted.
const MOUNTED: &str = "mounted\n";

const DOING: &str = "serve a FUSE filesystem";

/// This program, also if its file has been replaced since it was started.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Starts the server and waits until it has mounted.
pub(crate) fn start(
    source: &Path,
    point: &Path,
    options: Option<&str>,
    commands: &mut Vec<String>,
) -> Result<Child, Error> {
    let failed = |call| move |error| Error::call("start a FUSE server", call, Path::new(THIS_PROGRAM), error);
    let words = [
        PASSTHROUGH_COMMAND.to_owned(),
        source.to_string_lossy().into_owned(),
        point.to_string_lossy().into_owned(),
        std::process::id().to_string(),
        options.unwrap_or_default().to_owned(),
    ];
    let line = program::line(THIS_PROGRAM, &words);
    commands.push(line.clone());
    let mut command = Command::new(THIS_PROGRAM);
    command.args(&words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C is for the supervisor, which unmounts first.
    command.process_group(0);
    let mut child = command.spawn().map_err(failed("execve"))?;
    let mut said = String::new();
    if let Some(stdout) = child.stdout.take() {
        // A failed read is as good as silence.
        let _ = BufReader::new(stdout).read_line(&mut said);
    }
    if said == MOUNTED {
        return Ok(child);
    }
    let _ = child.kill();
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    let status = child.wait().map_err(failed("waitpid"))?;
    let said = program::last_word(&said).unwrap_or_else(|| status.to_string());
    Err(Error::Refused { command: line, said })
}

/// Lets the kernel read as far ahead as one request can carry; FUSE's own default is an eighth of that.
pub(crate) fn read_ahead_far(point: &Path, commands: &mut Vec<String>) {
    const READ_AHEAD_KIB: u32 = server::REQUEST_BYTES / 1024;
    let Ok(stat) = rustix::fs::stat(point) else { return };
    let (major, minor) = (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
    let path = format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb");
    // Where sysfs cannot be written to, the commands say nothing of it, and the default stays.
    if std::fs::write(&path, READ_AHEAD_KIB.to_string()).is_ok() {
        commands.push(format!("echo {READ_AHEAD_KIB} > {path}"));
    }
}

/// Mounts a filesystem that passes everything on to a directory, and serves it until it is unmounted.
///
/// The words are those that [`crate::Filesystems`] puts behind [`PASSTHROUGH_COMMAND`]: the directory, the mount
/// point, the number of the process that must be the parent, options of the mount. The calling process is for this
/// alone: it is killed when the thread that started it ends, its umask is cleared, and it prints a line when the
/// filesystem is mounted.
///
/// # Errors
/// Words that are not those; a parent that is gone; `/dev/fuse` cannot be opened or the mount is refused; the kernel
/// ends the session otherwise than by an unmount. Linux only.
pub fn serve_passthrough(words: impl Iterator<Item = OsString>) -> Result<(), Error> {
    let words: Vec<_> = words.collect();
    let [source, point, parent, options] = words.as_slice() else {
        return Err(bad_words("expected SOURCE MOUNT_POINT PARENT OPTIONS"));
    };
    let parent = parent.to_str().and_then(|parent| parent.parse().ok()).and_then(Pid::from_raw);
    let parent = parent.ok_or_else(|| bad_words("PARENT is the number of a process"))?;
    live_no_longer_than(parent)?;
    let options = Options::parse(&options.to_string_lossy());
    let (source, point) = (PathBuf::from(source), PathBuf::from(point));
    let failed = |call, path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| Error::call(DOING, call, &path, error)
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(&source, flags, Mode::empty());
    let server =
        Server::new(root.map_err(|errno| failed("open", &source)(errno.into()))?, options.writeback_cache)
            .map_err(|errno| failed("fstat", &source)(errno.into()))?;
    // The kernel has applied the caller's umask; every file below costs a descriptor.
    rustix::process::umask(Mode::empty());
    raise_descriptor_limit();
    let device = mount(&point, &options)?;
    let threads = std::thread::available_parallelism().map_or(2, |cpus| cpus.get().clamp(2, 16));
    let mut config = Config::default();
    config.n_threads = Some(threads);
    config.clone_fd = true;
    let session = Session::from_fd(server, device.into(), SessionACL::Owner, config);
    let session = session.map_err(failed("FUSE_INIT", &point))?;
    let mut stdout = std::io::stdout();
    stdout.write_all(MOUNTED.as_bytes()).and_then(|()| stdout.flush()).map_err(failed("write", &point))?;
    session.run().map_err(failed("read /dev/fuse for", &point))
}

fn bad_words(what: &str) -> Error {
    let command = PASSTHROUGH_COMMAND.to_owned();
    Error::Refused { command, said: format!("{what}; this command is for writebench itself") }
}

/// Nobody else would end it: the mount that it serves is what keeps the namespace.
fn live_no_longer_than(parent: Pid) -> Result<(), Error> {
    let failed = |call, errno: rustix::io::Errno| Error::call(DOING, call, Path::new(THIS_PROGRAM), errno);
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| failed("prctl(PR_SET_PDEATHSIG)", errno))?;
    // It may have gone before the kernel was told.
    if rustix::process::getppid() != Some(parent) {
        return Err(failed("getppid", rustix::io::Errno::SRCH));
    }
    Ok(())
}

fn raise_descriptor_limit() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    // More than enough either way for one benchmark.
    let _ = rustix::process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Mounts without fusermount3, and without a name for it that the library would unmount by later.
fn mount(point: &Path, options: &Options) -> Result<File, Error> {
    let path = Path::new("/dev/fuse");
    let device = File::options().read(true).write(true).open(path);
    let device = device.map_err(|error| Error::call(DOING, "open", path, error))?;
    let mut data = format!(
        "fd={},rootmode=40000,user_id={},group_id={},default_permissions",
        device.as_raw_fd(),
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw()
    );
    for option in &options.data {
        data = format!("{data},{option}");
    }
    let data = CString::new(data).map_err(|_| bad_words("an option has a zero byte"))?;
    rustix::mount::mount("writebench", point, "fuse.passthrough", options.flags, data.as_c_str())
        .map_err(|errno| Error::call(DOING, "mount(fuse)", point, errno))?;
    Ok(device)
}
