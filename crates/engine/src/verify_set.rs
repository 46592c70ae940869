//! Checks of a set of files after the clock, directory by directory.

use std::os::fd::{AsFd, BorrowedFd};

use writebench_model::protocol::SampleRequest;
use writebench_model::{Extent, ReadBack};

use crate::call::{CallError, Result};
use crate::file::Target;
use crate::file_tree::{self, SetDirectory, SetFile};
use crate::pattern;
use crate::read_back::{least_certain, read_back};
use crate::region::Region;
use crate::verify::{Written, wrong};

/// A part of a large set is one file in so many.
const PART: u64 = 16;

/// Checks the names, the number of files, their sizes, and maybe their content.
pub(crate) fn verify_set(
    set: BorrowedFd<'_>,
    request: &SampleRequest,
    regions: &[Region<'_>],
    is_of_another_rank: bool,
) -> Result<Option<ReadBack>> {
    let case = &request.case;
    let is_chosen = |index: usize, count: usize| {
        let is_end = index == 0 || index + 1 == count;
        is_end || pattern::word(pattern::sample_seed(request), index as u64).is_multiple_of(PART)
    };
    let is_sampled =
        request.read_back == Some(Extent::Part) && u64::from(case.file_count()) >= 2 * PART;
    let extent = request
        .read_back
        .map(|extent| if is_sampled { Extent::Whole } else { extent });
    let mut parts = Vec::new();
    for directory in regions.iter().flat_map(file_tree::directories) {
        let opened = directory.open(set)?;
        let in_directory = |error: CallError| error.in_directory(directory.name.as_deref());
        check_number(&opened, &directory, case.file_count()).map_err(in_directory)?;
        let check = |files: &[&SetFile<'_>], extent: Option<Extent>| {
            let names: Vec<String> = files.iter().map(|file| file.name()).collect();
            let numbered = files.iter().enumerate();
            let regions: Vec<Region<'_>> = numbered
                .map(|(index, file)| file.region.numbered(index))
                .collect();
            let handed_over_bytes = regions.iter().map(|region| region.file_length).collect();
            let target = Target::Directory(opened.as_fd());
            let written = Written {
                target,
                names: &names,
                case,
                regions: &regions,
                handed_over_bytes,
                is_of_another_rank,
            };
            match extent {
                Some(extent) => read_back(&written, request, extent).map(Some),
                None => written
                    .check_sizes()
                    .and_then(|_| written.check_zeros())
                    .map(|()| None),
            }
        };
        let all: Vec<&SetFile<'_>> = directory.files.iter().collect();
        check(&all, None).map_err(in_directory)?;
        if extent.is_some() {
            let count = all.len();
            let numbered = all.into_iter().enumerate();
            let chosen: Vec<_> = numbered
                .filter_map(|(index, file)| {
                    (!is_sampled || is_chosen(index, count)).then_some(file)
                })
                .collect();
            parts.extend(check(&chosen, extent).map_err(in_directory)?);
        }
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let origins: Vec<_> = parts.iter().map(|part| part.from).collect();
    let is_part = is_sampled || parts.iter().any(|part| part.extent == Extent::Part);
    let extent = if is_part { Extent::Part } else { Extent::Whole };
    let bytes = parts.iter().map(|part| part.bytes).sum();
    Ok(Some(ReadBack {
        extent,
        bytes,
        from: least_certain(&origins),
    }))
}

/// A directory of the set's own has the files of all threads and ranks.
fn check_number(opened: impl AsFd, directory: &SetDirectory<'_>, of_set: u32) -> Result<()> {
    let own = directory.files.len() as u64;
    let expected = if directory.name.is_none() {
        u64::from(of_set)
    } else {
        own
    };
    match file_tree::entries(opened)? {
        found if found == expected => Ok(()),
        found => Err(wrong(format!(
            "the directory has {found} files and should have {expected}"
        ))),
    }
}
