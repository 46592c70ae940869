//! GlusterFS with two bricks on separate filesystems: a parallel filesystem on one machine.
//!
//! It needs no glusterd: servers and client get their graphs as files, and meet at sockets.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::image::Image;
use crate::mounted::{abort, device_at, temporary};
use crate::program::wait_for;

/// A mounted volume, which ends with the drop.
pub struct Gluster {
    processes: Vec<Child>,
    point: TempDir,
    /// The folder of the graphs, logs and sockets.
    folder: TempDir,
    // Dropped after their servers.
    bricks: Vec<Image>,
}

impl Gluster {
    /// Both bricks have shards of 4 MiB of each file, or one of them the whole file.
    pub fn mount(is_sharded: bool, brick_bytes: u64) -> Result<Self> {
        let mut volume = Self {
            processes: Vec::new(),
            point: temporary("gluster-point")?,
            folder: temporary("gluster-folder")?,
            bricks: Vec::new(),
        };
        for number in 0..2 {
            volume.start_brick(number, brick_bytes)?;
        }
        let below = device_at(volume.path());
        let graph = client_graph(&volume.socket(0), &volume.socket(1), is_sharded);
        volume.start(
            "glusterfs",
            "client",
            &graph,
            Some(volume.path().to_owned()),
        )?;
        wait_for("the volume to be mounted", || {
            device_at(volume.path()).filter(|now| Some(*now) != below)
        })?;
        Ok(volume)
    }

    fn start_brick(&mut self, number: u32, size_bytes: u64) -> Result<()> {
        let image = Image::mount("ext4", size_bytes)?;
        let brick = image.path().join("brick");
        std::fs::create_dir(&brick)?;
        self.bricks.push(image);
        let socket = self.socket(number);
        let graph = brick_graph(&brick, &socket);
        self.start("glusterfsd", &format!("brick{number}"), &graph, None)?;
        wait_for("a brick to listen", || socket.exists().then_some(()))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    fn socket(&self, number: u32) -> PathBuf {
        self.folder.path().join(format!("{number}.socket"))
    }

    fn start(
        &mut self,
        program: &str,
        name: &str,
        graph: &str,
        point: Option<PathBuf>,
    ) -> Result<()> {
        let file = self.folder.path().join(format!("{name}.vol"));
        let log = self.folder.path().join(format!("{name}.log"));
        std::fs::write(&file, graph)?;
        let process = Command::new(program)
            .arg("--no-daemon")
            .arg("-l")
            .arg(log)
            .arg("-f")
            .arg(file)
            .args(point)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("start {program}"))?;
        self.processes.push(process);
        Ok(())
    }
}

impl Drop for Gluster {
    fn drop(&mut self) {
        abort(self.path());
        // The client ends before its servers.
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The graph of a server. It is the least that a server with several threads needs.
fn brick_graph(brick: &Path, socket: &Path) -> String {
    format!(
        include_str!("gluster/brick.vol"),
        brick = brick.display(),
        socket = socket.display()
    )
}

/// The graph of the client, which distributes files by name and gathers small writes.
fn client_graph(first: &Path, second: &Path, is_sharded: bool) -> String {
    const SHARDS: &str = "volume shards\ntype features/shard\noption shard-block-size 4MB\nsubvolumes all\nend-volume\n\n";
    let (shards, spread) = if is_sharded {
        (SHARDS, "shards")
    } else {
        ("", "all")
    };
    format!(
        include_str!("gluster/client.vol"),
        first = first.display(),
        second = second.display(),
        shards = shards,
        spread = spread
    )
}
