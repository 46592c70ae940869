//! Contracts in the words of a chart.

use super::rows::{ChartCase, grouped};

/// The part in which contracts mostly differ, for a file's name.
pub(super) fn promise(row: &ChartCase<'_>) -> String {
    let contract = &row.case.record.contract;
    let every = if contract.durable_every_bytes.is_some() { "-on-the-way" } else { "" };
    format!("{}{every}", contract.durability)
}

/// The final state. Cases that are durable after every chunk count as one contract: the interval is the axis.
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

/// A caution, as a sentence with a space before it, if a chart has cases of several contracts; otherwise
/// empty.
pub(super) fn caution(rows: &[ChartCase<'_>]) -> String {
    match grouped(rows, by_chunk).len() {
        ..=1 => String::new(),
        several => format!(
            " Not all cases leave the same behind ({several} contracts): that one is faster does not make it better."
        ),
    }
}
