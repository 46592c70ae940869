//! Which of our crates may import what others wrote.

use super::Finding;
use super::imports::Member;

/// A package that is held in a few crates.
const HELD: &[(&str, &[&str])] = &[("rusqlite", &["store"]), ("anyhow", &["cli", "xtask", "testkit"])];

/// Imports of a held package by a crate that it is not held in.
pub(super) fn forbidden(member: &Member) -> Vec<Finding> {
    let mut found = Vec::new();
    for import in &member.imports {
        let held = HELD.iter().find(|(package, _)| *package == import.name);
        if let Some((package, homes)) = held.filter(|(_, homes)| !homes.contains(&member.name.as_str())) {
            let what = format!("{} imports {package}, which is for {} only", member.name, homes.join(", "));
            found.push(Finding::new(&member.manifest_path, member.line_of(import), what));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::imports::tests::member;
    use super::*;

    #[test]
    fn a_held_package_elsewhere_is_found() {
        let what = "report imports rusqlite, which is for store only";
        let found = forbidden(&member("report", &["+serde", "+rusqlite"]));
        assert_eq!(found, [Finding::new("crates/report/Cargo.toml", 3, what)]);
        assert_eq!(forbidden(&member("engine", &["+anyhow"])).len(), 1);
    }

    #[test]
    fn a_held_package_at_home_and_any_other_are_fine() {
        assert_eq!(forbidden(&member("store", &["+rusqlite", "+serde"])), []);
        assert_eq!(forbidden(&member("cli", &["+anyhow"])), []);
    }
}
