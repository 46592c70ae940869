use std::collections::{BTreeMap, HashMap};

use crate::{CONFIDENCE, Interval, median, median_interval};

/// An additive model of the logarithm of time: `log t = case + round + noise`. The round's effect is the
/// state of the machine, so cases with different rounds can be compared.
///
/// The model is fitted by median polish (Tukey, *Exploratory Data Analysis*, 1977, chapter 11, and for tables
/// with empty cells, Mosteller and Tukey, *Data Analysis and Regression*, 1977, chapter 9). A round with
/// one case cannot separate the two effects and is left out of the fit. The median effect of all rounds is
/// 0, so a case's value is its time in a typical round.
#[derive(Debug, Clone)]
pub struct Rounds {
    cases: Vec<Case>,
    effects: HashMap<u32, f64>,
}

#[derive(Debug, Clone)]
struct Case {
    by_round: BTreeMap<u32, f64>,
    value: Option<f64>,
}

/// Each sweep at least halves the change, in all but contrived tables.
const MOST_SWEEPS: usize = 60;
const PRECISION: f64 = 1e-9;

impl Rounds {
    /// Each case has its rounds and positive times. The last of several times in one round counts.
    pub fn fit(cases: &[Vec<(u32, f64)>]) -> Self {
        let case = |times: &Vec<(u32, f64)>| {
            let by_round: BTreeMap<u32, f64> = times
                .iter()
                .map(|&(round, time)| (round, time.max(f64::MIN_POSITIVE).ln()))
                .collect();
            let logs: Vec<f64> = by_round.values().copied().collect();
            Case {
                value: median(&logs),
                by_round,
            }
        };
        let mut model = Self {
            cases: cases.iter().map(case).collect(),
            effects: HashMap::new(),
        };
        let mut shared: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, case) in model.cases.iter().enumerate() {
            case.by_round
                .keys()
                .for_each(|&round| shared.entry(round).or_default().push(index));
        }
        shared.retain(|_, cases| cases.len() > 1);
        model.effects = shared.keys().map(|&round| (round, 0.0)).collect();
        for _ in 0..MOST_SWEEPS {
            if model.sweep(&shared) < PRECISION {
                break;
            }
        }
        let effects: Vec<f64> = model.effects.values().copied().collect();
        let typical = median(&effects).unwrap_or(0.0);
        model
            .effects
            .values_mut()
            .for_each(|effect| *effect -= typical);
        for case in &mut model.cases {
            if case.by_round.keys().any(|round| shared.contains_key(round)) {
                case.value = case.value.map(|value| value + typical);
            }
        }
        model
    }

    /// Takes the medians out of the rounds, then out of the cases. Returns the largest change of a case.
    fn sweep(&mut self, shared: &BTreeMap<u32, Vec<usize>>) -> f64 {
        for (round, cases) in shared {
            let residual = |&case: &usize| {
                let case = &self.cases[case];
                Some(case.by_round.get(round)? - case.value?)
            };
            let residuals: Vec<f64> = cases.iter().filter_map(residual).collect();
            self.effects
                .extend(median(&residuals).map(|effect| (*round, effect)));
        }
        let mut largest: f64 = 0.0;
        for case in &mut self.cases {
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
        self.cases.get(case)?.value.map(f64::exp)
    }

    /// The logarithms of a case's times without the effects of the rounds, each with the number of cases in
    /// its round. The effect of a round with one case is unknown, and taken as that of a typical round.
    pub(crate) fn logs_without_effects(&self, case: usize) -> Vec<(f64, usize)> {
        let Some(case) = self.cases.get(case) else {
            return Vec::new();
        };
        let in_round = |round| {
            self.cases
                .iter()
                .filter(|case| case.by_round.contains_key(&round))
                .count()
        };
        let log = |(&round, log): (&u32, &f64)| {
            (
                log - self.effects.get(&round).unwrap_or(&0.0),
                in_round(round),
            )
        };
        case.by_round.iter().map(log).collect()
    }

    /// The ratio of two cases' times, maybe of two models, with the interval of the sign test at 95 %. See
    /// [`median_interval`].
    ///
    /// Each common round gives a ratio, from which drift cancels. Rounds of only one case are paired in
    /// order, each without its effect. The sign test needs independent ratios whose median is the ratio of
    /// the values. It does not need equal spreads, so both kinds count. The interval is widened to hold the
    /// ratio of the values.
    pub fn ratio(&self, case: usize, other: (&Self, usize)) -> Option<Interval> {
        let ratios: Vec<f64> = self
            .log_ratios(case, other)?
            .into_iter()
            .map(f64::exp)
            .collect();
        let value = self.cases.get(case)?.value? - other.0.cases.get(other.1)?.value?;
        Some(median_interval(&ratios, CONFIDENCE)?.around(value.exp()))
    }

    /// How many ratios of two cases [`Self::ratio`] knows.
    pub(crate) fn ratio_count(&self, case: usize, other: usize) -> usize {
        self.log_ratios(case, (self, other))
            .map_or(0, |ratios| ratios.len())
    }

    fn log_ratios(&self, case: usize, other: (&Self, usize)) -> Option<Vec<f64>> {
        let (effects, others_effects) = (&self.effects, &other.0.effects);
        let (case, other) = (self.cases.get(case)?, other.0.cases.get(other.1)?);
        let common = case
            .by_round
            .iter()
            .filter_map(|(round, log)| Some(log - other.by_round.get(round)?));
        let alone = case
            .alone(other, effects)
            .into_iter()
            .zip(other.alone(case, others_effects));
        Some(common.chain(alone.map(|(a, b)| a - b)).collect())
    }
}

impl Case {
    /// The logarithms of the times in shared rounds, without the effects of the rounds.
    fn without_effects<'r>(
        &'r self,
        effects: &'r HashMap<u32, f64>,
    ) -> impl Iterator<Item = (u32, f64)> + 'r {
        self.by_round
            .iter()
            .filter_map(|(round, log)| Some((*round, log - effects.get(round)?)))
    }

    /// The same for rounds that the other case lacks.
    fn alone(&self, other: &Self, effects: &HashMap<u32, f64>) -> Vec<f64> {
        let alone = self
            .without_effects(effects)
            .filter(|(round, _)| !other.by_round.contains_key(round));
        alone.map(|(_, log)| log).collect()
    }
}

#[cfg(test)]
mod tests;
