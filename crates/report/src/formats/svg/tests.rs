use roxmltree::Document;

use super::{element, picture, render};
use crate::charts::tests::examples::{self, copies, direct, durable, parallel};
use crate::charts::tests::{
    SIZES, TWELVE, answering, chart_named, charts_of, goals_on, study, troubled,
};
use crate::charts::{Chart, ChartFamily, ChartKind, NamedChart, Scale, Unit};
use crate::formats::palette;
use crate::numbers::CaseReport;

const HOSTILE: &str = "<script>alert(\"1\")</script> & 'x' ]]>\n\u{0}\u{1b}[0m";

/// The texts in the picture, but not its tooltips.
fn shown(document: &Document<'_>) -> Vec<String> {
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    texts
        .filter_map(|node| node.text().map(str::to_owned))
        .collect()
}

fn hostile() -> Vec<NamedChart> {
    answering(
        &charts_of(&study(&[HOSTILE, "ext4"], &[1, 64])),
        ChartFamily::CpuTime,
    )
}

#[test]
fn a_chart_becomes_a_picture() {
    let charts = charts_of(&troubled());
    insta::assert_snapshot!(render(chart_named(
        &charts,
        "buffer-user-cpu-by-buffer-size"
    )));
}

#[test]
fn markup_in_names_becomes_words() {
    for named in hostile() {
        let picture = render(&named.chart);
        let document = Document::parse(&picture).unwrap();
        let element = |node: roxmltree::Node<'_, '_>| node.has_tag_name("script");
        assert!(!document.descendants().any(element), "{picture}");
        let words = shown(&document);
        assert!(
            words
                .iter()
                .any(|word| word.starts_with("<script>alert(\"1\")")),
            "{words:?}"
        );
    }
}

#[test]
fn pictures_of_every_family_are_well_formed_and_legible_on_dark_screens() {
    let cases = [
        ways_to_copy(),
        direct(),
        durable(),
        parallel(),
        examples::long(3),
    ]
    .concat();
    let charts = charts_of(&cases);
    assert_eq!(
        charts
            .iter()
            .map(|named| named.family as u8)
            .collect::<std::collections::HashSet<_>>()
            .len(),
        7
    );
    for named in charts {
        let picture = render(&named.chart);
        let document =
            Document::parse(&picture).unwrap_or_else(|why| panic!("{}: {why}", named.file_stem));
        assert!(
            document.descendants().all(|node| !node.has_attribute("id")),
            "{}",
            named.file_stem
        );
        // Words without a class are dark on a dark screen.
        let words = document
            .descendants()
            .filter(|node| node.has_tag_name("text"));
        let unclassed = words
            .filter(|node| node.attribute("class").is_none())
            .count();
        assert_eq!(unclassed, 0, "{}", named.file_stem);
    }
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    let pictures = || {
        charts_of(&study(&TWELVE, &SIZES))
            .iter()
            .map(|named| render(&named.chart))
            .collect::<Vec<_>>()
    };
    assert_eq!(pictures(), pictures());
}

#[test]
fn every_series_is_in_the_picture_and_in_the_legend() {
    for named in answering(&charts_of(&study(&TWELVE, &SIZES)), ChartFamily::CpuTime) {
        let picture = render(&named.chart);
        let document = Document::parse(&picture).unwrap();
        let words = shown(&document);
        for series in &named.chart.series {
            assert!(words.contains(&series.name), "{}: {words:?}", series.name);
            let told = document
                .descendants()
                .filter(|node| node.has_tag_name("title"));
            let begins = format!("{}, ", series.name);
            let marks =
                told.filter(|node| node.text().is_some_and(|text| text.starts_with(&begins)));
            assert_eq!(
                marks.count(),
                series.points.len(),
                "{}: {}",
                named.file_stem,
                series.name
            );
        }
    }
}

/// Distinguish series without colour.
fn looks(chart: &Chart, tag: &str) -> Vec<String> {
    let picture = render(chart);
    let document = Document::parse(&picture).unwrap();
    let items = document.descendants().filter(|node| {
        let title = node.children().find(|child| child.has_tag_name("title"));
        title
            .and_then(|title| title.text())
            .is_some_and(|text| chart.series.iter().any(|series| series.name == text))
    });
    let look = |item: roxmltree::Node<'_, '_>| {
        let sample = item
            .descendants()
            .find(|node| node.has_tag_name("g") && *node != item)
            .unwrap();
        let (mut look, mut origin) = (String::new(), None);
        for node in sample
            .descendants()
            .filter(|node| !node.has_tag_name("g") && node.is_element())
        {
            let place = node.attribute("x1").and_then(|x| x.parse::<f64>().ok());
            origin = origin.or(place);
            look += &format!("{} {:?} ", node.tag_name().name(), node.attribute(tag));
        }
        // The shape: the number of corners, and the first relative to the last.
        let shape = sample
            .descendants()
            .find_map(|node| node.attribute("d"))
            .unwrap_or("");
        let corners: Vec<(f64, f64)> = shape
            .trim_matches(['M', 'Z'])
            .split('L')
            .filter_map(|corner| corner.split_once(','))
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        let beside = corners
            .first()
            .zip(corners.last())
            .map(|(a, b)| ((a.0 - b.0) * 10.0, (a.1 - b.1) * 10.0));
        let filled = sample
            .descendants()
            .any(|node| node.attribute("class") == Some("wb-paper"));
        format!(
            "{look}{} {:?} {filled}",
            corners.len(),
            beside.map(|(x, y)| (x.round(), y.round()))
        )
    };
    items.map(look).collect()
}

#[test]
fn twelve_filesystems_differ_without_colour() {
    let charts = charts_of(&study(&TWELVE, &SIZES));
    let looks = looks(
        chart_named(&charts, "buffer-elapsed-by-buffer-size"),
        "stroke-dasharray",
    );
    let unlike: std::collections::HashSet<&String> = looks.iter().collect();
    assert_eq!((looks.len(), unlike.len()), (12, 12), "{looks:#?}");
}

#[test]
fn a_time_of_zero_has_a_place_below_the_break_of_a_logarithmic_axis() {
    let charts = charts_of(&study(&["ext4"], &SIZES));
    let chart = chart_named(&charts, "buffer-user-cpu-by-buffer-size");
    let figures = || {
        chart.series[0]
            .points
            .iter()
            .map(|point| point.figure.unwrap().value)
    };
    assert!(figures().any(|median| median == 0.0) && figures().any(|median| median > 0.0));
    let picture = render(chart);
    let document = Document::parse(&picture).unwrap();
    let words = shown(&document);
    assert!(words.contains(&"0".to_owned()), "{words:?}");
    assert!(
        words.iter().any(|word| word.contains("below the break")),
        "{words:?}"
    );
    assert!(
        !picture.contains("NaN") && !picture.contains("inf"),
        "{picture}"
    );
}

#[test]
fn zeros_or_no_points_make_a_picture() {
    let charts = charts_of(&study(&["ext4"], &[65536]));
    let zeros = chart_named(&charts, "buffer-user-cpu-by-buffer-size");
    let mut nothing = zeros.clone();
    nothing.series.clear();
    nothing.x.ticks.clear();
    for chart in [zeros, &nothing] {
        let picture = render(chart);
        Document::parse(&picture).unwrap();
        assert!(
            !picture.contains("NaN") && !picture.contains("inf"),
            "{picture}"
        );
    }
}

#[test]
fn a_case_without_a_value_breaks_its_line() {
    let charts = charts_of(&troubled());
    let picture = render(chart_named(&charts, "buffer-elapsed-by-buffer-size"));
    let document = Document::parse(&picture).unwrap();
    let lines = document
        .descendants()
        .filter(|node| node.attribute("stroke-width") == Some("1.8"));
    // ext4 continues after the failed case with an isolated point. xfs ends early.
    assert_eq!(lines.count(), 2, "{picture}");
    assert!(
        shown(&document)
            .iter()
            .any(|word| word.contains("Dashed ring"))
    );
}

fn ways_to_copy() -> Vec<(String, CaseReport)> {
    copies(&[
        "read+write 16bs + advices + falloc",
        "splice",
        "sendfile",
        "copy_file_range",
        HOSTILE,
    ])
}

#[test]
fn bars_have_names_and_values() {
    let charts = charts_of(&ways_to_copy());
    let picture = render(chart_named(&charts, "copy-ranked"));
    let document = Document::parse(&picture).unwrap();
    let words = shown(&document);
    assert!(words.contains(&"splice".to_owned()), "{words:?}");
    assert!(words.iter().any(|word| word.starts_with('~')), "{words:?}");
    let tildes = words
        .iter()
        .filter(|word| word.starts_with("~ and dashed bar"));
    assert_eq!(tildes.count(), 1, "{words:?}");
}

fn whisker_places(chart: &Chart) -> Vec<f64> {
    let picture = render(chart);
    let document = Document::parse(&picture).unwrap();
    let whiskers = document.descendants().filter(|node| {
        let is_of_series = node
            .parent()
            .is_some_and(|parent| parent.has_attribute("stroke"));
        node.has_tag_name("line") && is_of_series
    });
    whiskers
        .map(|node| node.attribute("x1").unwrap().parse().unwrap())
        .collect()
}

#[test]
fn marks_of_a_group_are_side_by_side() {
    for count in [2, 3, 12] {
        let charts = charts_of(&study(&TWELVE[..count], &SIZES));
        let mut places = whisker_places(chart_named(&charts, "buffer-elapsed-by-target"));
        assert_eq!(places.len(), count * SIZES.len());
        places.sort_by(f64::total_cmp);
        assert!(
            places.windows(2).all(|pair| pair[1] - pair[0] > 3.0),
            "{places:?}"
        );
    }
}

#[test]
fn one_wide_interval_does_not_make_all_bars_short() {
    let mut cases = ways_to_copy();
    let mut record = cases[2].1.record.clone();
    record
        .samples
        .iter_mut()
        .take(3)
        .for_each(|sample| sample.phases_ns.write /= 40);
    record
        .samples
        .iter_mut()
        .for_each(|sample| sample.disturbed = None);
    cases[2].1 = CaseReport::from_record(record.clone());
    let estimate = cases[2].1.estimate.as_mut().unwrap();
    estimate.throughput_bytes_per_s.value = 1.7e9;
    let charts = charts_of(&cases);
    let picture = render(chart_named(&charts, "copy-ranked"));
    let document = Document::parse(&picture).unwrap();
    let words = shown(&document);
    assert!(
        words.iter().any(|word| word.starts_with("Arrow")),
        "{words:?}"
    );
    assert!(
        words.contains(&"3".to_owned()) && !words.contains(&"10".to_owned()),
        "{words:?}"
    );
}

fn pictured(cases: &[(String, CaseReport)], family: ChartFamily) -> (String, Vec<String>) {
    let charts = answering(&charts_of(cases), family);
    assert_eq!(charts.len(), 1);
    let picture = render(&charts[0].chart);
    let words = shown(&Document::parse(&picture).unwrap());
    (picture, words)
}

#[test]
fn a_heat_map_has_values_or_crosses_in_its_cells() {
    let (picture, words) = pictured(&direct(), ChartFamily::Flags);
    for word in ["BUFFERED + ALIGNED", "4 KiB", "32 MiB", "✕: no result."] {
        assert!(words.contains(&word.to_owned()), "{word}: {words:?}");
    }
    let figures = words
        .iter()
        .filter(|word| word.ends_with(" M") || word.ends_with(" G"));
    assert_eq!(figures.count(), 4 * 14 - 1, "{words:?}");
    assert_eq!(picture.matches(": no result</title>").count(), 1);
}

#[test]
fn parts_of_a_bar_are_in_a_row_before_their_sum() {
    let (picture, words) = pictured(&durable(), ChartFamily::Phases);
    for word in ["append", "all at once", "prepare", "close"] {
        assert!(words.contains(&word.to_owned()), "{word}: {words:?}");
    }
    let document = Document::parse(&picture).unwrap();
    let parts: Vec<(f64, f64)> = document
        .descendants()
        .filter(|node| {
            node.has_tag_name("title")
                && node
                    .text()
                    .is_some_and(|text| text.starts_with("write,sync=fsync,"))
        })
        .map(|title| {
            let part = title.parent().unwrap();
            assert!(part.has_tag_name("rect"));
            let length = |name: &str| part.attribute(name).unwrap().parse::<f64>().unwrap();
            (length("x"), length("x") + length("width"))
        })
        .collect();
    assert_eq!(parts.len(), 5);
    assert!(
        parts
            .windows(2)
            .all(|pair| (pair[0].1 - pair[1].0).abs() < 0.21),
        "{parts:?}"
    );
}

#[test]
fn parts_outside_the_picture_are_counted() {
    let labels: Vec<String> = (0..70).map(|index| format!("method {index}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let (_, words) = pictured(&copies(&labels), ChartFamily::Phases);
    assert!(words.contains(&"The first 60 of 70 cases. The other 10 do not fit.".to_owned()));
    assert_eq!(
        words
            .iter()
            .filter(|word| word.starts_with("method "))
            .count(),
        60
    );
    let (_, words) = pictured(&examples::long(15), ChartFamily::OverTime);
    assert!(words.contains(&"The first 12 of 15 lines. The other 3 do not fit.".to_owned()));
}

#[test]
fn samples_are_dots_and_disturbed_ones_crosses() {
    let (picture, words) = pictured(&ways_to_copy(), ChartFamily::Ranked);
    assert!(
        words.contains(&"Dot below a bar: a sample, cross: a disturbed sample.".to_owned()),
        "{words:?}"
    );
    // A dot is a line without length.
    assert_eq!(picture.matches("h0").count(), 4 * 6);
    assert_eq!(picture.matches("l4,4m0,-4l-4,4").count(), 6);
}

#[test]
fn thousands_of_samples_share_pixels() {
    let mut cases = ways_to_copy();
    for (_, case) in &mut cases {
        let mut record = case.record.clone();
        let samples = record.samples.clone();
        record.samples = samples.into_iter().cycle().take(1500).collect();
        *case = CaseReport::from_record(record.clone());
    }
    let (picture, _) = pictured(&cases, ChartFamily::Ranked);
    let dots = picture.matches("h0").count();
    assert!((4 * 6..4 * 6 * 9).contains(&dots), "{dots}");
}

#[test]
fn the_rarest_calls_are_as_wide_as_the_usual_ones() {
    let (picture, words) = pictured(&durable(), ChartFamily::Latency);
    assert!(words.contains(&"99.9 %".to_owned()), "{words:?}");
    let document = Document::parse(&picture).unwrap();
    let place = |words: &str| -> f64 {
        let text = document
            .descendants()
            .find(|node| node.has_tag_name("text") && node.text() == Some(words));
        text.unwrap().attribute("x").unwrap().parse().unwrap()
    };
    let (first, second) = (
        place("99 %") - place("90 %"),
        place("99.9 %") - place("99 %"),
    );
    assert!(
        (first - second).abs() < 0.3 && first > 50.0,
        "{first} {second}"
    );
}

#[test]
fn a_series_without_values_is_in_the_legend() {
    let mut cases = study(&["ext4", "xfs"], &[1, 64]);
    for (_, case) in cases.iter_mut().filter(|(target, _)| target == "xfs") {
        let mut record = case.record.clone();
        record.samples.clear();
        *case = CaseReport::from_record(record.clone());
    }
    for named in charts_of(&cases)
        .iter()
        .filter(|named| named.file_stem.ends_with("buffer-size"))
    {
        let picture = render(&named.chart);
        assert!(shown(&Document::parse(&picture).unwrap()).contains(&"xfs (no result)".to_owned()));
    }
}

/// Pictures to look at: `LOOK_AT=DIR cargo test -p writebench-report well_formed`.
#[test]
fn the_picture_of_each_study_is_well_formed() {
    let folder = std::env::var_os("LOOK_AT");
    let long = [
        "backup volume (raid6, encrypted)",
        "nfs.example.org:/export/home",
        "x",
    ];
    let studies = [
        ("twelve", study(&TWELVE, &SIZES)),
        ("one", study(&TWELVE[..1], &SIZES)),
        ("five", study(&TWELVE[..5], &SIZES)),
        (
            "crowded",
            study(
                &TWELVE[3..6],
                &(0..26).map(|power| 1 << power).collect::<Vec<u64>>(),
            ),
        ),
        ("two", troubled()),
        ("flags", direct()),
        ("copy", ways_to_copy()),
        ("parallel", parallel()),
        ("durable", durable()),
        ("over-time", examples::long(5)),
        ("over-time-many", examples::long(15)),
        (
            "long",
            study(
                &[&long[..], &TWELVE[..8], &["<script>alert(1)</script>"]].concat(),
                &SIZES,
            ),
        ),
    ];
    for (name, cases) in studies {
        for NamedChart {
            file_stem, chart, ..
        } in charts_of(&cases)
        {
            let picture = render(&chart);
            assert!(
                Document::parse(&picture).is_ok(),
                "{name}-{file_stem}: {picture}"
            );
            if let Some(folder) = &folder {
                let path = std::path::Path::new(folder).join(format!("{name}-{file_stem}.svg"));
                std::fs::write(path, picture).unwrap();
            }
        }
    }
}

#[test]
fn a_long_name_of_a_bar_has_two_lines_and_is_not_cut() {
    let long = "pwrite,chunk=4MiB,threads=4,descriptor=per-thread,prepare=fallocate,cache=direct,sync=fdatasync/8";
    let mut cases = copies(&["splice", "sendfile"]);
    cases[0].1.record.label = Some(long.to_owned());
    let charts = answering(&charts_of(&cases), ChartFamily::Ranked);
    let picture = render(&charts[0].chart);
    let words = shown(&Document::parse(&picture).unwrap());
    let place = words
        .iter()
        .position(|word| word.starts_with("pwrite,chunk"))
        .expect("the name");
    assert_eq!(
        format!("{}{}", words[place], words[place + 1].trim_end()),
        long,
        "{words:?}"
    );
}

#[test]
fn an_index_has_the_charts_of_all_targets_side_by_side() {
    let charts = charts_of(&study(&[HOSTILE, "ext4"], &[1, 64]));
    let report = crate::Report::from_run(None, writebench_testkit::example_run());
    let index = super::index::render(&report, false, &charts);
    assert!(
        crate::formats::has_mark(index.as_bytes()),
        "later exports replace it"
    );
    for named in &charts {
        assert_eq!(
            index
                .matches(&format!("src=\"{}.svg\"", named.file_stem))
                .count(),
            1,
            "{index}"
        );
    }
    let phases: Vec<&str> = index
        .split("<h2>")
        .filter(|part| part.contains("phases"))
        .collect();
    assert!(
        phases.len() == 1 && phases[0].matches("<img").count() == 2,
        "of both targets: {index}"
    );
    assert!(!index.contains("<script"), "{index}");
}

fn of_page(chart: &Chart) -> [String; 2] {
    let picture = picture(chart, &Scale::for_chart(chart));
    [picture.wide, picture.narrow]
}

/// The numbers of series and points in keys.
fn keys(document: &Document<'_>, name: &str) -> Vec<(usize, usize)> {
    let keys = document
        .descendants()
        .filter_map(|node| node.attribute(name));
    let numbers = keys.map(|key| key.split_once('.').unwrap());
    numbers
        .map(|(series, point)| (series.parse().unwrap(), point.parse().unwrap()))
        .collect()
}

#[test]
fn every_value_of_every_family_has_its_key_on_the_page() {
    let cases = [ways_to_copy(), direct(), durable(), parallel()].concat();
    for NamedChart { chart, .. } in charts_of(&cases) {
        let series = chart.series.iter().enumerate();
        let values = series.flat_map(|(index, series)| {
            let points = series.points.iter().enumerate();
            let with_values = points.filter(|(_, point)| point.figure.is_some());
            with_values.map(move |(number, _)| (index, number))
        });
        let values: Vec<(usize, usize)> = values.collect();
        for picture in of_page(&chart) {
            let document = Document::parse(&picture).unwrap();
            let marks = keys(&document, "data-point");
            let lines = keys(&document, "data-line");
            for place in &values {
                let is_on_a_line = lines.iter().any(|(series, _)| *series == place.0);
                assert!(
                    marks.contains(place) || (is_on_a_line && chart.kind == ChartKind::Lines),
                    "{}: {place:?}",
                    chart.title
                );
            }
        }
    }
}

#[test]
fn the_page_has_the_colours_of_its_pictures_in_its_style_sheet() {
    let cases = [ways_to_copy(), direct(), durable(), parallel()].concat();
    let charts = charts_of(&cases);
    let styles = palette::page_styles(charts.iter().map(|named| &named.chart));
    for NamedChart { chart, .. } in &charts {
        for picture in of_page(chart) {
            let document = Document::parse(&picture).unwrap();
            let classes = document
                .descendants()
                .filter_map(|node| node.attribute("class"))
                .filter(|class| {
                    ![
                        "wide",
                        "narrow",
                        "wb-lines",
                        "wb-row",
                        "wb-foot",
                        "wb-dots",
                        "wb-crosses",
                    ]
                    .contains(class)
                });
            for class in classes {
                let is_light_in_attributes = class.starts_with("wb-on-");
                let count = if is_light_in_attributes { 1 } else { 2 };
                let rule = format!(".{class}{{");
                assert_eq!(styles.matches(&rule).count(), count, "{class}");
            }
        }
    }
}

#[test]
fn names_are_whole_in_a_narrow_picture_and_end_inside_it() {
    let long = "pwrite,chunk=4MiB,threads=4,descriptor=per-thread,prepare=fallocate,cache=direct,sync=fdatasync/8";
    let mut cases = copies(&["splice", "sendfile"]);
    cases[0].1.record.label = Some(long.to_owned());
    let charts = answering(&charts_of(&cases), ChartFamily::Ranked);
    let [_, narrow] = of_page(&charts[0].chart);
    let document = Document::parse(&narrow).unwrap();
    let words = shown(&document);
    assert!(words.concat().contains(long), "{words:?}");
    for text in document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
    {
        let x: f64 = text.attribute("x").unwrap().parse().unwrap();
        let words = text.text().unwrap();
        let end = match text.attribute("text-anchor") {
            None => x + element::width(words, 12.5),
            _ => x,
        };
        assert!(end <= 421.0, "{words} ends at {end}");
    }
}

#[test]
fn charts_side_by_side_have_one_scale() {
    let charts = charts_of(&[ways_to_copy(), direct()].concat());
    let lines: Vec<&Chart> = charts
        .iter()
        .map(|named| &named.chart)
        .filter(|chart| chart.kind == ChartKind::Lines && chart.y.unit == Unit::BytesPerSecond)
        .collect();
    assert!(lines.len() > 1, "{}", lines.len());
    let common = Scale::for_charts(&lines);
    for chart in &lines {
        let values = chart.points().filter_map(|point| point.figure);
        let parts = values.map(|figure| common.part(figure.high));
        assert!(
            parts.max_by(f64::total_cmp).is_none_or(|part| part < 1.0),
            "{}",
            chart.title
        );
    }
    let axes = lines.iter().map(|chart| {
        let picture = picture(chart, &common).wide;
        let document = Document::parse(&picture).unwrap();
        let ticks = document.descendants().filter(|node| {
            node.attribute("class") == Some("wb-quiet")
                && node.attribute("text-anchor") == Some("end")
                && node.attribute("transform").is_none()
        });
        ticks
            .map(|tick| format!("{} {:?}", tick.text().unwrap(), tick.attribute("y")))
            .collect::<Vec<_>>()
    });
    let axes: std::collections::HashSet<Vec<String>> = axes.collect();
    assert_eq!(axes.len(), 1, "{axes:#?}");
}

#[test]
fn three_directories_have_a_chart_of_all_goals_and_one_for_each_goal() {
    let report = goals_on(&["xfs", "ext4", "tmpfs"]);
    let files = super::files(&report, std::path::Path::new("charts")).files;
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "goals.svg",
            "stream.svg",
            "durable-stream.svg",
            "durable-files.svg",
            "charts.html"
        ]
    );
    for (name, text) in &files[..4] {
        let document = Document::parse(text).unwrap();
        let words = shown(&document);
        for target in ["xfs", "ext4", "tmpfs"] {
            let is_named = words
                .iter()
                .any(|word| word == target || *word == format!("{target} (no result)"));
            assert!(is_named, "{name}: {target} in the legend");
        }
        let left = document
            .descendants()
            .filter_map(|node| node.attribute("x")?.parse::<f64>().ok());
        assert!(left.fold(f64::INFINITY, f64::min) >= 0.0, "{name}");
        if let Some(folder) = std::env::var_os("LOOK_AT") {
            std::fs::write(std::path::Path::new(&folder).join(name), text).unwrap();
        }
    }
    assert!(files[4].1.contains("src=\"goals.svg\""));
}

#[test]
fn a_bar_of_one_sample_is_empty() {
    let mut cases = copies(&["splice", "sendfile"]);
    let mut record = cases[0].1.record.clone();
    record.samples.truncate(1);
    cases[0].1 = CaseReport::from_record(record);
    let (picture, words) = pictured(&cases, ChartFamily::Ranked);
    assert_eq!(picture.matches("fill-opacity=\"0\"").count(), 1);
    assert!(
        words.contains(&"Empty bar: one sample, which proves nothing.".to_owned()),
        "{words:?}"
    );
    assert!(
        words.iter().any(|word| word.ends_with("(one sample)")),
        "{words:?}"
    );
}
