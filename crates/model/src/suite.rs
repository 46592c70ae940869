//! Named lists of cases, read from TOML.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::axis::Axis;
use crate::case::{Assignment, Case, CaseError};
use crate::case_record::{CaseOrigin, Layout};
use crate::quantity::Bytes;
use crate::similar::did_you_mean;

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
    rows: Option<Vec<CasePrefix>>,
    #[serde(default, deserialize_with = "values")]
    axes: Values,
    /// The outermost loop: the section's own methods or rows, or the suite's.
    #[serde(skip)]
    pub prefixes: Vec<CasePrefix>,
    #[serde(skip)]
    common: Values,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "[String; 2]")]
pub struct CasePrefix {
    pub label: Option<String>,
    pub method: String,
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
            let plain = |names: &Vec<String>| names.iter().map(|name| CasePrefix::parse(None, name)).collect();
            let prefixes = section.rows.take().map(Ok).or_else(|| methods.map(plain));
            let none = || form(&format!("section '{}' has no methods and no rows", section.title));
            section.prefixes = prefixes.ok_or_else(none)?.map_err(|why: String| form(&why))?;
            section.common.clone_from(&suite.axes);
        }
        Ok(suite)
    }

    /// The suite's rows. `overrides` replace its values for methods with those axes.
    ///
    /// Left out are repeated rows of a section, and a section or label whose title an override would make
    /// false (`prepare=fallocate`). A labelled row that an override makes impossible, such as direct I/O
    /// with records smaller than a sector, is also reported. `block_size_bytes` is the target's, for chunks
    /// in blocks.
    pub fn rows(&self, overrides: &Overrides, block_size_bytes: u64) -> Result<SelectedCases, SuiteError> {
        let mut rows: Vec<SelectedCase> = Vec::new();
        let mut left_out = Vec::new();
        for section in self.sections.iter().filter(|section| !section.is_contradicted(overrides)) {
            let first_of_section = rows.len();
            for prefix in section.prefixes.iter().filter(|prefix| !prefix.is_contradicted(overrides)) {
                let combined = section.combined(prefix, overrides, block_size_bytes);
                let cases: Vec<Case> =
                    match (combined.and_then(|cases| cases.into_iter().collect()), &prefix.label) {
                        (Ok(cases), _) => cases,
                        (Err(error @ CaseError::Contradiction(_)), Some(label)) if !overrides.is_empty() => {
                            left_out.push((label.clone(), self.error(section, error)));
                            continue;
                        }
                        (Err(error), _) => return Err(self.error(section, error)),
                    };
                for case in cases {
                    let row = SelectedCase { origin: self.origin(section), label: prefix.label.clone(), case };
                    if !rows[first_of_section..].contains(&row) {
                        rows.push(row);
                    }
                }
            }
        }
        match left_out.pop() {
            Some((_, error)) if rows.is_empty() => Err(error),
            None if rows.is_empty() => Err(SuiteError(format!(
                "suite {suite} has no section with those values. See `writebench list cases {suite}`, or use --case",
                suite = self.name
            ))),
            last => {
                left_out.extend(last);
                Ok(SelectedCases { rows, left_out })
            }
        }
    }

    pub(crate) fn error(&self, section: &Section, error: CaseError) -> SuiteError {
        SuiteError(format!("suite {}, section '{}': {error}", self.name, section.title))
    }

    fn origin(&self, section: &Section) -> CaseOrigin {
        CaseOrigin::Suite { name: self.name.clone(), section: section.title.clone(), layout: self.layout }
    }
}

fn named_value(axis: Axis, values: &[String]) -> Option<&String> {
    values.first().filter(|_| values.len() == 1 && !axis.is_number())
}

fn contradicts(overrides: &Overrides, axis: Axis, value: &String) -> bool {
    overrides.iter().any(|(over, values)| *over == axis && !values.contains(value))
}

impl CasePrefix {
    /// Reads the beginning of a case's name.
    pub(crate) fn parse(label: Option<String>, name: &str) -> Result<Self, String> {
        let mut parts = name.split(',');
        let method = parts.next().unwrap_or_default().to_owned();
        let fixed = parts.map(|part| {
            let (axis, value) = part.split_once('=').ok_or_else(|| format!("'{part}' is not axis=value"))?;
            Ok((axis_named(axis)?, value.to_owned()))
        });
        Ok(Self { label, method, fixed: fixed.collect::<Result<_, String>>()? })
    }

    pub(crate) fn without(mut self, overrides: &Overrides) -> Self {
        self.fixed.retain(|(axis, _)| overrides.iter().all(|(over, _)| over != axis));
        self
    }

    fn is_contradicted(&self, overrides: &Overrides) -> bool {
        self.fixed.iter().any(|(axis, value)| !axis.is_number() && contradicts(overrides, *axis, value))
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
    ) -> Result<Vec<Result<Case, CaseError>>, CaseError> {
        let method = Case::parse(&prefix.method)?.method();
        let over = |axis: &Axis| overrides.iter().find(|(over, _)| over == axis).map(|(_, values)| values);
        let fixed: Values =
            prefix.fixed.iter().map(|(axis, value)| (*axis, vec![in_bytes(value, block_size_bytes)])).collect();
        let own = self.axes.iter().map(|(axis, values)| match named_value(*axis, values) {
            Some(_) => (axis, values),
            None => (axis, over(axis).unwrap_or(values)),
        });
        let common = self.common.iter().map(|(axis, values)| (axis, over(axis).unwrap_or(values)));
        let added = overrides.iter().filter(|(axis, _)| method.has_axis(*axis));
        let fixed = fixed.iter().map(|(axis, values)| (axis, values));
        let added = added.map(|(axis, values)| (axis, values));
        // The first source with an axis decides.
        let mut axes: Vec<(Axis, &[String])> = Vec::new();
        for (axis, values) in fixed.chain(own).chain(common).chain(added) {
            if axes.iter().all(|(earlier, _)| earlier != axis) {
                axes.push((*axis, values));
            }
        }
        Ok(combinations(axes).iter().map(|assignments| Case::new(method, assignments)).collect())
    }
}

/// The first axis is the outermost loop.
pub fn combinations<'v>(axes: impl IntoIterator<Item = (Axis, &'v [String])>) -> Vec<Vec<Assignment<'v>>> {
    let mut combinations: Vec<Vec<Assignment<'_>>> = vec![Vec::new()];
    for (axis, values) in axes {
        let with =
            |earlier: &Vec<_>, value: &'v String| [earlier.as_slice(), &[(axis, value.as_str())]].concat();
        let longer = |earlier| values.iter().map(move |value| with(earlier, value));
        combinations = combinations.iter().flat_map(longer).collect();
    }
    combinations
}

/// Converts `16bs` to bytes.
fn in_bytes(value: &str, block_size_bytes: u64) -> String {
    let blocks = value.strip_suffix("bs").and_then(|blocks| blocks.parse::<u64>().ok());
    blocks.map_or_else(|| value.to_owned(), |blocks| Bytes(blocks * block_size_bytes).to_string())
}

fn axis_named(name: &str) -> Result<Axis, String> {
    let unknown =
        || format!("unknown axis '{name}'{}", did_you_mean(name, Axis::ALL.iter().map(|axis| axis.name())));
    Axis::from_name(name).ok_or_else(unknown)
}

impl TryFrom<[String; 2]> for CasePrefix {
    type Error = String;

    fn try_from([label, name]: [String; 2]) -> Result<Self, String> {
        Self::parse(Some(label), &name)
    }
}

fn values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
    fn text(value: toml::Value) -> Result<String, String> {
        match value {
            toml::Value::String(text) => Ok(text),
            toml::Value::Integer(number) => Ok(number.to_string()),
            other => Err(format!("an axis has texts and whole numbers, not {other}")),
        }
    }
    let of_axis = |(name, value): (String, toml::Value)| {
        let values = match value {
            toml::Value::Array(values) => values.into_iter().map(text).collect::<Result<_, _>>()?,
            single => vec![text(single)?],
        };
        Ok((axis_named(&name)?, values))
    };
    let table = toml::Table::deserialize(deserializer)?;
    table.into_iter().map(of_axis).collect::<Result<_, String>>().map_err(Error::custom)
}

pub fn built_in_suites() -> Vec<Suite> {
    SUITES.iter().map(|text| Suite::parse(text).expect("a built-in suite parses")).collect()
}

pub fn suite_named(name: &str) -> Result<Suite, SuiteError> {
    let suites = built_in_suites();
    let names: Vec<String> = suites.iter().map(|suite| suite.name.clone()).collect();
    let named = suites.into_iter().find(|suite| suite.name == name);
    named.ok_or_else(|| {
        let (meant, names) = (did_you_mean(name, &names), names.join(", "));
        SuiteError(format!("unknown suite '{name}': expected one of {names}{meant}"))
    })
}
