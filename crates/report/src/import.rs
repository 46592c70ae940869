//! Reads JSON exports and JSON Lines.

mod lines;

use std::collections::HashSet;

use serde::{Deserialize, Deserializer};
use writebench_model::{CaseRecord, FoldedRun, MOST_ROWS, RunRecord, TargetRecord, at_most};

use self::lines::run_of_lines;
use crate::formats::head::Targets;
use crate::formats::json::{OLDEST_SCHEMA, SCHEMA};

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ImportError {
    /// The text is not JSON, or other JSON.
    #[error("is not a JSON export of writebench: {0}")]
    Foreign(String),
    #[error(
        "has schema {found}, this writebench reads schema {SCHEMA}: {}",
        if *found > u64::from(SCHEMA) { "use a newer writebench" } else { "export it again from its database" }
    )]
    OtherSchema { found: u64 },
    /// The schema is right, but a part is missing or invalid.
    #[error("is an invalid export of writebench: {0}")]
    Content(String),
}

/// A run that was read, and whether its export is whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Exported {
    pub run: RunRecord,
    /// False for the JSON Lines of a run that was killed or still measures.
    pub has_end: bool,
    /// The number of the last line if it is cut, and so is left out.
    pub cut_line: Option<usize>,
}

/// The beginning of a document, or of the first JSON line. Of any schema.
#[derive(Deserialize)]
struct Beginning {
    schema: Option<u64>,
    run: Option<RunBeginning>,
}

#[derive(Deserialize)]
struct RunBeginning {
    schema: Option<u64>,
}

#[derive(Deserialize)]
struct Document {
    run: RunRecord,
    #[serde(deserialize_with = "rows")]
    cases: Vec<CaseRecord>,
}

fn rows<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    at_most(from, MOST_ROWS, "cases")
}

/// Reads a JSON document or JSON Lines. Skips computed values: reports compute them again.
///
/// # Errors
/// The text is neither of this schema.
pub fn run_of_export(text: &str) -> Result<Exported, ImportError> {
    let foreign = |error: serde_json::Error| ImportError::Foreign(error.to_string());
    let mut values = serde_json::Deserializer::from_str(text);
    let beginning = Beginning::deserialize(&mut values).map_err(foreign)?;
    let of_lines = beginning.run.and_then(|run| run.schema);
    let found = beginning
        .schema
        .or(of_lines)
        .ok_or_else(|| ImportError::Foreign("missing field `schema`".to_owned()))?;
    if !(u64::from(OLDEST_SCHEMA)..=u64::from(SCHEMA)).contains(&found) {
        return Err(ImportError::OtherSchema { found });
    }
    let exported = if beginning.schema.is_some() {
        run_of_document(text, found)?
    } else {
        run_of_lines(text)?
    };
    exported
        .run
        .check_size()
        .map_err(|too_much| ImportError::Content(too_much.to_string()))?;
    Ok(exported)
}

fn run_of_document(text: &str, schema: u64) -> Result<Exported, ImportError> {
    let content = |error: serde_json::Error| ImportError::Content(error.to_string());
    let targets: Targets<'_> = serde_json::from_str(text).map_err(content)?;
    let Document { run, mut cases } = serde_json::from_str(text).map_err(content)?;
    if schema == u64::from(OLDEST_SCHEMA) {
        cases
            .iter_mut()
            .for_each(CaseRecord::say_where_its_data_was);
    }
    let names = check_targets(&targets.targets)?;
    if let Some(case) = cases
        .iter()
        .find(|case| !names.contains(case.target.as_str()))
    {
        let what = format!(
            "case {} names the unlisted target '{}'",
            case.case, case.target
        );
        return Err(ImportError::Content(what));
    }
    for case in &mut cases {
        case.case.resolve();
    }
    let run = RunRecord {
        targets: targets.targets.into_owned(),
        missing: targets.missing_targets.into_owned(),
        cases,
        ..run
    };
    Ok(Exported {
        run: FoldedRun::new(run).finish(),
        has_end: true,
        cut_line: None,
    })
}

/// The names of the targets, of which there is at least one.
fn check_targets(targets: &[TargetRecord]) -> Result<HashSet<&str>, ImportError> {
    let mut names = HashSet::new();
    if let Some(twice) = targets.iter().find(|target| !names.insert(&*target.name)) {
        return Err(ImportError::Content(format!(
            "target '{}' appears twice",
            twice.name
        )));
    }
    if targets.is_empty() {
        return Err(ImportError::Content("no target".to_owned()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use crate::formats::json::render;
    use writebench_model::{
        Extent, Failure, Outcome, Phase, ReadBack, ReadFrom, Sample, Start, Timeline,
    };
    use writebench_testkit::{example_case, example_run};

    fn run() -> RunRecord {
        let mut good = Sample::without_figures(0, Outcome::Ok);
        good.phases_ns.write = 17;
        good.bytes = 1 << 30;
        good.system_state.dirty_bytes = Some(4096);
        good.read_back = Some(ReadBack {
            extent: Extent::Part,
            bytes: 1 << 26,
            from: Some(ReadFrom::Device),
        });
        good.timeline = Some(
            Timeline {
                interval_ns: 5,
                bytes: vec![1, 2],
            }
            .into(),
        );
        let failure = Failure {
            phase: Phase::Prepare,
            call: "fallocate".to_owned(),
            path: Some("sample".to_owned()),
            offset: None,
            errno: Some(28),
            message: "No space left on device".to_owned(),
        };
        let late = Outcome::TimedOut {
            phase: Phase::Sync,
            limit_ns: 10_000_000_000,
        };
        let outcomes = [
            Outcome::Failed(failure.clone().into()),
            Outcome::Unsupported(failure.into()),
            late,
        ];
        let others = outcomes
            .into_iter()
            .map(|outcome| Sample::without_figures(1, outcome));
        let cases = vec![
            example_case("a section", "write", vec![good]),
            example_case("a section", "mmap", others.collect()),
        ];
        RunRecord {
            cases,
            label: Some("before".to_owned()),
            ..example_run()
        }
    }

    fn document() -> serde_json::Value {
        serde_json::from_str(&render(&Report::from_run(Some(3), run()))).unwrap()
    }

    #[test]
    fn an_export_reads_back_as_the_run_that_it_was_made_of() {
        let exported = Exported {
            run: run(),
            has_end: true,
            cut_line: None,
        };
        assert_eq!(run_of_export(&document().to_string()), Ok(exported));
    }

    #[test]
    fn cases_with_an_earlier_name_of_their_method_are_read_with_todays() {
        let sample = Sample::without_figures(0, Outcome::Ok);
        let today = RunRecord {
            cases: ["io_uring,depth=4", "io_uring-copy", "io_uring-files"]
                .map(|name| example_case("a section", name, vec![sample.clone()]))
                .into(),
            ..example_run()
        };
        let report = Report::from_run(Some(3), today.clone());
        for text in [render(&report), crate::formats::jsonl::render(&report)] {
            let earlier = text.replace("io_uring", "uring");
            assert_ne!(earlier, text);
            assert_eq!(run_of_export(&earlier).unwrap().run.cases, today.cases);
        }
    }

    #[test]
    fn names_of_schema_5_gain_the_memory_of_their_data() {
        for (id, memory, alignment, now) in [
            ("write", "plain", Some("page"), "write,memory=page-aligned"),
            (
                "mmap,alignment=off-by-one",
                "plain",
                Some("off-by-one"),
                "mmap",
            ),
            (
                "write,memory=huge-pages",
                "huge-pages",
                Some("page"),
                "write,memory=huge-pages",
            ),
            ("mpiio", "plain", None, "mpiio,memory=page-aligned"),
        ] {
            let mut old = document();
            old["schema"] = 5.into();
            old["targets"][0]["properties"] = serde_json::json!({"direct_io": []});
            let case = &mut old["cases"][0];
            let name = id.split(',').next().unwrap();
            *case = serde_json::to_value(example_case("a section", name, Vec::new())).unwrap();
            case.as_object_mut().unwrap().remove("name");
            case["id"] = id.into();
            case["axes"]["memory"] = memory.into();
            if let Some(alignment) = alignment {
                case["axes"]["alignment"] = alignment.into();
            }
            case["contract"].as_object_mut().unwrap().remove("memory");
            let run = run_of_export(&old.to_string()).unwrap().run;
            let read = &run.cases[0];
            assert_eq!(read.case.name(), now);
            assert_eq!(
                read.case.known().unwrap().given().memory,
                read.workload.memory,
                "{now}"
            );
        }
    }

    #[test]
    fn an_export_of_writebench_0_2_0_is_read_with_all_its_names() {
        let mut old: serde_json::Value =
            serde_json::from_str(include_str!("../../../fuzz/seeds/run.json")).unwrap();
        assert_eq!(old["schema"], 5);
        old["run"]["settings"]["copy_from"] = "/source".into();
        old["run"]["settings"]["copy_to"] = "/copy".into();
        old["missing"] = serde_json::json!([{"name": "jfs", "why": "no mkfs.jfs"}]);
        old["targets"][0]["making"] = serde_json::json!({
            "kind": "tmpfs", "images": [], "commands": [], "mkfs_options": [], "mount_options": null
        });
        let sample = &mut old["cases"][0]["samples"][0];
        sample["disturbed"] = "noise".into();
        sample["outcome"] = "timed-out".into();
        sample["cause"] = serde_json::json!({"phase": "sync", "limit_ns": 9});
        let run = run_of_export(&old.to_string()).unwrap().run;
        let (target, sample) = (&run.targets[0], &run.cases[0].samples[0]);
        let copied = [&run.settings.copy_from, &run.settings.copy_to].map(|path| path.as_deref());
        assert_eq!(copied, [Some("/source"), Some("/copy")]);
        assert_eq!(
            (run.missing[0].reason.as_str(), run.cases[0].case.method()),
            ("no mkfs.jfs", "write")
        );
        assert!(
            target.made_filesystem.is_some()
                && target.limits[0].description.starts_with("best copy")
        );
        assert_eq!(run.cases[0].workload.start, Start::New);
        assert_eq!(sample.system_state.dirty_bytes, Some(221_106_176));
        assert_eq!(sample.disturbed.as_deref(), Some("noise"));
        assert_eq!(
            sample.outcome,
            Outcome::TimedOut {
                phase: Phase::Sync,
                limit_ns: 9
            }
        );
    }

    #[test]
    fn lines_of_the_same_run_have_the_same_samples() {
        let read = |text| run_of_export(text).unwrap().run;
        let document = read(include_str!("../../../fuzz/seeds/run.json"));
        let lines = read(include_str!("../../../fuzz/seeds/run.jsonl"));
        assert_eq!(lines.cases, document.cases);
        assert_eq!(lines.targets, document.targets);
    }

    #[test]
    fn a_foreign_text_is_refused_in_one_line() {
        let [mut newer, mut older] = [document(), document()];
        newer["schema"] = (SCHEMA + 1).into();
        older["schema"] = 4.into();
        let mut broken = document();
        broken["targets"][0]["environment"]
            .as_object_mut()
            .unwrap()
            .remove("system");
        let mut lost = document();
        lost["cases"][0]["target"] = "/nowhere".into();
        let mut unknown = document();
        unknown["cases"][0]["samples"][0]["outcome"] = "wonderful".into();
        let mut endless = document();
        endless["cases"][0]["samples"][0]["phases_ns"]["open"] = u64::MAX.into();
        for (text, told) in [
            (endless.to_string(), "more than a number holds"),
            (String::new(), "not a JSON export of writebench"),
            ("{\"cases\": []}".to_owned(), "missing field `schema`"),
            (
                newer.to_string(),
                "has schema 8, this writebench reads schema 7: use a newer writebench",
            ),
            (
                older.to_string(),
                "has schema 4, this writebench reads schema 7: export it again",
            ),
            (
                lost.to_string(),
                "case write names the unlisted target '/nowhere'",
            ),
            (broken.to_string(), "missing field `system`"),
            (unknown.to_string(), "unknown variant `wonderful`"),
        ] {
            let error = run_of_export(&text).unwrap_err().to_string();
            assert!(
                error.contains(told) && error.lines().count() == 1,
                "{error}"
            );
        }
    }
}
