use crate::{CONFIDENCE, FEWEST_FOR_INTERVAL, Interval, median_interval, sorted};

/// The fewest ratios for the interval of the sign test. It then finds more if the noise has two modes, and little less
/// otherwise.
const FEWEST_FOR_SIGN_TEST: usize = 20;
/// One of so many ratios is cut off at each end.
const CUT_OFF: usize = 5;
/// The 97.5th percentiles of Student's distribution with 3 to 12 degrees of freedom, for 4 to 13 kept ratios (R's
/// `qt(0.975, 3:12)`).
const STUDENT: [f64; 10] = [
    3.182_446_305_284,
    2.776_445_105_198,
    2.570_581_835_636,
    2.446_911_851_145,
    2.364_624_251_593,
    2.306_004_135_204,
    2.262_157_162_798,
    2.228_138_851_986,
    2.200_985_160_092,
    2.178_812_829_667,
];
const FEWEST_KEPT: usize = 4;

/// The typical ratio of paired values with its interval at 95 %, from the ratio of each pair.
///
/// Of 6 to 19 ratios it is the mean of the logarithms without the largest and the smallest fifth, and its interval. From
/// 20 ratios on, and of fewer than six, it is [`median_interval`]. The number of ratios decides and not their values,
/// because a choice between two intervals after a look at both is less sure than either.
///
/// Up to eight ratios, the interval of the sign test is the range of all, so eight would give a wider one than six.
/// The trimmed mean also uses how far the ratios are apart. Its confidence is that of a symmetric distribution, and about
/// right for others: the tests simulate noise with outliers, modes, and unequal spreads.
pub fn paired_ratio(ratios: &[f64]) -> Option<Interval> {
    let few = FEWEST_FOR_INTERVAL as usize..FEWEST_FOR_SIGN_TEST;
    if few.contains(&ratios.len())
        && let Some(interval) = trimmed_mean(ratios)
    {
        return Some(interval);
    }
    median_interval(ratios, CONFIDENCE)
}

/// The trimmed mean by logarithms, with the interval of Tukey and McLaughlin, *Less vulnerable confidence and
/// significance procedures for location based on a single sample*, Sankhyā A 25, 1963. It is the test of Yuen, *The
/// two-sample trimmed t for unequal population variances*, Biometrika 61, 1974, for one sample.
///
/// It is `None` if the kept ratios are all equal, or one is 0 or infinite. Nothing can be said about their spread then.
fn trimmed_mean(ratios: &[f64]) -> Option<Interval> {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let logs = sorted(&logs);
    let cut = logs.len() / CUT_OFF;
    let kept = &logs[cut..logs.len() - cut];
    let (low, high) = (kept[0], kept[kept.len() - 1]);
    if low == high || !low.is_finite() || !high.is_finite() {
        return None;
    }
    // The outermost kept values replace those that were cut off, so the spread is that of all values (winsorized).
    let replaced: Vec<f64> = logs.iter().map(|log| log.clamp(low, high)).collect();
    let center = mean(&replaced);
    let squares: f64 = replaced.iter().map(|log| (log - center).powi(2)).sum();
    let count = kept.len() as f64;
    let error = (squares / (count * (count - 1.0))).sqrt();
    let half_width = STUDENT[kept.len() - FEWEST_KEPT] * error;
    let estimate = mean(kept);
    Some(Interval {
        estimate: estimate.exp(),
        low: (estimate - half_width).exp(),
        high: (estimate + half_width).exp(),
        confidence: CONFIDENCE,
        count: ratios.len(),
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests;
