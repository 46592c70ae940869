use crate::languages::{self, LanguageBackend};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C11 on Linux.
    C,
    /// C++17 on Linux.
    Cpp,
    /// With rustix and libc.
    Rust,
    /// 3.10 or later, without packages.
    Python,
    /// 18 or later, without packages.
    Node,
    /// Without packages.
    Go,
    /// 17 or later, without packages.
    Java,
}

impl Language {
    /// In the order of the help.
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
        self.card().0
    }

    /// For a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.card().1
    }

    pub(crate) fn backend(self) -> &'static LanguageBackend {
        self.card().2
    }

    /// The name, the title and the backend.
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
