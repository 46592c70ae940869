//! The content of a block device by `blkid`, which knows more filesystems and tables than this program. Not
//! in probe, which starts no programs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::process::{Command, Stdio};

/// System programs, which the user's path may lack.
const SYSTEM_FOLDERS: &str = "/usr/sbin:/sbin";

/// The content of the open device as text, or none if it is blank. A path could lead to another device by
/// now. Unknown content is an error, never blank.
pub(crate) fn find(device: BorrowedFd<'_>) -> Result<Option<String>, String> {
    ask(OsStr::new("blkid"), device)
}

fn ask(program: &OsStr, device: BorrowedFd<'_>) -> Result<Option<String>, String> {
    let device = device
        .try_clone_to_owned()
        .map_err(|error| format!("because its descriptor cannot be copied ({error})"))?;
    // With the I/O limits (-i), a blank device also has output. Otherwise blkid ends with code 2 and no
    // output for a blank device as well as for an unreadable one.
    let output = Command::new(program)
        .args(["-p", "-i", "-o", "export"])
        // blkid's standard input, reopened.
        .arg("/proc/self/fd/0")
        .env("PATH", search_path())
        .env("LC_ALL", "C")
        .stdin(Stdio::from(device))
        .output();
    match output {
        Ok(output) => understand(
            output.status.code(),
            &String::from_utf8_lossy(&output.stdout),
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err("because blkid is not installed (package util-linux)".to_owned())
        }
        Err(error) => Err(format!("because blkid cannot start ({error})")),
    }
}

fn search_path() -> OsString {
    let own = std::env::var_os("PATH").filter(|path| !path.is_empty());
    own.into_iter()
        .chain([SYSTEM_FOLDERS.into()])
        .collect::<Vec<OsString>>()
        .join(OsStr::new(":"))
}

/// Exit code 8: the device has several contents.
fn understand(code: Option<i32>, text: &str) -> Result<Option<String>, String> {
    match code {
        Some(0) => {}
        Some(8) => return Ok(Some("several signatures".to_owned())),
        Some(2) => return Err("because blkid could not read it".to_owned()),
        Some(code) => return Err(format!("because blkid failed with exit code {code}")),
        None => return Err("because blkid was killed".to_owned()),
    }
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    };
    match (value("TYPE"), value("PTTYPE")) {
        (Some(kind), _) if value("USAGE") == Some("filesystem") => {
            Ok(Some(format!("{} {kind} filesystem", article(kind))))
        }
        (Some(kind), _) => Ok(Some(format!("the signature of {kind}"))),
        (None, Some(kind)) => Ok(Some(format!("a partition table ({kind})"))),
        // Every readable device has this value.
        (None, None) if value("LOGICAL_SECTOR_SIZE").is_some() => Ok(None),
        (None, None) => Err("because the answer of blkid is unknown".to_owned()),
    }
}

/// The article that fits the sound of the name: an ext4, an xfs, a btrfs.
fn article(kind: &str) -> &'static str {
    if kind.starts_with(['a', 'e', 'i', 'o', 'x']) {
        "an"
    } else {
        "a"
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    const LIMITS: &str = "MINIMUM_IO_SIZE=512\nPHYSICAL_SECTOR_SIZE=512\nLOGICAL_SECTOR_SIZE=512\n";

    fn found(text: &str) -> Option<String> {
        understand(Some(0), &format!("DEVNAME=/dev/sdb\n{text}{LIMITS}")).unwrap()
    }

    #[test]
    fn the_content_is_described() {
        let ext4 = "UUID=1\nVERSION=1.0\nBLOCK_SIZE=4096\nTYPE=ext4\nUSAGE=filesystem\n";
        assert_eq!(found(ext4).as_deref(), Some("an ext4 filesystem"));
        assert_eq!(
            found("TYPE=btrfs\nUSAGE=filesystem\n").as_deref(),
            Some("a btrfs filesystem")
        );
        assert_eq!(
            found("TYPE=LVM2_member\nUSAGE=raid\n").as_deref(),
            Some("the signature of LVM2_member")
        );
        assert_eq!(
            found("PTUUID=1\nPTTYPE=gpt\n").as_deref(),
            Some("a partition table (gpt)")
        );
        assert!(understand(Some(8), "").unwrap().is_some());
    }

    #[test]
    fn a_device_is_blank_only_if_blkid_has_read_it() {
        assert_eq!(found(""), None);
        let partition = "PART_ENTRY_SCHEME=dos\nPART_ENTRY_TYPE=0x83\nPART_ENTRY_NUMBER=1\n";
        assert_eq!(
            found(partition),
            None,
            "which only says what it is a partition of"
        );
        for text in [
            "",
            "DEVNAME=/dev/sdb\n",
            "/dev/sdb: UUID=\"1\" TYPE=\"ext4\"\n",
        ] {
            assert!(understand(Some(0), text).is_err(), "{text}");
        }
    }

    #[test]
    fn any_other_exit_leaves_the_content_unknown() {
        for code in [Some(1), Some(2), Some(4), Some(127), None] {
            assert!(understand(code, LIMITS).is_err(), "{code:?}");
        }
    }

    #[test]
    fn a_missing_or_different_program_leaves_the_content_unknown() {
        let null = std::fs::File::open("/dev/null").unwrap();
        for program in ["/no such folder/blkid", "/dev/null", "true", "false"] {
            assert!(ask(OsStr::new(program), null.as_fd()).is_err(), "{program}");
        }
        assert!(find(null.as_fd()).is_err());
    }
}
