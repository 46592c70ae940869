use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use writebench_model::{FilesystemSpec, Image, Reserve};

use crate::cleanup::{CleanupAction, clean_up_to};
use crate::error::Error;
use crate::image::ImageDirectory;
use crate::kind::{FilesystemKind, Layer};
use crate::loop_device::LoopDevice;
use crate::recipe::Recipe;
use crate::{namespace, program, server};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesystemRequest {
    pub kind: FilesystemKind,
    /// After writebench's own. For a layer such as `overlay:` they apply to the filesystem at the bottom.
    pub mkfs_options: Vec<String>,
    /// Comma-separated, after writebench's own. For a layer they apply to the mount on top.
    pub mount_options: Option<String>,
}

#[derive(Debug, Clone)]
pub struct MadeFilesystem {
    /// For this process and its children.
    pub path: PathBuf,
    pub spec: FilesystemSpec,
}

/// A drop removes them silently. [`Filesystems::remove`] reports errors.
#[derive(Debug)]
pub struct Filesystems {
    images: ImageDirectory,
    points: PathBuf,
    next_point: u32,
    stack: Vec<CleanupAction>,
    bytes_written: u64,
}

impl Filesystems {
    /// Enters a private mount namespace, and covers one of `/mnt`, `/media` and `/srv` without `needed_paths`:
    /// all paths that are opened later.
    ///
    /// Only the calling thread enters, with the threads and processes that it starts later: call this in a
    /// process of one thread. Call [`Filesystems::make`] in a thread that outlives the filesystems, because
    /// their servers die with it.
    ///
    /// # Errors
    /// The process lacks `CAP_SYS_ADMIN`, `images` cannot be opened, or all three directories are needed. Linux
    /// only.
    pub fn begin(images: &Path, reserve: Reserve, needed_paths: &[&Path]) -> Result<Self, Error> {
        // Opened before entering, so other processes see its mount. A lack of privileges is the more useful
        // error.
        let opened = ImageDirectory::open(images, reserve);
        namespace::enter()?;
        let images = opened?;
        let points = namespace::cover(&[needed_paths, &[images.path.as_path()]].concat())?;
        Ok(Self {
            images,
            stack: vec![CleanupAction::Mount(points.clone())],
            points,
            next_point: 1,
            bytes_written: 0,
        })
    }

    /// Makes a filesystem with room for twice that much content (see [`FilesystemKind::size_bytes`]).
    /// `interrupted` is polled while images are written.
    ///
    /// # Errors
    /// The reason in one line. Partial work is undone.
    pub fn make(
        &mut self,
        request: &FilesystemRequest,
        content_bytes: u64,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<MadeFilesystem, Error> {
        let before = self.stack.len();
        let spec = FilesystemSpec {
            kind: request.kind.to_string(),
            images: Vec::new(),
            commands: Vec::new(),
            mkfs_options: request.mkfs_options.clone(),
            mount_options: request.mount_options.clone(),
        };
        let size_bytes = request.kind.size_bytes(content_bytes);
        let mut order = Order {
            request,
            size_bytes,
            interrupted,
            spec,
        };
        match self.make_all(&mut order) {
            Ok(path) => Ok(MadeFilesystem {
                path,
                spec: order.spec,
            }),
            Err(error) => {
                // The first error counts.
                let _ = clean_up_to(&mut self.stack, before);
                // Ctrl-C may have interrupted a program.
                Err(if interrupted() {
                    Error::Interrupted
                } else {
                    error
                })
            }
        }
    }

    /// Includes failed images.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Unmounts and detaches everything in reverse order, and waits up to 10 s for each.
    ///
    /// # Errors
    /// Something was still in use after that. The rest has been removed.
    pub fn remove(mut self) -> Result<(), Error> {
        clean_up_to(&mut self.stack, 0)
    }

    fn make_all(&mut self, order: &mut Order<'_>) -> Result<PathBuf, Error> {
        let layer = order.request.kind.layer;
        if layer == Some(Layer::Fuse) {
            // Before gigabytes are written in vain.
            program::require(server::PROGRAM, Some(server::PROGRAM))?;
        }
        let base = self.make_base(order)?;
        match layer {
            None => Ok(base),
            Some(Layer::Overlay) => self.mount_overlay(&base, order),
            Some(Layer::Fuse) => self.mount_bindfs(&base, order),
        }
    }

    fn make_base(&mut self, order: &mut Order<'_>) -> Result<PathBuf, Error> {
        let recipe = Recipe::for_kind(&order.request.kind.base);
        let mkfs = format!("mkfs.{}", recipe.family);
        if !recipe.is_in_memory() {
            program::require(&mkfs, recipe.package())?;
        }
        require_kernel(&recipe.family)?;
        let mut devices = Vec::new();
        if !recipe.is_in_memory() {
            devices = self.attach_images(recipe.devices, order)?;
            let words = recipe.mkfs_words(&order.request.mkfs_options, &devices);
            program::run(&mkfs, recipe.package(), &words, &mut order.spec.commands)?;
            // On top of the stack.
            let mut loops = self.stack.iter().rev().map_while(|action| match action {
                CleanupAction::Loop(device) => Some(device),
                _ => None,
            });
            loops.try_for_each(LoopDevice::fill_holes)?;
        }
        let source = devices
            .first()
            .map_or(recipe.family.as_str(), String::as_str);
        // For a layer they apply to the mount on top.
        let options = order
            .request
            .mount_options
            .as_deref()
            .filter(|_| order.request.kind.layer.is_none());
        let options = recipe.mount_options(order.size_bytes, &devices, options);
        self.mount(&recipe.family, source, &options, &mut order.spec)
    }

    fn attach_images(&mut self, devices: u64, order: &mut Order<'_>) -> Result<Vec<String>, Error> {
        self.images.check_space(order.size_bytes)?;
        let image_bytes = order.size_bytes / devices;
        let mut nodes = Vec::new();
        for _ in 0..devices {
            let device = LoopDevice::attach(self.images.image(image_bytes, order.interrupted)?)?;
            nodes.push(device.node());
            self.bytes_written += image_bytes;
            order.spec.images.push(Image {
                directory: self.images.path.to_string_lossy().into_owned(),
                directory_filesystem: self.images.filesystem.clone(),
                directory_device: self.images.device.clone(),
                size_bytes: image_bytes,
                device: device.name.clone(),
                direct_io: device.direct_io,
                direct_io_refused: device.direct_io_refused.clone(),
                logical_sector_bytes: device.logical_sector_bytes,
            });
            self.stack.push(CleanupAction::Loop(device));
        }
        Ok(nodes)
    }

    fn mount(
        &mut self,
        family: &str,
        source: &str,
        options: &str,
        spec: &mut FilesystemSpec,
    ) -> Result<PathBuf, Error> {
        let point = self.new_point(&spec.kind)?;
        let target = point.to_string_lossy();
        let options = if options.is_empty() {
            vec![]
        } else {
            vec!["-o", options]
        };
        let words = [&["-n", "-t", family], &options[..], &[source, &target]].concat();
        let words: Vec<_> = words.into_iter().map(str::to_owned).collect();
        program::run("mount", Some("mount"), &words, &mut spec.commands)?;
        self.stack.push(CleanupAction::Mount(point.clone()));
        Ok(point)
    }

    fn mount_overlay(&mut self, base: &Path, order: &mut Order<'_>) -> Result<PathBuf, Error> {
        let mut options = Vec::new();
        for name in ["lower", "upper", "work"] {
            let directory = made_directory(&base.join(name))?;
            options.push(format!("{name}dir={}", directory.display()));
        }
        options.extend(order.request.mount_options.clone());
        require_kernel("overlay")?;
        self.mount("overlay", "overlay", &options.join(","), &mut order.spec)
    }

    fn mount_bindfs(&mut self, base: &Path, order: &mut Order<'_>) -> Result<PathBuf, Error> {
        require_kernel("fuse")?;
        let source = made_directory(&base.join("source"))?;
        let point = self.new_point(&order.spec.kind)?;
        let options = order.request.mount_options.as_deref();
        let (line, process) = server::mount(&source, &point, options, order.interrupted)?;
        order.spec.commands.push(line);
        self.stack.push(CleanupAction::Server(process));
        self.stack.push(CleanupAction::Mount(point.clone()));
        Ok(point)
    }

    fn new_point(&mut self, kind: &str) -> Result<PathBuf, Error> {
        let name = format!("{}-{}", self.next_point, kind.replace(':', "-"));
        self.next_point += 1;
        made_directory(&self.points.join(name))
    }
}

struct Order<'a> {
    request: &'a FilesystemRequest,
    size_bytes: u64,
    interrupted: &'a dyn Fn() -> bool,
    spec: FilesystemSpec,
}

impl Drop for Filesystems {
    fn drop(&mut self) {
        let _ = clean_up_to(&mut self.stack, 0);
    }
}

fn made_directory(path: &Path) -> Result<PathBuf, Error> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(|error| Error::call("make a directory", "mkdir", path, error))?;
    Ok(path.to_owned())
}

/// The kernel, a module or a helper of mount may have the kind.
fn require_kernel(kind: &str) -> Result<(), Error> {
    let is_known = || {
        let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
        known
            .lines()
            .any(|line| line.rsplit('\t').next() == Some(kind))
    };
    if is_known() || program::find(&format!("mount.{kind}")).is_some() {
        return Ok(());
    }
    // The kernel would load the module at the mount. The check below shows the result.
    let words = ["-q", "--", &format!("fs-{kind}")].map(str::to_owned);
    let _ = program::run("modprobe", None, &words, &mut Vec::new());
    if is_known() {
        Ok(())
    } else {
        Err(Error::NotInKernel {
            kind: kind.to_owned(),
        })
    }
}
