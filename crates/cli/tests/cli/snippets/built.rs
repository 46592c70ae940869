//! Programs around the printed functions.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use writebench_snippets::Language;
use writebench_testkit::{Need, call};

use crate::program;

/// What a language needs to be compiled or run.
pub(super) fn needs(language: Language) -> Vec<Need> {
    let programs: &[&'static str] = match language {
        Language::C => &["cc"],
        Language::Cpp => &["c++"],
        Language::Rust => &["cargo"],
        Language::Python => &["python3"],
        Language::Node => &["node"],
        Language::Go => &["go"],
        Language::Java => &["javac", "java"],
    };
    programs.iter().map(|name| Need::Program(name)).collect()
}

/// A program that can be run.
pub(super) struct Built {
    // What it was built in.
    _directory: TempDir,
    words: Vec<PathBuf>,
    environment: Vec<(&'static str, PathBuf)>,
}

/// The text of a case's code, or what `writebench code` says instead.
pub(super) fn text(case: &str, language: Language, more: &[&str]) -> Result<Result<String, String>> {
    let words = [&["code", case, "--lang", language.name()], more].concat();
    let ended = program()?.call(&words)?;
    Ok(if ended.code == Some(0) { Ok(ended.stdout) } else { Err(ended.stderr) })
}

impl Built {
    /// The program of a case; none if its language cannot say it.
    pub(super) fn of(case: &str, language: Language, more: &[&str]) -> Result<Option<Self>> {
        match text(case, language, &[&["--main"], more].concat())? {
            Ok(text) => Self::of_text(&text, language).map(Some),
            Err(refusal) => {
                ensure!(refusal.contains("the nearest in") || refusal.contains("cannot be said"), "{refusal}");
                Ok(None)
            }
        }
    }

    fn of_text(text: &str, language: Language) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("writebench-snippet-").tempdir()?;
        let source = |name: &str| -> Result<PathBuf> {
            let path = directory.path().join(name);
            std::fs::write(&path, text)?;
            Ok(path)
        };
        let program = directory.path().join("p");
        let strict = ["-O2", "-Wall", "-Wextra", "-Werror", "-pthread"];
        let mut environment = Vec::new();
        let words = match language {
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
            Language::Rust => vec![of_rust(directory.path(), text)?],
            Language::Go => {
                let mut compiler = Command::new("go");
                compiler.args(["build", "-o"]).arg(&program).arg(source("p.go")?);
                call(compiler.current_dir(&directory).env("GO111MODULE", "off"))?;
                vec![program]
            }
            Language::Java => {
                let classes = directory.path().join("classes");
                call(
                    Command::new("javac")
                        .args(["-Xlint:all", "-Werror", "-d"])
                        .arg(&classes)
                        .arg(source("Main.java")?),
                )?;
                vec!["java".into(), "-Xshare:auto".into(), "-cp".into(), classes, "Main".into()]
            }
            Language::Python => vec!["python3".into(), source("p.py")?],
            Language::Node => {
                environment.push(("NODE_PATH", node_modules()));
                vec!["node".into(), source("p.js")?]
            }
        };
        Ok(Self { _directory: directory, words, environment })
    }

    /// It with two files, in a directory.
    pub(super) fn command(&self, directory: &Path, source: &Path, target: &Path) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg(source).arg(target).current_dir(directory);
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).env("LC_ALL", "C");
        command
    }

    /// Its end, with those files.
    pub(super) fn output(&self, directory: &Path, source: &Path, target: &Path) -> Result<Output> {
        self.command(directory, source, target).output().context("start the program")
    }
}

/// A program with rustix and libc. All are built in one directory, so that these are built once.
fn of_rust(directory: &Path, text: &str) -> Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("snippet{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snippets");
    std::fs::create_dir(directory.join("src"))?;
    std::fs::write(directory.join("src/main.rs"), text)?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nlibc = \"0.2\"\n\
         rustix = {{ version = \"1.1\", features = [\"event\", \"fs\", \"mm\", \"param\", \"pipe\", \"process\", \"time\"] }}\n"
    );
    std::fs::write(directory.join("Cargo.toml"), manifest)?;
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"), directory.join("Cargo.lock"))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--offline", "--quiet"]).current_dir(directory);
    call(cargo.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", "-D warnings"))?;
    Ok(target.join("release").join(name))
}

/// Where Node finds `@writebench/direct-io`.
fn node_modules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/node/node_modules")
}
