//! The goals of cases: cases of one goal can be held against each other.

use std::collections::HashMap;

use serde::Serialize;
use writebench_model::{Bytes, Content, Contract, TargetRecord};

use crate::numbers::CaseReport;
use crate::sentences::finding;

/// The common goal of cases with one contract.
#[derive(Serialize)]
pub(super) struct Goal {
    text: String,
    /// Whether the kernel may share blocks and so copy no byte, at any speed.
    is_copy: bool,
}

/// The goals of cases, each once.
#[derive(Default)]
pub(super) struct Goals<'r> {
    numbers: HashMap<&'r Contract, usize>,
    pub all: Vec<Goal>,
}

impl<'r> Goals<'r> {
    /// The number of a case's goal; none where a throughput says nothing about the case: a cheap
    /// look of a search, a case without a rank, and one that writes no data.
    pub(super) fn number(&mut self, case: &'r CaseReport, target: &TargetRecord) -> Option<usize> {
        let contract = &case.record.contract;
        let writes = contract.content.has_own_bytes();
        if case.is_screening() || !case.is_ranked() || !writes {
            return None;
        }
        Some(*self.numbers.entry(contract).or_insert_with(|| {
            let text =
                format!("{}, {}", finding::goal(contract, Some(target)), Bytes(contract.bytes).in_words());
            self.all.push(Goal { text, is_copy: contract.content == Content::Copy });
            self.all.len() - 1
        }))
    }
}
