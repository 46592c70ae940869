use writebench_model::{Extent, ReadBack, ReadFrom, RunRecord};
use writebench_stats::{Verdict, as_f64, median};

use crate::numbers::{CaseReport, by_contract, by_rank, distinct};
use crate::sentences::answer::ContractAnswer;
use crate::sentences::image_share;
use crate::sentences::number::MILLISECONDS;

pub(crate) fn remarks(
    run: &RunRecord,
    answers: &[ContractAnswer],
    cases: &[CaseReport],
) -> Vec<String> {
    let compares_many = |answer: &ContractAnswer| {
        let of_answer = cases
            .iter()
            .filter(|case| case.record.contract == answer.contract && case.is_ranked());
        distinct(of_answer, |case| &case.name).len() > 2
    };
    let mut remarks = Vec::new();
    if answers.iter().any(compares_many) {
        // No correction for many comparisons: with six rounds no case could be different any more. The
        // verdict "faster than all" needs none, because every comparison must agree.
        remarks.push(
            "Comparisons with the fastest are at 95 %: expect up to 7 % false 'slower' verdicts."
                .to_owned(),
        );
    }
    remarks.extend(startup(cases));
    remarks.extend(image_share::sentences(run, cases));
    remarks
}

/// The duration of a process that does nothing, for user programs.
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

/// The median over comparisons with the fastest of a contract, and their range. None without enough rounds for
/// 95 %.
pub(crate) fn smallest_difference(cases: &[CaseReport]) -> Option<String> {
    let mut all: Vec<f64> = by_contract(cases)
        .into_iter()
        .flat_map(|(_, cases)| differences(cases))
        .collect();
    all.sort_by(f64::total_cmp);
    let percent = |difference: f64| format!("{:.0} %", difference * 100.0);
    let (least, most) = (percent(*all.first()?), percent(*all.last()?));
    let range = if least == most {
        String::new()
    } else {
        format!(" ({least} to {most}, by case)")
    };
    Some(format!(
        "Smallest difference this run could detect: {}{range}.",
        percent(median(&all)?)
    ))
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
    let difference = |case: &&CaseReport| Verdict::smallest_difference(&case.ratio_to(best)?);
    others.iter().filter_map(difference).collect()
}

/// Good samples with written data: how much was compared, and where it was read from.
pub(crate) fn read_back(cases: &[CaseReport]) -> Option<String> {
    // A case may be in several tables, with the same samples.
    let cases = distinct(cases, |case| &case.name).into_iter();
    let with_data = cases.filter(|case| case.record.contract.content.is_data());
    let samples = with_data.flat_map(|case| case.good_samples());
    let all: Vec<Option<ReadBack>> = samples.map(|sample| sample.read_back).collect();
    let compared: Vec<ReadBack> = all.iter().flatten().copied().collect();
    if compared.is_empty() {
        return (!all.is_empty()).then(|| "Read back: no sample, only sizes of files.".to_owned());
    }
    let of_extent = |extent| compared.iter().filter(|read| read.extent == extent).count();
    let from = |from| compared.iter().filter(|read| read.from == from).count();
    let extents = [
        (of_extent(Extent::Whole), "whole"),
        (of_extent(Extent::Part), "in part"),
        (all.len() - compared.len(), "not"),
    ];
    let origins = [
        (from(Some(ReadFrom::Device)), "from the device"),
        (from(Some(ReadFrom::PageCache)), "from the page cache"),
        (from(None), "from an unknown place"),
    ];
    Some(format!(
        "Read back: {} ({}).",
        listed(&extents),
        listed(&origins)
    ))
}

/// Without zeros, such as `12 whole, 60 in part`.
fn listed(counts: &[(usize, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!("{count} {what}"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests;
