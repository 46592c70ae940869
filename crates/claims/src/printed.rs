use anyhow::{Context, Result, ensure};
use writebench_model::Case;
use writebench_snippets::{EmitOptions, Language, code};

/// Printed code, with or without a mistake.
#[derive(Debug, Clone)]
pub(crate) struct Printed {
    pub(crate) case: String,
    pub(crate) language: Language,
    pub(crate) form: Form,
    /// Pairs of what is in the code, and what takes its place.
    pub(crate) mistakes: &'static [(&'static str, &'static str)],
}

/// The options of `writebench code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Main,
    Atomic,
    Stream,
    StreamAtomic,
    Append,
    /// The functions of a page store, which a program calls.
    Store,
}

impl Form {
    pub(crate) fn options(self) -> EmitOptions {
        EmitOptions {
            is_program: !matches!(self, Self::Append | Self::Store),
            is_atomic: matches!(self, Self::Atomic | Self::StreamAtomic),
            is_stream: matches!(self, Self::Stream | Self::StreamAtomic),
            is_append: self == Self::Append,
        }
    }

    /// `--stream --atomic `, in front of a case.
    fn words(self) -> &'static str {
        match self {
            Self::Main | Self::Store => "",
            Self::Atomic => "--atomic ",
            Self::Stream => "--stream ",
            Self::StreamAtomic => "--stream --atomic ",
            Self::Append => "--append ",
        }
    }
}

impl Printed {
    pub(crate) fn source(&self) -> Result<String> {
        let case = Case::parse(&self.case)?;
        let mut source = code(&case, self.language, self.form.options())
            .map_err(|none| anyhow::anyhow!("{}", none.why))?;
        for (right, wrong) in self.mistakes {
            ensure!(source.contains(right), "the printed code has no {right}");
            source = source.replace(right, wrong);
        }
        Ok(source)
    }

    /// `--atomic write,sync=fsync in Java`
    pub(crate) fn name(&self) -> String {
        let words = self.form.words();
        format!("{words}{} in {}", self.case, self.language.title())
    }

    pub(crate) fn compiler(&self) -> &'static str {
        match self.language {
            Language::C => "cc",
            Language::Cpp => "c++",
            Language::Go => "go",
            Language::Rust => "rustc",
            Language::Python => "python3",
            Language::Node => "node",
            Language::Java => "javac",
        }
    }
}

/// The name of the case, or of the nearest one that the language has in this form. The data decides its size.
pub(crate) fn printable(case: &Case, language: Language, form: Form) -> Result<String> {
    let name = match code(case, language, form.options()) {
        Ok(_) => case.to_string(),
        Err(none) => {
            let nearest = none.nearest;
            let nearest = nearest.with_context(|| format!("{case}: {}", none.why))?;
            nearest.to_string()
        }
    };
    let axes = name.split(',').filter(|axis| !axis.starts_with("size="));
    Ok(axes.collect::<Vec<_>>().join(","))
}
