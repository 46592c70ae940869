use writebench_stats::as_f64;

use crate::numbers::{CaseReport, LatencyEstimate};
use crate::sentences::number::MILLISECONDS;
use crate::sentences::words::{counted, list};

/// Percentiles of durable records, or of files, over all samples together. Other sentences have percentiles of a
/// sample.
pub(crate) fn latency(case: &CaseReport, who: &str) -> Option<String> {
    let all = case.estimate.as_ref()?.latency?;
    let workload = &case.record.workload;
    let unit = if workload.file_size.is_some() {
        "file"
    } else {
        "record"
    };
    let from_arrival = if workload.records_per_s.is_some() {
        ", from their arrival"
    } else {
        ""
    };
    let count = counted(usize::try_from(all.count).ok()?, unit);
    let threads = case
        .record
        .case
        .known()
        .map_or(1, |case| case.choices().threads);
    let thread = if threads > 1 { " of its thread" } else { "" };
    let at_record = all
        .max_record
        .map(|number| format!(", at {unit} {number}{thread}"))
        .unwrap_or_default();
    let worst = MILLISECONDS.text(as_f64(all.max_ns));
    let takes = match percentiles(&all) {
        known if known.is_empty() => format!("{who} wrote {count}{from_arrival}."),
        known => format!(
            "{who} takes {} over all {count}{from_arrival}.",
            known.join(" and ")
        ),
    };
    Some(format!(
        "{takes} The worst stall was {worst} ms{at_record}."
    ))
}

/// `4.08 ms at p50` and so on, as far as there are enough values: 90 % only instead of a rarer one.
fn percentiles(all: &LatencyEstimate) -> Vec<String> {
    let mut known: Vec<(&str, u64)> = all
        .percentiles()
        .into_iter()
        .filter_map(|(name, ns)| Some((name, ns?)))
        .collect();
    if known.len() > 2 {
        known.retain(|(name, _)| *name != "p90");
    }
    let texts: Vec<String> = known
        .into_iter()
        .map(|(name, ns)| format!("{} ms at {name}", MILLISECONDS.text(as_f64(ns))))
        .collect();
    match texts.split_last() {
        Some((last, before @ [_, _, ..])) => vec![list(before, before.len()), last.clone()],
        _ => texts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(count: u64) -> String {
        let estimate = LatencyEstimate {
            count,
            p50_ns: 1_000_000,
            p90_ns: 2_000_000,
            p99_ns: 3_000_000,
            p99_9_ns: 4_000_000,
            max_ns: 5_000_000,
            max_record: None,
        };
        percentiles(&estimate).join(" and ")
    }

    #[test]
    fn a_percentile_needs_enough_values() {
        assert_eq!(said(1), "");
        assert_eq!(said(9), "1.00 ms at p50");
        assert_eq!(said(26), "1.00 ms at p50 and 2.00 ms at p90");
        assert_eq!(said(99), "1.00 ms at p50 and 2.00 ms at p90");
        assert_eq!(said(100), "1.00 ms at p50 and 3.00 ms at p99");
        assert_eq!(
            said(1000),
            "1.00 ms at p50, 3.00 ms at p99 and 4.00 ms at p99.9"
        );
    }
}
