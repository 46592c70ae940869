use std::fs;

use anyhow::{Context, Result};
use cargo_metadata::camino::Utf8Path;
use cargo_metadata::{Dependency, DependencyKind, Package};

use super::{Finding, finding};

const LIBRARIES: &[&str] = &[
    "direct-io",
    "engine",
    "filesystems",
    "powerloss",
    "model",
    "probe",
    "report",
    "runner",
    "snippets",
    "stats",
    "store",
];

/// Each row is a crate's folder with its permitted imports.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("direct-io", &[]),
    ("model", &[]),
    ("stats", &[]),
    ("engine", &["model", "direct-io"]),
    ("probe", &["model", "direct-io"]),
    ("filesystems", &["model", "direct-io"]),
    ("powerloss", &["filesystems", "model"]),
    ("runner", &["model", "stats", "probe"]),
    ("store", &["model"]),
    ("report", &["model", "stats", "snippets"]),
    ("snippets", &["model"]),
    ("cli", LIBRARIES),
    ("testkit", LIBRARIES),
    (
        "claims",
        &["filesystems", "model", "powerloss", "snippets", "testkit"],
    ),
    ("xtask", &["testkit"]),
    (
        "studies",
        &[
            "claims", "engine", "stats", "model", "runner", "snippets", "testkit",
        ],
    ),
    ("node", &["direct-io"]),
];

/// Finds forbidden imports of a crate, and missing lints.
pub(super) fn broken(package: &Package, path: &str) -> Result<Vec<Finding>> {
    let name = package
        .manifest_path
        .parent()
        .and_then(Utf8Path::file_name)
        .unwrap_or_default();
    let imports: Vec<_> = package.dependencies.iter().filter_map(import).collect();
    let manifest = fs::read_to_string(&package.manifest_path).with_context(|| path.to_owned())?;
    let missing =
        (!takes_lints(&manifest)).then(|| "no `[lints]` with `workspace = true`".to_owned());
    Ok(forbidden(name, &imports)
        .into_iter()
        .chain(missing)
        .map(|what| finding(path, 1, what))
        .collect())
}

fn forbidden(name: &str, imports: &[&str]) -> Vec<String> {
    let Some((_, allowed)) = MAY_IMPORT.iter().find(|(row, _)| *row == name) else {
        return vec![format!(
            "{name} has no row in the import table of xtask and docs"
        )];
    };
    let may = if allowed.is_empty() {
        "no crate of the workspace".to_owned()
    } else {
        allowed.join(", ")
    };
    let forbidden = imports.iter().filter(|import| !allowed.contains(import));
    forbidden
        .map(|import| format!("{name} imports {import}, but may import only {may}"))
        .collect()
}

fn takes_lints(manifest: &str) -> bool {
    manifest.contains("\n[lints]\nworkspace = true\n")
}

/// Tests may use any crate, so their dependencies are none.
fn import(dependency: &Dependency) -> Option<&str> {
    dependency
        .path
        .as_ref()
        .filter(|_| dependency.kind != DependencyKind::Development)?
        .file_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_import_is_found() {
        let wanted = ["store imports stats, but may import only model"];
        assert_eq!(forbidden("store", &["model", "stats"]), wanted);
        assert_eq!(forbidden("model", &["stats"]).len(), 1);
    }

    #[test]
    fn imports_of_the_table_are_fine() {
        assert_eq!(forbidden("runner", &["model", "stats", "probe"]), [""; 0]);
        assert_eq!(forbidden("cli", LIBRARIES), [""; 0]);
    }

    #[test]
    fn only_tools_may_import_the_testkit() {
        for (name, _) in MAY_IMPORT {
            assert_eq!(
                forbidden(name, &["testkit"]).len(),
                usize::from(!["claims", "studies", "xtask"].contains(name)),
                "{name}"
            );
        }
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(forbidden("novel", &[]).len(), 1);
    }

    #[test]
    fn a_manifest_without_lints_is_found() {
        assert!(takes_lints("[package]\n\n[lints]\nworkspace = true\n"));
        for text in [
            "",
            "[lints]\nworkspace = false\n",
            "[lints]\n# workspace = true\n",
            "[lints]\n[a]\nworkspace = true\n",
        ] {
            assert!(!takes_lints(&format!("[package]\n\n{text}")), "{text}");
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
        assert_eq!(import(&dependency("null")), Some("stats"));
    }
}
