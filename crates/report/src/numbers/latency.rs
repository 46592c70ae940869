//! Reads histograms once for values and curves.

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde::Serialize;
use writebench_model::{Latency, Sample};
use writebench_stats::{Cumulative, as_f64};

/// Durations of single calls. A percentile is None if there are so [few calls](has_percentile).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LatencyEstimate {
    /// The number of calls.
    pub count: u64,
    pub p50_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p99_9_ns: Option<u64>,
    pub max_ns: u64,
    /// The number of the record that took the longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_record: Option<u64>,
}

impl LatencyEstimate {
    /// The names and values of the percentiles.
    pub(crate) fn percentiles(&self) -> [(&'static str, Option<u64>); 4] {
        [
            ("p50", self.p50_ns),
            ("p90", self.p90_ns),
            ("p99", self.p99_ns),
            ("p99.9", self.p99_9_ns),
        ]
    }
}

/// Whether so many calls have the percentile for which one of `in_calls` calls is slower. With fewer calls, none is beyond
/// it, and it would only be the longest under another name.
pub(crate) fn has_percentile(count: u64, in_calls: u64) -> bool {
    count >= in_calls
}

/// The most quantiles of a curve, which the median and the longest call make forty.
const MOST_QUANTILES: u32 = 38;

/// The most quantiles between 0 and 90 %, between 90 % and 99 %, and so on. There are fewer if there are many such
/// ranges.
const MOST_QUANTILES_PER_TENFOLD: u32 = 10;

/// An hour in nanoseconds with three digits takes less: 9 bytes for each of 33,000 counts.
const MOST_HISTOGRAM_BYTES: u64 = 1 << 20;

/// All samples of a case have fewer distinct durations together. Foreign documents could have any number.
const MOST_DURATIONS: usize = 1 << 24;

/// A curve of at most forty quantiles, at even distances on an axis that expands rare durations. Each has the least
/// duration of single samples, that of all together, and the greatest. The last is the longest call.
pub(crate) type LatencyCurve = Vec<(f64, [u64; 3])>;

/// The durations of all samples together. They are None if a histogram is missing or unreadable, all are empty, or they
/// exceed any real case.
pub(crate) fn latency(samples: &[&Sample]) -> Option<(LatencyEstimate, LatencyCurve)> {
    let mut by_sample = Vec::new();
    let mut left = MOST_DURATIONS;
    for sample in samples {
        let durations = Durations::read(sample.latency.as_ref()?)?;
        left = left.checked_sub(durations.0.len())?;
        by_sample.push(durations);
    }
    by_sample.retain(|durations| durations.count() > 0);
    let all = Durations::together(&by_sample)?;
    Some((estimate(&all, samples), curve(&all, &by_sample)))
}

fn estimate(all: &Durations, samples: &[&Sample]) -> LatencyEstimate {
    let longest = samples
        .iter()
        .filter_map(|sample| sample.latency.as_ref())
        .max_by_key(|latency| latency.max_ns);
    let percentile = |in_calls: u64| {
        let quantile = 1.0 - 1.0 / as_f64(in_calls);
        has_percentile(all.count(), in_calls).then(|| all.at_quantile(quantile))
    };
    LatencyEstimate {
        count: all.count(),
        p50_ns: percentile(2),
        p90_ns: percentile(10),
        p99_ns: percentile(100),
        p99_9_ns: percentile(1000),
        max_ns: all.at_quantile(1.0),
        max_record: longest.and_then(|latency| latency.max_record),
    }
}

fn curve(all: &Durations, by_sample: &[Durations]) -> LatencyCurve {
    let mut curve: LatencyCurve = quantiles(all.count())
        .into_iter()
        .filter_map(|quantile| Some((quantile, range_at_quantile(quantile, all, by_sample)?)))
        .collect();
    let longest = range_at_quantile(1.0, all, by_sample);
    curve.extend(longest.map(|range| (place_of_longest(all.count()), range)));
    curve
}

/// The least duration of single samples, that of all together, and the greatest of single samples.
fn range_at_quantile(quantile: f64, all: &Durations, by_sample: &[Durations]) -> Option<[u64; 3]> {
    let durations_ns: Vec<u64> = by_sample
        .iter()
        .map(|durations| durations.at_quantile(quantile))
        .collect();
    let least_ns = *durations_ns.iter().min()?;
    let greatest_ns = *durations_ns.iter().max()?;
    Some([least_ns, all.at_quantile(quantile), greatest_ns])
}

/// Distinct durations with cumulative counts. A histogram takes a quarter of a megabyte, mostly zeros.
#[derive(Debug, Clone)]
pub(crate) struct Durations(Vec<(u64, u64)>);

impl Durations {
    pub(crate) fn read(latency: &Latency) -> Option<Self> {
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(&latency.histogram)
            .ok()?;
        let inflated = inflated(&bytes)?;
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut inflated.as_slice())
            .ok()?;
        let counts = histogram
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()));
        Self::summed(counts)
    }

    /// The durations of all samples. They are None without a sample.
    fn together(by_sample: &[Self]) -> Option<Self> {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for durations in by_sample {
            let mut before = 0;
            for &(ns, up_to) in &durations.0 {
                let count = counts.entry(ns).or_default();
                *count = u64::checked_add(*count, up_to - before)?;
                before = up_to;
            }
        }
        Self::summed(counts.into_iter()).filter(|_| !by_sample.is_empty())
    }

    /// The durations with cumulative counts. They are None on overflow, which is possible only in foreign documents.
    fn summed(counts: impl Iterator<Item = (u64, u64)>) -> Option<Self> {
        let mut sum = 0u64;
        let up_to = counts.map(|(ns, count)| {
            sum = sum.checked_add(count)?;
            Some((ns, sum))
        });
        up_to.collect::<Option<_>>().map(Self)
    }

    pub(crate) fn cumulative(&self) -> &Cumulative {
        &self.0
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.last().map_or(0, |(_, count)| *count)
    }

    /// The duration that this share did not exceed, or 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to the count"
    )]
    fn at_quantile(&self, quantile: f64) -> u64 {
        let wanted =
            ((quantile * as_f64(self.count())).ceil() as u64).clamp(1, self.count().max(1));
        let index = self.0.partition_point(|&(_, up_to)| up_to < wanted);
        self.0.get(index).map_or(0, |&(ns, _)| ns)
    }
}

/// Converts a histogram from the form "V2 deflate" to "V2". The result is None if it is larger than writebench's: the
/// library allocates the size in the header, which foreign documents can set to gigabytes.
fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    const HEADER_BYTES: usize = 40;
    let mut inflated = Vec::new();
    let deflated = flate2::read::ZlibDecoder::new(bytes.get(8..)?);
    deflated
        .take(MOST_HISTOGRAM_BYTES)
        .read_to_end(&mut inflated)
        .ok()?;
    let counts_bytes = big_endian_u32(&inflated, 4)? as usize;
    let digits = big_endian_u32(&inflated, 12)?;
    (counts_bytes <= inflated.len().saturating_sub(HEADER_BYTES) && digits <= 3).then_some(inflated)
}

fn big_endian_u32(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The place of the longest call on the curve: after all other calls, and before 1, which is infinitely far away.
fn place_of_longest(count: u64) -> f64 {
    (1.0 - 0.5 / as_f64(count)).min(1.0 - f64::EPSILON)
}

/// Quantiles at even distances on the axis, with the median, 90 %, 99 % and so on, but none rarer than a single call.
fn quantiles(count: u64) -> Vec<f64> {
    let tenfolds = as_f64(count).log10();
    let steps_per_tenfold = (1..=MOST_QUANTILES_PER_TENFOLD)
        .rev()
        .find(|&steps| f64::from(steps) * tenfolds <= f64::from(MOST_QUANTILES));
    let steps_per_tenfold = f64::from(steps_per_tenfold.unwrap_or(1));
    let mut quantiles: Vec<f64> = (0..=MOST_QUANTILES)
        .map(f64::from)
        .take_while(|step| step / steps_per_tenfold <= tenfolds + 1e-9)
        .map(|step| 1.0 - 10.0_f64.powf(-step / steps_per_tenfold))
        .collect();
    quantiles.retain(|&quantile| quantile < place_of_longest(count));
    if count > 1 {
        // If there are ten steps, one of them nearly coincides with the median.
        quantiles.retain(|quantile| (quantile - 0.5).abs() > 0.01);
        quantiles.push(0.5);
        quantiles.sort_by(f64::total_cmp);
    }
    quantiles
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    use writebench_model::Outcome;

    fn sample(durations_ns: &[u64]) -> Sample {
        let mut histogram: Histogram<u64> =
            Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        durations_ns
            .iter()
            .for_each(|&ns| histogram.record(ns).unwrap());
        with(&histogram)
    }

    fn with(histogram: &Histogram<u64>) -> Sample {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(histogram, &mut bytes)
            .unwrap();
        with_bytes(&bytes)
    }

    fn with_bytes(bytes: &[u8]) -> Sample {
        let histogram = base64::engine::general_purpose::STANDARD.encode(bytes);
        let mut sample = Sample::without_figures(0, Outcome::Ok);
        let (count, nothing) = (0, 0);
        let latency = Latency {
            count,
            p50_ns: nothing,
            p90_ns: nothing,
            p99_ns: nothing,
            p99_9_ns: nothing,
            max_ns: nothing,
            max_record: None,
            histogram,
        };
        sample.latency = Some(Box::new(latency));
        sample
    }

    #[test]
    fn durations_equal_those_of_their_histogram() {
        let all: Vec<u64> = (1..=2000)
            .map(|number| number * number * 17 % 1_000_003 + 1)
            .collect();
        let mut histogram: Histogram<u64> =
            Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        all.iter().for_each(|&ns| histogram.record(ns).unwrap());
        let samples: Vec<Sample> = all.chunks(300).map(sample).collect();
        let (estimate, curve) = latency(&samples.iter().collect::<Vec<_>>()).unwrap();
        let at = |quantile| histogram.value_at_quantile(quantile);
        assert_eq!((estimate.count, estimate.max_ns), (2000, histogram.max()));
        assert_eq!(
            [
                estimate.p50_ns,
                estimate.p90_ns,
                estimate.p99_ns,
                estimate.p99_9_ns
            ],
            [0.5, 0.9, 0.99, 0.999].map(|quantile| Some(at(quantile)))
        );
        for &(quantile, [low, of_all, high]) in &curve[1..curve.len() - 1] {
            assert_eq!(of_all, at(quantile), "{quantile}");
            assert!(low <= of_all && of_all <= high, "{low} {of_all} {high}");
        }
    }

    #[test]
    fn a_sample_without_durations_hides_no_others() {
        let samples = [sample(&[]), sample(&[5])];
        let (estimate, curve) = latency(&samples.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(
            (estimate.count, estimate.p50_ns, estimate.max_ns),
            (1, None, 5)
        );
        assert!(curve.iter().all(|(_, ns)| *ns == [5; 3]), "{curve:?}");
        assert_eq!(latency(&[]), None);
    }

    #[test]
    fn a_percentile_needs_enough_calls() {
        let of = |count: u64| {
            let durations: Vec<u64> = (1..=count).collect();
            let (estimate, _) = latency(&[&sample(&durations)]).unwrap();
            estimate.percentiles().map(|(_, ns)| ns)
        };
        assert_eq!(of(1), [None; 4]);
        assert_eq!(of(9), [Some(5), None, None, None]);
        assert_eq!(of(99), [Some(50), Some(90), None, None]);
        assert_eq!(of(100), [Some(50), Some(90), Some(99), None]);
        assert_eq!(of(1000), [Some(500), Some(900), Some(990), Some(999)]);
    }

    #[test]
    fn too_many_durations_have_no_distribution() {
        let mut most: Histogram<u64> = Histogram::new_with_bounds(1, 1000, 3).unwrap();
        most.record_n(5, i64::MAX as u64).unwrap();
        let one = with(&most);
        assert!(latency(&[&one, &one]).is_some());
        assert_eq!(
            latency(&[&one, &one, &one]),
            None,
            "in one of several samples"
        );
        [6, 7]
            .iter()
            .for_each(|&ns| most.record_n(ns, i64::MAX as u64).unwrap());
        assert_eq!(latency(&[&with(&most)]), None, "in one sample");
    }

    #[test]
    fn a_histogram_that_asks_for_gigabytes_is_unreadable() {
        let mut whole = Vec::new();
        V2DeflateSerializer::new()
            .serialize(
                &Histogram::<u64>::new_with_bounds(1, 1000, 3).unwrap(),
                &mut whole,
            )
            .unwrap();
        let inflated = inflated(&whole).unwrap();
        assert!(latency(&[&with_bytes(&whole), &sample(&[5])]).is_some());
        for (at, value) in [(4, u32::MAX), (4, 1 << 20), (12, 5)] {
            let mut changed = inflated.clone();
            changed[at..at + 4].copy_from_slice(&u32::to_be_bytes(value));
            let mut encoder =
                flate2::write::ZlibEncoder::new(whole[..8].to_vec(), flate2::Compression::fast());
            encoder.write_all(&changed).unwrap();
            let changed = with_bytes(&encoder.finish().unwrap());
            assert_eq!(latency(&[&changed, &sample(&[5])]), None, "{value} at {at}");
        }
    }

    #[test]
    fn a_line_has_forty_places_at_most_and_the_round_ones_among_them() {
        for count in [1, 2, 9, 10, 1280, 7680, 10_000_000, u64::MAX] {
            let quantiles = quantiles(count);
            assert!(quantiles.len() < 40, "{count}: {}", quantiles.len());
            assert!(
                quantiles.is_sorted_by(|a, b| a < b),
                "{count}: {quantiles:?}"
            );
            assert!(*quantiles.last().unwrap() < place_of_longest(count));
            for round in [0.0, 0.5, 0.9, 0.99, 0.999] {
                let is_there = quantiles
                    .iter()
                    .any(|quantile| (quantile - round).abs() < 1e-12);
                assert_eq!(
                    is_there,
                    (1.0 - round) * as_f64(count) >= 0.999_999,
                    "{round} of {count}"
                );
            }
        }
    }
}
