//! Java 17 and its standard library.

use super::templates;
use crate::language::Speaker;

templates! {}

pub(crate) static SPEAKER: Speaker = Speaker { render, has, lacks: &[], cannot: &[] };
