//! Both ends of a pipe between two processes of this program: one line of JSON per question, and one per
//! answer or error.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use writebench_model::protocol::Question;

use crate::error::RunnerError;

/// Answers questions from standard input until it ends.
///
/// # Errors
/// The other process cannot be read from, understood or written to.
pub fn answer_all<Asked: DeserializeOwned>(
    mut answer: impl FnMut(Asked) -> serde_json::Result<String>,
) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let mut line = answer(serde_json::from_str(&line?)?)?;
        line.push('\n');
        stdout.write_all(line.as_bytes())?;
        stdout.flush()?;
    }
    Ok(())
}

/// The answer to a question, in the form that the pipe carries.
///
/// # Errors
/// The answer cannot be encoded as JSON.
pub fn answered<Q: Question>(
    question: Q,
    answer: impl FnOnce(Q) -> Result<Q::Answer, RunnerError>,
) -> serde_json::Result<String> {
    serde_json::to_string(&answer(question).map_err(Fault::from))
}

pub(crate) fn question_line(question: impl Question) -> serde_json::Result<String> {
    Ok(serde_json::to_string(&question.asked())? + "\n")
}

pub(crate) fn understood<A: DeserializeOwned>(line: &str) -> Result<A, RunnerError> {
    let answer = serde_json::from_str::<Result<A, Fault>>(line);
    let answer = answer.map_err(|error| RunnerError::Protocol(format!("said '{line}': {error}")))?;
    answer.map_err(RunnerError::from)
}

/// An error in the form that the pipe carries.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fault {
    Call { call: String, path: OsString, errno: Option<i32>, message: String },
    Swapped(OsString),
    Protocol(String),
    Told(String),
}

impl From<RunnerError> for Fault {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Target { call, path, error } => Self::Call {
                call: call.into_owned(),
                path: path.into(),
                errno: error.raw_os_error(),
                message: error.to_string(),
            },
            RunnerError::Swapped { path } => Self::Swapped(path.into()),
            RunnerError::Protocol(why) => Self::Protocol(why),
            other => Self::Told(other.to_string()),
        }
    }
}

impl From<Fault> for RunnerError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Call { call, path, errno, message } => {
                let error = errno.map_or_else(|| io::Error::other(message), io::Error::from_raw_os_error);
                Self::Target { call: Cow::Owned(call), path: path.into(), error }
            }
            Fault::Swapped(path) => Self::Swapped { path: path.into() },
            Fault::Protocol(why) => Self::Protocol(why),
            Fault::Told(text) => Self::Told(text),
        }
    }
}

/// The encoding of a path in a field: its name need not be UTF-8.
pub(crate) mod path_bytes {
    use super::{Deserialize, Deserializer, OsString, Path, PathBuf, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}
