use std::collections::{HashMap, HashSet};

use writebench_model::protocol::direct_check_bytes;
use writebench_model::{Cache, Case, Checksums, Prepare};

/// An upper bound of the bytes written by a run, and the limit. A truncated sample counts in full. Old content counts when
/// it is made, and not when a sample finds that of the one before.
#[derive(Debug, Default)]
pub struct Written {
    most_bytes: Option<u64>,
    beside_bytes: u64,
    sample_bytes: u64,
    // The part of `sample_bytes` that was there already.
    found_bytes: u64,
    // The worker's source for copies, by target.
    copied: HashMap<usize, u64>,
    // The targets and states in which the worker knows the path of O_DIRECT writes.
    direct_checked: HashSet<(usize, Prepare, Checksums)>,
    copy_is_given: bool,
}

impl Written {
    /// `copy_is_given`: the user names the source, so none must be made.
    pub fn new(most_bytes: Option<u64>, copy_is_given: bool) -> Self {
        Self {
            most_bytes,
            copy_is_given,
            ..Self::default()
        }
    }

    /// Counts bytes other than the samples': images, limits of the hardware, the workspace's lock, the
    /// remaining copy.
    pub fn add(&mut self, bytes: u64) {
        self.beside_bytes = self.beside_bytes.saturating_add(bytes);
    }

    /// Counts bytes of samples, whole and in advance, that did not have to be written.
    pub fn find(&mut self, bytes: u64) {
        self.found_bytes = self.found_bytes.saturating_add(bytes);
    }

    pub fn bytes(&self) -> u64 {
        self.beside_bytes.saturating_add(self.sample_bytes())
    }

    /// The bytes that the run may still write. None if there is no limit.
    pub fn left_bytes(&self) -> Option<u64> {
        self.most_bytes
            .map(|most| most.saturating_sub(self.bytes()))
    }

    /// The bytes of all samples and of the sources of copies. A search divides only these among its cases.
    pub(crate) fn sample_bytes(&self) -> u64 {
        self.sample_bytes.saturating_sub(self.found_bytes)
    }

    /// What the next sample of a case writes, with its preparations: a source and, if the sample is read back, files for
    /// finding the path of direct I/O.
    pub fn needed_bytes(&self, target: usize, case: &Case, is_read_back: bool) -> u64 {
        self.sample_and_source(target, case)
            .saturating_add(self.direct_check(target, case, is_read_back))
    }

    fn sample_and_source(&self, target: usize, case: &Case) -> u64 {
        let size_bytes = case.given().size_bytes;
        let is_there = self
            .copied
            .get(&target)
            .is_some_and(|&bytes| bytes >= size_bytes);
        let makes_source = case.method().has_source_file() && !self.copy_is_given && !is_there;
        case.bytes_written()
            .saturating_add(if makes_source { size_bytes } else { 0 })
    }

    fn direct_check(&self, target: usize, case: &Case, is_read_back: bool) -> u64 {
        let choices = case.choices();
        let is_checked =
            self.direct_checked
                .contains(&(target, choices.prepare, case.given().checksums));
        let checks = is_read_back && choices.cache == Cache::Direct && !is_checked;
        if checks {
            direct_check_bytes(choices.prepare)
        } else {
            0
        }
    }

    pub(crate) fn add_sample(&mut self, target: usize, case: &Case, is_read_back: bool) {
        let bytes = self.sample_and_source(target, case);
        self.sample_bytes = self.sample_bytes.saturating_add(bytes);
        self.add(self.direct_check(target, case, is_read_back));
        let choices = case.choices();
        if case.method().has_source_file() {
            let copied = self.copied.entry(target).or_default();
            *copied = case.given().size_bytes.max(*copied);
        }
        if is_read_back && choices.cache == Cache::Direct {
            self.direct_checked
                .insert((target, choices.prepare, case.given().checksums));
        }
    }

    /// Forgets the worker's source and knowledge.
    pub(crate) fn end_worker(&mut self) {
        self.copied.clear();
        self.direct_checked.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str) -> Case {
        Case::parse(name).unwrap()
    }

    #[test]
    fn old_content_counts_as_often_as_it_is_made() {
        let mut written = Written::default();
        written.add_sample(0, &case("write,size=10"), true);
        assert_eq!(written.bytes(), 10);
        written.add_sample(0, &case("write,size=10,prepare=overwrite"), true);
        assert_eq!(written.bytes(), 30);
    }

    #[test]
    fn old_content_that_is_found_does_not_count() {
        let mut written = Written::new(Some(100), false);
        for found in [0, 10] {
            written.add_sample(0, &case("write,size=10,prepare=overwrite"), true);
            written.find(found);
        }
        assert_eq!((written.bytes(), written.left_bytes()), (30, Some(70)));
        assert_eq!(
            written.needed_bytes(0, &case("write,size=10,prepare=overwrite"), true),
            20,
            "the next one may have to make it"
        );
    }

    #[test]
    fn a_source_counts_when_it_is_made() {
        let mut written = Written::default();
        assert_eq!(
            written.needed_bytes(0, &case("read-write,size=10"), true),
            20
        );
        written.add_sample(0, &case("read-write,size=10"), true);
        assert_eq!(
            written.needed_bytes(0, &case("read-write,size=4"), true),
            4,
            "it is there"
        );
        assert_eq!(
            written.needed_bytes(0, &case("read-write,size=11"), true),
            22,
            "it is too small"
        );
        assert_eq!(
            written.needed_bytes(1, &case("read-write,size=10"), true),
            20,
            "it is elsewhere"
        );
        written.end_worker();
        assert_eq!(
            written.needed_bytes(0, &case("read-write,size=10"), true),
            20,
            "it went with its worker"
        );
        assert_eq!(
            Written::new(None, true).needed_bytes(0, &case("read-write,size=10"), true),
            10,
            "it is somebody's"
        );
    }

    #[test]
    fn the_check_of_direct_io_counts_once_for_each_target_and_state() {
        let mut written = Written::default();
        let new = case("write,size=4KiB,cache=direct");
        let old = case("write,size=4KiB,cache=direct,prepare=overwrite");
        let check = direct_check_bytes(Prepare::Create);
        assert_eq!(written.needed_bytes(0, &new, true), 4096 + check);
        assert_eq!(
            written.needed_bytes(0, &new, false),
            4096,
            "nobody reads it back"
        );
        written.add_sample(0, &new, true);
        assert_eq!(written.needed_bytes(0, &new, true), 4096, "it is known");
        assert_eq!(
            written.needed_bytes(1, &new, true),
            4096 + check,
            "on another target it is not"
        );
        assert_eq!(
            written.needed_bytes(0, &old, true),
            2 * (4096 + check),
            "nor in another state, with old content"
        );
        written.end_worker();
        assert_eq!(written.needed_bytes(0, &new, true), 4096 + check);
    }

    #[test]
    fn a_limit_holds_for_all_written_bytes() {
        let mut written = Written::new(Some(100), false);
        written.add(60);
        written.add_sample(0, &case("write,size=10"), true);
        assert_eq!((written.bytes(), written.left_bytes()), (70, Some(30)));
        written.add(50);
        assert_eq!(written.left_bytes(), Some(0));
        assert_eq!(Written::default().left_bytes(), None);
    }
}
