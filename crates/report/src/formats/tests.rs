//! What people and programs are shown, for a run that was never made: figures, a failure, an
//! unsupported case, one that was not reached, and text that tries to be markup.

use model::{Failure, Outcome, Phase, RunRecord, Sample};
use testkit::{example_case, example_run};

use crate::Report;

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
            sample.verified = (round == 0).then_some(true);
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
    let failed = vec![Sample::without_figures(0, Outcome::Failed(failure(28)))];
    let unsupported = vec![Sample::without_figures(0, Outcome::Unsupported(failure(95)))];
    let cases = vec![
        example_case(
            "Into an emptied file",
            "write,chunk=4KiB,prepare=truncate",
            good([300, 310, 305, 301, 302, 303]),
        ),
        example_case("Into an emptied file", "write,prepare=truncate", disturbed),
        example_case("Into a preallocated file", "write,prepare=fallocate", unsupported),
        example_case("Into a preallocated file", "write,size=4GiB,prepare=fallocate", failed),
        example_case("Into a preallocated file", "fwrite,prepare=fallocate", Vec::new()),
    ];
    Report::of(Some(3), RunRecord { cases, ..example_run() })
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

#[test]
fn the_terminal_shows_every_case_with_figures_or_a_cause() {
    let report = report();
    let head = super::terminal::head(&report);
    insta::assert_snapshot!(plain(&(head + &super::terminal::body(&report, None))));
}

#[test]
fn a_narrow_terminal_gets_fewer_columns_and_no_broken_line() {
    let text = plain(&super::terminal::body(&report(), Some(80)));
    let table_lines: Vec<&str> = text.lines().filter(|line| line.starts_with("write,")).collect();
    assert!(table_lines.iter().take(2).all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("A wider terminal shows more columns."));
}

#[test]
fn markdown_shows_the_same_and_text_of_strangers_is_no_markup() {
    let text = super::markdown::render(&report());
    assert!(text.contains(r"/data/\<b\>\|\`x\`"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn csv_has_a_row_for_every_sample() {
    let text = super::csv::render(&report()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 14);
    let reason = reader.headers().unwrap().iter().position(|heading| heading == "reason").unwrap();
    assert_eq!(&rows[13][reason], "fallocate: No space left on device (28)");
}

#[test]
fn json_has_no_figure_for_a_case_without_a_good_sample() {
    let document: serde_json::Value = serde_json::from_str(&super::json::render(&report()).unwrap()).unwrap();
    assert_eq!(document["schema"], 1);
    let cases = document["cases"].as_array().unwrap();
    for case in cases {
        assert_eq!(case["estimate"].is_null(), case["outcome"] != "ok", "{case}");
    }
    assert_eq!(cases[3]["outcome"], "failed");
    assert_eq!(cases[3]["reason"], "fallocate: No space left on device (28)");
    assert_eq!(cases[4]["outcome"], "not-run");
    assert_eq!(cases[1]["estimate"]["disturbed"], 1);
    assert_eq!(cases[1]["samples"][5]["disturbed"], "memory copy 2.0 times slower than usual");
    assert!(cases[0]["estimate"]["throughput_bytes_per_s"]["low"].is_f64());
    assert_eq!(cases[0]["samples"][0]["phases_ns"]["write"], 300_000_000);
}
