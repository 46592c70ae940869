//! Printing is for the programs: a library hands its words to its caller.

use super::Finding;
use super::code::{has_word, without_tests};

const MACROS: &[&str] = &["println!", "eprintln!", "print!", "eprint!", "dbg!"];

/// Crates whose code may print.
const PROGRAMS: &[&str] = &["crates/cli/", "xtask/"];

/// Files that are run by developers, or speak to cargo by printing.
const EXEMPT: &[&str] = &["/tests/", "/benches/", "/examples/", "/build.rs"];

/// Printing macros in code of the libraries, tests aside.
pub(super) fn outside_the_programs(path: &str, text: &str) -> Vec<Finding> {
    let program = PROGRAMS.iter().any(|folder| path.starts_with(folder));
    if !path.ends_with(".rs") || program || EXEMPT.iter().any(|part| path.contains(part)) {
        return Vec::new();
    }
    let code = without_tests(text);
    let printing = |line: &str| MACROS.iter().copied().find(|name| has_word(line, name));
    let found = code.lines().enumerate().filter_map(|(index, line)| Some((index + 1, printing(line)?)));
    found.map(|(line, name)| Finding::new(path, line, format!("{name} outside crates/cli and xtask"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_prints_is_found() {
        let found = outside_the_programs("crates/model/src/case.rs", "fn f() {\n    println!(\"x\");\n}\n");
        let what = "println! outside crates/cli and xtask";
        assert_eq!(found, [Finding::new("crates/model/src/case.rs", 2, what)]);
        assert_eq!(outside_the_programs("crates/model/src/case.rs", "x = dbg!(y);").len(), 1);
    }

    #[test]
    fn programs_tests_and_examples_in_comments_may_print() {
        let text = "fn f() { println!(\"x\") }";
        for path in ["crates/cli/src/main.rs", "xtask/src/main.rs", "crates/engine/tests/a.rs", "docs/a.md"] {
            assert_eq!(outside_the_programs(path, text), []);
        }
        let text = "/// println!()\n#[cfg(test)]\nmod tests { fn f() { eprintln!(\"x\") } }";
        assert_eq!(outside_the_programs("crates/model/src/case.rs", text), []);
    }

    #[test]
    fn a_longer_macro_is_another() {
        assert_eq!(outside_the_programs("crates/model/src/case.rs", "my_println!(x); reprint!(y);"), []);
    }
}
