use super::rows::{ChartCase, grouped};

/// A part of a file name.
pub(super) fn promise(row: &ChartCase<'_>) -> String {
    let contract = &row.case.record.contract;
    let every = if contract.durable_every_bytes.is_some() { "-on-the-way" } else { "" };
    format!("{}{every}", contract.durability)
}

/// Contracts that differ only in the interval of syncs count as one: the interval is the axis.
pub(super) fn by_chunk(row: &ChartCase<'_>) -> String {
    let mut contract = row.case.record.contract.clone();
    let every_chunk = contract.durable_every_bytes.take();
    let chunks = every_chunk.zip(row.chunk_bytes()).map(|(every, chunk)| every / chunk);
    match chunks {
        Some(1) => format!("{contract} every chunk"),
        Some(chunks) => format!("{contract} every {chunks} chunks"),
        None => contract.to_string(),
    }
}

/// A sentence with a leading space if cases have several contracts, else empty.
pub(super) fn caution(rows: &[ChartCase<'_>]) -> String {
    match grouped(rows, by_chunk).len() {
        ..=1 => String::new(),
        several => format!(" The cases have {several} contracts: a faster one is not always better."),
    }
}
