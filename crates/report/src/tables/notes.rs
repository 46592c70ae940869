use writebench_model::{Limit, LimitKind};
use writebench_stats::{Stability, as_f64};

use crate::numbers::{CaseReport, limit_kind};
use crate::sentences::{
    GIGABYTES_PER_S, NAMED, counted, counted_range, list, seconds_short, share,
};

/// Limits behind the shares, and bursts.
pub(super) fn notes(cases: &[&CaseReport], limits: &[Limit]) -> Vec<String> {
    let mut notes: Vec<String> = LimitKind::ALL
        .iter()
        .filter_map(|&kind| limit_note(kind, cases, limits))
        .collect();
    notes.extend(cases.iter().copied().filter_map(burst_note));
    notes.extend(outside(cases));
    notes
}

/// `of limit: a plain copy of memory, 5.21 GB/s with 1 thread, 9.88 GB/s with 4`.
fn limit_note(kind: LimitKind, cases: &[&CaseReport], limits: &[Limit]) -> Option<String> {
    let what = match kind {
        LimitKind::MemoryCopy => "a plain copy of memory",
        LimitKind::MemoryCopyOneChunk => "a copy of one chunk from the CPU's caches",
        LimitKind::MemoryCopyNonTemporal => "a copy of memory by stores past the caches",
        LimitKind::DeviceWrite => "large direct writes to the device",
    };
    let holds =
        |limit: &Limit, case: &CaseReport| limit_kind(&case.record) == Some((kind, limit.threads));
    let is_used = |limit: &&Limit| {
        limit.kind == kind
            && cases
                .iter()
                .any(|case| case.estimate.is_some() && holds(limit, case))
    };
    let used: Vec<&Limit> = limits.iter().filter(is_used).collect();
    let is_exceeded = |limit: &Limit| {
        !cases
            .iter()
            .any(|case| holds(limit, case) && case.has_limit())
    };
    let figure = |limit: &&Limit| Some((limit.threads, as_gigabytes_per_s(limit.bytes_per_s?)));
    let figures: Vec<(u32, String)> = used
        .iter()
        .filter(|limit| !is_exceeded(limit))
        .filter_map(figure)
        .collect();
    if figures.is_empty() {
        return Some(match used.iter().find_map(figure) {
            Some((_, per_s)) => {
                format!("no share of a limit: a case was faster than {what}, {per_s} GB/s")
            }
            None => format!("no limit known for {what}: {}", used.first()?.description),
        });
    }
    if kind == LimitKind::DeviceWrite {
        return Some(format!("of limit: {what}, {} GB/s", figures[0].1));
    }
    let figures = figures.iter().map(|(threads, per_s)| {
        let past =
            non_temporal(kind, *threads, limits).map(|past| format!(" ({past} past the caches)"));
        format!(
            "{per_s} GB/s with {}{}",
            counted(*threads as usize, "thread"),
            past.unwrap_or_default()
        )
    });
    Some(format!(
        "of limit: {what}, {}",
        figures.collect::<Vec<String>>().join(", ")
    ))
}

fn non_temporal(kind: LimitKind, threads: u32, limits: &[Limit]) -> Option<String> {
    let is_it =
        |limit: &&Limit| limit.kind == LimitKind::MemoryCopyNonTemporal && limit.threads == threads;
    let limit = limits
        .iter()
        .find(is_it)
        .filter(|_| kind == LimitKind::MemoryCopy)?;
    limit.bytes_per_s.map(as_gigabytes_per_s)
}

fn as_gigabytes_per_s(bytes_per_s: u64) -> String {
    GIGABYTES_PER_S.text(as_f64(bytes_per_s))
}

/// Next to `min – max` of all samples, such a value looks like a mistake.
fn outside(cases: &[&CaseReport]) -> Option<String> {
    let is_outside = |case: &&&CaseReport| {
        case.estimate
            .as_ref()
            .is_some_and(|estimate| estimate.total_ns.is_outside_its_samples())
    };
    let outside: Vec<&str> = cases
        .iter()
        .filter(is_outside)
        .map(|case| case.name.as_str())
        .collect();
    (!outside.is_empty()).then(|| {
        format!(
            "outside its samples: {}. A value is for a typical round, and these samples are all from slower or faster ones",
            list(&outside, NAMED)
        )
    })
}

/// For tables without a column of samples.
pub(super) fn samples(cases: &[CaseReport]) -> Option<String> {
    let counts = cases
        .iter()
        .filter_map(|case| case.estimate.as_ref())
        .map(|estimate| estimate.samples);
    Some(format!("n: {} per value", counted_range(counts, "sample")?))
}

/// For cells without room for intervals.
pub(super) fn intervals(cases: &[CaseReport]) -> Option<String> {
    let half_width =
        |case: &CaseReport| case.estimate.as_ref()?.throughput_bytes_per_s.half_width();
    let widths = cases
        .iter()
        .filter_map(|case| Some((&case.name, half_width(case)?)));
    let mut widths: Vec<(&String, f64)> = widths.collect();
    widths.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let ((_, middle), (name, most)) = (widths.get(widths.len() / 2)?, widths.last()?);
    let [middle, most] = [*middle, *most].map(share);
    Some(format!(
        "95% CI: median ± {middle}, widest ± {most} ({name}). All: `show --sort case`"
    ))
}

/// `write: a burst of 4.60 GB/s for the first 3.1 s, then 0.500 GB/s (5 of 6 samples)`.
fn burst_note(case: &CaseReport) -> Option<String> {
    let over_time = case
        .estimate
        .as_ref()?
        .over_time
        .filter(|over_time| over_time.stability == Stability::Burst)?;
    let burst = over_time.burst?;
    let (before, after) = (
        GIGABYTES_PER_S.text(burst.bytes_per_s),
        GIGABYTES_PER_S.text(burst.sustained_bytes_per_s),
    );
    let until = seconds_short(burst.duration_ns);
    let samples = match over_time.timelines {
        1 => String::new(),
        all => format!(" ({} of {all} samples)", over_time.samples),
    };
    Some(format!(
        "{}: a burst of {before} GB/s for the first {until} s, then {after} GB/s{samples}",
        case.name
    ))
}
