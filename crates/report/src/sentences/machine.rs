use writebench_model::{
    AtomicWrites, Bytes, Device, DirectAlignment, Environment, Filesystem, FilesystemSpec, Image,
    LayerBelow, RunRecord, TargetRecord,
};

use crate::numbers::{CaseReport, distinct};
use crate::sentences::obstacle::cpus;
use crate::sentences::ranks::cluster_line;
use crate::sentences::report::Report;
use crate::sentences::words::{counted, list};

/// Lines with a label, such as `kernel`, and a text.
pub(crate) type Lines = Vec<(&'static str, String)>;

/// More targets than these are counted.
const NAMED_TARGETS: usize = 8;

/// The run in a line: `/data · ext4 on vda (virtio_blk) · 128 MiB per sample · 7.1 GiB written`.
pub(crate) fn one_line(report: &Report) -> String {
    let run = &report.run;
    let targets = match run.targets.as_slice() {
        [one] if !run.is_side_by_side() => {
            format!("{} · {}", one.path, filesystem(&one.environment))
        }
        targets => {
            let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
            list(&names, NAMED_TARGETS)
        }
    };
    let per_sample = bytes_per_sample(&report.cases);
    let number = report
        .number
        .map(|number| format!("run {number} · "))
        .unwrap_or_default();
    let ranks = run
        .cluster
        .as_ref()
        .map(|cluster| format!("{cluster} · "))
        .unwrap_or_default();
    format!(
        "{number}{ranks}{targets}{per_sample} · {} written",
        size(bytes_written(report))
    )
}

/// `/data: ext4 on vda (virtio_blk)`, or the names of several targets.
pub(crate) fn one_place(report: &Report) -> String {
    let run = &report.run;
    let ranks = run
        .cluster
        .as_ref()
        .map(|cluster| format!("{cluster}, "))
        .unwrap_or_default();
    let targets = match run.targets.as_slice() {
        [one] if !run.is_side_by_side() => {
            format!("{}: {}", one.path, filesystem(&one.environment))
        }
        targets => {
            let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
            list(&names, NAMED_TARGETS)
        }
    };
    ranks + &targets
}

impl Report {
    /// The name of each target, and its filesystem: `ext4 on vda`.
    pub(crate) fn target_columns(&self) -> Vec<[String; 2]> {
        let column = |target: &TargetRecord| {
            let Environment {
                filesystem, device, ..
            } = &target.environment;
            let on = device.as_ref().map(|device| format!(" on {}", device.name));
            let place = filesystem.kind.clone() + &on.unwrap_or_default();
            [target.name.clone(), place]
        };
        self.run.targets.iter().map(column).collect()
    }
}

/// ` · 64 KiB to 128 MiB per sample`, from the cases in the tables.
fn bytes_per_sample(cases: &[CaseReport]) -> String {
    let sizes: Vec<u64> = cases
        .iter()
        .filter(|case| !case.is_screening() && !case.record.samples.is_empty())
        .map(|case| case.record.workload.bytes)
        .collect();
    match (sizes.iter().min(), sizes.iter().max()) {
        (Some(least), Some(most)) if least == most => format!(" · {} per sample", size(*least)),
        (Some(least), Some(most)) => format!(" · {} to {} per sample", size(*least), size(*most)),
        _ => String::new(),
    }
}

/// `ext4 on vda (virtio_blk)`.
fn filesystem(environment: &Environment) -> String {
    let kind = &environment.filesystem.kind;
    let Some(device) = &environment.device else {
        return kind.clone();
    };
    let model = device
        .model
        .as_ref()
        .and_then(|model| model.split(',').next())
        .map(|model| format!(" ({})", model.trim()))
        .unwrap_or_default();
    format!("{kind} on {}{model}", device.name)
}

/// The written bytes as the run recorded them. A run without a record, such as one of an earlier version, has those of
/// its samples.
fn bytes_written(report: &Report) -> u64 {
    report
        .run
        .written_bytes
        .unwrap_or_else(|| bytes_of_samples(&report.cases))
}

fn bytes_of_samples(cases: &[CaseReport]) -> u64 {
    // A case may be in several tables.
    distinct(cases, |case| (&case.record.target, case.record.case.name()))
        .into_iter()
        .map(|case| case.record.sample_bytes())
        .fold(0, u64::saturating_add)
}

pub fn machine_lines(environment: &Environment, target: &str) -> Lines {
    [
        system_lines(environment),
        filesystem_lines(environment, target),
    ]
    .concat()
}

/// What the kernel says about direct, atomic and late writes on a target.
pub fn write_lines(environment: &Environment) -> Lines {
    let filesystem = &environment.filesystem;
    let direct = filesystem
        .direct_io
        .map(|alignment| ("direct I/O", direct_text(alignment)));
    let atomic = filesystem
        .atomic_writes
        .map(|sizes| ("atomic", atomic_text(sizes)));
    let times = filesystem
        .has_lazy_times()
        .then(|| ("times", LAZY_TIMES.to_owned()));
    [direct, atomic, times].into_iter().flatten().collect()
}

const LAZY_TIMES: &str = "lazytime: the times of files stay in memory until fsync(2) or for a day";

/// `multiples of 4 KiB in the file and 512 B in memory, of 512 B for reads`.
fn direct_text(alignment: DirectAlignment) -> String {
    let DirectAlignment {
        memory_bytes,
        offset_bytes,
        read_offset_bytes,
    } = alignment;
    if offset_bytes == 0 {
        return "none".to_owned();
    }
    let reads = read_offset_bytes
        .map(|bytes| format!(", of {} for reads", size(bytes)))
        .unwrap_or_default();
    format!(
        "multiples of {} in the file and {} in memory{reads}",
        size(offset_bytes),
        size(memory_bytes)
    )
}

/// `writes of 4 KiB to 1 MiB, slower beyond 16 KiB`.
fn atomic_text(sizes: AtomicWrites) -> String {
    let AtomicWrites {
        least_bytes,
        most_bytes,
        optimal_bytes,
    } = sizes;
    let slower = optimal_bytes
        .filter(|&bytes| bytes < most_bytes)
        .map(|bytes| format!(", slower beyond {}", size(bytes)))
        .unwrap_or_default();
    format!(
        "writes of {} to {}{slower}",
        size(least_bytes),
        size(most_bytes)
    )
}

/// The lines about the machine and the target. Several targets have a line each.
pub(crate) fn run_lines(run: &RunRecord) -> Lines {
    let mut lines: Lines = run
        .cluster
        .iter()
        .map(|cluster| ("ranks", cluster_line(cluster)))
        .collect();
    match run.targets.as_slice() {
        [] => {}
        [one] if !run.is_side_by_side() => lines.extend(machine_lines(&one.environment, &one.path)),
        several => {
            lines.extend(system_lines(&several[0].environment));
            lines.extend(several.iter().map(|target| ("target", target_line(target))));
            lines.extend(missing(run).map(|line| ("missing", line)));
        }
    }
    lines
}

pub(crate) fn missing(run: &RunRecord) -> Option<String> {
    let all: Vec<String> = run
        .missing
        .iter()
        .map(|target| format!("{}: {}", target.name, target.reason))
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// `/data: ext4 on /dev/sda1 (rw,relatime), 50 GiB free of 100 GiB · sda, A Disk, 1 TiB`.
fn target_line(target: &TargetRecord) -> String {
    let Environment {
        filesystem, device, ..
    } = &target.environment;
    // A made filesystem is on a loop device, which its image describes.
    let device = device
        .as_ref()
        .filter(|_| target.made_filesystem.is_none())
        .map_or(String::new(), |device| {
            format!(" · {}", device_line(device))
        });
    let Filesystem {
        kind,
        source,
        mount_options,
        ..
    } = filesystem;
    let free = format!(
        "{} free of {}",
        size(filesystem.available_bytes),
        size(filesystem.total_bytes)
    );
    format!(
        "{}: {kind} on {source} ({mount_options}), {free}{device}",
        target.name
    ) + &target
        .made_filesystem
        .as_ref()
        .map_or(String::new(), making_text)
}

/// ` · an image of 520 MiB in /data (ext4), direct I/O · mkfs -b 1024`.
fn making_text(making: &FilesystemSpec) -> String {
    let images = making
        .images
        .first()
        .map(|first| images_text(first, making.images.len()));
    let options = making.mkfs_options.join(" ");
    let mkfs = (!options.is_empty()).then(|| format!("mkfs {options}"));
    let mount = making
        .mount_options
        .as_ref()
        .map(|options| format!("mount -o {options}"));
    [images, mkfs, mount]
        .into_iter()
        .flatten()
        .map(|part| format!(" · {part}"))
        .collect()
}

/// `2 images of 520 MiB in /data (ext4), direct I/O`. All images of a filesystem are alike.
fn images_text(first: &Image, count: usize) -> String {
    let size = size(first.size_bytes);
    let images = match count {
        1 => format!("an image of {size}"),
        count => format!("{count} images of {size}"),
    };
    let direct = match &first.direct_io_refused {
        _ if first.direct_io => "direct I/O".to_owned(),
        Some(why) => format!("no direct I/O: {why}"),
        None => "no direct I/O".to_owned(),
    };
    format!(
        "{images} in {} ({}), {direct}",
        first.directory, first.directory_filesystem
    )
}

fn system_lines(environment: &Environment) -> Lines {
    let Environment {
        system,
        cpu,
        memory,
        ..
    } = environment;
    let model = cpu.model.as_deref().unwrap_or(&system.architecture);
    let machine = [
        Some(format!("{}: {model}", system.hostname)),
        Some(counted(cpu.available as usize, "CPU")),
        cpu.limit_ppm.map(|ppm| format!("limited to {}", cpus(ppm))),
        Some(format!("{} memory", size(memory.total_bytes))),
        Some(format!("{} available", size(memory.available_bytes))),
        memory
            .limit_bytes
            .map(|limit| format!("limited to {}", size(limit))),
        cpu.governor
            .as_ref()
            .map(|governor| format!("governor {governor}")),
    ];
    let kernel = [
        Some(format!("{} {}", system.kernel, system.architecture)),
        system.distribution.clone(),
        system
            .hypervisor
            .as_ref()
            .map(|hypervisor| format!("virtual machine ({hypervisor})")),
    ];
    vec![("machine", known(machine)), ("kernel", known(kernel))]
}

/// The parts that are known, with commas.
fn known(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn size(bytes: u64) -> String {
    Bytes(bytes).approximate()
}

fn filesystem_lines(environment: &Environment, target: &str) -> Lines {
    let Environment {
        filesystem,
        device,
        below,
        ..
    } = environment;
    let target = format!(
        "{target}, {} free of {}",
        size(filesystem.available_bytes),
        size(filesystem.total_bytes)
    );
    let mount = if filesystem.is_block_device() {
        "none: the device itself".to_owned()
    } else {
        let Filesystem {
            kind,
            source,
            mount_point,
            mount_options,
            ..
        } = filesystem;
        format!("{kind} on {source} at {mount_point} ({mount_options})")
    };
    let layout = filesystem
        .file_layout
        .as_ref()
        .map(|layout| ("layout", layout.clone()));
    let device = device
        .as_ref()
        .map_or("none: not on a block device".to_owned(), device_line);
    let mut lines = vec![("target", target), ("filesystem", mount)];
    lines.extend(layout);
    lines.push(("device", device));
    lines.extend(below.iter().map(|layer| ("below", layer_line(layer))));
    lines
}

/// `upper directory on ext4 (rw,relatime), vda, write cache write back`.
fn layer_line(layer: &LayerBelow) -> String {
    let LayerBelow {
        role,
        kind,
        mount_options,
        device,
    } = layer;
    known([
        Some(format!("{role} on {kind} ({mount_options})")),
        device.as_ref().map(device_line),
    ])
}

pub(crate) fn device_line(device: &Device) -> String {
    let sectors = device
        .logical_sector_bytes
        .zip(device.physical_sector_bytes);
    known([
        Some(device.name.clone()),
        device.model.clone(),
        device.size_bytes.map(size),
        device
            .write_cache
            .as_ref()
            .map(|cache| format!("write cache {cache}")),
        device
            .scheduler
            .as_ref()
            .map(|scheduler| format!("scheduler {scheduler}")),
        sectors.map(|(logical, physical)| {
            format!("sectors {logical} B logical, {physical} B physical")
        }),
    ])
}
