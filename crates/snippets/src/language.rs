//! The languages, and what each can say.

use writebench_model::{Axes, Axis, Case};

use crate::family::Family;
use crate::languages;
use crate::way::Way;

/// A programming language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C11 with the calls of Linux.
    C,
    /// C++17 with the calls of Linux.
    Cpp,
    /// Rust with rustix and libc.
    Rust,
    /// Python 3.10 or later, its standard library.
    Python,
    /// Node.js 18 or later, and `@writebench/direct-io` for direct I/O.
    Node,
    /// Go, its standard library.
    Go,
    /// Java 17 or later, its standard library.
    Java,
}

/// What a language has, and what it cannot say.
pub(crate) struct Speaker {
    /// Renders the template of a family; none if it has none.
    pub render: fn(Family, &Way<'_>) -> Option<String>,
    /// Whether it has a template of that family.
    pub has: fn(Family) -> bool,
    /// Methods without a template in this language, the reason, and the nearest method that has one.
    pub lacks: &'static [(&'static str, &'static str, &'static str)],
    /// Values that it cannot say.
    pub cannot: &'static [Cannot],
}

/// A value that a language cannot say.
pub(crate) struct Cannot {
    /// The axis.
    pub axis: Axis,
    /// Whether the case has such a value.
    pub is_in: fn(&Case, &Axes) -> bool,
    /// The reason.
    pub why: &'static str,
    /// The nearest value that it can say.
    pub instead: &'static str,
}

impl Language {
    /// All, in the order of the help.
    pub const ALL: &[Self] = &[Self::C, Self::Cpp, Self::Rust, Self::Python, Self::Node, Self::Go, Self::Java];

    /// The name of `--lang`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Node => "node",
            Self::Go => "go",
            Self::Java => "java",
        }
    }

    /// The language of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.name() == name)
    }

    /// Its name in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::Node => "Node.js",
            Self::Go => "Go",
            Self::Java => "Java",
        }
    }

    pub(crate) fn speaker(self) -> &'static Speaker {
        match self {
            Self::C => &languages::c::SPEAKER,
            Self::Cpp => &languages::cpp::SPEAKER,
            Self::Rust => &languages::rust::SPEAKER,
            Self::Python => &languages::python::SPEAKER,
            Self::Node => &languages::node::SPEAKER,
            Self::Go => &languages::go::SPEAKER,
            Self::Java => &languages::java::SPEAKER,
        }
    }
}
