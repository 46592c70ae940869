use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Collects the items of each key. The groups have the order of their first items.
pub fn grouped<T, K: Clone + Eq + Hash>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut index_by_key: HashMap<K, usize> = HashMap::new();
    for item in items {
        let key = key(&item);
        let index = *index_by_key.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// Keeps only the first item of each key, in their order.
pub fn distinct<T, K: Eq + Hash>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut seen = HashSet::new();
    items
        .into_iter()
        .filter(|item| seen.insert(key(item)))
        .collect()
}
