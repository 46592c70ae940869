//! Every crate takes the lints of the workspace.

use super::Finding;

/// A manifest without `[lints] workspace = true`.
pub(super) fn without_lints(path: &str, manifest: &str) -> Vec<Finding> {
    let mut table = "";
    for line in manifest.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if line.starts_with('[') {
            table = line;
        }
        let setting: String = line.split_whitespace().collect();
        if (table == "[lints]" && setting == "workspace=true")
            || (table.is_empty() && setting == "lints.workspace=true")
        {
            return Vec::new();
        }
    }
    vec![Finding::new(path, manifest.lines().count().max(1), "no `[lints] workspace = true`")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_takes_no_lints_is_found() {
        assert_eq!(without_lints("Cargo.toml", "[package]\nname = \"a\"\n")[0].line, 2);
        assert_eq!(without_lints("Cargo.toml", "[lints]\nworkspace = false\n").len(), 1);
        assert_eq!(without_lints("Cargo.toml", "[lints]\n# workspace = true\n").len(), 1);
        assert_eq!(without_lints("Cargo.toml", "[lints]\n[dependencies.a]\nworkspace = true\n").len(), 1);
    }

    #[test]
    fn a_manifest_that_takes_them_is_fine() {
        assert_eq!(without_lints("Cargo.toml", "[package]\n[lints]\nworkspace = true # all\n"), []);
    }
}
