//! How much of the written data was compared with the expected data, and where it was read from.

use writebench_model::{Extent, ReadBack, ReadFrom};

use crate::numbers::{CaseReport, distinct};

/// One line about all good samples that wrote data; none where there are none.
pub(crate) fn sentence(cases: &[CaseReport]) -> Option<String> {
    // A case may stand in several tables, with the same samples.
    let with_data =
        distinct(cases, |case| &case.name).into_iter().filter(|case| case.record.contract.content.is_data());
    let samples = with_data.flat_map(|case| case.good_samples());
    let all: Vec<Option<ReadBack>> = samples.map(|sample| sample.read_back).collect();
    if all.is_empty() {
        return None;
    }
    let compared: Vec<ReadBack> = all.iter().flatten().copied().collect();
    if compared.is_empty() {
        return Some("Read back: no sample; only the sizes of the files were looked at.".to_owned());
    }
    let of_extent = |extent| compared.iter().filter(|read| read.extent == extent).count();
    let from = |from| compared.iter().filter(|read| read.from == from).count();
    let extents = [
        (of_extent(Extent::Whole), "whole"),
        (of_extent(Extent::Part), "in part"),
        (all.len() - compared.len(), "not"),
    ];
    let origins = [
        (from(Some(ReadFrom::Device)), "from the device"),
        (from(Some(ReadFrom::PageCache)), "from the page cache"),
        (from(None), "from where is unknown"),
    ];
    Some(format!("Read back: {}; {}.", listed(&extents), listed(&origins)))
}

/// `12 whole, 60 in part`, without zeros.
fn listed(counts: &[(usize, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::{Outcome, RunRecord, Sample};
    use writebench_testkit::{example_case, example_run};

    fn sentence_of(samples: &[Option<ReadBack>]) -> Option<String> {
        let samples = samples.iter().map(|read_back| {
            let sample = Sample::without_figures(0, Outcome::Ok);
            Sample { read_back: *read_back, ..sample }
        });
        let cases = vec![example_case("a table", "write", samples.collect())];
        // The case stands in two tables.
        let cases = [cases.clone(), cases].concat();
        crate::Report::from_run(None, RunRecord { cases, ..example_run() }).read_back
    }

    fn read_back(extent: Extent, from: Option<ReadFrom>) -> Option<ReadBack> {
        Some(ReadBack { extent, bytes: 1, from })
    }

    #[test]
    fn it_says_how_much_was_read_back_and_where_it_came_from() {
        use {Extent::*, ReadFrom::*};
        let whole = read_back(Whole, Some(PageCache));
        let part = read_back(Part, Some(Device));
        let long = sentence_of(&[whole, part, part]).unwrap();
        assert_eq!(long, "Read back: 1 whole, 2 in part; 2 from the device, 1 from the page cache.");
        assert!(long.len() + 6 < 80, "a hundred samples of each fit into a terminal's line");
        assert_eq!(sentence_of(&[whole, None]).unwrap(), "Read back: 1 whole, 1 not; 1 from the page cache.");
        let before = sentence_of(&[read_back(Whole, None)]).unwrap();
        assert_eq!(before, "Read back: 1 whole; 1 from where is unknown.");
        let never = "Read back: no sample; only the sizes of the files were looked at.";
        assert_eq!(sentence_of(&[None]).unwrap(), never);
        assert_eq!(sentence_of(&[]), None);
    }
}
