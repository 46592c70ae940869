//! What else is different between two sides than what was to be compared.

use model::{Bytes, RunRecord};
use serde::Serialize;

use super::Side;
use crate::machine::device_line;

/// A fact that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which.
    pub what: String,
    /// On side A; several values if its runs differ.
    pub a: Vec<String>,
    /// On side B.
    pub b: Vec<String>,
}

/// In the order of the facts.
pub(super) fn between(a: &Side, b: &Side) -> Vec<Change> {
    let (facts_of_a, facts_of_b) = (facts_of_side(a), facts_of_side(b));
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in facts_of_a.iter().chain(&facts_of_b).flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let change = |name: &str| {
        let (a, b) = (values(&facts_of_a, name), values(&facts_of_b, name));
        (a != b || a.len() > 1).then(|| Change { what: name.to_owned(), a, b })
    };
    let mut changes: Vec<Change> = names.into_iter().filter_map(change).collect();
    // Another device has its own settings; that it is another one says it all.
    if changes.iter().any(|change| change.what == "device") {
        changes.retain(|change| !change.what.starts_with("sys/"));
    }
    changes
}

type Facts = Vec<(String, String)>;

fn facts_of_side(side: &Side) -> Vec<Facts> {
    side.runs.iter().map(|it| facts(&it.run)).collect()
}

/// The different values of a fact, in order.
fn values(facts: &[Facts], name: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for of_run in facts {
        let value = of_run.iter().find(|(other, _)| other == name).map_or("unknown", |(_, value)| value);
        if !values.iter().any(|other| other == value) {
            values.push(value.to_owned());
        }
    }
    values
}

/// What may make a run faster or slower. Not: its seed, its limits, and how many samples were asked for.
fn facts(run: &RunRecord) -> Facts {
    let environment = &run.environment;
    let (system, cpu) = (&environment.system, &environment.cpu);
    let (memory, filesystem) = (&environment.memory, &environment.filesystem);
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let mut facts: Facts = Vec::new();
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    add("writebench", run.version.clone());
    add("machine", system.hostname.clone());
    add("kernel", format!("{} {}", system.kernel, system.architecture));
    add("distribution", or_none(&system.distribution));
    add("hypervisor", or_none(&system.hypervisor));
    add("processor", or_none(&cpu.model));
    add("CPUs", cpu.available.to_string());
    add("governor", or_none(&cpu.governor));
    add("memory", Bytes(memory.total_bytes).approximate());
    add("memory limit", memory.limit_bytes.map_or("none".to_owned(), |limit| Bytes(limit).approximate()));
    add("target", run.target.clone());
    add("filesystem", format!("{} on {}", filesystem.kind, filesystem.source));
    add("filesystem block", Bytes(filesystem.block_size_bytes).to_string());
    add("mount options", filesystem.mount_options.clone());
    add("device", environment.device.as_ref().map_or("none".to_owned(), device_line));
    add("--verify", run.settings.verify.to_string());
    add("--from", or_none(&run.settings.copy_from));
    for (path, value) in &environment.tunables {
        add(path, value.clone());
    }
    facts
}
