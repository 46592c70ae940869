//! Made-up runs: values, failures, missing cases, and text like markup.

mod first_screen;
mod layouts;

use writebench_model::{
    Extent, Failure, Limit, LimitKind, MissingTarget, Outcome, Phase, ReadBack, ReadFrom,
    RunRecord, RunStatus, Sample, Timeline,
};
use writebench_testkit::{example_case, example_run, section_of};

use super::terminal::Detail;
use crate::Report;
use crate::tables::sections::Rows;

fn good(write_ms: [u64; 6]) -> Vec<Sample> {
    (0u32..)
        .zip(write_ms)
        .map(|(round, ms)| {
            let mut sample = Sample::without_figures(round, Outcome::Ok);
            sample.bytes = 1 << 30;
            sample.phases_ns.write = ms * 1_000_000;
            sample.phases_ns.open = 9_000;
            sample.phases_ns.prepare = 20_000_000;
            sample.phases_ns.close = 800;
            sample.user_cpu_ns = 1_000_000;
            sample.system_cpu_ns = ms * 990_000;
            sample.probe_ns = [2_000_000, 2_100_000];
            let (extent, bytes) = if round == 0 {
                (Extent::Whole, 1 << 30)
            } else {
                (Extent::Part, 1 << 26)
            };
            sample.read_back = Some(ReadBack {
                extent,
                bytes,
                from: Some(ReadFrom::PageCache),
            });
            sample
        })
        .collect()
}

fn failure(errno: i32) -> Failure {
    Failure {
        phase: Phase::Prepare,
        call: "fallocate".to_owned(),
        path: Some("sample".to_owned()),
        offset: None,
        errno: Some(errno),
        message: Failure::errno_message(errno),
    }
}

fn report() -> Report {
    let mut disturbed = good([250, 260, 255, 251, 252, 700]);
    disturbed[5].disturbed = Some("memory copy 2.0 times slower than usual".to_owned());
    let failed = vec![Sample::without_figures(
        0,
        Outcome::Failed(failure(28).into()),
    )];
    let unsupported = vec![Sample::without_figures(
        0,
        Outcome::Unsupported(failure(95).into()),
    )];
    let cases = vec![
        example_case(
            "Into an emptied file",
            "write,chunk=4KiB,prepare=truncate",
            good([300, 310, 305, 301, 302, 303]),
        ),
        example_case("Into an emptied file", "write,prepare=truncate", disturbed),
        example_case(
            "Into a preallocated file",
            "write,prepare=fallocate",
            unsupported,
        ),
        example_case(
            "Into a preallocated file",
            "write,size=4GiB,prepare=fallocate",
            failed,
        ),
        example_case(
            "Into a preallocated file",
            "fwrite,prepare=fallocate",
            Vec::new(),
        ),
    ];
    Report::from_run(
        Some(3),
        RunRecord {
            cases,
            ..example_run()
        },
    )
}

/// A write outruns its disk for three seconds.
fn burst() -> Report {
    let fast_then_slow = |tenth| if tenth < 31 { 460_000_000 } else { 50_000_000 };
    let long = (0..6).map(|round| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        let bytes: Vec<u64> = (0..100).map(fast_then_slow).collect();
        sample.bytes = bytes.iter().sum();
        sample.phases_ns.write = 10_000_000_000;
        sample.timeline = Some(
            Timeline {
                interval_ns: 100_000_000,
                bytes,
            }
            .into(),
        );
        sample
    });
    let mut steady = example_case(
        "Long",
        "write,size=16GiB",
        good([250, 260, 255, 251, 252, 253]),
    );
    steady.samples[0].timeline = Some(
        Timeline {
            interval_ns: 100_000_000,
            bytes: vec![1 << 20; 20],
        }
        .into(),
    );
    let mut durable = example_case(
        "Long",
        "write,size=1GiB,sync=fsync",
        good([900, 910, 905, 901, 902, 903]),
    );
    durable.workload.durability = writebench_model::Durability::Durable;
    let cases = vec![
        example_case("Long", "write,chunk=1MiB", long.collect()),
        steady,
        durable,
    ];
    let limit = |kind, bytes_per_s| Limit {
        kind,
        threads: 1,
        bytes_per_s,
        description: "O_DIRECT is refused".to_owned(),
    };
    let limits = vec![
        limit(LimitKind::MemoryCopy, Some(5_200_000_000)),
        limit(LimitKind::MemoryCopyNonTemporal, Some(9_100_000_000)),
        limit(LimitKind::DeviceWrite, None),
    ];
    let mut run = RunRecord {
        cases,
        ..example_run()
    };
    run.targets[0].limits = limits;
    Report::from_run(Some(4), run)
}

#[test]
fn the_table_shows_falls_and_shares_of_limits() {
    let text = plain(&shown(&burst(), None));
    for line in [
        "of limit: a plain copy of memory, 5.20 GB/s with 1 thread (9.10 with non-temporal stores)",
        "no limit known for large direct writes to the device: O_DIRECT is refused",
        "write,chunk=1MiB: a burst of 4.60 GB/s for the first 3.1 s, then 0.500 GB/s (6 of 6 samples)",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let row = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .unwrap()
            .to_owned()
    };
    // 17.7 GB in 10 s, of 5.2 GB/s.
    assert!(
        row("write,chunk=1MiB ").contains("34 %") && row("write,chunk=1MiB ").contains("burst"),
        "{text}"
    );
    assert!(
        row("write,size=16GiB ").contains("76 %") && row("write,size=16GiB ").contains("steady"),
        "{text}"
    );
    let durable = row("write,size=1GiB,sync=fsync ");
    assert!(durable.contains('–') && !durable.contains(" % "), "{text}");
    let markdown = super::markdown::render(&burst());
    assert!(
        markdown.contains("| of limit |") && markdown.contains("| over time |"),
        "{markdown}"
    );
}

#[test]
fn programs_get_limit_and_stability_of_samples_and_cases() {
    let csv = super::csv::render(&burst());
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        rows[row][headings.iter().position(|heading| heading == name).unwrap()].to_owned()
    };
    assert_eq!(
        (cell(0, "stability"), cell(0, "burst_duration_ns")),
        ("burst".to_owned(), "3100000000".to_owned())
    );
    assert_eq!(
        (cell(0, "limit_kind"), cell(0, "limit_bytes_per_s")),
        ("memory-copy".to_owned(), "5200000000".to_owned())
    );
    assert_eq!(
        (cell(6, "stability"), cell(7, "stability")),
        ("steady".to_owned(), String::new())
    );
    assert_eq!(cell(12, "limit_kind"), "", "not measured");
    let document: serde_json::Value = serde_json::from_str(&super::json::render(&burst())).unwrap();
    let estimate = |index: usize| &document["cases"][index]["estimate"];
    assert_eq!(estimate(0)["over_time"]["stability"], "burst");
    assert!(
        (estimate(0)["over_time"]["burst"]["duration_ns"]
            .as_f64()
            .unwrap()
            - 3.1e9)
            .abs()
            < 1.0
    );
    assert_eq!(estimate(0)["limit"]["kind"], "memory-copy");
    assert_eq!(
        (
            &estimate(1)["over_time"]["stability"],
            &estimate(1)["over_time"]["timelines"]
        ),
        (&"steady".into(), &1.into())
    );
    assert!(estimate(2)["limit"].is_null() && estimate(2)["over_time"].is_null());
    assert_eq!(
        document["targets"][0]["limits"][2]["description"],
        "O_DIRECT is refused"
    );
}

pub(crate) fn plain(styled: &str) -> String {
    let mut plain = String::new();
    let mut rest = styled;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain += before;
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

fn shown(report: &Report, width: Option<usize>) -> String {
    super::terminal::report(report, Detail::Usual, width)
}

#[test]
fn the_terminal_shows_every_case_with_values_or_a_cause() {
    insta::assert_snapshot!(plain(&super::terminal::report(
        &report(),
        Detail::All,
        Some(80)
    )));
}

#[test]
fn a_narrow_terminal_gets_fewer_columns_and_no_broken_line() {
    let text = plain(&shown(&report(), Some(80)));
    let table_lines: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("write,"))
        .collect();
    assert!(
        table_lines
            .iter()
            .take(2)
            .all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains("`show --all` has all columns."));
}

#[test]
fn markdown_shows_the_same_and_escapes_foreign_text() {
    let text = super::markdown::render(&report());
    assert!(text.contains(r"/data/\<b\>\|\`x\`"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_spreadsheet_finds_no_formula_in_text_and_numbers_stay_numbers() {
    let mut report = report();
    report.cases[0].record.label = Some("=HYPERLINK(\"http://x\",\"a, b\")".to_owned());
    report.cases[0].record.target = "@SUM(1)".to_owned();
    report.cases[0].record.origin = section_of("write", "\t=1");
    let text = super::csv::render(&report);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let row = reader.records().next().unwrap().unwrap();
    assert!(
        row.iter()
            .any(|cell| cell == "'=HYPERLINK(\"http://x\",\"a, b\")"),
        "{row:?}"
    );
    assert!(
        row.iter().any(|cell| cell == "'@SUM(1)") && row.iter().any(|cell| cell == "'\t=1"),
        "{row:?}"
    );
    let row = ["-5", "-0.25", "+1e9", "-x", "+", "-inf", "\r"]
        .map(str::to_owned)
        .to_vec();
    let expected = ["-5", "-0.25", "+1e9", "'-x", "'+", "'-inf", "'\r"];
    assert_eq!(super::csv::cells(row).collect::<Vec<_>>(), expected);
}

#[test]
fn a_small_share_has_all_of_its_digits() {
    let mut report = report();
    let target = &mut report.run.targets[0];
    let (kind, description) = (LimitKind::MemoryCopy, String::new());
    target.limits = vec![Limit {
        kind,
        threads: 1,
        bytes_per_s: Some(u64::MAX / 4),
        description,
    }];
    let text = super::csv::render(&report);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let at = reader
        .headers()
        .unwrap()
        .iter()
        .position(|heading| heading == "limit_share")
        .unwrap();
    let share: f64 = reader.records().next().unwrap().unwrap()[at]
        .parse()
        .unwrap();
    assert!(share > 0.0 && share < 1e-6, "{share}");
}

#[test]
fn a_terminal_sees_no_style_but_ours() {
    const FOREIGN: &str = "x\u{1b}[8m\r\u{202e}y";
    let mut report = report();
    for case in &mut report.cases {
        (case.record.label, case.reason) = (Some(FOREIGN.to_owned()), Some(FOREIGN.to_owned()));
        (case.record.origin, case.record.target) =
            (section_of("write", FOREIGN), FOREIGN.to_owned());
        case.name = FOREIGN.to_owned();
    }
    report.warnings.push(FOREIGN.to_owned());
    report.conclusions.push(FOREIGN.to_owned());
    report.run.version = FOREIGN.to_owned();
    report.run.started = FOREIGN.to_owned();
    report.run.targets[0].path = FOREIGN.to_owned();
    report.run.targets[0].environment.filesystem.source = FOREIGN.to_owned();
    report.findings[0].description = FOREIGN.to_owned();
    let text = super::terminal::report(&report, Detail::All, None) + &shown(&report, Some(80));
    assert!(text.contains("x\\u{1b}[8m\\r\\u{202e}y"), "{text:?}");
    let shown = plain(&text);
    assert!(
        shown.chars().all(|c| c == '\n' || !c.is_control()) && !shown.contains('\u{202e}'),
        "{text:?}"
    );
    assert!(!text.contains("\u{1b}[8m"), "{text:?}");
}

#[test]
fn csv_has_a_row_for_every_sample() {
    let text = super::csv::render(&report());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 14);
    let reason = reader
        .headers()
        .unwrap()
        .iter()
        .position(|heading| heading == "reason")
        .unwrap();
    assert_eq!(&rows[13][reason], "fallocate: No space left on device (28)");
}

#[test]
fn json_has_no_value_for_a_case_without_a_good_sample() {
    let document: serde_json::Value =
        serde_json::from_str(&super::json::render(&report())).unwrap();
    assert_eq!(document["schema"], 7);
    let cases = document["cases"].as_array().unwrap();
    for case in cases {
        assert_eq!(
            case["estimate"].is_null(),
            case["outcome"] != "ok",
            "{case}"
        );
    }
    assert_eq!(cases[3]["outcome"], "failed");
    assert_eq!(
        cases[3]["reason"],
        "fallocate: No space left on device (28)"
    );
    assert_eq!(cases[4]["outcome"], "not-run");
    assert_eq!(cases[1]["estimate"]["disturbed_samples"], 1);
    assert_eq!(
        cases[1]["samples"][5]["disturbed_by"],
        "memory copy 2.0 times slower than usual"
    );
    assert!(cases[0]["estimate"]["throughput_bytes_per_s"]["low"].is_f64());
    assert_eq!(cases[0]["samples"][0]["phases_ns"]["write"], 300_000_000);
}

/// Two chunk sizes on three targets, one of them missing.
fn side_by_side() -> Report {
    let on = |target: &str, chunk: &str, factor: u64| {
        let times = [100, 102, 98, 101, 99, 103].map(|ms| ms * factor);
        let mut case = example_case("A chunk", &format!("write,chunk={chunk}"), good(times));
        (case.target, case.origin) = (target.to_owned(), section_of("buffer", "A chunk"));
        case
    };
    let cases = vec![
        on("ext4", "4KiB", 4),
        on("xfs", "4KiB", 8),
        on("ext4", "1MiB", 1),
        on("xfs", "1MiB", 1),
    ];
    let targets = vec![
        writebench_testkit::example_target("ext4"),
        writebench_testkit::example_target("xfs"),
    ];
    let missing = vec![MissingTarget {
        name: "jfs".to_owned(),
        reason: "mkfs.jfs is not installed".to_owned(),
    }];
    Report::from_run(
        Some(5),
        RunRecord {
            cases,
            targets,
            missing,
            status: RunStatus::Complete,
            ..example_run()
        },
    )
}

#[test]
fn several_targets_are_compared_with_the_first_side_by_side() {
    insta::assert_snapshot!("side_by_side", plain(&shown(&side_by_side(), Some(80))));
}

#[test]
fn programs_get_the_target_with_every_case() {
    let document: serde_json::Value =
        serde_json::from_str(&super::json::render(&side_by_side())).unwrap();
    assert_eq!(document["targets"][1]["name"], "xfs");
    assert_eq!(
        document["missing_targets"][0]["reason"],
        "mkfs.jfs is not installed"
    );
    assert_eq!(document["cases"][1]["target"], "xfs");
    let csv = super::csv::render(&side_by_side());
    let rows: Vec<csv::StringRecord> = csv::Reader::from_reader(csv.as_bytes())
        .records()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        (&rows[0][1], &rows[6][1], &rows[6][2]),
        ("ext4", "xfs", "ext4")
    );
}

/// User CPU time is counted in ticks: 0 in most short samples.
#[test]
fn rounds_without_cpu_time_distinguish_no_targets() {
    let on = |target: &str, ticks: [u64; 8]| {
        let samples = (0u32..).zip(ticks).map(|(round, ticks)| {
            let mut sample = good([100; 6])[0].clone();
            (sample.round, sample.user_cpu_ns) = (round, ticks * 4_000_000);
            sample
        });
        let mut case = example_case("A chunk", "write,chunk=4KiB", samples.collect());
        (case.target, case.origin) = (target.to_owned(), section_of("buffer", "A chunk"));
        case
    };
    let cases = vec![
        on("a", [1, 0, 0, 0, 1, 0, 0, 0]),
        on("b", [0, 0, 1, 0, 0, 0, 1, 0]),
    ];
    for names in [["a", "b"], ["b", "a"]] {
        let targets = names.map(writebench_testkit::example_target).to_vec();
        let report = Report::from_run(
            None,
            RunRecord {
                cases: cases.clone(),
                targets,
                ..example_run()
            },
        );
        let tables = report.tables(Rows::Compared);
        let user = tables
            .iter()
            .find(|table| table.title.contains("user CPU"))
            .unwrap();
        let ratio = user
            .columns
            .iter()
            .position(|column| column.heading == "first")
            .unwrap();
        assert_eq!(user.rows[0][ratio], "? 1.00", "{:?}", user.rows[0]);
    }
}

/// The value with numbers of six digits, because logarithms differ between C libraries in the last ones.
fn rounded(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.5e}", number.as_f64().unwrap());
            text.parse::<f64>().unwrap().into()
        }
        Value::Array(all) => all.into_iter().map(rounded).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, rounded(value)))
            .collect(),
        value => value,
    }
}

#[test]
fn json_has_findings_in_numbers() {
    let faster = vec![
        example_case("new", "write", good([300, 310, 320, 330, 340, 350])),
        example_case("new", "mmap", good([200, 202, 204, 206, 208, 210])),
    ];
    let plain = vec![
        example_case("new", "write", good([200, 202, 204, 206, 208, 210])),
        example_case("new", "mmap", good([300, 310, 320, 330, 340, 350])),
    ];
    let mut unranked = example_case("new", "mmap", good([200, 202, 204, 206, 208, 210]));
    for sample in &mut unranked.samples {
        sample.disturbed = Some("noise".to_owned());
    }
    let findings = [faster, plain, vec![unranked]].map(|cases| {
        let run = RunRecord {
            cases,
            ..example_run()
        };
        let text = super::json::render(&crate::Report::from_run(None, run));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        rounded(document["findings"].clone())
    });
    insta::assert_snapshot!(serde_json::to_string_pretty(&findings).unwrap());
}

#[test]
fn each_line_is_a_document_from_the_run_to_its_end() {
    let text = super::jsonl::render(&report());
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&lines[0]["run"]["schema"], &lines[0]["run"]["id"]),
        (&7.into(), &"0f0e".into())
    );
    assert_eq!(
        lines[0]["run"]["targets"][0]["environment"]["filesystem"]["kind"],
        "ext4"
    );
    let values_of = |key: &str| -> Vec<&serde_json::Value> {
        lines.iter().filter_map(|line| line.get(key)).collect()
    };
    let report = report();
    let rows = values_of("row");
    assert_eq!(rows.len(), report.cases.len());
    assert_eq!(
        (&rows[0]["name"], &rows[0]["samples"]),
        (
            &"write,chunk=4KiB,prepare=truncate".into(),
            &serde_json::json!([])
        )
    );
    let samples = values_of("sample");
    assert_eq!(samples.len(), 14);
    assert_eq!(samples[0]["case"], "write,chunk=4KiB,prepare=truncate");
    let rounds: Vec<u64> = samples
        .iter()
        .map(|sample| sample["round"].as_u64().unwrap())
        .collect();
    assert!(rounds.is_sorted(), "{rounds:?}");
    assert_eq!(lines[0]["run"]["status"], "running");
    assert_eq!(lines.last().unwrap()["end"]["status"], "limited");
}
