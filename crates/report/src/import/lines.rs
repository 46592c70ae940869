//! Reads JSON Lines, by the same fold as a run that is measured.

use std::collections::HashMap;

use writebench_model::{
    Decision, FoldedRun, MOST_ROWS, MOST_SAMPLES, RecordedCase, RunEvent, RunRecord, RunStatus,
    TargetRecord, todays_name,
};

use super::{Exported, ImportError, check_targets};
use crate::formats::jsonl::{Head, Line, SampleLine};

/// Parts of a line are kept twice while it is read, so that a long one would exhaust the memory.
const MOST_LINE_BYTES: usize = 8 << 20;

/// A stream without its end is that of an interrupted run. Only its last line may be cut.
pub(super) fn run_of_lines(text: &str) -> Result<Exported, ImportError> {
    let mut reader: Option<Reader> = None;
    let mut cut_line = None;
    for (index, text) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        if text.trim_ascii().is_empty() {
            continue;
        }
        if text.len() > MOST_LINE_BYTES {
            return Err(at_line(number, "it has more than 8 MiB"));
        }
        match (serde_json::from_str(text), &mut reader) {
            (Ok(Line::Run(head)), None) => reader = Some(Reader::new(*head)?),
            (Ok(line), Some(reader)) => {
                let read = reader.read(line);
                read.map_err(|what| at_line(number, &what))?;
            }
            (Ok(_), None) => return Err(at_line(number, "no line of the run before it")),
            (Err(error), Some(reader))
                if error.is_eof() && !text.ends_with('\n') && !reader.has_end =>
            {
                cut_line = Some(number);
            }
            (Err(error), _) => return Err(not_a_line(number, &error)),
        }
    }
    let reader = reader.ok_or_else(|| ImportError::Content("it has no line".to_owned()))?;
    Ok(reader.finish(cut_line))
}

fn at_line(number: usize, what: &str) -> ImportError {
    ImportError::Content(format!("line {number}: {what}"))
}

/// The parser's error with the number of the line, because each line is the first one to the parser.
fn not_a_line(number: usize, error: &serde_json::Error) -> ImportError {
    let column = error.column();
    let text = error.to_string();
    let place = format!(" at line {} column {column}", error.line());
    let what = text.strip_suffix(&place).unwrap_or(&text);
    ImportError::Content(format!("{what} at line {number} column {column}"))
}

struct Reader {
    run: FoldedRun,
    targets: HashMap<String, usize>,
    /// The cases of each target by their names.
    cases: Vec<HashMap<String, RecordedCase>>,
    decisions: Vec<Decision>,
    has_end: bool,
}

impl Reader {
    fn new(head: Head<'_>) -> Result<Self, ImportError> {
        let Head { run, targets, .. } = head;
        let run = RunRecord {
            targets: targets.targets.into_owned(),
            missing: targets.missing_targets.into_owned(),
            ..run.run.into_owned()
        };
        check_targets(&run.targets)?;
        let position = |(position, target): (usize, &TargetRecord)| (target.name.clone(), position);
        Ok(Self {
            targets: run.targets.iter().enumerate().map(position).collect(),
            cases: vec![HashMap::new(); run.targets.len()],
            run: FoldedRun::new(run),
            decisions: Vec::new(),
            has_end: false,
        })
    }

    fn read(&mut self, line: Line<'_>) -> Result<(), String> {
        let event = match line {
            Line::Run(_) => {
                return Err("it begins another run. A file has one run".to_owned());
            }
            Line::Row(row) => {
                let mut row = row.into_owned();
                let target = self.target(&row.target)?;
                check_count("cases", self.run.so_far().cases.len(), MOST_ROWS)?;
                row.case.resolve();
                self.cases[target].insert(row.case.name().to_owned(), row.case.clone());
                RunEvent::Row(row.into())
            }
            Line::Sample(line) => self.sample(line)?,
            Line::Limits { target, limits } => RunEvent::Limits {
                target: self.target(&target)?,
                limits: limits.into_owned(),
            },
            Line::Cluster(cluster) => RunEvent::Cluster(cluster.into_owned()),
            Line::Decision(decision) => {
                check_count("decisions", self.decisions.len(), MOST_ROWS)?;
                self.decisions.push(decision.into_owned());
                return Ok(());
            }
            Line::Totals {
                written_bytes,
                cpu_wait_ppm,
            } => RunEvent::Totals {
                written_bytes,
                cpu_wait_ppm,
            },
            Line::End { status } => {
                self.has_end = true;
                RunEvent::Status(status)
            }
        };
        self.run.apply(event);
        Ok(())
    }

    fn sample(&self, line: SampleLine<'_>) -> Result<RunEvent, String> {
        let target = self.target(&line.target)?;
        let case = self.cases[target].get(&*todays_name(&line.case));
        let taken = case.and_then(|case| Some((case, self.run.samples(target, case)?)));
        let (case, taken) = taken.ok_or_else(|| {
            format!(
                "case {} has no row on '{}'. Lines of writebench 0.3 and earlier lack rows: export the run again from \
                 its database",
                line.case, line.target
            )
        })?;
        check_count("samples of a case", taken.len(), MOST_SAMPLES)?;
        Ok(RunEvent::Sample {
            target,
            case: case.clone(),
            sample: line.sample.into_owned().into(),
        })
    }

    fn target(&self, name: &str) -> Result<usize, String> {
        let position = self.targets.get(name);
        position
            .copied()
            .ok_or_else(|| format!("it names the unlisted target '{name}'"))
    }

    fn finish(mut self, cut_line: Option<usize>) -> Exported {
        if !self.decisions.is_empty() {
            self.run.apply(RunEvent::Decisions(self.decisions));
        }
        if !self.has_end {
            self.run.apply(RunEvent::Status(RunStatus::Interrupted));
        }
        Exported {
            run: self.run.finish(),
            has_end: self.has_end,
            cut_line,
        }
    }
}

fn check_count(what: &str, before: usize, most: usize) -> Result<(), String> {
    if before < most {
        Ok(())
    } else {
        Err(format!("the run has more than {most} {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::jsonl;
    use crate::import::run_of_export;
    use crate::{Report, formats};
    use proptest::prelude::*;
    use writebench_model::{
        Cluster, ContestAnswer, Limit, LimitKind, MissingTarget, Node, Outcome, Sample, Timeline,
    };
    use writebench_testkit::{example_case, example_run, example_target};

    /// A run that has something of each event, with an order of samples across its targets.
    fn run() -> RunRecord {
        let sample = |order: u32, outcome| Sample {
            order: Some(order),
            ..Sample::without_figures(order / 3, outcome)
        };
        let mut on_other = example_case("new", "write", vec![sample(1, Outcome::Ok)]);
        on_other.target = "/ü".to_owned();
        let mut long = sample(0, Outcome::Ok);
        long.timeline = Some(
            Timeline {
                interval_ns: 5,
                bytes: vec![1, u64::MAX],
            }
            .into(),
        );
        let dead = Outcome::WorkerDied {
            phase: writebench_model::Phase::Sync,
            signal: Some(7),
            detail: String::new(),
        };
        let cases = vec![
            example_case("new", "write", vec![long.clone(), sample(3, dead.clone())]),
            on_other,
            example_case("new", "of a later version", vec![sample(2, Outcome::Ok)]),
            example_case("again", "write", vec![long, sample(3, dead)]),
        ];
        let workload = cases[0].workload.clone();
        let mut targets = vec![example_run().targets[0].clone(), example_target("/ü")];
        targets[1].limits = vec![Limit {
            kind: LimitKind::MemoryCopy,
            threads: 1,
            bytes_per_s: None,
            description: "no time".to_owned(),
        }];
        let decision = |target: &str, answer| Decision {
            target: target.to_owned(),
            workload: workload.clone(),
            answer,
            compared: 2,
            candidates: 9,
            counts_disturbed: false,
        };
        RunRecord {
            label: Some("before".to_owned()),
            written_bytes: Some(u64::MAX),
            cpu_wait_ppm: Some(7),
            cluster: Some(Cluster {
                nodes: vec![Node {
                    host: "a".to_owned(),
                    ranks: 2,
                }],
                mpi: "MPICH".to_owned(),
                job: None,
                interconnect: None,
                earlier_nodes: Vec::new(),
            }),
            decisions: vec![
                decision("/ü", None),
                decision(
                    &targets[0].name,
                    Some(ContestAnswer::new(
                        "write".to_owned(),
                        1.5,
                        vec!["pwrite".to_owned()],
                    )),
                ),
            ],
            missing: vec![MissingTarget {
                name: "jfs".to_owned(),
                reason: "no mkfs.jfs".to_owned(),
            }],
            targets,
            cases,
            ..example_run()
        }
    }

    fn lines() -> String {
        jsonl::render(&Report::from_run(Some(3), run()))
    }

    fn told(text: &str) -> String {
        run_of_export(text).unwrap_err().to_string()
    }

    #[test]
    fn lines_read_back_as_the_run_that_they_were_made_of() {
        let whole = Exported {
            run: run(),
            has_end: true,
            cut_line: None,
        };
        assert_eq!(run_of_export(&lines()), Ok(whole));
    }

    #[test]
    fn the_lines_during_a_run_are_those_of_the_recorded_run() {
        let run = run();
        let begun = run.beginning();
        let rows: Vec<_> = run.cases.iter().collect();
        let events: Vec<RunEvent> = run.events(&rows).collect();
        let mut folded = FoldedRun::new(begun.clone());
        let mut streamed = jsonl::begin(Some(3), &begun);
        for event in &events {
            streamed += &jsonl::lines(folded.so_far(), event);
            folded.apply(event.clone());
        }
        assert_eq!(streamed, lines());
        assert_eq!(folded.finish(), run);
    }

    #[test]
    fn a_resumed_run_begins_with_its_earlier_lines() {
        let mut resumed = run();
        resumed.status = RunStatus::Running;
        resumed.decisions.clear();
        let earlier = jsonl::begin(Some(3), &resumed);
        let whole = lines();
        assert!(whole.starts_with(&earlier));
        let rest = whole.strip_prefix(&earlier).unwrap();
        let keys: Vec<_> = rest
            .lines()
            .map(|line| line.split('"').nth(1).unwrap())
            .collect();
        assert_eq!(keys, ["decision", "decision", "totals", "end"]);
    }

    /// A killed run ends anywhere.
    #[test]
    fn a_beginning_is_read_as_an_interrupted_run() {
        let whole = lines();
        let first_line = whole.find('\n').unwrap();
        let is_at_line_feed =
            |cut: usize| whole[..cut].ends_with('\n') || whole[cut..].starts_with('\n');
        let cuts = (0..whole.len())
            .filter(|&cut| whole.is_char_boundary(cut))
            .filter(|&cut| cut % 7 == 0 || is_at_line_feed(cut));
        for cut in cuts {
            let beginning = &whole[..cut];
            if cut < first_line {
                assert!(run_of_export(beginning).is_err());
                continue;
            }
            let read = run_of_export(beginning).unwrap();
            // Only the last line feed may be missing.
            let has_end = cut + 1 == whole.len();
            assert_eq!(read.has_end, has_end);
            if !has_end {
                assert_eq!(read.run.status, RunStatus::Interrupted);
            }
            let complete_lines = beginning.lines().count() - usize::from(read.cut_line.is_some());
            let samples = beginning
                .lines()
                .take(complete_lines)
                .filter(|line| line.starts_with("{\"sample\""))
                .count();
            let rows = writebench_model::distinct_rows(&read.run.cases);
            assert_eq!(rows.map(|row| row.samples.len()).sum::<usize>(), samples);
        }
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        let whole = lines();
        let mut split: Vec<&str> = whole.lines().collect();
        let sample = split
            .iter()
            .position(|line| line.starts_with("{\"sample\""))
            .unwrap();
        let row = split[1];
        let broken = [&split[..sample], &["{\"sample\":{\"target\":1}}"]].concat();
        let cut = [&split[..sample], &["{\"sample\":", split[sample]]].concat();
        let twice = [&split[..], &split[..1]].concat();
        let rowless = [&split[..1], &split[sample..]].concat();
        let foreign = row.replace(&run().targets[0].name, "/nowhere");
        let lost = [&split[..1], &[foreign.as_str()]].concat();
        let number = sample + 1;
        for (lines, what) in [
            (
                broken,
                format!("expected a string at line {number} column 21"),
            ),
            (
                cut,
                format!("EOF while parsing a value at line {number} column"),
            ),
            (
                twice,
                format!("line {}: it begins another run", split.len() + 1),
            ),
            (rowless, "line 2: case write has no row".to_owned()),
            (
                lost,
                "line 2: it names the unlisted target '/nowhere'".to_owned(),
            ),
        ] {
            let told = told(&(lines.join("\n") + "\n"));
            assert!(told.contains(&what) && told.lines().count() == 1, "{told}");
        }
        split[sample] = "{\"new\":1}";
        let told = told(&split.join("\n"));
        let column = format!("at line {number} column 6");
        assert!(
            told.contains("unknown variant `new`") && told.ends_with(&column),
            "{told}"
        );
    }

    #[test]
    fn a_newer_schema_a_cut_after_the_end_and_a_long_line_are_refused() {
        let newer = lines().replacen("\"schema\":7", "\"schema\":8", 1);
        assert!(told(&newer).contains("has schema 8"));
        let after_end = lines() + "{\"sample\"";
        assert!(told(&after_end).contains("EOF while parsing"));
        let long = lines() + &" ".repeat(MOST_LINE_BYTES) + "{}";
        assert!(told(&long).contains("it has more than 8 MiB"));
    }

    proptest! {
        /// No text makes the reader panic, and what it reads can be shown.
        #[test]
        fn changed_lines_are_read_or_refused(
            at in any::<prop::sample::Index>(),
            removed in 0_usize..40,
            inserted in "[\\[\\]{}\":,0-9a-z\n-]{0,8}",
        ) {
            let whole = lines();
            let from = (0..=at.index(whole.len())).rev().find(|&at| whole.is_char_boundary(at)).unwrap();
            let to = (from + removed..=whole.len()).find(|&at| whole.is_char_boundary(at)).unwrap_or(whole.len());
            let text = [&whole[..from], &inserted, &whole[to..]].concat();
            match run_of_export(&text) {
                Ok(read) => {
                    let report = Report::from_run(None, read.run);
                    let _ = formats::terminal::report(&report, formats::terminal::Detail::All, Some(80));
                }
                Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
            }
        }
    }
}
