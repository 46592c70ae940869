use writebench_model::{Bytes, Content, GOALS, Outcome, RunRecord, RunStatus};
use writebench_stats::{CONFIDENCE, grouped};

use crate::numbers::{
    CaseReport, Estimate, Obstacle, ObstacleKind, distinct, disturbance, failure, obstacle,
    others_wait_ppm,
};
use crate::sentences::ranks;
use crate::sentences::words::counted;

pub(crate) fn warnings(run: &RunRecord, cases: &[CaseReport], is_search: bool) -> Vec<String> {
    let mut warnings: Vec<String> = of_status(run, cases, is_search)
        .map(str::to_owned)
        .into_iter()
        .collect();
    let direct = direct_in_page_cache(run, cases);
    // A case may be in several tables.
    let cases = distinct(cases.iter().filter(|case| !case.is_screening()), |case| {
        &case.name
    });
    // Searches and goals are for successful cases: losers have few samples.
    let answers_goals = cases.iter().all(|case| case.record.origin.suite() == GOALS);
    let disturbance = disturbance(run, &cases);
    warnings.extend(disturbance.as_ref().map(Obstacle::text));
    warnings.extend(direct);
    warnings.extend(not_durable(run, &cases));
    warnings.extend(failed_with_remedy(run, &cases).filter(|_| !is_search && !answers_goals));
    warnings.extend(went_on(&cases));
    warnings.extend(lacking_bytes(&cases));
    warnings.extend(lost_at_write_back(&cases));
    let estimates = || cases.iter().filter_map(|case| case.estimate.as_ref());
    if let Some(lowest) = estimates().min_by(|a, b| a.confidence.total_cmp(&b.confidence))
        && lowest.confidence < CONFIDENCE
        && !answers_goals
    {
        let obstacle = obstacle(run, &cases).filter(|obstacle| obstacle.is_a_limit());
        let remedy = obstacle.map_or(String::new(), |obstacle| format!(" {}", obstacle.remedy()));
        warnings.push(format!(
            "Some cases have only {}: a 95% CI needs 6, and `…` is the range of samples.{remedy}",
            counted(lowest.samples, "sample"),
        ));
    }
    let counting: Vec<&CaseReport> = cases
        .iter()
        .copied()
        .filter(|case| case.counts_disturbed)
        .collect();
    if !counting.is_empty() {
        let (disturbed, all) = disturbed_of(&counting);
        warnings.push(format!(
            "{disturbed} of {} in contests were disturbed, and count because too few others remain: the bounds are wider.",
            counted(all, "sample")
        ));
    }
    let others: Vec<&CaseReport> = cases
        .iter()
        .copied()
        .filter(|case| !case.counts_disturbed)
        .collect();
    let (disturbed, all) = disturbed_of(&others);
    if disturbed > 0 && disturbance.is_none() {
        let were = if disturbed == 1 { "was" } else { "were" };
        warnings.push(format!(
            "{disturbed} of {} {were} disturbed and left out.",
            counted(all, "sample")
        ));
    }
    let those = |is_one: fn(&&Estimate) -> bool, what: &str| {
        let count = estimates().filter(is_one).count();
        (count > 0).then(|| format!("{} {what}", counted(count, "case")))
    };
    let all_disturbed = "with only disturbed samples, marked ~ and not ranked.";
    let only_disturbed = others.iter().filter_map(|case| case.estimate.as_ref());
    let only_disturbed = only_disturbed
        .filter(|estimate| estimate.all_disturbed)
        .count();
    warnings.extend(
        (only_disturbed > 0)
            .then(|| format!("{} {all_disturbed}", counted(only_disturbed, "case"))),
    );
    let cut = "cut short by the budget, compared by rate, with the written bytes in brackets.";
    warnings.extend(those(|estimate| estimate.truncated_samples > 0, cut));
    warnings.extend(ranks::warnings(run.cluster.as_ref(), &cases));
    warnings.extend(imprecise(run, &cases));
    let is_busy_said =
        disturbance.is_some_and(|found| matches!(found.kind, ObstacleKind::CpuPressure { .. }));
    warnings.extend(busy_cpus(run, &cases).filter(|_| !is_busy_said));
    if let Some(governor) = run
        .targets
        .first()
        .and_then(|target| target.environment.cpu.governor.as_ref())
        && governor != "performance"
    {
        warnings.push(format!(
            "The CPU frequency governor is '{governor}': clocks may change between samples."
        ));
    }
    warnings
}

/// The disturbed samples, and all good ones.
fn disturbed_of(cases: &[&CaseReport]) -> (usize, usize) {
    let disturbed = cases
        .iter()
        .filter_map(|case| case.estimate.as_ref())
        .map(|estimate| estimate.disturbed_samples);
    (
        disturbed.sum(),
        cases.iter().map(|case| case.good_samples().count()).sum(),
    )
}

pub(crate) fn case_sentence(case: &CaseReport) -> String {
    let samples = case
        .estimate
        .as_ref()
        .map(|estimate| counted(estimate.samples, "good sample"));
    let good = samples.map_or(String::new(), |samples| format!(" (after {samples})"));
    format!("{}: {}{good}", case.name, case.cause().unwrap_or_default())
}

pub(crate) fn failed(cases: &[&CaseReport]) -> Option<String> {
    let is_fault = |case: &CaseReport| case.outcome().is_some_and(Outcome::is_fault);
    let failed: Vec<&CaseReport> = cases
        .iter()
        .copied()
        .filter(|case| is_fault(case))
        .collect();
    let first = failed.first()?;
    let sentence = case_sentence(first);
    let more = if failed.len() > 1 {
        format!(", and {} more", failed.len() - 1)
    } else {
        String::new()
    };
    Some(format!(
        "{} of {} failed: {sentence}{more}.",
        failed.len(),
        counted(cases.len(), "case")
    ))
}

/// Unknown errors have no remedy but their own text.
fn failed_with_remedy(run: &RunRecord, cases: &[&CaseReport]) -> Option<String> {
    let sentence = failed(cases)?;
    let is_fault = |case: &&CaseReport| case.outcome().is_some_and(Outcome::is_fault);
    let faults: Vec<&CaseReport> = cases.iter().copied().filter(is_fault).collect();
    let known = failure(run, &faults)
        .filter(|obstacle| !matches!(obstacle.kind, ObstacleKind::Failures { .. }));
    Some(sentence + &known.map_or(String::new(), |obstacle| format!(" {}", obstacle.remedy())))
}

fn lost_at_write_back(cases: &[&CaseReport]) -> Option<String> {
    let samples = cases.iter().flat_map(|case| &case.record.samples);
    let failures: Vec<_> = samples
        .filter_map(|sample| sample.write_back_failure.as_ref())
        .collect();
    let first = failures.first()?;
    let found = counted(failures.len(), "sample");
    Some(format!(
        "Unsynced data was lost at write-back during {found}: {first}."
    ))
}

/// Samples that lost their worker in continued cases.
fn went_on(cases: &[&CaseReport]) -> Option<String> {
    let lost = |case: &&CaseReport| -> Vec<String> {
        let samples = case
            .record
            .samples
            .iter()
            .filter(|sample| case.is_ok() && sample.outcome.is_accident());
        samples
            .filter_map(|sample| Some(format!("{}: {}", case.name, sample.reason()?)))
            .collect()
    };
    let all: Vec<String> = cases.iter().flat_map(lost).collect();
    let first = all.first()?;
    let whose = if all.len() == 1 {
        "its worker, its case"
    } else {
        "their workers, their cases"
    };
    Some(format!(
        "{} lost {whose} continued: {first}.",
        counted(all.len(), "sample")
    ))
}

/// Files with fewer bytes of their own than the contract says.
fn lacking_bytes(cases: &[&CaseReport]) -> Vec<String> {
    let lacking = |case: &&CaseReport| {
        let declared = case.record.case.known()?.contract().content;
        let why = match case.record.contract.content {
            found if found == declared => return None,
            Content::SharedCopy => "shares its blocks with the source".to_owned(),
            _ => {
                let most = case
                    .good_samples()
                    .filter_map(|sample| sample.hole_bytes)
                    .max()?;
                let all = case.record.contract.bytes;
                let [own, all] =
                    [all.saturating_sub(most), all].map(|bytes| Bytes(bytes).approximate());
                format!("has holes, {own} of {all} hold data")
            }
        };
        Some(format!(
            "{}: its file {why}. It is not ranked with cases that write all bytes.",
            case.name
        ))
    };
    cases.iter().filter_map(lacking).collect()
}

/// Why a run is incomplete, and how to continue.
fn of_status(run: &RunRecord, cases: &[CaseReport], is_search: bool) -> Option<&'static str> {
    Some(match run.status {
        RunStatus::Complete => return None,
        RunStatus::Limited if is_search => {
            "The limit on bytes ended the search: a larger --max-bytes searches longer."
        }
        RunStatus::Limited => "A limit on time or bytes ended the run early.",
        RunStatus::Running => "The run is still in progress.",
        _ if is_search => "The search was cut off and cannot be resumed. Start it again.",
        _ if run.has_made_filesystems() => {
            "The run was cut off and cannot be resumed, because its filesystems are gone."
        }
        // The sizes of its cases were not yet chosen.
        RunStatus::Interrupted if cases.is_empty() => {
            "The run was interrupted before its first sample. Start it again."
        }
        RunStatus::Failed if cases.is_empty() => {
            "The run was cut off before its first sample. Start it again."
        }
        RunStatus::Interrupted => "The run was interrupted. Continue it with --resume.",
        RunStatus::Failed => "The run was cut off. Continue it with --resume.",
    })
}

/// Calls that end on the device then wait for a CPU.
fn busy_cpus(run: &RunRecord, cases: &[&CaseReport]) -> Option<String> {
    let wait_ppm = others_wait_ppm(run, cases)?;
    Some(format!(
        "Other programs used the CPUs: tasks waited for one {} % of the time. This makes durable writes many times \
         slower.",
        wait_ppm / 10_000
    ))
}

/// `O_DIRECT` has no effect: its cases have no values.
fn direct_in_page_cache(run: &RunRecord, cases: &[CaseReport]) -> Option<String> {
    let without = cases
        .iter()
        .filter(|case| case.outcome().is_some_and(Outcome::is_direct_in_page_cache));
    let without = distinct(without, |case| &case.name);
    let targets = distinct(
        without.iter().map(|case| case.record.target.as_str()),
        |target| *target,
    );
    (!targets.is_empty()).then(|| {
        let place = if run.is_side_by_side() {
            format!("on {}", targets.join(", "))
        } else {
            "here".to_owned()
        };
        let cases = counted(without.len(), "direct case");
        format!("O_DIRECT uses the page cache {place}: no result for {cases}.")
    })
}

/// Once for each reason.
fn not_durable(run: &RunRecord, cases: &[&CaseReport]) -> Vec<String> {
    let reasons = cases
        .iter()
        .filter_map(|case| Some((case.not_durable.as_ref()?, *case)));
    let sentence = |(why, cases): (&String, Vec<(&String, &CaseReport)>)| {
        let targets = distinct(
            cases.iter().map(|(_, case)| case.record.target.as_str()),
            |target| *target,
        );
        let place = if run.is_side_by_side() {
            format!("on {}", targets.join(", "))
        } else {
            "here".to_owned()
        };
        let are = if cases.len() == 1 { "is" } else { "are" };
        format!(
            "{} {are} not durable {place}, and not ranked: {why}.",
            counted(cases.len(), "case")
        )
    };
    grouped(reasons, |(why, _)| *why)
        .into_iter()
        .map(sentence)
        .collect()
}

fn imprecise(run: &RunRecord, cases: &[&CaseReport]) -> Option<String> {
    let wanted = f64::from(run.settings.precision_ppm?) / 1e6;
    let half_width = |case: &&CaseReport| {
        let estimate = case.estimate.as_ref()?;
        Some((
            case.name.clone(),
            estimate.total_ns.half_width().unwrap_or(f64::INFINITY),
        ))
    };
    let widths: Vec<(String, f64)> = cases.iter().filter_map(half_width).collect();
    let wide: Vec<&(String, f64)> = widths.iter().filter(|(_, width)| *width > wanted).collect();
    let (name, width) = wide.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let widest = if width.is_finite() {
        format!("widest: {name}, ± {:.1} %", width * 100.0)
    } else {
        format!("{name} has too few samples for a 95% CI")
    };
    let asked = format!("{:.4}", wanted * 100.0);
    let asked = asked.trim_end_matches('0').trim_end_matches('.');
    Some(format!(
        "{} of {} did not reach ± {asked} % ({widest}).",
        wide.len(),
        counted(widths.len(), "case")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Outcome, Sample, Settings};
    use writebench_testkit::{example_case, example_run};

    fn warnings_of(precision_ppm: u32, cases: &[(&str, &[u64])]) -> Vec<String> {
        let samples = |times_ns: &[u64]| {
            let sample = |(round, &time_ns): (u32, &u64)| {
                let mut sample = Sample::without_figures(round, Outcome::Ok);
                sample.phases_ns.write = time_ns;
                sample.bytes = 1 << 30;
                sample
            };
            (0..).zip(times_ns).map(sample).collect()
        };
        let run = example_run();
        let settings = Settings {
            precision_ppm: Some(precision_ppm),
            ..run.settings.clone()
        };
        let cases = cases
            .iter()
            .map(|(name, times_ns)| example_case("test", name, samples(times_ns)));
        let run = RunRecord {
            settings,
            status: RunStatus::Complete,
            cases: cases.collect(),
            ..run
        };
        crate::Report::from_run(None, run).warnings
    }

    #[test]
    fn busy_cpus_are_reported_unless_the_run_itself_keeps_them_busy() {
        let warnings = |name: &str, wait_ppm| {
            let mut run = RunRecord {
                status: RunStatus::Complete,
                cpu_wait_ppm: wait_ppm,
                ..example_run()
            };
            run.targets[0].environment.cpu.available = 2;
            let mut sample = Sample::without_figures(0, Outcome::Ok);
            (sample.phases_ns.write, sample.bytes) = (1000, 1 << 30);
            run.cases = vec![example_case("test", name, vec![sample; 6])];
            crate::Report::from_run(None, run)
                .warnings
                .into_iter()
                .filter(|line| line.contains("CPUs"))
                .collect::<Vec<_>>()
        };
        let busy = "Other programs used the CPUs: tasks waited for one 93 % of the time. This makes durable writes many \
                    times slower.";
        assert_eq!(warnings("write,sync=fsync", Some(930_000)), [busy]);
        assert!(warnings("write,threads=3", Some(930_000)).is_empty());
        assert!(warnings("write", Some(200_000)).is_empty() && warnings("write", None).is_empty());
    }

    #[test]
    fn mostly_disturbed_samples_come_first_with_their_cause_and_the_remedy_once() {
        let report = |disturbed: u32, all: u32| {
            let mut run = RunRecord {
                cpu_wait_ppm: Some(930_000),
                ..example_run()
            };
            (run.status, run.settings.fail_if_slower_ppm) = (RunStatus::Limited, Some(50_000));
            let sample = |round| {
                let mut sample = Sample::without_figures(round, Outcome::Ok);
                (sample.phases_ns.write, sample.bytes) = (1000, 1 << 30);
                let is_disturbed = round < disturbed;
                sample.disturbed =
                    is_disturbed.then(|| "memory copy 2.1 times slower than usual".to_owned());
                sample
            };
            run.cases = vec![example_case(
                "test",
                "write",
                (0..all).map(sample).collect(),
            )];
            crate::Report::from_run(None, run)
        };
        let most = report(7, 9);
        let because = "7 of 9 samples were disturbed: other programs used the CPUs, and tasks waited for one 93 % of the \
                       time. Stop them, or measure while the machine is idle.";
        assert_eq!(most.warnings[1], because, "after the status");
        assert_eq!(most.without_verdict(), because, "of --fail-if-slower too");
        assert_eq!(
            most.warnings
                .iter()
                .filter(|line| line.contains("CPUs"))
                .count(),
            1,
            "{:?}",
            most.warnings
        );
        let few = report(2, 9);
        assert!(
            few.warnings
                .contains(&"2 of 9 samples were disturbed and left out.".to_owned()),
            "{few:?}"
        );
        assert!(
            few.without_verdict().contains("7 of the 8 rounds"),
            "{}",
            few.without_verdict()
        );
    }

    #[test]
    fn a_missed_precision_is_reported_with_the_widest_case() {
        let narrow: &[u64] = &[1000, 1001, 999, 1002, 998, 1000];
        let wide: &[u64] = &[1000, 1100, 900, 1050, 950, 1000];
        let cases = [("a", narrow), ("b", wide), ("c", narrow)];
        assert_eq!(
            warnings_of(25_000, &cases),
            ["1 of 3 cases did not reach ± 2.5 % (widest: b, ± 10.0 %)."]
        );
        assert!(warnings_of(110_000, &cases).is_empty());
        let few = warnings_of(25_000, &[("a", &narrow[..3])]);
        assert!(
            few.iter()
                .any(|line| line.ends_with("(a has too few samples for a 95% CI).")),
            "{few:?}"
        );
    }
}
