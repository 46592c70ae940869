//! Checks that a crate's modules form no circle, and that layers only use those below them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::source::Source;
use super::{Finding, finding};

/// The layers of a crate's sources, from the lowest; each may use those before it.
const FLOORS: &[(&str, &[&[&str]])] =
    &[("crates/report/src", &[&["numbers"], &["sentences"], &["tables", "charts"], &["formats"]])];

/// The files of one crate by module path: `[]` is its root, `["a", "b"]` is `crate::a::b`.
struct Crate {
    modules: BTreeMap<Vec<String>, Source>,
}

/// For each pair of files, the first line where one uses a definition of the other.
type Uses = BTreeMap<(String, String), usize>;

/// All circles, and all uses of an upper layer by a lower one, among the files below a folder `src`.
pub(super) fn tangled(folder: &str, files: &[(String, String)]) -> Result<Vec<Finding>> {
    let uses = Crate::read(folder, files)?.uses();
    let floors = FLOORS.iter().find(|(home, _)| *home == folder);
    let of_floors =
        floors.map(|(_, floors)| [upwards(folder, floors, &uses), missing(folder, floors, files)].concat());
    Ok([circles(&uses), of_floors.unwrap_or_default()].concat())
}

impl Crate {
    fn read(folder: &str, files: &[(String, String)]) -> Result<Self> {
        let (mut modules, mut tests) = (BTreeMap::new(), Vec::<Vec<String>>::new());
        for (path, text) in files {
            let Some(inside) = path.strip_prefix(folder).and_then(|rest| rest.strip_suffix(".rs")) else {
                continue;
            };
            let name = inside.split('/').filter(|word| !["", "lib", "main", "mod"].contains(word));
            let name: Vec<String> = name.map(str::to_owned).collect();
            let source = Source::read(path, text).with_context(|| path.clone())?;
            tests.extend(source.tests.iter().map(|test| [&name[..], std::slice::from_ref(test)].concat()));
            modules.insert(name, source);
        }
        modules.retain(|name, _| !tests.iter().any(|test| name.starts_with(test)));
        Ok(Self { modules })
    }

    fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (name, module) in &self.modules {
            for (words, line) in &module.mentions {
                let definition = self.absolute(name, words).and_then(|path| self.definition(&path, 0));
                // A module may use its parent.
                if let Some((_, other)) = definition.filter(|(whole, _)| !name.starts_with(whole)) {
                    uses.entry((module.path.clone(), other.path.clone())).or_insert(*line);
                }
            }
        }
        uses
    }

    /// The path from the root of the crate; none for external code.
    fn absolute(&self, module: &[String], words: &[String]) -> Option<Vec<String>> {
        let (first, rest) = words.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let above = module.split_last()?.1;
                if rest.first().is_some_and(|word| word == "super") {
                    return self.absolute(above, rest);
                }
                Some([above, rest].concat())
            }
            _ => match self.modules.get(module)?.bindings.get(first) {
                Some(bound) if bound[0] != *first => self.absolute(module, &[bound, rest].concat()),
                _ => Some([module, words].concat())
                    .filter(|path| self.modules.contains_key(&path[..=module.len()])),
            },
        }
    }

    /// The module that defines the path's item, through all aliases; none for a module itself.
    fn definition(&self, path: &[String], depth: usize) -> Option<(&Vec<String>, &Source)> {
        const MOST_NAMES: usize = 8;
        let length = (0..path.len()).rev().find(|&length| self.modules.contains_key(&path[..length]))?;
        if self.modules.contains_key(path) {
            return None;
        }
        let (name, item) = path.split_at(length);
        let (name, module) = self.modules.get_key_value(name)?;
        match module.bindings.get(&item[0]) {
            Some(bound) if depth < MOST_NAMES => {
                let path = [&self.absolute(name, bound)?, &item[1..]].concat();
                self.definition(&path, depth + 1)
            }
            _ => Some((name, module)),
        }
    }
}

/// Each set of files that all depend on each other.
fn circles(uses: &Uses) -> Vec<Finding> {
    let needed = |from: &str| {
        let mut found = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            let next = uses.keys().filter(|(from, _)| from == file).map(|(_, to)| to.as_str());
            open.extend(next.filter(|file| found.insert(*file)).collect::<Vec<_>>());
        }
        found
    };
    let needed: BTreeMap<&str, _> = uses.keys().map(|(file, _)| (file.as_str(), needed(file))).collect();
    let needs = |a: &str, b: &str| needed.get(a).is_some_and(|files| files.contains(b));
    let mut found = Vec::new();
    for (first, files) in &needed {
        let circle: BTreeSet<&str> = files.iter().copied().filter(|file| needs(file, first)).collect();
        if circle.first() == Some(first) {
            let inside = uses.iter().filter(|((a, b), _)| circle.contains(&a[..]) && circle.contains(&b[..]));
            let lines = inside.map(|((from, to), line)| format!("\n  {from}:{line} uses {to}"));
            found.push(finding(first, 1, format!("modules form a circle:{}", lines.collect::<String>())));
        }
    }
    found
}

/// Layers that were renamed, and so would not be checked.
fn missing(folder: &str, floors: &[&[&str]], files: &[(String, String)]) -> Vec<Finding> {
    let is_empty = |room: &str| !files.iter().any(|(path, _)| path.starts_with(&format!("{folder}/{room}")));
    let rooms = floors.concat().into_iter().filter(|room| is_empty(room));
    rooms.map(|room| finding(folder, 1, format!("has no '{room}', which tidy has a floor for"))).collect()
}

/// Uses of an upper layer by a lower one.
fn upwards(folder: &str, floors: &[&[&str]], uses: &Uses) -> Vec<Finding> {
    let floor_of = |path: &str| {
        let room = path.strip_prefix(folder)?.split('/').nth(1)?.trim_end_matches(".rs");
        floors.iter().position(|rooms| rooms.contains(&room))
    };
    let rising =
        uses.iter().filter(|((from, to), _)| floor_of(from).zip(floor_of(to)).is_some_and(|(a, b)| a < b));
    rising.map(|((from, to), line)| finding(from, *line, format!("uses {to}, of an upper floor"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in files of `x/src` with these texts.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> =
            files.iter().map(|(name, text)| (format!("x/src/{name}"), (*text).to_owned())).collect();
        tangled("x/src", &files).unwrap()
    }

    #[test]
    fn two_files_that_name_each_others_items_are_a_circle() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "\nuse crate::b::B;\nstruct A;"),
            ("b.rs", "fn b() -> super::a::A {}\nstruct B;"),
        ];
        let circle = "x/src/a.rs:1: modules form a circle:\n  x/src/a.rs:2 uses x/src/b.rs\n  x/src/b.rs:1 uses x/src/a.rs";
        assert_eq!(found(&files), [circle]);
    }

    #[test]
    fn a_circle_may_go_through_folders_macros_and_groups() {
        let files = [
            ("a/mod.rs", "use crate::{b::{self, Other}, c};\nfn f() { b::g(); }"),
            ("b.rs", "pub fn g() { println!(\"{}\", crate::c::h()); }"),
            ("c.rs", "use super::a::f as other;\npub fn h() {}"),
        ];
        assert_eq!(found(&files).len(), 1);
        assert_eq!(found(&files)[0].matches(" uses ").count(), 3);
    }

    #[test]
    fn a_part_may_use_the_whole_and_the_whole_its_parts() {
        let whole = ("a/mod.rs", "mod b; mod c; pub struct A; use b::B; pub use c::C; fn f(_: B) {}");
        let parts = [whole, ("a/b.rs", "pub struct B(super::A, crate::a::C);"), ("a/c.rs", "pub struct C;")];
        assert_eq!(found(&parts), [""; 0]);
        let among_each_other = [whole, parts[1], ("a/c.rs", "use super::B;\npub struct C(B);")];
        assert_eq!(
            found(&among_each_other),
            [
                "x/src/a/b.rs:1: modules form a circle:\n  x/src/a/b.rs:1 uses x/src/a/c.rs\n  x/src/a/c.rs:1 uses x/src/a/b.rs"
            ]
        );
    }

    #[test]
    fn tests_comments_strings_and_fields_are_no_use() {
        let a = "use crate::b::B;\n#[cfg(test)]\nmod tests { use super::*; }";
        for b in [
            "// crate::a::A\n/// [`crate::a::A`]\nconst T: &str = \"crate::a::A\";",
            "#[cfg(test)]\nmod tests { use crate::a::A; }",
            "fn f() { self.a.A; }",
        ] {
            assert_eq!(found(&[("a.rs", a), ("b.rs", b)]), [""; 0], "{b}");
        }
        let tests = ("b/tests.rs", "use crate::a::A;");
        assert_eq!(found(&[("a.rs", a), ("b/mod.rs", "#[cfg(test)]\nmod tests;"), tests]), [""; 0]);
    }

    #[test]
    fn an_inline_module_is_its_file() {
        let a = ("a.rs", "use crate::b::B; pub struct A;");
        assert_eq!(found(&[a, ("b.rs", "mod inside { fn f(_: super::A) {} }\nstruct A;")]), [""; 0]);
        assert_eq!(found(&[a, ("b.rs", "mod inside { fn f(_: crate::a::A) {} }")]).len(), 1);
    }

    #[test]
    fn an_upper_floor_rests_on_lower_ones_and_never_the_other_way() {
        const FLOORS: &[&[&str]] = &[&["numbers"], &["tables", "charts"]];
        let uses = |from: &str, to: &str| Uses::from([((format!("x/src/{from}"), format!("x/src/{to}")), 7)]);
        let found = upwards("x/src", FLOORS, &uses("numbers/rank.rs", "charts.rs"));
        assert_eq!(found, [finding("x/src/numbers/rank.rs", 7, "uses x/src/charts.rs, of an upper floor")]);
        for (from, to) in
            [("tables/a.rs", "numbers/b.rs"), ("tables/a.rs", "charts/b.rs"), ("numbers/a.rs", "c.rs")]
        {
            assert_eq!(upwards("x/src", FLOORS, &uses(from, to)), [""; 0]);
        }
        let files = ["numbers/rank.rs", "tables.rs"].map(|name| (format!("x/src/{name}"), String::new()));
        let found = missing("x/src", FLOORS, &files);
        assert_eq!(found, [finding("x/src", 1, "has no 'charts', which tidy has a floor for")]);
    }
}
