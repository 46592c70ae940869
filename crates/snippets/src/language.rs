//! The languages.

use crate::language_backend::LanguageBackend;
use crate::languages;

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
    /// Node.js 18 or later, its own modules.
    Node,
    /// Go, its standard library.
    Go,
    /// Java 17 or later, its standard library.
    Java,
}

impl Language {
    /// All languages, in the order of the help.
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

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.name() == name)
    }

    /// The name in a sentence.
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

    pub(crate) fn backend(self) -> &'static LanguageBackend {
        match self {
            Self::C => &languages::c::BACKEND,
            Self::Cpp => &languages::cpp::BACKEND,
            Self::Rust => &languages::rust::BACKEND,
            Self::Python => &languages::python::BACKEND,
            Self::Node => &languages::node::BACKEND,
            Self::Go => &languages::go::BACKEND,
            Self::Java => &languages::java::BACKEND,
        }
    }
}
