//! How a parallel filesystem places new files on its servers, in the words of its own tool.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A tool that hangs must not delay a run.
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_CHARACTERS: usize = 1000;

/// The layout of new files in `directory`, as one line. Other filesystems, and those whose tool is missing or fails,
/// have none.
pub(crate) fn for_new_files(kind: &str, source: &str, directory: &Path) -> Option<String> {
    let output = run_within(command(kind, source, directory)?, TIMEOUT)?;
    let line = one_line(&output);
    (!line.is_empty()).then_some(line)
}

fn one_line(output: &str) -> String {
    let lines: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("; ").chars().take(MAX_CHARACTERS).collect()
}

fn command(kind: &str, source: &str, directory: &Path) -> Option<Command> {
    let mut command = match kind {
        "lustre" => {
            let mut command = Command::new("lfs");
            command.args(["getstripe", "-d"]).arg(directory);
            command
        }
        "beegfs" | "beegfs_nodev" => {
            let mut command = Command::new("beegfs-ctl");
            command
                .args(["--getentryinfo", "--nomappings"])
                .arg(directory);
            command
        }
        "fuse.glusterfs" => {
            let mut command = Command::new("gluster");
            command
                .args(["--mode=script", "volume", "info"])
                .arg(gluster_volume(source));
            command
        }
        _ => return None,
    };
    command.env("LC_ALL", "C");
    Some(command)
}

/// The source of a mount is `server:/volume`.
fn gluster_volume(source: &str) -> &str {
    source
        .rsplit_once(':')
        .map_or(source, |(_, volume)| volume)
        .trim_start_matches('/')
}

/// The output of a command that succeeds within the time. Later the command is killed.
fn run_within(mut command: Command, timeout: Duration) -> Option<String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdout = child.stdout.take()?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    let Ok(output) = receiver.recv_timeout(timeout) else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    let status = child.wait().ok()?;
    status
        .success()
        .then(|| String::from_utf8_lossy(&output).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn command_line(kind: &str, source: &str) -> Option<String> {
        let command = command(kind, source, Path::new("/data/me"))?;
        Some(
            format!("{command:?}")
                .trim_start_matches("LC_ALL=\"C\" ")
                .to_owned(),
        )
    }

    #[test]
    fn each_parallel_filesystem_has_its_tool() {
        assert_eq!(
            command_line("lustre", "10.0.0.1@tcp:/fs").unwrap(),
            r#""lfs" "getstripe" "-d" "/data/me""#
        );
        assert_eq!(
            command_line("beegfs", "beegfs_nodev").unwrap(),
            r#""beegfs-ctl" "--getentryinfo" "--nomappings" "/data/me""#
        );
        assert_eq!(
            command_line("fuse.glusterfs", "n1:/vol").unwrap(),
            r#""gluster" "--mode=script" "volume" "info" "vol""#
        );
        assert_eq!(command_line("ext4", "/dev/sda1"), None);
    }

    #[test]
    fn a_missing_failing_or_hanging_tool_gives_no_layout() {
        assert_eq!(
            run_within(shell("echo stripe_count: 4"), LONG),
            Some("stripe_count: 4\n".to_owned())
        );
        assert_eq!(run_within(shell("echo no; exit 1"), LONG), None);
        assert_eq!(run_within(Command::new("/nowhere/lfs"), LONG), None);
        let start = Instant::now();
        let short = Duration::from_millis(500);
        assert_eq!(run_within(shell("exec sleep 100"), short), None);
        assert!(start.elapsed() < Duration::from_secs(50), "it is killed");
    }

    /// No tool that ends needs so long, even on a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }
}
