//! From `--suite`, `--case` and the values that replace a suite's own, to cases.

use std::collections::HashSet;

use anyhow::Result;
use clap::Args;
use writebench_model::{
    Assignment, Axis, Bytes, Case, CaseOrigin, CaseRecord, Checksums, Data, GOALS, Goal, Layout, Method,
    Origin, Overrides, SelectedCase, Space, Suite, TargetRecord, combinations, did_you_mean, suite_named,
};
use writebench_stats::distinct;

use crate::arguments::suite_names;
use crate::exit::usage;
use crate::file_copy::FileCopy;

/// Which cases are run.
#[derive(Args, Clone, Default)]
pub(crate) struct SelectionArguments {
    /// Suites to run (`writebench list suites`)
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = suite_names())]
    pub suite: Vec<String>,
    /// A case to run, by its name: METHOD[,AXIS=VALUE...]; may be repeated
    #[arg(long, value_name = "CASE")]
    pub case: Vec<String>,
    /// Size instead of the suites' own; several separated by commas
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    pub size: Vec<Bytes>,
    /// Size of a record, which one call hands over, instead of the suites' own (axis `chunk`)
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    pub record: Vec<Bytes>,
    /// Values instead of the suites' own on any axis: AXIS=VALUE[,VALUE...]; may be repeated
    #[arg(long, value_name = "AXIS=VALUES", value_parser = assignment)]
    pub set: Vec<(Axis, Vec<String>)>,
    /// Goals to answer where no suite or case is named; none for all.
    #[arg(skip)]
    pub goals: Vec<Goal>,
    /// Whether to answer durable goals with and without the checksums of the filesystem.
    #[arg(skip)]
    pub with_and_without_checksums: bool,
    /// Data to write
    #[arg(long, value_name = "random|compressible:PERCENT|zero")]
    pub data: Option<Data>,
}

/// The assumed block size of a filesystem that is not there yet, or not named: suites may count in blocks.
pub(crate) const USUAL_BLOCK_BYTES: u64 = 4096;

/// The suite that a given file to copy asks for.
const COPY: &str = "copy";

pub(crate) struct Selection {
    pub rows: Vec<SelectedCase>,
    /// Notes on omitted cases, with the reason.
    pub notes: Vec<String>,
    /// Undisturbed samples of each case, unless the user said otherwise.
    pub samples: u32,
}

/// The samples of a case, unless its suite wants more or the user says otherwise.
pub(crate) const SAMPLES: u32 = writebench_stats::FEWEST_FOR_INTERVAL;

impl SelectionArguments {
    /// Whether a named suite has copies only.
    pub(crate) fn copies_only(&self) -> bool {
        self.suite.iter().any(|name| suite_named(name).is_ok_and(|suite| copies_only(&suite)))
    }

    /// The size of all files, if it is one that nobody has named: a budget may choose a smaller one.
    pub(crate) fn adaptive_size(&self, rows: &[SelectedCase]) -> Option<u64> {
        let is_named = !self.size.is_empty() || self.set.iter().any(|(axis, _)| *axis == Axis::Size);
        let size = rows.iter().map(|row| row.case.axes().size_bytes).max()?;
        let is_one = self.is_empty() || rows.iter().all(|row| row.case.axes().size_bytes == size);
        (is_one && !is_named && self.case.is_empty()).then_some(size)
    }

    /// The same without the durable goals, if the targets keep nothing over a loss of power.
    pub(crate) fn for_targets(&self, targets: &[TargetRecord]) -> Self {
        let keeps_data = targets.iter().any(TargetRecord::keeps_data);
        let mut selection = self.clone();
        selection.with_and_without_checksums = targets.iter().all(TargetRecord::has_checksums);
        if selection.goals.is_empty() {
            selection.goals = Goal::USUAL.to_vec();
        }
        selection.goals.retain(|goal| keeps_data || !goal.is_durable());
        selection
    }

    /// Whether no suite or case is named, so that the run answers goals.
    pub(crate) fn is_empty(&self) -> bool {
        self.suite.is_empty() && self.case.is_empty()
    }
}

/// The rows of the run's tables.
///
/// `cold` evicts what is copied, `copied` is the given file to copy, `block_size_bytes` the size of the target's blocks,
/// `ranks` the numbers of ranks for cases that name none.
pub(crate) fn rows(
    selection: &SelectionArguments,
    cold: bool,
    copied: Option<&FileCopy>,
    block_size_bytes: u64,
    ranks: &[u32],
) -> Result<Selection> {
    let mut overrides = overrides(selection, cold)?;
    if !ranks.is_empty() && overrides.iter().all(|(axis, _)| *axis != Axis::Ranks) {
        overrides.push((Axis::Ranks, ranks.iter().map(ToString::to_string).collect()));
    }
    let of_copies = with_length(&overrides, copied)?;
    let (mut rows, mut notes, mut samples) = (Vec::new(), Vec::new(), SAMPLES);
    if selection.is_empty() && copied.is_none() {
        rows = goal_rows(selection, &overrides)?;
    }
    let default = (selection.is_empty() && copied.is_some()).then_some(COPY);
    let suites = selection.suite.iter().map(String::as_str).chain(default);
    for name in suites {
        let suite = suite_named(name)?;
        let overrides = if copies_only(&suite) { &of_copies } else { &overrides };
        let of_suite = suite.rows(overrides, block_size_bytes)?;
        let grows = suite.size_is_per_rank && overrides.iter().all(|(axis, _)| *axis != Axis::Size);
        for row in of_suite.rows {
            rows.push(if grows { with_size_per_rank(row)? } else { row });
        }
        samples = samples.max(suite.samples.unwrap_or(SAMPLES));
        notes.extend(of_suite.left_out.iter().map(|(label, error)| format!("Left out '{label}': {error}")));
    }
    for name in &selection.case {
        let overrides =
            if copies(name.split(',').next().unwrap_or_default()) { &of_copies } else { &overrides };
        for case in named_cases(name, overrides)? {
            let row = SelectedCase { origin: CaseOrigin::Named, label: None, case };
            // A case that is named again is the same.
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    check_records(&selection.record, rows.iter().map(|row| &row.case))?;
    let mut asked = overrides.iter().filter(|(axis, _)| *axis != Axis::Ranks || ranks.is_empty());
    if let Some((axis, _)) = asked.find(|(axis, _)| rows.iter().all(|row| !row.case.method().has_axis(*axis))) {
        return Err(usage!("no selected case has the axis '{axis}'"));
    }
    if copied.is_some() && !rows.iter().any(|row| row.case.method().copies()) {
        return Err(usage!("no selected case copies a file: add --suite copy, or leave --from out"));
    }
    Ok(Selection { rows, notes, samples })
}

/// Records need much smaller files than streams: this part of the size.
const RECORDS_PART: u64 = 64;

/// For each goal a table with its baseline and its portfolio.
fn goal_rows(selection: &SelectionArguments, overrides: &Overrides) -> Result<Vec<SelectedCase>> {
    let goals = if selection.goals.is_empty() { Goal::USUAL } else { &selection.goals };
    let mut rows = Vec::new();
    for &goal in goals {
        // The other goals choose among chunks.
        let is_of_goal = |axis: Axis| axis != Axis::Chunk || goal == Goal::Records;
        let mut values: Vec<_> = overrides.iter().filter(|(axis, _)| is_of_goal(*axis)).cloned().collect();
        let is_fixed = values.iter().any(|(axis, _)| *axis == Axis::Checksums);
        if selection.with_and_without_checksums && goal.is_durable() && !is_fixed {
            values.push((Axis::Checksums, Checksums::ALL.iter().map(ToString::to_string).collect()));
        }
        for values in combinations(only(&values, |_| true)) {
            let fixed = values.into_iter().map(|(axis, value)| (axis, vec![value.to_owned()]));
            rows.extend(rows_of_goal(goal, fixed.collect())?);
        }
    }
    Ok(rows)
}

/// The values for some axes.
fn only(overrides: &Overrides, is_meant: impl Fn(Axis) -> bool) -> impl Iterator<Item = (Axis, &[String])> {
    let meant = overrides.iter().filter(move |(axis, _)| is_meant(*axis));
    meant.map(|(axis, values)| (*axis, values.as_slice()))
}

/// The baseline of a goal, then its portfolio.
fn rows_of_goal(goal: Goal, mut fixed: Vec<(Axis, Vec<String>)>) -> Result<Vec<SelectedCase>> {
    let value = |fixed: &Overrides, wanted: Axis| {
        fixed.iter().find(|(axis, _)| *axis == wanted).map(|(_, values)| values[0].clone())
    };
    let bytes = |text: String| text.parse::<Bytes>().map(|bytes| bytes.0).map_err(|error| usage!("{error}"));
    if goal == Goal::Records
        && let Some(size) = value(&fixed, Axis::Size)
    {
        let record = value(&fixed, Axis::Chunk).map_or(Ok(USUAL_BLOCK_BYTES), bytes)?.max(1);
        let size = (bytes(size)? / RECORDS_PART / record * record).max(record);
        fixed.retain(|(axis, _)| *axis != Axis::Size);
        fixed.push((Axis::Size, vec![Bytes(size).to_string()]));
    }
    let space = Space::for_goal(goal, &fixed)?;
    // Not every goal's baseline can have several ranks.
    let ranks = value(&fixed, Axis::Ranks).unwrap_or_else(|| "1".to_owned());
    if space.baseline.axes().get(Axis::Ranks) != ranks {
        return Ok(Vec::new());
    }
    let words = space.baseline.contract().checksums.words();
    let section = words.map_or(space.title.clone(), |words| format!("{}, {words}", space.title));
    let origin = CaseOrigin::Suite { name: GOALS.to_owned(), section, layout: Layout::Ranked };
    let cases = std::iter::once(space.baseline).chain(space.portfolio);
    Ok(cases.map(|case| SelectedCase { origin: origin.clone(), label: None, case }).collect())
}

/// Checks that the files of these cases have room for a record.
pub(crate) fn check_records<'c>(records: &[Bytes], cases: impl IntoIterator<Item = &'c Case>) -> Result<()> {
    let is_too_large = |case: &&Case| {
        let axes = case.axes();
        axes.chunk_size_bytes > axes.size_bytes
            && records.iter().any(|record| record.0 == axes.chunk_size_bytes)
    };
    let Some(case) = cases.into_iter().find(is_too_large) else { return Ok(()) };
    let (record, size) = (Bytes(case.axes().chunk_size_bytes), Bytes(case.axes().size_bytes));
    Err(usage!("--record {record}: a file of {size} has no room for one; give a larger --size"))
}

/// A row whose size is that of one rank, for all its ranks.
fn with_size_per_rank(row: SelectedCase) -> Result<SelectedCase> {
    let axes = row.case.axes();
    let size = Bytes(axes.size_bytes.saturating_mul(u64::from(axes.ranks))).to_string();
    Ok(SelectedCase { case: row.case.with(Axis::Size, &size)?, ..row })
}

/// The case of that name. Values for axes that the name leaves out come from the overrides.
fn named_cases(name: &str, overrides: &Overrides) -> Result<Vec<Case>> {
    let method = Case::parse(name.split(',').next().unwrap_or_default()).map(|case| case.method());
    let is_left_out = |axis: Axis| {
        let is_named = name.split(',').any(|part| part.split('=').next() == Some(axis.name()));
        !is_named && method.as_ref().is_ok_and(|method| method.has_axis(axis))
    };
    let with = |values: &Vec<Assignment<'_>>| {
        let values = values.iter().map(|(axis, value)| format!(",{axis}={value}"));
        format!("{name}{}", values.collect::<String>())
    };
    combinations(only(overrides, is_left_out))
        .iter()
        .map(with)
        .map(|name| match Case::parse(&name) {
            Ok(case) if case.method().is_program() => {
                Err(usage!("--case {name}: give your program with --command 'PROGRAM {{file}}' instead"))
            }
            Ok(case) => Ok(case),
            Err(error) => Err(usage!("--case {name}: {error}")),
        })
        .collect()
}

fn overrides(selection: &SelectionArguments, cold: bool) -> Result<Vec<(Axis, Vec<String>)>> {
    let sizes = |sizes: &[Bytes]| sizes.iter().map(ToString::to_string).collect();
    let of_options = [
        (Axis::Size, sizes(&selection.size)),
        (Axis::Chunk, sizes(&selection.record)),
        (Axis::Origin, cold.then(|| Origin::Cold.to_string()).into_iter().collect()),
        (Axis::Data, selection.data.iter().map(ToString::to_string).collect()),
    ];
    let mut overrides = selection.set.clone();
    overrides.extend(of_options.into_iter().filter(|(_, values): &(_, Vec<String>)| !values.is_empty()));
    let mut axes = HashSet::new();
    match overrides.iter().find(|(axis, _)| !axes.insert(*axis)) {
        Some((axis, _)) => Err(usage!("values for '{axis}' are given twice; separate them with commas")),
        None => Ok(overrides),
    }
}

/// The values for cases that copy: all of the given file, unless another size was asked for.
fn with_length(overrides: &Overrides, copied: Option<&FileCopy>) -> Result<Vec<(Axis, Vec<String>)>> {
    let mut overrides = overrides.to_vec();
    let Some(copied) = copied else { return Ok(overrides) };
    match overrides.iter().find(|(axis, _)| *axis == Axis::Size) {
        Some((_, sizes)) => {
            sizes.iter().flat_map(|size| size.parse()).try_for_each(|size| copied.check_size(size))?;
        }
        None => overrides.push((Axis::Size, vec![Bytes(copied.source.size_bytes).to_string()])),
    }
    Ok(overrides)
}

fn copies(method: &str) -> bool {
    Method::from_name(method).is_some_and(Method::copies)
}

fn copies_only(suite: &Suite) -> bool {
    suite.sections.iter().flat_map(|section| &section.prefixes).all(|prefix| copies(&prefix.method))
}

/// Rows as the database holds them, without samples: each once for every target.
pub(crate) fn records(rows: &[SelectedCase], targets: &[TargetRecord]) -> Vec<CaseRecord> {
    let on_all = |row| targets.iter().map(move |target| record(row, &target.name));
    rows.iter().flat_map(on_all).collect()
}

/// A row as the database holds it, on one target, without samples.
pub(crate) fn record(row: &SelectedCase, target: &str) -> CaseRecord {
    CaseRecord {
        target: target.to_owned(),
        origin: row.origin.clone(),
        label: row.label.clone(),
        case: row.case.clone().into(),
        contract: row.case.contract(),
        samples: Vec::new(),
    }
}

/// The different cases of a run, each once, for which there are enough ranks. A case that stands in two tables is
/// measured once.
pub(crate) fn different_cases(records: &[CaseRecord], ranks: u32) -> Result<Vec<Case>> {
    let known = |record: &CaseRecord| {
        let unknown = || usage!("this writebench does not know the case {}", record.case);
        record.case.known().cloned().ok_or_else(unknown)
    };
    let cases = distinct(records.iter().map(known).collect::<Result<Vec<Case>>>()?, Clone::clone);
    let Some(case) = cases.iter().find(|case| case.axes().ranks > ranks) else { return Ok(cases) };
    let (wanted, are) = (case.axes().ranks, if ranks == 1 { "is one" } else { "are fewer" });
    Err(usage!(
        "{case} has {wanted} ranks, and there {are}: start writebench by mpirun -n {wanted}, or srun -n {wanted}"
    ))
}

/// `AXIS=VALUE[,VALUE...]`.
pub(crate) fn assignment(text: &str) -> Result<(Axis, Vec<String>), String> {
    let (axis, values) = text.split_once('=').ok_or("expected AXIS=VALUE[,VALUE...]")?;
    let axis = Axis::from_name(axis).ok_or_else(|| {
        let names: Vec<&str> = Axis::ALL.iter().map(|axis| axis.name()).collect();
        let (meant, names) = (did_you_mean(axis, &names), names.join(", "));
        format!("unknown axis '{axis}': expected one of {names}{meant}")
    })?;
    let values: Vec<String> = values.split(',').map(str::to_owned).collect();
    for value in &values {
        // Contradictions show when cases are made; a value that the axis does not have shows here.
        writebench_model::Axes::defaults(writebench_model::Prepare::Create)
            .set(axis, value)
            .map_err(|error| error.to_string())?;
    }
    Ok((axis, values))
}
