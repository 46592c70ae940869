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

pub struct Gluster {
    processes: Vec<Child>,
    point: TempDir,
    /// Graphs, logs and sockets.
    folder: TempDir,
    // Dropped after their servers.
    bricks: Vec<Image>,
}

impl Gluster {
    /// Both bricks have shards of 4 MiB of each file, or one of them the whole file.
    pub fn mount(is_sharded: bool, brick_bytes: u64) -> Result<Self> {
        let (point, folder) = (temporary("gluster-point")?, temporary("gluster-folder")?);
        let mut volume = Self {
            processes: Vec::new(),
            point,
            folder,
            bricks: Vec::new(),
        };
        for number in 0..2 {
            let (image, socket) = (Image::mount("ext4", brick_bytes)?, volume.socket(number));
            let brick = image.path().join("brick");
            std::fs::create_dir(&brick)?;
            volume.bricks.push(image);
            volume.start(
                "glusterfsd",
                &format!("brick{number}"),
                &brick_graph(&brick, &socket),
                None,
            )?;
            wait_for("a brick to listen", || socket.exists().then_some(()))?;
        }
        let below = device_at(volume.path());
        let graph = client_graph(&volume.socket(0), &volume.socket(1), is_sharded);
        volume.start(
            "glusterfs",
            "client",
            &graph,
            Some(volume.path().to_owned()),
        )?;
        let mounted = || device_at(volume.path()).filter(|now| Some(*now) != below);
        wait_for("the volume to be mounted", mounted)?;
        Ok(volume)
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
        let [file, log] =
            ["vol", "log"].map(|end| self.folder.path().join(format!("{name}.{end}")));
        std::fs::write(&file, graph)?;
        let mut command = Command::new(program);
        command
            .arg("--no-daemon")
            .arg("-l")
            .arg(log)
            .arg("-f")
            .arg(file)
            .args(point);
        let started = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.processes
            .push(started.with_context(|| format!("start {program}"))?);
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

/// The least that a server with several threads needs.
fn brick_graph(brick: &Path, socket: &Path) -> String {
    format!(
        include_str!("gluster/brick.vol"),
        brick = brick.display(),
        socket = socket.display()
    )
}

/// By name, with small writes gathered.
fn client_graph(first: &Path, second: &Path, is_sharded: bool) -> String {
    const SHARDS: &str = "volume shards\ntype features/shard\noption shard-block-size 4MB\nsubvolumes all\nend-volume\n\n";
    let (shards, spread) = if is_sharded {
        (SHARDS, "shards")
    } else {
        ("", "all")
    };
    let [first, second] = [first, second].map(Path::display);
    format!(
        include_str!("gluster/client.vol"),
        first = first,
        second = second,
        shards = shards,
        spread = spread
    )
}
