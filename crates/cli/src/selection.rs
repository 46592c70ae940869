//! Makes cases of `--suite`, `--case` and the values that replace theirs.

use std::collections::{HashMap, HashSet};

use anyhow::{Result, ensure};
use clap::Args;
use writebench_model::{
    Assignment, Axis, AxisValues, Bytes, Case, CaseOrigin, CaseRecord, Checksums, Choices,
    Constraint, Data, Goal, Layout, Method, Origin, Overrides, RecordedCase, RunRecord,
    SelectedCase, Selection, Space, Suite, TargetRecord, combinations, counted, suite_named,
    unknown,
};
use writebench_stats::{distinct, grouped};

use crate::arguments::{WHAT, goals_or_all, suite_names};
use crate::constraints::constrain;
use crate::exit::usage;
use crate::file_copy::FileCopy;
use crate::global::Global;
use crate::meant;
use crate::newest_answer::{Choice, newest_answer};
use crate::synonyms;

#[derive(Args, Clone, Default)]
pub(crate) struct SelectionArguments {
    /// Measure the cases of these suites, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = suite_names(), help_heading = WHAT)]
    pub suite: Vec<String>,
    /// Measure this case: METHOD[,AXIS=VALUE...], or the newest run's recommendation for a goal, such as stream. May be
    /// repeated
    #[arg(long, value_name = "CASE", help_heading = WHAT)]
    pub case: Vec<String>,
    /// Write files of these sizes instead of the suites', separated by commas
    #[arg(long, value_name = "SIZE", value_delimiter = ',', help_heading = WHAT)]
    pub size: Vec<Bytes>,
    /// Write records of these sizes, each in one call, separated by commas (axis `chunk`)
    #[arg(long, value_name = "SIZE", value_delimiter = ',', help_heading = WHAT)]
    pub record: Vec<Bytes>,
    /// Replace the suites' values on an axis: AXIS=VALUE[,VALUE...]. May be repeated
    #[arg(long, value_name = "AXIS=VALUES", value_parser = assignment, help_heading = WHAT)]
    pub set: Vec<SetValues>,
    /// Find the fastest method for these goals, separated by commas, or for `all`. `writebench list goals` has their names
    /// [default: stream, durable-stream, copy, records and durable-files]
    #[arg(long = "for", value_name = "GOAL", value_delimiter = ',', hide_possible_values = true,
        value_parser = goals_or_all(), conflicts_with_all = ["suite", "case"], help_heading = WHAT)]
    pub goals: Vec<&'static [Goal]>,
    /// The constraints on the methods of goals.
    #[arg(skip)]
    pub constraints: Vec<Constraint>,
    /// Durable goals are left out, because nothing is durable on any target. [`Self::for_targets`] sets this.
    #[arg(skip)]
    pub without_durable_goals: bool,
    /// Durable goals are measured with both, because every target has checksums. [`Self::for_targets`] sets this.
    #[arg(skip)]
    pub with_and_without_checksums: bool,
    /// Write this kind of data [default: random]
    #[arg(long, value_name = "random|compressible:PERCENT|zero", help_heading = WHAT)]
    pub data: Option<Data>,
}

/// Assumed for filesystems before they exist. Suites may count in blocks.
pub(crate) const USUAL_BLOCK_BYTES: u64 = 4096;

/// The default suite with `--from`.
const COPY: &str = "copy";

/// The default number of samples per case, which a suite may raise.
pub(crate) const SAMPLES: u32 = writebench_stats::FEWEST_FOR_INTERVAL;

impl SelectionArguments {
    /// Whether a named suite consists of copies.
    pub(crate) fn copies_only(&self) -> bool {
        self.suite
            .iter()
            .any(|name| suite_named(name).is_ok_and(copies_only))
    }

    /// The size of all files, if no option sets it. A budget may then choose a smaller one.
    pub(crate) fn adaptive_size(&self, rows: &[SelectedCase]) -> Option<u64> {
        let is_named = !self.size.is_empty() || self.set.iter().any(|set| set.axis == Axis::Size);
        let size = rows.iter().map(|row| row.case.given().size_bytes).max()?;
        let is_one = self.is_empty() || rows.iter().all(|row| row.case.given().size_bytes == size);
        (is_one && !is_named && self.case.is_empty()).then_some(size)
    }

    /// With a case in place of each goal's name: the recommendation of the newest run. Sizes that are given replace its
    /// own. Words of other programs are replaced by ours, which a note says.
    ///
    /// # Errors
    /// The newest run has no answer for a goal, or several. A word has no equal.
    pub(crate) fn with_answers(&self, copies_file: bool, global: &Global) -> Result<Self> {
        let is_given = [
            (Axis::Size, copies_file || !self.size.is_empty()),
            (Axis::Chunk, !self.record.is_empty()),
        ];
        let given: Vec<Axis> = is_given
            .into_iter()
            .filter_map(|(axis, is_given)| is_given.then_some(axis))
            .collect();
        let named = |name: &String| {
            // `write` is a method, and an everyday word for a goal.
            let is_case = Method::from_name(name).is_some();
            let Some(goal) = Goal::from_word(name).filter(|_| !is_case) else {
                let understood =
                    synonyms::case(name).map_err(|why| usage!("--case {name}: {why}"))?;
                understood
                    .note
                    .iter()
                    .for_each(|note| global.output.note(note));
                return Ok(understood.name);
            };
            let answer = newest_answer(Some(goal), as_option, global)?;
            let case = Case::parse(&answer.case)?;
            Ok(RecordedCase::from(case).name_without(&given))
        };
        let case = self.case.iter().map(named).collect::<Result<_>>()?;
        note_synonyms(&self.set, global);
        Ok(Self {
            case,
            ..self.clone()
        })
    }

    /// Leaves out what no target can have.
    pub(crate) fn for_targets(&self, targets: &[TargetRecord]) -> Self {
        let keeps_data = targets.iter().any(|target| target.loses_data().is_none());
        let mut selection = self.clone();
        selection.with_and_without_checksums = targets.iter().all(TargetRecord::has_checksums);
        selection.without_durable_goals = !keeps_data;
        selection
    }

    /// Whether the run answers goals, because no suite or case is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.suite.is_empty() && self.case.is_empty()
    }

    /// The goals to answer.
    fn goals(&self) -> Result<Vec<Goal>> {
        let asked = if self.goals.is_empty() {
            Goal::USUAL.to_vec()
        } else {
            distinct(self.goals.concat(), |goal| *goal)
        };
        ensure!(
            !asked.contains(&Goal::LargerThanMemory),
            usage!(
                "larger-than-memory takes minutes. Use writebench advise --for larger-than-memory"
            )
        );
        let able = |goal: &Goal| !(self.without_durable_goals && goal.is_durable());
        let goals: Vec<Goal> = asked.iter().copied().filter(able).collect();
        if let Some(goal) = asked.first().filter(|_| goals.is_empty()) {
            return Err(usage!(
                "--for {goal}: no target makes data durable. `writebench probe` says why"
            ));
        }
        Ok(goals)
    }
}

fn as_option(choice: Choice<'_>) -> String {
    match choice {
        Choice::Goal(goal) => format!("run --case {goal}"),
        Choice::Case(case) => format!("run --case {case}"),
    }
}

/// A multiple of the largest block is a multiple of all block sizes, which are powers of two.
pub(crate) fn largest_block(targets: &[TargetRecord]) -> u64 {
    targets
        .iter()
        .map(|target| target.environment.filesystem.block_size_bytes)
        .max()
        .unwrap_or(1)
}

/// The rows of the run's tables that these targets can keep their promises of.
pub(crate) fn rows_for_targets(
    selection: &SelectionArguments,
    cold: bool,
    copied: Option<&FileCopy>,
    targets: &[TargetRecord],
    ranks: &[u32],
) -> Result<Selection> {
    let block_size_bytes = largest_block(targets);
    let mut selected = rows(selection, cold, copied, block_size_bytes, ranks)?;
    leave_out_undurable(&mut selected, targets);
    Ok(selected)
}

/// The rows of the run's tables. `cold` evicts the source of a copy. `ranks` are for cases that name no number of ranks.
pub(crate) fn rows(
    selection: &SelectionArguments,
    cold: bool,
    copied: Option<&FileCopy>,
    block_size_bytes: u64,
    ranks: &[u32],
) -> Result<Selection> {
    let mut overrides = overrides(selection, cold)?;
    let has_ranks = overrides.iter().any(|(axis, _)| *axis == Axis::Ranks);
    if !ranks.is_empty() && !has_ranks {
        overrides.push((Axis::Ranks, ranks.iter().map(ToString::to_string).collect()));
    }
    let of_copies = with_length(&overrides, copied)?;
    let mut selected = Selection::default();
    if selection.is_empty() && copied.is_none() {
        selected = goal_rows(selection, &overrides)?;
    }
    let default = (selection.is_empty() && copied.is_some()).then_some(COPY);
    for name in selection.suite.iter().map(String::as_str).chain(default) {
        let suite = suite_named(name)?;
        let overrides = if copies_only(suite) {
            &of_copies
        } else {
            &overrides
        };
        add_suite(&mut selected, suite, overrides, block_size_bytes)?;
    }
    for name in &selection.case {
        let is_copy = copies(name.split(',').next().unwrap_or_default());
        let overrides = if is_copy { &of_copies } else { &overrides };
        add_cases(&mut selected.rows, named_cases(name, overrides)?);
    }
    selected.notes.extend(same_calls(&selected.rows));
    let cases = selected.rows.iter().map(|row| &row.case);
    check_records(&selection.record, cases)?;
    check_axes(&selected.rows, &overrides, ranks)?;
    let any_copies = selected.rows.iter().any(|row| row.case.method().copies());
    ensure!(
        copied.is_none() || any_copies,
        usage!("no selected case copies a file. Add --suite copy, or leave out --from")
    );
    Ok(selected)
}

fn add_suite(
    selected: &mut Selection,
    suite: &Suite,
    overrides: &Overrides,
    block_size_bytes: u64,
) -> Result<()> {
    let of_suite = suite.rows(overrides, block_size_bytes)?;
    let has_size = overrides.iter().any(|(axis, _)| *axis == Axis::Size);
    for row in of_suite.rows {
        selected.rows.push(if suite.size_is_per_rank && !has_size {
            with_size_per_rank(row)?
        } else {
            row
        });
    }
    selected.samples = selected.samples.max(of_suite.samples);
    selected.notes.extend(of_suite.notes);
    Ok(())
}

/// Adds a row for each case that has none by its name.
fn add_cases(rows: &mut Vec<SelectedCase>, cases: Vec<Case>) {
    for case in cases {
        let row = SelectedCase {
            origin: CaseOrigin::named(),
            label: None,
            case,
        };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
}

/// # Errors
/// An option sets an axis that no selected case has.
fn check_axes(rows: &[SelectedCase], overrides: &Overrides, ranks: &[u32]) -> Result<()> {
    let is_unused = |axis: Axis| rows.iter().all(|row| !row.case.method().has_axis(axis));
    // The launcher, not the user, sets the number of ranks.
    let mut asked = overrides
        .iter()
        .map(|(axis, _)| *axis)
        .filter(|axis| *axis != Axis::Ranks || ranks.is_empty());
    match asked.find(|axis| is_unused(*axis)) {
        None => Ok(()),
        Some(axis) => Err(usage!(
            "no selected case has the axis '{axis}'. `writebench list methods` shows the axes of each method"
        )),
    }
}

/// Cases that are asked for by name are measured by that name, also if another one makes the same calls.
fn same_calls(rows: &[SelectedCase]) -> Vec<String> {
    let mut notes = Vec::new();
    // The canonical form is expensive, and there may be ten thousand cases of different sizes.
    for (_, alike) in grouped(rows, |row| (row.case.method(), row.case.workload())) {
        if alike.len() < 2 {
            continue;
        }
        let mut known: HashMap<Case, &Case> = HashMap::new();
        for SelectedCase { case, origin, .. } in alike {
            let other = known.entry(case.canonical()).or_insert(case);
            if *other != case && *origin == CaseOrigin::named() {
                notes.push(format!(
                    "{case} makes the same calls as {other}. A difference between them is noise."
                ));
            }
        }
    }
    notes
}

/// Leaves out cases of goals that are durable on none of the targets, unless they are a goal's reference or nothing is
/// durable there. A note has each reason.
pub(crate) fn leave_out_undurable(selected: &mut Selection, targets: &[TargetRecord]) {
    let able: Vec<&TargetRecord> = targets
        .iter()
        .filter(|target| target.loses_data().is_none())
        .collect();
    let mut sections = HashSet::new();
    let mut reasons: Vec<String> = Vec::new();
    selected.rows.retain(|row| {
        let is_first = sections.insert(row.origin.section().to_owned());
        let whys: Vec<String> = able
            .iter()
            .filter_map(|target| target.why_not_durable(&row.case))
            .collect();
        let is_kept =
            !row.origin.is_of_goal() || is_first || whys.is_empty() || whys.len() < able.len();
        reasons.extend(whys.into_iter().next().filter(|_| !is_kept));
        is_kept
    });
    for (why, left_out) in grouped(reasons, Clone::clone) {
        let cases = counted(left_out.len() as u64, "durable case");
        selected.notes.push(format!("Left out {cases}: {why}."));
    }
}

/// The size of the large files. Other goals have a fixed share of it, because a small record or file takes longer.
const USUAL_BYTES: u64 = 64 << 20;
/// More files have the same rate, and only take longer.
const MOST_FILES: u64 = 1 << 16;

fn goal_rows(selection: &SelectionArguments, overrides: &Overrides) -> Result<Selection> {
    let goals = selection.goals()?;
    let mut selected = Selection::default();
    let is_scaled = goals
        .iter()
        .any(|&goal| usual_bytes(goal).is_ok_and(|bytes| bytes == USUAL_BYTES));
    for goal in goals {
        // The other goals compare chunk sizes.
        let is_of_goal = |axis: Axis| axis != Axis::Chunk || goal.has_records();
        let mut values: Vec<_> = overrides
            .iter()
            .filter(|(axis, _)| is_of_goal(*axis))
            .cloned()
            .collect();
        let is_fixed = values.iter().any(|(axis, _)| *axis == Axis::Checksums);
        if selection.with_and_without_checksums && goal.is_durable() && !is_fixed {
            values.push((
                Axis::Checksums,
                Checksums::ALL.iter().map(ToString::to_string).collect(),
            ));
        }
        for values in combinations(
            values
                .iter()
                .map(|(axis, values)| (*axis, values.as_slice())),
        ) {
            let Some(mut space) = space_of_goal(goal, &values, is_scaled)? else {
                continue;
            };
            match constrain(&mut space, &selection.constraints) {
                Ok(_) => add_space(&mut selected, space),
                Err(why) => selected.notes.push(why),
            }
        }
    }
    match selected.notes.first() {
        Some(why) if selected.rows.is_empty() => Err(usage!("{why}")),
        _ => Ok(selected),
    }
}

/// The size of a case if the largest one has `size` instead of `largest`. The number of small files or records
/// shrinks only by the root, because a few of them have another rate than many.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size"
)]
pub(crate) fn scaled(own: u64, size: u64, largest: u64) -> u64 {
    if own < largest {
        return (own as f64 * (size as f64 / largest as f64).sqrt()) as u64;
    }
    let bytes = u128::from(own) * u128::from(size) / u128::from(largest.max(1));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn usual_bytes(goal: Goal) -> Result<u64> {
    Ok(Space::for_goal(goal, &[])?.baseline.given().size_bytes)
}

/// The goal's space with these values. None if the goal cannot have them.
fn space_of_goal(goal: Goal, values: &[Assignment<'_>], is_scaled: bool) -> Result<Option<Space>> {
    let value = |wanted| {
        values
            .iter()
            .find(|(axis, _)| *axis == wanted)
            .map(|(_, value)| *value)
    };
    let mut fixed: Vec<_> = values
        .iter()
        .map(|(axis, value)| (*axis, vec![(*value).to_owned()]))
        .collect();
    let bytes = |text: &str| {
        text.parse::<Bytes>()
            .map(|bytes| bytes.0)
            .map_err(|error| usage!("{error}"))
    };
    let plain = Space::for_goal(goal, &[])?.baseline;
    if is_scaled && let Some((_, sizes)) = fixed.iter_mut().find(|(axis, _)| *axis == Axis::Size) {
        let record = value(Axis::Chunk)
            .filter(|_| goal.has_records())
            .map(bytes)
            .transpose()?;
        let own = plain.given().size_bytes;
        let least = if own < USUAL_BYTES {
            USUAL_BLOCK_BYTES
        } else {
            1
        };
        let unit = record.or(plain.unit_bytes()).unwrap_or(least).max(1);
        let size = scaled(own, bytes(&sizes[0])?, USUAL_BYTES);
        let most = if plain.workload().files > 1 {
            unit.saturating_mul(MOST_FILES)
        } else {
            u64::MAX
        };
        let size = (size / unit * unit).clamp(unit, most);
        *sizes = vec![Bytes(size).to_string()];
    }
    let space = Space::for_goal(goal, &fixed)?;
    // Some baselines have one rank only.
    Ok(Some(space)
        .filter(|space| space.baseline.value(Axis::Ranks) == value(Axis::Ranks).unwrap_or("1")))
}

/// The rows are the baseline, then the portfolio, or a few cases if nothing of it is allowed. All cases of the same
/// workload are candidates.
fn add_space(selected: &mut Selection, space: Space) {
    const FEW: usize = 4;
    let words = space.baseline.workload().checksums.words();
    let section = words.map_or(space.title.clone(), |words| {
        format!("{}, {words}", space.title)
    });
    let origin = CaseOrigin::of_suite(CaseOrigin::GOALS, &section, Layout::Ranked);
    let few = space
        .others
        .iter()
        .step_by(space.others.len().div_ceil(FEW).max(1));
    let instead: Vec<Case> = few
        .filter(|_| space.portfolio.is_empty())
        .cloned()
        .collect();
    let of_goal = |case: Case| SelectedCase {
        origin: origin.clone(),
        label: None,
        case,
    };
    let workload = space.baseline.workload();
    let candidates = space.others.into_iter();
    selected.candidates.extend(
        candidates
            .filter(|case| case.workload() == workload)
            .map(of_goal),
    );
    let first = std::iter::once(space.baseline)
        .chain(space.portfolio)
        .chain(instead);
    selected.rows.extend(first.map(of_goal));
}

pub(crate) fn check_records<'c>(
    records: &[Bytes],
    cases: impl IntoIterator<Item = &'c Case>,
) -> Result<()> {
    // A suite names a chunk that is larger than the file by the whole file.
    let is_of_record = |case: &Case, record: &Bytes| {
        let chunk = case.choices().chunk_size_bytes;
        record.0 > case.given().size_bytes && (chunk == record.0 || chunk == Choices::WHOLE)
    };
    let too_large = |case: &'c Case| {
        records
            .iter()
            .find(|record| is_of_record(case, record))
            .map(|record| (case, record))
    };
    let Some((case, record)) = cases.into_iter().find_map(too_large) else {
        return Ok(());
    };
    let size = Bytes(case.given().size_bytes);
    Err(usage!(
        "--record {record} does not fit into a file of {size}. Give a larger --size"
    ))
}

/// Multiplies the size by the number of ranks.
fn with_size_per_rank(row: SelectedCase) -> Result<SelectedCase> {
    let ranks = u64::from(row.case.choices().ranks);
    let size_bytes = row.case.given().size_bytes.saturating_mul(ranks);
    Ok(SelectedCase {
        case: row.case.with_size(size_bytes)?,
        ..row
    })
}

/// The named case, with overrides on its other axes.
fn named_cases(name: &str, overrides: &Overrides) -> Result<Vec<Case>> {
    let method = Case::parse(name.split(',').next().unwrap_or_default()).map(|case| case.method());
    let is_left_out = |(axis, _): &&(Axis, Vec<String>)| {
        let is_named = name
            .split(',')
            .any(|part| part.split('=').next() == Some(axis.name()));
        !is_named && method.as_ref().is_ok_and(|method| method.has_axis(*axis))
    };
    let left_out = overrides
        .iter()
        .filter(is_left_out)
        .map(|(axis, values)| (*axis, values.as_slice()));
    let with = |values: &Vec<Assignment<'_>>| {
        let values = values
            .iter()
            .map(|(axis, value)| format!(",{axis}={value}"));
        format!("{name}{}", values.collect::<String>())
    };
    let parse = |name: String| match Case::parse(&name) {
        Ok(case) if case.method().is_program() => Err(usage!(
            "--case {name} needs a program. Give it with --command 'PROGRAM {{file}}' instead"
        )),
        Ok(case) => Ok(case),
        Err(error) => Err(match meant::case(&name) {
            Some(meant) => usage!("--case {name} is not a case. Did you mean --case {meant}?"),
            None => usage!("--case {name}: {error}"),
        }),
    };
    combinations(left_out).iter().map(with).map(parse).collect()
}

/// Finds the row of a label or case.
pub(crate) fn move_baseline_first(
    rows: &mut [SelectedCase],
    name: &str,
    selection: &SelectionArguments,
    cold: bool,
) -> Result<()> {
    let understood = synonyms::case(name).map_or_else(|_| name.to_owned(), |case| case.name);
    let cases = named_cases(&understood, &overrides(selection, cold)?).unwrap_or_default();
    let is_meant =
        |row: &SelectedCase| row.label.as_deref() == Some(name) || cases.contains(&row.case);
    let none = || {
        usage!(
            "--baseline {name}: the run has no case or program of this name. Add it by --case or --command"
        )
    };
    let place = rows.iter().position(is_meant).ok_or_else(none)?;
    rows[..=place].rotate_right(1);
    Ok(())
}

fn overrides(selection: &SelectionArguments, cold: bool) -> Result<AxisValues> {
    let sizes = |sizes: &[Bytes]| sizes.iter().map(ToString::to_string).collect();
    let of_options = [
        (Axis::Size, sizes(&selection.size)),
        (Axis::Chunk, sizes(&selection.record)),
        (
            Axis::Origin,
            cold.then(|| Origin::Cold.to_string()).into_iter().collect(),
        ),
        (
            Axis::Data,
            selection.data.iter().map(ToString::to_string).collect(),
        ),
    ];
    for (option, sizes) in [("--size", &selection.size), ("--record", &selection.record)] {
        sizes.windows(2).find_map(|pair| decimal_comma(pair[0], pair[1])).map_or(
            Ok(()),
            |(comma, point)| {
                Err(usage!("{option} {comma} is a list of two sizes. For one, write a point: {option} {point}"))
            },
        )?;
    }
    let mut overrides: AxisValues = selection.set.iter().map(SetValues::values).collect();
    overrides.extend(
        of_options
            .into_iter()
            .filter(|(_, values): &(_, Vec<String>)| !values.is_empty()),
    );
    let mut axes = HashSet::new();
    match overrides.iter().find(|(axis, _)| !axes.insert(*axis)) {
        Some((axis, _)) => Err(usage!(
            "values for '{axis}' are given twice. Separate them by commas in one option"
        )),
        None => Ok(overrides),
    }
}

/// `1,5GiB` with `1.5GiB`, if that is a size as well, which is more likely meant than a byte.
fn decimal_comma(before: Bytes, after: Bytes) -> Option<(String, String)> {
    let after = after.to_string();
    let is_one = before.0 < 1024
        && after.ends_with('B')
        && format!("{before}.{after}").parse::<Bytes>().is_ok();
    is_one.then(|| (format!("{before},{after}"), format!("{before}.{after}")))
}

/// The values for copies, whose default size is that of the given file.
fn with_length(overrides: &Overrides, copied: Option<&FileCopy>) -> Result<AxisValues> {
    let mut overrides = overrides.to_vec();
    let Some(copied) = copied else {
        return Ok(overrides);
    };
    match overrides.iter().find(|(axis, _)| *axis == Axis::Size) {
        Some((_, sizes)) => {
            sizes
                .iter()
                .flat_map(|size| size.parse())
                .try_for_each(|size| copied.check_size(size))?;
        }
        None => overrides.push((
            Axis::Size,
            vec![Bytes(copied.source.size_bytes).to_string()],
        )),
    }
    Ok(overrides)
}

fn copies(method: &str) -> bool {
    Method::from_name(method).is_some_and(Method::copies)
}

fn copies_only(suite: &Suite) -> bool {
    suite
        .sections
        .iter()
        .flat_map(|section| &section.prefixes)
        .all(|prefix| prefix.method.copies())
}

/// Each row once for every target, without samples.
pub(crate) fn records(rows: &[SelectedCase], targets: &[TargetRecord]) -> Vec<CaseRecord> {
    let on_all = |row| targets.iter().map(move |target| record(row, &target.name));
    rows.iter().flat_map(on_all).collect()
}

/// The rows of a recorded run, whose cases are of this version, without the candidates that a contest has tried only once or
/// twice. A row of several targets is one.
pub(crate) fn rows_of_run(run: &RunRecord) -> Vec<SelectedCase> {
    let mut rows = Vec::new();
    for record in &run.cases {
        let has_few = record.samples.len() < writebench_stats::FEWEST_COMPARED;
        let Some(case) = record.case.known() else {
            continue;
        };
        if record.origin.is_candidate() && has_few {
            continue;
        }
        let row = SelectedCase {
            origin: record.origin.clone(),
            label: record.label.clone(),
            case: case.clone(),
        };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

pub(crate) fn record(row: &SelectedCase, target: &str) -> CaseRecord {
    CaseRecord {
        target: target.to_owned(),
        origin: row.origin.clone(),
        label: row.label.clone(),
        case: row.case.clone().into(),
        workload: row.case.workload(),
        samples: Vec::new(),
    }
}

/// Each case once, even if it is in two tables. Fails if a case needs more ranks than there are.
pub(crate) fn different_cases(records: &[CaseRecord], ranks: u32) -> Result<Vec<Case>> {
    let known = |record: &CaseRecord| {
        let unknown = || {
            usage!(
                "this version of writebench does not know the case {}",
                record.case
            )
        };
        record.case.known().cloned().ok_or_else(unknown)
    };
    let cases = distinct(
        records.iter().map(known).collect::<Result<Vec<Case>>>()?,
        Clone::clone,
    );
    let Some(case) = cases.iter().find(|case| case.choices().ranks > ranks) else {
        return Ok(cases);
    };
    let wanted = case.choices().ranks;
    let are = if ranks == 1 { "is one" } else { "are fewer" };
    Err(usage!(
        "{case} needs {wanted} ranks, and there {are}. Start writebench by mpirun -n {wanted}, or srun -n {wanted}"
    ))
}

/// The values of an axis in `--set`.
#[derive(Clone)]
pub(crate) struct SetValues {
    pub axis: Axis,
    values: Vec<String>,
    /// What words of other programs are here.
    note: Option<String>,
}

impl SetValues {
    pub(crate) fn values(&self) -> (Axis, Vec<String>) {
        (self.axis, self.values.clone())
    }
}

impl From<(Axis, Vec<String>)> for SetValues {
    fn from((axis, values): (Axis, Vec<String>)) -> Self {
        Self {
            axis,
            values,
            note: None,
        }
    }
}

/// Says what words of other programs are here.
pub(crate) fn note_synonyms(set: &[SetValues], global: &Global) {
    let notes = set.iter().filter_map(|set| set.note.as_ref());
    notes.for_each(|note| global.output.note(note));
}

/// `AXIS=VALUE[,VALUE...]`.
pub(crate) fn assignment(text: &str) -> Result<SetValues, String> {
    let (name, values) = text
        .split_once('=')
        .ok_or("expected AXIS=VALUE[,VALUE...]")?;
    if name == "method" {
        return Err(format!(
            "a method is not an axis. To leave out other methods, add --without METHOD. To measure it: writebench run --case {values}"
        ));
    }
    let values: Vec<&str> = values.split(',').collect();
    if let Some(set) = in_other_words(text, name, &values)? {
        return Ok(set);
    }
    let names = Axis::ALL.iter().map(|axis| axis.name());
    let axis = Axis::from_name(name)
        .ok_or_else(|| unknown("axis", name, names, "writebench list axes"))?;
    // Unknown values fail here, contradictions in the cases.
    let values: Result<_, String> = values.iter().map(|value| axis.canonical(value)).collect();
    Ok((axis, values?).into())
}

/// The values of one axis, if they are in the words of other programs.
fn in_other_words(text: &str, name: &str, values: &[&str]) -> Result<Option<SetValues>, String> {
    let mut ours = Vec::new();
    let mut any_other = false;
    for value in values {
        match synonyms::values(&format!("{name}={value}"))? {
            Some(meant) => {
                any_other = true;
                ours.extend(meant);
            }
            None => ours.extend(Axis::from_name(name).map(|axis| (axis, (*value).to_owned()))),
        }
    }
    let Some(axis) = ours.first().map(|(axis, _)| *axis).filter(|_| any_other) else {
        return Ok(None);
    };
    if ours.iter().any(|(other, _)| *other != axis) {
        let each: Vec<String> = ours
            .iter()
            .map(|(axis, value)| format!("--set {axis}={value}"))
            .collect();
        return Err(format!(
            "'{text}' is about two axes here: {}",
            each.join(" ")
        ));
    }
    let values: Result<Vec<String>, String> = ours
        .iter()
        .map(|(axis, value)| axis.canonical(value))
        .collect();
    let values = values?;
    let note = synonyms::note(text, &format!("{axis}={}", values.join(",")));
    Ok(Some(SetValues { axis, values, note }))
}
