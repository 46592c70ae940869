//! Which of our crates may import which: data flows one way.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{Dependency, DependencyKind, Metadata};

use super::Finding;

/// The libraries, all of which the program may import.
const LIBRARIES: &[&str] =
    &["direct-io", "engine", "filesystems", "model", "probe", "report", "runner", "stats", "store"];

/// A crate, by its folder, and what it may import.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("direct-io", &[]),
    ("model", &[]),
    ("stats", &[]),
    ("engine", &["model", "direct-io"]),
    ("probe", &["model", "direct-io"]),
    ("filesystems", &["model", "direct-io"]),
    ("runner", &["model", "stats", "probe"]),
    ("store", &["model"]),
    ("report", &["model", "stats"]),
    ("cli", LIBRARIES),
    ("testkit", LIBRARIES),
    ("xtask", &["stats", "model", "testkit"]),
    ("node", &["direct-io"]),
];

/// A crate of the workspace.
#[derive(Debug)]
pub(super) struct Member {
    /// The name of its folder.
    pub(super) name: String,
    /// The path of its manifest, relative to the root.
    pub(super) manifest_path: String,
    /// The manifest's text.
    pub(super) manifest: String,
    /// What it imports, other than for its tests.
    pub(super) imports: Vec<Import>,
}

/// Something that a crate imports.
#[derive(Debug)]
pub(super) struct Import {
    /// The folder's name for one of ours, the package's name for any other.
    pub(super) name: String,
    /// What it is called in the manifest.
    pub(super) key: String,
    /// Whether it is one of ours.
    pub(super) is_ours: bool,
}

/// Imports that the table does not have.
pub(super) fn forbidden(member: &Member) -> Vec<Finding> {
    let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == member.name) else {
        let what = format!("{} has no row in the import table of xtask and docs", member.name);
        return vec![Finding::new(&member.manifest_path, 1, what)];
    };
    let ours = member.imports.iter().filter(|import| import.is_ours);
    ours.filter(|import| !allowed.contains(&import.name.as_str()))
        .map(|import| {
            let may = if allowed.is_empty() { "nothing of ours".to_owned() } else { allowed.join(", ") };
            let what = format!("{} imports {}; it may import {may}", member.name, import.name);
            Finding::new(&member.manifest_path, member.line_of(import), what)
        })
        .collect()
}

impl Member {
    /// The manifest's line that imports it, from 1.
    pub(super) fn line_of(&self, import: &Import) -> usize {
        let is_key = |line: &str| {
            let rest = line.trim_start().strip_prefix(&import.key);
            rest.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
        };
        self.manifest.lines().position(is_key).map_or(1, |index| index + 1)
    }
}

/// The crates of the workspace, as cargo sees them.
pub(super) fn members(metadata: &Metadata, root: &Path) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for package in metadata.workspace_packages() {
        let path = package.manifest_path.as_std_path();
        members.push(Member {
            name: folder_name(path.parent().unwrap_or(root)),
            manifest_path: path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned(),
            manifest: fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?,
            imports: package.dependencies.iter().filter_map(import).collect(),
        });
    }
    Ok(members)
}

/// Tests may import what they like.
fn import(dependency: &Dependency) -> Option<Import> {
    if dependency.kind == DependencyKind::Development {
        return None;
    }
    let folder = dependency.path.as_ref().map(|path| folder_name(path.as_std_path()));
    Some(Import {
        is_ours: folder.is_some(),
        name: folder.unwrap_or_else(|| dependency.name.clone()),
        key: dependency.rename.clone().unwrap_or_else(|| dependency.name.clone()),
    })
}

fn folder_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A crate that imports what is written as `name` (one of ours) or `+name` (another's).
    pub(crate) fn member(name: &str, imports: &[&str]) -> Member {
        let import = |text: &&str| Import {
            name: text.trim_start_matches('+').to_owned(),
            key: text.trim_start_matches('+').to_owned(),
            is_ours: !text.starts_with('+'),
        };
        let imports: Vec<_> = imports.iter().map(import).collect();
        let lines = imports.iter().map(|import| format!("{}.workspace = true\n", import.key));
        let manifest = format!("[dependencies]\n{}", lines.collect::<String>());
        Member { name: name.to_owned(), manifest_path: format!("crates/{name}/Cargo.toml"), manifest, imports }
    }

    #[test]
    fn an_import_against_the_flow_is_found_on_its_line() {
        let found = forbidden(&member("store", &["model", "stats"]));
        let what = "store imports stats; it may import model";
        assert_eq!(found, [Finding::new("crates/store/Cargo.toml", 3, what)]);
        assert_eq!(forbidden(&member("model", &["stats"])).len(), 1);
    }

    #[test]
    fn imports_of_the_table_and_of_others_are_fine() {
        assert_eq!(forbidden(&member("runner", &["model", "stats", "probe", "+serde"])), []);
        assert_eq!(forbidden(&member("cli", LIBRARIES)), []);
    }

    #[test]
    fn only_tools_may_import_the_testkit() {
        for (name, _) in MAY_IMPORT {
            let findings = usize::from(*name != "xtask");
            assert_eq!(forbidden(&member(name, &["testkit"])).len(), findings, "{name}");
        }
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(forbidden(&member("novel", &[])).len(), 1);
    }

    #[test]
    fn a_dependency_of_tests_is_not_an_import() {
        let dependency = |kind: &str| {
            let text = format!(
                r#"{{"name":"writebench-stats","req":"*","kind":{kind},"optional":false,
                "uses_default_features":true,"features":[],"rename":"stats","path":"/w/crates/stats"}}"#
            );
            serde_json::from_str::<Dependency>(&text).unwrap()
        };
        assert!(import(&dependency("\"dev\"")).is_none());
        let import = import(&dependency("null")).unwrap();
        assert_eq!((import.name.as_str(), import.key.as_str(), import.is_ours), ("stats", "stats", true));
    }
}
