use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::camino::Utf8Path;
use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};

use super::{Finding, finding};

const LIBRARIES: &[&str] =
    &["direct-io", "engine", "filesystems", "model", "probe", "report", "runner", "snippets", "stats", "store"];

/// Each crate's folder, and its permitted imports.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("direct-io", &[]),
    ("model", &[]),
    ("stats", &[]),
    ("engine", &["model", "direct-io"]),
    ("probe", &["model", "direct-io"]),
    ("filesystems", &["model", "direct-io"]),
    ("runner", &["model", "stats", "probe"]),
    ("store", &["model"]),
    ("report", &["model", "stats", "snippets"]),
    ("snippets", &["model"]),
    ("cli", LIBRARIES),
    ("testkit", LIBRARIES),
    ("xtask", &["stats", "model", "snippets", "testkit"]),
    ("node", &["direct-io"]),
];

#[derive(Debug)]
pub(super) struct Member {
    name: String,
    manifest_path: String,
    manifest: String,
    /// Folders of imported workspace crates, except for tests.
    imports: Vec<String>,
}

impl Member {
    pub(super) fn forbidden_imports(&self) -> Vec<Finding> {
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == self.name) else {
            let what = format!("{} has no row in the import table of xtask and docs", self.name);
            return vec![finding(&self.manifest_path, 1, what)];
        };
        let may = if allowed.is_empty() { "nothing of ours".to_owned() } else { allowed.join(", ") };
        let forbidden = self.imports.iter().filter(|import| !allowed.contains(&import.as_str()));
        forbidden
            .map(|import| {
                let what = format!("{} imports {import}; it may import {may}", self.name);
                finding(&self.manifest_path, self.line_of(import), what)
            })
            .collect()
    }

    pub(super) fn missing_lints(&self) -> Option<Finding> {
        let takes_them = self.manifest.contains("\n[lints]\nworkspace = true\n");
        (!takes_them).then(|| finding(&self.manifest_path, 1, "no `[lints]` with `workspace = true`"))
    }

    pub(super) fn sources(&self) -> String {
        self.manifest_path.replace("Cargo.toml", "src")
    }

    fn line_of(&self, import: &str) -> usize {
        let key = |line: &str| {
            line.split(['.', ' ', '=']).next().map(|key| key.trim_start_matches("writebench-") == import)
        };
        self.manifest.lines().position(|line| key(line) == Some(true)).map_or(1, |index| index + 1)
    }
}

pub(super) fn members(metadata: &Metadata, root: &Path) -> Result<Vec<Member>> {
    let member = |package: &Package| {
        let path = &package.manifest_path;
        Ok(Member {
            name: path.parent().and_then(Utf8Path::file_name).unwrap_or_default().to_owned(),
            manifest_path: path.strip_prefix(root).unwrap_or(path).to_string(),
            manifest: fs::read_to_string(path).with_context(|| format!("reading {path}"))?,
            imports: package.dependencies.iter().filter_map(import).collect(),
        })
    };
    metadata.workspace_packages().into_iter().map(member).collect()
}

fn import(dependency: &Dependency) -> Option<String> {
    let path = dependency.path.as_ref().filter(|_| dependency.kind != DependencyKind::Development)?;
    path.file_name().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, imports: &[&str]) -> Member {
        let lines = imports.iter().map(|import| format!("writebench-{import}.workspace = true\n"));
        let manifest = format!("[dependencies]\nserde.workspace = true\n{}", lines.collect::<String>());
        let imports = imports.iter().map(|&import| import.to_owned()).collect();
        Member { name: name.to_owned(), manifest_path: format!("crates/{name}/Cargo.toml"), manifest, imports }
    }

    #[test]
    fn a_forbidden_import_is_found() {
        let found = member("store", &["model", "stats"]).forbidden_imports();
        let what = "store imports stats; it may import model";
        assert_eq!(found, [finding("crates/store/Cargo.toml", 4, what)]);
        assert_eq!(member("model", &["stats"]).forbidden_imports().len(), 1);
    }

    #[test]
    fn imports_of_the_table_are_fine() {
        assert_eq!(member("runner", &["model", "stats", "probe"]).forbidden_imports(), [""; 0]);
        assert_eq!(member("cli", LIBRARIES).forbidden_imports(), [""; 0]);
    }

    #[test]
    fn only_tools_may_import_the_testkit() {
        for (name, _) in MAY_IMPORT {
            let findings = usize::from(*name != "xtask");
            assert_eq!(member(name, &["testkit"]).forbidden_imports().len(), findings, "{name}");
        }
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(member("novel", &[]).forbidden_imports().len(), 1);
    }

    #[test]
    fn a_manifest_without_lints_is_found() {
        let with = |text: &str| Member { manifest: format!("[package]\n\n{text}"), ..member("store", &[]) };
        assert_eq!(with("[lints]\nworkspace = true\n").missing_lints(), None);
        for text in [
            "",
            "[lints]\nworkspace = false\n",
            "[lints]\n# workspace = true\n",
            "[lints]\n[a]\nworkspace = true\n",
        ] {
            assert!(with(text).missing_lints().is_some(), "{text}");
        }
    }

    #[test]
    fn a_dependency_of_tests_is_not_an_import() {
        let dependency = |kind: &str| {
            let text = format!(
                r#"{{"name":"writebench-stats","req":"*","kind":{kind},"optional":false,
                "uses_default_features":true,"features":[],"path":"/w/crates/stats"}}"#
            );
            serde_json::from_str::<Dependency>(&text).unwrap()
        };
        assert_eq!(import(&dependency("\"dev\"")), None);
        assert_eq!(import(&dependency("null")).as_deref(), Some("stats"));
    }
}
