use std::io;
use std::path::{Path, PathBuf};

use writebench_model::{Bytes, Failure};

/// Why a filesystem could not be made or removed. Each message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("'{name}' is not a kind of filesystem: {fits}")]
    Kind { name: String, fits: &'static str },
    #[error("{kind} is not on one disk. Use ext4, xfs or btrfs, for example")]
    NotOneDisk { kind: String },
    #[error("making filesystems needs root (CAP_SYS_ADMIN): {call}: {}. Run it as root, and a container with --privileged", Failure::io_message(.error))]
    NotPermitted {
        call: &'static str,
        error: io::Error,
    },
    #[error(
        "mounting a disk needs root outside of user namespaces (/proc/self/uid_map). Run it as root, and not in a \
         rootless container"
    )]
    InUserNamespace,
    /// A candidate directory can only be mounted over if the run needs nothing in it.
    #[error(
        "no directory to mount over, because {tried} are missing or needed: make an empty /media"
    )]
    NoMountPoint { tried: String },
    // The message contains the error, so it is not the `source`.
    #[error("{doing}: {call} {}: {}{hint}", .path.display(), Failure::io_message(.error))]
    Call {
        doing: &'static str,
        hint: &'static str,
        call: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    #[error(
        "not enough free space in {} for images of {}: {} are free, {} of them in reserve. Use a smaller --size, another --images, or a smaller --reserve",
        .path.display(), Bytes(*.needed_bytes).approximate(), Bytes(*.available_bytes).approximate(),
        Bytes(*.reserve_bytes).approximate()
    )]
    NoSpace {
        path: PathBuf,
        needed_bytes: u64,
        available_bytes: u64,
        reserve_bytes: u64,
    },
    #[error("{program} is not installed{}", where_from(.package))]
    NotInstalled {
        program: String,
        /// The Debian package that has the program.
        package: Option<&'static str>,
    },
    #[error(
        "this kernel has no filesystem '{kind}' (/proc/filesystems), and mount.{kind} is missing"
    )]
    NotInKernel {
        /// The kind as mount(8) names it.
        kind: String,
    },
    #[error("{command}: {said}")]
    Refused { command: String, said: String },
    #[error("interrupted while a filesystem was made")]
    Interrupted,
    #[error(
        "{} was still in use after {waited_s} s and is only detached: it disappears with its last process",
        .path.display()
    )]
    StillMounted { path: PathBuf, waited_s: u64 },
    #[error("/dev/{device} is still attached after {waited_s} s: it detaches with its last user")]
    StillAttached {
        /// The kernel's name, such as `loop3`.
        device: String,
        waited_s: u64,
    },
}

impl Error {
    /// The error of a system call on a path.
    pub fn call(
        doing: &'static str,
        call: &'static str,
        path: &Path,
        error: impl Into<io::Error>,
    ) -> Self {
        Self::Call {
            doing,
            call,
            path: path.to_owned(),
            error: error.into(),
            hint: "",
        }
    }

    pub(crate) fn no_loop_device(
        call: &'static str,
        path: &Path,
        error: impl Into<io::Error>,
    ) -> Self {
        const HINT: &str = ". In a container, pass it /dev/loop-control and /dev/loop*";
        Self::Call {
            doing: "no loop device",
            call,
            path: path.to_owned(),
            error: error.into(),
            hint: HINT,
        }
    }
}

fn where_from(package: &Option<&'static str>) -> String {
    package
        .map(|package| format!(": install the package {package} (Debian's name)"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_names_the_step_the_path_and_the_number() {
        let error = Error::call(
            "make an image",
            "open",
            Path::new("/data"),
            rustix::io::Errno::ACCESS,
        );
        assert_eq!(
            error.to_string(),
            "make an image: open /data: Permission denied (13)"
        );
    }

    #[test]
    fn a_missing_program_names_its_package_if_known() {
        let known = Error::NotInstalled {
            program: "mkfs.f2fs".into(),
            package: Some("f2fs-tools"),
        };
        assert_eq!(
            known.to_string(),
            "mkfs.f2fs is not installed: install the package f2fs-tools (Debian's name)"
        );
        let unknown = Error::NotInstalled {
            program: "mkfs.f2fs".into(),
            package: None,
        };
        assert_eq!(unknown.to_string(), "mkfs.f2fs is not installed");
    }
}
