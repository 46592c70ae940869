//! A Java compiler that serves all tests of a process, because its start costs more than most of its work.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};

/// A running compiler. It ends with its standard input, and so with this process.
struct Compiler {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

static COMPILER: Mutex<Option<Compiler>> = Mutex::new(None);

/// Compiles with these arguments of javac.
pub(crate) fn compile(arguments: &[&str]) -> Result<()> {
    let line = arguments.join("\t");
    ensure!(!line.contains('\n'), "arguments are a line: {line}");
    let mut compiler = COMPILER.lock().unwrap_or_else(PoisonError::into_inner);
    let compiler = match &mut *compiler {
        Some(running) => running,
        none => none.insert(Compiler::start()?),
    };
    let said = compiler.answer(&line)?;
    ensure!(said.is_empty(), "{}", said.replace('\t', "\n"));
    Ok(())
}

impl Compiler {
    fn start() -> Result<Self> {
        let mut command = Command::new("java");
        command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/Compiler.java"));
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start java")?;
        let (requests, answers) = process
            .stdin
            .take()
            .zip(process.stdout.take())
            .context("no pipes")?;
        Ok(Self {
            process,
            requests,
            answers: BufReader::new(answers),
        })
    }

    fn answer(&mut self, request: &str) -> Result<String> {
        writeln!(self.requests, "{request}").context("to the Java compiler")?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            bail!("the Java compiler ended with {}", self.process.wait()?);
        }
        answer.truncate(answer.trim_end_matches('\n').len());
        Ok(answer)
    }
}
