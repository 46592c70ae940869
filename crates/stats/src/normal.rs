//! The normal distribution with mean 0 and variance 1.

/// The probability of a normal deviate above any `z`.
pub(crate) fn normal_above(z: f64) -> f64 {
    if z >= 0.0 {
        normal_tail(z)
    } else {
        1.0 - normal_tail(-z)
    }
}

/// The probability of a normal deviate above `z >= 0`, to 7.5e-8 (Abramowitz and Stegun, *Handbook of
/// Mathematical Functions*, 26.2.17).
fn normal_tail(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let polynomial = COEFFICIENTS
        .iter()
        .fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial
}

/// The density of the normal distribution.
pub(crate) fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_beyond_1_96_is_a_fortieth_on_both_sides() {
        assert!((normal_above(1.959_964) - 0.025).abs() < 1e-7);
        assert!((normal_above(-1.959_964) - 0.975).abs() < 1e-7);
    }
}
