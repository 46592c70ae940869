//! `gluster:KIND` and `gluster-sharded:KIND`: GlusterFS with two bricks, each on a filesystem of its own, and its client.
//!
//! glusterd, which manages the volumes of a machine, has no part in it: servers and client get their graphs as files,
//! and meet at sockets that nobody else sees.

use std::path::{Path, PathBuf};
use std::process::Child;

use crate::error::Error;
use crate::server::Server;
use crate::{program, server};

/// The filesystems below.
pub(crate) const BRICKS: u64 = 2;

const SERVER: (&str, &str) = ("glusterfsd", "glusterfs-server");
const CLIENT: (&str, &str) = ("glusterfs", "glusterfs-client");

/// Refuses if a program is not installed.
pub(crate) fn require() -> Result<(), Error> {
    for (program, package) in [SERVER, CLIENT] {
        program::require(program, Some(package))?;
    }
    Ok(())
}

/// Starts the server of a brick, and waits until it listens. Its files are in `folder`.
pub(crate) fn serve(
    brick: &Path,
    number: u64,
    folder: &Path,
    interrupted: &dyn Fn() -> bool,
) -> Result<(String, Child), Error> {
    let socket = socket(folder, number);
    let volume = brick_volume(brick, &socket);
    let name = format!("brick{number}");
    let (words, log) = words(&name, &volume, folder)?;
    Server::start(SERVER, &words, Some(&log))?.when(|| socket.exists(), interrupted)
}

/// Mounts the volume of all bricks, and waits until it answers.
pub(crate) fn mount(
    point: &Path,
    folder: &Path,
    is_sharded: bool,
    options: Option<&str>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(String, Child), Error> {
    let (mut words, log) = words("client", &client_volume(folder, is_sharded), folder)?;
    let user = options.into_iter().flat_map(|options| options.split(','));
    words.extend(user.map(|option| format!("--{option}")));
    words.push(point.to_string_lossy().into_owned());
    server::mount(CLIENT, &words, Some(&log), point, interrupted)
}

fn socket(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.socket"))
}

/// Writes the graph of a process; returns its words, and the file of its log.
fn words(name: &str, volume: &str, folder: &Path) -> Result<(Vec<String>, PathBuf), Error> {
    let (graph, log) = (folder.join(format!("{name}.vol")), folder.join(format!("{name}.log")));
    std::fs::write(&graph, volume).map_err(|error| Error::call("write a graph", "write", &graph, error))?;
    let [graph, log_text] = [&graph, &log].map(|path| path.to_string_lossy().into_owned());
    let words = ["--no-daemon", "--log-level=ERROR", "-l", &log_text, "-f", &graph].map(str::to_owned);
    Ok((words.into(), log))
}

/// The least that a server needs to keep files and to work with several threads.
fn brick_volume(brick: &Path, socket: &Path) -> String {
    let brick = brick.display();
    let volumes = [
        ("posix", "storage/posix", format!("option directory {brick}"), None),
        ("locks", "features/locks", String::new(), Some("posix")),
        ("brick", "performance/io-threads", String::new(), Some("locks")),
        (
            "server",
            "protocol/server",
            format!(
                "option transport-type unix\n  option transport.socket.listen-path {}\n  option auth.addr.brick.allow *",
                socket.display()
            ),
            Some("brick"),
        ),
    ];
    volumes.map(|(name, kind, options, below)| volume(name, kind, &options, below.unwrap_or_default())).concat()
}

/// The client's side: files are spread over the bricks by their names, or their shards are, and small writes are
/// gathered.
fn client_volume(folder: &Path, is_sharded: bool) -> String {
    let mut text = String::new();
    let mut names = Vec::new();
    for number in 0..BRICKS {
        let name = format!("brick{number}");
        let options = format!(
            "option transport-type unix\n  option transport.socket.connect-path {}\n  option remote-host localhost\n  \
             option remote-subvolume brick",
            socket(folder, number).display()
        );
        text += &volume(&name, "protocol/client", &options, "");
        names.push(name);
    }
    text += &volume("all", "cluster/distribute", "", &names.join(" "));
    let spread = if is_sharded {
        text += &volume("shards", "features/shard", "option shard-block-size 4MB", "all");
        "shards"
    } else {
        "all"
    };
    text + &volume("gathered", "performance/write-behind", "", spread)
}

fn volume(name: &str, kind: &str, options: &str, below: &str) -> String {
    let line =
        |text: String| if text.trim().is_empty() { String::new() } else { format!("  {}\n", text.trim()) };
    let below = if below.is_empty() { String::new() } else { format!("subvolumes {below}") };
    format!("volume {name}\n  type {kind}\n{}{}end-volume\n\n", line(options.to_owned()), line(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_names_each_part_after_those_below_it() {
        for graph in [
            brick_volume(Path::new("/b"), Path::new("/s")),
            client_volume(Path::new("/f"), false),
            client_volume(Path::new("/f"), true),
        ] {
            let mut known = Vec::new();
            for line in graph.lines() {
                let mut words = line.split_whitespace();
                match words.next() {
                    Some("volume") => known.extend(words.map(str::to_owned)),
                    Some("subvolumes") => {
                        words.for_each(|word| assert!(known.contains(&word.to_owned()), "{graph}"));
                    }
                    _ => {}
                }
            }
            assert!(known.len() > 3, "{graph}");
        }
        let sharded = client_volume(Path::new("/f"), true);
        assert!(sharded.contains("features/shard") && sharded.contains("subvolumes shards"), "{sharded}");
    }
}
