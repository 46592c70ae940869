//! The pages of a sample that overwrites a file at random places: which page each write goes to.

use writebench_model::protocol::SampleRequest;
use writebench_model::{Access, PageOrder};

use crate::pattern::word;

/// The writes of a sample, in their order. Write number k has the bytes of page k of the source, so the content of a page
/// tells which write was the last one.
pub(crate) struct PageWrites {
    page_bytes: u64,
    commit_pages: usize,
    /// The page of the file for each write.
    pages: Vec<usize>,
}

/// Of YCSB (Cooper et al., *Benchmarking Cloud Serving Systems with YCSB*, SoCC 2010).
const ZIPF_EXPONENT: f64 = 0.99;

impl PageWrites {
    /// None if the case writes from the beginning to the end. All cases of a round write the same pages in the same
    /// commits.
    pub(crate) fn of(request: &SampleRequest) -> Option<Self> {
        let case = &request.case;
        let commit_pages = case.commit_pages()? as usize;
        let page_bytes = case.choices().chunk_size_bytes;
        let count = index(case.given().size_bytes / page_bytes);
        // The data's seed alternates, because each sample writes other data than the one before.
        let seed = request.data_seed.min(!request.data_seed);
        let mut random = Random::new(word(seed, u64::from(request.round)));
        let mut pages = match case.given().access {
            Access::Sequential => (0..count).collect(),
            Access::Uniform => permutation(count, &mut random),
            Access::Zipf => zipf(count, commit_pages, &mut random),
        };
        if case.choices().order == PageOrder::Sorted {
            pages
                .chunks_mut(commit_pages)
                .for_each(<[usize]>::sort_unstable);
        }
        Some(Self {
            page_bytes,
            commit_pages,
            pages,
        })
    }

    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    pub(crate) fn commit_pages(&self) -> usize {
        self.commit_pages
    }

    /// Where a write goes in the file.
    #[inline]
    pub(crate) fn offset(&self, write: usize) -> u64 {
        self.pages[write] as u64 * self.page_bytes
    }

    /// The last of the first `count` writes to each page. None for a page without a write.
    pub(crate) fn last_writes(&self, count: usize) -> Vec<Option<u64>> {
        let mut last = vec![None; self.pages.len()];
        for (write, &page) in (0..).zip(&self.pages[..count]) {
            last[page] = Some(write);
        }
        last
    }
}

struct Random {
    seed: u64,
    next: u64,
}

impl Random {
    fn new(seed: u64) -> Self {
        Self { seed, next: 0 }
    }

    fn word(&mut self) -> u64 {
        self.next += 1;
        word(self.seed, self.next)
    }

    /// A number below `end`. The bias of the remainder is below one in 2^32 for any file.
    fn below(&mut self, end: usize) -> usize {
        index(self.word() % end as u64)
    }

    /// A number from 0 to below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Each page once: Fisher and Yates.
fn permutation(count: usize, random: &mut Random) -> Vec<usize> {
    let mut pages: Vec<usize> = (0..count).collect();
    for end in (1..count).rev() {
        pages.swap(end, random.below(end + 1));
    }
    pages
}

/// As many draws as there are pages. A commit has each page at most once, as a program writes only a page's latest
/// content.
fn zipf(count: usize, commit_pages: usize, random: &mut Random) -> Vec<usize> {
    let page_of_rank = permutation(count, random);
    let ends = ends_of_ranks(count);
    let mut is_in_commit = vec![false; count];
    let mut writes = Vec::with_capacity(count);
    while writes.len() < count {
        let begin = writes.len();
        let end = (begin + commit_pages).min(count);
        while writes.len() < end {
            let rank = free_rank(&ends, &is_in_commit, random);
            is_in_commit[rank] = true;
            writes.push(rank);
        }
        for rank in &mut writes[begin..] {
            is_in_commit[*rank] = false;
            *rank = page_of_rank[*rank];
        }
    }
    writes
}

/// The number of a page, which fits because the pages' content is in memory.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The sums of the weights up to each rank.
#[expect(clippy::cast_precision_loss, reason = "a weight is approximate")]
fn ends_of_ranks(count: usize) -> Vec<f64> {
    let mut sum = 0.0;
    (1..=count)
        .map(|rank| {
            sum += (rank as f64).powf(-ZIPF_EXPONENT);
            sum
        })
        .collect()
}

/// Draws a rank that the commit does not have yet. If most of the weight is drawn, the next free one is taken.
fn free_rank(ends: &[f64], is_in_commit: &[bool], random: &mut Random) -> usize {
    const TRIES: u32 = 32;
    let all = ends.last().copied().unwrap_or(0.0);
    let mut draw = || {
        let at = random.unit() * all;
        ends.partition_point(|&end| end <= at).min(ends.len() - 1)
    };
    let mut rank = draw();
    for _ in 0..TRIES {
        if !is_in_commit[rank] {
            return rank;
        }
        rank = draw();
    }
    let free = |rank: &usize| !is_in_commit[*rank];
    (rank..ends.len()).chain(0..rank).find(free).unwrap_or(rank)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use writebench_model::Case;

    use super::*;

    fn writes(values: &str, round: u32, data_seed: u64) -> PageWrites {
        let name =
            format!("pwrite,size=8MiB,chunk=8KiB,prepare=overwrite,sync=fdatasync/16,{values}");
        let case = Case::parse(&name).unwrap();
        let request = SampleRequest {
            round,
            ..SampleRequest::bare(case, "pages", data_seed)
        };
        PageWrites::of(&request).unwrap()
    }

    #[test]
    fn uniform_writes_each_page_once_in_another_order_each_round() {
        let first = writes("access=uniform", 1, 7).pages;
        let pages: HashSet<&usize> = first.iter().collect();
        assert_eq!((first.len(), pages.len()), (1024, 1024));
        assert!(first.iter().all(|&page| page < 1024) && !first.is_sorted());
        assert_ne!(first, writes("access=uniform", 2, 7).pages);
    }

    #[test]
    fn all_strategies_of_a_round_write_the_same_pages_in_the_same_commits() {
        for access in ["uniform", "zipf"] {
            let arrival = writes(&format!("access={access}"), 1, 7).pages;
            // The next sample has other data.
            let sorted = writes(&format!("access={access},order=sorted"), 1, !7).pages;
            for (arrival, sorted) in arrival.chunks(16).zip(sorted.chunks(16)) {
                let mut arrival = arrival.to_vec();
                arrival.sort_unstable();
                assert_eq!(arrival, sorted);
            }
        }
    }

    #[test]
    fn zipf_has_hot_pages_but_none_twice_in_a_commit() {
        let writes = writes("access=zipf", 1, 7).pages;
        assert_eq!(writes.len(), 1024);
        for commit in writes.chunks(16) {
            assert_eq!(commit.iter().collect::<HashSet<_>>().len(), commit.len());
        }
        let of_page = |page: usize| writes.iter().filter(|&&other| other == page).count();
        let most = (0..1024).map(of_page).max().unwrap();
        assert!(most > 30, "the hottest page is written {most} times");
        let never = (0..1024).filter(|&page| of_page(page) == 0).count();
        assert!((300..800).contains(&never), "{never} pages are not written");
    }

    #[test]
    fn a_commit_of_nearly_all_pages_ends() {
        let mut random = Random::new(1);
        let mut pages = zipf(20, 19, &mut random);
        pages.truncate(19);
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len(), 19);
    }

    #[test]
    fn the_last_write_of_a_page_wins() {
        let writes = PageWrites {
            page_bytes: 10,
            commit_pages: 2,
            pages: vec![2, 0, 2, 1],
        };
        assert_eq!(writes.last_writes(3), [Some(1), None, Some(2), None]);
        assert_eq!(writes.offset(2), 20);
    }
}
