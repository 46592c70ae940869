//! The format of a printed log, which all languages share on a little-endian machine.

use anyhow::{Result, ensure};

pub(super) const PAGE_BYTES: usize = 4096;
pub(super) const HEAD_BYTES: usize = 8;

/// The whole records in their order, and the bytes after them.
pub(super) fn records(file: &[u8]) -> Result<(Vec<&[u8]>, &[u8])> {
    ensure!(file.len() >= PAGE_BYTES, "{} bytes are no log", file.len());
    let (page, mut rest) = file.split_at(PAGE_BYTES);
    let mut check = crc32c(&page[..16]);
    ensure!(
        page.starts_with(b"wb-log1\0") && number(&page[16..]) == check,
        "no log: {:?}",
        &page[..24]
    );
    let mut records = Vec::new();
    while let Some((head, after)) = rest.split_at_checked(HEAD_BYTES) {
        let Some((record, after)) = after.split_at_checked(number(head) as usize) else {
            break;
        };
        let own = crc32c(record).to_le_bytes();
        let next = crc32c(&[&check.to_le_bytes(), &head[..4], &own].concat());
        if record.is_empty() || next != number(&head[4..]) {
            break;
        }
        records.push(record);
        check = next;
        rest = after;
    }
    Ok((records, rest))
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Bit by bit, as RFC 3720 defines it.
fn crc32c(bytes: &[u8]) -> u32 {
    let next = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0x82f6_3b78 * (crc & 1))
        })
    };
    !bytes.iter().fold(u32::MAX, next)
}
