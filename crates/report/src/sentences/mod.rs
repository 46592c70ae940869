//! The second layer: values in words.

pub(crate) mod advice;
pub(crate) mod answer;
pub(crate) mod changes;
pub(crate) mod code;
pub(crate) mod comparison;
mod failures;
pub(crate) mod finding;
pub(crate) mod first_notes;
pub(crate) mod gated;
pub(crate) mod goal_answers;
pub(crate) mod goal_rows;
pub(crate) mod goal_word;
mod image_share;
mod kernel;
mod latency;
pub(crate) mod machine;
pub(crate) mod metric;
pub(crate) mod number;
mod obstacle;
mod question;
mod ranks;
mod recommended;
pub(crate) mod report;
mod required;
pub(crate) mod run_names;
mod run_notes;
pub(crate) mod sort;
pub(crate) mod visible;
mod warning;
pub(crate) mod words;

pub(crate) use self::advice::Advice;
pub(crate) use self::changes::Change;
pub(crate) use self::code::codes;
pub use self::code::emit_options;
pub use self::gated::{percent, ratio_interval};
pub(crate) use self::machine::{missing, one_line, run_lines};
pub(crate) use self::number::*;
pub use self::report::Report;
pub(crate) use self::run_names::run_names;
pub use self::visible::{visible, visible_lines};
pub(crate) use self::warning::case_sentence;
pub(crate) use self::words::{
    NAMED, capitalised, counted_range, free_name, listed, shared_values, without_values,
};
pub use self::words::{counted, quoted};
