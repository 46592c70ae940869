use writebench_model::{Limit, LimitKind};
use writebench_stats::{Stability, as_f64};

use crate::numbers::{CaseReport, limit_kind};
use crate::sentences::{
    GIGABYTES_PER_S, NAMED, counted, counted_range, listed, seconds_short, share,
};

/// The limits behind the shares, bursts, and values outside their samples.
pub(super) fn notes(cases: &[&CaseReport], limits: &[Limit]) -> Vec<String> {
    let mut notes: Vec<String> = LimitKind::ALL
        .iter()
        .filter_map(|&kind| limit_note(kind, cases, limits))
        .collect();
    notes.extend(cases.iter().copied().filter_map(burst_note));
    notes.extend(outside(cases));
    notes
}

const OF_LIMIT: &str = "of limit: ";

/// Whether the note is about the limits behind the shares. All tables of a run can have the same one.
pub(crate) fn is_of_limit(note: &str) -> bool {
    note.contains(OF_LIMIT)
}

/// `of limit: a plain copy of memory, 5.21 GB/s with 1 thread, 9.88 GB/s with 4`.
fn limit_note(kind: LimitKind, cases: &[&CaseReport], limits: &[Limit]) -> Option<String> {
    let what = match kind {
        LimitKind::MemoryCopy => "a plain copy of memory",
        LimitKind::MemoryCopyOneChunk => "a copy of one chunk from the CPU's caches",
        LimitKind::MemoryCopyNonTemporal => "a copy of memory by stores past the caches",
        LimitKind::DeviceWrite => "large direct writes to the device",
    };
    let used: Vec<&Limit> = limits
        .iter()
        .filter(|limit| limit.kind == kind && is_used(limit, cases))
        .collect();
    let with_shares: Vec<(u32, String)> = used
        .iter()
        .filter(|limit| has_shares(limit, cases))
        .filter_map(|limit| Some((limit.threads, gigabytes_per_s(limit)?)))
        .collect();
    if with_shares.is_empty() {
        return Some(match used.iter().find_map(|limit| gigabytes_per_s(limit)) {
            Some(per_s) => {
                format!("no share of a limit: a case was faster than {what}, {per_s} GB/s")
            }
            None => format!("no limit known for {what}: {}", used.first()?.description),
        });
    }
    if kind == LimitKind::DeviceWrite {
        return Some(format!("{OF_LIMIT}{what}, {} GB/s", with_shares[0].1));
    }
    let by_threads: Vec<String> = with_shares
        .iter()
        .map(|(threads, per_s)| {
            let with_threads = counted(*threads as usize, "thread");
            let past = past_the_caches(kind, *threads, limits).unwrap_or_default();
            format!("{per_s} GB/s with {with_threads}{past}")
        })
        .collect();
    Some(format!("{OF_LIMIT}{what}, {}", by_threads.join(", ")))
}

fn applies_to(limit: &Limit, case: &CaseReport) -> bool {
    limit_kind(&case.record) == Some((limit.kind, limit.threads))
}

fn is_used(limit: &Limit, cases: &[&CaseReport]) -> bool {
    cases
        .iter()
        .any(|case| case.estimate.is_some() && applies_to(limit, case))
}

/// Whether cases show their share of the limit. They do not if one of them was faster.
fn has_shares(limit: &Limit, cases: &[&CaseReport]) -> bool {
    cases
        .iter()
        .any(|case| applies_to(limit, case) && case.has_limit())
}

fn gigabytes_per_s(limit: &Limit) -> Option<String> {
    let bytes_per_s = limit.bytes_per_s?;
    Some(GIGABYTES_PER_S.text(as_f64(bytes_per_s)))
}

/// ` (9.12 with non-temporal stores)`, beside a plain copy of memory with as many threads.
fn past_the_caches(kind: LimitKind, threads: u32, limits: &[Limit]) -> Option<String> {
    if kind != LimitKind::MemoryCopy {
        return None;
    }
    let limit = limits
        .iter()
        .find(|limit| limit.kind == LimitKind::MemoryCopyNonTemporal && limit.threads == threads)?;
    Some(format!(
        " ({} with non-temporal stores)",
        gigabytes_per_s(limit)?
    ))
}

/// The cases whose value is outside its samples. Next to `min – max` of all samples, it looks like a mistake.
fn outside(cases: &[&CaseReport]) -> Option<String> {
    let outside: Vec<&str> = cases
        .iter()
        .filter_map(|case| Some((case, case.estimate.as_ref()?)))
        .filter(|(_, estimate)| estimate.total_ns.is_outside_its_samples())
        .map(|(case, _)| case.name.as_str())
        .collect();
    (!outside.is_empty()).then(|| {
        format!(
            "A value is for a typical round, and these samples are all from slower or faster ones. Outside its samples:{}",
            listed(&outside, NAMED)
        )
    })
}

/// The number of samples, for tables without a column of it.
pub(super) fn samples(cases: &[CaseReport]) -> Option<String> {
    let counts = cases
        .iter()
        .filter_map(|case| case.estimate.as_ref())
        .map(|estimate| estimate.samples);
    Some(format!("n: {} per value", counted_range(counts, "sample")?))
}

/// The median and the widest interval, for tables whose cells have no room for intervals.
pub(super) fn intervals(cases: &[CaseReport]) -> Option<String> {
    let mut widths: Vec<(&str, f64)> = cases
        .iter()
        .filter_map(|case| {
            let throughput = &case.estimate.as_ref()?.throughput_bytes_per_s;
            Some((case.name.as_str(), throughput.half_width()?))
        })
        .collect();
    widths.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let (_, median) = *widths.get(widths.len() / 2)?;
    let (name, widest) = *widths.last()?;
    Some(format!(
        "95% CI: median ± {}, widest ± {} ({name}). All: `show --sort case`",
        share(median),
        share(widest)
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
    let before = GIGABYTES_PER_S.text(burst.bytes_per_s);
    let after = GIGABYTES_PER_S.text(burst.sustained_bytes_per_s);
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
