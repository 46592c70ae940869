use writebench_model::{
    Decision, Extent, ReadBack, ReadFrom, RunRecord, Start, Visibility, Workload,
};
use writebench_stats::{Verdict, as_f64, median};

use crate::numbers::{CaseReport, by_rank, by_workload, distinct};
use crate::sentences::answer::WorkloadAnswer;
use crate::sentences::image_share;
use crate::sentences::number::MILLISECONDS;

/// Sentences about the whole run, which belong to no single answer.
pub(crate) fn run_notes(
    run: &RunRecord,
    answers: &[WorkloadAnswer],
    cases: &[CaseReport],
) -> Vec<String> {
    let mut notes = Vec::new();
    if answers
        .iter()
        .any(|answer| compares_many(&answer.workload, cases))
    {
        // There is no correction for many comparisons: it would make the intervals of six rounds twice as wide. The
        // rate is that of ten equal cases in `numbers/tests/recorded_noise.rs`. The verdict "faster than all" needs none, because every comparison must agree.
        notes.push(
            "Up to 9 % of the 'slower' verdicts may be wrong, because the fastest case is partly the luckiest."
                .to_owned(),
        );
    }
    notes.extend(tried(run, cases));
    notes.extend(startup(cases));
    notes.extend(image_share::sentences(run, cases));
    notes.extend(lazy_times(run, cases));
    notes
}

/// A sentence if files were overwritten in place where their times are not saved, because other mounts save them.
pub(crate) fn lazy_times(run: &RunRecord, cases: &[CaseReport]) -> Option<String> {
    let is_in_place = |workload: &Workload| {
        workload.start == Start::Existing && workload.visibility == Visibility::Partial
    };
    let is_lazy = |case: &CaseReport| {
        run.targets.iter().any(|target| {
            target.name == case.record.target && target.environment.filesystem.has_lazy_times()
        })
    };
    let has_case = cases.iter().any(|case| {
        !case.record.samples.is_empty() && is_in_place(&case.record.workload) && is_lazy(case)
    });
    has_case.then(|| {
        "The mount has lazytime, so an overwrite in place saves the file's new time only with fsync. Other mounts always do, \
         and may be slower."
            .to_owned()
    })
}

fn compares_many(workload: &Workload, cases: &[CaseReport]) -> bool {
    let ranked = cases
        .iter()
        .filter(|case| case.record.workload == *workload && case.is_ranked());
    distinct(ranked, |case| &case.name).len() > 2
}

/// The number of methods tried, of all that could reach the run's goals.
fn tried(run: &RunRecord, cases: &[CaseReport]) -> Option<String> {
    let is_shown = |decision: &&Decision| {
        let mut cases = cases.iter().map(|case| &case.record);
        cases.any(|case| case.workload == decision.workload && case.target == decision.target)
    };
    let shown = run.decisions.iter().filter(is_shown);
    let candidates: u32 = shown.map(|decision| decision.candidates).sum();
    let measured = cases
        .iter()
        .filter(|case| case.record.origin.is_of_goal() && !case.record.samples.is_empty());
    let tried = measured.count();
    (tried > 0 && tried < candidates as usize).then(|| {
        format!(
            "{tried} of {candidates} methods were tried. A larger --budget tries more, and so does `writebench advise --for \
             GOAL`."
        )
    })
}

/// The duration of a process that does nothing, if the run measured programs of the user.
fn startup(cases: &[CaseReport]) -> Option<String> {
    let samples = cases.iter().flat_map(|case| &case.record.samples);
    let times: Vec<f64> = samples
        .filter_map(|sample| sample.startup_ns)
        .map(as_f64)
        .collect();
    Some(format!(
        "An empty program (`true`) takes {} ms here. The time of a program without reported phases includes this.",
        MILLISECONDS.text(median(&times)?)
    ))
}

/// The smallest difference that comparisons with the fastest of a workload could detect: the median over all of them,
/// and their range. It is None without enough rounds for 95 %.
pub(crate) fn smallest_difference(cases: &[CaseReport]) -> Option<String> {
    let mut all: Vec<f64> = by_workload(cases)
        .into_iter()
        .flat_map(|(_, cases)| differences(cases))
        .collect();
    all.sort_by(f64::total_cmp);
    let least = percent(*all.first()?);
    let most = percent(*all.last()?);
    let range = if least == most {
        String::new()
    } else {
        format!(" ({least} to {most}, by case)")
    };
    Some(format!(
        "This run can miss differences below about {}{range}.",
        percent(median(&all)?)
    ))
}

fn percent(difference: f64) -> String {
    format!("{:.0} %", difference * 100.0)
}

fn differences(cases: Vec<&CaseReport>) -> Vec<f64> {
    let ranked = cases
        .into_iter()
        .filter(|case| case.is_ranked() && !case.is_screening());
    let mut ranked = distinct(ranked, |case| &case.name);
    ranked.sort_by(|a, b| by_rank(a, b));
    let Some((best, others)) = ranked.split_first() else {
        return Vec::new();
    };
    others
        .iter()
        .filter_map(|case| Verdict::smallest_difference(&case.ratio_to(best)?))
        .collect()
}

/// How much of the good samples with written data was read back and compared, and where it was read from.
pub(crate) fn read_back(cases: &[CaseReport]) -> Option<String> {
    // A case may be in several tables, with the same samples.
    let all: Vec<Option<ReadBack>> = distinct(cases, |case| &case.name)
        .into_iter()
        .filter(|case| case.record.workload.content.is_data())
        .flat_map(|case| case.good_samples())
        .map(|sample| sample.read_back)
        .collect();
    let compared: Vec<ReadBack> = all.iter().flatten().copied().collect();
    if compared.is_empty() {
        return (!all.is_empty()).then(|| "Read back: no sample, only sizes of files.".to_owned());
    }
    let extents = [
        (count_extent(&compared, Extent::Whole), "whole"),
        (count_extent(&compared, Extent::Part), "in part"),
        (all.len() - compared.len(), "not"),
    ];
    let device = count_from(&compared, Some(ReadFrom::Device));
    let page_cache = count_from(&compared, Some(ReadFrom::PageCache));
    let origins = [
        (device, "from the device"),
        (page_cache, "from the page cache"),
        (count_from(&compared, None), "from an unknown place"),
    ];
    Some(format!(
        "Read back: {} ({}).",
        listed(&extents),
        listed(&origins)
    ))
}

fn count_extent(compared: &[ReadBack], extent: Extent) -> usize {
    compared.iter().filter(|read| read.extent == extent).count()
}

fn count_from(compared: &[ReadBack], from: Option<ReadFrom>) -> usize {
    compared.iter().filter(|read| read.from == from).count()
}

/// The counts above zero, such as `12 whole, 60 in part`.
fn listed(counts: &[(usize, &str)]) -> String {
    let texts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests;
