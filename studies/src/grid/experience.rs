//! What searches know before their first sample, from all grids.

use std::collections::BTreeMap;
use std::path::PathBuf;

use writebench_model::{Experience, Goal};
use writebench_testkit::command::root;

use super::Grids;

const HEAD: &str = "\
# The gains of the strategies of each goal in the environments of `studies/grid/`, relative to plain write. A search begins
# with them. A gain of 0 is unknown. Strategies that were slow everywhere are left out.
# `cargo studies grid --choose` writes this file.
";

/// A strategy that is slower than this share of the best, in all environments, is left out.
const USEFUL: f64 = 0.7;

pub(super) fn path() -> PathBuf {
    root().join("crates/model/experience.toml")
}

/// The text of [`path`].
pub(super) fn text(grids: &Grids) -> String {
    let mut text = HEAD.to_owned();
    for &goal in Goal::ALL {
        text += &table(grids, goal);
    }
    text
}

fn table(grids: &Grids, goal: Goal) -> String {
    // Small files have other winners.
    let of_usual_size = grids.iter().filter(|(name, _)| !name.contains("4mib"));
    let columns: Vec<(&String, BTreeMap<String, f64>)> = of_usual_size
        .filter_map(|(name, grid)| Some((name, by_strategy(grid.goals.get(goal.name())?))))
        .collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut rows: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (number, (_, gains)) in columns.iter().enumerate() {
        for (strategy, gain) in gains {
            rows.entry(strategy)
                .or_insert_with(|| vec![0.0; columns.len()])[number] = *gain;
        }
    }
    let best: Vec<f64> = columns
        .iter()
        .map(|(_, gains)| gains.values().copied().fold(1.0, f64::max))
        .collect();
    rows.retain(|_, gains| {
        gains
            .iter()
            .zip(&best)
            .any(|(gain, best)| *gain >= USEFUL * best)
    });
    let names: Vec<String> = columns
        .iter()
        .map(|(name, _)| format!("{name:?}"))
        .collect();
    let mut text = format!(
        "\n[{goal}]\nenvironments = [{}]\n\n[{goal}.gains]\n",
        names.join(", ")
    );
    for (strategy, gains) in rows {
        let gains: Vec<String> = gains.iter().map(|gain| format!("{gain:.2}")).collect();
        text += &format!("{strategy:?} = [{}]\n", gains.join(", "));
    }
    text
}

/// The better gain of strategies with the same name.
fn by_strategy(gains: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut by_strategy: BTreeMap<String, f64> = BTreeMap::new();
    for (name, gain) in gains {
        let best = by_strategy
            .entry(Experience::strategy_named(name))
            .or_default();
        *best = best.max(*gain);
    }
    by_strategy
}

#[cfg(test)]
mod tests {
    use super::super::Folder;
    use super::*;

    #[test]
    fn the_experience_follows_from_the_measurements() {
        let old = std::fs::read_to_string(path()).unwrap();
        let new = text(&Folder { path: None }.read().unwrap());
        assert!(old == new, "run `cargo studies grid --choose`");
    }

    #[test]
    fn strategies_that_were_slow_everywhere_are_left_out() {
        let grid = |gains: &str| toml::from_str(&format!("[environment]\n[goals.stream]\n{gains}"));
        let grids = Grids::from([
            ("one".to_owned(), grid("mmap = 2.0\npwrite = 1.1").unwrap()),
            (
                "other".to_owned(),
                grid("pwrite = 1.5\n'write,chunk=1KiB' = 0.4").unwrap(),
            ),
            ("small-4mib".to_owned(), grid("writev = 9.0").unwrap()),
        ]);
        let text = text(&grids);
        let table = text.split_once("\n[stream]\n").unwrap().1;
        assert_eq!(
            table,
            "environments = [\"one\", \"other\"]\n\n[stream.gains]\n\
             \"mmap\" = [2.00, 0.00]\n\"pwrite\" = [1.10, 1.50]\n"
        );
    }
}
