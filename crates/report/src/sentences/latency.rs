use writebench_model::Objective;
use writebench_stats::as_f64;

use crate::numbers::{CaseReport, LatencyEstimate};
use crate::sentences::number::MILLISECONDS;
use crate::sentences::words::{counted, list};

/// Percentiles of durable records, or of files, over all samples together. Other sentences have percentiles of a
/// sample.
pub(crate) fn latency(case: &CaseReport, who: &str) -> Option<String> {
    let all = case.estimate.as_ref()?.latency?;
    let workload = &case.record.workload;
    let unit = match (workload.durable_every_bytes, workload.file_size) {
        (Some(_), _) if workload.pages.is_some() => "commit",
        (Some(_), _) => "record",
        (None, Some(_)) => "file",
        (None, None) => "call",
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
    // A search that minimizes it has another p99 already: the typical one of a sample.
    let is_said = case.estimate.as_ref()?.objective == Objective::P99;
    let takes = match percentiles(&all, is_said) {
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
fn percentiles(all: &LatencyEstimate, without_p99: bool) -> Vec<String> {
    let mut known: Vec<(&str, u64)> = all
        .percentiles()
        .into_iter()
        .filter_map(|(name, ns)| Some((name, ns?)))
        .filter(|(name, _)| !without_p99 || *name != "p99")
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

    fn said(percentiles_ns: [Option<u64>; 4], without_p99: bool) -> String {
        let [p50_ns, p90_ns, p99_ns, p99_9_ns] = percentiles_ns;
        let estimate = LatencyEstimate {
            count: 2000,
            p50_ns,
            p90_ns,
            p99_ns,
            p99_9_ns,
            max_ns: 5_000_000,
            max_record: None,
        };
        percentiles(&estimate, without_p99).join(" and ")
    }

    #[test]
    fn known_percentiles_are_listed_and_a_rare_one_replaces_p90() {
        let [p50, p90, p99, p99_9] = [1, 2, 3, 4].map(|ms| Some(ms * 1_000_000));
        assert_eq!(said([None; 4], false), "");
        assert_eq!(said([p50, None, None, None], false), "1.00 ms at p50");
        assert_eq!(
            said([p50, p90, None, None], false),
            "1.00 ms at p50 and 2.00 ms at p90"
        );
        assert_eq!(
            said([p50, p90, p99, None], false),
            "1.00 ms at p50 and 3.00 ms at p99"
        );
        let all = [p50, p90, p99, p99_9];
        assert_eq!(
            said(all, false),
            "1.00 ms at p50, 3.00 ms at p99 and 4.00 ms at p99.9"
        );
        assert_eq!(said(all, true), "1.00 ms at p50 and 4.00 ms at p99.9");
    }
}
