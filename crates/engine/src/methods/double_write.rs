//! `pwrite(2)` of each commit into a journal first, and then of its pages to their places. A power loss leaves the whole
//! commit in the journal, or no page touched.

use std::os::fd::BorrowedFd;

use memmap2::MmapMut;
use writebench_model::Case;

use super::{IoThread, Region, Result, WriteLoop};
use crate::call::{CallError, hand_over};
use crate::page_writes::PageWrites;
use crate::region::to_usize;
use crate::sync;

pub(super) fn io_thread(region: Region<'_>) -> impl IoThread {
    move |file: BorrowedFd<'_>, write_loop: &mut WriteLoop| {
        let (Some(pages), Some(journal)) = (region.pages, region.journal) else {
            return Err(CallError::other("journal", "there is none"));
        };
        write(&region, pages, (journal, file), write_loop)
    }
}

fn write(
    region: &Region<'_>,
    pages: &PageWrites,
    (journal, file): (BorrowedFd<'_>, BorrowedFd<'_>),
    write_loop: &mut WriteLoop,
) -> Result<()> {
    let call = region.choices.sync.call;
    let mut entry = JournalEntry::for_commits(pages)
        .map_err(|error| CallError::other("aligned memory", error.to_string()))?;
    let page_bytes = to_usize(pages.page_bytes());
    let commit_bytes = page_bytes * pages.commit_pages();
    let mut sync = |_, _| sync::sync(file, call);
    write_loop.run_timed(region, &mut sync, |write_loop, sync| {
        for (number, commit) in region.memory().chunks(commit_bytes).enumerate() {
            let first = number * pages.commit_pages();
            let count = commit.len() / page_bytes;
            let offsets = (first..first + count).map(|write| pages.offset(write));
            entry.fill(offsets.clone(), commit);
            hand_over(
                "pwrite of the journal",
                entry.bytes(),
                0,
                |bytes, offset| rustix::io::pwrite(journal, bytes, offset),
            )?;
            sync::sync(journal, call)?;
            for (page, offset) in entry.pages().chunks(page_bytes).zip(offsets) {
                hand_over("pwrite", page, offset, |bytes, offset| {
                    rustix::io::pwrite(file, bytes, offset)
                })?;
                write_loop.after_call(region, 1, page.len(), sync)?;
            }
        }
        Ok(())
    })
}

/// A commit in the journal: the number of its pages, a checksum, the places of the pages, zeros up to the end of the
/// block, and the pages.
struct JournalEntry {
    memory: MmapMut,
    head_bytes: usize,
    page_bytes: usize,
    count: usize,
}

/// The words before the places of the pages.
const HEAD_WORDS: usize = 2;
const WORD_BYTES: usize = 8;

impl JournalEntry {
    fn for_commits(pages: &PageWrites) -> std::io::Result<Self> {
        let page_bytes = to_usize(pages.page_bytes());
        let count = pages.commit_pages();
        let head_bytes = to_usize(Case::journal_head_bytes(count as u64));
        Ok(Self {
            memory: MmapMut::map_anon(head_bytes + count * page_bytes)?,
            head_bytes,
            page_bytes,
            count: 0,
        })
    }

    /// Takes the pages of a commit, which go to these offsets.
    fn fill(&mut self, offsets: impl Iterator<Item = u64>, pages: &[u8]) {
        self.count = pages.len() / self.page_bytes;
        let (head, body) = self.memory.split_at_mut(self.head_bytes);
        head.fill(0);
        body[..pages.len()].copy_from_slice(pages);
        let places = head[HEAD_WORDS * WORD_BYTES..].chunks_mut(WORD_BYTES);
        for (place, offset) in places.zip(offsets) {
            place.copy_from_slice(&offset.to_le_bytes());
        }
        let sum = checksum(&[&head[HEAD_WORDS * WORD_BYTES..], &body[..pages.len()]]);
        head[..WORD_BYTES].copy_from_slice(&(self.count as u64).to_le_bytes());
        head[WORD_BYTES..HEAD_WORDS * WORD_BYTES].copy_from_slice(&sum.to_le_bytes());
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[..self.head_bytes + self.count * self.page_bytes]
    }

    fn pages(&self) -> &[u8] {
        &self.memory[self.head_bytes..self.head_bytes + self.count * self.page_bytes]
    }
}

/// Of the words of these parts, in which it notices what is missing or in another place.
fn checksum(parts: &[&[u8]]) -> u64 {
    let mut sum = 0u64;
    for part in parts {
        let (words, rest) = part.as_chunks::<WORD_BYTES>();
        let mut last = [0; WORD_BYTES];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        for word in words.iter().chain(last) {
            sum = (sum.rotate_left(5) ^ u64::from_le_bytes(*word))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_journal_has_another_checksum() {
        let pages: Vec<u8> = (0..8192u32)
            .map(|byte| u8::try_from(byte % 251).unwrap())
            .collect();
        let whole = checksum(&[&pages]);
        for torn in [0, 512, 4096, 8191] {
            let mut other = pages.clone();
            other[torn..].fill(0);
            assert_ne!(checksum(&[&other]), whole, "{torn}");
        }
        let mut swapped = pages.clone();
        swapped.rotate_left(4096);
        assert_ne!(checksum(&[&swapped]), whole);
    }
}
