//! The commands, one in each file. None uses another: what they share stands below them.

pub mod advise;
pub mod compare;
pub mod fs;
pub mod import;
pub mod keeper;
mod kinds;
pub mod list;
pub mod noise;
mod privileges;
pub mod probe;
pub mod report;
pub mod run;
pub mod show;
pub mod worker;
