use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::source::Source;
use super::{Finding, finding};

/// A crate's folder of sources comes with its layers, from the lowest.
type Layers = (&'static str, &'static [&'static [&'static str]]);

const LAYERS: &[Layers] = &[(
    "crates/report/src",
    &[
        &["numbers"],
        &["sentences"],
        &["tables", "charts"],
        &["formats"],
    ],
)];

/// `[]` is the crate's root, `["a", "b"]` is `crate::a::b`.
type ModulePath = [String];

struct Crate {
    modules: BTreeMap<Vec<String>, Source>,
}

/// A pair of modules has the line where the first one names a definition of the other first.
type Uses<'c> = BTreeMap<(&'c ModulePath, &'c ModulePath), usize>;

pub(super) fn tangled(folder: &str, files: &[(String, String)]) -> Result<Vec<Finding>> {
    let modules = Crate::read(folder, files)?;
    let uses = modules.uses();
    let mut found = modules.cycles(&uses);
    for layers in LAYERS.iter().filter(|(home, _)| *home == folder) {
        found.extend(modules.misplaced(layers, &uses));
    }
    Ok(found)
}

impl Crate {
    fn read(folder: &str, files: &[(String, String)]) -> Result<Self> {
        let mut modules = BTreeMap::new();
        let mut tests = Vec::<Vec<String>>::new();
        for (path, text) in files {
            let Some(inside) = path
                .strip_prefix(folder)
                .and_then(|rest| rest.strip_suffix(".rs"))
            else {
                continue;
            };
            let name = inside
                .split('/')
                .filter(|word| !["", "lib", "main", "mod"].contains(word));
            let name: Vec<String> = name.map(str::to_owned).collect();
            let source = Source::read(path, text).with_context(|| path.clone())?;
            tests.extend(
                source
                    .tests
                    .iter()
                    .map(|test| [&name[..], std::slice::from_ref(test)].concat()),
            );
            modules.insert(name, source);
        }
        modules.retain(|name, _| !tests.iter().any(|test| name.starts_with(test)));
        Ok(Self { modules })
    }

    fn uses(&self) -> Uses<'_> {
        let mut uses = Uses::new();
        for (name, module) in &self.modules {
            for (words, line) in &module.mentions {
                let definition = self
                    .absolute(name, words)
                    .and_then(|path| self.definition(&path, 0));
                if let Some((other, _)) = definition.filter(|(whole, _)| !name.starts_with(whole)) {
                    uses.entry((name, other)).or_insert(*line);
                }
            }
        }
        uses
    }

    /// Finds uses of a neighbour that needs this module in turn. A module includes its folder.
    ///
    /// This also finds cycles of files. Two of them are in different children of their innermost common module,
    /// because a use of that module does not count.
    fn cycles(&self, uses: &Uses<'_>) -> Vec<Finding> {
        let edges: BTreeSet<_> = uses
            .keys()
            .filter_map(|(from, to)| neighbours(from, to))
            .collect();
        let mut found = Vec::new();
        for ((from, to), line) in uses {
            if let Some((this, other)) = neighbours(from, to)
                && needs(&edges, other, this)
            {
                let what = format!(
                    "uses {}, but {} needs {}",
                    self.path(to),
                    other.join("::"),
                    this.join("::")
                );
                found.push(finding(self.path(from), *line, format!("{what}: a cycle")));
            }
        }
        found
    }

    fn path(&self, module: &ModulePath) -> &str {
        &self.modules[module].path
    }

    /// Finds uses of an upper layer, and renamed layers, which would not be checked.
    fn misplaced(&self, (folder, layers): &Layers, uses: &Uses<'_>) -> Vec<Finding> {
        let mut found = Vec::new();
        for (&(from, to), line) in uses {
            if let (Some(lower), Some(upper)) = (height(layers, from), height(layers, to))
                && lower < upper
            {
                let what = format!("uses {}, of an upper layer", self.path(to));
                found.push(finding(self.path(from), *line, what));
            }
        }
        for layer in layers.concat() {
            if !self.modules.contains_key(&[layer.to_owned()][..]) {
                found.push(finding(
                    folder,
                    1,
                    format!("has no module '{layer}', a layer of tidy/modules.rs"),
                ));
            }
        }
        found
    }

    /// External code has no path.
    fn absolute(&self, module: &[String], words: &[String]) -> Option<Vec<String>> {
        let (first, rest) = words.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let levels = words.iter().take_while(|word| *word == "super").count();
                Some(
                    [
                        &module[..module.len().checked_sub(levels)?],
                        &words[levels..],
                    ]
                    .concat(),
                )
            }
            _ => match self.modules.get(module)?.bindings.get(first) {
                Some(bound) if bound[0] != *first => self.absolute(module, &[bound, rest].concat()),
                _ => Some([module, words].concat())
                    .filter(|path| self.modules.contains_key(&path[..=module.len()])),
            },
        }
    }

    /// Follows aliases. A module itself is no definition.
    fn definition(&self, path: &[String], depth: usize) -> Option<(&Vec<String>, &Source)> {
        const MOST_NAMES: usize = 8;
        let length = (0..path.len())
            .rev()
            .find(|&length| self.modules.contains_key(&path[..length]))?;
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

/// A module needs what it uses, and what that needs in turn.
fn needs(
    edges: &BTreeSet<(&ModulePath, &ModulePath)>,
    module: &ModulePath,
    goal: &ModulePath,
) -> bool {
    let mut open = vec![module];
    let mut found = BTreeSet::new();
    while let Some(module) = open.pop() {
        for (_, to) in edges.iter().filter(|(from, _)| *from == module) {
            if found.insert(*to) {
                open.push(to);
            }
        }
    }
    found.contains(goal)
}

/// Modules of no layer have no height.
fn height(layers: &[&[&str]], module: &ModulePath) -> Option<usize> {
    let top = module.first()?;
    layers
        .iter()
        .position(|layer| layer.contains(&top.as_str()))
}

/// Returns the children of the innermost common module on the paths to both. None if one is that module.
fn neighbours<'m>(
    from: &'m ModulePath,
    to: &'m ModulePath,
) -> Option<(&'m ModulePath, &'m ModulePath)> {
    let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    Some((from.get(..=common)?, to.get(..=common)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(name, text)| (format!("x/src/{name}"), (*text).to_owned()))
            .collect();
        tangled("x/src", &files).unwrap()
    }

    #[test]
    fn two_files_that_name_each_others_items_are_a_cycle() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "\nuse crate::b::B;\nstruct A;"),
            ("b.rs", "fn b() -> super::a::A {}\nstruct B;"),
        ];
        let there = "x/src/a.rs:2: uses x/src/b.rs, but b needs a: a cycle";
        let back = "x/src/b.rs:1: uses x/src/a.rs, but a needs b: a cycle";
        assert_eq!(found(&files), [there, back]);
    }

    #[test]
    fn a_cycle_is_found_through_folders_macros_and_groups() {
        let files = [
            (
                "a/mod.rs",
                "use crate::{b::{self, Other}, c};\nfn f() { b::g(); }",
            ),
            ("b.rs", "pub fn g() { println!(\"{}\", crate::c::h()); }"),
            ("c.rs", "use super::a::f as other;\npub fn h() {}"),
        ];
        assert_eq!(found(&files).len(), 3);
    }

    #[test]
    fn a_part_may_use_the_whole_and_the_whole_its_parts() {
        let whole = (
            "a/mod.rs",
            "mod b; mod c; pub struct A; use b::B; pub use c::C; fn f(_: B) {}",
        );
        let parts = [
            whole,
            ("a/b.rs", "pub struct B(super::A, crate::a::C);"),
            ("a/c.rs", "pub struct C;"),
        ];
        assert_eq!(found(&parts), [""; 0]);
        let among_each_other = [
            whole,
            parts[1],
            ("a/c.rs", "use super::B;\npub struct C(B);"),
        ];
        let there = "x/src/a/b.rs:1: uses x/src/a/c.rs, but a::c needs a::b: a cycle";
        let back = "x/src/a/c.rs:1: uses x/src/a/b.rs, but a::b needs a::c: a cycle";
        assert_eq!(found(&among_each_other), [there, back]);
    }

    #[test]
    fn tests_comments_strings_and_fields_do_not_count_as_uses() {
        let a = "use crate::b::B;\n#[cfg(test)]\nmod tests { use super::*; }";
        for b in [
            "// crate::a::A\n/// [`crate::a::A`]\nconst T: &str = \"crate::a::A\";",
            "#[cfg(test)]\nmod tests { use crate::a::A; }",
            "fn f() { self.a.A; }",
        ] {
            assert_eq!(found(&[("a.rs", a), ("b.rs", b)]), [""; 0], "{b}");
        }
        let tests = ("b/tests.rs", "use crate::a::A;");
        assert_eq!(
            found(&[("a.rs", a), ("b/mod.rs", "#[cfg(test)]\nmod tests;"), tests]),
            [""; 0]
        );
    }

    #[test]
    fn an_inline_module_is_its_file() {
        let a = ("a.rs", "use crate::b::B; pub struct A;");
        assert_eq!(
            found(&[
                a,
                ("b.rs", "mod inside { fn f(_: super::A) {} }\nstruct A;")
            ]),
            [""; 0]
        );
        assert_eq!(
            found(&[a, ("b.rs", "mod inside { fn f(_: crate::a::A) {} }")]).len(),
            2
        );
    }

    #[test]
    fn a_folder_and_its_file_are_one_module_to_their_neighbours() {
        let outside = ("c.rs", "pub struct C(crate::a::d::D);");
        for whole in ["a.rs", "a/mod.rs"] {
            let files = [
                (whole, "pub mod b; pub mod d;"),
                ("a/b.rs", "\nuse crate::c::C;"),
                ("a/d.rs", "pub struct D;"),
                outside,
            ];
            let there = "x/src/a/b.rs:2: uses x/src/c.rs, but c needs a: a cycle";
            let back = "x/src/c.rs:1: uses x/src/a/d.rs, but a needs c: a cycle";
            assert_eq!(
                found(&files),
                [there, back],
                "no file is in a cycle, but the folder is"
            );
        }
        let inside = [
            ("a.rs", "pub mod d;"),
            ("a/d.rs", "use super::A;\npub struct D;"),
            outside,
        ];
        assert_eq!(found(&inside), [""; 0]);
    }

    #[test]
    fn folders_at_any_depth_are_modules_to_their_neighbours() {
        let files = [
            ("a/b/one.rs", "use crate::a::c::two::Two;"),
            ("a/b/other.rs", "pub struct Other;"),
            ("a/c/two.rs", "pub struct Two;"),
            ("a/c/more.rs", "use crate::a::b::other::Other;"),
        ];
        assert_eq!(found(&files).len(), 2);
        assert_eq!(found(&files[..3]), [""; 0]);
    }

    #[test]
    fn a_layer_uses_only_lower_ones() {
        const LAYERS: Layers = ("x/src", &[&["numbers"], &["tables", "charts"]]);
        let found = |from: &str, to: &str| {
            let own = ["numbers", "tables", "charts"]
                .map(|name| (format!("x/src/{name}/mod.rs"), String::new()));
            let files = [
                (
                    format!("x/src/{from}.rs"),
                    format!("\nuse crate::{}::Item;", to.replace('/', "::")),
                ),
                (format!("x/src/{to}.rs"), String::new()),
            ];
            let modules = Crate::read("x/src", &[&own[..], &files].concat()).unwrap();
            modules.misplaced(&LAYERS, &modules.uses())
        };
        let what = "uses x/src/charts/a.rs, of an upper layer";
        assert_eq!(
            found("numbers/rank", "charts/a"),
            [finding("x/src/numbers/rank.rs", 2, what)]
        );
        for (from, to) in [
            ("tables/a", "numbers/b"),
            ("tables/a", "charts/b"),
            ("numbers/a", "c"),
        ] {
            assert_eq!(found(from, to), [""; 0]);
        }
        let files =
            ["numbers/mod.rs", "tables.rs"].map(|name| (format!("x/src/{name}"), String::new()));
        let modules = Crate::read("x/src", &files).unwrap();
        let missing = "has no module 'charts', a layer of tidy/modules.rs";
        assert_eq!(
            modules.misplaced(&LAYERS, &Uses::new()),
            [finding("x/src", 1, missing)]
        );
    }
}
