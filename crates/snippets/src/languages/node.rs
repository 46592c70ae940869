//! Node.js, and @writebench/direct-io where the case is direct I/O.

use super::templates;
use crate::language::Speaker;

templates! {}

pub(crate) static SPEAKER: Speaker = Speaker { render, has, lacks: &[], cannot: &[] };
