//! How long each hand-over took: the histograms of samples, read.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use model::{Latency, Sample};
use serde::Serialize;

/// A distribution of durations, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LatencyEstimate {
    /// How many there were.
    pub count: u64,
    /// Half of them were no longer.
    pub p50: u64,
    /// 90 % of them.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

impl LatencyEstimate {
    /// Of all samples' histograms together; none where one has none or cannot be read.
    pub(crate) fn of(samples: &[&Sample]) -> Option<Self> {
        let Histograms { all, .. } = Histograms::of(samples)?;
        Some(Self {
            count: all.len(),
            p50: all.value_at_quantile(0.5),
            p90: all.value_at_quantile(0.9),
            p99: all.value_at_quantile(0.99),
            p99_9: all.value_at_quantile(0.999),
            max: all.max(),
        })
    }
}

/// The histograms of a case's samples, and all of them as one.
pub(crate) struct Histograms {
    each: Vec<Histogram<u64>>,
    all: Histogram<u64>,
}

impl Histograms {
    /// None where one sample has none or cannot be read, or where there is no sample.
    pub(crate) fn of(samples: &[&Sample]) -> Option<Self> {
        let read = samples.iter().map(|sample| histogram(sample.latency.as_ref()?));
        let each: Vec<Histogram<u64>> = read.collect::<Option<_>>()?;
        let (first, others) = each.split_first()?;
        let mut all = first.clone();
        for other in others {
            all.add(other).ok()?;
        }
        Some(Self { each, all })
    }

    /// How many durations there were.
    pub(crate) fn count(&self) -> u64 {
        self.all.len()
    }

    /// That share of durations was no longer: the lowest of single samples, of all together, and the highest.
    pub(crate) fn quantile_ns(&self, quantile: f64) -> [u64; 3] {
        let all = self.all.value_at_quantile(quantile);
        let each = || self.each.iter().filter(|it| !it.is_empty()).map(|it| it.value_at_quantile(quantile));
        [each().min().unwrap_or(all), all, each().max().unwrap_or(all)]
    }
}

fn histogram(latency: &Latency) -> Option<Histogram<u64>> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(&latency.histogram).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}
