use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_snippets::Language;

use crate::call::call;
use crate::java;
use crate::python::system_python;
use crate::trial::node_package;

const STRICT: &[&str] = &[
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-Werror",
    "-pthread",
];
const CPP: &str = "-std=c++17";
/// Some warnings need optimization.
const TESTED: &str = "-O1";

/// Programs compile faster with less optimization.
#[derive(Clone, Copy)]
pub enum Purpose {
    /// A missing include of C++ is not detected.
    Test,
    Measurement,
}

/// Returns a command line without the files. All warnings are errors.
pub fn compiled(
    text: &str,
    language: Language,
    directory: &Path,
    purpose: Purpose,
) -> Result<Vec<String>> {
    let source = |name: &str| -> Result<PathBuf> {
        let path = directory.join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    };
    let native = |compiler: &str,
                  name: &str,
                  options: &[&str],
                  libraries: &[&str]|
     -> Result<Vec<PathBuf>> {
        let (mut command, program) = (Command::new(compiler), directory.join("p"));
        command
            .args(options)
            .arg("-o")
            .arg(&program)
            .arg(source(name)?)
            .args(libraries);
        call(command.current_dir(directory).env("GO111MODULE", "off"))?;
        Ok(vec![program])
    };
    let (optimized, of_rust) = match purpose {
        Purpose::Test => (TESTED, "opt-level=0"),
        Purpose::Measurement => ("-O2", "opt-level=1"),
    };
    let gcc = |compiler: &str, name: &str, options: &[&str]| {
        native(
            compiler,
            name,
            &[&[optimized], STRICT, options].concat(),
            &["-luring", "-lm"],
        )
    };
    let words = match language {
        Language::C => gcc("cc", "p.c", &["-std=gnu11"])?,
        Language::Cpp => match purpose {
            Purpose::Test => gcc("c++", "p.cpp", &[CPP, "-include", precompiled_headers()?])?,
            Purpose::Measurement => gcc("c++", "p.cpp", &[CPP])?,
        },
        Language::Rust => {
            let libraries = rust_libraries()?;
            let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
            let options = [
                "--edition",
                "2024",
                "-C",
                of_rust,
                "-C",
                "strip=symbols",
                "-D",
                "warnings",
            ];
            native("rustc", "p.rs", &options, &libraries)?
        }
        Language::Go => native("go", "p.go", &["build", "-ldflags=-s -w"], &[])?,
        Language::Java => {
            let classes = directory.join("classes");
            let source = source("Main.java")?;
            let (to, from) = classes
                .to_str()
                .zip(source.to_str())
                .context("paths in UTF-8")?;
            java::compile(&["-Xlint:all", "-Werror", "-d", to, from])?;
            vec![
                "java".into(),
                "-Xshare:auto".into(),
                "-cp".into(),
                classes,
                "Main".into(),
            ]
        }
        // Without the modules of the machine, which take most of the start.
        Language::Python => vec![system_python().into(), "-S".into(), source("p.py")?],
        Language::Node => {
            let modules = directory.join("node_modules/@writebench");
            std::fs::create_dir_all(&modules)?;
            std::os::unix::fs::symlink(node_package(), modules.join("direct-io"))?;
            vec!["node".into(), source("p.js")?]
        }
    };
    let text = |word: PathBuf| {
        word.into_os_string()
            .into_string()
            .ok()
            .context("a path in UTF-8")
    };
    words.into_iter().map(text).collect()
}

/// They take half of the time of a C++ compiler. GCC 12 crashes if the optimization is another.
fn precompiled_headers() -> Result<&'static str> {
    static BUILT: OnceLock<Result<String, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| precompile_headers().map_err(|error| format!("{error:#}")));
    built
        .as_deref()
        .map_err(|error| anyhow::Error::msg(error.clone()))
}

/// The header's path. Its compiled form is in the same folder.
fn precompile_headers() -> Result<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/snippets");
    std::fs::create_dir_all(&folder)?;
    let header = folder.join("headers.hpp");
    std::fs::write(
        &header,
        "#include <filesystem>\n#include <functional>\n#include <future>\n",
    )?;
    let mut command = Command::new("c++");
    call(
        command
            .arg(TESTED)
            .args(STRICT)
            .args([CPP, "-x", "c++-header"])
            .arg(&header),
    )?;
    header
        .into_os_string()
        .into_string()
        .ok()
        .context("a path in UTF-8")
}

/// One build serves parallel compilers, which cargo would serialize.
pub fn rust_libraries() -> Result<Vec<String>> {
    static BUILT: OnceLock<Result<Vec<String>, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build_rust_libraries().map_err(|error| format!("{error:#}")));
    built.clone().map_err(anyhow::Error::msg)
}

fn build_rust_libraries() -> Result<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let package = tempfile::tempdir()?;
    std::fs::create_dir(package.path().join("src"))?;
    std::fs::write(package.path().join("src/lib.rs"), "")?;
    std::fs::write(
        package.path().join("Cargo.toml"),
        include_str!("snippets.toml"),
    )?;
    std::fs::copy(root.join("Cargo.lock"), package.path().join("Cargo.lock"))?;
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--release",
        "--offline",
        "--quiet",
        "--message-format=json",
    ]);
    cargo
        .current_dir(package.path())
        .env("CARGO_TARGET_DIR", root.join("target/snippets"));
    let output = cargo.output().context("start cargo")?;
    ensure!(
        output.status.success(),
        "{cargo:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let messages = String::from_utf8(output.stdout)?;
    let mut words = Vec::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line)?;
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let files = message["filenames"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let library = files.map(Path::new).find(|file| {
            file.extension()
                .is_some_and(|extension| extension == "rlib")
        });
        if let (true, Some(library)) = (["libc", "rustix"].contains(&name), library) {
            let folder = library.parent().context("a library in a folder")?;
            words.extend([
                "--extern".to_owned(),
                format!("{name}={}", library.display()),
            ]);
            words.extend(["-L".to_owned(), format!("dependency={}", folder.display())]);
        }
    }
    ensure!(
        words.len() == 8,
        "cargo named other libraries than libc and rustix: {messages}"
    );
    Ok(words)
}
