//! What is claimed of answers, and how often it is true.

use std::collections::BTreeMap;

use writebench_stats::{Cluster, Share};

/// A loss up to this counts as near the best.
pub(in crate::grid) const NEAR: f64 = 0.05;

/// The least gain by a choice, and the largest difference between equal answers.
pub(in crate::grid) const SAME: f64 = 0.03;

/// A bound up to this tells a user that nothing is to be gained.
pub(in crate::grid) const LOW_BOUND: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::grid) enum Claim {
    /// The answer is within 5 % of the best.
    Near,
    /// All answers to the same question are the same, or within 3 %, or name each other as equally good.
    Alike,
    /// No other compared case is faster by more than the bound.
    TrueBound,
    /// There is an answer whose bound is at most 5 %.
    LowBound,
    /// No choice of the answer can be removed at a loss below 3 %.
    Minimal,
}

impl Claim {
    const ALL: [Self; 5] = [
        Self::Near,
        Self::Alike,
        Self::TrueBound,
        Self::LowBound,
        Self::Minimal,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Near => "within 5 % of the best of the grid",
            Self::Alike => {
                "the answers to a question are the same, within 3 %, or name each other as equally good"
            }
            Self::TrueBound => "no other compared case is faster than the bound says",
            Self::LowBound => "the bound is at most 5 %",
            Self::Minimal => "no choice can be removed at a loss below 3 %",
        }
    }

    /// The share that is wanted in environments that the portfolio knows.
    fn wanted(self) -> f64 {
        match self {
            Self::Near | Self::Alike => 0.95,
            Self::TrueBound => 0.97,
            Self::LowBound | Self::Minimal => 0.90,
        }
    }
}

/// The share that is wanted in environments that the portfolio does not know.
const WANTED_LEFT_OUT: f64 = 0.85;

/// What is compared of the answers to the same question.
pub(in crate::grid) struct Alternative<'a> {
    pub(in crate::grid) case: &'a str,
    /// A measure of its time.
    pub(in crate::grid) time: f64,
    /// The cases that its contest could not tell from it.
    pub(in crate::grid) as_good: &'a [String],
}

/// Whether a user who asked several times would not mind which of the answers was the first.
pub(in crate::grid) fn are_alike(answers: &[Alternative<'_>]) -> bool {
    answers.iter().enumerate().all(|(place, one)| {
        let before = &answers[..place];
        before.iter().all(|other| one.is_like(other))
    })
}

impl Alternative<'_> {
    fn is_like(&self, other: &Self) -> bool {
        let slower = self.time.max(other.time) / self.time.min(other.time);
        let is_tie = self.names(other) && other.names(self);
        self.case == other.case || slower <= 1.0 + SAME || is_tie
    }

    fn names(&self, other: &Self) -> bool {
        self.as_good.iter().any(|case| case == other.case)
    }
}

/// What the portfolio knows of the environments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::grid) enum Knowledge {
    /// It was chosen from these environments, among others.
    Known,
    /// It was chosen from others.
    LeftOut,
}

/// How often each claim is true. A cluster is a goal in an environment, because its answers are often right or wrong
/// together.
#[derive(Debug, Default)]
pub(in crate::grid) struct Rates {
    clusters: BTreeMap<Claim, Vec<Cluster>>,
}

impl Rates {
    /// Adds a cluster, of which each item says whether the claim about an answer is true.
    pub(in crate::grid) fn add(&mut self, claim: Claim, holds: impl IntoIterator<Item = bool>) {
        let mut cluster = Cluster { held: 0, claims: 0 };
        for holds in holds {
            cluster.held += u32::from(holds);
            cluster.claims += 1;
        }
        if cluster.claims > 0 {
            self.clusters.entry(claim).or_default().push(cluster);
        }
    }

    pub(in crate::grid) fn share(&self, claim: Claim) -> Option<Share> {
        Share::of(self.clusters.get(&claim)?)
    }

    /// A table with a row for each claim, and what was wanted.
    pub(in crate::grid) fn table(&self, knowledge: Knowledge) -> String {
        let mut text =
            "| claim | wanted | true | 95 % interval | |\n|---|---:|---|---|---|\n".to_owned();
        for claim in Claim::ALL {
            let wanted = match (knowledge, claim) {
                (Knowledge::Known, _) => Some(claim.wanted()),
                (Knowledge::LeftOut, Claim::Near) => Some(WANTED_LEFT_OUT),
                (Knowledge::LeftOut, _) => None,
            };
            text += &row(claim, wanted, self.share(claim));
        }
        text
    }
}

fn row(claim: Claim, wanted: Option<f64>, share: Option<Share>) -> String {
    let wanted_text = wanted.map_or("–".to_owned(), |wanted| {
        format!("{:.0} %", wanted * 100.0)
    });
    let Some(share) = share else {
        return format!("| {} | {wanted_text} | not measured | | |\n", claim.text());
    };
    let [low, high] = [share.low, share.high].map(|limit| limit * 100.0);
    format!(
        "| {} | {wanted_text} | {} of {}, {:.0} % | {low:.0} to {high:.0} % | {} |\n",
        claim.text(),
        share.held,
        share.claims,
        share.value() * 100.0,
        wanted.map_or("", |wanted| verdict(&share, wanted)),
    )
}

/// A share may be above the wanted one by chance.
fn verdict(share: &Share, wanted: f64) -> &'static str {
    if share.low >= wanted {
        "reached"
    } else if share.value() >= wanted {
        "reached, not proven"
    } else if share.high >= wanted {
        "missed, not proven"
    } else {
        "missed"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whether_the_wanted_share_is_reached_and_whether_that_is_proven() {
        let row_of = |held: usize, all: usize| {
            let mut rates = Rates::default();
            for number in 0..all {
                rates.add(Claim::Minimal, [number < held]);
            }
            let table = rates.table(Knowledge::Known);
            let row = table.lines().find(|line| line.contains("removed"));
            row.unwrap().to_owned()
        };
        for (held, all, words) in [
            (200, 200, "| reached |"),
            (38, 40, "| reached, not proven |"),
            (34, 40, "| missed, not proven |"),
            (10, 40, "| missed |"),
        ] {
            let row = row_of(held, all);
            assert!(row.ends_with(words), "{row}");
        }
        assert!(
            row_of(38, 40).contains("| 90 % | 38 of 40, 95 % | 82 to 100 % |"),
            "{}",
            row_of(38, 40)
        );
    }

    #[test]
    fn only_nearness_is_wanted_of_environments_that_were_left_out() {
        let mut rates = Rates::default();
        rates.add(Claim::Near, [true; 3]);
        rates.add(Claim::LowBound, [true, false, true]);
        rates.add(Claim::TrueBound, []);
        let table = rates.table(Knowledge::LeftOut);
        for line in [
            "| within 5 % of the best of the grid | 85 % | 3 of 3, 100 % |",
            "| the bound is at most 5 % | – | 2 of 3, 67 % |",
            "says | – | not measured | | |\n",
        ] {
            assert!(table.contains(line), "{table}");
        }
    }
}
