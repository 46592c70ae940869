//! Files and processes of workers that did not live to clean up behind themselves.

use std::collections::BTreeSet;

use crate::worker::Worker;

/// Workers that hang in the kernel with a file, and targets with files that nobody has removed.
#[derive(Default)]
pub struct Casualties {
    // Those that could not be killed, and in which target.
    hung: Vec<(usize, Worker)>,
    unclean: BTreeSet<usize>,
}

impl Casualties {
    /// Takes a worker that was killed or ended while it worked in a target.
    pub(crate) fn add(&mut self, target: usize, mut worker: Worker) {
        self.unclean.insert(target);
        if !worker.is_gone() {
            self.hung.push((target, worker));
        }
    }

    /// Another name for files after each worker that hangs with its own.
    pub(crate) fn file_stem(&self, stem: &str) -> String {
        match self.hung.len() {
            0 => stem.to_owned(),
            hung => format!("{stem}-after-{hung}"),
        }
    }

    /// Whether the next worker has files to remove in a target. While one hangs there, nobody touches them: whoever
    /// removes what it waits for, waits with it.
    pub(crate) fn has_files_in(&self, target: usize) -> bool {
        self.unclean.contains(&target) && self.hung.iter().all(|(of, _)| *of != target)
    }

    /// The files in a target have been removed.
    pub(crate) fn are_removed(&mut self, target: usize) {
        self.unclean.remove(&target);
    }

    /// Whether a worker still hangs in a target.
    pub fn hangs_in(&mut self, target: usize) -> bool {
        self.hung.retain_mut(|(_, worker)| !worker.is_gone());
        self.hung.iter().any(|(of, _)| *of == target)
    }
}
