//! Headings of options, and parsers of values, for several commands.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use writebench_model::Goal;

pub(crate) const WHAT: &str = "What to measure";
pub(crate) const WHERE: &str = "Where";
pub(crate) const HOW_LONG: &str = "How long";
pub(crate) const HOW_CAREFUL: &str = "How careful";
pub(crate) const GATE: &str = "Gate";
pub(crate) const OUTPUT: &str = "Output";

pub(crate) fn suite_names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        writebench_model::built_in_suites()
            .iter()
            .map(|suite| suite.name.as_str()),
    )
}

/// Their names, and everyday words for them.
pub(crate) fn goals() -> impl TypedValueParser<Value = Goal> {
    PossibleValuesParser::new(goal_names())
        .try_map(|text| Goal::from_word(&text).ok_or("no such goal"))
}

/// The same, and a word for all goals that can be answered together.
pub(crate) fn goals_or_all() -> impl TypedValueParser<Value = &'static [Goal]> {
    const ALL: &str = "all";
    let names = goal_names().chain([PossibleValue::new(ALL)]);
    PossibleValuesParser::new(names).try_map(|text| {
        if text == ALL {
            return Ok(Goal::TOGETHER);
        }
        let mut goals = Goal::ALL.chunks(1);
        let named = goals.find(|goal| Goal::from_word(&text).as_ref() == goal.first());
        named.ok_or("no such goal")
    })
}

fn goal_names() -> impl Iterator<Item = PossibleValue> {
    Goal::ALL
        .iter()
        .map(|goal| PossibleValue::new(goal.name()).aliases(goal.aliases().iter().copied()))
}

/// Lists all values in errors and completions.
pub(crate) fn named_values<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value))).try_map(move |text| {
        all.iter()
            .copied()
            .find(|&value| name(value) == text)
            .ok_or("no such value")
    })
}

/// The largest number that every reader of JSON keeps, of 53 bits.
const MOST_SEED: u64 = (1 << 53) - 1;

pub(crate) fn seed() -> impl TypedValueParser<Value = u64> {
    clap::value_parser!(u64).range(..=MOST_SEED)
}

pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = writebench_model::parse_duration(text)?;
    if duration.is_zero() {
        Err("must be longer than nothing".to_owned())
    } else {
        Ok(duration)
    }
}

/// Parses a share from 0% to below 100% into millionths.
pub(crate) fn percent_in_ppm(text: &str) -> Result<u32, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    let ppm = number
        .map(|percent| (percent * 1e4).round())
        .filter(|ppm| (0.0..1e6).contains(ppm));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below a million"
    )]
    ppm.map(|ppm| ppm as u32)
        .ok_or_else(|| "expected a percentage from 0% to below 100%, such as 5%".to_owned())
}
