//! Why a filesystem could not be made or unmade.

use std::io;
use std::path::{Path, PathBuf};

use writebench_model::{Bytes, Failure};

/// Why a filesystem could not be made, or what of it is still there. Each message is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that stands for no kind.
    #[error("'{name}' is no kind of filesystem: {fits}")]
    Kind {
        /// The name.
        name: String,
        /// What would fit.
        fits: &'static str,
    },
    /// The process may not have mounts of its own.
    #[error("making filesystems needs root (CAP_SYS_ADMIN): {call}: {}; run it as root", Failure::io_message(.error))]
    NotPermitted {
        /// What was refused.
        call: &'static str,
        /// How the system puts it.
        error: io::Error,
    },
    /// All directories that could be mounted over are needed.
    #[error(
        "no directory to mount over: {tried} must exist and hold nothing that is needed; make an empty /media"
    )]
    NoMountPoint {
        /// Those that were looked at.
        tried: String,
    },
    /// A system call failed.
    // The error is in the message, so it is not the `source` as well, which would print it twice.
    #[error("{doing}: {call} {}: {}{hint}", .path.display(), Failure::io_message(.error))]
    Call {
        /// What was being done.
        doing: &'static str,
        /// What the user can do, after a semicolon; often nothing.
        hint: &'static str,
        /// The call.
        call: &'static str,
        /// On what.
        path: PathBuf,
        /// How the system puts it.
        error: io::Error,
    },
    /// There is no room for the images.
    #[error(
        "not enough free space in {} for images of {}: {} are free and {} of them stay in reserve; use a smaller --size, another --images, or a smaller --reserve",
        .path.display(), Bytes(*.needed_bytes).approximate(), Bytes(*.available_bytes).approximate(),
        Bytes(*.reserve_bytes).approximate()
    )]
    NoSpace {
        /// The directory.
        path: PathBuf,
        /// The images' sizes together.
        needed_bytes: u64,
        /// What is free.
        available_bytes: u64,
        /// What of it is left alone.
        reserve_bytes: u64,
    },
    /// A program is not installed.
    #[error("{program} is not installed{}", where_from(.package))]
    NotInstalled {
        /// Which.
        program: String,
        /// Debian's package that has it, where known.
        package: Option<&'static str>,
    },
    /// The kernel cannot mount that kind.
    #[error("this kernel has no filesystem '{kind}' (/proc/filesystems), nor is there a mount.{kind}")]
    NotInKernel {
        /// The kind as mount(8) names it.
        kind: String,
    },
    /// A program ran and refused.
    #[error("{command}: {said}")]
    Refused {
        /// The whole command.
        command: String,
        /// The line with which it explained itself, or how it ended.
        said: String,
    },
    /// The caller did not want to wait any longer.
    #[error("interrupted while a filesystem was made")]
    Interrupted,
    /// A mount was in use for so long that it was only detached from the file tree.
    #[error(
        "{} was still in use after {waited_s} s and is detached only: it goes with the last process that uses it",
        .path.display()
    )]
    StillMounted {
        /// Where.
        path: PathBuf,
        /// How long it was tried.
        waited_s: u64,
    },
    /// A loop device has not let go of its image.
    #[error("/dev/{device} is still attached after {waited_s} s: it detaches when its last user closes it")]
    StillAttached {
        /// `loop3`.
        device: String,
        /// How long it was watched.
        waited_s: u64,
    },
}

impl Error {
    pub(crate) fn call(
        doing: &'static str,
        call: &'static str,
        path: &Path,
        error: impl Into<io::Error>,
    ) -> Self {
        Self::Call { doing, call, path: path.to_owned(), error: error.into(), hint: "" }
    }

    pub(crate) fn no_loop_device(call: &'static str, path: &Path, error: impl Into<io::Error>) -> Self {
        const HINT: &str = "; in a container, hand it /dev/loop-control and /dev/loop*";
        Self::Call { doing: "no loop device", call, path: path.to_owned(), error: error.into(), hint: HINT }
    }
}

fn where_from(package: &Option<&'static str>) -> String {
    package.map(|package| format!(": install the package {package} (Debian's name)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_says_what_was_being_done_on_what_and_the_number() {
        let error = Error::call("make an image", "open", Path::new("/data"), rustix::io::Errno::ACCESS);
        assert_eq!(error.to_string(), "make an image: open /data: Permission denied (13)");
    }

    #[test]
    fn a_missing_program_names_its_package_where_that_is_known() {
        let error = |package| Error::NotInstalled { program: "mkfs.f2fs".into(), package }.to_string();
        assert_eq!(
            error(Some("f2fs-tools")),
            "mkfs.f2fs is not installed: install the package f2fs-tools (Debian's name)"
        );
        assert_eq!(error(None), "mkfs.f2fs is not installed");
    }
}
