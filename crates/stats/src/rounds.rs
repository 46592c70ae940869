use std::collections::{BTreeMap, HashMap};

use crate::{Interval, median, paired_ratio};

/// An additive model of the logarithm of time: `log t = case + round + noise`. The round's effect is the
/// state of the machine, so cases with different rounds can be compared.
///
/// The model is fitted by median polish (Tukey, *Exploratory Data Analysis*, 1977, chapter 11, and for tables
/// with empty cells, Mosteller and Tukey, *Data Analysis and Regression*, 1977, chapter 9). A round with
/// one case cannot separate the two effects and is left out of the fit. The median effect of all rounds is
/// 0, so a case's value is its time in a typical round.
#[derive(Debug, Clone)]
pub struct Rounds {
    series: Vec<Series>,
    effects: HashMap<u32, f64>,
}

/// The times of one case.
#[derive(Debug, Clone)]
struct Series {
    /// The logarithm of the time in each round.
    by_round: BTreeMap<u32, f64>,
    /// The logarithm of the time in a typical round.
    value: Option<f64>,
}

/// Each sweep at least halves the change, in all but contrived tables.
const MAX_SWEEPS: usize = 60;
const PRECISION: f64 = 1e-9;

impl Rounds {
    /// Each case has its rounds and positive times. The last of several times in one round counts.
    pub fn fit(cases: &[Vec<(u32, f64)>]) -> Self {
        let series: Vec<Series> = cases.iter().map(|times| Series::new(times)).collect();
        let shared = shared_rounds(&series);
        let mut model = Self {
            series,
            effects: shared.keys().map(|&round| (round, 0.0)).collect(),
        };
        for _ in 0..MAX_SWEEPS {
            if model.sweep(&shared) < PRECISION {
                break;
            }
        }
        model.shift_to_typical_round();
        model
    }

    /// Moves the median effect of the rounds to the cases, so that it is 0.
    fn shift_to_typical_round(&mut self) {
        let effects: Vec<f64> = self.effects.values().copied().collect();
        let typical = median(&effects).unwrap_or(0.0);
        for case in &mut self.series {
            let has_effects = case
                .by_round
                .keys()
                .any(|round| self.effects.contains_key(round));
            if has_effects {
                case.value = case.value.map(|value| value + typical);
            }
        }
        for effect in self.effects.values_mut() {
            *effect -= typical;
        }
    }

    /// Takes the medians out of the rounds, then out of the cases. Returns the largest change of a case.
    fn sweep(&mut self, shared: &BTreeMap<u32, Vec<usize>>) -> f64 {
        for (round, cases) in shared {
            let residuals: Vec<f64> = cases
                .iter()
                .filter_map(|&case| self.series[case].residual(*round))
                .collect();
            if let Some(effect) = median(&residuals) {
                self.effects.insert(*round, effect);
            }
        }
        let mut largest: f64 = 0.0;
        for case in &mut self.series {
            let logs: Vec<f64> = case
                .without_effects(&self.effects)
                .map(|(_, log)| log)
                .collect();
            if let Some(value) = median(&logs) {
                largest = largest.max(case.value.map_or(0.0, |before| (value - before).abs()));
                case.value = Some(value);
            }
        }
        largest
    }

    /// The time of a case in a typical round.
    pub fn value(&self, case: usize) -> Option<f64> {
        self.series.get(case)?.value.map(f64::exp)
    }

    /// The logarithms of a case's times without the effects of the rounds, each with the number of cases in
    /// its round. The effect of a round with one case is unknown, and taken as that of a typical round.
    pub(crate) fn logs_without_effects(&self, case: usize) -> Vec<(f64, usize)> {
        let Some(case) = self.series.get(case) else {
            return Vec::new();
        };
        case.by_round
            .iter()
            .map(|(round, log)| {
                let effect = self.effects.get(round).unwrap_or(&0.0);
                (log - effect, self.count_in_round(*round))
            })
            .collect()
    }

    fn count_in_round(&self, round: u32) -> usize {
        self.series
            .iter()
            .filter(|case| case.by_round.contains_key(&round))
            .count()
    }

    /// The ratio of two cases' times, maybe of two models, with an interval at 95 %. See [`paired_ratio`].
    ///
    /// Each common round gives a ratio, from which drift cancels. Rounds of only one case are paired in
    /// order, each without its effect. The interval needs independent ratios around the ratio of the values. It does
    /// not need equal spreads, so both kinds count. It is widened to hold the ratio of the values.
    pub fn ratio(&self, case: usize, other: (&Self, usize)) -> Option<Interval> {
        let ratios: Vec<f64> = self
            .log_ratios(case, other)?
            .into_iter()
            .map(f64::exp)
            .collect();
        let value = self.series.get(case)?.value? - other.0.series.get(other.1)?.value?;
        Some(paired_ratio(&ratios)?.around(value.exp()))
    }

    /// How many ratios of two cases [`Self::ratio`] knows.
    pub(crate) fn ratio_count(&self, case: usize, other: usize) -> usize {
        self.log_ratios(case, (self, other))
            .map_or(0, |ratios| ratios.len())
    }

    fn log_ratios(&self, case: usize, other: (&Self, usize)) -> Option<Vec<f64>> {
        let (other_model, other) = other;
        let case = self.series.get(case)?;
        let other = other_model.series.get(other)?;
        let in_common_rounds = case
            .by_round
            .iter()
            .filter_map(|(round, log)| Some(log - other.by_round.get(round)?));
        let mut log_ratios: Vec<f64> = in_common_rounds.collect();
        let alone = case.alone(other, &self.effects);
        let other_alone = other.alone(case, &other_model.effects);
        for (log, other_log) in alone.iter().zip(other_alone) {
            log_ratios.push(log - other_log);
        }
        Some(log_ratios)
    }
}

/// The cases in each round that has more than one.
fn shared_rounds(cases: &[Series]) -> BTreeMap<u32, Vec<usize>> {
    let mut shared: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        for &round in case.by_round.keys() {
            shared.entry(round).or_default().push(index);
        }
    }
    shared.retain(|_, cases| cases.len() > 1);
    shared
}

impl Series {
    fn new(times: &[(u32, f64)]) -> Self {
        let by_round: BTreeMap<u32, f64> = times
            .iter()
            .map(|&(round, time)| (round, time.max(f64::MIN_POSITIVE).ln()))
            .collect();
        let logs: Vec<f64> = by_round.values().copied().collect();
        Self {
            value: median(&logs),
            by_round,
        }
    }

    /// What the case's own value leaves of the time in a round.
    fn residual(&self, round: u32) -> Option<f64> {
        Some(self.by_round.get(&round)? - self.value?)
    }

    /// The logarithms of the times in shared rounds, without the effects of the rounds.
    fn without_effects<'r>(
        &'r self,
        effects: &'r HashMap<u32, f64>,
    ) -> impl Iterator<Item = (u32, f64)> + 'r {
        self.by_round
            .iter()
            .filter_map(|(round, log)| Some((*round, log - effects.get(round)?)))
    }

    /// Those of [`Self::without_effects`] whose rounds the other case lacks.
    fn alone(&self, other: &Self, effects: &HashMap<u32, f64>) -> Vec<f64> {
        self.without_effects(effects)
            .filter(|(round, _)| !other.by_round.contains_key(round))
            .map(|(_, log)| log)
            .collect()
    }
}

#[cfg(test)]
mod tests;
