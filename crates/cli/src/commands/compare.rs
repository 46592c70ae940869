//! `writebench compare`.

use std::path::Path;
use std::thread::Builder;

use anyhow::Result;
use writebench_report::{ComparedRun, Comparison, Side, Unit, Verdict, counted, formats};

use crate::arguments::CompareCommand;
use crate::exit::{self, Exit};
use crate::export::{self, Export, check_for_comparison};
use crate::named_runs::{NamedRun, NamedRuns, Source, kept};
use crate::output::Output;
use crate::run_name::{RunName, RunOn};

/// Compares runs of the database, exported files, or one with the other.
pub fn compare(command: &CompareCommand, db: Option<&Path>, output: &Output) -> Result<Exit> {
    check_for_comparison(&command.export)?;
    let kept = kept(command.a.0.iter().chain(&command.b.0), db);
    let exports = export::find_all(&command.export, false, kept)?;
    let (a, b) = both_sides(&command.a.0, &command.b.0, db)?;
    let comparison = Comparison::of(a, b).map_err(exit::usage)?;
    output.all_ok(exports.iter().map(|export| export.write_comparison(&comparison, output)))?;
    if !exports.iter().any(Export::is_to_stdout) {
        output.results(&formats::comparison::terminal(&comparison, output.width()))?;
    }
    match command.fail_if_slower {
        Some(percent) => judge(&comparison, percent, output),
        None => Ok(Exit::Ok),
    }
}

/// At the same time: to read half a million samples takes a second.
fn both_sides(a: &[RunOn], b: &[RunOn], db: Option<&Path>) -> Result<(Side, Side)> {
    let (a, b) = std::thread::scope(|scope| {
        let a = Builder::new().spawn_scoped(scope, || side(a, db));
        let a = a.map_err(|error| exit::no_thread("that reads a side", &error))?;
        let b = side(b, db);
        anyhow::Ok((a.join(), b))
    })?;
    Ok((a.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?, b?))
}

fn side(names: &[RunOn], db: Option<&Path>) -> Result<Side> {
    let runs = NamedRuns::open(names.iter(), db)?;
    let compared = |named: NamedRun| {
        let mut name = match named.source {
            Source::Database(number) => format!("run {number}"),
            Source::File(path) => path.display().to_string(),
        };
        if let Some(target) = &named.target {
            name += &format!("@{target}");
        }
        ComparedRun { name, run: named.run }
    };
    let runs = runs.of(names)?.into_iter().map(compared).collect();
    let name = |name: &RunOn| match name.run {
        RunName::Number(_) => format!("run {name}"),
        _ => name.to_string(),
    };
    let name = names.iter().map(name).collect::<Vec<_>>().join(",");
    Ok(Side { name, runs })
}

/// Whether the build that asked may pass.
fn judge(comparison: &Comparison, percent: f64, output: &Output) -> Result<Exit> {
    if comparison.cases.len() == comparison.count(Verdict::TooFew) {
        return Err(exit::usage(
            "--fail-if-slower: no case has enough samples (or runs) on both sides to be judged",
        ));
    }
    let undecided = comparison.undecided_cases();
    if undecided > 0 {
        output.note(&format!(
            "--fail-if-slower does not judge {} of A: too few samples or runs, no figure, or not in B.",
            counted(undecided, "case")
        ));
    }
    let slower = comparison.slower_than(percent / 100.0);
    if slower.is_empty() {
        return Ok(Exit::Ok);
    }
    let of_each: Vec<String> = slower
        .iter()
        .map(|it| format!("{} ({:.3} – {:.3})", it.case, it.speed_ratio.low, it.speed_ratio.high))
        .collect();
    let doubt = match comparison.unit {
        Unit::Sample if comparison.is_of_one_run() => "",
        Unit::Sample => "; single runs: drift between them can look like this, several of each tell",
        Unit::Run => "",
    };
    output.error(&anyhow::anyhow!("slower by more than {percent} %: {}{doubt}", of_each.join(", ")));
    Ok(Exit::Slower)
}
