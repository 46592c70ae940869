//! New files of a parallel filesystem, in the words of its own tool.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A tool that hangs must not delay a run.
const TIMEOUT: Duration = Duration::from_secs(5);
const MOST_CHARACTERS: usize = 1000;

pub(crate) fn for_new_files(kind: &str, source: &str, directory: &Path) -> Option<String> {
    let words = run_within(command(kind, source, directory)?, TIMEOUT)?;
    let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let line: String = lines
        .collect::<Vec<_>>()
        .join("; ")
        .chars()
        .take(MOST_CHARACTERS)
        .collect();
    (!line.is_empty()).then_some(line)
}

fn command(kind: &str, source: &str, directory: &Path) -> Option<Command> {
    let (program, words): (&str, &[&str]) = match kind {
        "lustre" => ("lfs", &["getstripe", "-d"]),
        "beegfs" | "beegfs_nodev" => ("beegfs-ctl", &["--getentryinfo", "--nomappings"]),
        "fuse.glusterfs" => ("gluster", &["--mode=script", "volume", "info"]),
        _ => return None,
    };
    // `server:/volume`
    let volume = source
        .rsplit_once(':')
        .map_or(source, |(_, volume)| volume)
        .trim_start_matches('/');
    let what = if program == "gluster" {
        OsStr::new(volume)
    } else {
        directory.as_os_str()
    };
    let mut command = Command::new(program);
    command.args(words).arg(what).env("LC_ALL", "C");
    Some(command)
}

fn run_within(mut command: Command, timeout: Duration) -> Option<String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, words) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = output.read_to_end(&mut text);
        let _ = sender.send(text);
    });
    let Ok(text) = words.recv_timeout(timeout) else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    child
        .wait()
        .ok()?
        .success()
        .then(|| String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shown(kind: &str, source: &str) -> Option<String> {
        command(kind, source, Path::new("/data/me")).map(|command| format!("{command:?}"))
    }

    #[test]
    fn each_parallel_filesystem_has_its_tool() {
        let is = |text: Option<String>, expected: &str| {
            assert_eq!(text.unwrap().trim_start_matches("LC_ALL=\"C\" "), expected);
        };
        is(
            shown("lustre", "10.0.0.1@tcp:/fs"),
            r#""lfs" "getstripe" "-d" "/data/me""#,
        );
        is(
            shown("beegfs", "beegfs_nodev"),
            r#""beegfs-ctl" "--getentryinfo" "--nomappings" "/data/me""#,
        );
        is(
            shown("fuse.glusterfs", "n1:/vol"),
            r#""gluster" "--mode=script" "volume" "info" "vol""#,
        );
        assert_eq!(shown("ext4", "/dev/sda1"), None);
    }

    #[test]
    fn a_missing_failing_or_hanging_tool_gives_no_layout() {
        let said = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run_within(command, Duration::from_millis(500))
        };
        assert_eq!(
            said("echo stripe_count: 4"),
            Some("stripe_count: 4\n".to_owned())
        );
        assert_eq!(said("echo no; exit 1"), None);
        assert_eq!(run_within(Command::new("/nowhere/lfs"), TIMEOUT), None);
        let start = Instant::now();
        assert_eq!(said("exec sleep 100"), None);
        assert!(start.elapsed() < Duration::from_secs(50), "it is killed");
    }
}
