//! What a method owes to the kernel: its threads, and what later kernels change.

use writebench_model::RunRecord;

use crate::numbers::CaseReport;
use crate::sentences::finding::is_in_kernel_threads;
use crate::sentences::number::share as percent;
use crate::sentences::words::{NAMED, counted, listed};

/// Sentences about the answer of a goal. They do not name it, because several answers can have the same ones.
pub(crate) fn notes(run: &RunRecord, case: &CaseReport) -> Vec<String> {
    let in_threads = is_in_kernel_threads(&case.record).then(|| IN_KERNEL_THREADS.to_owned());
    in_threads
        .into_iter()
        .chain(later_kernels(run, case))
        .collect()
}

const IN_KERNEL_THREADS: &str = "In kernel threads (io-wq): io_uring passes them writes that would block, and each blocks one of them.";

/// The values that a later kernel treats otherwise than the kernel of the run.
fn later_kernels(run: &RunRecord, case: &CaseReport) -> Vec<String> {
    let release = case
        .target(run)
        .and_then(|target| target.environment.system.release());
    let (Some(release), Some(known)) = (release, case.record.case.known()) else {
        return Vec::new();
    };
    known
        .kernel_changes()
        .filter(|(_, change)| release < change.since)
        .map(|(value, change)| {
            format!(
                "The speed of {value} depends on the kernel: from Linux {} on, {}. Measure again after an upgrade.",
                change.since, change.what
            )
        })
        .collect()
}

/// The cases of io_uring that ran mostly in kernel threads, of all that have a result.
pub(crate) fn thread_pools(cases: &[&CaseReport]) -> Option<String> {
    let of_ring = cases
        .iter()
        .filter(|case| case.record.kernel_share().is_some());
    let pools: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let share = case.record.kernel_share().filter(|share| share.is_most())?;
            Some(format!(
                "{}: {} of the {}",
                case.name,
                percent(share.part),
                share.of
            ))
        })
        .collect();
    (!pools.is_empty()).then(|| {
        format!(
            "{} of {} of io_uring ran in kernel threads (io-wq), where a write blocks as in pwrite(2):{}",
            pools.len(),
            counted(of_ring.count(), "case"),
            listed(&pools, NAMED)
        )
    })
}

#[cfg(test)]
mod tests {
    use writebench_model::{CaseOrigin, CaseRecord, KernelThreads, Outcome, RunRecord, Sample};
    use writebench_testkit::{example_case, example_run, section_of};

    use crate::Report;
    use crate::formats::json;

    fn case(name: &str, threads: Option<KernelThreads>) -> CaseRecord {
        let sample = |round| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            (sample.phases_ns.write, sample.bytes) = (1000, 1 << 30);
            sample.kernel_threads = threads.map(Box::new);
            sample
        };
        example_case("test", name, (0..6).map(sample).collect())
    }

    fn report(cases: Vec<CaseRecord>, kernel: &str) -> Report {
        let mut run = RunRecord {
            cases,
            ..example_run()
        };
        run.targets[0].environment.system.kernel = kernel.to_owned();
        Report::from_run(None, run)
    }

    fn of_bytes(written_bytes: u64) -> Option<KernelThreads> {
        Some(KernelThreads {
            count: 2,
            written_bytes,
            all_written_bytes: 100,
            ..KernelThreads::default()
        })
    }

    #[test]
    fn a_ring_whose_work_ran_mostly_in_kernel_threads_is_called_so() {
        let of_cpu_time = KernelThreads {
            count: 1,
            cpu_ns: 96,
            all_cpu_ns: 100,
            ..KernelThreads::default()
        };
        let report = report(
            vec![
                case("io_uring,depth=2,cache=direct", of_bytes(100)),
                case(
                    "io_uring,depth=4,prepare=fallocate,cache=direct",
                    of_bytes(9),
                ),
                case("io_uring,depth=8", Some(of_cpu_time)),
                case("pwrite", None),
            ],
            "Linux 6.18",
        );
        let pools = "2 of 3 cases of io_uring ran in kernel threads (io-wq), where a write blocks as in pwrite(2):\n  \
                     io_uring,depth=2,cache=direct: 100 % of the bytes\n  io_uring,depth=8: 96 % of the CPU time";
        assert!(
            report.warnings.iter().any(|line| line == pools),
            "{:?}",
            report.warnings
        );
        let document: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
        let cases = document["cases"].as_array().unwrap();
        let shares: Vec<_> = cases
            .iter()
            .map(|case| case["kernel_thread_share"].as_f64())
            .collect();
        assert_eq!(shares, [Some(1.0), Some(0.09), Some(0.96), None]);
        let threads = &cases[0]["samples"][0]["kernel_threads"];
        assert_eq!(threads["written_bytes"], 100);
    }

    #[test]
    fn an_answer_says_that_it_ran_in_kernel_threads() {
        let mut case = case("io_uring,depth=2", of_bytes(100));
        case.origin = section_of(CaseOrigin::GOALS, "a goal");
        let report = report(vec![case], "Linux 6.18");
        let words = "io_uring(7) writes in kernel threads (io-wq), 2 in flight";
        assert_eq!(report.findings[0].description, words);
        assert_eq!(report.findings[0].notes, [super::IN_KERNEL_THREADS]);
        assert!(
            report.conclusions[0].contains(super::IN_KERNEL_THREADS),
            "{:?}",
            report.conclusions
        );
    }

    #[test]
    fn an_answer_depends_on_a_kernel_that_is_later_than_that_of_the_run() {
        let notes = |name: &str, kernel: &str| {
            let report = report(vec![case(name, None)], kernel);
            report.findings[0].notes.clone()
        };
        assert_eq!(
            notes("pwrite,cache=dontcache", "Linux 6.18.44-fc"),
            [
                "The speed of cache=dontcache depends on the kernel: from Linux 7.2 on, a thread of the kernel begins the \
                 write-back, and the call no longer does. Measure again after an upgrade."
            ]
        );
        for (name, kernel) in [
            ("pwrite,cache=dontcache", "Linux 7.2.1"),
            ("pwrite,cache=dontcache", "another"),
            ("pwrite", "Linux 6.18"),
        ] {
            assert!(notes(name, kernel).is_empty(), "{name} on {kernel}");
        }
    }
}
