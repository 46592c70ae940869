//! What cases promise, in the words of a chart.

use super::rows::{Row, grouped};

/// What contracts mostly differ in, for a file's name.
pub(super) fn promise(row: &Row<'_>) -> String {
    let contract = &row.case.record.contract;
    let every = if contract.durable_every_bytes.is_some() { "-on-the-way" } else { "" };
    format!("{}{every}", contract.durability)
}

/// What the caller has at the end. That all of it is durable every chunk is one contract: how often is the axis.
pub(super) fn by_chunk(row: &Row<'_>) -> String {
    let mut contract = row.case.record.contract.clone();
    let every_chunk = contract.durable_every_bytes.take();
    let chunks = every_chunk.zip(row.chunk_bytes()).map(|(every, chunk)| every / chunk);
    match chunks {
        Some(1) => format!("{contract} every chunk"),
        Some(chunks) => format!("{contract} every {chunks} chunks"),
        None => contract.to_string(),
    }
}

/// What is to be known where cases of several contracts stand in one chart, as a sentence with a space before it;
/// nothing where there is one.
pub(super) fn caution(rows: &[Row<'_>]) -> String {
    match grouped(rows, by_chunk).len() {
        ..=1 => String::new(),
        several => format!(
            " Not all cases leave the same behind ({several} contracts): that one is faster does not make it better."
        ),
    }
}
