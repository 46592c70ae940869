//! The second floor: what figures come to, in words, and the report that holds both.

pub mod advice;
pub(crate) mod answer;
pub(crate) mod arranged;
pub(crate) mod conclusion;
pub(crate) mod image_share;
pub(crate) mod machine;
pub(crate) mod number;
pub(crate) mod question;
pub(crate) mod read_back;
pub(crate) mod report;
pub(crate) mod run_names;
pub(crate) mod shell;
pub(crate) mod visible;
pub(crate) mod warning;
