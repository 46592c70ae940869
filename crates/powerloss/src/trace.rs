//! Stops a program after each of its system calls on a filesystem.

pub(crate) mod sys;

use std::collections::HashMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::panic::resume_unwind;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::error::Error;
use crate::event::SystemCall;
use crate::program::{Ended, Limits};

/// Which files a system call is about.
#[derive(Debug, Clone, Copy)]
enum Files {
    /// The argument with this number is a descriptor.
    Descriptor(usize),
    /// The argument with this number is a path.
    Path(usize),
    /// A directory's descriptor, and a path in the argument behind it. Without a path, it is the descriptor of the file.
    At(usize),
    TwoPaths,
    TwoAt,
    /// A path that counts only with flags that change the filesystem, in the argument with this number.
    OpenedPath(usize),
    OpenedAt(usize),
    /// The call may be about any file.
    Unknown,
}

/// The system calls that can change a filesystem. Newer processors lack the old ones at the end.
const CALLS: &[(i64, &str, Files)] = &[
    (libc::SYS_openat, "openat", Files::OpenedAt(2)),
    (libc::SYS_write, "write", Files::Descriptor(0)),
    (libc::SYS_pwrite64, "pwrite64", Files::Descriptor(0)),
    (libc::SYS_writev, "writev", Files::Descriptor(0)),
    (libc::SYS_pwritev, "pwritev", Files::Descriptor(0)),
    (libc::SYS_pwritev2, "pwritev2", Files::Descriptor(0)),
    (libc::SYS_ftruncate, "ftruncate", Files::Descriptor(0)),
    (libc::SYS_truncate, "truncate", Files::Path(0)),
    (libc::SYS_fallocate, "fallocate", Files::Descriptor(0)),
    (
        libc::SYS_copy_file_range,
        "copy_file_range",
        Files::Descriptor(2),
    ),
    (libc::SYS_sendfile, "sendfile", Files::Descriptor(0)),
    (libc::SYS_splice, "splice", Files::Descriptor(2)),
    (libc::SYS_ioctl, "ioctl", Files::Descriptor(0)),
    (libc::SYS_fchmod, "fchmod", Files::Descriptor(0)),
    (libc::SYS_fchown, "fchown", Files::Descriptor(0)),
    (libc::SYS_fsetxattr, "fsetxattr", Files::Descriptor(0)),
    (libc::SYS_fremovexattr, "fremovexattr", Files::Descriptor(0)),
    (libc::SYS_fsync, "fsync", Files::Descriptor(0)),
    (libc::SYS_fdatasync, "fdatasync", Files::Descriptor(0)),
    (libc::SYS_syncfs, "syncfs", Files::Descriptor(0)),
    (
        libc::SYS_sync_file_range,
        "sync_file_range",
        Files::Descriptor(0),
    ),
    (libc::SYS_close, "close", Files::Descriptor(0)),
    (libc::SYS_sync, "sync", Files::Unknown),
    (libc::SYS_msync, "msync", Files::Unknown),
    (libc::SYS_io_uring_enter, "io_uring_enter", Files::Unknown),
    (libc::SYS_io_submit, "io_submit", Files::Unknown),
    // Its flags are in memory, so opening to read is noted as well.
    (libc::SYS_openat2, "openat2", Files::At(0)),
    (libc::SYS_mkdirat, "mkdirat", Files::At(0)),
    (libc::SYS_mknodat, "mknodat", Files::At(0)),
    // The first argument is what the link says.
    (libc::SYS_symlinkat, "symlinkat", Files::At(1)),
    (libc::SYS_fchmodat, "fchmodat", Files::At(0)),
    (FCHMODAT2, "fchmodat2", Files::At(0)),
    (libc::SYS_fchownat, "fchownat", Files::At(0)),
    (libc::SYS_utimensat, "utimensat", Files::At(0)),
    (libc::SYS_setxattr, "setxattr", Files::Path(0)),
    (libc::SYS_lsetxattr, "lsetxattr", Files::Path(0)),
    (libc::SYS_removexattr, "removexattr", Files::Path(0)),
    (libc::SYS_lremovexattr, "lremovexattr", Files::Path(0)),
    (libc::SYS_unlinkat, "unlinkat", Files::At(0)),
    (libc::SYS_linkat, "linkat", Files::TwoAt),
    (libc::SYS_renameat2, "renameat2", Files::TwoAt),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_renameat, "renameat", Files::TwoAt),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, "open", Files::OpenedPath(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, "creat", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, "rename", Files::TwoPaths),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_link, "link", Files::TwoPaths),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, "unlink", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, "mkdir", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, "rmdir", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_symlink, "symlink", Files::Path(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, "mknod", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, "chmod", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chown, "chown", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_lchown, "lchown", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_utime, "utime", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_utimes, "utimes", Files::Path(0)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_futimesat, "futimesat", Files::At(0)),
];

/// A call of Linux 6.6, with this number on all processors. Not every C library has it.
const FCHMODAT2: i64 = 452;

/// How often the limits are looked at.
const POLLING: Duration = Duration::from_millis(50);

/// Children of all kinds, but not those of other threads.
const OWN: WaitPidFlag = WaitPidFlag::__WALL.union(WaitPidFlag::__WNOTHREAD);

/// What follows each system call of the program.
pub(crate) type After<'a> = dyn FnMut(Option<SystemCall>) -> Result<(), Error> + Send + 'a;

/// Runs the program to its end. `after` is called when a system call has returned, with the call if it has changed
/// something below `point`. All threads and processes that the program starts are followed, and end with it.
pub(crate) fn run(
    command: Command,
    point: &Path,
    limits: Limits,
    after: &mut After<'_>,
) -> Result<Ended, Error> {
    // The tracer waits until it has no child left, so it needs a thread of its own: that of the caller may have other
    // children.
    std::thread::scope(|scope| {
        let tracing = scope.spawn(|| run_in_this_thread(command, point, limits, after));
        tracing.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn run_in_this_thread(
    mut command: Command,
    point: &Path,
    limits: Limits,
    after: &mut After<'_>,
) -> Result<Ended, Error> {
    sys::trace_child(&mut command);
    let program = PathBuf::from(command.get_program());
    let child = command
        .spawn()
        .map_err(|error| not_started(&program, error))?;
    let child = Pid::from_raw(child.id().cast_signed());
    // Dropping the sender ends the clock.
    let (running, clock) = mpsc::channel::<()>();
    let begin = Instant::now();
    let late = std::thread::spawn(move || {
        while clock.recv_timeout(POLLING) == Err(RecvTimeoutError::Timeout) {
            if limits.are_over(begin) {
                let _ = kill(child, Signal::SIGKILL);
                return true;
            }
        }
        false
    });
    let mut tracer = Tracer {
        child,
        point,
        entered: HashMap::new(),
    };
    let ended = tracer.follow(after);
    if ended.is_err() {
        let _ = kill(child, Signal::SIGKILL);
    }
    tracer.end_others();
    drop(running);
    let is_too_late = late.join().unwrap_or(false);
    Ok(Ended {
        status: ended?,
        is_too_late,
        said: None,
    })
}

/// The child asks for its tracing before execve(2), whose own errors differ.
fn not_started(program: &Path, error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOSYS) => Error::Trace {
            call: "ptrace(PTRACE_TRACEME)",
            error,
        },
        _ => Error::call("start the program", "execve", program, error),
    }
}

struct Tracer<'t> {
    child: Pid,
    point: &'t Path,
    /// The threads and processes, each with the system call that it is in.
    entered: HashMap<Pid, Option<SystemCall>>,
}

impl Tracer<'_> {
    fn follow(&mut self, after: &mut After<'_>) -> Result<ExitStatus, Error> {
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_EXITKILL;
        waitpid(self.child, None).map_err(failed("waitpid"))?;
        ptrace::setoptions(self.child, options).map_err(failed("ptrace(PTRACE_SETOPTIONS)"))?;
        self.entered.insert(self.child, None);
        self.go_on(self.child, None)?;
        loop {
            let status = match waitpid(None, Some(OWN)) {
                Err(Errno::EINTR) => continue,
                status => status.map_err(failed("waitpid"))?,
            };
            match status {
                WaitStatus::Exited(pid, code) => {
                    self.entered.remove(&pid);
                    if pid == self.child {
                        return Ok(ExitStatus::from_raw(code << 8));
                    }
                }
                WaitStatus::Signaled(pid, signal, _) => {
                    self.entered.remove(&pid);
                    if pid == self.child {
                        return Ok(ExitStatus::from_raw(signal as i32));
                    }
                }
                WaitStatus::PtraceSyscall(pid) => {
                    self.step(pid, after)?;
                    self.go_on(pid, None)?;
                }
                WaitStatus::Stopped(pid, signal) => {
                    // A new thread begins with a stop of its own.
                    let is_new = self.entered.insert(pid, None).is_none();
                    let signal = Some(signal).filter(|_| !(is_new && signal == Signal::SIGSTOP));
                    self.go_on(pid, signal)?;
                }
                WaitStatus::PtraceEvent(pid, ..) => self.go_on(pid, None)?,
                _ => {}
            }
        }
    }

    fn step(&mut self, pid: Pid, after: &mut After<'_>) -> Result<(), Error> {
        match sys::stop(pid) {
            Ok(sys::Stop::Entry { number, arguments }) => {
                let call = self.call(pid, number, &arguments);
                self.entered.insert(pid, call);
                Ok(())
            }
            Ok(sys::Stop::Exit { is_error }) => {
                let call = self.entered.insert(pid, None).flatten();
                after(call.filter(|_| !is_error))
            }
            // The thread was killed.
            Ok(sys::Stop::Other) | Err(Errno::ESRCH) => Ok(()),
            Err(errno) => Err(failed("ptrace(PTRACE_GET_SYSCALL_INFO)")(errno)),
        }
    }

    fn go_on(&self, pid: Pid, signal: Option<Signal>) -> Result<(), Error> {
        match ptrace::syscall(pid, signal) {
            // The thread was killed, and its end is the next report.
            Err(Errno::ESRCH) => Ok(()),
            result => result.map_err(failed("ptrace(PTRACE_SYSCALL)")),
        }
    }

    /// The call, if it can change something below the mount point.
    fn call(&self, pid: Pid, number: u64, arguments: &[u64; 6]) -> Option<SystemCall> {
        let is_number = |(own, ..): &&(i64, &str, Files)| u64::try_from(*own) == Ok(number);
        let &(_, name, files) = CALLS.iter().find(is_number)?;
        let found = match files {
            Files::Unknown => {
                return Some(SystemCall {
                    name,
                    paths: Vec::new(),
                });
            }
            Files::Descriptor(place) => vec![descriptor_path(pid, arguments[place])],
            Files::Path(place) => vec![path_at(pid, None, arguments[place])],
            Files::At(place) => vec![path_at(pid, Some(arguments[place]), arguments[place + 1])],
            Files::TwoPaths => vec![
                path_at(pid, None, arguments[0]),
                path_at(pid, None, arguments[1]),
            ],
            Files::TwoAt => vec![
                path_at(pid, Some(arguments[0]), arguments[1]),
                path_at(pid, Some(arguments[2]), arguments[3]),
            ],
            Files::OpenedPath(flags) => changes(arguments[flags])
                .then(|| path_at(pid, None, arguments[0]))
                .into_iter()
                .collect(),
            Files::OpenedAt(flags) => changes(arguments[flags])
                .then(|| path_at(pid, Some(arguments[0]), arguments[1]))
                .into_iter()
                .collect(),
        };
        let paths: Vec<String> = found
            .into_iter()
            .flatten()
            .filter_map(|path| self.relative(&path))
            .collect();
        (!paths.is_empty()).then_some(SystemCall { name, paths })
    }

    /// The path in the filesystem, or none if it is elsewhere.
    fn relative(&self, path: &Path) -> Option<String> {
        let path = without_dots(path);
        let inside = path
            .strip_prefix(self.point)
            .ok()?
            .to_string_lossy()
            .into_owned();
        Some(if inside.is_empty() {
            ".".to_owned()
        } else {
            inside
        })
    }

    /// Ends what the program has left behind. A process that had just begun is not known yet, and stops once more.
    fn end_others(&self) {
        for &pid in self.entered.keys() {
            let _ = kill(pid, Signal::SIGKILL);
        }
        loop {
            match waitpid(None, Some(OWN)) {
                Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(Errno::EINTR) => {}
                Ok(stopped) => {
                    if let Some(pid) = stopped.pid() {
                        let _ = kill(pid, Signal::SIGKILL);
                    }
                }
                // There are no others.
                Err(_) => return,
            }
        }
    }
}

/// Whether open(2) can change the filesystem with these flags.
fn changes(flags: u64) -> bool {
    let changing = libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE;
    // The directory's flag is also a part of O_TMPFILE.
    flags & u64::from((changing & !libc::O_DIRECTORY).cast_unsigned()) != 0
}

fn descriptor_path(pid: Pid, descriptor: u64) -> Option<PathBuf> {
    // The kernel takes an int.
    let descriptor = u32::try_from(descriptor & u64::from(u32::MAX))
        .ok()?
        .cast_signed();
    let link = if descriptor == libc::AT_FDCWD {
        format!("/proc/{pid}/cwd")
    } else {
        format!("/proc/{pid}/fd/{descriptor}")
    };
    std::fs::read_link(link).ok()
}

/// The path of a string in the program's memory, in a directory or in the current one.
fn path_at(pid: Pid, directory: Option<u64>, address: u64) -> Option<PathBuf> {
    if address == 0 {
        return descriptor_path(pid, directory?);
    }
    let name = PathBuf::from(sys::text(pid, address)?);
    if name.is_absolute() {
        return Some(name);
    }
    let current = u64::from(libc::AT_FDCWD.cast_unsigned());
    Some(descriptor_path(pid, directory.unwrap_or(current))?.join(name))
}

fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

fn failed(call: &'static str) -> impl FnOnce(Errno) -> Error {
    move |errno| Error::Trace {
        call,
        error: errno.into(),
    }
}
