use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::HashMap;

use writebench_model::{
    CaseRecord, Durability, Limit, LimitKind, Objective, Outcome, RunRecord, Sample, Stage,
    TargetRecord, Workload,
};
use writebench_stats::{FEWEST_COMPARED, Interval, Verdict, grouped};

use crate::numbers::estimate::Estimate;
use crate::numbers::limit_share::LimitShare;
use crate::numbers::rounds::{Modelled, Times, times};

/// A case on one target, with what its samples show.
#[derive(Debug, Clone)]
pub struct CaseReport {
    /// The case's name, and the target if there are several.
    pub name: String,
    pub record: CaseRecord,
    /// Why the case has another outcome than ok.
    pub reason: Option<String>,
    /// The case belongs to a contest on a busy machine, which was decided with disturbed samples. See
    /// [`writebench_model::Decision`].
    pub counts_disturbed: bool,
    /// The values from the good samples. They are None if no sample was good.
    pub estimate: Option<Estimate>,
    /// The case's part of the model of its workload. It is None if no sample counts, such as when every one was
    /// disturbed.
    modelled: Option<Modelled>,
    /// The index of the case's target among those of the run.
    target_index: Option<usize>,
    /// Why the target does not keep the case's promise of durability, as a clause.
    pub not_durable: Option<String>,
}

/// Why the target does not keep the case's promise of durability. The calls of a later version's case are unknown, so
/// only the target itself can break its promise.
fn why_not_durable(record: &CaseRecord, target: &TargetRecord) -> Option<String> {
    if record.workload.durability != Durability::Durable {
        return None;
    }
    target
        .loses_data()
        .or_else(|| target.why_not_durable(record.case.known()?))
}

impl CaseReport {
    /// The case without its part of a model.
    pub(super) fn on_target(
        record: CaseRecord,
        target_index: Option<usize>,
        run: &RunRecord,
    ) -> Self {
        let not_durable =
            target_index.and_then(|index| why_not_durable(&record, &run.targets[index]));
        let mut case = Self {
            target_index,
            not_durable,
            ..Self::new(record, run.settings.objective)
        };
        if run.is_side_by_side() {
            case.name = format!("{} on {}", case.name, case.record.target);
        }
        case
    }

    fn new(mut record: CaseRecord, objective: Objective) -> Self {
        record.workload.content = record.found_content();
        let reason = match record.samples.last() {
            Some(sample) => sample.reason(),
            None => Some("not measured: the run ended before its turn".to_owned()),
        };
        let name = record
            .program()
            .map_or_else(|| record.case.to_string(), |command| format!("`{command}`"));
        let estimate = Estimate::from_case(&record, objective);
        Self {
            name,
            reason,
            counts_disturbed: false,
            estimate,
            modelled: None,
            target_index: None,
            not_durable: None,
            record,
        }
    }

    /// The case as a run with one target would report it alone.
    #[cfg(test)]
    pub(crate) fn from_record(record: CaseRecord) -> Self {
        let mut case = Self::new(record, Objective::Time);
        let times = case.times(Objective::Time);
        let modelled = Modelled::for_cases(&[(&case.record, times)])
            .pop()
            .flatten();
        case.model(modelled, &[]);
        case
    }

    /// The times of the samples that decide about the case.
    pub(crate) fn times(&self, objective: Objective) -> Times {
        times(&self.record, objective, self.counts_disturbed)
    }

    /// The model determines all values of the total time.
    pub(super) fn model(&mut self, modelled: Option<Modelled>, limits: &[Limit]) {
        if let Some(estimate) = &mut self.estimate {
            let value_ns = modelled
                .as_ref()
                .and_then(Modelled::value_ns)
                .or_else(|| estimate.unmodelled_ns(&self.record));
            if estimate.objective == Objective::Time
                && let Some(value_ns) = value_ns
            {
                estimate.adjust(&self.record, value_ns);
            }
            estimate.limit =
                LimitShare::for_case(&self.record, estimate.throughput_bytes_per_s.value, limits);
        }
        self.modelled = modelled;
    }

    /// The time over another's: 2 if the other is twice as fast. Cases of other workloads or targets are
    /// compared in rounds only. It is None without samples of both that count.
    pub fn ratio_to(&self, other: &Self) -> Option<Interval> {
        self.modelled.as_ref()?.ratio_to(other.modelled.as_ref()?)
    }

    pub(crate) fn verdict_to(&self, other: &Self) -> Verdict {
        self.ratio_to(other)
            .map_or(Verdict::Inconclusive, |ratio| ratio.verdict())
    }

    pub(crate) fn target<'r>(&self, run: &'r RunRecord) -> Option<&'r TargetRecord> {
        run.targets.get(self.target_index?)
    }

    /// The outcome of the last sample. It is None if the case was not measured.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.record.samples.last().map(|sample| &sample.outcome)
    }

    /// The outcome's word in exports.
    pub(crate) fn outcome_name(&self) -> &'static str {
        self.outcome().map_or("not-run", Outcome::name)
    }

    /// The outcome with its reason. It is None if the outcome is ok.
    pub(crate) fn cause(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        Some(self.outcome().map_or_else(
            || reason.clone(),
            |outcome| format!("{}: {reason}", outcome.name()),
        ))
    }

    pub(crate) fn good_samples(&self) -> impl Iterator<Item = &Sample> {
        self.record
            .samples
            .iter()
            .filter(|sample| sample.outcome.is_ok())
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.outcome().is_some_and(Outcome::is_ok)
    }

    /// Whether the case has a rank. Cases have values but no rank if they failed later, were always disturbed, or break
    /// a promise of durability.
    pub(crate) fn is_ranked(&self) -> bool {
        self.is_ok() && self.not_durable.is_none() && self.modelled.is_some()
    }

    /// Whether no further sample could make it the answer: one failed, or the case breaks a promise of durability.
    pub(crate) fn is_out(&self) -> bool {
        self.not_durable.is_some()
            || self
                .record
                .samples
                .iter()
                .any(|sample| !sample.outcome.is_ok())
    }

    /// Whether a contest gave the case only the one or two samples that showed that others are better. Such cases are
    /// outside all tables.
    pub(crate) fn is_screening(&self) -> bool {
        let origin = &self.record.origin;
        let has_few = self.record.samples.len() < FEWEST_COMPARED;
        origin.is_stage(Stage::Screening) || origin.is_candidate() && has_few
    }

    fn limit(&self) -> Option<LimitShare> {
        self.estimate.as_ref()?.limit
    }

    pub(crate) fn has_limit(&self) -> bool {
        self.limit().is_some()
    }

    pub(super) fn exceeds_limit(&self) -> bool {
        self.limit().is_some_and(|limit| limit.share > 1.0)
    }

    /// Cases with the same key share one measured limit.
    pub(super) fn limit_key(&self) -> Option<(Option<usize>, LimitKind, u32)> {
        let limit = self.limit()?;
        Some((self.target_index, limit.kind, limit.threads))
    }

    /// The time by which cases are ranked, infinite without a value.
    pub(crate) fn time_ns(&self) -> f64 {
        self.modelled
            .as_ref()
            .and_then(Modelled::value_ns)
            .or_else(|| Some(self.estimate.as_ref()?.total_ns.value))
            .unwrap_or(f64::INFINITY)
    }
}

/// Compares cases by their time. Cases without a rank are last.
pub(crate) fn by_rank(a: &CaseReport, b: &CaseReport) -> Ordering {
    b.is_ranked()
        .cmp(&a.is_ranked())
        .then(a.time_ns().total_cmp(&b.time_ns()))
}

/// The rows of a table with several targets: each row has one case on all of them. If a target has a case twice, the
/// second is in a second row.
pub(crate) fn across_targets<C: Borrow<CaseReport>>(
    cases: impl IntoIterator<Item = C>,
) -> Vec<Vec<C>> {
    let mut times_seen: HashMap<(String, String), usize> = HashMap::new();
    let numbered = cases.into_iter().map(|case| {
        let record = &case.borrow().record;
        let name = record.case.to_string();
        let times = times_seen
            .entry((name.clone(), record.target.clone()))
            .or_default();
        *times += 1;
        ((name, *times), case)
    });
    grouped(numbered, |(row, _)| row.clone())
        .into_iter()
        .map(|(_, cases)| cases.into_iter().map(|(_, case)| case).collect())
        .collect()
}

pub(crate) fn by_workload(cases: &[CaseReport]) -> Vec<(&Workload, Vec<&CaseReport>)> {
    grouped(cases, |case| &case.record.workload)
}
