use serde::Serialize;
use writebench_model::{Case, CaseRecord, DataSource, Durability, Limit, LimitKind, Store};
use writebench_stats::as_f64;

/// A measured limit of the hardware, and the share of it that a case reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LimitShare {
    pub kind: LimitKind,
    pub threads: u32,
    pub bytes_per_s: u64,
    /// The case's throughput over the limit. It is at most 1, because an exceeded limit is dropped.
    pub share: f64,
}

/// The limit that applies to a case, with the number of threads that measure it. Durable data is limited by the device.
/// Data in the page cache is limited by a plain copy with as many threads, from one chunk if the source is one. Cases
/// that move no data have no limit, nor have copies of uncached files.
pub(crate) fn limit_kind(case: &CaseRecord) -> Option<(LimitKind, u32)> {
    let workload = &case.workload;
    if !workload.content.has_own_bytes() || workload.bytes == 0 {
        return None;
    }
    let choices = case.case.known().map(Case::choices);
    // One node's hardware does not limit ranks on several.
    if choices.is_some_and(|choices| choices.ranks > 1) {
        return None;
    }
    if workload.durability != Durability::Cached {
        return Some((LimitKind::DeviceWrite, 1));
    }
    let is_non_temporal = choices.is_some_and(|choices| choices.store == Store::Nontemporal);
    let kind = match workload.source {
        DataSource::ColdFile => return None,
        DataSource::Chunk => LimitKind::MemoryCopyOneChunk,
        DataSource::Memory | DataSource::WarmFile if is_non_temporal => {
            LimitKind::MemoryCopyNonTemporal
        }
        DataSource::Memory | DataSource::WarmFile => LimitKind::MemoryCopy,
    };
    Some((kind, choices.map_or(1, |choices| choices.threads)))
}

impl LimitShare {
    /// The share of the limit that applies to the case. It is None if that limit was not measured.
    pub(crate) fn for_case(
        case: &CaseRecord,
        throughput_bytes_per_s: f64,
        limits: &[Limit],
    ) -> Option<Self> {
        let (kind, threads) = limit_kind(case)?;
        let limit = limits
            .iter()
            .find(|limit| limit.kind == kind && limit.threads == threads)?;
        let bytes_per_s = limit.bytes_per_s.filter(|&bytes_per_s| bytes_per_s > 0)?;
        Some(Self {
            kind,
            threads,
            bytes_per_s,
            share: throughput_bytes_per_s / as_f64(bytes_per_s),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Content;

    fn case(durability: Durability, source: DataSource, threads: &str) -> CaseRecord {
        let mut case = writebench_testkit::example_case(
            "test",
            &format!("pwrite,threads={threads}"),
            Vec::new(),
        );
        case.workload.durability = durability;
        case.workload.source = source;
        case
    }

    #[test]
    fn each_workload_is_compared_with_its_necessary_work() {
        use {DataSource::*, Durability::*, LimitKind::*};
        let limit = |durability, source| limit_kind(&case(durability, source, "4"));
        assert_eq!(limit(Cached, Memory), Some((MemoryCopy, 4)));
        assert_eq!(limit(Cached, Chunk), Some((MemoryCopyOneChunk, 4)));
        assert_eq!(limit(Cached, WarmFile), Some((MemoryCopy, 4)));
        assert_eq!(
            limit(Cached, ColdFile),
            None,
            "reading is what it waits for"
        );
        assert_eq!(
            limit(Durable, Memory),
            Some((DeviceWrite, 1)),
            "whatever the threads"
        );
        assert_eq!(limit(Device, Chunk), Some((DeviceWrite, 1)));
        let mut nothing = case(Cached, Memory, "1");
        nothing.workload.content = Content::Hole;
        assert_eq!(limit_kind(&nothing), None);
    }

    #[test]
    fn the_share_is_of_the_limit_with_as_many_threads() {
        let limit = |threads, bytes_per_s| Limit {
            kind: LimitKind::MemoryCopy,
            threads,
            bytes_per_s,
            description: String::new(),
        };
        let limits = [limit(1, Some(1000)), limit(4, Some(4000)), limit(8, None)];
        let share = |threads| {
            LimitShare::for_case(
                &case(Durability::Cached, DataSource::Memory, threads),
                500.0,
                &limits,
            )
            .map(|reached| reached.share)
        };
        assert_eq!((share("1"), share("4")), (Some(0.5), Some(0.125)));
        assert_eq!((share("2"), share("8")), (None, None), "not measured");
    }
}
