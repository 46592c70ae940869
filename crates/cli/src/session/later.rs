//! Rows of a run that are not known before it begins.

use std::collections::{HashMap, HashSet};

use writebench_model::{Case, CaseRecord};

/// Rows that come into the database when the first of their cases has its first turn.
#[derive(Default)]
pub(crate) struct Later {
    groups: Vec<Vec<CaseRecord>>,
    group_of: HashMap<String, usize>,
    left_out: HashSet<String>,
}

impl Later {
    /// Rows that come together, in this order.
    pub(crate) fn add(&mut self, rows: Vec<CaseRecord>) {
        let names = rows.iter().map(|row| (row.case.name().to_owned(), self.groups.len()));
        self.group_of.extend(names);
        self.groups.push(rows);
    }

    /// A case whose samples only say how long others will take.
    pub(crate) fn leave_out(&mut self, case: &Case) {
        self.left_out.insert(case.to_string());
    }

    /// The rows that come now.
    pub(super) fn begin(&mut self, case: &str) -> Vec<CaseRecord> {
        let group = self.group_of.get(case).map(|&group| &mut self.groups[group]);
        group.map(std::mem::take).unwrap_or_default()
    }

    pub(super) fn is_recorded(&self, case: &str) -> bool {
        !self.left_out.contains(case)
    }
}
