//! What the contests of a run found.
//!
//! The scheduler decides and records it. Only a run without a record is decided here, from the same samples by the same
//! [`Standings`]: one of an earlier version, or one that was killed.

use writebench_model::{
    Axis, Case, CaseRecord, Content, ContestAnswer, Decision, Method, Naming, Objective, Prepare,
    Protect, RunRecord, Stage, Strategy, SyncCall, SyncFiles, Workload,
};
use writebench_stats::{ContestSample, Deciding, Standings, distinct, grouped};

use crate::numbers::case::CaseReport;

/// The answer of a contest, with its case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decided<'c> {
    pub(crate) case: &'c CaseReport,
    /// No other compared case is faster by more than this ratio, at 95 %.
    pub(crate) bound: f64,
    /// The cases with enough samples to be better or worse. The bound says nothing of the rest.
    pub(crate) compared: u32,
}

/// What was decided about these cases, which belong to one contest on each target. Of several targets, that with the
/// fastest answer counts. The result is None without an answer.
pub(crate) fn decided<'c>(run: &RunRecord, cases: &[&'c CaseReport]) -> Option<Decided<'c>> {
    let answers = cases.iter().filter_map(|case| as_answer(run, case));
    answers.min_by(|a, b| a.case.time_ns().total_cmp(&b.case.time_ns()))
}

/// What the contest of this case decided, if the case is its answer.
fn as_answer<'c>(run: &RunRecord, case: &'c CaseReport) -> Option<Decided<'c>> {
    let decision = run.decision(&case.record.target, &case.record.workload)?;
    let answer = decision.answer.as_ref()?;
    let is_answer = is_of_contest(case) && case.record.case.name() == answer.case;
    (is_answer && case.is_ranked()).then(|| Decided {
        case,
        bound: answer.bound(),
        compared: decision.compared,
    })
}

/// Whether the case was measured in a contest, which decides.
pub(crate) fn is_of_contest(case: &CaseReport) -> bool {
    let origin = &case.record.origin;
    origin.is_of_goal() || origin.is_stage(Stage::Final)
}

/// Decides the contests of a run that has no record of its decisions.
pub(crate) fn decide_now(run: &RunRecord, cases: &[CaseReport]) -> Vec<Decision> {
    let contestants: Vec<&CaseReport> = cases.iter().filter(|case| is_of_contest(case)).collect();
    let baseline = contestants
        .iter()
        .copied()
        .find(|case| case.record.origin.is_baseline());
    let contests = grouped(contestants.iter().copied(), |case| {
        (&case.record.target, workload_of_contest(case, baseline))
    });
    contests
        .into_iter()
        .filter(|(_, cases)| cases.iter().any(|case| !case.record.samples.is_empty()))
        .map(|((target, workload), cases)| {
            // A case may be in several tables.
            let cases = distinct(cases, |case| &case.name);
            decide_contest(run, target, workload, &cases)
        })
        .collect()
}

/// The cases of a search may do more than its baseline, except that copies with shared blocks are compared with each
/// other.
fn workload_of_contest<'c>(case: &'c CaseReport, baseline: Option<&'c CaseReport>) -> &'c Workload {
    match baseline {
        Some(baseline) if case.record.workload.content != Content::SharedCopy => {
            &baseline.record.workload
        }
        _ => &case.record.workload,
    }
}

fn decide_contest(
    run: &RunRecord,
    target: &str,
    workload: &Workload,
    cases: &[&CaseReport],
) -> Decision {
    let able: Vec<&CaseReport> = cases
        .iter()
        .copied()
        .filter(|case| !case.is_out())
        .collect();
    let samples: Vec<Vec<ContestSample>> = able
        .iter()
        .map(|case| contest_samples(&case.record, run.settings.objective))
        .collect();
    let deciding = Deciding::among(&samples);
    let standings = Standings::of(&deciding.by_round);
    let compared = (0..able.len())
        .filter(|&index| standings.is_compared(index))
        .count();
    let rivals: Vec<(usize, Option<(u32, usize)>)> = (0..able.len())
        .filter(|&index| is_rival(able[index], run))
        .map(|index| (index, effort(able[index])))
        .collect();
    let answer = standings.answer(&rivals).and_then(|index| {
        let name = |index: usize| able[index].record.case.name().to_owned();
        let as_good = standings.as_good_as(index).into_iter().map(name).collect();
        Some(ContestAnswer::new(
            name(index),
            standings.bound(index)?,
            as_good,
        ))
    });
    Decision {
        target: target.to_owned(),
        workload: workload.clone(),
        answer,
        compared: u32::try_from(compared).unwrap_or(u32::MAX),
        candidates: 0,
        counts_disturbed: deciding.counts_disturbed,
    }
}

/// The good samples of a case.
pub(crate) fn contest_samples(case: &CaseRecord, objective: Objective) -> Vec<ContestSample> {
    let mut samples = Vec::new();
    for sample in &case.samples {
        // Here the disturbed ones count, too. The contest as a whole leaves them out.
        if let Some(time) = sample.judged_ns(&case.workload, objective, true) {
            samples.push(ContestSample {
                round: sample.round,
                time,
                is_disturbed: sample.disturbed.is_some(),
            });
        }
    }
    samples
}

/// Whether the case may be the answer. Plain write is only a reference if the user's program cannot have it.
fn is_rival(case: &CaseReport, run: &RunRecord) -> bool {
    !is_reference(case)
        || case
            .record
            .case
            .known()
            .is_none_or(|known| run.settings.allows(known, known))
}

/// How complex the case is. This is None for plain write, which is the least complex. A later version's case counts as
/// the most complex.
fn effort(case: &CaseReport) -> Option<(u32, usize)> {
    if is_reference(case) {
        return None;
    }
    let known = case.record.case.known();
    Some(known.map_or((u32::MAX, usize::MAX), Case::complexity))
}

/// Whether a search recorded the case as its baseline, or the goal's baseline has this form.
fn is_reference(case: &CaseReport) -> bool {
    if case.record.origin.is_search() {
        case.record.origin.is_baseline()
    } else {
        is_baseline(case)
    }
}

/// Whether the case is plain `write`, or for a copy `read` and `write`, in chunks of the default size, with only the
/// workload's demands.
pub(crate) fn is_baseline(case: &CaseReport) -> bool {
    let Some(known) = case.record.case.known() else {
        return false;
    };
    let is_plain_method = match known.method() {
        Method::Write | Method::ReadWrite | Method::WriteFiles => true,
        // write(2) has one place.
        Method::Pwrite => case.record.workload.pages.is_some(),
        _ => false,
    };
    is_plain_method
        && Axis::ALL
            .iter()
            .all(|axis| is_plain(*axis, known, &case.record))
}

/// Whether the case has the default of this axis, or a value that its workload demands.
fn is_plain(axis: Axis, case: &Case, record: &CaseRecord) -> bool {
    let choices = case.choices();
    let default = Strategy::default_of(case.method());
    match axis {
        given if !given.is_choice() => true,
        Axis::SyncFiles => matches!(choices.sync_files, SyncFiles::None | SyncFiles::Each),
        Axis::Naming => matches!(choices.naming, Naming::Direct | Naming::Rename),
        // A goal's baseline has fsync. A simpler winner may have fdatasync, with fewer rounds.
        Axis::Sync if choices.sync.call == SyncCall::Fdatasync => !record.origin.is_of_goal(),
        Axis::Sync => matches!(choices.sync.call, SyncCall::None | SyncCall::Fsync),
        Axis::Protect => matches!(choices.protect, Protect::None | Protect::DoubleWrite),
        Axis::Prepare => {
            choices.prepare == Prepare::Overwrite || choices.prepare == default.choices().prepare
        }
        // The question is how much is durable at a time.
        Axis::Chunk if record.workload.durable_every_bytes.is_some() => true,
        axis => case.value(axis) == default.value(axis),
    }
}
