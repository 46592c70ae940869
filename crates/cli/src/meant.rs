//! Words of other programs and of everyday speech, with the words of this program for them.

use std::path::Path;

use writebench_model::{Axis, Case, Method};
use writebench_report::formats::{FORMATS, Format, Render};

/// Lower-case words with their meaning: a name, an option, or an axis with its value. A word can have several meanings.
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
    (&["aio", "io-uring", "libaio"], "io_uring"),
    (&["psync"], "pwrite"),
    (&["pvsync"], "pwritev"),
    (&["clone", "reflink"], "ficlone"),
    (&["block-size", "blocksize", "bs"], "chunk"),
    (&["iodepth", "queue-depth"], "depth"),
    (&["jobs", "numjobs"], "threads"),
    (&["direct", "o-direct"], "cache=direct"),
    (&["fallocate"], "prepare=fallocate"),
    (&["fdatasync"], "sync=fdatasync"),
    (&["fsync"], "sync=fsync"),
    (&["o-dsync"], "sync=o-dsync"),
    (&["o-sync"], "sync=o-sync"),
];

/// The first fitting meaning.
pub(crate) fn meant(word: &str, fits: impl Fn(&str) -> bool) -> Option<&'static str> {
    let word = word.to_lowercase().replace('_', "-");
    MEANT
        .iter()
        .find(|(theirs, ours)| theirs.contains(&word.as_str()) && fits(ours))
        .map(|(_, ours)| *ours)
}

/// The case that a name in other words means: `bs=4k` → `write,chunk=4k`.
pub(crate) fn case(name: &str) -> Option<String> {
    let part = |part: &str| {
        let (word, value) = part
            .split_once('=')
            .map_or((part, None), |(word, value)| (word, Some(value)));
        match meant(word, is_of_case) {
            Some(ours) => with_value(ours, value),
            None => Some(part.to_owned()),
        }
    };
    let ours = name
        .split(',')
        .map(part)
        .collect::<Option<Vec<_>>>()?
        .join(",");
    let with_method = ["", "write,", "io_uring,"].map(|method| format!("{method}{ours}"));
    with_method
        .into_iter()
        .find(|case| *case != name && Case::parse(case).is_ok())
}

/// Our word with the meaning of another program's value, mostly of fio: `direct=0` → `cache=buffered`. None if there is
/// no word for it.
pub(crate) fn with_value(ours: &str, value: Option<&str>) -> Option<String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return Some(ours.to_owned());
    };
    let is_yes = ["1", "yes", "on", "true"].contains(&value);
    let is_no = ["0", "no", "off", "false", "none"].contains(&value);
    match ours {
        "cache=direct" if is_no => Some("cache=buffered".to_owned()),
        // A number of writes.
        "sync=fsync" | "sync=fdatasync" if value.parse::<u32>().is_ok_and(|every| every > 0) => {
            Some(format!("{ours}/{value}"))
        }
        "sync=fsync" | "sync=fdatasync" | "sync=o-dsync" | "sync=o-sync" if is_no => {
            Some("sync=none".to_owned())
        }
        "prepare=fallocate" => {
            let prepare = match value {
                "native" => "fallocate",
                "posix" => "posix-fallocate",
                "keep" => "fallocate-keep-size",
                "truncate" => "set-len",
                _ if is_yes => "fallocate",
                _ if is_no => "create",
                _ => return None,
            };
            Some(format!("prepare={prepare}"))
        }
        _ if ours.contains('=') => is_yes.then(|| ours.to_owned()),
        axis => {
            let axis = Axis::from_name(axis)?;
            axis.canonical(value)
                .is_ok()
                .then(|| format!("{axis}={value}"))
        }
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
    let ours = Axis::from_name(name)
        .map(Axis::name)
        .or_else(|| meant(name, is_of_case))?;
    if Method::from_name(ours).is_some() {
        return has("case").then(|| format!("--case {ours}"));
    }
    let is_axis = Axis::from_name(ours).is_some();
    let set = match value {
        None if is_axis => format!("{ours}=VALUE"),
        value => with_value(ours, value)?,
    };
    has("set").then(|| format!("--set {set}"))
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

/// Whether this is a method, an axis, or an axis with its value.
fn is_of_case(ours: &str) -> bool {
    Method::from_name(ours).is_some()
        || ours
            .split('=')
            .next()
            .is_some_and(|axis| Axis::from_name(axis).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_in_the_words_of_other_programs_gets_its_name() {
        for (theirs, ours) in [
            ("reflink", "ficlone"),
            ("libaio", "io_uring"),
            ("direct=1", "write,cache=direct"),
            ("bs=4k", "write,chunk=4k"),
            ("fsync", "write,sync=fsync"),
            ("write,fsync=1", "write,sync=fsync/1"),
            ("fsync=32", "write,sync=fsync/32"),
            ("write,direct=0", "write,cache=buffered"),
            ("write,fallocate=none", "write,prepare=create"),
            ("write,fallocate=keep", "write,prepare=fallocate-keep-size"),
            ("pwrite,bs=4k,O_DIRECT", "pwrite,chunk=4k,cache=direct"),
            ("iodepth=8", "io_uring,depth=8"),
        ] {
            assert_eq!(case(theirs).as_deref(), Some(ours));
        }
        assert_eq!(case("wirte"), None);
        assert_eq!(case("write,bs=nonsense"), None);
        assert_eq!(case("write,direct=maybe"), None);
        assert_eq!(case("write,fallocate=some"), None);
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
