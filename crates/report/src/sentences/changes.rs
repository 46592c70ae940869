//! Differences between two sides other than results.

use serde::Serialize;
use writebench_model::{
    Bytes, Environment, Filesystem, FilesystemSpec, Image, RunRecord, TargetRecord,
};

use crate::numbers::{Comparison, Side, distinct};
use crate::sentences::machine::device_line;
use crate::sentences::obstacle::cpus;

/// A fact that is not the same for all runs of a comparison, such as the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub name: String,
    /// The values of side A. There are several if its runs differ.
    pub a: Vec<String>,
    pub b: Vec<String>,
}

impl Comparison {
    /// The differences between the sides, and among the runs of one side.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let facts_of_a = facts_of_side(&self.a);
        let facts_of_b = facts_of_side(&self.b);
        let facts = facts_of_a.iter().chain(&facts_of_b).flatten();
        let names = distinct(facts.map(|(name, _)| name), |name| *name);
        let mut changes: Vec<Change> = names
            .into_iter()
            .map(|name| Change {
                name: name.clone(),
                a: values(&facts_of_a, name),
                b: values(&facts_of_b, name),
            })
            .filter(|change| change.a != change.b || change.a.len() > 1)
            .collect();
        // Another device has other settings: its name is enough.
        if changes
            .iter()
            .any(|change| change.name == "device" || change.name.ends_with(": device"))
        {
            changes.retain(|change| !change.name.starts_with("sys/"));
        }
        changes
    }
}

/// Names and values.
type Facts = Vec<(String, String)>;

fn fact(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn or_none(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "none".to_owned())
}

fn facts_of_side(side: &Side) -> Vec<Facts> {
    side.runs.iter().map(|run| facts(&run.run)).collect()
}

/// The different values that the runs of a side have for a fact.
fn values(facts_of_side: &[Facts], name: &str) -> Vec<String> {
    let values = facts_of_side.iter().map(|facts| value(facts, name));
    distinct(values, Clone::clone)
}

fn value(facts: &[(String, String)], name: &str) -> String {
    facts
        .iter()
        .find(|(other, _)| other == name)
        .map_or("unknown".to_owned(), |(_, value)| value.clone())
}

/// The facts that may have an effect on speed. The seed, the limits and the number of samples have none.
fn facts(run: &RunRecord) -> Facts {
    let mut facts = vec![fact("writebench", &run.version)];
    facts.extend(
        run.targets
            .first()
            .map_or(Vec::new(), |target| machine_facts(&target.environment)),
    );
    for target in &run.targets {
        let prefix = if run.targets.len() > 1 {
            format!("{}: ", target.name)
        } else {
            String::new()
        };
        facts.extend(
            target_facts(target)
                .into_iter()
                .map(|(name, value)| (format!("{prefix}{name}"), value)),
        );
    }
    facts.push(fact("--verify", run.settings.verify.to_string()));
    facts.push(fact("--from", or_none(run.settings.copy_from.as_ref())));
    let settings = run
        .targets
        .iter()
        .flat_map(|target| &target.environment.tunables);
    for (path, value) in settings {
        let path = format!("/{path}");
        if facts.iter().all(|(name, _)| *name != path) {
            facts.push((path, value.clone()));
        }
    }
    facts
}

fn machine_facts(environment: &Environment) -> Facts {
    let Environment {
        system,
        cpu,
        memory,
        ..
    } = environment;
    vec![
        fact("machine", system.hostname.clone()),
        fact(
            "kernel",
            format!("{} {}", system.kernel, system.architecture),
        ),
        fact("distribution", or_none(system.distribution.as_ref())),
        fact("hypervisor", or_none(system.hypervisor.as_ref())),
        fact("processor", or_none(cpu.model.as_ref())),
        fact("CPUs", cpu.available.to_string()),
        fact("CPU limit", cpu.limit_ppm.map_or("none".to_owned(), cpus)),
        fact("governor", or_none(cpu.governor.as_ref())),
        fact("memory", Bytes(memory.total_bytes).approximate()),
        fact(
            "memory limit",
            memory
                .limit_bytes
                .map_or("none".to_owned(), |limit| Bytes(limit).approximate()),
        ),
    ]
}

/// `520MiB in /data (ext4), direct I/O`.
fn image_text(image: &Image) -> String {
    let size = Bytes(image.size_bytes);
    let direct = if image.direct_io { ", direct I/O" } else { "" };
    format!(
        "{size} in {} ({}){direct}",
        image.directory, image.directory_filesystem
    )
}

/// The facts of a filesystem made for the run. The numbers of its loop devices and its mount point differ in each run,
/// and are left out.
fn making_facts(making: &FilesystemSpec, filesystem: &Filesystem) -> Facts {
    let images: Vec<String> = making.images.iter().map(image_text).collect();
    vec![
        fact("made", making.kind.clone()),
        fact("images", images.join(", ")),
        fact("mkfs options", making.mkfs_options.join(" ")),
        fact(
            "given mount options",
            making.mount_options.clone().unwrap_or_default(),
        ),
        fact("filesystem", filesystem.kind.clone()),
        fact(
            "filesystem block",
            Bytes(filesystem.block_size_bytes).to_string(),
        ),
    ]
}

fn target_facts(target: &TargetRecord) -> Facts {
    let Environment {
        filesystem, device, ..
    } = &target.environment;
    if let Some(making) = &target.made_filesystem {
        return making_facts(making, filesystem);
    }
    vec![
        fact("target", target.path.clone()),
        fact(
            "filesystem",
            format!("{} on {}", filesystem.kind, filesystem.source),
        ),
        fact(
            "filesystem block",
            Bytes(filesystem.block_size_bytes).to_string(),
        ),
        fact("mount options", filesystem.mount_options.clone()),
        fact(
            "device",
            device.as_ref().map_or("none".to_owned(), device_line),
        ),
    ]
}
