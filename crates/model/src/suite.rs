//! Named lists of cases, read from TOML.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::axis::Axis;
use crate::case::{Assignment, Case, CaseError, parse_name};
use crate::case_record::{CaseOrigin, Layout};
use crate::method::Method;
use crate::quantity::Bytes;
use crate::similar::unknown;

/// The texts of the built-in suites, in the order of `writebench list`.
pub const SUITES: &[&str] = &[
    include_str!("../suites/create.toml"),
    include_str!("../suites/mmap.toml"),
    include_str!("../suites/vectored.toml"),
    include_str!("../suites/parallel.toml"),
    include_str!("../suites/write.toml"),
    include_str!("../suites/copy.toml"),
    include_str!("../suites/durable.toml"),
    include_str!("../suites/direct.toml"),
    include_str!("../suites/buffer.toml"),
    include_str!("../suites/files.toml"),
    include_str!("../suites/cluster.toml"),
];

/// A named list of cases, in the form of its TOML file. A section is a table with a row for every
/// combination of its axes' values and prefixes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    pub name: String,
    pub title: String,
    pub summary: String,
    #[serde(default)]
    pub layout: Layout,
    /// The samples of each case, if the question needs more than the default.
    pub samples: Option<u32>,
    /// Whether the axis `size` is the size of each rank's part.
    #[serde(default)]
    pub size_is_per_rank: bool,
    /// The number of cases, against which a test checks the file.
    pub cases: Option<usize>,
    /// The methods of sections without methods and rows of their own.
    methods: Option<Vec<String>>,
    /// The values of sections that do not set their own.
    #[serde(default, deserialize_with = "values")]
    axes: AxisValues,
    #[serde(rename = "section")]
    pub sections: Vec<Section>,
}

/// The texts of the values of some axes, of which the first axis is the outermost loop.
pub type AxisValues = Vec<(Axis, Vec<String>)>;

/// AxisValues of the command line, which replace those of a suite.
pub type Overrides = [(Axis, Vec<String>)];

/// One table of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub title: String,
    methods: Option<Vec<String>>,
    /// A label and the beginning of a case's name for each row.
    rows: Option<Vec<[String; 2]>>,
    #[serde(default, deserialize_with = "values")]
    axes: AxisValues,
    /// The section's own methods or rows, or those of the suite. They are the outermost loop.
    #[serde(skip)]
    pub prefixes: Vec<CasePrefix>,
    /// The values of the suite, which the section's own replace.
    #[serde(skip)]
    common: AxisValues,
}

/// The beginning of the names of some cases: a method, maybe with values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CasePrefix {
    pub label: Option<String>,
    pub method: Method,
    /// The values, which are never overridden, because the label names them. A chunk can be in blocks of the
    /// filesystem: `16bs`.
    fixed: Vec<(Axis, String)>,
}

/// A row of a suite's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedCase {
    pub origin: CaseOrigin,
    pub label: Option<String>,
    pub case: Case,
}

/// What is chosen to be measured: rows of suites and goals, and cases by name.
#[derive(Debug, Default)]
pub struct Selection {
    pub rows: Vec<SelectedCase>,
    /// Further cases of goals. A contest tries the promising ones, which then get a row.
    pub candidates: Vec<SelectedCase>,
    /// The reasons for omitted rows, as sentences.
    pub notes: Vec<String>,
    /// The samples of each case, if a suite needs more than the default.
    pub samples: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SuiteError(String);

impl SuiteError {
    pub(crate) fn in_goal(name: &str, error: &CaseError) -> Self {
        Self(format!("goal {name}: {error}"))
    }

    fn in_file(why: &str) -> Self {
        Self(format!("suite file: {why}"))
    }
}

impl Suite {
    /// Reads the text of a TOML file.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        let mut suite: Self =
            toml::from_str(text).map_err(|error| SuiteError::in_file(error.message()))?;
        for section in &mut suite.sections {
            section.read_prefixes(suite.methods.as_deref())?;
            section.common.clone_from(&suite.axes);
        }
        Ok(suite)
    }

    /// The suite's rows. `overrides` replace its values for methods with those axes.
    ///
    /// Left out are rows of a section with the same name or with another chunk as large as the file, and a section or
    /// label whose title an override would make false (`prepare=fallocate`). A chunk larger than the file is named
    /// `whole`. A labelled row that an override makes impossible, such as direct I/O with records smaller than a
    /// sector, has a note. `block_size_bytes` is the target's, for chunks in blocks.
    pub fn rows(
        &self,
        overrides: &Overrides,
        block_size_bytes: u64,
    ) -> Result<Selection, SuiteError> {
        let mut rows = Vec::new();
        let mut left_out = Vec::new();
        let possible = self
            .sections
            .iter()
            .filter(|section| !section.is_contradicted(overrides));
        for section in possible {
            rows.extend(self.rows_of(section, overrides, block_size_bytes, &mut left_out)?);
        }
        if rows.is_empty() {
            return Err(match left_out.pop() {
                Some((_, error)) => error,
                None => self.no_section_error(),
            });
        }
        let notes = left_out
            .into_iter()
            .map(|(label, error)| format!("Left out '{label}': {error}"));
        Ok(Selection {
            rows,
            candidates: Vec::new(),
            notes: notes.collect(),
            samples: self.samples,
        })
    }

    /// The rows of a section. The labels of impossible rows are added to `left_out`, each with the reason.
    fn rows_of(
        &self,
        section: &Section,
        overrides: &Overrides,
        block_size_bytes: u64,
        left_out: &mut Vec<(String, SuiteError)>,
    ) -> Result<Vec<SelectedCase>, SuiteError> {
        let origin = CaseOrigin::of_suite(&self.name, &section.title, self.layout);
        let mut rows = Vec::new();
        // Rows with different labels are different, also with the same case.
        let mut known = HashSet::new();
        let possible = section
            .prefixes
            .iter()
            .filter(|prefix| !prefix.is_contradicted(overrides));
        for prefix in possible {
            let combined = section.combined(prefix, overrides, block_size_bytes);
            let combined: Result<Vec<Case>, CaseError> = combined.into_iter().collect();
            let cases = match (combined, &prefix.label) {
                (Ok(cases), _) => cases,
                (Err(error @ CaseError::Contradiction(_)), Some(label))
                    if !overrides.is_empty() =>
                {
                    let error = self.error(section, error);
                    left_out.push((label.clone(), error));
                    continue;
                }
                (Err(error), _) => return Err(self.error(section, error)),
            };
            for case in cases.into_iter().map(without_larger_chunk) {
                if known.insert((&prefix.label, with_whole_chunk(&case))) {
                    rows.push(SelectedCase {
                        origin: origin.clone(),
                        label: prefix.label.clone(),
                        case,
                    });
                }
            }
        }
        Ok(rows)
    }

    fn no_section_error(&self) -> SuiteError {
        let suite = &self.name;
        SuiteError(format!(
            "suite {suite} has no section with those values. See `writebench list cases {suite}`, or use --case"
        ))
    }

    fn error(&self, section: &Section, error: CaseError) -> SuiteError {
        SuiteError(format!(
            "suite {}, section '{}': {error}",
            self.name, section.title
        ))
    }
}

/// The case with the chunk `whole`, if its chunk has the whole file and the calls are the same. A table has a row for
/// each other choice, also where it has no effect.
fn with_whole_chunk(case: &Case) -> Case {
    let has_all = case.choices().chunk_size_bytes >= case.given().size_bytes;
    let whole = if has_all {
        case.with(Axis::Chunk, "whole").ok()
    } else {
        None
    };
    whole
        .filter(|whole| whole.is_same_work(case))
        .unwrap_or_else(|| case.clone())
}

/// The case whose name has no chunk larger than the file. A method's default is not in the name.
fn without_larger_chunk(case: Case) -> Case {
    let is_larger = case.choices().chunk_size_bytes > case.given().size_bytes;
    let is_named = case.chosen_axes().any(|axis| axis == Axis::Chunk);
    if is_larger && is_named {
        with_whole_chunk(&case)
    } else {
        case
    }
}

/// The value of an axis that has only this one, if it has a name. Such a value may be part of a title.
fn only_named_value(axis: Axis, values: &[String]) -> Option<&String> {
    values
        .first()
        .filter(|_| values.len() == 1 && !axis.is_number())
}

fn contradicts(overrides: &Overrides, axis: Axis, value: &String) -> bool {
    overrides
        .iter()
        .any(|(over, values)| *over == axis && !values.contains(value))
}

impl CasePrefix {
    /// Reads the beginning of a case's name.
    pub(crate) fn parse(label: Option<String>, name: &str) -> Result<Self, CaseError> {
        let (method, values) = parse_name(name)?;
        let fixed = values
            .into_iter()
            .map(|(axis, value)| (axis, value.to_owned()))
            .collect();
        Ok(Self {
            label,
            method,
            fixed,
        })
    }

    pub(crate) fn without(mut self, overrides: &Overrides) -> Self {
        self.fixed
            .retain(|(axis, _)| overrides.iter().all(|(over, _)| over != axis));
        self
    }

    fn is_contradicted(&self, overrides: &Overrides) -> bool {
        self.fixed
            .iter()
            .any(|(axis, value)| !axis.is_number() && contradicts(overrides, *axis, value))
    }
}

impl Section {
    /// A section without values of its own.
    pub(crate) fn plain(prefix: CasePrefix, common: AxisValues) -> Self {
        Self {
            title: prefix.method.name().to_owned(),
            methods: None,
            rows: None,
            axes: AxisValues::new(),
            prefixes: vec![prefix],
            common,
        }
    }

    /// Reads the section's own methods or rows, or else these methods.
    fn read_prefixes(&mut self, methods: Option<&[String]>) -> Result<(), SuiteError> {
        let prefixes: Result<_, CaseError> =
            match (self.rows.take(), self.methods.as_deref().or(methods)) {
                (Some(rows), _) => rows
                    .into_iter()
                    .map(|[label, name]| CasePrefix::parse(Some(label), &name))
                    .collect(),
                (None, Some(names)) => names
                    .iter()
                    .map(|name| CasePrefix::parse(None, name))
                    .collect(),
                (None, None) => Err(CaseError::Unknown(format!(
                    "{} has no methods or rows",
                    self.title
                ))),
            };
        self.prefixes = prefixes.map_err(|why| SuiteError::in_file(&why.to_string()))?;
        Ok(())
    }

    /// The section's own values for an axis.
    pub(crate) fn values(&self, axis: Axis) -> Option<&[String]> {
        let own = self.axes.iter().find(|(own, _)| *own == axis);
        own.map(|(_, values)| values.as_slice())
    }

    /// The section with other values for an axis. It has no cases if there are none.
    pub(crate) fn with_values(self, axis: Axis, values: Vec<String>) -> Self {
        let mut section = self.without_values(axis);
        section.axes.push((axis, values));
        section
    }

    /// The section without values of its own for an axis, which gets those of the suite or of a goal.
    pub(crate) fn without_values(mut self, axis: Axis) -> Self {
        self.axes.retain(|(own, _)| *own != axis);
        self
    }

    pub(crate) fn with_common(self, common: AxisValues) -> Self {
        Self { common, ..self }
    }

    fn is_contradicted(&self, overrides: &Overrides) -> bool {
        self.axes.iter().any(|(axis, values)| {
            only_named_value(*axis, values)
                .is_some_and(|value| contradicts(overrides, *axis, value))
        })
    }

    /// A case for each combination of the values. They come from the prefix, the section, the suite and the
    /// overrides, in this order: the first source with an axis decides. Overrides replace the values of the section
    /// and the suite, but no named value that may be part of the section's title.
    pub(crate) fn combined(
        &self,
        prefix: &CasePrefix,
        overrides: &Overrides,
        block_size_bytes: u64,
    ) -> Vec<Result<Case, CaseError>> {
        let fixed: AxisValues = prefix
            .fixed
            .iter()
            .map(|(axis, value)| (*axis, vec![in_bytes(value, block_size_bytes)]))
            .collect();
        let own = self
            .axes
            .iter()
            .map(|(axis, values)| match only_named_value(*axis, values) {
                Some(_) => (axis, values),
                None => (axis, overridden(*axis, values, overrides)),
            });
        let common = self
            .common
            .iter()
            .map(|(axis, values)| (axis, overridden(*axis, values, overrides)));
        let added = overrides
            .iter()
            .filter(|(axis, _)| prefix.method.has_axis(*axis))
            .map(|(axis, values)| (axis, values));
        let fixed = fixed.iter().map(|(axis, values)| (axis, values));
        let mut axes: Vec<(Axis, &[String])> = Vec::new();
        for (axis, values) in fixed.chain(own).chain(common).chain(added) {
            if axes.iter().all(|(earlier, _)| earlier != axis) {
                axes.push((*axis, values));
            }
        }
        combinations(axes)
            .iter()
            .map(|assignments| Case::new(prefix.method, assignments))
            .collect()
    }
}

/// The values of the overrides for an axis, or else the given ones.
fn overridden<'v>(
    axis: Axis,
    values: &'v Vec<String>,
    overrides: &'v Overrides,
) -> &'v Vec<String> {
    overrides
        .iter()
        .find(|(over, _)| *over == axis)
        .map_or(values, |(_, values)| values)
}

/// Each combination of one value of every axis. The first axis is the outermost loop.
pub fn combinations<'v>(
    axes: impl IntoIterator<Item = (Axis, &'v [String])>,
) -> Vec<Vec<Assignment<'v>>> {
    let mut combinations: Vec<Vec<Assignment<'_>>> = vec![Vec::new()];
    for (axis, values) in axes {
        let mut longer = Vec::new();
        for combination in &combinations {
            for value in values {
                longer.push([combination.as_slice(), &[(axis, value.as_str())]].concat());
            }
        }
        combinations = longer;
    }
    combinations
}

/// Converts `16bs` to bytes. Other values remain.
fn in_bytes(value: &str, block_size_bytes: u64) -> String {
    let blocks = value
        .strip_suffix("bs")
        .and_then(|blocks| blocks.parse::<u64>().ok());
    match blocks {
        Some(blocks) => Bytes(blocks * block_size_bytes).to_string(),
        None => value.to_owned(),
    }
}

/// Reads a table with an entry for each axis, which is one value or a list.
fn values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AxisValues, D::Error> {
    let table = toml::Table::deserialize(deserializer)?;
    table
        .into_iter()
        .map(|(name, value)| values_of_axis(&name, value))
        .collect::<Result<_, String>>()
        .map_err(Error::custom)
}

fn values_of_axis(name: &str, value: toml::Value) -> Result<(Axis, Vec<String>), String> {
    let values = match value {
        toml::Value::Array(values) => values.into_iter().map(value_text).collect(),
        single => vec![value_text(single)],
    };
    let axis = Axis::from_name(name).ok_or_else(|| format!("unknown axis '{name}'"))?;
    Ok((axis, values))
}

fn value_text(value: toml::Value) -> String {
    match value {
        toml::Value::String(text) => text,
        number => number.to_string(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Strategies {
    section: Vec<Section>,
}

/// The strategies among which searches choose, of all methods.
pub(crate) fn strategies() -> &'static [Section] {
    static PARSED: LazyLock<Vec<Section>> = LazyLock::new(|| {
        let mut file: Strategies =
            toml::from_str(include_str!("../strategies.toml")).expect("the strategies parse");
        for section in &mut file.section {
            section
                .read_prefixes(None)
                .expect("strategies have methods");
        }
        file.section
    });
    &PARSED
}

pub fn built_in_suites() -> &'static [Suite] {
    static PARSED: LazyLock<Vec<Suite>> = LazyLock::new(|| {
        SUITES
            .iter()
            .map(|text| Suite::parse(text).expect("a built-in suite parses"))
            .collect()
    });
    &PARSED
}

pub fn suite_named(name: &str) -> Result<&'static Suite, SuiteError> {
    let suites = built_in_suites();
    suites
        .iter()
        .find(|suite| suite.name == name)
        .ok_or_else(|| {
            let names = suites.iter().map(|suite| suite.name.as_str());
            SuiteError(unknown("suite", name, names, "writebench list suites"))
        })
}
