//! Lists of bounded length: reading one stops before it exhausts the memory.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The most samples of a case on one target.
pub const MOST_SAMPLES: usize = 1_000_000;
pub(crate) const MOST_INTERVALS: usize = 1_000;
const MOST_ENTRIES: usize = 100_000;

/// Reads a list of at most `most` items, which an error calls `what`.
pub fn at_most<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
    most: usize,
    what: &'static str,
) -> Result<Vec<T>, D::Error> {
    from.deserialize_seq(AtMost {
        most,
        what,
        of: PhantomData,
    })
}

/// Reads a list with a generous limit, far above any that writebench makes.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    at_most(from, MOST_ENTRIES, "entries in a list")
}

struct AtMost<T> {
    most: usize,
    what: &'static str,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for AtMost<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.what)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == self.most {
                return Err(A::Error::custom(format_args!(
                    "it has more than {} {}",
                    self.most, self.what
                )));
            }
            items.push(item);
        }
        Ok(items)
    }
}
