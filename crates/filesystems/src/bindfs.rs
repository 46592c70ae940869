use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::error::Error;
use crate::{program, server};

pub(crate) const PROGRAM: &str = "bindfs";

/// `forward-odirect` also opens the file below with `O_DIRECT`. Its number aligns memory, not requests.
/// `xattr-none` saves a request before each write.
const OPTIONS: &str = "subtype=bindfs,multithreaded,xattr-none,forward-odirect=4096";

/// libfuse 3 has neither option. `hard_remove` removes an open file without a `.fuse_hidden…`. `big_writes`
/// allows requests larger than a page.
const OPTIONS_OF_LIBFUSE_2: &str = "hard_remove,big_writes";

pub(crate) fn mount(
    source: &Path,
    point: &Path,
    options: Option<&str>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(String, Child), Error> {
    let file = program::require(PROGRAM, Some(PROGRAM))?;
    let [source, target] = [source, point].map(|path| path.to_string_lossy().into_owned());
    let words = ["-f".to_owned(), "-o".to_owned(), all_options(&file, options), source, target];
    server::mount(&file, &words, point, interrupted)
}

fn all_options(file: &Path, user: Option<&str>) -> String {
    let mut options = vec![OPTIONS];
    if is_on_libfuse_2(file) {
        options.push(OPTIONS_OF_LIBFUSE_2);
    }
    options.extend(user);
    options.join(",")
}

fn is_on_libfuse_2(file: &Path) -> bool {
    let output = Command::new(file).arg("--fuse-version").stdin(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("linked version 2."))
}
