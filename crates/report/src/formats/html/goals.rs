//! The goals of cases: cases of one goal can be held against each other.

use std::collections::HashMap;

use writebench_model::{Bytes, Contract, TargetRecord};

use crate::numbers::{CaseReport, Figure};
use crate::sentences::finding;

/// The common goal of cases with one contract.
pub(super) struct Goal<'r> {
    pub text: String,
    pub contract: &'r Contract,
    /// Throughputs of its cases.
    pub figures: Vec<&'r Figure>,
}

/// The goals of cases, each once.
#[derive(Default)]
pub(super) struct Goals<'r> {
    numbers: HashMap<&'r Contract, usize>,
    pub all: Vec<Goal<'r>>,
}

impl<'r> Goals<'r> {
    /// The number of a case's goal.
    pub(super) fn number(&mut self, case: &'r CaseReport, target: &TargetRecord) -> usize {
        let contract = &case.record.contract;
        *self.numbers.entry(contract).or_insert_with(|| {
            let goal = finding::goal(contract, Some(target));
            let text = format!("{goal}, {}", Bytes(contract.bytes).in_words());
            self.all.push(Goal { text, contract, figures: Vec::new() });
            self.all.len() - 1
        })
    }
}
