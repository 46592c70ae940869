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
    (&["-n", "--runs", "--repeat", "--repeats", "--iterations", "--rounds"], "--samples"),
    (&["--duration", "--runtime", "--time"], "--budget"),
    (&["--goal"], "--for"),
    (&["-o", "--format", "--out", "--output"], "--export"),
    (&["c++", "cxx"], "cpp"),
    (&["golang"], "go"),
    (&["javascript", "js", "nodejs"], "node"),
    (&["py", "python3"], "python"),
    (&["rs"], "rust"),
    (&["aio", "io-uring", "libaio"], "uring"),
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
    MEANT.iter().find(|(theirs, ours)| theirs.contains(&word.as_str()) && fits(ours)).map(|(_, ours)| *ours)
}

/// The case that a name in other words means: `bs=4k` → `write,chunk=4k`.
pub(crate) fn case(name: &str) -> Option<String> {
    let part = |part: &str| {
        let (word, value) = part.split_once('=').unwrap_or((part, ""));
        match meant(word, is_of_case) {
            Some(axis) if Axis::from_name(axis).is_some() => format!("{axis}={value}"),
            Some(ours) => ours.to_owned(),
            None => part.to_owned(),
        }
    };
    let ours = name.split(',').map(part).collect::<Vec<_>>().join(",");
    let with_method = ["", "write,", "uring,"].map(|method| format!("{method}{ours}"));
    with_method.into_iter().find(|case| *case != name && Case::parse(case).is_ok())
}

/// The counterpart of another program's option, if the command `has` it.
pub(crate) fn option(word: &str, value: Option<&str>, has: &dyn Fn(&str) -> bool) -> Option<String> {
    let name = word.trim_start_matches('-');
    match meant(word, |ours| ours.strip_prefix("--").is_some_and(has)) {
        Some("--export") => return Some(export(value)),
        Some(ours) => return Some(value.map_or(ours.to_owned(), |value| format!("{ours} {value}"))),
        None => {}
    }
    if let Some(format) = format_named(name).filter(|_| has("export")) {
        return Some(export_to(format));
    }
    let ours = Axis::from_name(name).map(Axis::name).or_else(|| meant(name, is_of_case))?;
    match Method::from_name(ours) {
        Some(_) => has("case").then(|| format!("--case {ours}")),
        None if !has("set") => None,
        None if ours.contains('=') => Some(format!("--set {ours}")),
        None => Some(format!("--set {ours}={}", value.unwrap_or("VALUE"))),
    }
}

/// The value is a format or a file.
fn export(value: Option<&str>) -> String {
    let Some(value) = value else { return "--export json=-".to_owned() };
    let of_file = || Path::new(value).extension()?.to_str().and_then(format_named);
    match format_named(value) {
        Some(format) => export_to(format),
        None => format!("--export {}={value}", of_file().map_or("json", |format| format.name)),
    }
}

fn export_to(format: &Format) -> String {
    let to = if matches!(format.render, Render::Text(_)) { "-" } else { "DIRECTORY" };
    format!("--export {}={to}", format.name)
}

pub(crate) fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name || format.alias == Some(name))
}

/// Whether this is a method, an axis, or an axis with its value.
fn is_of_case(ours: &str) -> bool {
    Method::from_name(ours).is_some()
        || ours.split('=').next().is_some_and(|axis| Axis::from_name(axis).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_in_the_words_of_other_programs_gets_its_name() {
        for (theirs, ours) in [
            ("reflink", "ficlone"),
            ("libaio", "uring"),
            ("direct=1", "write,cache=direct"),
            ("bs=4k", "write,chunk=4k"),
            ("fsync", "write,sync=fsync"),
            ("pwrite,bs=4k,O_DIRECT", "pwrite,chunk=4k,cache=direct"),
            ("iodepth=8", "uring,depth=8"),
        ] {
            assert_eq!(case(theirs).as_deref(), Some(ours));
        }
        assert_eq!(case("wirte"), None);
        assert_eq!(case("write,bs=nonsense"), None);
    }

    #[test]
    fn an_option_of_another_program_gets_its_counterpart() {
        for (theirs, value, ours) in [
            ("--threads", Some("8"), "--set threads=8"),
            ("--bs", None, "--set chunk=VALUE"),
            ("--direct", None, "--set cache=direct"),
            ("--output", Some("json"), "--export json=-"),
            ("-o", Some("x"), "--export json=x"),
            ("-o", Some("x.csv"), "--export csv=x.csv"),
            ("--svg", None, "--export svg=DIRECTORY"),
            ("-n", Some("3"), "--samples 3"),
            ("--libaio", None, "--case uring"),
        ] {
            assert_eq!(option(theirs, value, &|_| true).as_deref(), Some(ours));
        }
        assert_eq!(option("--threads", Some("8"), &|_| false), None);
    }
}
