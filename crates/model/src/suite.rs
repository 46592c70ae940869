//! Named lists of cases, read from TOML.

use serde::Deserialize;

use crate::axis::Axis;
use crate::case::{Case, CaseError};
use crate::method::MethodInfo;

/// The built-in suites, in the order of `writebench list`.
pub const SUITES: &[&str] = &[
    include_str!("../suites/quick.toml"),
    include_str!("../suites/create.toml"),
    include_str!("../suites/mmap.toml"),
    include_str!("../suites/vectored.toml"),
    include_str!("../suites/parallel.toml"),
    include_str!("../suites/write.toml"),
];

/// A named list of cases: every section is a table, every combination of its axes' values a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// What `--suite` takes.
    pub name: String,
    /// A heading.
    pub title: String,
    /// What it answers.
    pub summary: String,
    /// Its tables.
    pub sections: Vec<Section>,
}

/// A table of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Methods, the outermost loop.
    pub methods: Vec<String>,
    /// Values of axes, the first the outermost loop.
    pub axes: Vec<(Axis, Vec<String>)>,
    /// Those of the axes that are the section's own, and not its suite's.
    pub own: Vec<Axis>,
}

/// A row of a suite's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The suite's name.
    pub suite: String,
    /// The section's heading.
    pub section: String,
    /// The case.
    pub case: Case,
}

/// Values that replace a suite's own, by axis.
pub type Overrides = [(Axis, Vec<String>)];

/// Why a suite is none, or has a row that is no case.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// No built-in suite has that name.
    #[error("unknown suite '{name}': expected one of {suites}")]
    Unknown {
        /// What was given.
        name: String,
        /// What would fit.
        suites: String,
    },
    /// The overrides leave no section.
    #[error(
        "suite {suite} has no section with those values; `writebench list cases {suite}` shows what it has, --case takes any"
    )]
    NothingLeft {
        /// The suite.
        suite: String,
    },
    /// Not the form of a suite.
    #[error("suite file: {0}")]
    Form(String),
    /// A row is no case.
    #[error("suite {suite}, section '{section}': {error}")]
    Case {
        /// The suite.
        suite: String,
        /// The section.
        section: String,
        /// What is wrong with it.
        error: CaseError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    name: String,
    title: String,
    summary: String,
    methods: Option<Vec<String>>,
    #[serde(default)]
    axes: toml::Table,
    section: Vec<SectionFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionFile {
    title: String,
    methods: Option<Vec<String>>,
    #[serde(default)]
    axes: toml::Table,
}

impl Suite {
    /// Reads a suite. `methods` and `[axes]` at the top hold for every section that does not set its own.
    ///
    /// # Errors
    /// The text is not TOML, or not of a suite's form.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        let form = |why: String| SuiteError::Form(why);
        let file: SuiteFile = toml::from_str(text).map_err(|error| form(error.message().to_owned()))?;
        let common = axes_of(&file.axes).map_err(form)?;
        let sections = file
            .section
            .into_iter()
            .map(|section| {
                let mut axes = axes_of(&section.axes)?;
                let own = axes.iter().map(|(axis, _)| *axis).collect();
                axes.extend(common.iter().filter(|(axis, _)| !section.axes.contains_key(axis.name())).cloned());
                let methods = section.methods.or_else(|| file.methods.clone());
                let methods = methods.ok_or_else(|| format!("section '{}' has no methods", section.title))?;
                Ok(Section { title: section.title, methods, axes, own })
            })
            .collect::<Result<_, String>>()
            .map_err(form)?;
        Ok(Self { name: file.name, title: file.title, summary: file.summary, sections })
    }

    /// Its rows, with `overrides` in place of its own values on those axes, for the methods that
    /// have them. A row that overrides make equal to an earlier one of its section is left out.
    /// A section that is about one named value (`prepare=fallocate`) is not overridden but left out
    /// where another value is asked for: its heading would lie.
    ///
    /// # Errors
    /// A combination is no case, or no section is left.
    pub fn rows(&self, methods: &[&'static MethodInfo], overrides: &Overrides) -> Result<Vec<Row>, SuiteError> {
        let mut rows: Vec<Row> = Vec::new();
        for section in self.sections.iter().filter(|section| !section.is_contradicted(overrides)) {
            let first_of_section = rows.len();
            for name in &section.methods {
                let cases = section_cases(section, name, methods, overrides).map_err(|error| {
                    SuiteError::Case { suite: self.name.clone(), section: section.title.clone(), error }
                })?;
                for case in cases {
                    if rows[first_of_section..].iter().all(|row| row.case != case) {
                        rows.push(Row { suite: self.name.clone(), section: section.title.clone(), case });
                    }
                }
            }
        }
        if rows.is_empty() {
            return Err(SuiteError::NothingLeft { suite: self.name.clone() });
        }
        Ok(rows)
    }
}

impl Section {
    fn is_contradicted(&self, overrides: &Overrides) -> bool {
        self.own.iter().any(|own| {
            let fixed =
                self.axes.iter().find(|(axis, values)| axis == own && values.len() == 1 && !axis.is_number());
            let over = overrides.iter().find(|(axis, _)| axis == own);
            fixed.zip(over).is_some_and(|((_, fixed), (_, over))| !over.contains(&fixed[0]))
        })
    }
}

fn section_cases(
    section: &Section,
    method_name: &str,
    methods: &[&'static MethodInfo],
    overrides: &Overrides,
) -> Result<Vec<Case>, CaseError> {
    let method = Case::parse(method_name, methods)?.method();
    let mut axes: Vec<(Axis, &[String])> = section
        .axes
        .iter()
        .map(|(axis, values)| {
            let fixed = values.len() == 1 && !axis.is_number() && section.own.contains(axis);
            let over = overrides.iter().find(|(over, _)| over == axis && !fixed);
            (*axis, over.map_or(values.as_slice(), |(_, values)| values.as_slice()))
        })
        .collect();
    for (axis, values) in overrides {
        if method.has_axis(*axis) && axes.iter().all(|(own, _)| own != axis) {
            axes.push((*axis, values));
        }
    }
    let mut combinations: Vec<Vec<(Axis, &str)>> = vec![Vec::new()];
    for (axis, values) in axes {
        combinations = combinations
            .into_iter()
            .flat_map(|combination| {
                values.iter().map(move |value| {
                    let mut combination = combination.clone();
                    combination.push((axis, value.as_str()));
                    combination
                })
            })
            .collect();
    }
    combinations.iter().map(|assignments| Case::new(method, assignments)).collect()
}

fn axes_of(table: &toml::Table) -> Result<Vec<(Axis, Vec<String>)>, String> {
    fn text(value: &toml::Value) -> Result<String, String> {
        match value {
            toml::Value::String(text) => Ok(text.clone()),
            toml::Value::Integer(number) => Ok(number.to_string()),
            other => Err(format!("an axis has texts and whole numbers, not {other}")),
        }
    }
    table
        .iter()
        .map(|(name, value)| {
            let axis = Axis::from_name(name).ok_or_else(|| format!("unknown axis '{name}'"))?;
            let values = match value {
                toml::Value::Array(values) => values.iter().map(text).collect::<Result<_, _>>()?,
                single => vec![text(single)?],
            };
            Ok((axis, values))
        })
        .collect()
}

/// The built-in suites.
///
/// # Panics
/// Never in a build whose tests pass: the texts are fixed.
#[must_use]
pub fn built_in_suites() -> Vec<Suite> {
    SUITES.iter().map(|text| Suite::parse(text).expect("a built-in suite parses")).collect()
}

/// The built-in suite of that name.
///
/// # Errors
/// There is none.
pub fn suite_named(name: &str) -> Result<Suite, SuiteError> {
    let mut suites = built_in_suites();
    match suites.iter().position(|suite| suite.name == name) {
        Some(index) => Ok(suites.swap_remove(index)),
        None => Err(SuiteError::Unknown {
            name: name.to_owned(),
            suites: suites.iter().map(|suite| suite.name.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}
