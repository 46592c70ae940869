use writebench_model::Bytes;

use crate::charts::{Scale, Unit, YScale, value_text};
use crate::numbers::{Choice, Choices, least_and_most};
use crate::sentences::{MILLISECONDS, Report, counted, share};

/// The least distance of labels on a phone, as a part of the scale.
const APART: f64 = 0.22;

/// The least number of candidates whose times show what matters.
const FEWEST: usize = 10;

/// Smaller shares are folded.
const WEIGHT: f64 = 0.05;

pub(super) struct Spread<'r> {
    pub run: &'r str,
    pub choices: Choices,
    scale: Scale,
}

pub(super) fn spreads<'r>(reports: &[Report], names: &'r [String]) -> Vec<Spread<'r>> {
    let spread = |(report, run): (&Report, &'r String)| {
        let choices =
            Choices::of_search(&report.cases).filter(|choices| choices.times_ns.len() >= FEWEST)?;
        let seconds: Vec<f64> = choices.times_ns.iter().map(|ns| ns / 1e9).collect();
        let scale = Scale::new(
            Unit::Seconds,
            YScale::for_values(seconds.iter().copied()),
            &seconds,
        );
        Some(Spread {
            run,
            choices,
            scale,
        })
    };
    reports.iter().zip(names).filter_map(spread).collect()
}

impl Spread<'_> {
    pub(super) fn introduction(&self) -> String {
        let Choices {
            times_ns, bytes, ..
        } = &self.choices;
        let (least, most) = least_and_most(times_ns.iter().copied()).unwrap_or_default();
        let (candidates, bytes) = (
            counted(times_ns.len(), "candidate"),
            Bytes(*bytes).approximate(),
        );
        format!(
            "{candidates} wrote {bytes} in {} ms.",
            MILLISECONDS.between(least, most).replace('–', "to")
        )
    }

    /// Choices with an effect, and the remaining ones.
    pub(super) fn parts(&self) -> [Vec<&Choice>; 2] {
        // Without shares, all choices are shown.
        let least = self.choices.all[0].share.and(Some(WEIGHT));
        self.choices
            .all
            .iter()
            .partition::<Vec<_>, _>(|choice| choice.share >= least)
            .into()
    }

    /// A time as a percentage of the scale.
    pub(super) fn at(&self, ns: f64) -> String {
        percent(self.scale.part(ns / 1e9))
    }

    /// The places and texts of labels, except those that would touch the one before or leave the picture.
    pub(super) fn labels(&self) -> Vec<(String, String)> {
        let mut free_from = 0.0;
        let label = |(part, text): (f64, Option<String>)| {
            let text = text.filter(|_| part >= free_from && part <= 1.0 - APART / 2.0)?;
            free_from = part + APART;
            Some((percent(part), text))
        };
        self.scale.ticks().into_iter().filter_map(label).collect()
    }
}

pub(super) fn weight(choice: &Choice) -> String {
    let weight = |explained| format!("{} of the variation", share(explained));
    choice.share.map_or("too few candidates".to_owned(), weight)
}

pub(super) fn time(ns: f64) -> String {
    value_text(ns / 1e9, Unit::Seconds)
}

fn percent(part: f64) -> String {
    format!("{:.2}%", part * 100.0)
}
