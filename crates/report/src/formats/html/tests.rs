//! Browser tests are in `crates/report/page/tests/`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use writebench_model::{CaseOrigin, CaseRecord, Objective, Outcome, RunRecord, Sample, Stage};
use writebench_testkit::{example_case, example_run};

mod first_answer;

use super::render;
use crate::Report;

/// Would end any element, attribute, string or script.
const HOSTILE: &str =
    "</script><script>alert(1)</script>\"'>\n<img src=x onerror=alert(2)>{{7*7}}<!--";

fn samples(times: u64) -> Vec<Sample> {
    let sample = |round: u32| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        sample.bytes = 1 << 30;
        sample.phases_ns.write = (200_000_000 + u64::from(round) * 1_234_567) * times;
        sample.phases_ns.open = 9_000;
        sample
    };
    (0..6).map(sample).collect()
}

fn run(label: &str, times: u64, name: &str) -> Report {
    let mut write = example_case(
        "Into a new file",
        "write,chunk=4KiB,size=1GiB",
        samples(times),
    );
    write.label = Some(name.to_owned());
    let cases: Vec<CaseRecord> = vec![
        write,
        example_case("Into a new file", "fwrite,size=1GiB", Vec::new()),
    ];
    Report::from_run(
        None,
        RunRecord {
            id: label.to_owned(),
            label: Some(label.to_owned()),
            cases,
            ..example_run()
        },
    )
}

fn own_part(page: &str) -> String {
    let without = |text: &str, from: &str, to: &str| {
        let (before, rest) = text.split_once(from).unwrap();
        let (_, after) = rest.split_once(to).unwrap();
        format!("{before}{from}…{to}{after}")
    };
    let page = without(page, "<style>", "</style>");
    let page = without(&page, "script-src ", ";");
    let page = without(&page, r#"class="pack">"#, "</script>");
    let page = without(&page, r#"id="data">"#, "</script>");
    without(&page, "<script>", "</script>")
}

/// The tests of `svg` look at the pictures.
fn without_pictures(page: &str) -> String {
    let parts = page.split("<svg ");
    let parts = parts.map(|part| part.split_once("</svg>").map_or(part, |(_, rest)| rest));
    parts.collect::<Vec<_>>().join("<svg>…</svg>")
}

#[test]
fn a_page_shows_two_runs() {
    let page = render(&[run("before", 1, "plain"), run("after", 2, "plain")]);
    let data = serde_json::to_string(&page_data(&page)).unwrap();
    insta::assert_snapshot!(format!("{}\n{data}\n", without_pictures(&own_part(&page))));
}

/// What a script of the page unpacks: the texts that begin after `from`.
fn unpacked<'p>(page: &'p str, from: &'p str) -> impl Iterator<Item = serde_json::Value> + 'p {
    page.split(from).skip(1).map(|rest| {
        let packed = STANDARD.decode(rest.split('<').next().unwrap()).unwrap();
        serde_json::from_reader(DeflateDecoder::new(packed.as_slice())).unwrap()
    })
}

fn packs(page: &str) -> impl Iterator<Item = serde_json::Value> {
    unpacked(page, "class=\"pack\">")
}

fn page_data(page: &str) -> serde_json::Value {
    unpacked(page, "id=\"data\">").next().unwrap()
}

/// The number of cases with this value.
fn cases_with(page: &str, key: &str, value: impl Into<serde_json::Value>) -> usize {
    let (data, value) = (page_data(page), value.into());
    let cases = data["cases"].as_array().unwrap();
    cases.iter().filter(|case| case[key] == value).count()
}

#[test]
fn every_chart_has_its_narrow_drawing_in_its_pack() {
    let cases = (0..20).map(|number| {
        let section = format!("Section {number}");
        example_case(&section, "write,chunk=4KiB,size=1GiB", samples(1))
    });
    let run = RunRecord {
        cases: cases.collect(),
        ..example_run()
    };
    let page = render(&[Report::from_run(None, run)]);
    let mut numbers = Vec::new();
    for (pack, drawings) in packs(&page).enumerate() {
        for (number, drawings) in drawings.as_object().unwrap() {
            let [wide, narrow] = [0, 1].map(|at| drawings[at].as_str().unwrap().to_owned());
            assert!(narrow.starts_with("<svg") && narrow.contains("class=\"narrow\""));
            let host = format!("data-chart=\"{number}\" data-pack=\"{pack}\">");
            let (_, host) = page.split_once(&host).expect("the chart knows its pack");
            assert!(host.starts_with("<svg") && wide.is_empty(), "{number}");
            numbers.push(number.parse::<usize>().unwrap());
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
}

#[test]
fn scripts_have_no_text_of_several_lines_which_would_lose_its_indentation() {
    for line in super::SCRIPTS.concat().lines() {
        assert_eq!(line.matches('`').count() % 2, 0, "{line}");
    }
}

#[test]
fn a_comparison_has_a_mark_for_each_pair_on_both_sides_of_1() {
    let page = render(&[run("before", 1, "plain"), run("after", 2, "plain")]);
    let (_, plot) = page
        .split_once("data-ratios=\"0\" data-pack=\"0\">")
        .unwrap();
    let (picture, _) = plot.split_once("</div>").unwrap();
    let document = roxmltree::Document::parse(picture).unwrap();
    let mark = document
        .descendants()
        .find(|node| node.attribute("data-point") == Some("0.0"))
        .unwrap();
    let x: f64 = mark.attribute("cx").unwrap().parse().unwrap();
    let even = document
        .descendants()
        .find(|node| node.attribute("class") == Some("wb-even"))
        .unwrap();
    let line = even.attribute("d").unwrap().trim_start_matches('M');
    let middle: f64 = line.split_once(',').unwrap().0.parse().unwrap();
    assert!(x + 50.0 < middle, "B is slower: {x}, and 1 is at {middle}");
    assert_eq!(
        document
            .descendants()
            .filter(|node| node.has_tag_name("circle"))
            .count(),
        1
    );
}

#[test]
fn recorded_text_cannot_become_markup() {
    let mut report = run(HOSTILE, 1, HOSTILE);
    report.run.arguments = vec![HOSTILE.to_owned()];
    let rendered = render(&[report, run("b", 1, HOSTILE)]);
    let page = own_part(&rendered);
    for markup in ["<img", "<script>alert", "<!--", "</script><"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert!(
        page.contains("&#60;img src=x onerror=alert(2)&#62;"),
        "it is shown"
    );
    assert_eq!(page_data(&rendered)["cases"][0]["label"], HOSTILE);
}

#[test]
fn a_search_shows_its_steps_and_leaves_the_first_screen_to_the_chart() {
    let final_case = |name: &str, times| CaseRecord {
        origin: CaseOrigin::of_search(Stage::Final, name == "write"),
        ..example_case("", &format!("{name},size=1GiB"), samples(times))
    };
    let times = [
        ("write", 5),
        ("pwrite,threads=2", 4),
        ("pwrite,prepare=fallocate", 3),
    ];
    let times = times
        .into_iter()
        .chain([("pwrite,threads=2,prepare=fallocate", 2)]);
    let cases = times.map(|(name, times)| final_case(name, times)).collect();
    let page = render(&[Report::from_run(
        None,
        RunRecord {
            cases,
            ..example_run()
        },
    )]);
    let (_, answers) = page.split_once("<table class=\"answers\">").unwrap();
    let (answers, rest) = answers.split_once("</table>").unwrap();
    let goals: Vec<_> = answers
        .split("<th scope=\"row\">")
        .skip(1)
        .map(|row| row.split('<').next().unwrap())
        .collect();
    assert_eq!(goals, ["plain write", "step", "recommended"]);
    assert!(
        rest.trim_start()
            .starts_with("<details>\n<summary>1 more</summary>"),
        "{rest:.200}"
    );
}

fn search(looked_at: u64) -> Report {
    let case = |stage, name: &str, samples| CaseRecord {
        origin: CaseOrigin::of_search(stage, name == "write"),
        ..example_case("", &format!("{name},size=1GiB"), samples)
    };
    let screened = (0..looked_at).map(|number| {
        let prepare = ["create", "fallocate", "set-len"][usize::try_from(number % 3).unwrap()];
        let name = format!("pwrite,chunk={}KiB,prepare={prepare}", 4 * (number / 3 + 1));
        case(
            Stage::Screening,
            &name,
            samples(2 + number % 3)[..1].to_vec(),
        )
    });
    let finals = [("write", 3), ("pwrite,prepare=fallocate", 2), ("mmap", 4)];
    let finals = finals.map(|(name, times)| case(Stage::Final, name, samples(times)));
    Report::from_run(
        None,
        RunRecord {
            cases: screened.chain(finals).collect(),
            ..example_run()
        },
    )
}

#[test]
fn a_page_of_a_search_shows_which_choices_matter() {
    let page = own_part(&render(&[search(30)]));
    let (_, choices) = page.split_once("<section class=\"spread\"").unwrap();
    insta::assert_snapshot!(choices.split_once("</section>").unwrap().0);
}

#[test]
fn searches_of_2_to_5000_candidates_have_a_page() {
    for (looked_at, others) in [(0, 0), (1, 1), (2, 2), (5000, 5000)] {
        let page = render(&[search(looked_at)]);
        assert_eq!(cases_with(&page, "other", true), others);
        assert_eq!(
            page.matches("data-table=\"cases\"").count(),
            1,
            "one table of all candidates"
        );
        assert_eq!(cases_with(&page, "goal", 0), 3, "the finalists");
    }
}

#[test]
fn a_candidate_that_was_measured_again_is_one_mark() {
    let mut report = search(6);
    let again = report.cases[1].record.clone();
    let is_baseline = again.origin.is_baseline();
    let mut run = report.whole_run();
    run.cases.push(CaseRecord {
        origin: CaseOrigin::of_search(Stage::Final, is_baseline),
        ..again
    });
    report = Report::from_run(None, run);
    assert_eq!(cases_with(&render(&[report]), "other", true), 6);
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = render(&[run("a", 1, "plain")]);
    for loading in [" src=", "<link", "@import", "url("] {
        assert!(!own_part(&page).contains(loading), "{loading}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn incomparable_runs_have_a_reason() {
    let mut other = run("other", 1, "plain");
    other.cases[0].record.workload.bytes /= 2;
    let page = own_part(&render(&[run("a", 1, "plain"), other]));
    assert!(
        page.contains("Not compared: case write,chunk=4KiB,size=1GiB is different work"),
        "{page}"
    );
}

#[test]
fn a_run_without_a_result_has_a_page() {
    let empty = Report::from_run(None, example_run());
    assert!(render(&[empty]).contains("No case has a ranked result"));
}

/// Sets of 100 files. The answer has six samples, as few as an answer can have.
fn search_for_files() -> Report {
    let case = |stage, name: &str, bytes: u64, samples: Vec<Sample>| {
        let mut record = example_case("", name, samples);
        (record.workload.bytes, record.workload.files) = (bytes, 100);
        record.workload.file_size = Some("1KiB..64KiB".parse().unwrap());
        record
            .samples
            .iter_mut()
            .for_each(|sample| sample.bytes = bytes);
        CaseRecord {
            origin: CaseOrigin::of_search(stage, name == "write-files,sync=fsync"),
            ..record
        }
    };
    let few = |times| samples(times)[..6].to_vec();
    let run = RunRecord {
        cases: vec![
            case(
                Stage::Screening,
                "write-files,sync-files=batch,sync=fsync",
                1_600_000,
                samples(5)[..1].to_vec(),
            ),
            case(Stage::Final, "write-files,sync=fsync", 3_267_001, few(3)),
            case(
                Stage::Final,
                "write-files,chunk=4KiB,sync=fsync",
                3_267_001,
                few(2),
            ),
        ],
        ..example_run()
    };
    Report::from_run(None, run)
}

fn search_for_cpu_time() -> Report {
    let mut run = search(3).whole_run();
    run.settings.objective = Objective::Cpu;
    run.decisions.clear();
    for sample in run.cases.iter_mut().flat_map(|case| &mut case.samples) {
        sample.system_cpu_ns = sample.phases_ns.write / 3;
    }
    Report::from_run(None, run)
}

#[test]
fn a_search_for_the_least_cpu_time_has_that_time_in_its_chart() {
    let data = page_data(&render(&[search_for_cpu_time()]));
    let goal = &data["goals"][0];
    assert_eq!((&goal["unit"], &goal["less"]), (&"ms".into(), &true.into()));
    let text = goal["text"].as_str().unwrap();
    assert!(text.ends_with(", ms CPU, less is better"), "{text}");
    let cases = data["cases"].as_array().unwrap();
    let drawn = cases
        .iter()
        .filter(|case| case["goal"] == 0 || case["other"] == true);
    for case in drawn {
        let bar = case["bar"][0].as_f64().unwrap();
        let write_ns = case["figures"]["elapsed"].as_f64().unwrap();
        assert!((bar / write_ns - 1.0 / 3.0).abs() < 0.01, "{case}");
        assert!(bar <= goal["end"].as_f64().unwrap());
    }
}

/// There were bars of files per second below an axis of gigabytes, and only of the losers.
#[test]
fn a_search_for_files_has_one_unit_in_its_chart_and_its_answers_in_it() {
    let report = search_for_files();
    let data = page_data(&render(std::slice::from_ref(&report)));
    assert_eq!(
        (&data["overview"]["unit"], &data["goals"][0]["unit"]),
        (&"files/s".into(), &"files/s".into())
    );
    let last = data["overview"]["ticks"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()[1]
        .as_f64()
        .unwrap();
    let end = data["overview"]["end"].as_f64().unwrap() / data["goals"][0]["per"].as_f64().unwrap();
    assert!(
        (last / end - 1.0).abs() < 1e-3,
        "the ticks are files per second: {last} and {end}"
    );
    assert_eq!(
        data["cases"][0]["per"], 16_000.0,
        "of the candidate's own files"
    );
    for finding in &report.findings {
        let drawn = data["cases"]
            .as_array()
            .unwrap()
            .iter()
            .find(|case| Some(case["case"].as_str().unwrap()) == finding.case.as_deref());
        let shown = &drawn.expect("a row")["shown"];
        assert_eq!(
            (&shown[0], &shown[1]),
            (&finding.value().into(), &finding.interval().into()),
            "{finding:?}"
        );
    }
    assert_eq!(report.findings.len(), 2, "{:?}", report.findings);
}

/// The page rounded 1621.7 files/s in bytes, and the table in files.
#[test]
fn a_chart_and_its_table_have_the_same_numbers() {
    for report in [
        search(3),
        search_for_files(),
        search_for_cpu_time(),
        run("a", 1, "plain"),
    ] {
        let data = page_data(&render(std::slice::from_ref(&report)));
        for finding in report
            .findings
            .iter()
            .filter(|finding| finding.unit() != "ms")
        {
            let case = data["cases"].as_array().unwrap().iter().find(|case| {
                case["goal"].is_number() && case["case"].as_str() == finding.case.as_deref()
            });
            let shown = &case.unwrap_or_else(|| panic!("no row for {finding:?}"))["shown"];
            assert_eq!(
                (&shown[0], &shown[1]),
                (&finding.value().into(), &finding.interval().into())
            );
        }
    }
}
