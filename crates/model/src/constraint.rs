//! Constraints of the user's program, beyond its workload.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::axis::{Axis, Choices};
use crate::case::Case;
use crate::method::{Cursor, Method};
use crate::similar::unknown;
use crate::value::FileLayout;

/// A constraint that an option of the command line adds. Its text is that option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Constraint {
    /// The program does not use this method. `io_uring` and `mmap` are also left out as a part of a copy, or of a set of
    /// files.
    WithoutMethod(Method),
    /// The program does not use this value, or with `None` any value but plain write's.
    WithoutValue(Axis, Option<String>),
    /// The process has at most this number of threads.
    Threads(u32),
    /// The case's code can be printed in this language.
    Language(String),
    /// The program learns the length of the file only at its end.
    UnknownLength,
}

impl Constraint {
    /// Reads `METHOD`, `AXIS` or `AXIS=VALUE`, the argument of `--without`.
    pub fn without(text: &str) -> Result<Self, String> {
        if let Some(method) = Method::from_name(text) {
            return Ok(Self::WithoutMethod(method));
        }
        let (name, value) = text
            .split_once('=')
            .map_or((text, None), |(axis, value)| (axis, Some(value)));
        let axis = Axis::from_name(name).ok_or_else(|| {
            let methods = Method::ALL.iter().map(|method| method.name());
            let axes = Axis::ALL.iter().map(|axis| axis.name());
            let names = methods.chain(axes);
            let lists = "writebench list methods";
            unknown("method or axis", name, names, lists)
        })?;
        let value = value.map(|value| axis.canonical(value)).transpose()?;
        Ok(Self::WithoutValue(axis, value))
    }

    /// Whether a program with this constraint could use the case. The language is a matter of the printed code.
    pub fn allows(&self, case: &Case, baseline: &Case) -> bool {
        let choices = case.choices();
        let method = case.method();
        match self {
            Self::WithoutMethod(without) => {
                let is_part = matches!(without, Method::Uring | Method::Mmap);
                method != *without
                    && !(is_part && method.name().split('-').any(|part| part == without.name()))
            }
            Self::WithoutValue(axis, value) => {
                let own = case.value(*axis);
                let has_allowed_value = match value {
                    Some(forbidden) => own != *forbidden,
                    None => own == baseline.value(*axis),
                };
                !method.has_axis(*axis) || has_allowed_value
            }
            Self::Threads(most) => {
                // A pipeline's reader is a thread as well.
                let threads_per_writer = if method == Method::Pipeline { 2 } else { 1 };
                choices.threads * threads_per_writer <= *most
            }
            Self::Language(_) => true,
            Self::UnknownLength => {
                let has_ranges = choices.threads > 1
                    && choices.layout == FileLayout::Segmented
                    && !method.writes_set();
                let is_mapped = method.card().cursor == Cursor::Mapping;
                let is_whole = choices.chunk_size_bytes == Choices::WHOLE;
                method.copies()
                    || !(has_ranges || is_mapped || is_whole || choices.prepare.has_step())
            }
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WithoutMethod(method) => write!(f, "--without {method}"),
            Self::WithoutValue(axis, None) => write!(f, "--without {axis}"),
            Self::WithoutValue(axis, Some(value)) => write!(f, "--without {axis}={value}"),
            Self::Threads(most) => write!(f, "--threads {most}"),
            Self::Language(language) => write!(f, "--lang {language}"),
            Self::UnknownLength => f.write_str("--unknown-length"),
        }
    }
}

impl From<Constraint> for String {
    fn from(constraint: Constraint) -> Self {
        constraint.to_string()
    }
}

impl TryFrom<String> for Constraint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let constraint = match text.split_once(' ').unwrap_or((&text, "")) {
            ("--without", what) => return Self::without(what),
            ("--threads", most) => most.parse().ok().map(Self::Threads),
            ("--lang", language) => Some(Self::Language(language.to_owned())),
            ("--unknown-length", "") => Some(Self::UnknownLength),
            _ => None,
        };
        constraint.ok_or_else(|| format!("unknown constraint '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(option: &str, case: &str) -> bool {
        let constraint = Constraint::try_from(option.to_owned()).unwrap();
        assert_eq!(constraint.to_string(), option);
        let baseline = Case::parse("write,sync=fsync").unwrap();
        constraint.allows(&Case::parse(case).unwrap(), &baseline)
    }

    #[test]
    fn a_constraint_forbids_what_its_option_names() {
        for (option, forbidden, allowed) in [
            ("--without io_uring", "io_uring-copy", "pwrite"),
            ("--without mmap", "read-mmap", "read-write"),
            ("--without write", "write", "write-files"),
            (
                "--without cache=direct",
                "pwrite,cache=direct",
                "pwrite,cache=dontcache",
            ),
            ("--without chunk=64KiB", "write,chunk=65536", "write"),
            (
                "--without sync",
                "write,sync=fdatasync",
                "pwrite,sync=fsync",
            ),
            ("--without prepare", "write,prepare=fallocate", "write"),
            ("--threads 1", "pipeline", "read-write"),
            ("--threads 8", "pwrite,threads=9", "pwrite,threads=8"),
            ("--unknown-length", "write,prepare=zero-fill", "write"),
            (
                "--unknown-length",
                "pwrite,threads=2",
                "pwrite,threads=2,layout=strided",
            ),
            (
                "--unknown-length",
                "mmap,prepare=overwrite",
                "write,prepare=overwrite",
            ),
            (
                "--unknown-length",
                "write,chunk=whole",
                "read-write,prepare=fallocate",
            ),
        ] {
            assert!(!allows(option, forbidden), "{option}: {forbidden}");
            assert!(allows(option, allowed), "{option}: {allowed}");
        }
    }

    #[test]
    fn an_unknown_word_gets_a_suggestion() {
        let refused = Constraint::without("io_urnig").unwrap_err();
        assert!(
            refused.contains("method or axis") && refused.contains("io_uring"),
            "{refused}"
        );
        assert!(
            Constraint::without("cache=fast")
                .unwrap_err()
                .contains("direct")
        );
    }
}
