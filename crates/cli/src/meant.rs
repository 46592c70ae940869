//! Words of other programs and of everyday speech that are no names here, for suggestions. `synonyms` has those that are
//! accepted.

use std::path::Path;

use writebench_model::{Axis, Method};
use writebench_report::formats::{FORMATS, Format, Render};

use crate::synonyms;

/// Lower-case words with their meaning: a name or an option. A word can have several meanings.
const MEANT: &[(&[&str], &str)] = &[
    (&["bench", "benchmark", "measure", "start", "test"], "run"),
    (&["search"], "advise"),
    (&["db", "history"], "runs"),
    (&["export"], "show"),
    (&["info"], "probe"),
    (&["diff"], "compare"),
    (
        &[
            "-n",
            "--runs",
            "--repeat",
            "--repeats",
            "--iterations",
            "--rounds",
        ],
        "--samples",
    ),
    (&["--duration", "--runtime", "--time"], "--budget"),
    (&["--goal"], "--for"),
    (&["-o", "--format", "--out", "--output"], "--export"),
    (&["c++", "cxx"], "cpp"),
    (&["golang"], "go"),
    (&["javascript", "js", "nodejs"], "node"),
    (&["py", "python3"], "python"),
    (&["rs"], "rust"),
    (&["clone", "reflink"], "ficlone"),
    (&["aio"], "io_uring"),
];

/// The first fitting meaning.
pub(crate) fn meant(word: &str, fits: impl Fn(&str) -> bool) -> Option<&'static str> {
    let word = word.to_lowercase().replace('_', "-");
    MEANT
        .iter()
        .find(|(theirs, ours)| theirs.contains(&word.as_str()) && fits(ours))
        .map(|(_, ours)| *ours)
}

/// The case that a name probably means, which is not one: `reflink` → `ficlone`, `bs=4k` → `write,chunk=4KiB`.
pub(crate) fn case(name: &str) -> Option<String> {
    match meant(name, |ours| Method::from_name(ours).is_some()) {
        Some(method) => Some(method.to_owned()),
        None => synonyms::with_method(name),
    }
}

/// The counterpart of another program's option, if the command `has` it.
pub(crate) fn option(
    word: &str,
    value: Option<&str>,
    has: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let name = word.trim_start_matches('-');
    match meant(word, |ours| ours.strip_prefix("--").is_some_and(has)) {
        Some("--export") => return Some(export(value)),
        Some(ours) => {
            return Some(value.map_or(ours.to_owned(), |value| format!("{ours} {value}")));
        }
        None => {}
    }
    if let Some(format) = format_named(name).filter(|_| has("export")) {
        return Some(export_to(format));
    }
    if let Some(case) = synonyms::case(name).ok().filter(|case| case.note.is_some()) {
        return has("case").then(|| format!("--case {}", case.name));
    }
    has("set").then(|| set(name, value)).flatten()
}

/// `--set sync=fsync/4` for `--fsync 4`.
fn set(name: &str, value: Option<&str>) -> Option<String> {
    /// Options whose presence is their value.
    const SWITCHES: &[&str] = &["direct", "overwrite"];
    let value = value.or_else(|| SWITCHES.contains(&name).then_some("1"));
    let Some(value) = value else {
        let example = synonyms::values(&format!("{name}=1")).ok().flatten();
        let axis = Axis::from_name(name).or_else(|| Some(example?.first()?.0));
        return axis
            .filter(|axis| axis.is_number())
            .map(|axis| format!("--set {axis}=VALUE"));
    };
    let values = match synonyms::values(&format!("{name}={value}")).ok()? {
        Some(values) => values,
        None => {
            let axis = Axis::from_name(name)?;
            vec![(axis, axis.canonical(value).ok()?)]
        }
    };
    let set: Vec<String> = values
        .iter()
        .map(|(axis, value)| format!("--set {axis}={value}"))
        .collect();
    Some(set.join(" ")).filter(|set| !set.is_empty())
}

/// The value is a format or a file.
fn export(value: Option<&str>) -> String {
    let Some(value) = value else {
        return "--export json=-".to_owned();
    };
    let of_file = || {
        Path::new(value)
            .extension()?
            .to_str()
            .and_then(format_named)
    };
    match format_named(value) {
        Some(format) => export_to(format),
        None => format!(
            "--export {}={value}",
            of_file().map_or("json", |format| format.name)
        ),
    }
}

fn export_to(format: &Format) -> String {
    let to = if matches!(format.render, Render::Text(_)) {
        "-"
    } else {
        "DIRECTORY"
    };
    format!("--export {}={to}", format.name)
}

pub(crate) fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS
        .iter()
        .find(|format| format.name == name || format.alias == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_case_gets_one() {
        for (theirs, ours) in [
            ("reflink", "ficlone"),
            ("direct=1", "write,cache=direct"),
            ("bs=4k", "write,chunk=4KiB"),
            ("fsync=32", "write,sync=fsync/32"),
            ("iodepth=8", "io_uring,depth=8"),
        ] {
            assert_eq!(case(theirs).as_deref(), Some(ours));
        }
        assert_eq!(case("wirte"), None);
        assert_eq!(case("bs=nonsense"), None);
    }

    #[test]
    fn an_option_of_another_program_gets_its_counterpart() {
        for (theirs, value, ours) in [
            ("--threads", Some("8"), "--set threads=8"),
            ("--bs", None, "--set chunk=VALUE"),
            ("--direct", None, "--set cache=direct"),
            ("--direct", Some("1"), "--set cache=direct"),
            ("--direct", Some("0"), "--set cache=buffered"),
            ("--fsync", Some("4"), "--set sync=fsync/4"),
            ("--end_fsync", Some("1"), "--set sync=fsync"),
            (
                "--numjobs",
                Some("4"),
                "--set threads=4 --set files=per-thread",
            ),
            ("--output", Some("json"), "--export json=-"),
            ("-o", Some("x"), "--export json=x"),
            ("-o", Some("x.csv"), "--export csv=x.csv"),
            ("--svg", None, "--export svg=DIRECTORY"),
            ("-n", Some("3"), "--samples 3"),
            ("--libaio", None, "--case io_uring"),
        ] {
            assert_eq!(option(theirs, value, &|_| true).as_deref(), Some(ours));
        }
        assert_eq!(option("--threads", Some("8"), &|_| false), None);
        assert_eq!(option("--threads", Some("auto"), &|_| true), None);
    }
}
