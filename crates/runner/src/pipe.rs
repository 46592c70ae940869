//! The pipe between the supervisor and an agent: one line of JSON per request, and one per response or error.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::RunnerError;

/// Responds to requests from standard input until it ends.
pub fn serve_requests<Message: DeserializeOwned>(
    mut answer: impl FnMut(Message) -> serde_json::Result<String>,
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

pub fn reply(answer: Result<impl Serialize, RunnerError>) -> serde_json::Result<String> {
    serde_json::to_string(&answer.map_err(RemoteError::from))
}

pub(crate) fn parse_response<R: DeserializeOwned>(line: &str) -> Result<R, RunnerError> {
    let response = serde_json::from_str::<Result<R, RemoteError>>(line);
    let response =
        response.map_err(|error| RunnerError::Protocol(format!("said '{line}': {error}")))?;
    response.map_err(RunnerError::from)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RemoteError {
    Call {
        call: String,
        path: OsString,
        errno: Option<i32>,
        message: String,
    },
    Swapped(OsString),
    Told(String),
}

impl From<RunnerError> for RemoteError {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Target { call, path, error } => Self::Call {
                call: call.into_owned(),
                path: path.into(),
                errno: error.raw_os_error(),
                message: error.to_string(),
            },
            RunnerError::Swapped { path } => Self::Swapped(path.into()),
            other => Self::Told(other.to_string()),
        }
    }
}

impl From<RemoteError> for RunnerError {
    fn from(error: RemoteError) -> Self {
        match error {
            RemoteError::Call {
                call,
                path,
                errno,
                message,
            } => {
                let error =
                    errno.map_or_else(|| io::Error::other(message), io::Error::from_raw_os_error);
                Self::Target {
                    call: Cow::Owned(call),
                    path: path.into(),
                    error,
                }
            }
            RemoteError::Swapped(path) => Self::Swapped { path: path.into() },
            RemoteError::Told(text) => Self::Told(text),
        }
    }
}
