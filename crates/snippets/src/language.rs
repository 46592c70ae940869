use crate::languages::{self, LanguageBackend};

/// A language of printed code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// The code is C11 on Linux.
    C,
    /// The code is C++17 on Linux.
    Cpp,
    /// The code needs rustix and libc.
    Rust,
    /// The code needs Python 3.10 or later, and no packages.
    Python,
    /// The code needs Node.js 18 or later, and no packages.
    Node,
    /// The code needs no packages.
    Go,
    /// The code needs Java 17 or later, and no packages.
    Java,
}

/// The names of a language, and what prints its code.
struct LanguageCard {
    name: &'static str,
    title: &'static str,
    backend: &'static LanguageBackend,
}

impl Language {
    /// All languages, in the order of the help.
    pub const ALL: &[Self] = &[
        Self::C,
        Self::Cpp,
        Self::Rust,
        Self::Python,
        Self::Node,
        Self::Go,
        Self::Java,
    ];

    /// The value of `--lang`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.card().name
    }

    /// The language's name in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.card().title
    }

    pub(crate) fn backend(self) -> &'static LanguageBackend {
        self.card().backend
    }

    fn card(self) -> LanguageCard {
        let (name, title, backend) = match self {
            Self::C => ("c", "C", &languages::c::BACKEND),
            Self::Cpp => ("cpp", "C++", &languages::cpp::BACKEND),
            Self::Rust => ("rust", "Rust", &languages::rust::BACKEND),
            Self::Python => ("python", "Python", &languages::python::BACKEND),
            Self::Node => ("node", "Node.js", &languages::node::BACKEND),
            Self::Go => ("go", "Go", &languages::go::BACKEND),
            Self::Java => ("java", "Java", &languages::java::BACKEND),
        };
        LanguageCard {
            name,
            title,
            backend,
        }
    }
}
