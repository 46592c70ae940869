//! `writebench target helper`: makes the calls on a target that are no sample's, for the supervisor that started it.

use std::ffi::OsString;

use anyhow::Result;

use crate::exit::Exit;
use crate::signals::obey_supervisor_only;

/// Answers questions until there are no more.
pub(super) fn serve(_: &mut dyn Iterator<Item = OsString>) -> Result<Exit> {
    obey_supervisor_only()?;
    writebench_runner::serve_target()?;
    Ok(Exit::Ok)
}
