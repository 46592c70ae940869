use super::examples::{copies, direct, durable, durable_in, long, parallel, samples_of, scaling};
use super::*;
use crate::charts::scale::stacked;

fn only(cases: &[(String, CaseReport)], family: ChartFamily) -> Chart {
    let mut charts = answering(&charts_of(cases), family);
    assert_eq!(charts.len(), 1, "{:?}", stems(&charts));
    charts.remove(0).chart
}

fn names(chart: &Chart) -> Vec<&str> {
    chart
        .series
        .iter()
        .map(|series| series.name.as_str())
        .collect()
}

fn tick_texts(chart: &Chart) -> Vec<&str> {
    chart
        .x
        .ticks
        .iter()
        .map(|tick| tick.text.as_str())
        .collect()
}

#[test]
fn words_in_documents_do_not_change() {
    let words = |values: serde_json::Result<serde_json::Value>| {
        values.unwrap().as_str().unwrap().to_owned()
    };
    assert_eq!(
        [ChartKind::HeatMap, ChartKind::Stacked].map(|kind| words(serde_json::to_value(kind))),
        ["heat-map", "stacked"]
    );
    let scales =
        [XScale::Linear, XScale::Percentile].map(|scale| words(serde_json::to_value(scale)));
    assert_eq!(scales, ["linear", "percentile"]);
    let families = [
        ChartFamily::ThroughputByChunk,
        ChartFamily::ThroughputByThreads,
        ChartFamily::ThroughputByRanks,
        ChartFamily::Flags,
        ChartFamily::Ranked,
        ChartFamily::Latency,
        ChartFamily::CpuTime,
        ChartFamily::Phases,
        ChartFamily::OverTime,
    ];
    let expected = [
        "throughput-by-chunk",
        "throughput-by-threads",
        "throughput-by-ranks",
        "flags",
        "ranked",
        "latency",
        "cpu-time",
        "phases",
        "over-time",
    ];
    assert_eq!(
        families.map(|family| words(serde_json::to_value(family))),
        expected
    );
}

#[test]
fn threads_are_an_axis_of_lines() {
    let chart = only(&parallel(), ChartFamily::ThroughputByThreads);
    assert_eq!(names(&chart), ["pwrite", "pwrite,files=per-thread"]);
    assert_eq!(tick_texts(&chart), ["1", "2", "4", "8", "16"]);
    assert!(
        chart.subtitle.contains(", one file or a file per thread"),
        "{}",
        chart.subtitle
    );
    assert!(chart.series.iter().all(|series| series.points.len() == 5));
}

#[test]
fn ranks_with_equal_sizes_are_an_axis() {
    let chart = only(&scaling(), ChartFamily::ThroughputByRanks);
    assert_eq!(names(&chart), ["pwrite", "pwrite,files=per-rank"]);
    assert_eq!(tick_texts(&chart), ["1", "2", "4"]);
    let subtitle = &chart.subtitle;
    assert!(
        subtitle.contains("32 MiB of incompressible data"),
        "{subtitle}"
    );
    let remarks = ", size per rank, one file or a file per rank";
    assert!(subtitle.contains(remarks), "{subtitle}");
    let throughput = |point: usize| {
        chart.series[0].points[point]
            .figure
            .as_ref()
            .map(|figure| figure.value)
    };
    assert_eq!(throughput(2), throughput(0).map(|one| 4.0 * one));
}

#[test]
fn two_numbers_of_threads_have_no_chart_and_workloads_have_one_each() {
    let few: Vec<_> = parallel()
        .into_iter()
        .filter(|(_, case)| {
            case.record
                .case
                .value(writebench_model::Axis::Threads)
                .unwrap()
                .len()
                == 2
        })
        .collect();
    assert!(answering(&charts_of(&few), ChartFamily::ThroughputByThreads).is_empty());
    let mut cases = parallel();
    for (_, case) in cases.iter_mut().skip(5) {
        let mut record = case.record.clone();
        record.workload.durability = writebench_model::Durability::Durable;
        *case = CaseReport::from_record(record.clone());
    }
    let charts = answering(&charts_of(&cases), ChartFamily::ThroughputByThreads);
    assert_eq!(
        stems(&charts),
        [
            "parallel-throughput-by-threads-cached",
            "parallel-throughput-by-threads-durable"
        ]
    );
}

#[test]
fn flags_are_rows_and_a_cell_without_a_value_has_a_note() {
    let chart = only(&direct(), ChartFamily::Flags);
    assert_eq!(
        (chart.kind, chart.x.scale),
        (ChartKind::HeatMap, XScale::Categories)
    );
    assert_eq!(
        names(&chart),
        [
            "BUFFERED",
            "BUFFERED + ALIGNED",
            "O_DIRECT",
            "AMORTIZED_FSYNC + O_DIRECT"
        ]
    );
    assert_eq!(chart.x.ticks.len(), 14);
    assert_eq!(
        (
            chart.series[2].points[0].figure,
            chart.series[2].points[0].x
        ),
        (None, 0.0)
    );
    assert!(chart.notes[0].contains("not measured"), "{:?}", chart.notes);
    assert!(
        chart
            .subtitle
            .contains("Colours compare cells, not workloads"),
        "{}",
        chart.subtitle
    );
    assert!(chart.subtitle.contains("2 workloads"), "{}", chart.subtitle);
}

#[test]
fn every_good_sample_of_a_ranked_case_is_a_dot() {
    let chart = only(&copies(&["splice", "sendfile"]), ChartFamily::Ranked);
    let points = &chart.series[0].points;
    assert_eq!(points[0].dots.len(), 6);
    let disturbed: Vec<usize> = points
        .iter()
        .map(|point| {
            point
                .dots
                .iter()
                .filter(|(_, is_disturbed)| *is_disturbed)
                .count()
        })
        .collect();
    assert_eq!(disturbed, [0, 6]);
    let figure = points[0].figure.unwrap();
    assert!(
        points[0]
            .dots
            .iter()
            .any(|(value, _)| *value <= figure.value)
    );
    assert_eq!(serde_json::to_value(&points[0]).unwrap().get("dots"), None);
}

#[test]
fn latencies_reach_from_the_shortest_to_the_longest_call() {
    let chart = only(&durable(), ChartFamily::Latency);
    assert_eq!(names(&chart), ["append", "overwrite"]);
    assert_eq!(chart.x.scale, XScale::Percentile);
    // 6 samples of 1280 calls.
    assert_eq!(
        tick_texts(&chart),
        ["0 %", "50 %", "90 %", "99 %", "99.9 %"]
    );
    let points = &chart.series[0].points;
    assert!((10..=40).contains(&points.len()), "{}", points.len());
    assert!(points.is_sorted_by(|a, b| a.x < b.x));
    let figure = |share: f64| {
        let at = crate::charts::axis::nines(share);
        points
            .iter()
            .find(|point| (point.x - at).abs() < 1e-9)
            .unwrap()
            .figure
            .unwrap()
    };
    for point in points {
        let Interval {
            value: median,
            low,
            high,
        } = point.figure.unwrap();
        assert!(low <= median && median <= high, "{point:?}");
    }
    let half = figure(0.5);
    assert!(
        (90e-6..=160e-6).contains(&half.value) && half.low < half.high,
        "{half:?}"
    );
    let longest = figure(1.0 - 0.5 / 7680.0);
    assert!(longest.value > 100.0 * 90e-6, "{longest:?}");
    assert!(chart.subtitle.contains("2 workloads"), "{}", chart.subtitle);
}

#[test]
fn a_few_calls_have_no_distribution() {
    assert!(answering(&charts_of(&durable_in(3)), ChartFamily::Latency).is_empty());
    assert_eq!(
        answering(&charts_of(&durable_in(4)), ChartFamily::Latency).len(),
        1
    );
}

#[test]
fn phases_are_the_same_five_parts_of_every_case() {
    let chart = only(&durable(), ChartFamily::Phases);
    assert_eq!(chart.kind, ChartKind::Stacked);
    assert_eq!(names(&chart), ["prepare", "open", "write", "sync", "close"]);
    assert_eq!(tick_texts(&chart), ["append", "overwrite", "all at once"]);
    let median =
        |series: usize, case: usize| chart.series[series].points[case].figure.unwrap().value;
    assert_eq!((median(3, 0), median(3, 2) > 8e-3), (0.0, true));
    let whole: f64 = (0..5).map(|series| median(series, 2)).sum();
    assert!((stacked(&chart)[2].1 - whole).abs() < 1e-12);
}

#[test]
fn a_single_case_has_its_phases_and_one_without_a_good_sample_has_none() {
    let charts = charts_of(&durable()[2..]);
    assert_eq!(stems(&charts), ["durable-phases"]);
    let mut record = durable()[2].1.record.clone();
    record.samples.clear();
    assert!(charts_of(&[("ext4".to_owned(), CaseReport::from_record(record.clone()))]).is_empty());
}

#[test]
fn phases_have_label_and_chunk_if_labels_repeat() {
    let chart = only(&direct(), ChartFamily::Phases);
    assert_eq!(
        tick_texts(&chart)[..2],
        ["BUFFERED, 4 KiB", "BUFFERED, 8 KiB"]
    );
}

#[test]
fn the_median_sample_is_drawn_over_time_and_named() {
    let cases = long(2);
    let chart = only(&cases, ChartFamily::OverTime);
    assert_eq!(
        (chart.x.scale, names(&chart)),
        (XScale::Linear, vec!["write,chunk=4KiB", "write,chunk=8KiB"])
    );
    assert_eq!(tick_texts(&chart), ["0", "1 s", "2 s", "3 s", "4 s"]);
    let points = &chart.series[0].points;
    assert_eq!(points.len(), 40);
    let mut samples: Vec<&Sample> = cases[0].1.record.samples.iter().collect();
    samples.sort_by_key(|sample| sample.phases_ns.total());
    let timeline = samples[2].timeline.as_ref().unwrap();
    let rate = timeline.bytes[7] as f64 * 1e9 / timeline.interval_ns as f64;
    assert!((points[7].figure.unwrap().value / rate - 1.0).abs() < 1e-9);
    let round = |round: u32| format!("round {round} for each.");
    assert!(
        chart.notes[0].ends_with(&round(samples[2].round)),
        "{:?}",
        chart.notes
    );
    let mut cases = long(2);
    let mut record = cases[1].1.record.clone();
    record.samples.truncate(1);
    cases[1].1 = CaseReport::from_record(record.clone());
    let notes = only(&cases, ChartFamily::OverTime).notes;
    assert!(
        notes[0].ends_with(", round 0 for write,chunk=8KiB."),
        "{notes:?}"
    );
}

#[test]
fn many_cases_that_were_cut_short_are_counted() {
    let mut cases = copies(&["a", "b", "c", "d", "e"]);
    for (index, (_, case)) in cases.iter_mut().enumerate() {
        let mut record = case.record.clone();
        record.samples = samples_of([0, 0, 900, 0, 0], 6);
        record
            .samples
            .iter_mut()
            .for_each(|sample| sample.bytes = (index as u64 + 1) << 20);
        *case = CaseReport::from_record(record.clone());
    }
    cases.extend(copies(&["f"]));
    let chart = only(&cases, ChartFamily::Phases);
    assert_eq!(chart.notes.len(), 1, "{:?}", chart.notes);
    assert!(
        chart.notes[0].ends_with("and 2 more: cut short after 1 MiB to 5 MiB"),
        "{:?}",
        chart.notes
    );
}

/// A disturbed case was last, though its bar was the shortest.
#[test]
fn a_chart_from_the_fastest_is_sorted_by_the_length_of_its_bars() {
    let chart = only(
        &copies(&["sendfile", "splice", "copy_file_range"]),
        ChartFamily::Ranked,
    );
    let values: Vec<f64> = chart
        .points()
        .filter_map(|point| Some(point.figure?.value))
        .collect();
    assert!(
        values.len() == 3 && values.is_sorted_by(|a, b| a >= b),
        "{values:?}"
    );
    assert_eq!(tick_texts(&chart)[0], "sendfile");
}

#[test]
fn a_case_that_is_not_durable_here_has_a_note_and_no_place_among_the_fastest() {
    let mut cases = copies(&["sendfile", "splice", "copy_file_range"]);
    cases[1].1.not_durable = Some("tmpfs is in memory".to_owned());
    let chart = only(&cases, ChartFamily::Ranked);
    assert_eq!(chart.x.ticks.len(), 2, "{:?}", chart.x.ticks);
    let note = format!(
        "Not durable, where memory loses its data in a power loss: {}",
        cases[1].1.record.case
    );
    assert!(chart.notes.contains(&note), "{:?}", chart.notes);
    cases
        .iter_mut()
        .for_each(|(_, case)| case.not_durable = Some("tmpfs is in memory".to_owned()));
    assert!(
        answering(&charts_of(&cases), ChartFamily::Ranked).is_empty(),
        "no chart of promises"
    );
}
