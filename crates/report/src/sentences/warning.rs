use writebench_model::{Bytes, Content, Objective, Outcome, RunRecord, RunStatus, Sample};
use writebench_stats::{CONFIDENCE, grouped, needs_disturbed};

use crate::numbers::{
    CaseReport, Estimate, Obstacle, ObstacleKind, contest_samples, distinct, disturbance, failure,
    obstacle, others_wait_ppm,
};
use crate::sentences::words::{counted, in_one_line};
use crate::sentences::{kernel, ranks};

pub(crate) fn warnings(run: &RunRecord, cases: &[CaseReport], is_search: bool) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    // A limit ends every run of goals. What it left out has its own sentence.
    let is_usual_end = run.status == RunStatus::Limited
        && !cases.is_empty()
        && cases.iter().all(|case| case.record.origin.is_of_goal());
    let incomplete = incomplete(run, cases, is_search).filter(|_| !is_usual_end);
    warnings.extend(incomplete.map(str::to_owned));
    let direct = direct_in_page_cache(run, cases);
    // A case may be in several tables.
    let cases = distinct(cases.iter().filter(|case| !case.is_screening()), |case| {
        &case.name
    });
    let answers_goals = cases.iter().all(|case| case.record.origin.is_of_goal());
    let disturbance = disturbance(run, &cases);
    warnings.extend(disturbance.as_ref().map(Obstacle::text));
    // What makes all values doubtful is said first.
    let is_busy_said = disturbance
        .as_ref()
        .is_some_and(|found| matches!(found.kind, ObstacleKind::CpuPressure { .. }));
    if !is_busy_said {
        warnings.extend(busy_cpus(run, &cases));
    }
    warnings.extend(direct);
    warnings.extend(not_durable(run, &cases));
    warnings.extend(can_lose_old_content(&cases).map(str::to_owned));
    // Searches and goals are for successful cases: losers have few samples.
    let is_of_contests = is_search || answers_goals;
    if !is_of_contests {
        warnings.extend(failed_with_remedy(run, &cases));
    }
    warnings.extend(lost_workers(&cases));
    warnings.extend(lacking_bytes(&cases));
    warnings.extend(lost_at_write_back(&cases));
    if !answers_goals {
        warnings.extend(kernel::thread_pools(&cases));
    }
    if !is_of_contests {
        warnings.extend(too_few_samples(run, &cases));
    }
    let (counting, others): (Vec<&CaseReport>, Vec<&CaseReport>) = cases
        .iter()
        .copied()
        .partition(|case| case.counts_disturbed);
    warnings.extend(disturbed_but_counted(&counting, run.settings.objective));
    if disturbance.is_none() {
        warnings.extend(disturbed_and_left_out(&others));
    }
    warnings.extend(only_disturbed(&others));
    warnings.extend(cut_short(&cases));
    warnings.extend(ranks::warnings(run.cluster.as_ref(), &cases));
    warnings.extend(imprecise(run, &cases));
    warnings.extend(changing_clocks(run));
    warnings
}

fn estimates<'c>(cases: &[&'c CaseReport]) -> impl Iterator<Item = &'c Estimate> {
    cases.iter().filter_map(|case| case.estimate.as_ref())
}

/// Cases with too few samples for a 95% interval, with a remedy if a limit was the reason.
fn too_few_samples(run: &RunRecord, cases: &[&CaseReport]) -> Option<String> {
    let lowest = estimates(cases)
        .min_by(|a, b| a.confidence.total_cmp(&b.confidence))
        .filter(|lowest| lowest.confidence < CONFIDENCE)?;
    let obstacle = obstacle(run, cases).filter(|obstacle| obstacle.is_a_limit());
    let remedy = obstacle.map_or(String::new(), |obstacle| format!(" {}", obstacle.remedy()));
    let has_range = |estimate: &Estimate| estimate.confidence < CONFIDENCE && estimate.samples > 1;
    let range = if estimates(cases).any(has_range) {
        ", and `…` is the range of samples"
    } else {
        ""
    };
    Some(format!(
        "Some cases have only {}: a 95% CI needs 6{range}.{remedy}",
        counted(lowest.samples, "sample"),
    ))
}

/// Each contest has its own reason.
fn disturbed_but_counted(cases: &[&CaseReport], objective: Objective) -> Vec<String> {
    let contests = grouped(cases.iter().copied(), |case| {
        let section = case.record.origin.section().to_owned();
        (case.record.target.clone(), section)
    });
    let (lacking, others): (Vec<_>, Vec<_>) = contests
        .into_iter()
        .map(|(_, cases)| cases)
        .partition(|cases| lack_calm_samples(cases, objective));
    let lacking = lacking.concat();
    let others = others.concat();
    let sentences = [
        counted_because(&lacking, "too few others remain: the bounds are wider"),
        counted_because(&others, "the others were not measurably faster"),
    ];
    sentences.into_iter().flatten().collect()
}

fn lack_calm_samples(cases: &[&CaseReport], objective: Objective) -> bool {
    let able = cases.iter().filter(|case| !case.is_out());
    let samples: Vec<_> = able
        .map(|case| contest_samples(&case.record, objective))
        .collect();
    needs_disturbed(&samples)
}

fn counted_because(cases: &[&CaseReport], reason: &str) -> Option<String> {
    let disturbed = count_disturbed(cases);
    let all = counted(count_good(cases), "sample");
    match disturbed {
        0 => None,
        1 => Some(format!(
            "1 of {all} in contests was disturbed. It counts, because {reason}."
        )),
        _ => Some(format!(
            "{disturbed} of {all} in contests were disturbed. They count, because {reason}."
        )),
    }
}

fn disturbed_and_left_out(cases: &[&CaseReport]) -> Option<String> {
    let disturbed = count_disturbed(cases);
    let all = counted(count_good(cases), "sample");
    let were = if disturbed == 1 { "was" } else { "were" };
    (disturbed > 0).then(|| format!("{disturbed} of {all} {were} disturbed and left out."))
}

fn count_disturbed(cases: &[&CaseReport]) -> usize {
    estimates(cases)
        .map(|estimate| estimate.disturbed_samples)
        .sum()
}

fn count_good(cases: &[&CaseReport]) -> usize {
    cases.iter().map(|case| case.good_samples().count()).sum()
}

fn only_disturbed(cases: &[&CaseReport]) -> Option<String> {
    let count = estimates(cases)
        .filter(|estimate| estimate.all_disturbed)
        .count();
    let cases = counted(count, "case");
    (count > 0).then(|| format!("{cases} with only disturbed samples, marked ~ and not ranked."))
}

fn cut_short(cases: &[&CaseReport]) -> Option<String> {
    let count = estimates(cases)
        .filter(|estimate| estimate.truncated_samples > 0)
        .count();
    let cases = counted(count, "case");
    (count > 0).then(|| {
        format!(
            "{cases} cut short by the budget, compared by rate, with the written bytes in brackets."
        )
    })
}

fn changing_clocks(run: &RunRecord) -> Option<String> {
    let cpu = &run.targets.first()?.environment.cpu;
    let governor = cpu.governor.as_ref()?;
    (governor != "performance").then(|| {
        format!("The CPU frequency governor is '{governor}': clocks may change between samples.")
    })
}

/// The case's name and why it has no result.
pub(crate) fn case_sentence(case: &CaseReport) -> String {
    let samples = case
        .estimate
        .as_ref()
        .map(|estimate| counted(estimate.samples, "good sample"));
    let good = samples.map_or(String::new(), |samples| format!(" (after {samples})"));
    let cause = case.cause().unwrap_or_default();
    in_one_line(&format!("{}: {cause}{good}", case.name))
}

fn faults<'c>(cases: &[&'c CaseReport]) -> Vec<&'c CaseReport> {
    cases
        .iter()
        .copied()
        .filter(|case| case.outcome().is_some_and(Outcome::is_fault))
        .collect()
}

pub(crate) fn failed(cases: &[&CaseReport]) -> Option<String> {
    let failed = faults(cases);
    let sentence = case_sentence(failed.first()?);
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

/// The failed cases, with a remedy if the error is known. Unknown errors have no remedy but their own text.
fn failed_with_remedy(run: &RunRecord, cases: &[&CaseReport]) -> Option<String> {
    let sentence = failed(cases)?;
    let known = failure(run, &faults(cases))
        .filter(|obstacle| !matches!(obstacle.kind, ObstacleKind::Failures { .. }));
    let remedy = known.map_or(String::new(), |obstacle| format!(" {}", obstacle.remedy()));
    Some(sentence + &remedy)
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

/// Samples that lost their worker, in cases that continued with another.
fn lost_workers(cases: &[&CaseReport]) -> Option<String> {
    let lost: Vec<(&CaseReport, String)> = cases
        .iter()
        .copied()
        .filter(|case| case.is_ok())
        .flat_map(|case| accidents(case).map(move |why| (case, why)))
        .collect();
    let (case, why) = lost.first()?;
    let whose = if lost.len() == 1 {
        "its worker, its case"
    } else {
        "their workers, their cases"
    };
    Some(format!(
        "{} lost {whose} continued: {}: {why}.",
        counted(lost.len(), "sample"),
        case.name
    ))
}

/// The reason of each sample that an accident ended.
fn accidents(case: &CaseReport) -> impl Iterator<Item = String> {
    case.record
        .samples
        .iter()
        .filter(|sample| sample.outcome.is_accident())
        .filter_map(Sample::reason)
}

/// A sentence for each case whose file has fewer bytes of its own than the workload says.
fn lacking_bytes(cases: &[&CaseReport]) -> Vec<String> {
    cases
        .iter()
        .filter_map(|case| {
            let why = why_lacking_bytes(case)?;
            Some(format!(
                "{}: its file {why}. It is not ranked with cases that write all bytes.",
                case.name
            ))
        })
        .collect()
}

fn why_lacking_bytes(case: &CaseReport) -> Option<String> {
    let found = case.record.workload.content;
    if found == case.record.case.known()?.workload().content {
        return None;
    }
    if found == Content::SharedCopy {
        return Some("shares its blocks with the source".to_owned());
    }
    let most_hole_bytes = case
        .good_samples()
        .filter_map(|sample| sample.hole_bytes)
        .max()?;
    let all_bytes = case.record.workload.bytes;
    let own = Bytes(all_bytes.saturating_sub(most_hole_bytes)).approximate();
    let all = Bytes(all_bytes).approximate();
    Some(format!("has holes, {own} of {all} hold data"))
}

/// Why a run is incomplete, and how to continue.
fn incomplete(run: &RunRecord, cases: &[CaseReport], is_search: bool) -> Option<&'static str> {
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

/// Other programs kept the CPUs busy, so that calls which end on the device then waited for a CPU.
fn busy_cpus(run: &RunRecord, cases: &[&CaseReport]) -> Option<String> {
    let wait_ppm = others_wait_ppm(run, cases)?;
    Some(format!(
        "Other programs used the CPUs: tasks waited for a CPU {} % of the time. This makes durable writes many times \
         slower.",
        wait_ppm / 10_000
    ))
}

/// A warning about direct cases that have no values, because `O_DIRECT` has no effect on their targets.
fn direct_in_page_cache(run: &RunRecord, cases: &[CaseReport]) -> Option<String> {
    let without_effect = cases
        .iter()
        .filter(|case| case.outcome().is_some_and(Outcome::is_direct_in_page_cache));
    let without_effect = distinct(without_effect, |case| &case.name);
    if without_effect.is_empty() {
        return None;
    }
    let place = targets_or_here(run, &without_effect);
    let cases = counted(without_effect.len(), "direct case");
    Some(format!(
        "O_DIRECT uses the page cache {place}: no result for {cases}."
    ))
}

/// The targets of these cases, if the run has several: `on /data, /home`.
fn targets_or_here(run: &RunRecord, cases: &[&CaseReport]) -> String {
    if !run.is_side_by_side() {
        return "here".to_owned();
    }
    let targets = cases.iter().map(|case| case.record.target.as_str());
    format!("on {}", distinct(targets, |target| *target).join(", "))
}

/// A sentence for each reason why cases are not durable.
fn not_durable(run: &RunRecord, cases: &[&CaseReport]) -> Vec<String> {
    let not_durable = cases
        .iter()
        .copied()
        .filter(|case| case.not_durable.is_some() && !case.record.samples.is_empty());
    grouped(not_durable, |case| case.not_durable.as_deref())
        .into_iter()
        .map(|(why, cases)| {
            let are = if cases.len() == 1 { "is" } else { "are" };
            format!(
                "{} {are} not durable {}, and not ranked: {}.",
                counted(cases.len(), "case"),
                targets_or_here(run, &cases),
                why.unwrap_or_default()
            )
        })
        .collect()
}

fn can_lose_old_content(cases: &[&CaseReport]) -> Option<&'static str> {
    let can_lose = |case: &&CaseReport| case.record.workload.can_lose_old_content();
    cases.iter().any(can_lose).then_some(
        "A file replaced without a sync can lose its old and its new content in a power loss. `--for durable-replace` is \
         safe, and so is sync-files=each.",
    )
}

/// Cases whose interval is wider than `--precision` asks for.
fn imprecise(run: &RunRecord, cases: &[&CaseReport]) -> Option<String> {
    let wanted = f64::from(run.settings.precision_ppm?) / 1e6;
    let widths: Vec<(&str, f64)> = cases
        .iter()
        .filter_map(|case| Some((case.name.as_str(), half_width(case)?)))
        .collect();
    let wide: Vec<&(&str, f64)> = widths.iter().filter(|(_, width)| *width > wanted).collect();
    let (name, width) = wide.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let widest = if width.is_finite() {
        format!("widest: {name}, ± {:.1} %", width * 100.0)
    } else {
        format!("{name} has too few samples for a 95% CI")
    };
    let wanted_percent = format!("{:.4}", wanted * 100.0);
    Some(format!(
        "{} of {} did not reach ± {} % ({widest}).",
        wide.len(),
        counted(widths.len(), "case"),
        wanted_percent.trim_end_matches('0').trim_end_matches('.')
    ))
}

/// Half of the interval's width, as a share of the time. It is infinite without an interval.
fn half_width(case: &CaseReport) -> Option<f64> {
    let total_ns = &case.estimate.as_ref()?.total_ns;
    Some(total_ns.half_width().unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Case, Outcome, Sample, Settings};
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
    fn a_replaced_file_is_not_safe_without_a_sync() {
        let is_warned = |name: &str| {
            let mut case = example_case("test", name, Vec::new());
            case.workload = Case::parse(name).unwrap().workload();
            let run = RunRecord {
                cases: vec![case],
                ..example_run()
            };
            let warnings = crate::Report::from_run(None, run).warnings;
            warnings
                .iter()
                .any(|warning| warning.contains("`--for durable-replace` is safe"))
        };
        let replaced = "write-files,file-size=whole,naming=rename,prepare=overwrite";
        assert!(is_warned(replaced));
        assert!(!is_warned(&format!("{replaced},sync-files=each")));
        assert!(!is_warned("write-files,naming=rename"));
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
        let busy = "Other programs used the CPUs: tasks waited for a CPU 93 % of the time. This makes durable writes many \
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
        let because = "7 of 9 samples were disturbed: other programs used the CPUs, and tasks waited for a CPU 93 % of the \
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
        let six = report(3, 9);
        assert!(
            six.without_verdict().contains("6 of the 7 rounds"),
            "{}",
            six.without_verdict()
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
