use std::path::{Path, PathBuf};

use writebench_model::{FilesystemSpec, Image, Reserve};

use crate::cleanup::{CleanupAction, clean_up_to};
use crate::error::Error;
use crate::image::ImageDirectory;
use crate::kind::{FilesystemKind, Layer};
use crate::loop_device::LoopDevice;
use crate::namespace::{PrivateMounts, make_directory};
use crate::recipe::Recipe;
use crate::{program, server};

/// The filesystem that a user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesystemRequest {
    pub kind: FilesystemKind,
    /// The user's options of mkfs, which follow writebench's own. For a layer such as `overlay:` they apply to the
    /// filesystem at the bottom.
    pub mkfs_options: Vec<String>,
    /// The user's options of mount, separated by commas, which follow writebench's own. For a layer they apply to the
    /// mount on top.
    pub mount_options: Option<String>,
}

/// A filesystem that is mounted.
#[derive(Debug, Clone)]
pub struct MadeFilesystem {
    /// The mount point, which only this process and its children see.
    pub path: PathBuf,
    /// How the filesystem was made.
    pub spec: FilesystemSpec,
}

/// The filesystems of a run. A drop removes them silently. [`Filesystems::remove`] reports errors.
#[derive(Debug)]
pub struct Filesystems {
    images: ImageDirectory,
    mounts: PrivateMounts,
    next_point: u32,
    stack: Vec<CleanupAction>,
    bytes_written: u64,
}

impl Filesystems {
    /// Enters a private mount namespace: see [`PrivateMounts::enter`]. Call [`Filesystems::make`] in a thread that
    /// outlives the filesystems, because their servers die with it.
    ///
    /// # Errors
    ///
    /// It is an error if no private mount namespace can be entered, or if `images` cannot be opened.
    pub fn begin(images: &Path, reserve: Reserve, needed_paths: &[&Path]) -> Result<Self, Error> {
        // The directory is opened before entering, so that other processes see its mount. If both fail, the lack of
        // privileges is the more useful error.
        let opened = ImageDirectory::open(images, reserve);
        let mounts = PrivateMounts::enter(&[needed_paths, &[images]].concat())?;
        Ok(Self {
            images: opened?,
            mounts,
            stack: Vec::new(),
            next_point: 1,
            bytes_written: 0,
        })
    }

    /// Makes a filesystem with room for twice that much content (see [`FilesystemKind::size_bytes`]).
    /// `interrupted` is polled while images are written.
    ///
    /// # Errors
    ///
    /// The error is the reason in one line. Partial work is undone.
    pub fn make(
        &mut self,
        request: &FilesystemRequest,
        content_bytes: u64,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<MadeFilesystem, Error> {
        let before = self.stack.len();
        let mut making = Making {
            request,
            size_bytes: request.kind.size_bytes(content_bytes),
            interrupted,
            spec: FilesystemSpec {
                kind: request.kind.to_string(),
                images: Vec::new(),
                commands: Vec::new(),
                mkfs_options: request.mkfs_options.clone(),
                mount_options: request.mount_options.clone(),
            },
        };
        match self.make_all(&mut making) {
            Ok(path) => Ok(MadeFilesystem {
                path,
                spec: making.spec,
            }),
            Err(error) => {
                // An error of the removal would hide the one that the user needs.
                let _ = clean_up_to(&mut self.stack, before);
                // Ctrl-C may have interrupted a program, whose failure is then no reason.
                Err(if interrupted() {
                    Error::Interrupted
                } else {
                    error
                })
            }
        }
    }

    /// The bytes written to images, including those of filesystems that could not be made.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Unmounts and detaches everything in reverse order, and waits up to 10 s for each.
    ///
    /// # Errors
    ///
    /// It is an error if something was still in use after that. The rest has been removed.
    pub fn remove(mut self) -> Result<(), Error> {
        clean_up_to(&mut self.stack, 0)
    }

    /// Returns the mount point of the filesystem, which is that of the layer if there is one.
    fn make_all(&mut self, making: &mut Making<'_>) -> Result<PathBuf, Error> {
        let layer = making.request.kind.layer;
        if layer == Some(Layer::Fuse) {
            // A missing server must be found before gigabytes are written in vain.
            program::require(server::PROGRAM, Some(server::PROGRAM))?;
        }
        let base = self.make_base(making)?;
        match layer {
            None => Ok(base),
            Some(Layer::Overlay) => self.mount_overlay(&base, making),
            Some(Layer::Fuse) => self.mount_bindfs(&base, making),
        }
    }

    /// Makes and mounts the filesystem at the bottom.
    fn make_base(&mut self, making: &mut Making<'_>) -> Result<PathBuf, Error> {
        let recipe = Recipe::for_kind(&making.request.kind.base);
        if !recipe.is_in_memory() {
            program::require(&recipe.mkfs(), recipe.package())?;
        }
        require_kernel(&recipe.family)?;
        let mut devices = Vec::new();
        if !recipe.is_in_memory() {
            devices = self.attach_images(recipe.devices, making)?;
            self.run_mkfs(&recipe, &devices, making)?;
        }
        let source = devices.first().unwrap_or(&recipe.family);
        let user_options = making
            .request
            .mount_options
            .as_deref()
            // The user's options apply to the mount on top, which a layer has of its own.
            .filter(|_| making.request.kind.layer.is_none());
        let options = recipe.mount_options(making.size_bytes, &devices, user_options);
        self.mount(&recipe.family, source, &options, &mut making.spec)
    }

    fn run_mkfs(
        &self,
        recipe: &Recipe,
        devices: &[String],
        making: &mut Making<'_>,
    ) -> Result<(), Error> {
        let words = recipe.mkfs_words(&making.request.mkfs_options, devices);
        let commands = &mut making.spec.commands;
        program::run(&recipe.mkfs(), recipe.package(), &words, commands)?;
        // This filesystem's devices are the latest steps.
        for action in self.stack.iter().rev() {
            let CleanupAction::Loop(device) = action else {
                break;
            };
            device.fill_holes()?;
        }
        Ok(())
    }

    fn attach_images(
        &mut self,
        devices: u64,
        making: &mut Making<'_>,
    ) -> Result<Vec<String>, Error> {
        self.images.check_space(making.size_bytes)?;
        let image_bytes = making.size_bytes / devices;
        let mut nodes = Vec::new();
        for _ in 0..devices {
            let image = self.images.image(image_bytes, making.interrupted)?;
            let device = LoopDevice::attach(image)?;
            nodes.push(device.node());
            self.bytes_written += image_bytes;
            making.spec.images.push(Image {
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
        mount_at(&point, family, source, options, &mut spec.commands)?;
        self.stack.push(CleanupAction::Mount(point.clone()));
        Ok(point)
    }

    fn mount_overlay(&mut self, base: &Path, making: &mut Making<'_>) -> Result<PathBuf, Error> {
        let mut options = Vec::new();
        for name in ["lower", "upper", "work"] {
            let directory = make_directory(&base.join(name))?;
            options.push(format!("{name}dir={}", directory.display()));
        }
        options.extend(making.request.mount_options.clone());
        require_kernel("overlay")?;
        self.mount("overlay", "overlay", &options.join(","), &mut making.spec)
    }

    fn mount_bindfs(&mut self, base: &Path, making: &mut Making<'_>) -> Result<PathBuf, Error> {
        require_kernel("fuse")?;
        let source = make_directory(&base.join("source"))?;
        let point = self.new_point(&making.spec.kind)?;
        let options = making.request.mount_options.as_deref();
        let (line, process) = server::mount(&source, &point, options, making.interrupted)?;
        making.spec.commands.push(line);
        self.stack.push(CleanupAction::Server(process));
        self.stack.push(CleanupAction::Mount(point.clone()));
        Ok(point)
    }

    fn new_point(&mut self, kind: &str) -> Result<PathBuf, Error> {
        let name = format!("{}-{}", self.next_point, kind.replace(':', "-"));
        self.next_point += 1;
        self.mounts.point(&name)
    }
}

/// A filesystem that is being made.
struct Making<'a> {
    request: &'a FilesystemRequest,
    size_bytes: u64,
    interrupted: &'a dyn Fn() -> bool,
    /// What has been done so far.
    spec: FilesystemSpec,
}

impl Drop for Filesystems {
    fn drop(&mut self) {
        let _ = clean_up_to(&mut self.stack, 0);
    }
}

/// Calls mount(8), which knows the options of all filesystems, such as `noatime`.
pub(crate) fn mount_at(
    point: &Path,
    family: &str,
    source: &str,
    options: &str,
    commands: &mut Vec<String>,
) -> Result<(), Error> {
    let target = point.to_string_lossy();
    let mut words = vec!["-n", "-t", family];
    if !options.is_empty() {
        words.extend(["-o", options]);
    }
    words.extend([source, &target]);
    let words: Vec<_> = words.into_iter().map(str::to_owned).collect();
    program::run("mount", Some("mount"), &words, commands)
}

/// It is an error if neither the kernel, nor a module, nor a helper of mount has the kind.
pub(crate) fn require_kernel(kind: &str) -> Result<(), Error> {
    if is_in_kernel(kind) || program::find(&format!("mount.{kind}")).is_some() {
        return Ok(());
    }
    // The kernel would load the module at the mount. The check below shows the result.
    let words = ["-q", "--", &format!("fs-{kind}")].map(str::to_owned);
    let _ = program::run("modprobe", None, &words, &mut Vec::new());
    if is_in_kernel(kind) {
        Ok(())
    } else {
        Err(Error::NotInKernel {
            kind: kind.to_owned(),
        })
    }
}

fn is_in_kernel(kind: &str) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    known
        .lines()
        .any(|line| line.rsplit('\t').next() == Some(kind))
}
