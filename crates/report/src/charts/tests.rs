pub(crate) mod examples;
mod families;

use std::collections::HashSet;

use writebench_model::{Bytes, CaseOrigin, CaseRecord, Failure, Outcome, Phase, Sample};
use writebench_testkit::{example_case, example_run, recorded, section_of};

use super::rows::ChartCase;
use super::sections::{of_rows, slug};
use super::*;
use crate::numbers::CaseReport;
use crate::sentences::Report;

pub(crate) const SIZES: [u64; 14] = [
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536,
];

pub(crate) const TWELVE: [&str; 12] = [
    "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "nilfs2", "ntfs3", "reiserfs", "tmpfs", "xfs",
    "zfs",
];

/// User CPU time is counted in ticks of 4 ms, as in kernels.
fn samples(size: u64, call_ns: u64) -> Vec<Sample> {
    let sample = |round: u32| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        let calls = (32 << 20) / size;
        let noise = 100 + u64::from(round * 7 % 5) * 3;
        sample.bytes = 32 << 20;
        sample.phases_ns.write = (calls * call_ns + 13_000_000) * noise / 100;
        sample.system_cpu_ns = (calls * call_ns * 9 / 10 + 7_000_000) * noise / 100;
        sample.user_cpu_ns = calls * 47 * noise / 100 / 4_000_000 * 4_000_000;
        sample
    };
    (0..6).map(sample).collect()
}

fn case_of(size: u64, samples: Vec<Sample>) -> CaseRecord {
    let chunk = Bytes(size).to_string();
    let name = format!("write,chunk={chunk},size=32MiB");
    let mut case = example_case("By buffer size", &name, samples);
    case.origin = section_of("buffer", "By buffer size");
    case.workload.bytes = 32 << 20;
    case
}

pub(crate) fn study(targets: &[&str], sizes: &[u64]) -> Vec<(String, CaseReport)> {
    let mut cases = Vec::new();
    for (index, target) in (0..).zip(targets) {
        for &size in sizes {
            let record = case_of(size, samples(size, 380 + 73 * (index * 5 % 12)));
            cases.push((
                (*target).to_owned(),
                CaseReport::from_record(record.clone()),
            ));
        }
    }
    cases
}

pub(crate) fn charts_of(cases: &[(String, CaseReport)]) -> Vec<NamedChart> {
    let rows = cases
        .iter()
        .enumerate()
        .map(|(number, (target, case))| ChartCase {
            number,
            place: number,
            target,
            case,
            goal: None,
            is_recommended: false,
        });
    let rows: Vec<ChartCase<'_>> = rows.collect();
    of_rows(&rows)
}

pub(crate) fn chart_named<'c>(charts: &'c [NamedChart], file_stem: &str) -> &'c Chart {
    let found = charts.iter().find(|named| named.file_stem == file_stem);
    &found
        .unwrap_or_else(|| panic!("{file_stem}: {:?}", stems(charts)))
        .chart
}

pub(crate) fn answering(charts: &[NamedChart], family: ChartFamily) -> Vec<NamedChart> {
    charts
        .iter()
        .filter(|named| named.family == family)
        .cloned()
        .collect()
}

fn stems(charts: &[NamedChart]) -> Vec<&str> {
    charts
        .iter()
        .map(|named| named.file_stem.as_str())
        .collect()
}

/// Four cases: failed, disturbed only, cut short, not reached.
pub(crate) fn troubled() -> Vec<(String, CaseReport)> {
    let mut cases = study(&["ext4", "xfs"], &[1, 64, 4096, 65536]);
    let replace = |case: &mut CaseReport, change: &dyn Fn(&mut CaseRecord)| {
        let mut record = case.record.clone();
        change(&mut record);
        *case = CaseReport::from_record(record.clone());
    };
    let failure = Failure {
        phase: Phase::Write,
        call: "write".to_owned(),
        path: None,
        offset: Some(4096),
        errno: Some(28),
        message: Failure::errno_message(28),
    };
    let failed = Sample::without_figures(0, Outcome::Failed(failure.into()));
    replace(&mut cases[1].1, &|record| {
        record.samples = vec![failed.clone()];
    });
    replace(&mut cases[2].1, &|record| {
        record
            .samples
            .iter_mut()
            .for_each(|sample| sample.disturbed = Some("noise".to_owned()));
    });
    replace(&mut cases[4].1, &|record| {
        record
            .samples
            .iter_mut()
            .for_each(|sample| sample.bytes = 3 << 20);
    });
    replace(&mut cases[7].1, &|record| record.samples.clear());
    cases
}

#[test]
fn a_chart_is_plain_data() {
    let charts = charts_of(&troubled());
    let chart = chart_named(&charts, "buffer-user-cpu-by-buffer-size");
    insta::assert_snapshot!(serde_json::to_string_pretty(chart).unwrap());
}

#[test]
fn times_are_drawn_by_buffer_size_and_by_target() {
    let charts = charts_of(&study(&TWELVE, &SIZES));
    assert_eq!(
        stems(&answering(&charts, ChartFamily::CpuTime)),
        [
            "buffer-elapsed-by-buffer-size",
            "buffer-elapsed-by-target",
            "buffer-user-cpu-by-buffer-size",
            "buffer-user-cpu-by-target",
            "buffer-system-cpu-by-buffer-size",
            "buffer-system-cpu-by-target",
        ]
    );
    let by_size = chart_named(&charts, "buffer-elapsed-by-buffer-size");
    assert_eq!(
        (by_size.series.len(), by_size.series[0].points.len()),
        (12, 14)
    );
    let by_target = chart_named(&charts, "buffer-elapsed-by-target");
    assert_eq!(
        (by_target.series.len(), by_target.series[0].points.len()),
        (14, 12)
    );
    // Both show the same values.
    assert_eq!(
        by_size.series[3].points[5].figure,
        by_target.series[5].points[3].figure
    );
}

#[test]
fn a_single_target_has_the_name_of_its_filesystem() {
    let cases = SIZES
        .iter()
        .map(|&size| case_of(size, samples(size, 400)))
        .collect();
    let report = Report::from_run(
        None,
        writebench_model::RunRecord {
            cases,
            ..example_run()
        },
    );
    let charts = answering(&charts(std::slice::from_ref(&report)), ChartFamily::CpuTime);
    assert_eq!(charts.len(), 3, "{:?}", stems(&charts));
    assert_eq!(charts[0].chart.series[0].name, "ext4");
}

#[test]
fn rows_of_a_target_can_be_apart() {
    let mut cases = study(&["ext4", "xfs"], &SIZES);
    let before = charts_of(&cases);
    cases.sort_by_key(|(_, case)| case.record.case.value(writebench_model::Axis::Chunk));
    let sorted = |charts: Vec<NamedChart>| {
        let mut series = charts.into_iter().next().unwrap().chart.series;
        series.sort_by(|a, b| a.name.cmp(&b.name));
        // Only row numbers depend on the order.
        series
            .iter_mut()
            .flat_map(|series| &mut series.points)
            .for_each(|point| point.row = 0);
        series
    };
    assert_eq!(sorted(before), sorted(charts_of(&cases)));
}

#[test]
fn files_of_two_sizes_are_in_two_charts() {
    let mut cases = study(&["ext4"], &[1, 2, 4]);
    for (_, case) in study(&["ext4"], &[1, 2, 4]) {
        let mut record = case.record.clone();
        record.case = recorded(&record.case.name().replace("32MiB", "64MiB"));
        cases.push(("ext4".to_owned(), CaseReport::from_record(record.clone())));
    }
    let charts = charts_of(&cases);
    assert!(
        stems(&charts).contains(&"buffer-elapsed-by-buffer-size-write-size-64mib"),
        "{:?}",
        stems(&charts)
    );
    let times = answering(&charts, ChartFamily::CpuTime);
    assert!(times.iter().all(|named| named.chart.series.len() == 1));
}

#[test]
fn a_case_without_a_value_keeps_its_place_and_has_a_note() {
    let charts = charts_of(&troubled());
    let chart = chart_named(&charts, "buffer-elapsed-by-buffer-size");
    let figures: Vec<bool> = chart.points().map(|point| point.figure.is_some()).collect();
    assert_eq!(figures, [true, false, true, true, false, true, true, false]);
    assert!(chart.series[0].points[2].all_disturbed);
    assert_eq!(
        chart.notes,
        [
            "No result for write,chunk=64,size=32MiB on ext4: failed: write: No space left on device (28) at offset 4096",
            "No result for write,chunk=64KiB,size=32MiB on xfs: not measured: the run ended before its turn",
            "No time for write,chunk=1,size=32MiB on xfs: cut short after 3 MiB",
        ]
    );
}

#[test]
fn only_cases_of_one_workload_share_a_chart_of_throughput() {
    let mut cases = Vec::new();
    for (label, durability) in [
        ("BUFFERED", writebench_model::Durability::Cached),
        ("FSYNC", writebench_model::Durability::Durable),
    ] {
        for size in [4096, 65536, 1 << 20] {
            let mut record = case_of(size, samples(size, 400));
            record.origin = section_of("direct", "By buffer size");
            record.label = Some(label.to_owned());
            record.workload.durability = durability;
            record.workload.durable_every_bytes = (label == "FSYNC").then_some(size);
            cases.push(("ext4".to_owned(), CaseReport::from_record(record.clone())));
        }
    }
    let charts = answering(&charts_of(&cases), ChartFamily::ThroughputByChunk);
    assert_eq!(charts.len(), 2, "{:?}", stems(&charts));
    assert_eq!(charts[1].chart.series.len(), 1);
    assert!(
        charts[1].chart.subtitle.contains("durable every chunk"),
        "{}",
        charts[1].chart.subtitle
    );
    assert_eq!(charts[1].chart.y.unit, Unit::BytesPerSecond);
}

#[test]
fn a_legend_has_only_the_differences_of_series() {
    let mut cases = Vec::new();
    for (method, size) in ["write", "fwrite,sync=fsync"]
        .into_iter()
        .flat_map(|method| [1, 2, 4].map(|size| (method, size)))
    {
        let mut record = case_of(size, samples(size, 400));
        record.origin = section_of("write", "By buffer size");
        record.case = recorded(&format!("{method},chunk={size},size=32MiB"));
        cases.push(("ext4".to_owned(), CaseReport::from_record(record.clone())));
    }
    let charts = charts_of(&cases);
    let names: Vec<&str> = charts[0]
        .chart
        .series
        .iter()
        .map(|series| series.name.as_str())
        .collect();
    assert_eq!(names, ["write", "fwrite,sync=fsync"]);
    assert!(
        charts[0].chart.subtitle.contains("(size=32MiB)"),
        "{}",
        charts[0].chart.subtitle
    );
}

#[test]
fn ranked_cases_are_bars_from_the_fastest() {
    let mut cases = Vec::new();
    for (label, call_ns) in [("slow", 900), ("fast", 100), ("middle", 500)] {
        let mut record = case_of(64, samples(64, call_ns));
        record.origin = section_of("copy", "By buffer size");
        record.label = Some(label.to_owned());
        cases.push(("ext4".to_owned(), CaseReport::from_record(record.clone())));
    }
    let charts = charts_of(&cases);
    let chart = chart_named(&charts, "copy-ranked");
    let names: Vec<&str> = chart
        .x
        .ticks
        .iter()
        .map(|tick| tick.text.as_str())
        .collect();
    assert_eq!(
        (names, chart.kind),
        (vec!["fast", "middle", "slow"], ChartKind::Bars)
    );
}

#[test]
fn names_of_files_are_plain_and_unique() {
    assert_eq!(slug("a/../b <c>\n d·e"), "a-b-c-d-e");
    let cases = study(&["ext4"], &[1, 2]);
    let mut twice = study(&["ext4"], &[1, 2]);
    for (_, case) in &mut twice {
        case.record.origin = section_of("buffer", "By buffer size!");
    }
    let charts = charts_of(&[cases, twice].concat());
    let unlike: HashSet<&str> = stems(&charts).into_iter().collect();
    assert_eq!(unlike.len(), 8, "{:?}", stems(&charts));
}

fn run_called(label: Option<&str>, number: Option<i64>, id: &str) -> Report {
    let cases = [1, 64, 4096]
        .map(|size| case_of(size, samples(size, 400)))
        .to_vec();
    let (label, id) = (label.map(str::to_owned), id.to_owned());
    Report::from_run(
        number,
        writebench_model::RunRecord {
            id,
            label,
            cases,
            ..example_run()
        },
    )
}

#[test]
fn runs_have_unique_names_in_a_chart() {
    let names = |reports: &[Report]| -> Vec<String> {
        let charts = charts(reports);
        charts[0]
            .chart
            .series
            .iter()
            .map(|series| series.name.clone())
            .collect()
    };
    let first = run_called(Some("nvme"), Some(1), "aaaaaaaabbbb");
    let second = run_called(None, Some(2), "ccccccccdddd");
    let third = run_called(None, None, "eeeeeeeeffff");
    let same = run_called(Some("nvme"), Some(4), "gggggggghhhh");
    assert_eq!(names(std::slice::from_ref(&first)), ["ext4"]);
    assert_eq!(
        names(&[first.clone(), second, third]),
        ["nvme · ext4", "run 2 · ext4", "eeeeeeee · ext4"]
    );
    assert_eq!(
        names(&[first.clone(), same]),
        ["nvme (run 1) · ext4", "nvme (run 4) · ext4"]
    );
    assert_eq!(
        names(&[first.clone(), first]),
        ["nvme (run 1) #1 · ext4", "nvme (run 1) #2 · ext4"]
    );
}

#[test]
fn rows_count_through_the_cases_of_all_runs() {
    let reports = [
        run_called(Some("a"), None, "a"),
        run_called(Some("b"), None, "b"),
    ];
    let charts = charts(&reports);
    let elapsed = &chart_named(&charts, "buffer-elapsed-by-buffer-size").series;
    let rows = |index: usize| {
        elapsed[index]
            .points
            .iter()
            .map(|point| point.row)
            .collect::<Vec<_>>()
    };
    assert_eq!((rows(0), rows(1)), (vec![0, 1, 2], vec![3, 4, 5]));
    assert_eq!(
        (charts[0].suite.as_str(), charts[0].section.as_str()),
        ("buffer", "By buffer size")
    );
    assert_eq!(serde_json::to_value(charts[0].family).unwrap(), "cpu-time");
}

/// Three goals' cases on ext4, xfs and tmpfs, each slower than the one before.
pub(crate) fn goals_on(names: &[&str]) -> Report {
    let mut targets: Vec<_> = names
        .iter()
        .map(|name| writebench_testkit::example_target(name))
        .collect();
    let mut cases = Vec::new();
    for (target, slower) in targets.iter_mut().zip(1..) {
        if target.name == "tmpfs" {
            target.environment.filesystem.kind = "tmpfs".to_owned();
        }
        for (name, call_ns) in [
            ("write,size=32MiB", 900),
            ("write,size=32MiB,prepare=fallocate", 500),
            ("write,size=32MiB,sync=fsync", 3000),
            ("write-files,size=4MiB,sync-files=each", 9000),
        ] {
            let mut record = case_of(4096, samples(4096, call_ns * slower));
            record.case = recorded(name);
            if let Some(known) = record.case.known() {
                record.workload = known.workload();
            }
            record.origin = section_of(CaseOrigin::GOALS, &format!("{:?}", record.workload));
            record.target.clone_from(&target.name);
            for sample in &mut record.samples {
                sample.bytes = record.workload.bytes;
            }
            cases.push(record);
        }
    }
    Report::from_run(
        Some(1),
        writebench_model::RunRecord {
            cases,
            targets,
            ..example_run()
        },
    )
}

#[test]
fn each_goal_has_its_methods_on_all_targets_in_one_chart_with_a_short_name() {
    let report = goals_on(&["xfs", "ext4", "tmpfs"]);
    let all = charts(std::slice::from_ref(&report));
    let of_memory = all
        .iter()
        .filter(|named| named.chart.title.ends_with(", tmpfs"));
    assert_eq!(
        of_memory.count(),
        1,
        "only the phases of what it can keep: {:?}",
        stems(&all)
    );
    let charts = answering(&all, ChartFamily::Ranked);
    assert_eq!(
        stems(&charts),
        ["stream", "durable-stream", "durable-files"]
    );
    for NamedChart { chart, .. } in &charts {
        let targets: Vec<&str> = chart
            .series
            .iter()
            .map(|series| series.name.as_str())
            .collect();
        assert_eq!(targets, ["xfs", "ext4", "tmpfs"], "in the order of the run");
        let mut points: Vec<&Point> = chart.points().collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let values: Vec<f64> = points
            .iter()
            .map(|point| point.figure.unwrap().value)
            .collect();
        assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
        let is_of_memory = |point: &&Point| report.cases[point.row].record.target == "tmpfs";
        let keeps = !chart.subtitle.contains("durable");
        assert_eq!(points.iter().any(is_of_memory), keeps, "{}", chart.subtitle);
    }
    assert_eq!(
        charts
            .iter()
            .map(|named| named.chart.y.label.as_str())
            .collect::<Vec<_>>(),
        ["GB/s", "GB/s", "files/s"]
    );
}

#[test]
fn recommended_cases_are_in_their_charts_with_the_interval_of_the_table() {
    let report = goals_on(&["ext4", "xfs"]);
    let charts = answering(&charts(std::slice::from_ref(&report)), ChartFamily::Ranked);
    assert_eq!(report.findings.len(), 6);
    for finding in &report.findings {
        let is_it = |point: &&Point| {
            let record = &report.cases[point.row].record;
            Some(record.case.name()) == finding.case.as_deref()
                && Some(record.target.as_str()) == finding.target.as_deref()
        };
        let mut points = charts.iter().flat_map(|named| named.chart.points());
        let point = points.find(is_it).expect("a bar");
        let words = format!("{} ({})", finding.value(), finding.interval());
        assert_eq!(point.words.as_ref(), Some(&words));
        let tick = charts
            .iter()
            .filter(|named| named.chart.points().any(|other| std::ptr::eq(other, point)))
            .flat_map(|named| &named.chart.x.ticks)
            .find(|tick| tick.at.total_cmp(&point.x).is_eq());
        let name = &tick.expect("a name").text;
        assert!(name.ends_with("(recommended)"), "{name}");
    }
}

#[test]
fn the_chart_of_all_goals_has_a_part_for_each_goal_and_a_bar_for_each_target() {
    let report = goals_on(&["xfs", "ext4", "tmpfs"]);
    let chart = goals::chart(std::slice::from_ref(&report)).unwrap();
    assert_eq!(chart.title, "Recommended method for 3 goals, 3 targets");
    let parts = chart.goals.iter().map(|part| {
        let names = part.x.ticks.iter().map(|tick| tick.text.as_str());
        let points = part.points().filter_map(|point| point.words.as_deref());
        (
            part.title.as_str(),
            part.y.label.as_str(),
            names.collect::<Vec<_>>(),
            points.collect::<Vec<_>>(),
        )
    });
    insta::assert_debug_snapshot!(parts.collect::<Vec<_>>());
    for part in &chart.goals {
        let series: Vec<&str> = part
            .series
            .iter()
            .map(|series| series.name.as_str())
            .collect();
        assert_eq!(
            series,
            ["xfs", "ext4", "tmpfs"],
            "colours are those of targets"
        );
    }
}

#[test]
fn plain_write_is_a_bar_on_one_target_and_a_line_on_several() {
    let alone = goals::chart(&[goals_on(&["ext4"])]).unwrap();
    let names = |part: &Chart| -> Vec<String> {
        part.x.ticks.iter().map(|tick| tick.text.clone()).collect()
    };
    assert_eq!(
        names(&alone.goals[0]),
        [
            "recommended: fallocate(2), then write(2)",
            "plain write: write(2)"
        ]
    );
    let both = goals::chart(&[goals_on(&["ext4", "xfs"])]).unwrap();
    let lines = both.goals[0].points().filter(|point| point.plain.is_some());
    assert_eq!(lines.count(), 2);
}

#[test]
fn a_goal_that_no_target_can_keep_has_a_note_instead_of_a_part() {
    let chart = goals::chart(&[goals_on(&["tmpfs"])]).unwrap();
    assert_eq!(chart.goals.len(), 1);
    assert!(
        chart.notes.len() == 2
            && chart
                .notes
                .iter()
                .all(|note| note.contains("not durable here")),
        "{:?}",
        chart.notes
    );
}
