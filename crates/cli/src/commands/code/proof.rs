//! The commands that prove a printed function by cutting the power.

use anyhow::Result;
use writebench_model::{Case, Durability, FileSize};
use writebench_snippets::{EmitOptions, Language};

use super::options;
use crate::exit::usage;

/// The commands for a shell. `program` is the printed one, in the form `frame`.
pub(super) fn commands(
    case: &Case,
    language: Language,
    frame: EmitOptions,
    program: &str,
) -> Result<String> {
    let (file, build, start) = build(language, program)?;
    let options = options(language, frame);
    let replaces = frame.is_atomic || case.choices().prepare.needs_old_content();
    let writes_directory =
        case.method().writes_set() && !matches!(case.given().file_size, FileSize::Whole);
    let old = match (writes_directory, replaces) {
        (true, _) => "mkdir {dir}/target; ",
        (false, true) => "cp old {dir}/target; ",
        (false, false) => "",
    };
    let is_durable = case.workload().durability == Durability::Durable;
    let promise = if is_durable { " --durable-at-exit" } else { "" };
    let mut lines = vec![
        "# As root, in an empty directory:".to_owned(),
        format!("writebench code {case} {options} > {file}"),
    ];
    lines.extend(build);
    lines.push("head -c 1M /dev/urandom > new".to_owned());
    if replaces && !writes_directory {
        lines.push("head -c 1M /dev/urandom > old".to_owned());
    }
    lines.push(format!(
        "writebench powerloss --setup '{old}cp new {{dir}}/source' \\\n  \
         --command '{start} {{dir}}/source {{dir}}/target'{promise}"
    ));
    Ok(lines.join("\n") + "\n")
}

/// The name of the source file, the command that compiles it, and the one that runs the program.
fn build(language: Language, text: &str) -> Result<(&'static str, Option<String>, &'static str)> {
    Ok(match language {
        Language::C => ("p.c", compile(text, "p.c"), "./p"),
        Language::Cpp => ("p.cpp", compile(text, "p.cpp"), "./p"),
        Language::Go => ("p.go", Some("go build -o p p.go".to_owned()), "./p"),
        Language::Java => ("Main.java", Some("javac Main.java".to_owned()), "java Main"),
        Language::Python => ("p.py", None, "python3 p.py"),
        Language::Node => ("p.js", None, "node p.js"),
        Language::Rust => {
            return Err(usage!(
                "--powerloss: a Rust program needs a package with its crates. Build it, and run `writebench powerloss --help`"
            ));
        }
    })
}

/// The comment at the top of the code names the command.
fn compile(text: &str, file: &str) -> Option<String> {
    let command = text
        .lines()
        .find_map(|line| line.strip_prefix("// To compile it: "))?;
    let words: Vec<&str> = command
        .trim_end_matches('.')
        .split(' ')
        .map(|word| {
            if word.starts_with("FILE.") {
                file
            } else {
                word
            }
        })
        .collect();
    Some(format!("{} -o p", words.join(" ")))
}
