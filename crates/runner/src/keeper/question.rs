//! What a keeper is asked, and how its errors come back.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::copy::{CopyPlace, CopySource};
use crate::error::RunnerError;

/// A question, with all that it takes to answer it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Question {
    /// The target, which is held open from then on if it is a directory: [`super::Look`].
    Look {
        #[serde(with = "path_bytes")]
        path: PathBuf,
    },
    /// A workspace in it: its device and inode.
    Make { id: String },
    /// The workspace is to go: [`crate::Removal`].
    Remove,
    /// Directories with a name of ours: their paths.
    LeftOversIn {
        #[serde(with = "path_bytes")]
        target: PathBuf,
    },
    /// One of those: [`crate::LeftOver`].
    RemoveLeftOver {
        #[serde(with = "path_bytes")]
        path: PathBuf,
    },
    /// A file that is to be copied: [`CopySource`].
    Source {
        #[serde(with = "path_bytes")]
        path: PathBuf,
    },
    /// Where a copy is to go: [`CopyPlace`].
    CopyPlace {
        #[serde(with = "path_bytes")]
        path: PathBuf,
    },
    /// The copy is to be made: nothing.
    Copy { source: CopySource, place: CopyPlace },
    /// An open file that was to become a copy is to be emptied: nothing.
    Empty { place: CopyPlace },
}

/// An error on its way through the pipe.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fault {
    Call {
        call: String,
        #[serde(with = "path_bytes")]
        path: PathBuf,
        errno: Option<i32>,
        message: String,
    },
    Swapped {
        #[serde(with = "path_bytes")]
        path: PathBuf,
    },
    Told {
        text: String,
    },
}

impl From<RunnerError> for Fault {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Target { call, path, error } => {
                let (errno, message) = (error.raw_os_error(), error.to_string());
                Self::Call { call: call.into_owned(), path, errno, message }
            }
            RunnerError::Swapped { path } => Self::Swapped { path },
            other => Self::Told { text: other.to_string() },
        }
    }
}

impl Fault {
    pub(super) fn into_error(self) -> RunnerError {
        match self {
            Self::Call { call, path, errno, message } => {
                let error = errno.map_or_else(|| io::Error::other(message), io::Error::from_raw_os_error);
                RunnerError::Target { call: Cow::Owned(call), path, error }
            }
            Self::Swapped { path } => RunnerError::Swapped { path },
            Self::Told { text } => RunnerError::Told(text),
        }
    }
}

/// A path in an answer that is a list.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PathText(#[serde(with = "path_bytes")] pub(super) PathBuf);

/// A path as its bytes, since a name need not be UTF-8.
pub(super) mod path_bytes {
    use super::{
        Deserialize, Deserializer, OsStrExt, OsString, OsStringExt, Path, PathBuf, Serialize, Serializer,
    };

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_bytes().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Vec::<u8>::deserialize(deserializer).map(|bytes| OsString::from_vec(bytes).into())
    }
}
