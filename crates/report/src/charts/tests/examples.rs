//! Made-up cases of suites, for each family of charts.

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use writebench_model::{Axis, CaseRecord, Durability, Latency, Start, Timeline, Workload};
use writebench_testkit::{example_case, section_of};

use super::{CaseReport, Outcome, Sample, study};

fn on_ext4(record: &CaseRecord) -> (String, CaseReport) {
    ("ext4".to_owned(), CaseReport::from_record(record.clone()))
}

fn record(
    suite: &str,
    section: &str,
    label: Option<&str>,
    case: &str,
    samples: Vec<Sample>,
) -> CaseRecord {
    let mut record = example_case(section, case, samples);
    record.origin = section_of(suite, section);
    record.label = label.map(str::to_owned);
    let start = if case.contains("prepare=overwrite") {
        Start::Existing
    } else {
        Start::New
    };
    record.workload = Workload {
        bytes: 32 << 20,
        start,
        ..record.workload
    };
    record
}

/// Microseconds of prepare, open, write, sync and close.
pub(crate) fn samples_of([prepare, open, write, sync, close]: [u64; 5], count: u32) -> Vec<Sample> {
    let sample = |round: u32| {
        let mut sample = Sample::without_figures(round, Outcome::Ok);
        let per = 1000 * (100 + u64::from(round * 7 % 11)) / 100;
        sample.bytes = 32 << 20;
        sample.phases_ns.prepare = prepare * per;
        sample.phases_ns.open = open * per;
        sample.phases_ns.write = write * per;
        sample.phases_ns.sync = sync * per;
        sample.phases_ns.close = close * per;
        sample
    };
    (0..count).map(sample).collect()
}

pub(crate) fn parallel() -> Vec<(String, CaseReport)> {
    let mut cases = Vec::new();
    for (files, slower) in [("", 10), (",files=per-thread", 7)] {
        for threads in [1_u32, 2, 4, 8, 16] {
            let counted = if threads > 1 {
                format!(",threads={threads}")
            } else {
                String::new()
            };
            let case = format!("pwrite,size=32MiB{counted}{files},prepare=truncate");
            let write = 20_000 / u64::from(threads.min(6)) + u64::from(threads * slower * 30);
            let samples = samples_of([80, 20, write, 0, 10], 6);
            let mut record = record("parallel", "Into an emptied file", None, &case, samples);
            record.workload.files = if files.is_empty() { 1 } else { threads };
            cases.push(on_ext4(&record));
        }
    }
    cases
}

/// 32 MiB per rank.
pub(crate) fn scaling() -> Vec<(String, CaseReport)> {
    let mut cases = Vec::new();
    for files in ["", ",files=per-rank"] {
        for ranks in [1_u32, 2, 4] {
            let counted = if ranks > 1 {
                format!(",ranks={ranks}")
            } else {
                String::new()
            };
            let case = format!("pwrite,size={}MiB{counted}{files},sync=fsync", 32 * ranks);
            let samples = samples_of([80, 20, 20_000, 0, 10], 6);
            let mut record = record("cluster", "By ranks", None, &case, samples);
            record.workload.files = if files.is_empty() { 1 } else { ranks };
            record.workload.bytes = u64::from(ranks) << 25;
            record
                .samples
                .iter_mut()
                .for_each(|sample| sample.bytes = u64::from(ranks) << 25);
            cases.push(on_ext4(&record));
        }
    }
    cases
}

/// Cases of two workloads. One case has no samples, so its cell has no value.
pub(crate) fn direct() -> Vec<(String, CaseReport)> {
    let labels = [
        "BUFFERED",
        "BUFFERED + ALIGNED",
        "O_DIRECT",
        "AMORTIZED_FSYNC + O_DIRECT",
    ];
    let sizes: Vec<u64> = (12..26).map(|power| 1 << power).collect();
    let named = study(&labels, &sizes).into_iter().map(|(label, case)| {
        let mut record = case.record;
        record.origin = section_of("direct", "GB/s by chunk size and flags");
        if label.contains("FSYNC") {
            record.workload.durability = Durability::Durable;
        }
        if label == "O_DIRECT" && record.case.value(Axis::Chunk).as_deref() == Some("4KiB") {
            record.samples.clear();
        }
        record.label = Some(label);
        on_ext4(&record)
    });
    named.collect()
}

/// `sendfile` is disturbed.
pub(crate) fn copies(labels: &[&str]) -> Vec<(String, CaseReport)> {
    let named = study(labels, &[4096]).into_iter().map(|(label, case)| {
        let mut record = case.record;
        record.origin = section_of("copy", "Ways to copy");
        if label == "sendfile" {
            record
                .samples
                .iter_mut()
                .for_each(|sample| sample.disturbed = Some("noise".to_owned()));
        }
        record.label = Some(label);
        on_ext4(&record)
    });
    named.collect()
}

/// One in a hundred calls takes ten times as long, the last a hundred times.
fn latency(usual_ns: u64, calls: u64) -> Latency {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for call in 0..calls {
        let factor = match call {
            last if last == calls - 1 => 100,
            it if it % 100 == 99 => 10,
            _ => 1,
        };
        histogram
            .record(usual_ns * factor * (1000 + call * 7 % 400) / 1000)
            .unwrap();
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    Latency {
        count: histogram.len(),
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p99_9_ns: histogram.value_at_quantile(0.999),
        max_ns: histogram.max(),
        max_record: None,
        histogram: base64::engine::general_purpose::STANDARD.encode(bytes),
    }
}

/// Two of the cases have latencies.
pub(crate) fn durable() -> Vec<(String, CaseReport)> {
    durable_in(1280)
}

pub(crate) fn durable_in(calls: u64) -> Vec<(String, CaseReport)> {
    let ways = [
        ("append", "write,prepare=create,sync=fsync/1", Some(90_000)),
        (
            "overwrite",
            "write,prepare=overwrite,sync=fsync/1",
            Some(50_000),
        ),
        ("all at once", "write,sync=fsync", None),
    ];
    let cases = ways.map(|(label, case, usual_ns)| {
        let mut samples = samples_of(
            [
                300,
                40,
                70_000,
                if usual_ns.is_none() { 9_000 } else { 0 },
                30,
            ],
            6,
        );
        if let Some(usual_ns) = usual_ns {
            for (sample, slower) in samples.iter_mut().zip(0..) {
                sample.latency = Some(Box::new(latency(usual_ns + slower * usual_ns / 20, calls)));
            }
        }
        let mut record = record("durable", "Every record", Some(label), case, samples);
        record.workload.durability = Durability::Durable;
        on_ext4(&record)
    });
    cases.to_vec()
}

/// Throughput falls after the first second.
pub(crate) fn long(count: u64) -> Vec<(String, CaseReport)> {
    let cases = (0..count).map(|number| {
        let mut samples = samples_of([0, 0, 4_000_000 + number * 90_000, 0, 0], 6);
        for (sample, round) in samples.iter_mut().zip(0..) {
            let bytes = |interval: u64| {
                let burst = if interval < 9 + number { 460 } else { 90 };
                (burst + (interval * 37 + round * 11 + number * 5) % 23) * 1_000_000
            };
            let timeline = Timeline {
                interval_ns: sample.phases_ns.total() / 40,
                bytes: (0..40).map(bytes).collect(),
            };
            sample.timeline = Some(Box::new(timeline));
        }
        let case = format!("write,chunk={}KiB,size=8GiB", 4 << number);
        on_ext4(&record("write", "Long", None, &case, samples))
    });
    cases.collect()
}
