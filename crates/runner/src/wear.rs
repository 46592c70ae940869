//! How much a run writes: disks wear.

use std::collections::HashMap;

use model::Case;

/// Bytes that a run has written, at most: a sample that is cut short counts as whole.
#[derive(Debug, Default)]
pub(crate) struct Wear {
    bytes: u64,
    // The file that the worker holds to be copied, by target.
    copied: HashMap<usize, u64>,
    given: bool,
}

impl Wear {
    /// `given` is whether what is copied is there already.
    pub(crate) fn new(given: bool) -> Self {
        Self { given, ..Self::default() }
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What a sample of the case writes, with the file that it copies where that has to be made.
    pub(crate) fn of(&self, target: usize, case: &Case) -> u64 {
        let size_bytes = case.axes().size_bytes;
        let is_there = |target| self.copied.get(&target).is_some_and(|&bytes| bytes >= size_bytes);
        let makes_source = case.method().copies() && !self.given && !is_there(target);
        case.bytes_written().saturating_add(if makes_source { size_bytes } else { 0 })
    }

    /// Counts a sample.
    pub(crate) fn add(&mut self, target: usize, case: &Case) {
        self.bytes = self.bytes.saturating_add(self.of(target, case));
        if case.method().copies() {
            let copied = self.copied.entry(target).or_default();
            *copied = case.axes().size_bytes.max(*copied);
        }
    }

    /// The worker is gone, and with it what it held to be copied.
    pub(crate) fn end_worker(&mut self) {
        self.copied.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example_method::{COPY, WRITE};

    fn case(name: &str) -> Case {
        Case::parse(name, &[&WRITE, &COPY]).unwrap()
    }

    #[test]
    fn what_was_there_before_counts_as_often_as_it_is_made() {
        let mut wear = Wear::new(false);
        for (name, bytes) in [("write,size=10", 10), ("write,size=10,prepare=overwrite", 20)] {
            wear.add(0, &case(name));
            assert_eq!(wear.bytes(), bytes + if bytes == 20 { 10 } else { 0 }, "{name}");
        }
    }

    #[test]
    fn a_file_to_be_copied_counts_when_it_is_made() {
        let mut wear = Wear::new(false);
        assert_eq!(wear.of(0, &case("copy,size=10")), 20);
        wear.add(0, &case("copy,size=10"));
        assert_eq!(wear.of(0, &case("copy,size=4")), 4, "it is there");
        assert_eq!(wear.of(0, &case("copy,size=11")), 22, "it is too small");
        assert_eq!(wear.of(1, &case("copy,size=10")), 20, "it is elsewhere");
        wear.end_worker();
        assert_eq!(wear.of(0, &case("copy,size=10")), 20, "it went with its worker");
        assert_eq!(Wear::new(true).of(0, &case("copy,size=10")), 10, "it is somebody's");
    }
}
