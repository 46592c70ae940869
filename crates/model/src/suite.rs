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

/// In the order of `writebench list`.
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
    /// More than the default, if the question needs them.
    pub samples: Option<u32>,
    #[serde(default)]
    pub size_is_per_rank: bool,
    /// A check on the number of cases.
    pub cases: Option<usize>,
    /// For sections without methods and rows.
    methods: Option<Vec<String>>,
    /// For sections that do not set their own.
    #[serde(default, deserialize_with = "values")]
    axes: Values,
    #[serde(rename = "section")]
    pub sections: Vec<Section>,
}

/// The first axis is the outermost loop.
type Values = Vec<(Axis, Vec<String>)>;

pub type Overrides = [(Axis, Vec<String>)];

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub title: String,
    methods: Option<Vec<String>>,
    /// A label and the beginning of a case's name.
    rows: Option<Vec<[String; 2]>>,
    #[serde(default, deserialize_with = "values")]
    axes: Values,
    /// The outermost loop: the section's own methods or rows, or the suite's.
    #[serde(skip)]
    pub prefixes: Vec<CasePrefix>,
    #[serde(skip)]
    common: Values,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CasePrefix {
    pub label: Option<String>,
    pub method: Method,
    /// One of several values is never overridden, because the label names them. A chunk can be in blocks of
    /// the filesystem: `16bs`.
    fixed: Vec<(Axis, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedCase {
    pub origin: CaseOrigin,
    pub label: Option<String>,
    pub case: Case,
}

#[derive(Debug)]
pub struct SelectedCases {
    pub rows: Vec<SelectedCase>,
    /// The labels of rows that the overrides make impossible.
    pub left_out: Vec<(String, SuiteError)>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SuiteError(String);

impl Suite {
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        let form = |why: &str| SuiteError(format!("suite file: {why}"));
        let mut suite: Self = toml::from_str(text).map_err(|error| form(error.message()))?;
        for section in &mut suite.sections {
            let methods = section.methods.as_ref().or(suite.methods.as_ref());
            let prefixes: Result<_, CaseError> = match (section.rows.take(), methods) {
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
                    section.title
                ))),
            };
            section.prefixes = prefixes.map_err(|why| form(&why.to_string()))?;
            section.common.clone_from(&suite.axes);
        }
        Ok(suite)
    }

    /// The suite's rows. `overrides` replace its values for methods with those axes.
    ///
    /// Left out are rows of a section with the same name or with another chunk as large as the file, and a section or label whose title
    /// an override would make false (`prepare=fallocate`). A chunk larger than the file is named `whole`. A labelled row that an override makes impossible, such as direct I/O
    /// with records smaller than a sector, is also reported. `block_size_bytes` is the target's, for chunks
    /// in blocks.
    pub fn rows(
        &self,
        overrides: &Overrides,
        block_size_bytes: u64,
    ) -> Result<SelectedCases, SuiteError> {
        let mut rows: Vec<SelectedCase> = Vec::new();
        let mut left_out = Vec::new();
        for section in self
            .sections
            .iter()
            .filter(|section| !section.is_contradicted(overrides))
        {
            // A label is a name of its own.
            let mut met = HashSet::new();
            let origin = CaseOrigin::of_suite(&self.name, &section.title, self.layout);
            for prefix in section
                .prefixes
                .iter()
                .filter(|prefix| !prefix.is_contradicted(overrides))
            {
                let combined = section.combined(prefix, overrides, block_size_bytes);
                let cases = match (
                    combined.into_iter().collect::<Result<Vec<_>, _>>(),
                    &prefix.label,
                ) {
                    (Ok(cases), _) => cases,
                    (Err(error @ CaseError::Contradiction(_)), Some(label))
                        if !overrides.is_empty() =>
                    {
                        left_out.push((label.clone(), self.error(section, error)));
                        continue;
                    }
                    (Err(error), _) => return Err(self.error(section, error)),
                };
                for case in cases {
                    let case = truly_named(case);
                    if met.insert((&prefix.label, whole(&case))) {
                        rows.push(SelectedCase {
                            origin: origin.clone(),
                            label: prefix.label.clone(),
                            case,
                        });
                    }
                }
            }
        }
        if !rows.is_empty() {
            return Ok(SelectedCases { rows, left_out });
        }
        let suite = &self.name;
        let none = format!(
            "suite {suite} has no section with those values. See `writebench list cases {suite}`, or use --case"
        );
        Err(left_out.pop().map_or(SuiteError(none), |(_, error)| error))
    }

    pub(crate) fn error(&self, section: &Section, error: CaseError) -> SuiteError {
        SuiteError(format!(
            "suite {}, section '{}': {error}",
            self.name, section.title
        ))
    }
}

/// The case by the name of a whole file, if its chunk has one. A table has a row for each other choice, also where it has
/// no effect.
fn whole(case: &Case) -> Case {
    let has_all = case.axes().chunk_size_bytes >= case.axes().size_bytes;
    let whole = if has_all {
        case.with(Axis::Chunk, "whole").ok()
    } else {
        None
    };
    whole
        .filter(|whole| whole.is_same_work(case))
        .unwrap_or_else(|| case.clone())
}

/// No chunk is larger than the file. A method's default needs no name.
fn truly_named(case: Case) -> Case {
    let is_larger = case.axes().chunk_size_bytes > case.axes().size_bytes;
    let is_named = case.chosen_axes().any(|axis| axis == Axis::Chunk);
    if is_larger && is_named {
        whole(&case)
    } else {
        case
    }
}

fn named_value(axis: Axis, values: &[String]) -> Option<&String> {
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
    fn is_contradicted(&self, overrides: &Overrides) -> bool {
        self.axes.iter().any(|(axis, values)| {
            named_value(*axis, values).is_some_and(|value| contradicts(overrides, *axis, value))
        })
    }

    pub(crate) fn combined(
        &self,
        prefix: &CasePrefix,
        overrides: &Overrides,
        block_size_bytes: u64,
    ) -> Vec<Result<Case, CaseError>> {
        let over = |axis: &Axis| {
            overrides
                .iter()
                .find(|(over, _)| over == axis)
                .map(|(_, values)| values)
        };
        let fixed: Values = prefix
            .fixed
            .iter()
            .map(|(axis, value)| (*axis, vec![in_bytes(value, block_size_bytes)]))
            .collect();
        let own = self
            .axes
            .iter()
            .map(|(axis, values)| match named_value(*axis, values) {
                Some(_) => (axis, values),
                None => (axis, over(axis).unwrap_or(values)),
            });
        let common = self
            .common
            .iter()
            .map(|(axis, values)| (axis, over(axis).unwrap_or(values)));
        let added = overrides
            .iter()
            .filter(|(axis, _)| prefix.method.has_axis(*axis));
        let fixed = fixed.iter().map(|(axis, values)| (axis, values));
        let added = added.map(|(axis, values)| (axis, values));
        // The first source with an axis decides.
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

/// The first axis is the outermost loop.
pub fn combinations<'v>(
    axes: impl IntoIterator<Item = (Axis, &'v [String])>,
) -> Vec<Vec<Assignment<'v>>> {
    let mut combinations: Vec<Vec<Assignment<'_>>> = vec![Vec::new()];
    for (axis, values) in axes {
        let with = |earlier: &Vec<_>, value: &'v String| {
            [earlier.as_slice(), &[(axis, value.as_str())]].concat()
        };
        let longer = |earlier| values.iter().map(move |value| with(earlier, value));
        combinations = combinations.iter().flat_map(longer).collect();
    }
    combinations
}

/// Converts `16bs` to bytes.
fn in_bytes(value: &str, block_size_bytes: u64) -> String {
    let blocks = value
        .strip_suffix("bs")
        .and_then(|blocks| blocks.parse::<u64>().ok());
    blocks.map_or_else(
        || value.to_owned(),
        |blocks| Bytes(blocks * block_size_bytes).to_string(),
    )
}

fn values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
    let text = |value| match value {
        toml::Value::String(text) => text,
        number => number.to_string(),
    };
    let of_axis = |(name, value): (String, toml::Value)| {
        let values = match value {
            toml::Value::Array(values) => values.into_iter().map(text).collect(),
            single => vec![text(single)],
        };
        Ok((
            Axis::from_name(&name).ok_or_else(|| format!("unknown axis '{name}'"))?,
            values,
        ))
    };
    let table = toml::Table::deserialize(deserializer)?;
    table
        .into_iter()
        .map(of_axis)
        .collect::<Result<_, String>>()
        .map_err(Error::custom)
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
            SuiteError(unknown("suite", name, "expected one of", names))
        })
}
