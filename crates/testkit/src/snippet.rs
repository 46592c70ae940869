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
/// The optimization of tests, because some warnings need one.
const TESTED: &str = "-O1";

/// What a program is compiled for. It compiles faster with less optimization.
#[derive(Clone, Copy)]
pub enum Purpose {
    /// A missing include of C++ is not detected.
    Test,
    Measurement,
}

impl Purpose {
    fn gcc_optimization(self) -> &'static str {
        match self {
            Self::Test => TESTED,
            Self::Measurement => "-O2",
        }
    }

    fn rust_optimization(self) -> &'static str {
        match self {
            Self::Test => "opt-level=0",
            Self::Measurement => "opt-level=1",
        }
    }
}

/// Compiles a program, and returns the command line that runs it, without the files that it copies. All warnings are
/// errors.
pub fn compiled(
    text: &str,
    language: Language,
    directory: &Path,
    purpose: Purpose,
) -> Result<Vec<String>> {
    let snippet = Snippet {
        text,
        directory,
        purpose,
    };
    match language {
        Language::C => snippet.by_gcc("cc", "p.c", &["-std=gnu11"]),
        Language::Cpp => snippet.cpp(),
        Language::Rust => snippet.rust(),
        Language::Go => snippet.native("go", "p.go", &["build", "-ldflags=-s -w"], &[]),
        Language::Java => snippet.java(),
        Language::Python => snippet.python(),
        Language::Node => snippet.node(),
    }
}

struct Snippet<'s> {
    text: &'s str,
    directory: &'s Path,
    purpose: Purpose,
}

impl Snippet<'_> {
    fn cpp(&self) -> Result<Vec<String>> {
        match self.purpose {
            Purpose::Test => {
                self.by_gcc("c++", "p.cpp", &[CPP, "-include", precompiled_headers()?])
            }
            Purpose::Measurement => self.by_gcc("c++", "p.cpp", &[CPP]),
        }
    }

    fn by_gcc(&self, compiler: &str, name: &str, options: &[&str]) -> Result<Vec<String>> {
        let optimization = self.purpose.gcc_optimization();
        let options = [&[optimization], STRICT, options].concat();
        self.native(compiler, name, &options, &["-luring", "-lm"])
    }

    fn rust(&self) -> Result<Vec<String>> {
        let libraries = rust_libraries()?;
        let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
        let options = [
            "--edition",
            "2024",
            "-C",
            self.purpose.rust_optimization(),
            "-C",
            "strip=symbols",
            "-D",
            "warnings",
        ];
        self.native("rustc", "p.rs", &options, &libraries)
    }

    /// Compiles to a program of the machine.
    fn native(
        &self,
        compiler: &str,
        name: &str,
        options: &[&str],
        libraries: &[&str],
    ) -> Result<Vec<String>> {
        let program = self.directory.join("p");
        let mut command = Command::new(compiler);
        command
            .args(options)
            .arg("-o")
            .arg(&program)
            .arg(self.write_source(name)?)
            .args(libraries)
            .current_dir(self.directory)
            .env("GO111MODULE", "off");
        call(&mut command)?;
        Ok(vec![utf8(program)?])
    }

    fn java(&self) -> Result<Vec<String>> {
        let classes = utf8(self.directory.join("classes"))?;
        let source = utf8(self.write_source("Main.java")?)?;
        java::compile(&["-Xlint:all", "-Werror", "-d", &classes, &source])?;
        let words = ["java", "-Xshare:auto", "-cp", &classes, "Main"];
        Ok(words.map(str::to_owned).to_vec())
    }

    fn python(&self) -> Result<Vec<String>> {
        // The modules of the machine would take most of the start, so they are left out.
        let without_site = "-S".to_owned();
        Ok(vec![
            utf8(system_python().into())?,
            without_site,
            utf8(self.write_source("p.py")?)?,
        ])
    }

    fn node(&self) -> Result<Vec<String>> {
        let modules = self.directory.join("node_modules/@writebench");
        std::fs::create_dir_all(&modules)?;
        std::os::unix::fs::symlink(node_package(), modules.join("direct-io"))?;
        Ok(vec!["node".to_owned(), utf8(self.write_source("p.js")?)?])
    }

    fn write_source(&self, name: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        std::fs::write(&path, self.text)?;
        Ok(path)
    }
}

fn utf8(path: PathBuf) -> Result<String> {
    path.into_os_string()
        .into_string()
        .ok()
        .context("a path in UTF-8")
}

/// The headers for C++, which take half of a compiler's time. GCC 12 crashes if the optimization is another.
fn precompiled_headers() -> Result<&'static str> {
    static BUILT: OnceLock<Result<String, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| precompile_headers().map_err(|error| format!("{error:#}")));
    built
        .as_deref()
        .map_err(|error| anyhow::Error::msg(error.clone()))
}

/// Returns the header's path. Its compiled form is in the same folder.
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
    utf8(header)
}

/// The arguments with which rustc finds the crates that printed code uses. One build serves parallel compilers, which
/// cargo would serialize.
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
    cargo
        .args([
            "build",
            "--release",
            "--offline",
            "--quiet",
            "--message-format=json",
        ])
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
        words.extend(library_words(&serde_json::from_str(line)?)?);
    }
    ensure!(
        words.len() == 8,
        "cargo named other libraries than libc and rustix: {messages}"
    );
    Ok(words)
}

/// The arguments for the library that a message of cargo names, if it is one of those that printed code uses.
fn library_words(message: &Value) -> Result<Vec<String>> {
    let name = message["target"]["name"].as_str().unwrap_or_default();
    let library = message["filenames"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(Path::new)
        .find(|file| {
            file.extension()
                .is_some_and(|extension| extension == "rlib")
        });
    let Some(library) = library else {
        return Ok(Vec::new());
    };
    if !["libc", "rustix"].contains(&name) {
        return Ok(Vec::new());
    }
    let folder = library.parent().context("a library in a folder")?;
    Ok(vec![
        "--extern".to_owned(),
        format!("{name}={}", library.display()),
        "-L".to_owned(),
        format!("dependency={}", folder.display()),
    ])
}
