//! Forecasts for unmeasured points from measured ones: a Gaussian process over categories (Rasmussen and
//! Williams, *Gaussian Processes for Machine Learning*, 2006).
//!
//! Points are more alike the more values they share: each axis on which they differ reduces the correlation
//! by its own factor. The model includes main effects and interactions of every order, with less weight on
//! the higher ones.

use crate::normal::{normal_above, normal_density};

/// A combination of values that can be measured: the number of the value on each axis.
pub type Point = Vec<u16>;

/// What was measured at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub point: Point,
    /// The mean of the samples.
    pub figure: f64,
    /// How many samples there are.
    pub samples: f64,
}

/// How similar points are.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// The factor of the correlation for a difference on each axis.
    axes: Vec<f64>,
    /// The variance of the points' true values.
    variance: f64,
    /// The variance that a single sample adds.
    noise: f64,
}

/// The factors to choose from: a decisive axis, one with influence, and one with hardly any.
const FACTORS: [f64; 3] = [0.5, 0.8, 0.97];
/// The variances to choose from, in squared logarithms: noise of 2 % to 30 %, effects of 15 % to a factor of 3.
const NOISES: [f64; 4] = [0.02 * 0.02, 0.05 * 0.05, 0.12 * 0.12, 0.3 * 0.3];
const VARIANCES: [f64; 4] = [0.15 * 0.15, 0.3 * 0.3, 0.6 * 0.6, 1.2 * 1.2];
/// The mean of all points is unknown, and by more than they differ.
const MEAN_VARIANCE: f64 = 4.0;
/// How often all choices are repeated.
const SWEEPS: usize = 2;

impl Kernel {
    /// The kernel before any measurement.
    pub fn unknown(axes: usize) -> Self {
        Self {
            axes: vec![0.8; axes],
            variance: 0.36,
            noise: 0.0025,
        }
    }

    /// The most likely kernel for these logarithms. Each parameter in turn is chosen from a few values.
    pub fn learnt(self, observations: &[Observation]) -> Self {
        let points: Vec<Point> = observations
            .iter()
            .map(|observation| observation.point.clone())
            .collect();
        let mut best = self;
        let mut best_likelihood = best.log_likelihood(&points, observations);
        for _ in 0..SWEEPS {
            let before = best.clone();
            for parameter in 0..best.axes.len() + 2 {
                for &choice in best.choices(parameter) {
                    if *best.parameter(parameter) == choice {
                        continue;
                    }
                    let mut other = best.clone();
                    *other.parameter(parameter) = choice;
                    let likelihood = other.log_likelihood(&points, observations);
                    if likelihood > best_likelihood {
                        best = other;
                        best_likelihood = likelihood;
                    }
                }
            }
            if best == before {
                break;
            }
        }
        best
    }

    /// The parameters are numbered: first those of the axes, then the variance and the noise.
    fn parameter(&mut self, number: usize) -> &mut f64 {
        match number.checked_sub(self.axes.len()) {
            None => &mut self.axes[number],
            Some(0) => &mut self.variance,
            Some(_) => &mut self.noise,
        }
    }

    fn choices(&self, number: usize) -> &'static [f64] {
        match number.checked_sub(self.axes.len()) {
            None => &FACTORS,
            Some(0) => &VARIANCES,
            Some(_) => &NOISES,
        }
    }

    fn covariance(&self, a: &Point, b: &Point) -> f64 {
        let pairs = self.axes.iter().zip(a.iter().zip(b));
        let correlation: f64 = pairs
            .filter(|(_, (a, b))| a != b)
            .map(|(factor, _)| factor)
            .product();
        MEAN_VARIANCE + self.variance * correlation
    }

    /// The logarithm of the probability density of each observation after those before it.
    fn log_likelihood(&self, points: &[Point], observations: &[Observation]) -> f64 {
        let mut process = GaussianProcess::new(self.clone(), points.to_vec());
        let mut sum = 0.0;
        for (index, observation) in observations.iter().enumerate() {
            let variance = process.variance[index] + self.noise / observation.samples;
            let error = observation.figure - process.means[index];
            sum -= 0.5 * (variance.ln() + error * error / variance);
            let later_points = index + 1;
            process.observe_among(
                index,
                Some(observation.figure),
                observation.samples,
                later_points,
            );
        }
        sum
    }
}

/// The expected value of every point and its uncertainty.
#[derive(Debug, Clone)]
pub struct GaussianProcess {
    kernel: Kernel,
    points: Vec<Point>,
    means: Vec<f64>,
    variance: Vec<f64>,
    /// A column of the Cholesky factor of the covariance of all points, for each observation.
    columns: Vec<Vec<f64>>,
}

impl GaussianProcess {
    /// Begins without observations. The values observed later must have a mean of about 0.
    pub fn new(kernel: Kernel, points: Vec<Point>) -> Self {
        let variance = points
            .iter()
            .map(|point| kernel.covariance(point, point))
            .collect();
        Self {
            means: vec![0.0; points.len()],
            variance,
            columns: Vec::new(),
            kernel,
            points,
        }
    }

    /// Adds the mean of some samples of a point.
    pub fn observe(&mut self, index: usize, figure: f64, samples: f64) {
        self.observe_among(index, Some(figure), samples, 0);
    }

    /// Adds an observation of unknown value. It reduces the uncertainty only.
    pub fn fantasize(&mut self, index: usize) {
        self.observe_among(index, None, 1.0, 0);
    }

    /// Adds an observation, but updates only the forecasts for the points from `first` on.
    fn observe_among(&mut self, index: usize, figure: Option<f64>, samples: f64, first: usize) {
        let spread = (self.variance[index] + self.kernel.noise / samples).sqrt();
        let step = figure.map_or(0.0, |figure| (figure - self.means[index]) / spread);
        let mut column: Vec<f64> = vec![0.0; self.points.len()];
        let own = &self.points[index];
        for (cell, point) in column.iter_mut().zip(&self.points).skip(first) {
            *cell = self.kernel.covariance(own, point);
        }
        for earlier in &self.columns {
            let factor = earlier[index];
            // The compiler vectorizes loops over slices, but none with `skip`.
            for (cell, earlier) in column[first..].iter_mut().zip(&earlier[first..]) {
                *cell -= factor * earlier;
            }
        }
        for (point, cell) in column.iter_mut().enumerate().skip(first) {
            *cell /= spread;
            self.means[point] += *cell * step;
            self.variance[point] = (self.variance[point] - *cell * *cell).max(0.0);
        }
        self.columns.push(column);
    }

    /// The expected value of a point.
    pub fn mean(&self, index: usize) -> f64 {
        self.means[index]
    }

    /// The standard deviation of a point's value around the expected one.
    pub fn deviation(&self, index: usize) -> f64 {
        self.variance[index].sqrt()
    }
}

/// How much a value is expected to lie below the least one so far, if its forecast lies `below` it and has that
/// standard deviation. Values above it count as no improvement.
pub fn expected_improvement(below: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return below.max(0.0);
    }
    let errors = below / deviation;
    below * (1.0 - normal_above(errors)) + deviation * normal_density(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of two axes decides, and the second does not matter.
    fn figure(point: &Point) -> f64 {
        f64::from(point[0]) * 0.5 - 1.0
    }

    fn points() -> Vec<Point> {
        (0..25).map(|number| vec![number / 5, number % 5]).collect()
    }

    fn observed(points: &[Point]) -> Vec<Observation> {
        points
            .iter()
            .map(|point| Observation {
                point: point.clone(),
                figure: figure(point),
                samples: 1.0,
            })
            .collect()
    }

    fn process(kernel: Kernel, points: Vec<Point>, seen: &[usize]) -> GaussianProcess {
        let figures: Vec<f64> = points.iter().map(figure).collect();
        let mut process = GaussianProcess::new(kernel, points);
        seen.iter()
            .for_each(|&index| process.observe(index, figures[index], 1.0));
        process
    }

    #[test]
    fn a_decisive_axis_is_learnt_and_predicts_the_rest() {
        let all = points();
        let seen: Vec<usize> = (0..25)
            .filter(|index| index % 5 == index / 5 || index % 5 == 0)
            .collect();
        let few: Vec<Point> = seen.iter().map(|&index| all[index].clone()).collect();
        let kernel = Kernel::unknown(2).learnt(&observed(&few));
        assert!(kernel.axes[0] < kernel.axes[1], "{kernel:?}");
        let process = process(kernel, all.clone(), &seen);
        for (index, point) in all.iter().enumerate() {
            let error = (process.mean(index) - figure(point)).abs();
            assert!(error < 0.25, "{point:?}: off by {error:.2}");
        }
    }

    #[test]
    fn an_observation_predicts_similar_points_best() {
        let mut process = process(Kernel::unknown(2), points(), &[]);
        let before = process.deviation(24);
        process.observe(0, -1.0, 1.0);
        let [same, one, both] = [0, 1, 6].map(|index| process.deviation(index));
        assert!(
            same < one && one < both && both < before,
            "{same} {one} {both} {before}"
        );
        assert!(process.mean(0) < process.mean(1) && process.mean(1) < process.mean(6));
    }

    #[test]
    fn a_fantasized_observation_narrows_the_posterior_and_does_not_move_it() {
        let mut fantasized = process(Kernel::unknown(2), points(), &[3]);
        let mut observed = fantasized.clone();
        let mean = fantasized.mean(7);
        fantasized.fantasize(8);
        observed.observe(8, 0.7, 1.0);
        assert!((fantasized.mean(7) - mean).abs() < 1e-12);
        assert!((fantasized.deviation(7) - observed.deviation(7)).abs() < 1e-12);
    }
}
