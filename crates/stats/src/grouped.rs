use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// In the order of the first item of each key.
pub fn grouped<T, K: Clone + Eq + Hash>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for item in items {
        let key = key(&item);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// The first item of each key, in order.
pub fn distinct<T, K: Eq + Hash>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut met = HashSet::new();
    items
        .into_iter()
        .filter(|item| met.insert(key(item)))
        .collect()
}
