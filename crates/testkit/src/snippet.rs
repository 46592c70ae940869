//! Programs made of printed code.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};
use writebench_snippets::Language;

use crate::call::call;
use crate::trial::node_package;

/// A program that can be started.
pub struct Compiled {
    /// The words of the command line, before those of the files.
    pub words: Vec<String>,
}

impl Compiled {
    /// Compiles a whole program in a directory that is its own, with all warnings as errors.
    ///
    /// # Errors
    /// The program does not compile, or there is no compiler.
    pub fn of(text: &str, language: Language, directory: &Path) -> Result<Self> {
        let source = |name: &str| -> Result<PathBuf> {
            let path = directory.join(name);
            std::fs::write(&path, text)?;
            Ok(path)
        };
        let program = directory.join("p");
        let strict = ["-O2", "-Wall", "-Wextra", "-Werror", "-pthread"];
        let words: Vec<PathBuf> = match language {
            Language::C => {
                let mut compiler = Command::new("cc");
                compiler.args(strict).arg("-std=gnu11").arg(source("p.c")?).arg("-o").arg(&program);
                call(compiler.arg("-luring"))?;
                vec![program]
            }
            Language::Cpp => {
                let mut compiler = Command::new("c++");
                compiler.args(strict).arg("-std=c++17").arg(source("p.cpp")?).arg("-o").arg(&program);
                call(compiler.arg("-luring"))?;
                vec![program]
            }
            Language::Rust => vec![of_rust(directory, text)?],
            Language::Go => {
                let mut compiler = Command::new("go");
                compiler.args(["build", "-o"]).arg(&program).arg(source("p.go")?);
                call(compiler.current_dir(directory).env("GO111MODULE", "off"))?;
                vec![program]
            }
            Language::Java => {
                let classes = directory.join("classes");
                let mut compiler = Command::new("javac");
                compiler.args(["-Xlint:all", "-Werror", "-d"]).arg(&classes).arg(source("Main.java")?);
                call(&mut compiler)?;
                vec!["java".into(), "-Xshare:auto".into(), "-cp".into(), classes, "Main".into()]
            }
            Language::Python => vec!["python3".into(), source("p.py")?],
            Language::Node => {
                let modules = directory.join("node_modules/@writebench");
                std::fs::create_dir_all(&modules)?;
                std::os::unix::fs::symlink(node_package(), modules.join("direct-io"))?;
                vec!["node".into(), source("p.js")?]
            }
        };
        let text = |word: PathBuf| word.into_os_string().into_string().ok().context("a path in UTF-8");
        Ok(Self { words: words.into_iter().map(text).collect::<Result<_>>()? })
    }
}

/// A program with rustix and libc. All are built in one directory, so that these are built once.
fn of_rust(directory: &Path, text: &str) -> Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("snippet{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = root.join("target/snippets");
    std::fs::create_dir(directory.join("src"))?;
    std::fs::write(directory.join("src/main.rs"), text)?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nlibc = \"0.2\"\n\
         rustix = {{ version = \"1.1\", features = [\"event\", \"fs\", \"mm\", \"param\", \"pipe\", \"process\", \"time\"] }}\n"
    );
    std::fs::write(directory.join("Cargo.toml"), manifest)?;
    std::fs::copy(root.join("Cargo.lock"), directory.join("Cargo.lock"))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--offline", "--quiet"]).current_dir(directory);
    call(cargo.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", "-D warnings"))?;
    // Another process may build a program of the same name.
    let program = directory.join("p");
    std::fs::copy(target.join("release").join(name), &program)?;
    Ok(program)
}
