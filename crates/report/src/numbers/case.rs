use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use writebench_model::{
    CaseRecord, Contract, Durability, Limit, Objective, Outcome, RunRecord, Sample, Stage,
    TargetRecord,
};
use writebench_stats::{Interval, Verdict, grouped};

use crate::numbers::decisions::{decide_now, is_of_contest};
use crate::numbers::estimate::Estimate;
use crate::numbers::reached::Reached;
use crate::numbers::rounds::{Judged, Modelled};

#[derive(Debug, Clone)]
pub struct CaseReport {
    /// The case's name, and the target if there are several.
    pub name: String,
    pub record: CaseRecord,
    /// None for outcome ok.
    pub reason: Option<String>,
    /// The case belongs to a contest on a busy machine, which was decided with disturbed samples. See
    /// [`writebench_model::Decision`].
    pub counts_disturbed: bool,
    /// From good samples.
    pub estimate: Option<Estimate>,
    /// In the model of its contract. None if every sample was disturbed.
    modelled: Option<Modelled>,
    place: Option<usize>,
    /// Why the target does not keep the case's promise of durability, as a clause.
    pub not_durable: Option<String>,
}

pub(crate) fn cases(run: &mut RunRecord) -> Vec<CaseReport> {
    let records = tables_together(std::mem::take(&mut run.cases));
    let places: HashMap<&str, usize> = run
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .zip(0..)
        .collect();
    let case = |record: CaseRecord| {
        let place = places.get(record.target.as_str()).copied();
        let not_durable = place.and_then(|place| why_not_durable(&record, &run.targets[place]));
        let mut case = CaseReport {
            place,
            not_durable,
            ..CaseReport::new(record, run.settings.objective)
        };
        if run.is_side_by_side() {
            case.name = format!("{} on {}", case.name, case.record.target);
        }
        case
    };
    let mut cases: Vec<CaseReport> = records.into_iter().map(case).collect();
    if run.decisions.is_empty() {
        run.decisions = decide_now(run, &cases);
    }
    count_disturbed(&mut cases, run);
    let modelled = Modelled::for_cases(
        &cases.iter().map(CaseReport::judged).collect::<Vec<_>>(),
        run.settings.objective,
    );
    for (case, modelled) in cases.iter_mut().zip(modelled) {
        let limits = case
            .place
            .map_or(&[][..], |place| &run.targets[place].limits);
        case.model(modelled, limits);
    }
    drop_exceeded_limits(&mut cases);
    cases
}

/// In the contests of a busy machine, which were decided with disturbed samples.
fn count_disturbed(cases: &mut [CaseReport], run: &RunRecord) {
    for case in cases.iter_mut().filter(|case| is_of_contest(case)) {
        let decision = run.decision(&case.record.target, &case.record.contract);
        if decision.is_some_and(|decision| decision.counts_disturbed) {
            case.counts_disturbed = true;
            let good = Sample::good(&case.record.samples);
            case.estimate = Estimate::from_samples(&case.record, &good, run.settings.objective);
        }
    }
}

/// Of a later version's case, the calls are unknown.
fn why_not_durable(record: &CaseRecord, target: &TargetRecord) -> Option<String> {
    if record.contract.durability != Durability::Durable {
        return None;
    }
    let by_call = || target.why_not_durable(record.case.known()?);
    target.loses_data().or_else(by_call)
}

/// A case that joined a contest was recorded last, but belongs in its table.
fn tables_together(rows: Vec<CaseRecord>) -> Vec<CaseRecord> {
    let table = |row: &CaseRecord| {
        (
            row.origin.suite().to_owned(),
            row.origin.section().to_owned(),
        )
    };
    grouped(rows, table)
        .into_iter()
        .flat_map(|(_, rows)| rows)
        .collect()
}

/// A limit that a case exceeds is wrong: all cases of the target lose it.
fn drop_exceeded_limits(cases: &mut [CaseReport]) {
    let key = |place, limit: Reached| (place, limit.kind, limit.threads);
    let limits = cases
        .iter()
        .filter_map(|case| Some((case.place, case.estimate.as_ref()?.limit?)));
    let exceeded: HashSet<_> = limits
        .filter(|(_, limit)| limit.share > 1.0)
        .map(|(place, limit)| key(place, limit))
        .collect();
    for case in cases {
        if let Some(estimate) = &mut case.estimate {
            estimate.limit = estimate
                .limit
                .filter(|limit| !exceeded.contains(&key(case.place, *limit)));
        }
    }
}

impl CaseReport {
    fn new(mut record: CaseRecord, objective: Objective) -> Self {
        record.contract.content = record.found_content();
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
            place: None,
            not_durable: None,
            record,
        }
    }

    /// Of a run with one target.
    #[cfg(test)]
    pub(crate) fn from_record(record: CaseRecord) -> Self {
        let mut case = Self::new(record, Objective::Time);
        let modelled = Modelled::for_cases(&[case.judged()], Objective::Time)
            .pop()
            .flatten();
        case.model(modelled, &[]);
        case
    }

    pub(crate) fn judged(&self) -> Judged<'_> {
        Judged {
            record: &self.record,
            counts_disturbed: self.counts_disturbed,
        }
    }

    /// The model determines all values of the total time.
    fn model(&mut self, modelled: Option<Modelled>, limits: &[Limit]) {
        if let Some(estimate) = &mut self.estimate {
            let value_ns = modelled.as_ref().and_then(Modelled::value_ns);
            let value_ns = value_ns.or_else(|| estimate.unmodelled_ns(&self.record));
            let value_ns = value_ns.filter(|_| estimate.objective == Objective::Time);
            value_ns
                .into_iter()
                .for_each(|value_ns| estimate.adjust(&self.record, value_ns));
            estimate.limit =
                Reached::for_case(&self.record, estimate.throughput_bytes_per_s.value, limits);
        }
        self.modelled = modelled;
    }

    /// The time over another's: 2 if the other is twice as fast. Cases of other contracts or targets are
    /// compared in rounds only. None without undisturbed samples of both.
    pub fn ratio_to(&self, other: &Self) -> Option<Interval> {
        self.modelled.as_ref()?.ratio_to(other.modelled.as_ref()?)
    }

    pub(crate) fn verdict_to(&self, other: &Self) -> Verdict {
        self.ratio_to(other)
            .map_or(Verdict::Inconclusive, |ratio| ratio.verdict())
    }

    pub(crate) fn target<'r>(&self, run: &'r RunRecord) -> Option<&'r TargetRecord> {
        run.targets.get(self.place?)
    }

    /// Of the last sample. None if not measured.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.record.samples.last().map(|sample| &sample.outcome)
    }

    /// The word in exports.
    pub(crate) fn outcome_name(&self) -> &'static str {
        self.outcome().map_or("not-run", Outcome::name)
    }

    /// The outcome with its reason. None if ok.
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

    /// Cases have values but no rank if they failed later, were always disturbed, or break a promise of
    /// durability.
    pub(crate) fn is_ranked(&self) -> bool {
        self.is_ok() && self.not_durable.is_none() && self.modelled.is_some()
    }

    /// Whether no sample more could make it the answer: one failed, or the case breaks a promise of durability.
    pub(crate) fn is_out(&self) -> bool {
        self.not_durable.is_some()
            || self
                .record
                .samples
                .iter()
                .any(|sample| !sample.outcome.is_ok())
    }

    /// One or two samples of a search, outside all tables.
    pub(crate) fn is_screening(&self) -> bool {
        self.record.origin.is_stage(Stage::Screening)
    }

    pub(crate) fn has_limit(&self) -> bool {
        self.estimate
            .as_ref()
            .is_some_and(|estimate| estimate.limit.is_some())
    }

    /// The key of the ranking, infinite without a value.
    pub(crate) fn time_ns(&self) -> f64 {
        let measured = || {
            self.estimate
                .as_ref()
                .map(|estimate| estimate.total_ns.value)
        };
        self.modelled
            .as_ref()
            .and_then(Modelled::value_ns)
            .or_else(measured)
            .unwrap_or(f64::INFINITY)
    }
}

/// Cases without a rank are last.
pub(crate) fn by_rank(a: &CaseReport, b: &CaseReport) -> Ordering {
    b.is_ranked()
        .cmp(&a.is_ranked())
        .then(a.time_ns().total_cmp(&b.time_ns()))
}

/// The rows of a table with several targets.
pub(crate) fn across_targets<C: Borrow<CaseReport>>(
    cases: impl IntoIterator<Item = C>,
) -> Vec<Vec<C>> {
    let mut met: HashMap<(String, String), usize> = HashMap::new();
    let numbered = cases.into_iter().map(|case| {
        let CaseRecord {
            case: recorded,
            target,
            ..
        } = &case.borrow().record;
        let name = recorded.to_string();
        let times = met.entry((name.clone(), target.clone())).or_default();
        *times += 1;
        ((name, *times), case)
    });
    let rows = grouped(numbered, |(key, _)| key.clone()).into_iter();
    rows.map(|(_, row)| row.into_iter().map(|(_, case)| case).collect())
        .collect()
}

pub(crate) fn by_contract(cases: &[CaseReport]) -> Vec<(&Contract, Vec<&CaseReport>)> {
    grouped(cases, |case| &case.record.contract)
}
