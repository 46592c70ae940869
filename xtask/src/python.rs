//! Python modules for the tests: SciPy computes reference values of crates/stats, ruff and clang-format check
//! printed code.

use std::process::Command;

use writebench_testkit::python_with;

use crate::command::target_directory;
use crate::part::Part;

const MODULES: &[(&str, &str)] = &[("scipy", "240 MB"), ("ruff", "30 MB"), ("clang_format", "5 MB")];

pub(crate) fn missing() -> Vec<Part> {
    let Ok(folder) = target_directory().map(|folder| folder.join("python")) else { return Vec::new() };
    let missing = MODULES.iter().filter(|(module, _)| python_with(module).is_none());
    let part = |&(module, size): &(&str, &'static str)| {
        let mut environment = Command::new("python3");
        environment.args(["-m", "venv"]).arg(&folder);
        let mut install = Command::new(folder.join("bin/python3"));
        install.args(["-m", "pip", "install", "--quiet", "--retries", "1", module]);
        Part { name: module.to_owned(), size, commands: vec![environment, install] }
    };
    missing.map(part).collect()
}
