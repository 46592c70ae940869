//! How alike neighbours in a series are.

/// Neighbours as alike as this would leave no independent ones.
const MOST: f64 = 0.9;

/// So many values of the series say as much as one independent value: 1 if neighbours are not alike.
///
/// If each value is correlated with the next by r, and by rⁿ with the n-th, the variance of their mean is that of
/// independent values times (1 + r) / (1 - r). The correlation is that of ranks, so that one slow value does not hide the
/// others. Its estimate from few values is too low, by about (1 + 4 r) / n (Marriott and Pope, *Bias in the estimation of
/// autocorrelations*, Biometrika 41, 1954), which is added, and half of its standard error, 1 / √n.
pub(crate) fn values_as_one(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let ranks = ranks(values);
    let middle = (count + 1.0) / 2.0;
    let square = |rank: &f64| (rank - middle).powi(2);
    let squares: f64 = ranks.iter().map(square).sum();
    if squares <= 0.0 {
        return 1.0;
    }
    let products: f64 = ranks
        .windows(2)
        .map(|pair| (pair[0] - middle) * (pair[1] - middle))
        .sum();
    let estimate = products / squares;
    let added = (1.0 + 4.0 * estimate) / count + 0.5 / count.sqrt();
    let correlation = (estimate + added).clamp(0.0, MOST);
    (1.0 + correlation) / (1.0 - correlation)
}

/// The place of each value among all, from 1. Equal values share the mean of their places.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in places.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let rank = before as f64 + (equal.len() as f64 + 1.0) / 2.0;
        equal.iter().for_each(|&place| ranks[place] = rank);
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_alike_and_turns_are_not() {
        let trend: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(values_as_one(&trend) > 10.0);
        let turns: Vec<f64> = (0..20).map(|place| f64::from(place % 2)).collect();
        let exactly = |values: &[f64]| (values_as_one(values) - 1.0).abs() < 1e-12;
        assert!(exactly(&turns) && exactly(&[5.0; 9]) && exactly(&[]));
    }

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[7.0, 1.0, 7.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
    }
}
