use writebench_model::Case;
use writebench_stats::{GaussianProcess, Kernel, Observation, Point, as_f64};

use super::Candidate;
use crate::contest::has_failed;
use crate::schedule::SampleSummary;
use crate::search_samples::{by_round, usable};

/// The posterior of the time per byte of all candidates on one level, in logarithms.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    // The candidates are its first points.
    pub(super) process: GaussianProcess,
    candidates: usize,
}

/// The assumed error of a posterior mean, in standard deviations.
const DOUBT: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acquisition {
    MaxVariance,
    LowerBound,
}

/// What the samples of one level say.
#[derive(Default)]
struct LevelObservations {
    measured: Vec<Observation>,
    failed: Vec<Point>,
}

impl LevelObservations {
    fn add(&mut self, point: Point, case: &Case, samples: &[SampleSummary], bytes: u64) {
        if has_failed(case, samples) {
            self.failed.push(point);
            return;
        }
        let logs: Vec<f64> = by_round(samples)
            .iter()
            .map(|(_, ns)| (ns.max(1.0) / as_f64(bytes.max(1))).ln())
            .collect();
        if let Some(figure) = writebench_stats::median(&logs) {
            self.measured.push(Observation {
                point,
                figure,
                samples: as_f64(usable(samples).len() as u64),
            });
        }
    }

    /// A failed candidate counts as the slowest, so similar ones are tried late.
    fn with_failed(mut self) -> Vec<Observation> {
        let figures = self.measured.iter().map(|observation| observation.figure);
        if let Some(slowest) = figures.reduce(f64::max) {
            let as_slowest = |point| Observation {
                point,
                figure: slowest,
                samples: 1.0,
            };
            self.measured
                .extend(self.failed.into_iter().map(as_slowest));
        }
        self.measured
    }
}

/// The process assumes that figures are 0 on average.
fn subtract_mean(observations: &mut [Observation]) {
    let sum: f64 = observations
        .iter()
        .map(|observation| observation.figure)
        .sum();
    let mean = sum / as_f64(observations.len().max(1) as u64);
    for observation in observations {
        observation.figure -= mean;
    }
}

impl Posterior {
    pub(super) fn from_samples(
        (candidates, cases): (&[Candidate], &[Case]),
        (level_bytes, size): (&[u64], usize),
        level: usize,
        taken: &[Vec<SampleSummary>],
        learnt: &mut LearntKernel,
    ) -> Self {
        let mut observations = Vec::new();
        for (sample_level, &bytes) in level_bytes.iter().enumerate() {
            let mut observed = LevelObservations::default();
            for candidate in candidates {
                // Cases only at the real size do not predict smaller ones.
                let case = candidate.position(sample_level, size);
                let is_larger = (sample_level + 1..level_bytes.len())
                    .any(|other| candidate.position(other, size) == case);
                if !is_larger {
                    let point = point(sample_level, candidate);
                    observed.add(point, &cases[case], &taken[case], bytes);
                }
            }
            observations.extend(observed.with_failed());
        }
        subtract_mean(&mut observations);
        let here = candidates.iter().map(|candidate| point(level, candidate));
        let observed = observations
            .iter()
            .map(|observation| observation.point.clone());
        let points = here.chain(observed).collect();
        let mut process = GaussianProcess::new(learnt.update(candidates, &observations), points);
        for (index, observation) in (candidates.len()..).zip(&observations) {
            process.observe(index, observation.figure, observation.samples);
        }
        Self {
            process,
            candidates: candidates.len(),
        }
    }

    pub(super) fn unknown(candidates: &[Candidate]) -> Self {
        let points = candidates
            .iter()
            .map(|candidate| point(0, candidate))
            .collect();
        let process = GaussianProcess::new(unknown_kernel(candidates), points);
        Self {
            process,
            candidates: candidates.len(),
        }
    }

    pub(super) fn times(&self, candidate: usize) -> f64 {
        let best = (0..self.candidates)
            .map(|index| self.process.mean(index))
            .fold(f64::INFINITY, f64::min);
        (self.process.mean(candidate) - best).exp()
    }

    /// The mean and some deviations.
    fn bound(&self, candidate: usize, deviations: f64) -> f64 {
        self.process.mean(candidate) + deviations * self.process.deviation(candidate)
    }

    /// Chooses at most `most` of `among`, each as if those chosen before were measured.
    pub(super) fn choose(
        &mut self,
        among: &[usize],
        most: usize,
        choice: Acquisition,
    ) -> Vec<usize> {
        let mut left = among.to_vec();
        let mut chosen = Vec::new();
        while chosen.len() < most {
            let rank = |index: usize| match choice {
                Acquisition::MaxVariance => -self.process.deviation(index),
                Acquisition::LowerBound => self.bound(index, -DOUBT),
            };
            let Some(&next) = left.iter().min_by(|&&a, &&b| rank(a).total_cmp(&rank(b))) else {
                break;
            };
            let upper_bounds = among.iter().map(|&index| self.bound(index, DOUBT));
            if choice == Acquisition::LowerBound
                && rank(next) > upper_bounds.fold(f64::INFINITY, f64::min)
            {
                break;
            }
            self.process.fantasize(next);
            left.retain(|&index| index != next);
            chosen.push(next);
        }
        chosen
    }
}

/// The learnt similarity of candidates. Learning takes most of a posterior's time, so it is repeated only
/// after a fifth more observations.
#[derive(Debug, Default)]
pub(super) struct LearntKernel {
    kernel: Option<Kernel>,
    observations: usize,
}

impl LearntKernel {
    fn update(&mut self, candidates: &[Candidate], observations: &[Observation]) -> Kernel {
        let mut kernel = self
            .kernel
            .take()
            .unwrap_or_else(|| unknown_kernel(candidates));
        if observations.len() > self.observations + self.observations / 5 {
            self.observations = observations.len();
            kernel = kernel.learnt(observations);
        }
        self.kernel.insert(kernel).clone()
    }
}

fn unknown_kernel(candidates: &[Candidate]) -> Kernel {
    Kernel::unknown(
        candidates
            .first()
            .map_or(0, |candidate| candidate.values.len()),
    )
}

fn point(level: usize, candidate: &Candidate) -> Point {
    Point {
        level: u16::try_from(level).unwrap_or(u16::MAX),
        values: candidate.values.clone(),
    }
}
