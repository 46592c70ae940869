//! Compares with scipy and numpy by `reference.py`: stored results always, fresh ones if Python has scipy.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use writebench_stats::Interval;
use writebench_testkit::{Need, Trials};

/// The ends of an interval are values or ratios of the data. Other results differ only in the order of the
/// arithmetic.
const CLOSE: f64 = 1e-9;

type Check = fn(&Value) -> Result<()>;

const CHECKS: &[(&str, Check)] = &[
    ("median_interval", median_interval),
    ("paired_ratio", paired_ratio),
    ("independent_ratio", independent_ratio),
    ("mann_whitney", mann_whitney),
    ("mann_whitney_approximated", mann_whitney_approximated),
    ("count_outliers", count_outliers),
    ("mean_and_sd", mean_and_sd),
];

fn main() -> ExitCode {
    let mut trials = Trials::default();
    for (name, check) in CHECKS {
        trials.add(format!("{name} agrees with scipy"), &[], move || {
            check_all(&stored()?, name, check)
                .context("crates/stats/tests/reference/reference.json")
        });
    }
    trials.add(
        "all figures agree with this machine's scipy",
        &[Need::Python("scipy")],
        || {
            let fresh = made_now()?;
            CHECKS
                .iter()
                .try_for_each(|(name, check)| check_all(&fresh, name, check))
        },
    );
    trials.add(
        "the stored figures are those that the script makes",
        &[Need::Python("scipy")],
        || {
            let (stored, fresh) = (stored()?, made_now()?);
            let names = stored.as_object().context("an object")?.keys();
            ensure!(
                names.eq(CHECKS.iter().map(|(name, _)| *name)),
                "a check for each, and figures for each check"
            );
            same("", &stored, &fresh)
        },
    );
    trials.run(2)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference")
}

fn stored() -> Result<Value> {
    Ok(serde_json::from_str(&std::fs::read_to_string(
        folder().join("reference.json"),
    )?)?)
}

fn made_now() -> Result<Value> {
    let python = writebench_testkit::python_with("scipy").context("python3 with scipy")?;
    let output = Command::new(python)
        .arg(folder().join("reference.py"))
        .output()?;
    ensure!(
        output.status.success(),
        "reference.py: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn check_all(figures: &Value, name: &str, check: &Check) -> Result<()> {
    let entries = figures[name]
        .as_array()
        .with_context(|| format!("no figures of {name}"))?;
    ensure!(!entries.is_empty(), "no figures of {name}");
    (0..)
        .zip(entries)
        .try_for_each(|(index, entry): (usize, _)| {
            check(entry).with_context(|| format!("{name}, entry {index}"))
        })
}

/// Ignores the last digits of numbers.
fn same(place: &str, a: &Value, b: &Value) -> Result<()> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            ensure!(a.keys().eq(b.keys()), "{place}: other fields");
            a.iter()
                .try_for_each(|(name, value)| same(&format!("{place}.{name}"), value, &b[name]))
        }
        (Value::Array(a), Value::Array(b)) => {
            ensure!(a.len() == b.len(), "{place}: other length");
            (0..)
                .zip(a.iter().zip(b))
                .try_for_each(|(index, (a, b)): (usize, _)| {
                    same(&format!("{place}[{index}]"), a, b)
                })
        }
        _ => close(
            place,
            a.as_f64().context("a number")?,
            b.as_f64().context("a number")?,
        ),
    }
}

fn close(what: &str, ours: f64, theirs: f64) -> Result<()> {
    ensure!(
        (ours - theirs).abs() <= CLOSE * theirs.abs().max(1e-300),
        "{what}: {ours}, not {theirs}"
    );
    Ok(())
}

fn number(entry: &Value, name: &str) -> Result<f64> {
    entry[name]
        .as_f64()
        .with_context(|| format!("no number {name}"))
}

fn numbers(entry: &Value, name: &str) -> Result<Vec<f64>> {
    let values = entry[name]
        .as_array()
        .with_context(|| format!("no numbers {name}"))?;
    values
        .iter()
        .map(|value| value.as_f64().context("a number"))
        .collect()
}

fn interval(ours: Interval, entry: &Value) -> Result<()> {
    close("estimate", ours.estimate, number(entry, "estimate")?)?;
    close("low", ours.low, number(entry, "low")?)?;
    close("high", ours.high, number(entry, "high")?)
}

fn median_interval(entry: &Value) -> Result<()> {
    let ours = writebench_stats::median_interval(&numbers(entry, "values")?, 0.95)
        .context("an interval")?;
    interval(ours, entry)?;
    close("confidence", ours.confidence, number(entry, "confidence")?)
}

fn paired_ratio(entry: &Value) -> Result<()> {
    let ours = writebench_stats::paired_ratio(&numbers(entry, "ratios")?).context("an interval")?;
    interval(ours, entry)
}

fn independent_ratio(entry: &Value) -> Result<()> {
    let (numerator, denominator) = (numbers(entry, "numerator")?, numbers(entry, "denominator")?);
    let ours = writebench_stats::independent_ratio(&numerator, &denominator, 0.95)
        .context("an interval")?;
    interval(ours, entry)
}

/// The range of exact counting.
fn mann_whitney(entry: &Value) -> Result<()> {
    let (left_out, confidence) = left_out(entry)?;
    ensure!(
        Some(left_out) == entry["critical"].as_u64(),
        "{left_out} left out, not {}",
        entry["critical"]
    );
    close("confidence", confidence, number(entry, "confidence")?)
}

/// The range in which only scipy still counts. The cut may differ by one of thousands of ratios, the
/// confidence by 0.05 %.
fn mann_whitney_approximated(entry: &Value) -> Result<()> {
    let (left_out, confidence) = left_out(entry)?;
    let critical = entry["critical"].as_u64().context("a count")?;
    ensure!(
        left_out.abs_diff(critical) <= 1,
        "{left_out} left out, not {critical}"
    );
    let theirs = number(entry, "confidence")?;
    ensure!(
        (confidence - theirs).abs() < 5e-4,
        "{confidence}, not {theirs}"
    );
    Ok(())
}

/// The number of ratios below an interval, and its confidence. Ratios of 2, 4, 8, … to powers of a much
/// smaller factor all differ, so the ends of the interval show the number left out.
fn left_out(entry: &Value) -> Result<(u64, f64)> {
    let count = |name| {
        entry[name]
            .as_u64()
            .with_context(|| format!("no count {name}"))
    };
    let (n, m) = (count("n")?, count("m")?);
    let side = |count: u64, step: f64| {
        (0..count).scan(1.0, move |value, _| {
            Some(std::mem::replace(value, *value * step))
        })
    };
    let numerator: Vec<f64> = side(n, 2.0).collect();
    let denominator: Vec<f64> = side(m, 1.0 + 1e-4).collect();
    let ours = writebench_stats::independent_ratio(&numerator, &denominator, 0.95)
        .context("an interval")?;
    let below = numerator
        .iter()
        .flat_map(|x| denominator.iter().map(move |y| x / y));
    let left_out = below.filter(|ratio| *ratio < ours.low).count();
    Ok((left_out as u64, ours.confidence))
}

fn count_outliers(entry: &Value) -> Result<()> {
    let ours = writebench_stats::count_outliers(&numbers(entry, "values")?);
    ensure!(
        Some(ours as u64) == entry["count"].as_u64(),
        "{ours}, not {}",
        entry["count"]
    );
    Ok(())
}

fn mean_and_sd(entry: &Value) -> Result<()> {
    let (mean, sd) = writebench_stats::mean_and_sd(&numbers(entry, "values")?).context("values")?;
    close("mean", mean, number(entry, "mean")?)?;
    close("standard deviation", sd, number(entry, "sd")?)
}
