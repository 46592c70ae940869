//! The verdicts of `--require`.

use writebench_model::{Measure, RunRecord, RunStatus};
use writebench_stats::{Interval, LimitVerdict, as_f64};

use crate::numbers::{CaseReport, Judged, Required, Undecided, others_wait_ppm};
use crate::sentences::answer::budget_text;
use crate::sentences::number::{
    GIGABYTES_PER_S, MEGABYTES_PER_S, MILLISECONDS, NUMBER, Quantity, SECONDS,
};
use crate::sentences::obstacle::share_of_time;
use crate::sentences::words::{counted, in_one_line};

/// Larger limits are compared in the larger unit.
const LARGE: u64 = 1_000_000_000;

/// More samples than this would take too long to suggest.
const MOST_TIMES: f64 = 100.0;
/// Noise may need so many times the samples that a computation says.
const GENEROUS: f64 = 1.5;

/// A line per verdict. On a busy machine, a limit may be missed because of other programs.
pub(crate) fn requirements(
    run: &RunRecord,
    required: &[Required],
    cases: &[CaseReport],
) -> Vec<String> {
    let of_goals = cases.iter().all(|case| case.record.origin.is_of_goal());
    let all: Vec<&CaseReport> = cases.iter().collect();
    let busy = others_wait_ppm(run, &all).map_or(String::new(), |ppm| {
        format!(
            " Tasks waited for a CPU {}, because other programs used them. Measure again while the machine is idle.",
            share_of_time(ppm)
        )
    });
    required
        .iter()
        .map(|required| {
            let line = sentence(run, required, of_goals);
            match required.judged.verdict {
                LimitVerdict::Met => line,
                _ if required.is_recommended => line,
                LimitVerdict::Missed | LimitVerdict::Undecided => line + &busy,
            }
        })
        .collect()
}

impl Required {
    /// `p99 < 10 ms: met`.
    pub fn verdict_in_words(&self) -> String {
        let verdict = match self.judged.verdict {
            LimitVerdict::Met => "met",
            LimitVerdict::Missed => "missed",
            LimitVerdict::Undecided => "undecided",
        };
        format!("{}: {verdict}", self.requirement.in_words())
    }

    /// The quantity of a value, in a unit that suits the limit. Seconds are too large for a value of milliseconds.
    fn quantity(&self, value: f64) -> (&'static Quantity, &'static str) {
        match self.requirement.measure {
            Measure::Rate => (&NUMBER, "/s"),
            Measure::Throughput if self.limit < LARGE => (&MEGABYTES_PER_S, " MB/s"),
            Measure::Throughput => (&GIGABYTES_PER_S, " GB/s"),
            _ if self.limit < LARGE || value < as_f64(LARGE / 10) => (&MILLISECONDS, " ms"),
            _ => (&SECONDS, " s"),
        }
    }

    /// `3.20 ms (95 % 2.91 – 3.62)`.
    fn value(&self, interval: &Interval) -> String {
        let (quantity, unit) = self.quantity(interval.estimate);
        let value = quantity.text(interval.estimate);
        let ends = quantity.between(interval.low, interval.high);
        format!("{value}{unit} ({} {ends})", percent(interval.confidence))
    }

    fn calls(&self) -> &'static str {
        if self.is_of_files { "file" } else { "record" }
    }
}

/// `95 %`, and with several verdicts more, so that all of them together have 95 %.
fn percent(confidence: f64) -> String {
    let tenths = (confidence * 1000.0).round() / 10.0;
    format!("{tenths} %")
}

fn sentence(run: &RunRecord, required: &Required, of_goals: bool) -> String {
    let Judged {
        interval,
        samples,
        disturbed_samples,
        calls,
        undecided,
        ..
    } = &required.judged;
    let (by, who) = match (of_goals, required.is_recommended) {
        (_, true) => (" by the recommended method", required.name.clone()),
        (true, false) => ("", format!("Plain write ({})", required.name)),
        (false, false) => ("", required.name.clone()),
    };
    let target = if run.is_side_by_side() {
        format!(" on {}", required.target)
    } else {
        String::new()
    };
    let mut extent = counted(*samples, "sample");
    if let Some(calls) = calls {
        let calls = counted(
            usize::try_from(*calls).unwrap_or(usize::MAX),
            required.calls(),
        );
        extent = format!("{calls} in {extent}");
    }
    if *disturbed_samples > 0 {
        extent += &format!(", {disturbed_samples} disturbed left out");
    }
    let found = match interval {
        Some(interval) => format!("{}, {extent}", required.value(interval)),
        None => extent,
    };
    let why = undecided.map_or(String::new(), |why| reason(run, required, why));
    in_one_line(&format!(
        "{}{by}. {who}{target}: {found}.{why}",
        required.verdict_in_words()
    ))
}

/// Why there is no verdict, and what would decide.
fn reason(run: &RunRecord, required: &Required, why: Undecided) -> String {
    let measure = required.requirement.measure;
    let calls = required.calls();
    let why = match why {
        Undecided::FewSamples { needed } => {
            format!("A verdict needs {needed} undisturbed samples.")
        }
        Undecided::FewCalls { needed } => format!("{measure} needs {needed} {calls}s."),
        Undecided::NoUpperEnd => {
            format!("The samples do not show how large {measure} may be.")
        }
        Undecided::WithinInterval => "The interval holds the limit.".to_owned(),
    };
    format!(" {why}{}", remedy(run, required))
}

fn remedy(run: &RunRecord, required: &Required) -> String {
    // The recommended case gets its samples from the contest.
    let Some(times) = required
        .judged
        .times_samples
        .filter(|_| !required.is_recommended)
    else {
        return String::new();
    };
    let times = (times * GENEROUS).max(2.0);
    if times > MOST_TIMES {
        return " It is so near that no run of a sensible length would decide.".to_owned();
    }
    let settings = &run.settings;
    match (run.status, settings.budget_ns) {
        (RunStatus::Limited, Some(budget_ns)) => {
            let budget = budget_text(as_f64(budget_ns) / 1e9 * times);
            let is_near = |most: u64| run.written_bytes.unwrap_or(0) > most / 10 * 9;
            let bytes = match settings.max_bytes.filter(|&most| is_near(most)) {
                Some(_) => " and a larger --max-bytes",
                None => "",
            };
            format!(" Probably --budget {budget}{bytes} would decide.")
        }
        (RunStatus::Complete, _) => {
            let samples = (f64::from(settings.samples) * times).ceil();
            format!(" Probably --samples {samples} or a larger --size would decide.")
        }
        _ => String::new(),
    }
}
