//! `writebench advise`: purpose → candidates → race → advice.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueHint};
use writebench_model::protocol::direct_check_bytes_of;
use writebench_model::{
    Axis, Bytes, Cache, Case, CaseOrigin, CaseRecord, Purpose, RecordedCase, Reserve, Row, Settings, Space,
    Stage, TargetRecord, Verify, nanoseconds,
};
use writebench_report::counted;
use writebench_runner::{Hardware, Race, RaceLimits};

use crate::arguments::{names, positive_duration};
use crate::exit::{Exit, usage};
use crate::export::ExportArguments;
use crate::global::Global;
use crate::output_file::Kept;
use crate::selection::SAMPLES;
use crate::session::{Place, Session, Workspaces, new_run, seed};
use crate::signals::stop_on_signals;
use crate::{database, selection};

/// Search all ways to write for a purpose, and recommend one
#[derive(Args)]
#[command(after_help = ADVISE_EXAMPLES)]
pub(crate) struct AdviseCommand {
    /// Directory to write to; of its files only those that writebench makes are ever written or removed
    /// [default: the current directory]
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: Option<PathBuf>,
    /// What is to be written: stream (a new file, which may still be in the page cache), durable-stream (a new file that is
    /// durable at the end), durable-records (records, each durable before the next), copy (of a file in the page cache)
    #[arg(long = "for", value_name = "PURPOSE", hide_possible_values = true,
        value_parser = names(Purpose::ALL, Purpose::name, Purpose::from_name))]
    purpose: Purpose,
    /// Size of the file [default: 256MiB; 4MiB for durable-records]
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,
    /// Size of a record, for durable-records [default: 4KiB]
    #[arg(long, value_name = "SIZE")]
    record: Option<Bytes>,
    /// Time for the search
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = positive_duration)]
    budget: Duration,
    /// Most bytes to write, since disks wear [default: 32 times the size]
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<Bytes>,
    /// What stays free of the target: a share of its bytes and inodes, or a size
    #[arg(long, value_name = "SHARE|SIZE", default_value_t)]
    reserve: Reserve,
    /// Seed of the order and the data [default: random, and shown]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Show the candidates and how many bytes would be written at most, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    exports: ExportArguments,
}

const ADVISE_EXAMPLES: &str = "Examples:
  writebench advise /data --for stream --size 1GiB               how to write a file of 1 GiB
  writebench advise /data --for durable-records --record 512     how to append to a log
  writebench advise /data --for durable-stream --budget 20s      a quicker look, less sure";

/// Most bytes that a search writes, in sizes of the file.
const MOST_SIZES: u64 = 32;
/// Looks write these parts of the file.
const LOOKS_SHARES: [u64; 2] = [64, 8];
/// Least bytes of a look: less says more about opening files than about writing.
const LEAST_LOOK_BYTES: u64 = 4 << 20;
/// Least records of a look.
const LEAST_LOOK_RECORDS: u64 = 64;

impl AdviseCommand {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit> {
        let output = &global.output;
        let exports = self.exports.find(Kept::database(global.db.as_deref()))?;
        let place = Place::find(self.target.as_deref().unwrap_or(Path::new(".")), None, None)?;
        let target = place.record();
        let methods = writebench_engine::method_infos();
        let space =
            Space::of(self.purpose, &methods, self.size, self.record).map_err(|error| usage!("{error}"))?;
        if self.record.is_some() && self.purpose != Purpose::DurableRecords {
            return Err(usage!("--record goes with --for durable-records"));
        }
        if self.size.is_some_and(|size| size.0 == 0) {
            return Err(usage!("--size must not be 0: there is nothing to write"));
        }
        place.check(std::slice::from_ref(&space.naive), None, self.reserve, &[])?;
        let field = Field::of(&space, &target, self.max_bytes)?;
        if let Some(why) = field.left_out.first() {
            output.note(&format!("Left out {}: {why}", counted(field.left_out.len(), "candidate")));
        }
        let real_bytes = space.naive.bytes_written();
        // What its workers write to find out which way direct I/O goes.
        let direct_check_bytes = direct_check_bytes_of(&field.cases);
        let most_bytes = real_bytes.saturating_mul(MOST_SIZES).saturating_add(direct_check_bytes);
        let max_bytes = self.max_bytes.map_or(most_bytes, |bytes| bytes.0);
        if self.dry_run {
            output.results(&field.dry_run(max_bytes, self.budget))?;
            return Ok(Exit::Ok);
        }
        let settings = Settings {
            samples: SAMPLES,
            precision_ppm: None,
            budget_ns: Some(nanoseconds(self.budget)),
            max_bytes: Some(max_bytes),
            seed: seed(self.seed),
            verify: Verify::Sampled,
            timeout_ns: None,
            copy_from: None,
            copy_to: None,
        };
        let mut run = new_run(None, settings, &[], vec![target]);
        let places = vec![place.claim(false, self.reserve, output)?];
        let mut store = database::open(global.db.as_deref())?;
        let number = store.begin_run(&run)?;
        // The race keeps the time. A limit in the runner would cut loops over records, which then have no rank.
        run.settings.budget_ns = None;
        output.note(&format!(
            "{}: {} in {}, {}.",
            space.title,
            counted(field.candidates.len(), "candidate"),
            run.targets[0].path,
            field.levels(),
        ));
        // The race has no part in the bytes that the limits of the hardware and the check of direct I/O take.
        let limits_for = one_for_each_limit(&space);
        let hardware = Hardware::of(&limits_for, &run.settings, &[places[0].space])?;
        let max_bytes = max_bytes.saturating_sub(hardware.bytes()).saturating_sub(direct_check_bytes);
        let limits = RaceLimits { budget: self.budget, max_bytes, level_bytes: field.level_bytes };
        let stop = stop_on_signals()?;
        let workspaces = Workspaces { store: &store, run: number, places, limit: None, stop: &stop, output };
        let session = Session {
            schedule: Box::new(Race::new(field.candidates, field.naive, limits)),
            later: field.later,
            limits_for,
            ..Session::new(workspaces, run, field.cases, None)
        };
        session.measure(&exports)
    }
}

/// All candidates, with their cases at all sizes.
#[derive(Default)]
struct Field {
    cases: Vec<Case>,
    // The places of a candidate's cases, one for each level.
    candidates: Vec<Vec<usize>>,
    naive: usize,
    // From small to large, the real size last.
    level_bytes: Vec<u64>,
    later: HashMap<String, CaseRecord>,
    // Why candidates are not among them.
    left_out: Vec<String>,
}

impl Field {
    /// The cases that the machine has memory and the device has sectors for, and of direct I/O only if the limit has
    /// room for finding out which way it goes.
    fn of(space: &Space, target: &TargetRecord, max_bytes: Option<Bytes>) -> Result<Self> {
        let direct_check_bytes = direct_check_bytes_of(space.cases());
        let checks_direct = max_bytes.is_none_or(|most| direct_check_bytes <= most.0 / 2);
        let level_bytes = level_bytes(space);
        let looks = level_bytes[..level_bytes.len() - 1].to_vec();
        let mut field = Self { level_bytes, ..Self::default() };
        let environment = &target.environment;
        for case in space.cases() {
            let is_naive = *case == space.naive;
            let one = std::slice::from_ref(case);
            if case.axes().cache == Cache::Direct && !checks_direct {
                let check = Bytes(direct_check_bytes).approximate();
                field.left_out.push(format!(
                    "{case}: --max-bytes leaves no room for {check}, which show whether O_DIRECT goes past the page cache"
                ));
                continue;
            }
            let fits = writebench_runner::check_sectors(environment, one)
                .and_then(|()| writebench_runner::check_memory(environment, one, 0));
            if let (Err(error), false) = (fits, is_naive) {
                field.left_out.push(error.to_string());
                continue;
            }
            let real = field.add(case.clone(), Stage::Final, is_naive, target);
            // A case that only exists at the real size is looked at there.
            let at = |bytes: &u64| case.with(Axis::Size, &Bytes(*bytes).to_string()).ok();
            let mut levels: Vec<usize> = looks
                .iter()
                .map(|bytes| at(bytes).map_or(real, |look| field.add(look, Stage::Screening, is_naive, target)))
                .collect();
            levels.push(real);
            if is_naive {
                field.naive = field.candidates.len();
            }
            field.candidates.push(levels);
        }
        Ok(field)
    }

    /// `looks of 4 MiB and 32 MiB, then the best at 256 MiB`.
    fn levels(&self) -> String {
        let texts: Vec<String> = self.level_bytes.iter().map(|&bytes| Bytes(bytes).approximate()).collect();
        match texts.split_last() {
            Some((real, [])) => format!("all at {real}"),
            Some((real, looks)) => format!("looks of {}, then the best at {real}", looks.join(" and ")),
            None => String::new(),
        }
    }

    fn dry_run(&self, max_bytes: u64, budget: Duration) -> String {
        let real = self.candidates.iter().filter_map(|levels| levels.last());
        let cases: String = real.map(|&case| format!("{}\n", self.cases[case])).collect();
        format!(
            "{cases}{}, {}; at most {} in {budget:?}. Nothing was written.\n",
            counted(self.candidates.len(), "candidate"),
            self.levels(),
            Bytes(max_bytes).approximate(),
        )
    }

    /// The place of a case among all cases, with the row that it will have.
    fn add(&mut self, case: Case, stage: Stage, is_naive: bool, target: &TargetRecord) -> usize {
        // The size is the same for all: a name is easier to read without it.
        let name = RecordedCase::from(case.clone()).name_without(Axis::Size);
        let label = if is_naive { format!("naive way: {name}") } else { name };
        let origin = CaseOrigin::Search { stage, is_naive };
        let row = Row { origin, label: Some(label), case: case.clone() };
        self.later.insert(case.to_string(), selection::record(&row, &target.name));
        self.cases.push(case);
        self.cases.len() - 1
    }
}

/// Sizes of the files on each level: parts of the real size in whole records, and that itself.
fn level_bytes(space: &Space) -> Vec<u64> {
    let size_bytes = space.naive.axes().size_bytes;
    let record = space.naive.contract().durable_every_bytes;
    let (unit, least) = match record {
        Some(record) => (record.max(1), record.saturating_mul(LEAST_LOOK_RECORDS)),
        None => (1 << 20, LEAST_LOOK_BYTES),
    };
    let part = |share: &u64| (size_bytes / share).max(least).min(size_bytes / 2);
    let whole = |bytes: u64| if bytes >= unit { bytes / unit * unit } else { bytes };
    let looks = LOOKS_SHARES.iter().map(|share| whole(part(share)));
    let mut levels: Vec<u64> = looks.filter(|&bytes| bytes > 0).collect();
    levels.push(size_bytes);
    levels.dedup();
    levels
}

/// Cases that promise what the naive way does, one for each number of threads: limits depend on no more.
fn one_for_each_limit(space: &Space) -> Vec<Case> {
    let durability = space.naive.contract().durability;
    let mut threads = HashSet::new();
    let cases = space.cases().filter(|case| case.contract().durability == durability);
    cases.filter(|case| threads.insert(case.axes().threads)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(purpose: Purpose, size: &str, record: Option<&str>) -> Vec<u64> {
        let record = record.map(|record| record.parse().unwrap());
        let size = Some(size.parse().unwrap());
        level_bytes(&Space::of(purpose, &writebench_engine::method_infos(), size, record).unwrap())
    }

    #[test]
    fn looks_are_parts_of_the_file_and_not_too_small() {
        assert_eq!(levels(Purpose::Stream, "1GiB", None), [16 << 20, 128 << 20, 1 << 30]);
        assert_eq!(levels(Purpose::Stream, "64MiB", None), [4 << 20, 8 << 20, 64 << 20]);
        assert_eq!(levels(Purpose::Stream, "5MiB", None), [2 << 20, 5 << 20]);
        assert_eq!(levels(Purpose::Stream, "4KiB", None), [2048, 4096]);
        assert_eq!(levels(Purpose::Stream, "1", None), [1]);
    }

    #[test]
    fn looks_at_records_are_whole_records() {
        assert_eq!(levels(Purpose::DurableRecords, "4MiB", None), [256 << 10, 512 << 10, 4 << 20]);
        assert_eq!(levels(Purpose::DurableRecords, "100kB", Some("100")), [6400, 12500 / 100 * 100, 100_000]);
        assert_eq!(levels(Purpose::DurableRecords, "400", Some("100")), [200, 400]);
    }
}
