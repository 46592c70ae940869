//! How much faster than plain write the strategies of a goal were in other environments.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::axis::Axis;
use crate::case::Case;
use crate::case_record::RecordedCase;
use crate::goal::Goal;

static TABLES: LazyLock<BTreeMap<String, Table>> = LazyLock::new(|| {
    toml::from_str(include_str!("../experience.toml")).expect("the experience parses")
});

/// The gains of a goal's strategies in other environments. A search begins with them, and its own samples correct them.
#[derive(Debug, Clone, Default)]
pub struct Experience {
    /// For each environment, by its name, the gains by [`Experience::strategy`]: the time of plain write over that of the
    /// case. A missing case was slow there, or is newer.
    pub environments: BTreeMap<String, HashMap<String, f64>>,
}

/// A table of the file: a row for each case, and a column for each environment.
#[derive(Deserialize)]
struct Table {
    environments: Vec<String>,
    /// A gain of 0 is unknown.
    gains: BTreeMap<String, Vec<f64>>,
}

impl Experience {
    pub fn of_goal(goal: Goal) -> Self {
        TABLES
            .get(goal.name())
            .map(Table::experience)
            .unwrap_or_default()
    }

    /// The name of a case for files and records of any size, and for pages at any places. A new file's `fsync` takes the
    /// time of its `fdatasync`.
    pub fn strategy(case: &Case) -> String {
        let recorded = RecordedCase::from(case.clone());
        let name = if case.workload().durable_every_bytes.is_some() {
            recorded.name_without(&[Axis::Size, Axis::Chunk])
        } else {
            recorded.name_without(&[Axis::Size])
        };
        Self::strategy_named(&name)
    }

    /// The same for a name without sizes. A search expects the gains of uniform access for any other as well, until its own
    /// samples correct them.
    pub fn strategy_named(name: &str) -> String {
        name.split(',')
            .filter(|part| !part.starts_with("access="))
            .collect::<Vec<_>>()
            .join(",")
            .replace("sync=fsync", "sync=fdatasync")
    }
}

impl Table {
    fn experience(&self) -> Experience {
        let mut environments = BTreeMap::new();
        for (column, name) in self.environments.iter().enumerate() {
            environments.insert(name.clone(), self.gains_in(column));
        }
        Experience { environments }
    }

    fn gains_in(&self, column: usize) -> HashMap<String, f64> {
        let mut known = HashMap::new();
        for (strategy, gains) in &self.gains {
            if let Some(&gain) = gains.get(column).filter(|gain| **gain > 0.0) {
                known.insert(strategy.clone(), gain);
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;

    #[test]
    fn the_experience_knows_most_of_each_portfolio() {
        for &goal in Goal::TOGETHER {
            let experience = Experience::of_goal(goal);
            assert!(experience.environments.len() >= 4, "{goal}");
            let space = Space::for_goal(goal, &[]).unwrap();
            let is_known = |case: &&Case| {
                let strategy = Experience::strategy(case);
                let mut environments = experience.environments.values();
                environments.any(|gains| gains.contains_key(&strategy))
            };
            let known = space.portfolio.iter().filter(is_known).count();
            assert!(
                known * 2 > space.portfolio.len(),
                "{goal}: {known} of {}",
                space.portfolio.len()
            );
        }
    }

    #[test]
    fn a_strategy_has_one_name_for_all_sizes_and_both_syncs() {
        let name = |text: &str| Experience::strategy(&Case::parse(text).unwrap());
        assert_eq!(name("write,size=1MiB,sync=fsync"), "write,sync=fdatasync");
        assert_eq!(
            name("write,size=64MiB,sync=fdatasync"),
            "write,sync=fdatasync"
        );
        assert_eq!(name("pwrite,chunk=4KiB"), "pwrite,chunk=4KiB");
        assert_eq!(
            name("pwrite,chunk=4KiB,sync=fsync/1"),
            "pwrite,sync=fdatasync/1"
        );
        assert_eq!(
            name("pwrite,chunk=4KiB,access=zipf,prepare=overwrite,sync=fdatasync/16"),
            "pwrite,prepare=overwrite,sync=fdatasync/16"
        );
    }
}
