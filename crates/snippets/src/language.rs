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
        self.card().0
    }

    /// The name in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.card().1
    }

    pub(crate) fn backend(self) -> &'static LanguageBackend {
        self.card().2
    }

    /// The name of `--lang`, the name in a sentence, and what it has for cases.
    fn card(self) -> (&'static str, &'static str, &'static LanguageBackend) {
        match self {
            Self::C => ("c", "C", &languages::c::BACKEND),
            Self::Cpp => ("cpp", "C++", &languages::cpp::BACKEND),
            Self::Rust => ("rust", "Rust", &languages::rust::BACKEND),
            Self::Python => ("python", "Python", &languages::python::BACKEND),
            Self::Node => ("node", "Node.js", &languages::node::BACKEND),
            Self::Go => ("go", "Go", &languages::go::BACKEND),
            Self::Java => ("java", "Java", &languages::java::BACKEND),
        }
    }
}
