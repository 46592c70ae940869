use std::collections::HashMap;

use writebench_model::{Bytes, Contract, TargetRecord};

use crate::numbers::{CaseReport, Figure};
use crate::sentences::finding;

pub(super) struct Goal<'r> {
    pub text: String,
    pub contract: &'r Contract,
    pub figures: Vec<&'r Figure>,
}

#[derive(Default)]
pub(super) struct Goals<'r> {
    numbers: HashMap<&'r Contract, usize>,
    pub all: Vec<Goal<'r>>,
}

impl<'r> Goals<'r> {
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
