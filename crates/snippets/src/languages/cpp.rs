//! C++17 with the calls of Linux; `liburing` where the case is io_uring.

use super::templates;
use crate::language::Speaker;

templates! {}

pub(crate) static SPEAKER: Speaker = Speaker { render, has, lacks: &[], cannot: &[] };
